"""Find the stretches of a program that belong to a module, by the dotted names of the parameters that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from helpers.program import OUTSIDE, Program

if TYPE_CHECKING:
    from helpers.graph import Node

LEAST = 3  # operations and leaves that are worth a box of their own
RESHAPING = (
    "T",
    "Transpose",
    "Clone",
    "View",
    "UnsafeView",
    "Permute",
    "Expand",
    "Unsqueeze",
    "Squeeze",
    "Slice",
    "Select",
)

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """Hold the places start … stop - 1 of a program, and the path of the module that reads its parameters there.

    `core` are the first and the last place that reads one, and one more; what lies around it only serves the module.
    """

    start: int
    stop: int
    path: Path
    core: tuple[int, int]

    def within(self, low: int, high: int) -> Owned | None:
        """Return it without what lies outside of two places; nothing where its core does."""
        is_there = low <= self.core[0] and self.core[1] <= high
        return replace(self, start=max(self.start, low), stop=min(self.stop, high)) if is_there else None


class Modules:
    """Know, for a program, the path of the module whose parameters each operation reads."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.owner = [owner(one) for one in program.graph.nodes]
        self.owners = set(self.owner)
        owned = [[self.owner[leaf] for leaf in leaves if self.owner[leaf]] for leaves in program.leaves]
        self.paths = [common(paths) for paths in owned]
        self._inside: dict[Path, set[int]] = {}
        for leaf, path in enumerate(self.owner):
            for depth in range(1, len(path) + 1):
                self._inside.setdefault(path[:depth], set()).add(leaf)
        self.reads: dict[int, list[int]] = {}
        for at, leaves in enumerate(program.leaves):
            for leaf in leaves:
                self.reads.setdefault(leaf, []).append(at)
        self.is_cut = any(edge.cut for edge in program.graph.edges)
        self.root = self.of(0, len(program))

    def of(self, start: int, stop: int) -> Path:
        """Return the path that all parameters read between two places have in common."""
        return common(path for path in self.paths[start:stop] if path)

    def leaves_of(self, path: Path) -> set[int]:
        """Return the leaves of a graph that are parameters of a module, or of one in it."""
        return self._inside.get(path, set())

    def owned(self) -> list[Owned]:
        """Return the stretch of every call of a module that has one to itself, the longest first."""
        runs: dict[Path, list[list[int]]] = {}
        before: Path = ()
        for at, path in ((at, path) for at, path in enumerate(self.paths) if path):
            for depth in range(len(self.root) + 1, len(path) + 1):
                if before[:depth] != path[:depth]:
                    runs.setdefault(path[:depth], []).append([])
                runs[path[:depth]][-1].append(at)
            before = path
        calls = [(path, run) for path, found in runs.items() for run in found if self._is_call(path, run, found)]
        grown = [self._grown(path, run[0], run[-1] + 1) for path, run in calls]
        return sorted(filter(self.is_worth, grown), key=lambda one: (one.start - one.stop, len(one.path)))

    def _is_call(self, path: Path, run: list[int], runs: list[list[int]]) -> bool:
        """Say whether a run of places that read parameters of a module is a call of it: one of several reads all."""
        return len(runs) == 1 or self.leaves_of(path) <= {leaf for at in run for leaf in self.program.leaves[at]}

    def is_worth(self, one: Owned) -> bool:
        """Say whether a module has enough in it for a box of its own: operations, and leaves of its own."""
        inside = self.leaves_of(one.path)
        own = sum(one.start <= self.reads[leaf][0] and self.reads[leaf][-1] < one.stop for leaf in inside)
        return one.stop - one.start + own >= LEAST

    def _grown(self, path: Path, start: int, stop: int) -> Owned:
        """Take in what has no parameter and only serves the module: views before it, what goes on inside of it."""
        core = start, stop
        while start and self._serves(start - 1, stop):
            start -= 1
        if self._is_rest(start, stop):
            start = 0
        while stop < len(self.program) and self._follows(start, stop, path in self.owners):
            stop += 1
        return Owned(start, stop, path, core)

    def _is_rest(self, start: int, stop: int) -> bool:
        """Say whether all that ran before, in a graph that was cut, is what is left of this module."""
        before = range(start)
        return self.is_cut and all(not self.paths[at] and self.program.last_use[at] < stop for at in before)

    def _serves(self, at: int, stop: int) -> bool:
        return not self.paths[at] and self._is_reshaping(at) and at < self.program.last_use[at] < stop

    def _follows(self, start: int, at: int, is_simple: bool) -> bool:
        """Say whether an operation reads nothing but results of the module, and reshapes them.

        After a module that only holds others it may also compute, and keep the shape: a sum with a skip, an activation.
        """
        reshapes = self._is_reshaping(at) and not self._serves_next(at)
        keeps = reshapes or (not is_simple and self._shape(at) == self._shape(at - 1))
        places = {place for place, _ in self.program.inputs[at]} - {OUTSIDE}
        return keeps and not self.paths[at] and at - 1 in places and min(places) >= start

    def _serves_next(self, at: int) -> bool:
        """Say whether a result goes, reshaped or not, to an operation that reads parameters."""
        while not self.paths[at] and self._is_reshaping(at) and self.program.last_use[at] > at:
            at = self.program.last_use[at]
        return bool(self.paths[at])

    def _is_reshaping(self, at: int) -> bool:
        return self._node(at).operation.partition("Backward")[0] in RESHAPING

    def _shape(self, at: int) -> tuple[int, ...] | None:
        return next((made.shape for made in self._node(at).outputs), None)

    def _node(self, at: int) -> Node:
        return self.program.graph.nodes[self.program.nodes[at]]


def owner(node: Node) -> Path:
    """Return the path of the module that holds a leaf; empty for any other node."""
    names = node.outputs[0].names if node.is_leaf else ()
    return next((tuple(name.split(".")[:-1]) for name in names if "." in name), ())


def common(paths: Iterable[Path]) -> Path:
    """Return the beginning that all paths share; empty where there is none."""
    shared: Path | None = None
    for path in paths:
        pairs = zip(path, path if shared is None else shared, strict=False)
        same = [one == other for one, other in pairs]
        shared = path[: same.index(False)] if False in same else path[: len(same)]
    return shared or ()
