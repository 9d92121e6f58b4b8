"""Call the parts of a program by the modules whose parameters they read, each part by a name of its own. Plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers.modules import Modules, Owned, Path, common
from helpers.parts import Part, distinct, plain, qualified, span
from helpers.repeats import Odd, Stretch

MOST_JOINED = 3  # modules that are named one by one: "lower+upper"


class Titles:
    """Find names for the copies of a stretch."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules

    def parts(self, found: Sequence[Stretch | Owned | Odd], parent: str) -> list[Part]:
        """Name parts that lie in a row, in the order in which they ran; `parent` is the name of what holds them."""
        rows = [one for one in found if isinstance(one, Stretch)]
        blocks = {row: self._block(row, parent, nr) for nr, row in enumerate(reversed(rows), start=1)}  # last is first
        late = {one.of for one in found if isinstance(one, Odd) and one.start < one.of.start}
        return distinct([self._part(one, parent, blocks, late) for one in found])

    def _part(self, one: Stretch | Owned | Odd, parent: str, blocks: dict[Stretch, str], late: set[Stretch]) -> Part:
        if isinstance(one, Owned):
            name = qualified(".".join(one.path), parent)
            return Part(one.start, one.stop, name, (name,))
        if isinstance(one, Odd):
            name = self._odd(one, parent, f"{blocks[one.of]}[{0 if one.start < one.of.start else one.of.count}]")
            return Part(one.start, one.stop, name, (name,))
        if own := self.own(one):
            copies = tuple(qualified(copy, parent) for copy in own)
            return Part(one.start, one.stop, span(copies), copies)
        first = int(one in late)
        copies = tuple(f"{blocks[one]}[{nr}]" for nr in range(first, first + one.count))
        return Part(one.start, one.stop, span(copies) if first else blocks[one], copies)

    def _odd(self, one: Odd, parent: str, call: str) -> str:
        """Call what is nearly a copy by a module of its own, as the copies are, or count it with them."""
        path, own = self.modules.of(one.start, one.stop), self.own(one.of)
        is_own = path and own and ".".join(path) not in own and len(path) == own[0].count(".") + 1
        return qualified(".".join(path), parent) if is_own else call

    def _block(self, row: Stretch, parent: str, number: int) -> str:
        """Call what repeats by the modules that it calls; or number it, in the module that holds it."""
        starts = range(row.start, row.stop, row.period)
        is_held = all(self.modules.of(at, at + row.period) for at in starts)
        where = ".".join(self.modules.of(row.start, row.stop) if is_held else ()) or plain(parent)
        return qualified(self.called(row) or f"{where}.block {number}".removeprefix("."), parent)

    def own(self, one: Stretch) -> tuple[str, ...]:
        """Return the modules that the copies are: one each, or neighbours; nothing where the copies share any."""
        starts = range(one.start, one.stop, one.period)
        paths = [self.modules.of(at, at + one.period) for at in starts]
        if len(set(paths)) == 1:
            paths = [self._neighbours(at, at + one.period) for at in starts]
        differ = len(set(paths)) == len(paths) and len({len(path) for path in paths}) == 1
        return tuple(map(".".join, self._outer(one, paths))) if differ and all(paths) else ()

    def _outer(self, one: Stretch, paths: list[Path]) -> list[Path]:
        """Return the outermost modules that the copies are: "blocks.0" where all it has is "blocks.0.0"."""
        outer = [path[: len(common(paths)) + 1] for path in paths]
        reads = (self._reads(at, one.period) for at in range(one.start, one.stop, one.period))
        whole = all(self.modules.leaves_of(path) <= inside for path, inside in zip(outer, reads, strict=True))
        return outer if whole and len(set(outer)) == len(outer) else paths

    def _neighbours(self, start: int, stop: int) -> Path:
        """Call several numbered modules, next to each other in one that holds them, by the first and the last."""
        shared, inside = children(path for path in self.modules.paths[start:stop] if path)
        numbers = sorted(int(one) for one in inside if one.isdecimal())
        if len(numbers) != len(inside) or len(numbers) < 2 or not self._has_all(start, stop, shared, inside):
            return ()
        return (*shared, f"{numbers[0]}-{numbers[-1]}")

    def called(self, one: Stretch) -> str:
        """Return the modules that are called again by every copy, with the same parameters."""
        first, second = self._reads(one.start + one.period, one.period), self._reads(one.stop - one.period, one.period)
        if not first or first != second:
            return ""
        path = self.modules.of(one.start, one.stop)
        if path and self.modules.leaves_of(path) <= first:
            return ".".join(path)
        shared, inside = children(path for path in self.modules.paths[one.start : one.stop] if path)
        is_whole = inside and self._has_all(one.start, one.start + one.period, shared, inside)
        return ".".join((*shared, "+".join(inside))) if is_whole and len(inside) <= MOST_JOINED else ""

    def _has_all(self, start: int, stop: int, shared: Path, inside: Iterable[str]) -> bool:
        reads = self._reads(start, stop - start)
        return all(self.modules.leaves_of((*shared, one)) <= reads for one in inside)

    def _reads(self, start: int, length: int) -> set[int]:
        return {leaf for leaves in self.modules.program.leaves[start : start + length] for leaf in leaves}


def children(paths: Iterable[Path]) -> tuple[Path, list[str]]:
    """Return what paths share, and how they go on from there, each way once; nothing where one ends there."""
    paths = list(dict.fromkeys(paths))
    shared = common(paths)
    if any(len(path) == len(shared) for path in paths):
        return shared, []
    return shared, list(dict.fromkeys(path[len(shared)] for path in paths))
