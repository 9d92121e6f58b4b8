"""Find the stretches of a program that belong to a module, by the dotted names of the parameters that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.program import OUTSIDE, Program

if TYPE_CHECKING:
    from helpers.graph import Node

LEAST = 3  # operations that are worth a box of their own
RESHAPING = ("T", "Transpose", "View", "UnsafeView", "Permute", "Expand", "Unsqueeze", "Squeeze", "Slice", "Select")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """Hold the places start … stop - 1 of a program, and the path of the module that reads its parameters there."""

    start: int
    stop: int
    path: Path


class Modules:
    """Know, for a program, the path of the module whose parameters each operation reads."""

    def __init__(self, program: Program) -> None:
        self.program = program
        names = [one.outputs[0].names if one.is_leaf else () for one in program.graph.nodes]
        owners = [next((tuple(name.split(".")[:-1]) for name in tried if "." in name), ()) for tried in names]
        self.owners = set(owners)
        self.paths = [common(owners[leaf] for leaf in leaves if owners[leaf]) for leaves in program.leaves]
        self.root = self.of(0, len(program))

    def of(self, start: int, stop: int) -> Path:
        """Return the path that all parameters read between two places have in common."""
        return common(path for path in self.paths[start:stop] if path)

    def owned(self) -> list[Owned]:
        """Return the stretch of every module that has one to itself, the longest first."""
        places: dict[Path, list[int]] = {}
        for at, path in enumerate(self.paths):
            for depth in range(len(self.root) + 1, len(path) + 1):
                places.setdefault(path[:depth], []).append(at)
        found = [self._grown(path, at[0], at[-1] + 1) for path, at in places.items() if self._alone(at)]
        return sorted((one for one in found if one.stop - one.start >= LEAST), key=lambda one: one.start - one.stop)

    def _alone(self, at: list[int]) -> bool:
        return sum(map(bool, self.paths[at[0] : at[-1] + 1])) == len(at)

    def _grown(self, path: Path, start: int, stop: int) -> Owned:
        """Take in what has no parameter and only serves the module: views before it, what goes on inside of it."""
        while start and self._serves(start - 1, stop):
            start -= 1
        while stop < len(self.program) and self._follows(start, stop, path in self.owners):
            stop += 1
        return Owned(start, stop, path)

    def _serves(self, at: int, stop: int) -> bool:
        return not self.paths[at] and self._is_reshaping(at) and at < self.program.last_use[at] < stop

    def _follows(self, start: int, at: int, is_simple: bool) -> bool:
        """Say whether an operation reads nothing but results of the module, and reshapes them.

        After a module that only holds others it may also compute, and keep the shape: a sum with a skip, an activation.
        """
        reshapes = self._is_reshaping(at) and not self.paths[self.program.last_use[at]]
        keeps = reshapes or (not is_simple and self._shape(at) == self._shape(at - 1))
        places = {place for place, _ in self.program.inputs[at]} - {OUTSIDE}
        return keeps and not self.paths[at] and at - 1 in places and min(places) >= start

    def _is_reshaping(self, at: int) -> bool:
        return self._node(at).operation.partition("Backward")[0] in RESHAPING

    def _shape(self, at: int) -> tuple[int, ...] | None:
        return next((made.shape for made in self._node(at).outputs), None)

    def _node(self, at: int) -> Node:
        return self.program.graph.nodes[self.program.nodes[at]]


def common(paths: Iterable[Path]) -> Path:
    """Return the beginning that all paths share; empty where there is none."""
    shared: Path | None = None
    for path in paths:
        pairs = zip(path, path if shared is None else shared, strict=False)
        same = [one == other for one, other in pairs]
        shared = path[: same.index(False)] if False in same else path[: len(same)]
    return shared or ()
