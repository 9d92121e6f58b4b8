"""The cards of a picture: the words of each, the room that they take, and how it is drawn. Plain
data in and out.

Shape and word tell a state, never colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autograd_graphs.data import Edge, Node, TensorInfo
from autograd_graphs.drawing.devices import Device, kind
from autograd_graphs.drawing.display_list import Owner, Pen
from autograd_graphs.drawing.palette import SMALL, TITLE
from autograd_graphs.drawing.tints import Scale, Tint, badge_width, draw_badge
from autograd_graphs.text import ending, number, visible, width

PILE = 4  # how far each of the two cards under a folded part sticks out, px
OVERHANG = 14  # how far the dark tag of a tensor sticks out of its card at least, px
ABOVE = 14  # how far a tag stands above its card, px
TAG = 22  # height of a tag, px
FIRST, LINE = 36, 22  # height of a card of one line, and of each further line, px
PADDING, BETWEEN = 12, 8  # px: at both sides of a card, between two words of a line
NARROWEST, WIDEST = 84, 250  # px: of a card with a tag or rows, of its lines of saved tensors
MOST_ROWS = 6  # saved tensors spelled out in one card
MOST_BESIDE = 3  # saved tensors spelled out in a card of one line
MOST_USES = 4  # a leaf with more uses is drawn once per use
LONGEST_VALUE, LONGEST_GRAD = 10, 14  # characters of both in a card of one line
LONGEST_TITLE = 48  # characters of the title of a folded part
SIGN = 15  # px that the sign of a saved tensor takes before its words
SLOT, SLOT_HIGH = 52, 24  # least width and height of the slot that holds a `.grad`, px
GRAD = ".grad"
GRAD_MORE = 3  # px by which a line with a `.grad` is higher than others
ROUND = 4  # px more at both sides of a pill of one line, which is rounder than a card
# A pill of several lines, px: what is at both sides of its words; from its top to the baseline of
# its name, and to the middle of the line below; from line to line; what is free under the last one,
# and above a line that says what arrived.
PILL_PADDING, PILL_NAME, PILL_ROW, PILL_LINE, PILL_FOOT = 14, 22, 43, 18, 9
PILL_BARS = 24  # height of the sign of a device in it, px
SMALL_DOWN = 4  # px from the middle of a line to the baseline of small words in it
# What has words of its own beside it, such as a saved tensor that was modified, needs no entry.
LEGEND = {
    "operation": "backward function",
    "folded": "folded part",
    "leaf": "leaf",
    "held": "saved",
    "freed": "freed",
    "none": "(None, 0): no gradient wanted",
}
# The shape of each state of a saved tensor; its filling and colour stand in palette.py.
SIGNS = {
    "held": "circle",
    "freed": "circle",
    "modified": "triangle",
    "packed": "diamond",
    "edited": "diamond",
    "busy": "circle",
}


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one piece of a line of a card.

    `part` says what it shows: "grad", "count", "saved", "norm", "health"; `state` is a saved
    tensor's, or "none" and "full" of a `.grad`, or the kind of a badge.
    `room` is the width of its slot at least, px.
    """

    text: str
    part: str = ""
    state: str = ""
    room: int = 0

    @property
    def slot(self) -> int:
        """Return the width of the slot that holds this `.grad`, px."""
        if self.state == "none":
            return max(SLOT, self.room)
        return max(SLOT, self.room, width(self.text, TITLE, bold=True) + 14)

    @property
    def width(self) -> int:
        if self.part == "grad":
            return grad_width(self.slot)
        if self.part == "health":
            return badge_width(self.text)
        return width(self.text, SMALL) + (SIGN if self.part == "saved" else 0)


def grad_width(slot: int) -> int:
    """Return the width of the word `.grad` with a slot of this width, px."""
    return width(GRAD, SMALL) + 6 + slot


Rows = tuple[Row, ...]
Key = str | Device | Scale  # an entry of the legend


