"""Look up the parts of a graph by the names that a folded picture shows. Plain data in and out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property

from autograd_graphs.large.folded_leaves import UNNAMED
from autograd_graphs.large.outline import Outline
from autograd_graphs.large.owners import owner
from autograd_graphs.large.parts import NoPart, Part
from autograd_graphs.text import visible

MOST_NAMED = 8  # parts that an error names
LONGEST = 60  # characters of a name that an error repeats
MOST_COMPARED = 2_000  # names that a wrong one is compared with
NOWHERE = -1  # where many leaves that are drawn together stand: they did not run


class Lookup:
    """Know every part of an outline by its name."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline

    @cached_property
    def known(self) -> dict[str, Part]:
        """Hold every part by its name, outer ones first."""
        parts: dict[str, Part] = {}
        for part in self.every(self.outline.outer):
            parts.setdefault(part.name, part)
        return parts

    def every(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Yield parts, and the parts inside of each, outer ones first."""
        yield from parts
        for part in parts:
            yield from self.every(self.outline.inside(part))

    def find(self, name: str) -> Part:
        """Return the part with a name, which may leave out that of the model; or raise NoPart."""
        if self._may_be_leaves(name):
            return Part(NOWHERE, NOWHERE, name, (name,))
        if name.startswith("reads "):
            name = name.removeprefix("reads ").removesuffix(".*")
        if name in self.known:
            return self.known[name]
        longer = [known for known in self.known if known.endswith(f".{name}")]
        if len(longer) == 1:
            return self.known[longer[0]]
        if row := self._row(name):
            return row
        raise NoPart(self.fault(name, longer))

    def check(self, name: str) -> None:
        """Raise NoPart where a graph that is drawn as it is has nothing of a name."""
        path = name.removesuffix(".*")
        if path and any(f".{holder}".endswith(f".{path}") for holder in self._holders()):
            return
        if self.find(name).start == NOWHERE:
            raise NoPart(self.fault(name))

    def _holders(self) -> set[str]:
        """Return the paths of the modules that hold leaves."""
        owners = map(owner, self.outline.program.graph.nodes)
        return set(map(".".join, owners)) - {""}

    def _row(self, name: str) -> Part | None:
        """Return the row that a module holds: "encoder.layers" of "encoder.layers.0 … 11"."""
        held = []
        for row in self.known.values():
            holder = row.copies[0].rpartition(".")[0]
            if name and len(row.copies) > 1 and f".{holder}".endswith(f".{name}"):
                held.append(row)
        return held[0] if len(held) == 1 else None

    def _may_be_leaves(self, name: str) -> bool:
        """Say whether a name could be that of leaves that are drawn together: "encoder.*"."""
        if name == UNNAMED:
            return True
        path = name.removesuffix(".*")
        return path != name and any(f".{path}." in f".{holder}." for holder in self._holders())

    def fault(self, name: str, longer: Sequence[str] = ()) -> str:
        """Say that a name is that of no part, or of several, and which there are."""
        name = visible(name, LONGEST)
        known = list(self.known)
        near = longer or get_close_matches(name, known[:MOST_COMPARED], MOST_NAMED, 0.0)
        more = ""
        if not longer and len(known) > MOST_NAMED:
            more = f" and {len(known) - MOST_NAMED:,} more"
        some = ", ".join(map(repr, near[:MOST_NAMED])) + more
        fault = f"{len(longer)} parts end in" if longer else "There is no part"
        if not near:
            return f"{fault} {name!r}. Nothing is folded here."
        return f"{fault} {name!r}. Pass one of the names that folded pictures show: {some}."
