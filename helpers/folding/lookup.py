"""Look up the parts of a graph by the names that a folded picture shows. Plain data in and out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property

from helpers.outline import Outline
from helpers.parts import Part
from helpers.shared import UNNAMED
from helpers.text import visible

MOST_NAMED = 8  # parts that an error names
LONGEST = 60  # characters of a name that an error repeats
NOWHERE = -1  # where many leaves that are drawn together stand: they did not run


class Lookup:
    """Know every part of an outline by its name."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline

    @cached_property
    def known(self) -> dict[str, Part]:
        """Hold every part by its name, outer ones first."""
        return {part.name: part for part in self.every(self.outline.parts())}

    def every(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Yield parts, their copies, and the parts inside of each, outer ones first."""
        yield from parts
        for part in parts:
            copies = part.each()
            if len(copies) > 1:
                yield from copies
            for one in copies:
                yield from self.every(self.outline.parts(one.start, one.stop, one.name))

    def find(self, name: str) -> Part:
        """Return the part with a name, which may leave out that of the model. Raises ValueError if there is none."""
        if name in self.known:
            return self.known[name]
        if self._is_leaves(name):
            return Part(NOWHERE, NOWHERE, name, (name,))
        found = [one for one in self.known if one.endswith(f".{name}")]
        if len(found) == 1:
            return self.known[found[0]]
        if row := self._row(name):
            return row
        raise ValueError(self._fault(visible(name, LONGEST), found))

    def check(self, name: str) -> None:
        """Raise ValueError where a graph that is drawn as it is has nothing of a name."""
        modules = self.outline.modules
        if not any(".".join(path).endswith(name) for path in modules.owners if path):
            self.find(name)

    def _row(self, name: str) -> Part | None:
        """Return the row of copies that a module holds: "encoder.layers" of "encoder.layers.0 … 11"."""
        rows = (part for part in self.known.values() if len(part.copies) > 1)
        held = [row for row in rows if name and f".{row.copies[0].rpartition('.')[0]}".endswith(f".{name}")]
        return held[0] if len(held) == 1 else None

    def _is_leaves(self, name: str) -> bool:
        """Say whether a name is that of leaves that are drawn together: "encoder.*", "lower.* + upper.*"."""
        paths = [tuple(one.split(".")[:-1]) for one in name.split(" + ") if one.endswith(".*")]
        is_held = bool(paths) and all(self.outline.modules.leaves_of(path) for path in paths)
        return name == UNNAMED or (is_held and len(paths) == len(name.split(" + ")))

    def _fault(self, name: str, found: Sequence[str]) -> str:
        near = found or get_close_matches(name, self.known, MOST_NAMED, 0.0)
        more = f" and {len(self.known) - MOST_NAMED:,} more" if not found and len(self.known) > MOST_NAMED else ""
        some = ", ".join(map(repr, near[:MOST_NAMED])) + more
        fault = f"{len(found)} parts end in" if found else "There is no part"
        advice = f"Pass one of the names that folded pictures show: {some}." if some else "Nothing is folded here."
        return f"{fault} {name!r}. {advice}"