@dataclass(frozen=True, slots=True)
class Card:
    """Hold the words and the size (px) of one box. `kind` is operation, folded, leaf, none or cut.

    `name` is drawn bold, `rest` faint after it, `beside` in the same line, `lines` below it.
    The `look` of the rest is small where it says what the operation made.
    `device` is None where all of the graph is on one device. `inlet` is where wires come in, in px
    from the left, and `slot` the width of the slot of its `.grad`.
    """

    kind: str
    name: str
    rest: str = ""
    node: int | None = None
    tag: str = ""
    beside: Rows = ()
    lines: tuple[Rows, ...] = ()
    width: int = 0
    height: int = 0
    device: Device | None = None
    inlet: int = 0
    slot: int = 0
    look: str = "faint"

    @property
    def owner(self) -> Owner | None:
        return None if self.node is None else Owner("node", self.node)

    @property
    def rows(self) -> Rows:
        return sum(self.lines, self.beside)

    @property
    def tag_width(self) -> int:
        return width(self.tag, SMALL, bold=True) + 14 if self.tag else 0

    @property
    def tag_left(self) -> int:
        """Return where the tag begins, in px from the left: beyond the wires that come in."""
        inlet = self.inlet or self.width // 2
        return max(self.width + OVERHANG - self.tag_width, inlet + 14)

    @property
    def pile(self) -> int:
        """Return how far the cards under a folded part stick out, px."""
        return 2 * PILE if self.kind == "folded" else 0

    @property
    def size(self) -> tuple[int, int]:
        """Return its width and height, px, the pile under it among it."""
        return self.width + self.pile, self.height + self.pile

    @property
    def overhang(self) -> int:
        """Return how far the tag sticks out at the right, px."""
        return self.tag_left + self.tag_width - self.width if self.tag else 0


def stub(edge: Edge, times: int) -> Card:
    """Make the small card at the end of an edge that leads nowhere, or further than is shown."""
    kind, name = "none", "None"
    if edge.cut:
        kind, name = "cut", f"… {times:,} more"
    elif times > 1:
        name = f"None × {times:,}"
    return Card(kind, name, width=width(name, SMALL) + 20, height=24)


def node_card(
    node: Node, number: int, uses: int, device: Device | None = None, is_dense: bool = False
) -> Card:
    """Make the card of a node that so many edges lead to; in a dense graph it has one line."""
    if node.is_leaf and is_dense:
        return short_leaf_card(node.outputs[0], number, uses, device)
    if node.is_leaf:
        return leaf_card(node.outputs[0], number, uses, device)
    name, rest = split_operation(node)
    tag = visible(tag_words(node), 30)
    if node.folded:
        card = Card("folded", name, "", number, tag, (), folded_lines(node, device))
    elif is_dense:
        made = made_words(node, device)
        look = "small" if made else "faint"
        grads = [grad_row(output, True) for output in node.outputs if output.keeps_grad]
        beside = (*short_saved_rows(node), *grads)
        card = Card("operation", name, made, number, tag, beside, look=look)
    else:
        card = Card("operation", name, rest, number, tag, (), operation_lines(node, device))
    return measured(card, device)


def measured(card: Card, device: Device | None) -> Card:
    """Return a card with the width and height that its words take."""
    first = width(card.name, TITLE, bold=True) + width(card.rest, rest_size(card))
    first += BETWEEN + line_width(card.beside)
    wide = max([first, *map(line_width, card.lines)]) + 2 * PADDING
    if card.tag or card.lines:
        wide = max(wide, NARROWEST)
    if device:
        wide += device.room
    high = FIRST + LINE * len(card.lines)
    slots = [row.slot for row in card.rows if row.part == "grad"]
    grads = [line for line in card.lines if line[0].part == "grad"]
    if grads:
        high += GRAD_MORE * (len(grads) + 1)
    slot = max(slots, default=0)
    return replace(card, width=wide, height=high, device=device, slot=slot)


def with_tint(card: Card, tint: Tint, is_dense: bool = False) -> Card:
    """Return a card with a line, in a dense graph a piece of its line, that says what arrived."""
    rows = [Row(tint.words, "norm"), Row(tint.health, "health", tint.badge)]
    line = tuple([row for row in rows if row.text])
    if not line:
        return card
    if card.kind == "leaf" and card.lines:
        aside = card.device.room if card.device else 0
        wide = max(card.width, line_width(line) + 2 * PILL_PADDING + aside)
        high = card.height + PILL_LINE + PILL_FOOT
        return replace(card, lines=(*card.lines, line), width=wide, height=high)
    if card.kind == "folded" or not is_dense:
        return measured(replace(card, lines=(line, *card.lines)), card.device)
    card = measured(replace(card, beside=(*line, *card.beside)), card.device)
    if card.kind == "leaf":
        return replace(card, width=card.width + 2 * ROUND)
    return card


def rest_size(card: Card) -> int:
    """Return the font size of what stands after the name."""
    return SMALL if card.look == "small" else TITLE


def line_width(line: Rows) -> int:
    return sum([row.width for row in line]) + BETWEEN * (len(line) - 1)


def tag_words(node: Node) -> str:
    """Return the name of what a node made, with its number where that is to be seen: "e = 100"."""
    if len(node.outputs) == 1 and node.outputs[0].value is not None:
        return f"{node.name} = {node.outputs[0].value}"
    return node.name


