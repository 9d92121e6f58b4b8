"""Divide a program into parts that can be a box each: module calls, and what repeats in a row."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.data import stem
from autograd_graphs.large.execution_order import Program
from autograd_graphs.large.owners import guessed_calls
from autograd_graphs.large.parts import Part, row_names
from autograd_graphs.large.pieces import Item, Piece, Reader, extent
from autograd_graphs.large.rows import Row, Rows

LOOSE = 6  # operations side by side that are drawn one by one where there are parts beside them


class Outline:
    """Know the parts of a program, and the parts of each part."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.is_guess = not program.graph.calls
        self.reader = Reader(program)
        self.items = self.reader.nested(program.graph.calls or guessed_calls(program))
        self._inside: dict[Part, tuple[Part, ...]] = {}
        self.outer = self._divide(self.items, "")  # the outermost parts, as they ran

    def inside(self, part: Part) -> Sequence[Part]:
        """Return the parts of a part: the copies of a row, what is directly in a call."""
        if len(part.copies) > 1:
            return part.each()
        if part not in self._inside:
            self._inside[part] = self._divide(part.pieces[0].items, part.name)
        return self._inside[part]

    def form(self, part: Part) -> tuple[int, ...]:
        """Return what equal parts share: how many copies they are of which operations and calls."""
        return len(part.copies), *map(self.reader.key, part.pieces[0].items)

    def _divide(self, items: Sequence[Item], name: str) -> tuple[Part, ...]:
        """Return the parts among items that are in a part of this name."""
        parts: list[Part] = []
        at = 0
        for row in Rows(self.reader, items).best():
            parts += self._single(items[at : row.start])
            parts.append(self._row(items, row, self._new_name(parts, name, "block")))
            at = row.stop
        parts += self._single(items[at:])
        if parts:
            parts = self._with_loose(items, parts, name)
        return tuple(parts)

    def _single(self, items: Sequence[Item]) -> list[Part]:
        """Return each call that hides something as a part of its own."""
        calls = []
        for item in items:
            if isinstance(item, Piece) and self._hides(item):
                calls.append(Part(item.start, item.stop, item.label, (item.label,), (item,)))
        return calls

    def _hides(self, piece: Piece) -> bool:
        """Say whether a box of a call would hide more than one operation, or one and its leaves."""
        length = piece.stop - piece.start
        return length > 1 or (length == 1 and self.program.has_own_leaf(piece.start))

    def _row(self, items: Sequence[Item], row: Row, block: str) -> Part:
        """Return equal copies as one part, called `block` where they are no calls."""
        pieces = []
        for start in range(row.start, row.stop, row.period):
            pieces.append(together(items[start : start + row.period]))
        beside = self._beside(pieces[0])
        name, copies = row_names(pieces, block, beside)
        start, stop = pieces[0].start, pieces[-1].stop
        return Part(start, stop, name, copies, tuple(pieces))

    def _beside(self, piece: Piece) -> str:
        """Name what a copy does beside its calls: "+Relu", or "+3 operations"."""
        places = [item for item in piece.items if isinstance(item, int)]
        if piece.path or not places:
            return ""
        if len(places) > 1:
            return f"+{len(places)} operations"
        return f"+{stem(self.program.operation(places[0]))}"

    def _new_name(self, parts: Sequence[Part], holder: str, word: str) -> str:
        """Return the name of the next part without a module: "block 2", or "operations 1"."""
        number = 1 + sum(f"{word} " in part.name.rpartition(".")[2] for part in parts)
        return f"{holder}.{word} {number}".removeprefix(".")

    def _with_loose(self, items: Sequence[Item], parts: list[Part], holder: str) -> list[Part]:
        """Add operations side by side, where they are many, as parts of their own; never a root."""
        taken = set(self.program.asked)
        for part in parts:
            taken.update(range(part.start, part.stop))
        run: list[int] = []
        start, stop = ends(items)
        for at in range(start, stop + 1):
            if at < stop and at not in taken:
                run.append(at)
                continue
            if len(run) > LOOSE:
                name = self._new_name(parts, holder, "operations")
                parts.append(Part(run[0], run[-1] + 1, name, (name,), (together(run),)))
            run = []
        return sorted(parts, key=lambda part: part.start)


def together(items: Sequence[Item]) -> Piece:
    """Return neighbours as one piece: a call as it is."""
    if len(items) == 1 and isinstance(items[0], Piece):
        return items[0]
    return Piece("", "", *ends(items), tuple(items))


def ends(items: Sequence[Item]) -> tuple[int, int]:
    """Return the place where items start, and the one after their last."""
    return extent(items[0])[0], extent(items[-1])[1]
