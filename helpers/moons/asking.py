"""Ask a model about the moons: at a lattice of places, and at the hundred points. Leaves the model
and the global random numbers as they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import getclosurevars
from types import FunctionType

import torch
from torch import nn

from helpers.moons.contours import Lattice
from helpers.moons.points import moons

LEFT, BOTTOM, ACROSS, UP = -1.355, -0.72, 3.75, 2.0  # the part of the plane that is shown
PLACES = (61, 33)  # how many places are asked across and up, the frame's edges included
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the chance of moon 1, where the background changes
POINTS = [(x, y) for x, y in moons()[0].tolist()]
MOON = [int(moon) for moon in moons()[1].flatten().tolist()]
SAY_WHAT = (
    "Each point got one number, and 0.3 is moon 1 as a score but moon 0 as a probability. "
    'Say which it is: "score" (moon 1 above 0) or "probability" (moon 1 above 0.5).'
)
Model = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Answers:
    """Hold what a model said: on the lattice in its own unit, row by row from below; at the points
    as the chance of moon 1. `levels` are LEVELS in the unit of the lattice.
    """

    lattice: Lattice
    points: list[float]
    levels: tuple[float, ...]

    @property
    def verdicts(self) -> list[str]:
        """Return for each point "right", "wrong", or "none" where NaN is no answer."""
        return [verdict(chance, moon) for chance, moon in zip(self.points, MOON, strict=True)]

    @property
    def right(self) -> int:
        return self.verdicts.count("right")

    @property
    def silent(self) -> int:
        return self.verdicts.count("none")

    @property
    def sure(self) -> int:
        """Return for how many points the chance of one of the moons is above 0.9."""
        return sum(max(chance, 1 - chance) > 0.9 for chance in self.points)

    @property
    def gaps(self) -> bool:
        """Tell whether some place has no answer: then no line and no tint would be honest."""
        return any(math.isnan(value) for row in self.lattice for value in row)

    @property
    def flat(self) -> bool:
        """Tell whether it says the same everywhere, to three digits: then no line is drawn."""
        first = self.lattice[0][0]
        said = {round(chance, 3) for chance in self.points}
        return len(said) == 1 and all(abs(v - first) < 0.001 for row in self.lattice for v in row)


def verdict(chance: float, moon: int) -> str:
    if math.isnan(chance):
        return "none"
    return "right" if (chance > 0.5) == bool(moon) else "wrong"


def ask(model: Model, says: str | None = None) -> Answers:
    """Ask a model at the lattice and at the points, in eval mode and without gradients.

    `model` takes points, shape (count, 2), float32: a module, or a function that calls one. `says`
    is "score" (moon 1 above 0) or "probability" (moon 1 above 0.5; also a number trained towards 0
    and 1); two numbers a point are scores of the two classes, and need no word. Raises ValueError
    for answers of another shape, and where one number a point comes without a word.
    """
    across, up = PLACES
    xs = [LEFT + ACROSS * i / (across - 1) for i in range(across)]
    places = [(x, BOTTOM + UP * j / (up - 1)) for j in range(up) for x in xs]
    with torch.random.fork_rng([]), torch.no_grad(), in_eval_mode(model):
        said = model(torch.tensor(places + POINTS))
    values, chances, levels = _read(said, says, len(places) + len(POINTS))
    rows = [values[j * across : (j + 1) * across] for j in range(up)]
    return Answers(rows, chances[len(places) :], levels)


@contextmanager
def in_eval_mode(model: object) -> Iterator[None]:
    """Put a model, or those that a function reads, in eval mode, and each part back as it was."""
    parts = [part for one in _modules(model) for part in one.modules()]
    modes = [part.training for part in parts]
    try:
        for part in parts:
            part.training = False
        yield
    finally:
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode


def _modules(model: object) -> list[nn.Module]:
    if isinstance(model, FunctionType):
        read = getclosurevars(model)
        found = [*read.nonlocals.values(), *read.globals.values()]
    else:
        found = [model]
    return [one for one in found if isinstance(one, nn.Module)]


def _read(
    said: torch.Tensor, says: str | None, count: int
) -> tuple[list[float], list[float], tuple[float, ...]]:
    """Return values whose contours are drawn, chances of moon 1, and LEVELS in the values' unit.

    Where there is a score, contours are its own: between two places it runs straighter than its
    sigmoid.
    """
    if said.shape == (count, 2):
        said, says = said[:, 1] - said[:, 0], "score"  # its sigmoid is the softmax's second number
    if said.shape not in ((count, 1), (count,)):
        raise ValueError(
            f"The model gave {tuple(said.shape)} for {count} points, but one number or two for "
            "each are needed."
        )
    if says not in ("score", "probability"):
        raise ValueError(SAY_WHAT)
    values = said.flatten().tolist()
    if says == "probability":
        return values, values, LEVELS
    logits = tuple(math.log(level / (1 - level)) for level in LEVELS)
    return values, said.sigmoid().flatten().tolist(), logits
