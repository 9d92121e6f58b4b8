"""Two pretend ranks with a model in DDP, that run a line at a time: a rank that can't go on waits.

Torch computes all their gradients and weights, here and in no other process. What DDP does with them
is told below: it sends half of a gradient as soon as that has arrived, sums meet by their order, and
a backward ends once all sums are back. `tests/test_lab_ranks.py` holds that against real ranks, in
their third step: in the forward of the second, real ranks agree on new buckets, and wait for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from autograd_graphs.text import short_number

X = (1.0, 3.0)  # what the ranks feed into the model
RATE = 0.1
UNFINISHED = (  # the first two sentences of what DDP says
    "Expected to have finished reduction in the prior iteration before starting a new one. This error"
    " indicates that your module has parameters that were not used in producing loss."
)


class Line(NamedTuple):
    """Hold a line of a rank: its words, the method that runs it, the parameter that it is about, and
    whether it has to wait for all sums that the rank has a part in.
    """

    words: str
    run: str
    parameter: str = ""
    waits: bool = False

    def sends(self) -> bool:
        return self.run in ("send", "log")


FORWARD, STEP = Line("y = model(x)", "go_forward"), Line("sgd.step()", "step")
SENDING = (Line("b arrives", "send", "b"), Line("a arrives", "send", "a"))
SILENT = (Line("b arrives", "arrive", "b"), Line("a arrives", "arrive", "a"))
AVERAGED, OWN = Line("backward ends", "average", waits=True), Line("backward ends", "both")
PLAIN = (FORWARD, *SENDING, AVERAGED, STEP)
AFTER_LOG = (SENDING[0]._replace(waits=True), SENDING[1], AVERAGED, STEP)
AROUND = (Line("model.module(x)", "go_forward"), *SILENT, OWN, STEP)
TWICE = (Line("in no_sync()", "accumulate"), *PLAIN)
UNUSED = (FORWARD, *SENDING, OWN, STEP, Line("y = model(x)", "refuse"))
PROGRAMS = {  # what rank 0 runs, and what rank 1 runs
    "model": (PLAIN, PLAIN),
    "module": (AROUND, AROUND),
    "no_sync": (TWICE, TWICE),
    "spare": (UNUSED, UNUSED),
    "extra": ((FORWARD, Line("all_reduce(y)", "log"), *AFTER_LOG), PLAIN),
}


class Wire:
    """Hold what each rank has sent, in order: the first of one rank is added to the first of the other."""

    def __init__(self) -> None:
        self.sent: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])

    def is_full(self, nr: int) -> bool:
        return all(len(own) > nr for own in self.sent)

    def count_full(self) -> int:
        return sum(map(self.is_full, range(max(map(len, self.sent)))))

    def total(self, nr: int) -> torch.Tensor:
        return self.sent[0][nr] + self.sent[1][nr]

    def told(self) -> list[str]:
        """Return each sum in words, with … for a part that isn't there yet."""
        words = []
        for nr in range(max(map(len, self.sent))):
            parts = [number(own[nr]) if len(own) > nr else "…" for own in self.sent]
            total = f" = {number(self.total(nr))}" if self.is_full(nr) else ""
            words.append(" + ".join(parts) + total)
        return words


class Rank:
    """Be one rank: `next(rank)` runs its next line, and does nothing where that has to wait."""

    def __init__(self, nr: int, forward: Callable, lines: Sequence[Line], wire: Wire) -> None:
        self.nr, self.forward, self.lines, self.wire = nr, forward, lines, wire
        self.a, self.b = (
            torch.tensor(2.0, requires_grad=True),
            torch.tensor(5.0, requires_grad=True),
        )
        self.came: list[str] = []  # of each line that ran
        self.parts: dict[str, int] = {}  # which sums the parameters, or y, are in

    def __next__(self) -> None:
        if not self.is_done() and not self.is_waiting():
            line = self.lines[len(self.came)]
            self.came.append(getattr(self, line.run)(line.parameter))

    def is_done(self) -> bool:
        return len(self.came) == len(self.lines)

    def is_waiting(self) -> bool:
        is_open = not all(map(self.wire.is_full, self.parts.values()))
        return not self.is_done() and self.lines[len(self.came)].waits and is_open

    def has_run(self, words: str) -> bool:
        """Say whether a line ran, by its words."""
        return any(line.words == words for line in self.lines[: len(self.came)])

    def told(self) -> list[str]:
        """Return the lines that ran, and what came of each."""
        pairs = zip(self.lines, self.came, strict=False)
        return [f"{line.words}: {came}" for line, came in pairs]

    def go_forward(self, _: str) -> str:
        self.y = self.forward(self, torch.tensor(X[self.nr]))
        return number(self.y)

    def accumulate(self, _: str) -> str:
        """Go forward and backward inside `no_sync()`, where DDP sends nothing."""
        self.go_forward("")
        self.y.backward()
        return self.both("")

    def arrive(self, name: str) -> str:
        """Let backward reach one parameter."""
        self.y.backward(inputs=[getattr(self, name)], retain_graph=True)
        return number(getattr(self, name).grad)

    def send(self, name: str) -> str:
        """Let backward reach one parameter, and send half of its gradient."""
        came = self.arrive(name)
        self.put(name, getattr(self, name).grad / len(X))
        return came

    def log(self, _: str) -> str:
        self.put("y", self.y.detach())
        return ""

    def put(self, name: str, tensor: torch.Tensor) -> None:
        own = self.wire.sent[self.nr]
        self.parts[name] = len(own)
        own.append(tensor)

    def average(self, _: str) -> str:
        for name in "ba":
            getattr(self, name).grad = self.wire.total(self.parts[name])
        return self.both("")

    def both(self, _: str) -> str:
        return f"b {number(self.b.grad)}, a {number(self.a.grad)}"

    def step(self, _: str) -> str:
        with torch.no_grad():
            for parameter in (self.a, self.b):
                parameter -= RATE * parameter.grad
        return f"b {number(self.b)}, a {number(self.a)}"

    def refuse(self, _: str) -> str:
        raise RuntimeError(UNFINISHED)


def number(tensor: torch.Tensor) -> str:
    """Return a number in short; six digits are all that float32 has."""
    return short_number(round(tensor.item(), 6) + 0.0)


def two_ranks(forward: Callable, program: str) -> tuple[Rank, Rank]:
    """Return two ranks, joined by a wire, at the beginning of a program."""
    wire = Wire()
    first, second = PROGRAMS[program]
    return Rank(0, forward, first, wire), Rank(1, forward, second, wire)
