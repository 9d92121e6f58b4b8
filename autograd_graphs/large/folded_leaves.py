"""Find which box of a folded graph takes a leaf in, and which leaves are a box of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from autograd_graphs.data import Edge, Graph
from autograd_graphs.large.execution_order import Program
from autograd_graphs.large.owners import Path, common, owner
from autograd_graphs.large.parts import MOST_JOINED, Part

UNNAMED = "loose leaves"  # what leaves are called that no module holds


Box = tuple[str, int]  # "part", "leaves" or "node", and its number


class Use(NamedTuple):
    """Say where a leaf is read: by which box, in which copy of it, at which place, as which input."""

    box: Box
    copy: int
    place: int
    position: int

    @property
    def slot(self) -> tuple[Box, int, int]:
        """Return what the same use in another copy has in common with it."""
        return self.box, self.place, self.position


class Leaves:
    """Know which part takes a leaf in (`own`), and which leaves make up a box of their own
    (`groups`, and `group` with the number of that of each leaf).

    Groups whose names are in `apart` are drawn leaf by leaf.
    """

    def __init__(
        self, graph: Graph, program: Program, parts: Sequence[Part], apart: Collection[str] = ()
    ) -> None:
        self.graph, self.program, self.parts = graph, program, parts
        self.member: dict[int, int] = {}
        for nr, part in enumerate(parts):
            self.member |= dict.fromkeys(program.nodes[part.start : part.stop], nr)
        uses = self._uses()
        self.own = self._own(uses)
        self.groups = []
        for leaves in self._groups(uses):
            if not any(self.is_called(leaves, name) for name in apart):
                self.groups.append(leaves)
        self.group: dict[int, int] = {}
        for nr, leaves in enumerate(self.groups):
            self.group |= dict.fromkeys(leaves, nr)

    def box(self, node: int) -> Box:
        """Return what a node is drawn as: a part, many leaves together, or itself."""
        part = self.member.get(node, self.own.get(node))
        if part is not None:
            return "part", part
        if node in self.group:
            return "leaves", self.group[node]
        return "node", node

    def name(self, leaves: Sequence[int]) -> str:
        """Call leaves by the module that holds all of them: "encoder.*"."""
        path = common(owner(self.graph.nodes[leaf]) for leaf in leaves)
        if not path:
            return UNNAMED
        return ".".join((*path, "*"))

    def is_called(self, leaves: Sequence[int], name: str) -> bool:
        """Say whether leaves have a name, which may leave out that of the model."""
        return f".{self.name(leaves)}".endswith(f".{name}")

    def _uses(self) -> dict[int, set[Use]]:
        """Return where each leaf is read that is no root."""
        roots = {root.node for root in self.graph.roots}
        uses: dict[int, set[Use]] = {}
        for edge in self.graph.edges:
            leaf = edge.target
            if leaf is not None and leaf not in roots and self.graph.nodes[leaf].is_leaf:
                uses.setdefault(leaf, set()).add(self._use(edge))
        return uses

    def _use(self, edge: Edge) -> Use:
        nr = self.member.get(edge.source)
        if nr is None:
            return Use(("node", edge.source), 0, 0, edge.position)
        part = self.parts[nr]
        copy, place = divmod(self.program.place[edge.source] - part.start, part.period)
        return Use(("part", nr), copy, place, edge.position)

    def _own(self, uses: Mapping[int, set[Use]]) -> dict[int, int]:
        """Return the part of every leaf that only one copy uses, where each copy has its own."""
        alone: dict[int, Use] = {}
        for leaf, places in uses.items():
            first = min(places)
            kind, part = first.box
            copies = {(use.box, use.copy) for use in places}
            if len(copies) == 1 and kind == "part" and not self._is_input(leaf, part):
                alone[leaf] = first
        slots = Counter(use.slot for use in alone.values())
        own: dict[int, int] = {}
        for leaf, use in alone.items():
            _, part = use.box
            if slots[use.slot] == len(self.parts[part].copies):
                own[leaf] = part
        return own

    def _is_input(self, leaf: int, part: int) -> bool:
        """Say whether a leaf that a module reads is the learner's variable, such as an image."""
        node = self.graph.nodes[leaf]
        return bool(node.name) and not owner(node) and len(self.parts[part].copies) == 1

    def _groups(self, uses: Mapping[int, set[Use]]) -> Iterator[list[int]]:
        """Yield the leaves of a module that the same boxes read, at least one of them a part."""
        read_alike: dict[frozenset[Box], list[int]] = {}
        for leaf in sorted(uses.keys() - self.own.keys()):
            boxes = frozenset(use.box for use in uses[leaf])
            if any(kind == "part" for kind, _ in boxes):
                read_alike.setdefault(boxes, []).append(leaf)
        for leaves in chain.from_iterable(map(self._by_module, read_alike.values())):
            if len(leaves) > 1:
                yield leaves

    def _by_module(self, leaves: Sequence[int]) -> list[list[int]]:
        """Return leaves in groups, one for each of the few modules that hold them."""
        paths = [owner(self.graph.nodes[leaf]) for leaf in leaves]
        depth = len(common(paths)) + 1
        by_module: dict[Path, list[int]] = {}
        for leaf, path in zip(leaves, paths, strict=True):
            by_module.setdefault(path[:depth], []).append(leaf)
        if len(by_module) > MOST_JOINED:
            return [list(leaves)]
        return list(by_module.values())
