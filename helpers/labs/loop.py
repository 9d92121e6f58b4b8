"""The lab of lesson 11: the four lines of a training loop as a ring, and what each of them touches."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.drawing.diagram import arrow
from autograd_graphs.drawing.display_list import Drawing, Mark, Pen
from autograd_graphs.drawing.layout import Point
from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab, as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World

FORWARD, ZERO, BACKWARD, STEP = "forward", "zero_grad", "backward", "step"


class Loop(World):
    """A weight of 1 that a loss pulls to 4, and an optimizer that subtracts a quarter of the gradient."""

    setup = (
        "w = torch.tensor(1., requires_grad=True)",
        "optimizer = torch.optim.SGD([w], lr=0.25)",
    )
    actions = (
        Action(FORWARD, "loss = (w - 4) ** 2", "computes the loss"),
        Action(ZERO, "optimizer.zero_grad()", "gets ready for new gradients"),
        Action(BACKWARD, "loss.backward()", "walks the graph backward"),
        Action(STEP, "optimizer.step()", "takes a step"),
    )
    names = ("w", "w.grad", "loss")
    tools = ("optimizer",)

    def reset(self) -> None:
        super().reset()
        self.last = ""

    def run(self, action: Action) -> None:
        self.last = action.name
        super().run(action)

    def kept(self) -> str:
        """Say what the graph of the loss has saved."""
        if "loss" not in self.bound:
            return "none"
        (cell,) = saved(self.loss.grad_fn, lambda tensor: ())
        return cell.state

    def facts(self) -> tuple[Row, ...]:
        return (
            Row("saved tensor", self.kept()),
            Row("version of w", str(self.w._version)),
            Row("pressed last", self.last),
        )

    def title(self) -> str:
        return f"w is {short_numbers(self.w.tolist())}"

    def say(self) -> str:
        words = "w.grad is None"
        if self.w.grad is not None:
            words = f"w.grad is {short_numbers(self.w.grad.tolist())}"
        if "loss" not in self.bound:
            return f"{words}. There is no loss yet."
        at = short_numbers(self.loss.tolist())
        return f"{words}. The loss was {at}, and its saved tensor is {self.kept()}."


# px: the size of the picture, of a line's card and of a place, and where the middle of each is
WIDE, HIGH, CARD, PLACE = 470, 320, (146, 32), (124, 56)
LINES = {FORWARD: (77, 160), ZERO: (235, 20), BACKWARD: (393, 160), STEP: (235, 299)}
SAVED, GRAD, WEIGHT = (164, 94), (306, 94), (235, 222)
TURNS = (  # from each line to the next
    ((77, 143), (77, 67), (100, 20), (160, 20)),
    ((312, 20), (370, 20), (393, 67), (393, 143)),
    ((393, 176), (393, 252), (370, 299), (310, 299)),
    ((160, 299), (100, 299), (77, 252), (77, 176)),
)
TOUCHES = {  # from a line to what it changes, and from what it reads to the line
    FORWARD: (
        ((110, 143), (116, 136), (122, 130), (130, 123)),
        ((171, 223), (135, 220), (112, 202), (104, 176)),
    ),
    ZERO: (((262, 36), (270, 45), (278, 54), (284, 66)),),
    BACKWARD: (
        ((360, 143), (354, 136), (348, 130), (340, 123)),
        ((318, 166), (260, 168), (200, 160), (180, 123)),
    ),
    STEP: (
        ((222, 283), (222, 273), (222, 265), (222, 250)),
        ((300, 123), (316, 185), (316, 244), (290, 282)),
    ),
}


def ring(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as a ring of four lines, and mark the last that ran and what it touched."""
    drawn = [Drawing(WIDE, HIGH, tuple(marks(state)), as_text(state), alt) for state in states]
    return Drawn(drawn, (), tuple([("saved", *look) for look in KEPT.items()]))


KEPT = {"held": "saved tensor", "freed": "saved tensor, freed"}


def marks(state: State) -> list[Mark]:
    pen, last = Pen(), state.fact("pressed last")
    for turn in TURNS:
        draw_arrow(pen, turn, "")
    for line, curves in TOUCHES.items():
        for curve in curves:
            draw_arrow(pen, curve, "now" if line == last else "ghost")
    for action in Loop.actions:
        (x, y), look = LINES[action.name], "now" if action.name == last else ""
        wide, high = CARD
        pen.rect("operation", x - wide // 2, y - high // 2, wide, high, 9, state=look)
        pen.write("middle", x, y + 5, (action.code.removeprefix("optimizer."), ""))
    kept = state.fact("saved tensor")
    draw_place(pen, SAVED, "saved tensor", kept)
    pen.circle("saved", SAVED[0] - 36, SAVED[1] + 10, 5, state=kept if kept in KEPT else "busy")
    draw_place(pen, GRAD, "w.grad", state.value("w.grad"))
    draw_place(pen, WEIGHT, f"w, version {state.fact('version of w')}", state.value("w"))
    return pen.marks


def draw_arrow(pen: Pen, curve: tuple[Point, ...], look: str) -> None:
    pen.path("edge", *curve, state=look)
    pen.polygon("arrow", *arrow(curve), state=look)


def draw_place(pen: Pen, at: tuple[int, int], name: str, holds: str) -> None:
    """Draw a place that lines touch, with what it holds."""
    (x, y), (wide, high) = at, PLACE
    pen.rect("leaf", x - wide // 2, y - high // 2, wide, high, 8)
    pen.write("word", x, y - 9, (name, ""))
    pen.write("label", x, y + 15, (holds, ""))


LAP = "forward zero_grad backward step"

loop = Lab(
    "loop",
    Loop,
    8,
    "Lab: the four lines of a training loop as a ring, and inside it what they touch: what the graph"
    " keeps, w.grad and w.",
    {
        "one turn": "forward zero_grad backward step",
        "emptied too early": "forward backward zero_grad step",
        "two steps": "forward zero_grad backward step step",
        "backward twice": "forward backward backward",
    },
    [
        Question("Where is `w` after one lap, and after two?", [LAP, f"{LAP} {LAP}"]),
        Question(
            "What is the smallest number of presses that gets `w` above 4?",
            [lambda state, _: float(state.value("w")) > 4],
        ),
        Question(
            "After one lap: which press fails, and which one moves `w`?",
            [f"{LAP} backward", f"{LAP} step"],
        ),
    ],
    ring,
)
