"""Watch a training loop while it runs: `watching` and `watch`.

For as long as it watches, `torch.autograd.backward`, `grad` and the `unscale_` of gradient scalers
are functions that also take notes, and torch calls two hooks around each `step()`. All are gone
afterwards. Nothing is put on a tensor, a node, a module or an optimizer, and no random number is
drawn.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from itertools import chain
from types import FrameType
from typing import Any, TypeVar

import torch
from torch.optim import Optimizer, optimizer

from autograd_graphs.answer_card import code, listed, show
from autograd_graphs.looking.refusals import short
from autograd_graphs.looking.torch_private import graph_task, is_module, is_tensor, next_number
from autograd_graphs.looking.users_line import UsersLine, line_in, line_like, users_frame
from autograd_graphs.monitoring.account import Account, Round
from autograd_graphs.monitoring.finite import Finite
from autograd_graphs.monitoring.live_graphs import EAGER, Graphs, entries, models_and_optimizers
from autograd_graphs.monitoring.loop_card import card_of
from autograd_graphs.monitoring.mistakes import Mistake, Notes
from autograd_graphs.plain_values import describe

Returned = TypeVar("Returned")
Way = tuple[UsersLine | None, tuple[int, ...]]  # a line, and those from which it was called
MOST_OPTIMIZERS = 20  # that are followed
ARGUMENTS = ("tensors", "grad_tensors", "retain_graph", "create_graph", "", "inputs")
CLIPPING = r"\bclip_grad|\.grad\b.*\b(clamp|clip)_\("
EMPTYING = r"zero_grad|\.grad\s*=\s*None|\.grad\b.*\bzero_\("


class watching:
    """Watch the training loop in a `with` block, and show at its end what went wrong, and where.

    Takes models and optimizers, also in lists; what is not given is looked for among the variables
    of the loop. It observes only: the loop computes the same numbers, to the bit. `mistakes` is
    what was found. An error of the loop passes through. Raises TypeError for anything else.
    """

    def __init__(self, *given: Any) -> None:
        self._given = sorted_out(given)
        self.notes = Notes()
        self._graphs = Graphs(self.notes)
        self._finite = Finite(self.notes)
        self._is_on = False
        self._has_begun = False
        self._roots: list[weakref.ref[Any]] = []  # from which backward() went in this round
        self._retained: UsersLine | None = None  # the last backward(), if it kept its graph
        self._step_of: Account | None = None  # whose closure runs
        self._number = 0  # of torch's operations, after the last backward()
        self._last: Way = (None, ())  # to the last backward()
        self._is_unread = False  # no step has used its gradients
        self._lost: Counter[Way] = Counter()  # how often none ever did
        self._used: Counter[Way] = Counter()

    @property
    def mistakes(self) -> list[Mistake]:
        """Return what was found, mistakes before what is only worth a look."""
        return self.notes.mistakes

    @property
    def rounds(self) -> list[Round]:
        """Return what was seen of each round, the last 1,000 of each optimizer."""
        return [seen for account in self.notes.moving for seen in account.seen]

    def __enter__(self) -> watching:
        self._thread = threading.get_ident()
        self._is_on = True
        self._replaced = []
        self._replace(torch.autograd, "backward", self._noting)
        self._replace(torch.autograd, "grad", self._forgetting)
        self._replace(torch.amp.GradScaler, "unscale_", self._unscaling)
        before = functools.partial(self._safely, self._before_step)
        after = functools.partial(self._safely, self._after_step)
        self._hooks = [
            optimizer.register_optimizer_step_pre_hook(before),
            optimizer.register_optimizer_step_post_hook(after),
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        for hook in self._hooks:
            hook.remove()
        for owner, name, original, ours in self._replaced:
            if getattr(owner, name) is ours:  # else someone has put theirs around ours
                setattr(owner, name, original)
        if kind is not None:
            self.notes.error = kind.__name__
        self._safely(self._finish)
        self._is_on = False
        show(card_of(self.notes))

    def _replace(self, owner: Any, name: str, notes: Callable[..., Any]) -> None:
        """Put a function that takes notes in the place of one of torch's."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            return notes(original, *args, **kwargs)

        self._replaced.append((owner, name, original, ours))
        setattr(owner, name, ours)

    def _safely(self, work: Callable[..., None], *given: Any) -> None:
        """Take notes; a fault of ours ends the notes, and never the loop."""
        if not self._is_on or threading.get_ident() != self._thread:
            return
        try:
            work(*given)
        except Exception as fault:
            self._is_on = False
            self.notes.fault = type(fault).__name__

    def _noting(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run torch's backward(), and take notes before and after."""
        if graph_task() != -1:  # of a backward within a backward
            return original(*args, **kwargs)
        frame = users_frame()
        self._safely(self._before_backward, frame, args, kwargs)
        result = original(*args, **kwargs)
        self._safely(self._after_backward, line_in(frame), numbers_of(frame))
        return result

    def _forgetting(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run torch's grad(), which may go through a graph that was retained."""
        self._retained = None
        return original(*args, **kwargs)

    def _unscaling(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the unscale_() of a gradient scaler, which may then leave the step out."""
        optimizer = kwargs.get("optimizer", args[-1])
        self._safely(self._note_clipped, optimizer, line_in(users_frame()))
        self._is_unread = False
        return original(*args, **kwargs)

    # what happens in a round, in its order

    def _begin(self, frame: FrameType | None) -> None:
        """Open accounts, also of models and optimizers that were not given."""
        if self._has_begun:
            return
        self._has_begun = True
        models, optimizers = models_and_optimizers(frame)
        self.notes.models = self._given[0] or models
        self.notes.by_hand = Account(None, "", self.notes.models)
        for followed in (self._given[1] or optimizers)[:MOST_OPTIMIZERS]:
            self.notes.follow(followed)

    def _before_backward(self, frame: FrameType | None, args: tuple, kwargs: dict) -> None:
        self._begin(frame)
        line = line_in(frame)
        self._end_round_by_hand()
        self._note_lost()
        self.notes.backwards += 1
        given = dict(zip(ARGUMENTS, args, strict=False)) | kwargs
        roots = list(filter(is_tensor, entries(given.get("tensors"))))
        self._graphs.look(frame, line, roots)
        self._finite.look_at_loss(frame, line, roots)
        self._graphs.losses += map(weakref.ref, roots)
        self._note_retained(line)
        is_only = not self._roots  # else an earlier one of this round may have needed it
        if given.get("retain_graph") and not given.get("create_graph") and is_only:
            self._retained = line
        if given.get("inputs") is None and self._step_of is None:
            self._note_twice(roots, line)

    def _note_lost(self) -> None:
        """Count a backward() of whose gradients nothing is left, and which no step has used."""
        accounts = self.notes.accounts
        are_emptied = [account.before_backward() for account in accounts]
        is_used = any(account.has_new() or account.is_written() for account in accounts)
        if self._is_unread and any(are_emptied) and not is_used:
            self._lost[self._last] += 1

    def _note_clipped(self, optimizer: Any, line: UsersLine | None) -> None:
        """Notice gradients that were clipped since backward(), and are not unscaled yet."""
        account = self._account_of(optimizer)
        if account is None or account.is_untouched():
            return
        place = place_between(account.filled, line, CLIPPING)
        if place:
            self.notes.add("clipped scaled", place, account)

    def _note_retained(self, line: UsersLine | None) -> None:
        """Notice that the graph of the round before was retained for nothing."""
        is_same = self._retained is not None and self._retained == line
        may_be_needed = self._roots or self._graphs.is_used_again or self.notes.backwards < EAGER
        if is_same and not may_be_needed:
            self.notes.add("retained", line)
        self._retained = None

    def _note_twice(self, roots: list[Any], line: UsersLine | None) -> None:
        """Notice a second backward from the same loss, where gradients still hold the first."""
        is_again = set(map(id, roots)) <= {id(root()) for root in self._roots}
        is_filled = any(account.since for account in (*self.notes.accounts, self.notes.by_hand))
        if roots and is_again and is_filled:
            self.notes.add("twice", line)
        self._roots += map(weakref.ref, roots)

    def _after_backward(self, line: UsersLine | None, numbers: tuple[int, ...]) -> None:
        self._number = next_number()
        self._last, self._is_unread = (line, numbers), True
        for account in {*self.notes.accounts, *self.notes.moving}:
            account.after_backward(self.notes.backwards, line, numbers)
        if self.notes.moving == [self.notes.by_hand]:
            self._finite.look_after_backward(self.notes.by_hand)
        account = self._step_of
        if account is not None:  # after which the optimizer may move
            if account.is_stale():
                when = "at the top of the closure"
                self.notes.add("not emptied", line, account, when=when)
            account.moved_at = self.notes.backwards

    def _account_of(self, optimizer: Any) -> Account | None:
        for account in self.notes.accounts:
            if account.optimizer is optimizer:
                return account
        return None

    def _before_step(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        frame = users_frame()
        self._begin(frame)
        self._is_unread = False
        account = self._account_of(optimizer)
        if getattr(optimizer, "grad_scale", None) is not None:  # a fused one unscales in its step
            self._note_clipped(optimizer, line_in(frame))
        has_closure = any(map(callable, (*args[1:], kwargs.get("closure"))))
        if account and not has_closure:
            self._judge(account, line_in(frame))
            self._finite.look_at_gradients(account)
        elif not account and len(self.notes.accounts) < MOST_OPTIMIZERS:
            account = self.notes.follow(optimizer)  # what was before is not known
        if account:
            self._step_of = account if has_closure else None
            account.begin_step()

    def _judge(self, account: Account, line: UsersLine | None) -> None:
        kind = account.fault_at_step()
        filled = account.filled
        if kind == "not emptied":
            self.notes.add(kind, filled, account, when="once in every round")
        elif kind:
            place = place_between(filled, line, EMPTYING)
            words = f" ({place}, {code(place.text)})" if place else ""
            self.notes.add(kind, line, account, place=words)
        elif filled and account.has_gradients_of_backward():
            self._used[filled, account.numbers] += 1

    def _after_step(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        account = self._account_of(optimizer)
        if account:
            if self._step_of is account:
                self._finite.look_at_gradients(account)
            self._is_unread = False
            account.end_step(self.notes.backwards, line_in(users_frame()))
            self._step_of = None
            self._end_round(account)

    def _end_round_by_hand(self) -> None:
        """As long as no optimizer made a step, a write to a parameter ends a round."""
        hand = self.notes.by_hand
        if self._step_of or self.notes.moving != [hand]:
            return
        hand.begin_step()
        if hand.round.elsewhere:
            if hand.is_stale():
                self.notes.add("not emptied", hand.filled, hand, when="once in every round")
            self._finite.look_after_hand(hand)
            hand.end_step(self.notes.backwards, None)
            self._end_round(hand)
        hand.before_backward()

    def _end_round(self, account: Account) -> None:
        self._roots = []
        if account is self.notes.moving[0]:  # of several optimizers, one counts
            self.notes.ends.append(self._number)

    def _finish(self) -> None:
        if not self._has_begun:
            return
        self._end_round_by_hand()
        self.notes.is_over = True
        self._graphs.look_at_end(users_frame())
        self._finite.look_at_end()
        count = self.notes.backwards
        paths = self.notes.paths()
        for account in self.notes.accounts:
            is_moved = account.rounds or account.written()
            is_moved = is_moved or account.some_numbers() != account.sample
            if account.is_filled and count > 1 and not is_moved:
                given = "no step", account.filled, account
                self.notes.add_of_all(count, *given, backwards=str(count))
            if account.rounds:
                self._note_idle(account, paths)
        self._note_forgotten(paths)
        for way, lost in self._lost.items():
            ran = lost + self._used[way]
            if 2 <= lost < ran <= 2 * lost:
                words = {"lost": str(lost), "ran": str(ran)}
                self.notes.add_of_all(self.notes.round - 1, "lost", way[0], **words)

    def _note_idle(self, account: Account, paths: dict[int, str]) -> None:
        """Notice parameters of an optimizer that never got a gradient, or only zeros."""
        zero = account.reached - account.nonzero if account.rounds > 1 else set()
        unreached = account.never_reached()
        if "others" in self.notes.kinds:  # it was said of those that no model has
            unreached &= paths.keys()
        for kind, ids in (("never reached", unreached), ("zero", zero)):
            if names := account.names_of(ids, paths):
                given = kind, None, account
                self.notes.add_of_all(account.rounds, *given, names=listed(names))

    def _note_forgotten(self, paths: dict[int, str]) -> None:
        """Notice parameters of the models that got gradients, and that nothing moves."""
        accounts, hand = self.notes.accounts, self.notes.by_hand
        if self.notes.moving == [hand] or len(accounts) == MOST_OPTIMIZERS:
            return
        held = {id(tensor) for account in accounts for tensor in account.parameters}
        written = hand.written()
        names = [paths[key] for key in paths if key in hand.reached - held - written]
        if names and "others" not in self.notes.kinds:
            self.notes.add_of_all(self.notes.round - 1, "not held", None, names=listed(names))


def numbers_of(frame: FrameType | None) -> tuple[int, ...]:
    """Return the numbers of the lines that run in a frame and in those that called it."""
    numbers = []
    while frame is not None:
        numbers.append(frame.f_lineno)
        frame = frame.f_back
    return tuple(numbers)


def place_between(
    first: UsersLine | None, last: UsersLine | None, pattern: str
) -> UsersLine | None:
    """Return the first line between two of a file that a pattern is found in."""
    if first is None or last is None or first.filename != last.filename:
        return None
    return line_like(last.filename, first.number + 1, last.number - 1, pattern)


def watch(loop: Callable[[], Returned], *given: Any) -> Returned:
    """Run `loop()`, a training loop without arguments, watch it as `watching(*given)` does, and
    return what it returns. Raises TypeError for a loop that cannot be called.
    """
    if not callable(loop) or is_module(loop):
        said = "Pass the function that trains, without calling it: watch(train)."
        more = "One that takes arguments: watch(lambda: train(model, 3))."
        raise short(TypeError(f"watch was given {describe(loop)}. {said} {more}"))
    with watching(*given):
        return loop()


def sorted_out(given: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Return the models and the optimizers among what was given, also in lists."""
    models, optimizers = [], []
    for thing in chain.from_iterable(map(entries, given)):
        if is_module(thing):
            models.append(thing)
        elif isinstance(thing, Optimizer):
            optimizers.append(thing)
        else:
            said = "Pass the model and the optimizer: with watching(model, optimizer): …"
            raise short(TypeError(f"watching was given {describe(thing)}. {said}"))
    return models, optimizers
