"""Write the card of a node: its words, and the room that they take. Plain data in and out."""

from __future__ import annotations

from dataclasses import dataclass

from helpers.devices import Device, kind
from helpers.graph import Edge, Node, SavedTensor
from helpers.text import visible, width
from helpers.tree import grads, title

TITLE, SMALL = 13, 12  # font sizes, px
PILE = 4  # how far each of the two cards under a folded part sticks out, px
OVERHANG = 14  # how far the dark tag of a tensor sticks out of its card, px
MOST_ROWS = 6  # saved tensors spelled out in one card
MOST_USES = 4  # a leaf with more uses is drawn once per use


@dataclass(frozen=True, slots=True)
class Card:
    """Hold the words and the size (px) of one box. `kind` is operation, folded, leaf, none or cut.

    `device` is None where all of the graph is on one device.
    """

    kind: str
    title: str
    node: int | None = None
    tag: str = ""
    rows: tuple[SavedTensor | str, ...] = ()
    width: int = 0
    height: int = 0
    device: Device | None = None


def stub(edge: Edge, times: int) -> Card:
    """Make the small card at the end of an edge that leads nowhere, or further than is shown."""
    title = f"… {times:,} more" if edge.cut else "None" if times == 1 else f"None × {times:,}"
    return Card("cut" if edge.cut else "none", title, width=width(title, SMALL) + 18, height=22)


def card(node: Node, number: int, uses: int, device: Device | None = None) -> Card:
    return leaf_card(node, number, uses, device) if node.is_leaf else operation_card(node, number, device)


def operation_card(node: Node, number: int, device: Device | None) -> Card:
    title, tag = shortened(node), visible(node.name, 30)
    made = kind(node.outputs[0], device) if node.outputs else ""
    rows: list[SavedTensor | str] = [f"→ {made}"] if made else []
    rows += [str(node.folded)] if node.folded else []
    rows += grads(node)
    rows += node.saved[:MOST_ROWS]
    if len(node.saved) > MOST_ROWS:
        rows.append(f"… {len(node.saved) - MOST_ROWS} more saved")
    tag_room = width(tag, SMALL) + 14 - OVERHANG + 6 if tag else 0
    look = "folded" if node.folded else "operation"
    name = sum(width(text, TITLE, bold) for text, bold in zip(split_title(title, look), (True, False), strict=True))
    inner = max([name + tag_room, *map(row_width, rows)]) + (device.room if device else 0)
    high = 34 + (6 + 16 * len(rows) if rows else 0)
    return Card(look, title, number, tag, tuple(rows), inner + 24, high, device)


def shortened(node: Node) -> str:
    """Return the title of a card; how often something repeats is never cut off."""
    return visible(node.operation, 40) + title(node).removeprefix(node.operation)


def split_title(title: str, look: str = "operation") -> tuple[str, str]:
    """Split "MulBackward0" into what it does, drawn bold, and the faint rest; a folded part is all bold."""
    cut = title.rfind("Backward") if "Backward" in title[1:] and look == "operation" else len(title)
    return title[:cut], title[cut:]


def split_leaf(title: str) -> tuple[str, str]:
    """Split "a = 2.0" or "w  (3, 4)" into the name, drawn bold, and the rest."""
    cut = min((at for at in (title.find(" = "), title.find("  ")) if at >= 0), default=len(title))
    return title[:cut], title[cut:]


def leaf_card(node: Node, number: int, uses: int, device: Device | None) -> Card:
    leaf = node.outputs[0]
    value = f" = {leaf.value}" if leaf.value else f"  {kind(leaf, device)}".rstrip()
    value += f"  {device.words}" if device and leaf.value else ""
    title = visible(leaf.name or "unnamed", 40) + value
    grad = f".grad  {leaf.grad}" if leaf.requires_grad else "requires_grad=False"
    again = (f"same leaf, {uses} uses",) if uses > MOST_USES else ()
    rows = (grad, *again)
    inner = max(width(title, TITLE, bold=True), *(width(row, SMALL, bold=True) for row in rows))
    inner += device.room if device else 0
    return Card("leaf", title, number, "", rows, inner + 36, 48 + 17 * len(again), device)


def row_text(row: SavedTensor | str) -> str:
    """Return a row without its mark, which is drawn."""
    return visible(row if isinstance(row, str) else str(row)[2:], 60)


def row_width(row: SavedTensor | str) -> int:
    return width(row_text(row), SMALL) + (0 if isinstance(row, str) else 16)
