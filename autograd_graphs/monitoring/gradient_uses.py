"""Follow the gradients of each backward(): does a step use them, do means add up undivided?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from autograd_graphs.diagnosing.graph_nodes import is_mean, node_of
from autograd_graphs.looking.users_line import UsersLine
from autograd_graphs.monitoring.account import Account, Way
from autograd_graphs.monitoring.loop_mistakes import Notes


class GradientUses:
    """Count how often a step could use the gradients of a backward(), and how often none could."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.last = Way(None)
        self.is_unread = False  # no step has used the gradients of the last backward()
        self.lost: Counter[Way] = Counter()
        self.used: Counter[Way] = Counter()
        self.adding: list[Way | None] = []  # since gradients were empty; None: it is no mean

    def before_backward(self) -> None:
        """Count a backward() of whose gradients nothing is left, and which no step has used."""
        accounts = self.notes.accounts
        are_emptied = [account.before_backward() for account in accounts]
        is_used = any(account.has_new() or account.is_written() for account in accounts)
        if any(are_emptied) and self.is_unread and not is_used:
            self.lost[self.last] += 1
        if any(are_emptied) or not all(account.is_untouched() for account in accounts):
            self.adding.clear()

    def after_backward(self, way: Way, roots: list[Any]) -> None:
        self.last, self.is_unread = way, True
        is_of_means = bool(roots) and all(is_mean(node_of(root)) for root in roots)
        self.adding.append(way if is_of_means else None)

    def before_step(self, account: Account, line: UsersLine | None) -> None:
        """Count that a step uses gradients, and notice means that were added up."""
        if account.filled.line and account.has_gradients_of_backward():
            self.used[account.filled] += 1
        calls, way = len(self.adding), self.adding[-1] if self.adding else None
        if calls < 2 or way is None or set(self.adding) != {way} or not account.is_untouched():
            return
        if line and way.line and line.indent > way.line.indent:  # an `if` decides on the step
            self.notes.add("not divided", way.line, account, count=str(calls))

    def after_step(self) -> None:
        self.is_unread = False
        self.adding.clear()

    def at_end(self) -> None:
        """Notice a backward() of which more than half of the gradients were thrown away."""
        for way, lost in self.lost.items():
            ran = lost + self.used[way]
            if 2 <= lost < ran <= 2 * lost:
                words = {"lost": str(lost), "ran": str(ran)}
                self.notes.add_of_all(self.notes.round - 1, "lost", way.line, **words)
