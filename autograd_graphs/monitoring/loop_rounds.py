"""Follow a loop round by round: look before and after each backward() and each step()."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.looking.torch_private import next_number
from autograd_graphs.looking.users_line import UsersLine, line_in, line_like, users_frame
from autograd_graphs.monitoring.account import Account, way_to
from autograd_graphs.monitoring.finite import Finite
from autograd_graphs.monitoring.gradient_uses import GradientUses
from autograd_graphs.monitoring.live_graphs import EAGER, Graphs, entries, models_and_optimizers
from autograd_graphs.monitoring.loop_mistakes import Notes

MOST_OPTIMIZERS = 20  # that are followed
ARGUMENTS = ("tensors", "grad_tensors", "retain_graph", "create_graph", "", "inputs")
CLIPPING = r"\bclip_grad|\.grad\b.*\b(clamp|clip)_\("
EMPTYING = r"zero_grad|\.grad\s*=\s*None|\.grad\b.*\bzero_\("


class LoopRounds:
    """Take notes of what happens in a round, in its order."""

    def __init__(self, models: list[Any], optimizers: list[Any]) -> None:
        self.given = models, optimizers
        self.notes = Notes()
        self.graphs = Graphs(self.notes)
        self.finite = Finite(self.notes)
        self.uses = GradientUses(self.notes)
        self.has_begun = False
        self.roots: list[weakref.ref[Any]] = []  # from which backward() went in this round
        self.retained: UsersLine | None = None  # the last backward(), if it kept its graph
        self.step_of: Account | None = None  # whose closure runs

    def begin(self, frame: FrameType | None) -> None:
        """Open accounts, also of models and optimizers that were not given."""
        if self.has_begun:
            return
        self.has_begun = True
        models, optimizers = models_and_optimizers(frame)
        self.notes.models = self.given[0] or models
        self.notes.by_hand = Account(None, "", self.notes.models)
        for followed in (self.given[1] or optimizers)[:MOST_OPTIMIZERS]:
            self.notes.follow(followed)

    def before_backward(self, frame: FrameType | None, args: tuple, kwargs: dict) -> None:
        self.begin(frame)
        line = line_in(frame)
        self.end_round_by_hand()
        self.uses.before_backward()
        self.notes.backwards += 1
        given = dict(zip(ARGUMENTS, args, strict=False)) | kwargs
        roots = roots_of(given)
        self.graphs.look(frame, line, roots)
        self.finite.look_at_loss(frame, line, roots)
        self.graphs.losses += map(weakref.ref, roots)
        self.note_retained(line)
        is_only = not self.roots  # else an earlier one of this round may have needed it
        if given.get("retain_graph") and not given.get("create_graph") and is_only:
            self.retained = line
        if given.get("inputs") is None and self.step_of is None:
            self.note_twice(roots, line)

    def note_retained(self, line: UsersLine | None) -> None:
        """Notice that the graph of the round before was retained for nothing."""
        is_same = self.retained is not None and self.retained == line
        may_be_needed = self.roots or self.graphs.is_used_again or self.notes.backwards < EAGER
        if is_same and not may_be_needed:
            self.notes.add("retained", line)
        self.retained = None

    def note_twice(self, roots: list[Any], line: UsersLine | None) -> None:
        """Notice a second backward from the same loss, where gradients still hold the first."""
        is_again = set(map(id, roots)) <= {id(root()) for root in self.roots}
        is_filled = any(account.since for account in (*self.notes.accounts, self.notes.by_hand))
        if roots and is_again and is_filled:
            self.notes.add("twice", line)
        self.roots += map(weakref.ref, roots)

    def after_backward(self, frame: FrameType | None, args: tuple, kwargs: dict) -> None:
        way, count = way_to(frame), self.notes.backwards
        self.notes.number = next_number()
        self.uses.after_backward(way, roots_of(dict(zip(ARGUMENTS, args, strict=False)) | kwargs))
        for account in {*self.notes.accounts, *self.notes.moving}:
            account.after_backward(count, way)
        if self.notes.moving == [self.notes.by_hand]:
            self.finite.look_after_backward(self.notes.by_hand)
        account = self.step_of
        if account is not None:  # after which the optimizer may move
            if account.is_stale():
                when = "at the top of the closure"
                self.notes.add("not emptied", way.line, account, when=when)
            account.moved_at = count

    def after_grad(self) -> None:
        """Forget who retained a graph: torch's grad() may have gone through it."""
        self.retained = None

    def before_unscaling(self, optimizer: Any, frame: FrameType | None) -> None:
        """Notice gradients that were clipped since backward(), and are not unscaled yet."""
        self.uses.is_unread = False  # the scaler may leave the step out
        account = self.account_of(optimizer)
        if account is None or account.is_untouched():
            return
        place = place_between(account.filled.line, line_in(frame), CLIPPING)
        if place:
            self.notes.add("clipped scaled", place, account)

    def account_of(self, optimizer: Any) -> Account | None:
        for account in self.notes.accounts:
            if account.optimizer is optimizer:
                return account
        return None

    def before_step(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        frame = users_frame()
        self.begin(frame)
        account = self.account_of(optimizer)
        if getattr(optimizer, "grad_scale", None) is not None:  # a fused one unscales in its step
            self.before_unscaling(optimizer, frame)
        self.uses.is_unread = False
        has_closure = any(map(callable, (*args[1:], kwargs.get("closure"))))
        if account and not has_closure:
            self.judge(account, line_in(frame))
            self.finite.look_at_gradients(account)
        elif not account and len(self.notes.accounts) < MOST_OPTIMIZERS:
            account = self.notes.follow(optimizer)  # what was before is not known
        if account:
            self.step_of = account if has_closure else None
            account.begin_step()

    def judge(self, account: Account, line: UsersLine | None) -> None:
        """Note which mistake the gradients of an account show right before a step."""
        kind, filled = account.fault_at_step(), account.filled.line
        if kind == "not emptied":
            self.notes.add(kind, filled, account, when="once in every round")
        elif kind:
            place = place_between(filled, line, EMPTYING)
            words = f" ({place}, {code(place.text)})" if place else ""
            self.notes.add(kind, line, account, place=words)
        else:
            self.uses.before_step(account, line)

    def after_step(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        account = self.account_of(optimizer)
        if account is None:
            return
        if self.step_of is account:
            self.finite.look_at_gradients(account)
        self.uses.after_step()
        account.end_step(self.notes.backwards, line_in(users_frame()))
        self.step_of = None
        self.end_round(account)

    def end_round_by_hand(self) -> None:
        """As long as no optimizer made a step, a write to a parameter ends a round."""
        hand = self.notes.by_hand
        if self.step_of or self.notes.moving != [hand]:
            return
        hand.begin_step()
        if hand.round.elsewhere:
            if hand.is_stale():
                self.notes.add("not emptied", hand.filled.line, hand, when="once in every round")
            self.finite.look_after_hand(hand)
            hand.end_step(self.notes.backwards, None)
            self.end_round(hand)
        hand.before_backward()

    def end_round(self, account: Account) -> None:
        self.roots = []
        if account is self.notes.moving[0]:  # of several optimizers, one counts
            self.notes.ends.append(self.notes.number)

    def finish(self) -> None:
        if not self.has_begun:
            return
        self.end_round_by_hand()
        self.notes.is_over = True
        self.graphs.look_at_end(users_frame())
        self.finite.look_at_end()
        paths = self.notes.paths()
        for account in self.notes.accounts:
            self.note_no_step(account)
            if account.rounds:
                self.note_idle(account, paths)
        self.note_forgotten(paths)
        self.uses.at_end()

    def note_no_step(self, account: Account) -> None:
        """Notice that gradients were filled again and again, and nothing moved."""
        count = self.notes.backwards
        is_moved = account.rounds or account.written()
        is_moved = is_moved or account.some_numbers() != account.sample
        if account.is_filled and count > 1 and not is_moved:
            given = "no step", account.filled.line, account
            self.notes.add_of_all(count, *given, backwards=str(count))

    def note_idle(self, account: Account, paths: dict[int, str]) -> None:
        """Notice parameters of an optimizer that never got a gradient, or only zeros."""
        zero = account.reached - account.nonzero if account.rounds > 1 else set()
        unreached = account.never_reached()
        if "others" in self.notes.kinds:  # it was said of those that no model has
            unreached &= paths.keys()
        for kind, ids in (("never reached", unreached), ("zero", zero)):
            if names := account.names_of(ids, paths):
                self.notes.add_of_all(account.rounds, kind, None, account, names=listed(names))

    def note_forgotten(self, paths: dict[int, str]) -> None:
        """Notice parameters of the models that got gradients, and that nothing moves."""
        accounts, hand = self.notes.accounts, self.notes.by_hand
        if self.notes.moving == [hand] or len(accounts) == MOST_OPTIMIZERS:
            return
        held = {id(tensor) for account in accounts for tensor in account.parameters}
        written = hand.written()
        names = [paths[key] for key in paths if key in hand.reached - held - written]
        if names and "others" not in self.notes.kinds:
            self.notes.add_of_all(self.notes.round - 1, "not held", None, names=listed(names))


def roots_of(given: dict[str, Any]) -> list[Any]:
    """Return the tensors that a backward() was given to start from."""
    return list(filter(torch.is_tensor, entries(given.get("tensors"))))


def place_between(
    first: UsersLine | None, last: UsersLine | None, pattern: str
) -> UsersLine | None:
    """Return the first line between two of a file that a pattern is found in."""
    if first is None or last is None or first.filename != last.filename:
        return None
    return line_like(last.filename, first.number + 1, last.number - 1, pattern)
