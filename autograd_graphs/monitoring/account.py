"""Keep book of what one optimizer moves: what filled the gradients, when they were emptied, which
parameters were written to. Reads `.grad` and version counters; changes nothing.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import torch

from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.users_line import UsersLine, line_in
from autograd_graphs.looking.variable_names import parameters

MOST_ROUNDS = 1_000  # that are kept, the last ones
SAMPLE = 16  # numbers of each parameter that are compared where no step was seen
NEVER = float("inf")
Mark = tuple[Callable[[], Any], int]  # a gradient, held weakly, and its version


class Way(NamedTuple):
    """Tell a call of backward() by its line, and the numbers of the lines that led to it."""

    line: UsersLine | None = None
    numbers: tuple[int, ...] = ()


def way_to(frame: FrameType | None) -> Way:
    numbers, outer = [], frame
    while outer is not None:
        numbers.append(outer.f_lineno)
        outer = outer.f_back
    return Way(line_in(frame), tuple(numbers))


@dataclass
class Round:
    """Count what was seen of the parameters of an optimizer in one round.

    `was_emptied` says that gradients held nothing of the round before; `by_step` and `elsewhere`
    which parameters were written to, as far as version counters tell, by their `id`.
    """

    number: int
    was_emptied: bool
    elsewhere: frozenset[int]
    by_step: frozenset[int] = frozenset()
    line: UsersLine | None = None  # of the step
    parameters: int = 0
    with_gradient: int = 0


class Account:
    """Follow the parameters of an optimizer; without one, those of models, which move by hand.

    Time is the number of the last `backward()`. `since` says for each parameter when the oldest
    `backward()` ran that its gradient still holds. All dicts have a parameter's `id` as key.
    """

    def __init__(self, optimizer: Any, name: str = "", models: Any = ()) -> None:
        self.optimizer = optimizer
        self.name = name
        self.models = models
        self.parameters = self.now_moved()
        self.seen: deque[Round] = deque(maxlen=MOST_ROUNDS)
        self.rounds = 0
        self.moved_at = -1
        self.since: dict[int, int] = {}
        self.filled = Way()  # to the last backward() that filled a gradient
        self.is_filled = self.was_backward = False  # since the last step
        self.marked: Mark = (lambda: None, 0)  # the first gradient
        self.left_over = self.marks()
        self.before = self.left_over  # what gradients were before this backward()
        self.reached: set[int] = set()  # got a gradient once
        self.nonzero: set[int] = set()  # got one that was not all 0
        self.versions: dict[int, int] = {}
        self.written()
        self.sample = self.some_numbers()

    def now_moved(self) -> list[torch.Tensor]:
        """Return the parameters that the optimizer has now: asked once in a round."""
        if self.optimizer is None:
            return [parameter for model in self.models for _, parameter in parameters(model)]
        return [tensor for group in self.optimizer.param_groups for tensor in group["params"]]

    def gradients(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        pairs = [(parameter, read(parameter, "grad")) for parameter in self.parameters]
        return [pair for pair in pairs if pair[1] is not None]

    def marks(self) -> dict[int, Mark]:
        return {id(parameter): mark_of(grad) for parameter, grad in self.gradients()}

    def note_gradients(self, now: int) -> int:
        """Notice which gradients are filled, and return how many; remember the first as it is."""
        have = self.gradients()
        for parameter, grad in reversed(have):
            self.since.setdefault(id(parameter), now)
            if not is_marked(grad, self.left_over.get(id(parameter))):
                self.reached.add(id(parameter))
            if id(parameter) not in self.nonzero and not is_zero(grad):
                self.nonzero.add(id(parameter))
            self.marked = mark_of(grad)
        return len(have)

    def has_new(self) -> bool:
        """Say whether gradients are known that no step of this optimizer has used."""
        return any(since > self.moved_at for since in self.since.values())

    def before_backward(self) -> bool:
        """Notice which gradients were emptied since the last look; say whether all new ones are."""
        self.before, had_new = self.marks(), self.has_new()
        for parameter in self.parameters:
            grad = read(parameter, "grad")
            is_old = self.since.get(id(parameter), NEVER) <= self.moved_at
            if grad is None or (is_old and is_zero(grad)):
                self.since.pop(id(parameter), None)
        return had_new and not self.has_new()

    def after_backward(self, now: int, way: Way) -> None:
        self.was_backward = True
        before = self.before
        is_new = any(not is_marked(grad, before.get(id(one))) for one, grad in self.gradients())
        if self.note_gradients(now) and is_new:
            self.is_filled, self.filled = True, way

    def is_as_marked(self, grad: torch.Tensor) -> bool:
        """Say whether the first gradient is what it was after the last backward or step."""
        return is_marked(grad, self.marked)

    def has_gradients_of_backward(self) -> bool:
        """Say whether the first gradient is the tensor that backward() left, edited or not."""
        have = self.gradients()
        return bool(have) and self.marked[0]() is have[0][1]

    def is_untouched(self) -> bool:
        """Say whether the first gradient is as backward() left it, or none is new."""
        have = self.gradients()
        return not have or not self.is_filled or self.is_as_marked(have[0][1])

    def is_stale(self) -> bool:
        """Say whether gradients hold what was there before the last step, and more."""
        for parameter, _ in self.gradients():
            if self.since.get(id(parameter), NEVER) <= self.moved_at:
                return self.is_filled
        return False

    def fault_at_step(self) -> str:
        """Return which mistake a step without a closure shows; "" if none."""
        have = self.gradients()
        if not have:
            if self.is_filled:
                return "emptied"
            return "unreached" if self.was_backward else "no backward"
        as_before = self.is_as_marked(have[0][1])
        if not self.is_filled:
            return "no backward" if as_before and self.rounds else ""
        if not as_before and all(is_zero(grad) for _, grad in have):
            return "emptied"
        return "not emptied" if self.is_stale() else ""

    def begin_step(self) -> None:
        """Begin the record of a round: what its step finds."""
        self.parameters = self.now_moved()
        self.round = Round(self.rounds + 1, not self.is_stale(), self.written())

    def end_step(self, now: int, line: UsersLine | None) -> None:
        """Count what the step wrote to; a round of this optimizer ends here."""
        self.round.with_gradient = self.note_gradients(now)
        self.round.line = line
        self.round.parameters = len(self.parameters)
        self.round.by_step = self.written()
        self.seen.append(self.round)
        self.rounds += 1
        self.moved_at = now
        self.is_filled = self.was_backward = False

    def written(self) -> frozenset[int]:
        was = self.versions
        self.versions = {id(tensor): read(tensor, "_version") for tensor in self.parameters}
        new = dict(self.versions.items() - was.items())
        return frozenset(new.keys() & was.keys())

    def is_written(self) -> bool:
        """Say whether a parameter was written to since the last look."""
        now = {id(tensor): read(tensor, "_version") for tensor in self.parameters}
        return any(self.versions.get(key, version) != version for key, version in now.items())

    def some_numbers(self) -> list[Any]:
        """Return the first numbers of each parameter, since not every write is counted."""
        return [tensor.detach().reshape(-1)[:SAMPLE].tolist() for tensor in self.parameters]

    def never_reached(self) -> set[int]:
        """Return the parameters that ask for a gradient and got none at any step; others did."""
        asked = {id(tensor) for tensor in self.parameters if read(tensor, "requires_grad")}
        return asked - self.reached if self.reached else set()

    def names_of(self, known: set[int], paths: dict[int, str]) -> list[str]:
        numbers = {id(tensor): nr for nr, tensor in enumerate(self.parameters)}
        return [
            paths.get(key, f"parameter no. {nr}") for key, nr in numbers.items() if key in known
        ]


def mark_of(grad: torch.Tensor) -> Mark:
    return weakref.ref(grad), read(grad, "_version")


def is_marked(grad: torch.Tensor, mark: Mark | None) -> bool:
    """Say whether a gradient is what it was when it was marked."""
    return mark is not None and mark[0]() is grad and mark[1] == read(grad, "_version")


def is_zero(grad: torch.Tensor) -> bool:
    try:
        return not bool(grad.detach().any())
    except RuntimeError:  # a layout that cannot be asked
        return False