def made_words(node: Node, device: Device | None) -> str:
    """Say of which kind the tensor is that an operation made: "→ (5, 3)"."""
    made = kind(node.outputs[0], device) if node.outputs else ""
    return visible(f"  → {made}", 60) if made else ""


def operation_lines(node: Node, device: Device | None) -> tuple[Rows, ...]:
    """Return the lines under an operation's name: what it made and saved, then each `.grad`."""
    rows, made = saved_rows(node, MOST_ROWS), made_words(node, device)
    if made:
        rows.insert(0, Row(made.strip()))
    grads = [(grad_row(output),) for output in node.outputs if output.keeps_grad]
    return (*flowed(rows), *grads)


def folded_lines(node: Node, device: Device | None) -> tuple[Rows, ...]:
    """Return the second line of a folded part: how much it stands for, what it saved."""
    count, *holds = node.folded_words
    rows = [Row(visible(count, 60), "count"), *saved_rows(node, MOST_BESIDE)]
    rows.extend(map(Row, holds))
    if device:
        rows.append(Row(device.words))
    lines = flowed(rows)
    if line_width(tuple(rows)) <= 2 * WIDEST:
        lines = [tuple(rows)]
    return (*lines, *[(grad_row(output),) for output in node.outputs if output.keeps_grad])


def saved_rows(node: Node, most: int) -> list[Row]:
    """Return a piece for each saved tensor, and one for those that are too many."""
    rows = []
    for saved_tensor in node.saved[:most]:
        state = saved_tensor.state
        if state == "freed":  # it is struck out, and needs no word
            saved_tensor = replace(saved_tensor, state="held")
        rows.append(Row(visible(saved_tensor.words, 60), "saved", state))
    if len(node.saved) > most:
        rows.append(Row(f"… {len(node.saved) - most} more saved"))
    return rows


def short_saved_rows(node: Node) -> list[Row]:
    """Return saved tensors in few words: by name alone, or by number where they are many."""
    states = {saved_tensor.state for saved_tensor in node.saved}
    if len(node.saved) > MOST_BESIDE and len(states) == 1:
        return [Row(f"{len(node.saved)} saved", "saved", states.pop())]
    rows = saved_rows(node, MOST_ROWS)
    for nr, saved_tensor in enumerate(node.saved[:MOST_ROWS]):
        words = (saved_tensor.tensor and saved_tensor.tensor.name) or saved_tensor.name
        if saved_tensor.state not in ("held", "freed"):
            words += f" ({saved_tensor.note})"
        rows[nr] = Row(visible(words, 60), "saved", saved_tensor.state)
    return rows


def flowed(rows: Sequence[Row]) -> list[Rows]:
    """Put pieces side by side, into as many lines as they need."""
    lines: list[Rows] = []
    for row in rows:
        if lines and line_width((*lines[-1], row)) <= WIDEST:
            lines[-1] = (*lines[-1], row)
        else:
            lines.append((row,))
    return lines


def grad_row(tensor: TensorInfo, is_dense: bool = False) -> Row:
    """Return the slot of a `.grad`; in a dense graph a long one is told by its norm or shape."""
    grad = tensor.grad
    if grad is None:
        return Row("None", "grad", "none")
    words = visible(grad.brief, 60)
    if is_dense and len(words) > LONGEST_GRAD:
        words = str(grad.shape) if grad.norm is None else f"norm {number(grad.norm)}"
    return Row(words, "grad", "full")


def split_operation(node: Node) -> tuple[str, str]:
    """Split "MulBackward0" into what it does, bold, and the rest; a folded part is all bold."""
    if node.folded:
        copies = node.title.removeprefix(node.operation)
        return ending(node.operation, LONGEST_TITLE) + copies, ""
    title = visible(node.operation, 40)
    cut = title.rfind("Backward")
    if cut < 1:
        return title, ""
    return title[:cut], title[cut:]


def leaf_words(leaf: TensorInfo, device: Device | None, longest: int = 200) -> tuple[str, str]:
    """Return the name of a leaf, and its value or kind."""
    name, rest = ending(leaf.name or "unnamed", 40), f"  {kind(leaf, device)}".rstrip()
    if leaf.value and len(leaf.value) <= longest:
        rest = f" = {leaf.value}"
        if device:
            rest += f"  {device.words}"
    return name, rest


def leaf_rows(leaf: TensorInfo, uses: int, is_dense: bool = False) -> list[Row]:
    """Return what stands below or beside the name of a leaf: `.grad`, and how often it is used."""
    rows = [grad_row(leaf, is_dense) if leaf.requires_grad else Row("requires_grad=False")]
    if uses > MOST_USES:
        rows.append(Row(f"same leaf, {uses} uses"))
    return rows


