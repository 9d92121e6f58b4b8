"""Notice the first loss, gradient or weight of a loop that is NaN or infinite. Reads numbers, one
pass over the gradients a round until one is found; changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from autograd_graphs.answer_card import listed
from autograd_graphs.diagnosing.catalogue import DANGERS, Danger
from autograd_graphs.diagnosing.graph_nodes import kind_of, met_nodes, walk_from
from autograd_graphs.diagnosing.nans import are_finite, dangerous, has_nan
from autograd_graphs.looking.tensors import is_plain, read
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.users_line import UsersLine, line_like
from autograd_graphs.monitoring.account import Account
from autograd_graphs.monitoring.live_graphs import in_reach, span
from autograd_graphs.monitoring.loop_mistakes import Notes

LARGE = 1e9  # a loss that is larger than this before it is infinite has grown out of bounds
GROWN = "Take a smaller learning rate, scale the data, or clip the gradients."
LOOK = "Look for divisions, log, sqrt and exp of large numbers before this line."


class Finite:
    """Look at the numbers of each round, until one is found that is not finite."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.is_found = False
        self._last: float | None = None  # the loss before, which was finite
        self._loss: tuple[UsersLine | None, dict[str, str]] | None = None  # that was not
        self._by_hand: dict[str, torch.Tensor] = {}  # gradients, where no step will be seen

    def look_at_loss(
        self, frame: FrameType | None, line: UsersLine | None, roots: list[Any]
    ) -> None:
        """Look at the loss before a backward(), as long as its graph is whole."""
        if self.is_found:
            return
        total = sum(map(summed, roots))
        if abs(total) < float("inf"):
            self._last = total
        elif not self._note_weights():
            with quietly():
                self._loss = self._explained(frame, line, roots)

    def _explained(self, frame: Any, line: Any, roots: list[Any]) -> tuple[Any, dict[str, str]]:
        """Return the line at which the loss stopped being finite, and the words for it."""
        before = "The weights were still finite."
        if self._last is not None:
            before = f"The weights were still finite, and the loss before was {self._last:.3g}."
        node = dangerous(met_nodes(walk_from(roots)))
        known = DANGERS.get(kind_of(node)) if node is not None else None
        if known is not None:
            line = line_of(known, frame, line) or line
        return line, {"what": what(roots), "before": before, "why": self._why(known, frame)}

    def _why(self, known: Danger | None, frame: FrameType | None) -> str:
        if known is not None:
            return f"{known.why}. {known.remedy[0].upper()}{known.remedy[1:]}."
        if abs(self._last or 0) > LARGE:
            return GROWN
        spoilt = [name for name, thing in in_reach(frame) if is_data(thing) and has_nan(thing)]
        return f"There is a NaN in {listed(spoilt)}." if spoilt else LOOK

    def look_at_gradients(self, account: Account) -> None:
        """Look before a step at the gradients that it will use."""
        if not self.is_found and not is_skipped(account.optimizer):
            self._judge(account, self._bad(account, "grad"))
        self._loss = None

    def look_after_backward(self, account: Account) -> None:
        """Look at the gradients of a loop without an optimizer, which may be emptied soon."""
        if not self.is_found:
            self._by_hand = self._bad(account, "grad")

    def look_after_hand(self, account: Account) -> None:
        """Tell of a round in which the learner's own code wrote to the weights."""
        if not self.is_found:
            self._judge(account, self._by_hand)
        self._loss = None

    def look_at_end(self) -> None:
        """Look at the weights that the last step has left."""
        if not self.is_found:
            self._note_weights()

    def _judge(self, account: Account, bad: dict[str, torch.Tensor]) -> None:
        """Tell of the loss or of gradients with which the weights move."""
        if self._loss and (bad or self._loss[1]["what"] == "NaN"):
            self._note("loss not finite", self._loss[0], account, **self._loss[1])
        elif bad:
            words = {"what": what(bad.values()), "names": listed(bad)}
            self._note("gradient not finite", account.filled.line, account, **words)

    def _note_weights(self) -> bool:
        """Tell of weights that the step before has spoilt, or that were so from the start."""
        for account in self.notes.moving:
            bad = self._bad(account)
            if not bad:
                continue
            words = {"what": what(bad.values()), "names": listed(bad)}
            if not account.rounds:
                self._note("began not finite", None, account, **words)
                return True
            words["who"] = "step()" if account.optimizer else "Your own code"
            self._note("weight not finite", account.seen[-1].line, account, **words)
            return True
        return False

    def _note(self, kind: str, line: Any, account: Account, **words: str) -> None:
        mistake = self.notes.add(kind, line, account, **words)
        self.is_found = True
        if kind == "weight not finite":  # by what ended the round before
            mistake.first = mistake.last = account.rounds

    def _bad(self, account: Account, attribute: str = "data") -> dict[str, torch.Tensor]:
        """Return what is not finite of weights, or of their gradients, by the weight's name."""
        bad: dict[str, torch.Tensor] = {}
        with quietly():
            pairs = [(parameter, read(parameter, attribute)) for parameter in account.parameters]
            if are_finite([tensor for _, tensor in pairs if tensor is not None]):
                return bad
            paths = self.notes.paths()
            for number, (parameter, tensor) in enumerate(pairs):
                if tensor is not None and not are_finite([tensor]):
                    bad[paths.get(id(parameter), f"parameter no. {number}")] = tensor
        return bad


def summed(tensor: Any) -> float:
    """Return the sum of a tensor's numbers: it is NaN or infinite if one of them is; else 0."""
    try:
        with quietly():
            return float(tensor.sum()) if is_plain(tensor) else 0.0
    except (RuntimeError, TypeError):  # of kinds that nobody can read
        return 0.0


def what(tensors: Iterable[torch.Tensor]) -> str:
    """Say what tensors became that are not finite."""
    with quietly():
        return "NaN" if any(map(has_nan, tensors)) else "infinite"


def is_data(thing: Any) -> bool:
    """Say whether a thing is a tensor of the learner's that no gradient goes to."""
    return torch.is_tensor(thing) and not read(thing, "requires_grad")


def is_skipped(optimizer: Any) -> bool:
    """Say whether a gradient scaler has asked the optimizer to leave this step out."""
    flag = getattr(optimizer, "found_inf", None)
    return torch.is_tensor(flag) and bool(flag.any())


def line_of(known: Danger, frame: FrameType | None, line: UsersLine | None) -> UsersLine | None:
    """Return the one line of the loop, before its backward(), that can be the operation."""
    words = [word for word in known.words if word.islower()]
    if frame is None or line is None or not words:
        return None
    called = rf"\b({'|'.join(map(re.escape, words))})\("
    first = line_like(line.filename, span(frame)[0], line.number, called)
    again = first and line_like(line.filename, first.number + 1, line.number, called)
    return None if again else first
