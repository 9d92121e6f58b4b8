"""Frozen, plain data about one box that stands for a whole part of a graph."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Folded:
    """Hold what one box of a folded graph stands for: equal copies of a part, each with its own name.

    `copies` are their names in the order in which they ran; each copy has so many `operations`, and `leaves` that
    nothing else uses. `with_grad` counts the leaves in all of them that have a `.grad`.
    """

    copies: tuple[str, ...]
    operations: int
    leaves: int
    with_grad: int = 0

    @property
    def count(self) -> int:
        return len(self.copies)

    def __str__(self) -> str:
        operations = counted(self.operations, "operation") if self.operations else ""
        leaves = counted(self.leaves, "leaf", "leaves") if self.leaves else ""
        grads = f", {self.with_grad:,} with .grad" if self.with_grad else ""
        return f"{', '.join(filter(None, [operations, leaves]))}{' each' if self.count > 1 else ''}{grads}"


def counted(number: int, one: str, many: str = "") -> str:
    """Say how many: "1 leaf", "1,000 operations"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