def leaf_card(leaf: TensorInfo, number: int, uses: int, device: Device | None) -> Card:
    """Make the pill of a leaf: name, value or shape, and under them the slot of its `.grad`."""
    name, rest = leaf_words(leaf, device)
    rows = leaf_rows(leaf, uses)
    inner = width(name, TITLE, bold=True) + width(rest, TITLE)
    lines = tuple([(row,) for row in rows])
    wide = max([inner, *map(line_width, lines)]) + 2 * PILL_PADDING
    if device:
        wide += device.room
    high = PILL_ROW + PILL_LINE * (len(rows) - 1) + SLOT_HIGH // 2 + PILL_FOOT
    slot = rows[0].slot if leaf.requires_grad else 0
    return Card("leaf", name, rest, number, "", (), lines, wide, high, device, slot=slot)


def short_leaf_card(leaf: TensorInfo, number: int, uses: int, device: Device | None) -> Card:
    """Make the pill of a leaf in a dense graph: all in one line, a long value told by its shape."""
    name, rest = leaf_words(leaf, device, LONGEST_VALUE)
    card = Card("leaf", name, rest, number, beside=tuple(leaf_rows(leaf, uses, True)))
    card = measured(card, device)
    return replace(card, width=card.width + 2 * ROUND)


def draw_card(pen: Pen, card: Card, x: float, y: float) -> None:
    """Draw one card around its centre."""
    pen.owner = card.owner
    if card.kind == "folded":
        x, y = x - PILE, y - PILE
    left, top = x - card.width / 2, y - card.height / 2
    draw_box(pen, card, left, top)
    if card.kind == "leaf" and card.lines:
        draw_leaf(pen, card, x, top)
    elif card.kind in ("operation", "folded", "leaf"):
        draw_operation(pen, card, left, top)
    else:
        pen.write("word", x, top + 17, (card.name, "faint"))
    pen.owner = None


