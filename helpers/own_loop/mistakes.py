"""What can go wrong in a training loop, in words, and what is known of a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autograd_graphs.looking.variable_names import parameters
from autograd_graphs.untrusted.messages import type_name
from helpers.answers import bare, code
from helpers.own_loop.account import Account
from helpers.users_line import UsersLine

Line = UsersLine | None
SAID = {
    "not emptied": "backward() added to gradients that were left from before. "
    "Call zero_grad() {when}, before backward().",
    "emptied": "The gradients were emptied between backward() and step(){place}, so step() found "
    "none. Call zero_grad() before backward(), or after step().",
    "no backward": "step() ran without a backward() before it, so it had no new gradients. "
    "Call loss.backward() before every step().",
    "unreached": "step() found no gradients: backward() reached no parameter of this optimizer. "
    "Look for detach(), no_grad() or item() between the model and the loss, and check which "
    "parameters the optimizer was made with.",
    "no step": "backward() ran {backwards} times, and step() never ran. "
    "Call step() after backward().",
    "twice": "backward() ran twice from the same loss in one round, so its gradients count "
    "double. Leave one of the two calls out.",
    "kept": "{name} keeps the graphs of earlier rounds alive. "
    "Where you store a loss or add it up, take loss.item() or loss.detach().",
    "reaches back": "The graph of this loss reaches back into earlier rounds, so backward() walks "
    "through these, too. Detach what one round hands to the next, such as a hidden state.",
    "hooks": "The model gets new hooks in every round: {count} by now. Each of them runs in every "
    "round from then on. Register a hook once, before the loop, or remove it in the same round.",
    "others": "The optimizer does not hold {missing}, which got gradients, but holds {foreign} "
    "that the model does not have. Make the optimizer after the last change of the model.",
    "eval": "You train the model in eval mode: dropout is off, or batch norm uses its running "
    "averages. Call model.train() before the loop, and after each evaluation.",
    "retained": "retain_graph=True kept the saved tensors of this graph, and nothing went through "
    "it again. Leave the flag out.",
    "loss not finite": "Here the loss became {what} for the first time. {before} {why}",
    "gradient not finite": "Here the gradient of {names} became {what} for the first time, and the "
    "loss was still a number. Run the rounds up to this one again under "
    "torch.autograd.set_detect_anomaly(True): it names the operation.",
    "weight not finite": "{who} made {names} {what}, and all gradients had been finite. "
    "Take a smaller learning rate.",
    "began not finite": "{names} had a number that is {what} before the first step. "
    "Look at how the weights were made or loaded.",
    "never reached": "No backward() gave a gradient to {names}. Look whether the loss depends on "
    "that, or freeze it.",
}  # fmt: skip
NOTES = {"retained", "never reached"}  # worth a look; a loop may want it so
SEEN_NOW_AND_THEN = {"kept", "reaches back", "hooks", "others", "eval"}  # when graphs are looked at


@dataclass
class Mistake:
    """Hold one kind of mistake at one line, and the rounds in which it was seen."""

    kind: str
    line: Line
    whose: str  # rounds are counted, "" if there is no optimizer
    first: int
    last: int = 0
    count: int = 0
    words: dict[str, str] = field(default_factory=dict)

    @property
    def rounds(self) -> str:
        """Say in which rounds it was seen."""
        if self.kind in SEEN_NOW_AND_THEN:
            return f"seen from round {self.first} on"
        if self.first == self.last:
            return f"round {self.first}"
        span = f"rounds {self.first}–{self.last}"
        if self.count <= self.last - self.first:
            return f"{self.count} of the {span}"
        return span

    @property
    def where(self) -> str:
        """Say where, in which rounds, and of which optimizer."""
        where = self.rounds
        if self.whose:
            where += f" of {self.whose}"
        if self.line:
            where = f"{self.line}, {where}"
        return where[0].upper() + where[1:]

    @property
    def sentence(self) -> str:
        """Return the line, what happened and what to do."""
        said = SAID[self.kind].format(**self.words)
        if self.line and self.line.text:
            return f"{code(self.line.text)}: {said}"
        return said

    def __str__(self) -> str:
        return bare(f"{self.where}. {self.sentence}")


class Notes:
    """Hold what is known of a loop: what moves in it, what went wrong, what was alive.

    `ends` are torch's numbers of operations at which the last rounds ended; `alive` tells of the
    first look at graphs and of the last the number of the backward(), of nodes and of bytes.
    """

    def __init__(self) -> None:
        self.models: Sequence[Any] = ()
        self.accounts: list[Account] = []
        self.by_hand = Account(None)
        self.backwards = 0
        self.ends: deque[int] = deque(maxlen=4)
        self.alive: list[tuple[int, int, int]] = []
        self.error = ""
        self.fault = ""
        self._mistakes: dict[tuple[Any, ...], Mistake] = {}

    def follow(self, optimizer: Any) -> Account:
        """Open an account for an optimizer."""
        name = type_name(type(optimizer))
        alike = [one for one in self.accounts if type(one.optimizer) is type(optimizer)]
        if alike:
            name += f" no. {len(alike) + 1}"
        self.accounts.append(Account(optimizer, name))
        return self.accounts[-1]

    def add(self, kind: str, line: Line, account: Account | None = None, **words: str) -> Mistake:
        """Write down that something was seen in this round."""
        number, whose = self.round, ""
        if account is not None:
            number, whose = account.rounds + 1, account.name
        new = Mistake(kind, line, whose, number)
        mistake = self._mistakes.setdefault((kind, line, whose), new)
        mistake.count += mistake.last != number
        mistake.last, mistake.words = number, words
        return mistake

    def add_of_all(self, count: int, *given: Any, **words: str) -> None:
        """Write down at the end what is true of so many rounds."""
        mistake = self.add(*given, **words)
        mistake.first, mistake.last, mistake.count = 1, count, count

    @property
    def mistakes(self) -> list[Mistake]:
        """Return them, mistakes before notes, the earlier ones first."""
        return sorted(self._mistakes.values(), key=lambda one: (one.kind in NOTES, one.first))

    @property
    def moving(self) -> list[Account]:
        """Return the accounts of the optimizers that made a step, else of what moves by hand."""
        return [one for one in self.accounts if one.rounds] or [self.by_hand]

    @property
    def round(self) -> int:
        """Return the number of the round that runs."""
        return max(one.rounds for one in self.moving) + 1

    def paths(self) -> dict[int, str]:
        """Return the paths of the parameters of all models by their `id`."""
        return {id(one): path for model in self.models for path, one in parameters(model)}
