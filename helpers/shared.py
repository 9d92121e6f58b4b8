"""Decide where the leaves of a folded graph are drawn: in a part, many together, or each by itself. Plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from helpers.modules import owner
from helpers.parts import Part
from helpers.program import Program
from helpers.titles import MOST_JOINED, children

if TYPE_CHECKING:
    from helpers.graph import Edge, Graph

MOST_LEAVES = 4  # where parts share more leaves, those that the same boxes read are drawn as one
UNNAMED = "loose leaves"  # what leaves are called that no module holds

Use = tuple[int, int, int, int]  # part, copy, place in the copy, position among the inputs


class Leaves:
    """Know which part takes a leaf in (`own`), and which leaves make up a box of their own (`group`, by its name).

    Groups whose names are in `apart` are drawn leaf by leaf.
    """

    def __init__(self, graph: Graph, program: Program, parts: Sequence[Part], apart: Collection[str] = ()) -> None:
        self.graph, self.program, self.parts = graph, program, parts
        self.member = {program.nodes[at]: nr for nr, part in enumerate(parts) for at in range(part.start, part.stop)}
        uses = self._uses()
        self.own = self._own(uses)
        self.groups = [one for one in self._groups(uses) if self.name(one) not in apart]
        self.group = {leaf: nr for nr, leaves in enumerate(self.groups) for leaf in leaves}

    def name(self, leaves: Sequence[int]) -> str:
        """Call leaves by the module that holds all of them: "encoder.*"."""
        paths = [owner(self.graph.nodes[leaf]) for leaf in leaves]
        path, inside = children(paths)
        several = inside if len(inside) <= MOST_JOINED and not path else []
        return " + ".join(f"{one}.*" for one in several) or (".".join((*path, "*")) if path else UNNAMED)

    def _uses(self) -> dict[int, set[Use | int | None]]:
        """Return per leaf where it is read: a place in a part, or a node; None where it is asked about."""
        uses: dict[int, set[Use | int | None]] = {}
        for edge in self.graph.edges:
            if edge.target is not None and self.graph.nodes[edge.target].is_leaf:
                uses.setdefault(edge.target, set()).add(self._use(edge))
        return uses | {root.node: {None} for root in self.graph.roots if root.node is not None}

    def _use(self, edge: Edge) -> Use | int:
        if (part := self.member.get(edge.source)) is None:
            return edge.source
        copy, place = divmod(self.program.place[edge.source] - self.parts[part].start, self.parts[part].period)
        return part, copy, place, edge.position

    def _own(self, uses: dict[int, set[Use | int | None]]) -> dict[int, int]:
        """Return the part of every leaf that only one copy uses, where the other copies have one of their own there."""
        inside = {leaf: places for leaf, places in uses.items() if all(isinstance(one, tuple) for one in places)}
        alone = {leaf: min(places) for leaf, places in inside.items() if len({one[:2] for one in places}) == 1}
        alone = {leaf: use for leaf, use in alone.items() if not self._is_input(leaf, use[0])}
        slots = Counter((part, *slot) for part, _, *slot in alone.values())
        return {
            leaf: part for leaf, (part, _, *slot) in alone.items() if slots[part, *slot] == len(self.parts[part].copies)
        }

    def _is_input(self, leaf: int, part: int) -> bool:
        """Say whether a leaf that a module reads is none of its own: the learner's variable, such as an image."""
        node = self.graph.nodes[leaf]
        return bool(node.name) and not owner(node) and len(self.parts[part].copies) == 1

    def _groups(self, uses: dict[int, set[Use | int | None]]) -> list[list[int]]:
        """Return the leaves that the same boxes read, at least one of them a part, where such leaves are many."""
        found: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for leaf, places in sorted(uses.items(), key=lambda one: one[0]):
            boxes = {("part", one[0]) if isinstance(one, tuple) else ("node", one) for one in places if one is not None}
            if leaf not in self.own and None not in places and any(kind == "part" for kind, _ in boxes):
                found.setdefault(tuple(sorted(boxes)), []).append(leaf)
        is_many = sum(map(len, found.values())) > MOST_LEAVES
        return [leaves for leaves in found.values() if is_many and len(leaves) > 1]
