"""The lab of lesson 09: edits in place, version counters, and what backward() makes of them."""

from __future__ import annotations

import torch

from autograd_graphs.data import SavedTensor
from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World

EDIT = "tries to add 1, in place"
ITSELF, OTHER = "edit x", "through another tensor"


class Edits(World):
    """A leaf x, and y = x ** 2, whose node saved x.

    `_then` is a copy of x as it was in the forward pass.
    """

    setup = ("x = torch.tensor([1., 2., 3.], requires_grad=True)", "y = x ** 2")
    actions = (
        Action("forward", "x.grad = None; y = x ** 2", "runs the forward pass again"),
        Action("no_grad", "with torch.no_grad(): x += 1", EDIT, ITSELF),
        Action(
            "undo",
            "with torch.no_grad(): x -= 1",
            "tries to take 1 away, in place",
            ITSELF,
            called="minus",
        ),
        Action("detach", "x.detach().add_(1)", EDIT, OTHER),
        Action("data", "x.data.add_(1)", EDIT, OTHER),
        Action("numpy", "x.detach().numpy()[:] += 1", EDIT, OTHER),
        Action("direct", "x += 1", EDIT, ITSELF),
        Action("clone", "x.clone().add_(1)", "adds 1 to a copy, in place", OTHER),
        Action("backward", "y.sum().backward()", "fills x.grad, or refuses"),
    )
    names = ("x", "x.grad")
    root_names = ("y",)
    unversioned = ("x.grad",)

    def reset(self) -> None:
        super().reset()
        self._then = self.x.detach().clone()

    def run(self, action: Action) -> None:
        super().run(action)
        if action.name == "forward":
            self._then = self.x.detach().clone()

    def compared(self) -> dict[str, torch.Tensor]:
        return super().compared() | {"then": self._then}

    def right(self) -> torch.Tensor:
        """Return the gradient that y had asked for, computed by torch from the copy."""
        fresh = self._then.clone().requires_grad_()
        return torch.autograd.grad((fresh**2).sum(), fresh)[0]

    def is_wrong(self) -> bool:
        return self.x.grad is not None and not torch.equal(self.x.grad, self.right())

    def saved(self) -> SavedTensor:
        return saved(self.y.grad_fn, lambda tensor: ())[0]

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        value = short_numbers(tensor.tolist())
        if name == "x.grad":
            return (Row("", value, self.is_wrong()),)
        return Row("", value), Row("_version", str(tensor._version))

    def facts(self) -> tuple[Row, ...]:
        cell = self.saved()
        version = f"at version {cell.version}"
        kept = {"freed": "freed", "modified": f"{version}, modified since"}
        right = Row("", "")
        if self.x.grad is not None:
            right = Row("the right x.grad", short_numbers(self.right().tolist()))
        return Row("y saved x", kept.get(cell.state, version)), right

    def title(self) -> str:
        if self.x.grad is None:
            return f"x is at version {self.x._version}"
        return "x.grad is wrong" if self.is_wrong() else "x.grad is right"

    def say(self) -> str:
        cell, changed = self.saved(), not torch.equal(self.x, self._then)
        if self.is_wrong():
            now, right = short_numbers(self.x.grad.tolist()), short_numbers(self.right().tolist())
            return f"It holds {now} instead of {right}, and no error tells you."
        if self.x.grad is not None:
            which = "no longer" if changed else "still"
            return f"x {which} holds the numbers y was computed from."
        said = f"y saved x at version {cell.version}, and x is at version {self.x._version}."
        if changed:
            said += " The numbers in x have changed."
        return said


def has_grad(state: State, is_wrong: bool) -> bool:
    """Say whether a state answers the last question of the lab."""
    return state.box("x.grad").rows == (Row("", "[4, 6, 8]", is_wrong),)


versions = Lab(
    "versions",
    Edits,
    5,
    "Lab: you edit x after y = x ** 2 saved it. A triangle marks a saved tensor whose version moved.",
    {
        "right": "backward",
        "no_grad, RuntimeError": "no_grad backward",
        "detach, RuntimeError": "detach backward",
        "data, silent": "data backward",
        "numpy, silent": "numpy backward",
        "there and back": "no_grad undo",
        "leaf": "direct",
        "copy": "clone backward",
        "after backward": "backward no_grad",
        "forward again": "no_grad forward backward",
    },
    [
        Question(
            "Each edit alone, then `backward()`: refused at once, refused later, wrong gradient: how many of each?",
            [
                "direct",
                *[
                    f"{edit} backward"
                    for edit in ("no_grad", "undo", "detach", "data", "numpy", "clone")
                ],
            ],
        ),
        Question(
            "`x` has its old numbers again, and the first `backward()` is refused: how few presses?",
            [lambda state, error: "modified" in error and state.value("x") == "[1, 2, 3]"],
        ),
        Question(
            "`x.grad` is `[4, 6, 8]`, once wrong, once right: how few presses?",
            [lambda state, _: has_grad(state, True), lambda state, _: has_grad(state, False)],
        ),
    ],
)