def draw_box(pen: Pen, card: Card, left: float, top: float) -> None:
    """Draw the outline of a card; a folded part lies on a pile."""
    if card.kind == "folded":
        for under in (2, 1, 0):
            corner = left + PILE * under, top + PILE * under
            pen.rect("operation", *corner, card.width, card.height, 7, part="body")
        return
    radius = 7 if card.kind == "operation" else min(card.height // 2, 26)
    pen.rect(card.kind, left, top, card.width, card.height, radius, part="body")


def draw_leaf(pen: Pen, card: Card, x: float, top: float) -> None:
    """Draw what stands in a pill of several lines, one below the other around `x`."""
    if card.device:
        left, bars = x - card.width / 2, top + (card.height - PILL_BARS) / 2
        draw_bars(pen, card.device, left + PILL_PADDING, bars, PILL_BARS)
        x += card.device.room // 2
    pen.write("middle", x, top + PILL_NAME, (card.name, "name"), (card.rest, "faint"))
    middle = top + PILL_ROW
    for line in card.lines:
        row = line[0]
        if row.part in ("norm", "health"):
            draw_line(pen, card, line, x - line_width(line) / 2, middle + PILL_FOOT)
        elif row.part == "grad":
            draw_grad(pen, row, card.slot, x - grad_width(card.slot) / 2, middle)
        else:
            pen.write("word", x, middle + SMALL_DOWN, (row.text, "faint"))
        middle += PILL_LINE


def draw_operation(pen: Pen, card: Card, left: float, top: float) -> None:
    start = left + PADDING
    if card.kind == "leaf":
        start += ROUND
    if card.device:
        tall = card.height - 12
        draw_bars(pen, card.device, left + 7, top + card.height / 2 - tall // 2, tall)
        start += card.device.room
    pen.write("start", start, top + 23, (card.name, "name"), (card.rest, card.look))
    draw_line(pen, card, card.beside, start + beside(card, start - left), top + 18)
    middle = top + 18
    for line in card.lines:
        middle += LINE
        if line[0].part == "grad":
            middle += GRAD_MORE
        draw_line(pen, card, line, start, middle)
    if card.tag:
        corner = left + card.tag_left, top - ABOVE
        pen.rect("tag", *corner, card.tag_width, TAG, 5)
        pen.write("tagged", corner[0] + card.tag_width / 2, corner[1] + 16, (card.tag, ""))


def beside(card: Card, start: float) -> float:
    """Return where in the first line its further pieces begin: in a leaf they end at its right."""
    if card.kind == "leaf":
        return card.width - line_width(card.beside) - PADDING - ROUND - start
    return width(card.name, TITLE, bold=True) + width(card.rest, rest_size(card)) + BETWEEN


def draw_line(pen: Pen, card: Card, line: Rows, left: float, middle: float) -> None:
    """Draw pieces side by side around the height `middle`."""
    for row in line:
        if row.part == "grad":
            slot = row.slot if line is card.beside else card.slot
            draw_grad(pen, row, slot, left, middle)
        elif row.part == "health":
            draw_badge(pen, row.state, row.text, left, middle)
        elif row.part == "saved":
            draw_sign(pen, row.state, left + 5, middle)
            words = (row.text, "")
            pen.write("row", left + SIGN, middle + 5, words, state=row.state, part="saved")
        else:
            pen.write("row", left, middle + 5, (row.text, ""), part=row.part)
        left += row.width + BETWEEN


def draw_grad(pen: Pen, row: Row, slot: int, left: float, middle: float) -> None:
    """Draw the word `.grad` and its slot: dashed while it is None, solid with a gradient in it."""
    pen.write("row", left, middle + SMALL_DOWN, (GRAD, ""))
    left += grad_width(0)
    look = {"state": row.state, "part": "grad"}
    pen.rect("slot", left, middle - SLOT_HIGH / 2, slot, SLOT_HIGH, 5, **look)
    run = "none" if row.state == "none" else "grad"
    pen.write("middle", left + slot / 2, middle + 5, (row.text, run), part="grad")


def draw_sign(pen: Pen, state: str, x: float, y: float) -> None:
    """Draw the sign of a saved tensor: its shape tells the state, not its colour alone."""
    look = {"state": state, "part": "saved"}
    sign = SIGNS[state]
    if sign == "triangle":
        pen.polygon("saved", (x, y - 5), (x - 5, y + 4), (x + 5, y + 4), **look)
    elif sign == "diamond":
        pen.polygon("saved", (x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y), **look)
    else:
        pen.circle("saved", x, y, 4, **look)


def draw_bars(pen: Pen, device: Device, left: float, top: float, tall: float) -> None:
    """Draw the sign of a device: it is the number of bars that tells it, not their colour alone."""
    for nr in range(device.bars):
        pen.rect("bar", left + 6 * nr, top, 4, tall, 1, state=device.look)


def legend(cards: Sequence[Card]) -> list[str | Device]:
    """Return the keys of what occurs in a picture and has no words of its own."""
    seen: set[str] = set()
    places: dict[str, Device] = {}
    for card in cards:
        seen.add(card.kind)
        seen |= {row.state for row in card.rows if row.part == "saved"}
        if card.device:
            places[card.device.name] = card.device
    if len(seen & {"operation", "folded", "leaf"}) == 1:
        seen -= {"operation", "leaf"}
    keys = [key for key in LEGEND if key in seen]
    return [*keys, *map(places.get, sorted(places))]


def entry_words(key: str | Device) -> str:
    return LEGEND[key] if isinstance(key, str) else key.words


def entry_width(key: Key) -> int:
    return key.room if isinstance(key, Scale) else width(entry_words(key), SMALL) + 42


def draw_legend(pen: Pen, keys: Sequence[Key], wide: int) -> int:
    """Draw the legend in as many rows as fit `wide` px; returns its height in px."""
    bottom = 0
    for key, x, y in _flow(keys, wide):
        if isinstance(key, Scale):
            key.draw(pen, x + 2, y)
        else:
            draw_key(pen, key, x, y)
            pen.write("row", x + 30, y + 13, (entry_words(key), ""))
        bottom = y + 22
    return bottom


def draw_key(pen: Pen, key: str | Device, x: int, y: int) -> None:
    """Draw the sign of an entry of the legend."""
    if isinstance(key, Device):
        draw_bars(pen, key, x + 14 - 3 * key.bars, y + 1, 14)
    elif key in SIGNS:
        draw_sign(pen, key, x + 16, y + 8)
    elif key == "folded":
        for under in (2, 1, 0):
            pen.rect("operation", x + 2 + 2 * under, y + 2 * under, 18, 11, 3)
    else:
        radius = {"operation": 3}.get(key, 7)
        pen.rect(key, x + 2, y + 1, 22, 14, radius)


def _flow(keys: Sequence[Key], wide: int) -> Iterator[tuple[Key, int, int]]:
    """Yield where each entry of the legend stands, row after row."""
    x = y = 0
    for key in keys:
        if x and x + entry_width(key) > wide:
            x, y = 0, y + 24
        yield key, x, y
        x += entry_width(key)
