"""Look at the graphs that are alive in a training loop, now and then: their nodes and bytes, and
which variables keep those of earlier rounds. Looks at live objects; keeps none.
"""

from __future__ import annotations

import re
import time
import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.data import counted, held
from autograd_graphs.diagnosing.graph_nodes import met_nodes, walk_from
from autograd_graphs.diagnosing.reach import attributes, is_other_in_eval, is_plain_object
from autograd_graphs.looking.nodes import ran_as
from autograd_graphs.looking.saved_tensors import Memory, saved
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.users_line import UsersLine, line_like
from autograd_graphs.looking.variable_names import parameters, submodules, variables
from autograd_graphs.monitoring.loop_mistakes import Notes

EAGER = 3  # calls of backward() at which graphs are looked at; later ones are 4, 8, 16, …
SHARE = 0.1  # of its thread's time, at most so much goes into looks at graphs,
SECONDS = 0.2  # or so much in all: a short loop is looked at when it is due
MOST_LOSSES = 100  # that are remembered, without keeping them alive
MOST_LOOKED_AT = 200  # entries of a list, variables of a function
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Graphs:
    """Look at graphs, hooks and modes before a backward(), and note what is wrong."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.losses: deque[weakref.ref[torch.Tensor]] = deque(maxlen=MOST_LOSSES)
        self.is_used_again = False  # a graph of an earlier round
        self._is_long = False  # the graph reaches back
        self._nodes = 0
        self._hook_counts: deque[int] = deque(maxlen=3)
        self._is_late = False  # a look is due
        self._began = time.thread_time()
        self._spent = 0.0

    def look(self, frame: FrameType | None, line: UsersLine | None, roots: list[Any]) -> None:
        """Look at the graphs of roots before a backward(), if it is time to."""
        count, began = self.notes.backwards, time.thread_time()
        self._is_late = self._is_late or count & (count - 1) == 0
        has_time = self._spent < max(SHARE * (began - self._began), SECONDS) or count == EAGER + 1
        if count > EAGER and not (self._is_late and has_time):
            return
        self._is_late = False
        with quietly():
            walk = walk_from(roots)
            self._note_reach(walk, line)
            self.notes.alive[1:] = [(count, *alive([*roots, *self._note_kept(frame)]))]
        self._note_modes(set(map(id, walk.met)))
        self._note_hooks()
        self._note_others()
        self._spent += time.thread_time() - began

    def look_at_end(self, frame: FrameType | None) -> None:
        with quietly():
            if "kept" not in self.notes.kinds:  # seen from here it has another name
                self._note_kept(frame)
        self._note_hooks()
        self._note_others()

    def _note_reach(self, walk: Walk, line: UsersLine | None) -> None:
        """Notice a graph that holds operations of earlier rounds, and grows."""
        grows, self._nodes = len(walk.met) > self._nodes, len(walk.met)
        oldest = max(self._ages(walk), default=0)
        self.is_used_again = self.is_used_again or oldest > 0
        # of two losses that are computed before two steps, one is as old as the last round
        self._is_long = oldest > 1 and grows
        if self._is_long:
            self.notes.add("reaches back", line)

    def _ages(self, walk: Walk) -> set[int]:
        """Return how many rounds ago operations of a graph ran: 0 is the round that runs."""
        ends = list(self.notes.ends)
        return {len(ends) - bisect_right(ends, ran_as(node)) for node in met_nodes(walk)}

    def _note_kept(self, frame: FrameType | None) -> list[Any]:
        """Notice what keeps graphs of three earlier rounds alive; return tensors that keep any."""
        kept: list[Any] = []
        losses = [known() for known in self.losses]
        if self._is_long:
            return losses
        seen: set[int] = set()  # a thing may have two names
        for name, thing in in_reach(frame):
            tensors = [] if id(thing) in seen else entries(thing)
            seen.add(id(thing))
            if self._are_kept(tensors):
                kept += tensors
                name = self._of_key(name, thing)
                self.notes.add("kept", filling_line(frame, name), name=code(name))
        if "kept" not in self.notes.kinds and self._are_kept(losses):
            self.notes.add("kept", None, name="Something I can't see")
        return kept + losses

    def _of_key(self, name: str, thing: Any) -> str:
        """Return the name of the one entry of a dict that keeps graphs; else that of the thing."""
        if not isinstance(thing, dict):
            return name
        keys = [key for key, entry in thing.items() if self._are_kept(entries(entry))]
        if len(keys) != 1:
            return name
        return f"{name}[{keys[0]!r}]"

    def _are_kept(self, tensors: Sequence[Any]) -> bool:
        if len(self.notes.ends) < 3:
            return False
        return len(self._ages(walk_from(tensors)) - {0}) > 2

    def _note_hooks(self) -> None:
        """Notice hooks that become more."""
        hooks = hooks_of(self.notes.models)
        self._hook_counts.append(len(hooks))
        last = list(self._hook_counts)
        if len(last) == 3 and last == sorted(set(last)):
            made = getattr(hooks[max(hooks)], "__code__", None)
            line = made and UsersLine(made.co_filename, made.co_firstlineno)
            self.notes.add("hooks", line, count=str(len(hooks)))

    def _note_modes(self, met: set[int]) -> None:
        """Notice a model in eval mode whose parameters are in the graph, and have been trained."""
        for model in self.notes.models:
            own = met.intersection(id(parameter) for _, parameter in parameters(model))
            is_trained = any(one.rounds and own & one.reached for one in self.notes.moving)
            parts = [part for _, part in submodules(model)]
            if is_trained and not model.training and any(map(is_other_in_eval, parts)):
                self.notes.add("eval", None)

    def _note_others(self) -> None:
        """Notice an optimizer that holds parameters which the model no longer has."""
        paths = self.notes.paths()
        held = [tensor for account in self.notes.accounts for tensor in account.parameters]
        moved = set(map(id, held))
        idle = {id(tensor) for tensor in held if read(tensor, "grad") is None}
        foreign = idle - paths.keys()
        missing = []
        for parameter in self.notes.by_hand.now_moved():
            if id(parameter) not in moved and read(parameter, "grad") is not None:
                missing.append(paths[id(parameter)])
        if missing and foreign:
            number = counted(len(foreign), "parameter")
            self.notes.add("others", None, missing=listed(missing), foreign=number)


def alive(tensors: Sequence[Any]) -> tuple[int, int]:
    """Count the nodes of graphs, and the bytes that they hold besides leaves."""
    met = walk_from(tensors).met
    memory = Memory(filter(torch.is_tensor, met))
    kept = []
    for node in met:
        if not torch.is_tensor(node):
            kept += saved(node, lambda tensor: (), (), memory)
    return len(met), held(kept).size


def in_reach(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """Yield what variables of a frame name, and the attributes of `self`, of models and of objects
    of a class of the learner's.
    """
    for name, thing in variables(frame)[:MOST_LOOKED_AT]:
        yield name, thing
        if name == "self" or isinstance(thing, torch.nn.Module) or is_plain_object(thing):
            for key, part in attributes(thing):
                if name == "self" or not key.startswith("_"):
                    yield f"{name}.{key}", part


def entries(thing: Any) -> list[Any]:
    """Return a thing itself; of a list, a dict or a dict of lists what is in it, the last ones."""
    inside = []
    values = list(thing.values())[-MOST_LOOKED_AT:] if isinstance(thing, dict) else [thing]
    for value in values:
        is_several = isinstance(value, (list, tuple, deque))
        inside += list(value)[-MOST_LOOKED_AT:] if is_several else [value]
    return inside


def filling_line(frame: FrameType | None, name: str) -> UsersLine | None:
    """Return the line that puts something into a container, or adds to a sum."""
    here = re.escape(name).replace("'", "[\"']")  # a key may stand in either quotes
    named = rf"(?<![\w.]){here}\s*"
    adds = rf"{named}(\[.*\]\s*)?(\.append\(|\.extend\(|\+=)"
    puts = rf"{adds}|{named}=[^=].*\b{here}|{named}\[.*\]\s*=[^=]"
    first, last = span(frame)
    return frame and line_like(frame.f_code.co_filename, first, last, puts)


def span(frame: FrameType | None) -> tuple[int, int]:
    lines = frame.f_code.co_lines() if frame else ()
    numbers = [number for _, _, number in lines if number]
    return min(numbers, default=0), max(numbers, default=0)


def hooks_of(models: Sequence[torch.nn.Module]) -> dict[int, Any]:
    hooks: dict[int, Any] = {}
    for model in models:
        for _, parameter in parameters(model):
            hooks |= read(parameter, "_backward_hooks") or {}
        for _, part in submodules(model):
            for name in HOOKS:
                hooks |= getattr(part, name, None) or {}
    return hooks


def models_and_optimizers(frame: FrameType | None) -> tuple[list[Any], list[Any]]:
    """Return the models with parameters and the optimizers that variables of a frame name."""
    models: dict[int, Any] = {}
    optimizers: dict[int, Any] = {}
    for _, thing in in_reach(frame):
        if isinstance(thing, torch.nn.Module) and any(parameters(thing)):
            models[id(thing)] = thing
        if isinstance(thing, torch.optim.Optimizer):
            optimizers[id(thing)] = thing
    return list(models.values()), list(optimizers.values())
