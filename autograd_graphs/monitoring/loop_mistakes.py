"""What can go wrong in a training loop, in words, and what is known of a loop."""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from autograd_graphs.answer_card import code, strip_marks
from autograd_graphs.looking.users_line import UsersLine
from autograd_graphs.looking.variable_names import parameters
from autograd_graphs.monitoring.account import Account

Line = UsersLine | None
SAID = tomllib.loads((files("autograd_graphs.monitoring") / "mistakes.toml").read_text("utf-8"))
# worth a look; a loop may want it so
NOTES = {"retained", "not divided", "never reached", "zero", "not held"}
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
        where = self.rounds
        if self.whose:
            where += f" of {self.whose}"
        if self.line:
            where = f"{self.line}, {where}"
        return where[0].upper() + where[1:]

    @property
    def sentence(self) -> str:
        said = SAID[self.kind].format(**self.words)
        if self.line and self.line.text:
            return f"{code(self.line.text)}: {said}"
        return said

    def __str__(self) -> str:
        return strip_marks(f"{self.where}. {self.sentence}")


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
        self.number = 0  # of torch's operations, after the last backward()
        self.ends: deque[int] = deque(maxlen=4)
        self.alive: list[tuple[int, int, int]] = []
        self.error = ""
        self.fault = ""
        self.is_over = False  # no round is running any more
        self._mistakes: dict[tuple[Any, ...], Mistake] = {}

    def follow(self, optimizer: Any) -> Account:
        name = type(optimizer).__name__
        alike = [known for known in self.accounts if type(known.optimizer) is type(optimizer)]
        if alike:
            name += f" no. {len(alike) + 1}"
        self.accounts.append(Account(optimizer, name))
        return self.accounts[-1]

    def add(self, kind: str, line: Line, account: Account | None = None, **words: str) -> Mistake:
        """Write down that something was seen in this round."""
        number, whose = max(self.round - self.is_over, 1), ""
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
    def kinds(self) -> set[str]:
        return {mistake.kind for mistake in self._mistakes.values()}

    @property
    def mistakes(self) -> list[Mistake]:
        """Return them, mistakes before notes, the earlier ones first."""
        mistakes = self._mistakes.values()
        return sorted(mistakes, key=lambda mistake: (mistake.kind in NOTES, mistake.first))

    @property
    def moving(self) -> list[Account]:
        """Return the accounts of the optimizers that made a step, else of what moves by hand."""
        return [account for account in self.accounts if account.rounds] or [self.by_hand]

    @property
    def round(self) -> int:
        return max(account.rounds for account in self.moving) + 1

    def paths(self) -> dict[int, str]:
        return {id(tensor): path for model in self.models for path, tensor in parameters(model)}
