"""The lab of lesson 02: flags, grad mode and kinds of operation. Two lines run anew after every
change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import World

KINDS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "b = a + z": lambda a, z: a + z,
    "b = a > z": lambda a, z: a > z,
    "b = (a + z).long()": lambda a, z: (a + z).long(),
}
FLOAT, COMPARISON, INTEGER = KINDS


class Flags(World):
    """Three leaves, and two lines that are run anew after every change: a = x + y, then b from a
    and z.
    """

    actions = (
        ("flag_x", "flag of x"),
        ("flag_y", "flag of y"),
        ("flag_z", "flag of z"),
        ("grad_mode", "grad mode on/off"),
        ("float", FLOAT),
        ("comparison", COMPARISON),
        ("integer", INTEGER),
    )

    def reset(self) -> None:
        self.x, self.y, self.z = (
            torch.tensor(pair) for pair in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
        )
        self.mode, self.kind = True, FLOAT
        self.run()

    def run(self) -> None:
        with torch.set_grad_enabled(self.mode):
            self.a = self.x + self.y
            self.b = KINDS[self.kind](self.a, self.z)

    def toggle(self, leaf: torch.Tensor) -> None:
        leaf.requires_grad_(not leaf.requires_grad)
        self.run()

    def flag_x(self) -> None:
        self.toggle(self.x)

    def flag_y(self) -> None:
        self.toggle(self.y)

    def flag_z(self) -> None:
        self.toggle(self.z)

    def grad_mode(self) -> None:
        self.mode = not self.mode
        self.run()

    def choose(self, kind: str) -> None:
        self.kind = kind
        self.run()

    def float(self) -> None:
        self.choose(FLOAT)

    def comparison(self) -> None:
        self.choose(COMPARISON)

    def integer(self) -> None:
        self.choose(INTEGER)

    def roots(self) -> tuple[torch.Tensor, ...]:
        return self.b, self.a, self.x, self.y, self.z

    def whole(self) -> Mapping[str, torch.Tensor]:
        x, y, z = (one.detach().clone().requires_grad_() for one in (self.x, self.y, self.z))
        a = x + y
        return {"b": a + z, "a": a, "x": x, "y": y, "z": z}

    def values(self) -> tuple[tuple[str, str], ...]:
        flags = [
            (f"{name}.requires_grad", str(getattr(self, name).requires_grad)) for name in "xyzab"
        ]
        return (("grad mode", "on" if self.mode else "off"), ("operation", self.kind), *flags)

    def say(self) -> str:
        if self.b.requires_grad:
            asked = [name for name in "az" if getattr(self, name).requires_grad]
            return (
                f"b requires grad, because of {' and of '.join(asked)}: one input would be enough."
            )
        if not any(one.requires_grad for one in (self.x, self.y, self.z)):
            return "No leaf requires grad: nothing is recorded."
        if not self.mode:
            return "Grad mode is off: nothing is recorded, whatever the flags say."
        made = "a bool" if self.b.dtype == torch.bool else "an integer"
        rest = "; a is recorded all the same" if self.a.requires_grad else ""
        return f"b is {made}, which cannot require grad{rest}."


requires_grad = Lab(
    "requires_grad",
    Flags,
    5,
    "Lab: flags of x, y and z, grad mode and the kind of operation; what is not recorded is dashed.",
    {
        "one flag": "flag_z",
        "all flags": "flag_x flag_y flag_z",
        "grad mode off": "flag_z grad_mode",
        "comparison": "flag_z comparison",
        "integer": "flag_x integer",
    },
)
