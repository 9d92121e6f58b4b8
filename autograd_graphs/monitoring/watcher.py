"""Watch a training loop while it runs: `watching` and `watch`.

For as long as it watches, `torch.autograd.backward`, `grad` and the `unscale_` of gradient scalers
are functions that also take notes, and torch calls two hooks around each `step()`. All are gone
afterwards. Nothing is put on a tensor, a node, a module or an optimizer, and no random number is
drawn.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain
from typing import Any, TypeVar

import torch
from torch.optim import Optimizer, optimizer

from autograd_graphs.answer_card import show
from autograd_graphs.looking.refusals import short
from autograd_graphs.looking.torch_private import graph_task
from autograd_graphs.looking.users_line import users_frame
from autograd_graphs.monitoring.account import Round
from autograd_graphs.monitoring.live_graphs import entries
from autograd_graphs.monitoring.loop_card import card_of
from autograd_graphs.monitoring.loop_mistakes import Mistake, Notes
from autograd_graphs.monitoring.loop_rounds import LoopRounds
from autograd_graphs.plain_values import describe

Returned = TypeVar("Returned")


class watching:
    """Watch the training loop in a `with` block, and show at its end what went wrong, and where.

    Takes models and optimizers, also in lists; what is not given is looked for among the variables
    of the loop. It observes only: the loop computes the same numbers, to the bit. `mistakes` is
    what was found. An error of the loop passes through. Raises TypeError for anything else.
    """

    def __init__(self, *given: Any) -> None:
        self._loop = LoopRounds(*sorted_out(given))
        self._undo = ExitStack()
        self._thread: int | None = None  # that is listened to

    @property
    def notes(self) -> Notes:
        return self._loop.notes

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
        self._replace(torch.autograd, "backward", self._backward)
        self._replace(torch.autograd, "grad", self._grad)
        self._replace(torch.amp.GradScaler, "unscale_", self._unscale)
        before = functools.partial(self._safely, self._loop.before_step)
        after = functools.partial(self._safely, self._loop.after_step)
        self._undo.callback(optimizer.register_optimizer_step_pre_hook(before).remove)
        self._undo.callback(optimizer.register_optimizer_step_post_hook(after).remove)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._undo.close()
        if kind is not None:
            self.notes.error = kind.__name__
        self._safely(self._loop.finish)
        self._thread = None
        show(card_of(self.notes))

    def _replace(self, owner: Any, name: str, notes: Callable[..., Any]) -> None:
        """Put a function that takes notes in the place of one of torch's."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            return notes(original, *args, **kwargs)

        def put_back() -> None:
            if getattr(owner, name) is ours:  # else someone has put theirs around ours
                setattr(owner, name, original)

        self._undo.callback(put_back)
        setattr(owner, name, ours)

    def _safely(self, work: Callable[..., None], *given: Any) -> None:
        """Take notes; a fault of ours ends the notes, and never the loop."""
        if threading.get_ident() != self._thread:
            return
        try:
            work(*given)
        except Exception as fault:
            self._thread = None
            self.notes.fault = type(fault).__name__

    def _backward(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run torch's backward(), and take notes before and after."""
        if graph_task() != -1:  # of a backward within a backward
            return original(*args, **kwargs)
        frame = users_frame()
        self._safely(self._loop.before_backward, frame, args, kwargs)
        result = original(*args, **kwargs)
        self._safely(self._loop.after_backward, frame, args, kwargs)
        return result

    def _grad(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run torch's grad(), which may go through a graph that was retained."""
        self._safely(self._loop.after_grad)
        return original(*args, **kwargs)

    def _unscale(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the unscale_() of a gradient scaler, which may then leave the step out."""
        scaled = kwargs.get("optimizer", args[-1])
        self._safely(self._loop.before_unscaling, scaled, users_frame())
        return original(*args, **kwargs)


def watch(loop: Callable[[], Returned], *given: Any) -> Returned:
    """Run `loop()`, a training loop without arguments, watch it as `watching(*given)` does, and
    return what it returns. Raises TypeError for a loop that cannot be called.
    """
    if not callable(loop) or isinstance(loop, torch.nn.Module):
        said = "Pass the function that trains, without calling it: watch(train)."
        more = "One that takes arguments: watch(lambda: train(model, 3))."
        raise short(TypeError(f"watch was given {describe(loop)}. {said} {more}"))
    with watching(*given):
        return loop()


def sorted_out(given: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Return the models and the optimizers among what was given, also in lists."""
    models, optimizers = [], []
    for thing in chain.from_iterable(map(entries, given)):
        if isinstance(thing, torch.nn.Module):
            models.append(thing)
        elif isinstance(thing, Optimizer):
            optimizers.append(thing)
        else:
            said = "Pass the model and the optimizer: with watching(model, optimizer): …"
            raise short(TypeError(f"watching was given {describe(thing)}. {said}"))
    return models, optimizers
