"""Know one training step: what its loss reaches, the gradients there, what the optimizer holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any

import torch

from autograd_graphs.diagnosing.catalogue import SAID
from autograd_graphs.diagnosing.dataflow import Event, Scope, Values, placed
from autograd_graphs.diagnosing.facts import Spot, places, texts_of
from autograd_graphs.diagnosing.graph_nodes import gives_once, met_nodes, states_of
from autograd_graphs.diagnosing.hidden_hooks import Alive
from autograd_graphs.diagnosing.reach import parts, reached, spelt
from autograd_graphs.diagnosing.syntax import set_by
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.variable_names import parameters, submodules, variables
from autograd_graphs.text import in_one_line

MOST_GRADIENTS = 50_000_000  # elements


@dataclass(frozen=True)
class Gradients:
    """Hold the gradients of a step by the names of parameters, None where a Function gave none.

    `stopped` are those parameters to whose operations nothing but 0 comes back; `problem` says why
    nobody looked, `raised` what a backward of the learner's raised.
    """

    by_name: dict[str, torch.Tensor | None] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    problem: str = ""
    raised: str = ""

    @property
    def known(self) -> dict[str, torch.Tensor]:
        return {name: grad for name, grad in self.by_name.items() if grad is not None}


class TrainingStep:
    """Hold what is known of a step; each part is found when it is asked for."""

    def __init__(self, model: Any, loss: Any, optimizer: Any, frame: FrameType) -> None:
        self.model, self.loss, self.optimizer = model, loss, optimizer
        self.known, self.space = dict(variables(frame)), frame.f_globals
        self.records = torch.is_grad_enabled()

    @cached_property
    def parameters(self) -> dict[str, torch.Tensor]:
        if isinstance(self.model, torch.nn.Module):
            return {self.spelt(path): parameter for path, parameter in parameters(self.model)}
        named = {}
        for nr, tensor in enumerate(self.held):
            named[self.names_by_id.get(id(tensor), f"parameter {nr}")] = tensor
        return named

    def name_of(self, thing: Any) -> str:
        return next((name for name, known in self.known.items() if known is thing), "")

    @cached_property
    def model_name(self) -> str:
        return self.name_of(self.model)

    def spelt(self, path: str) -> str:
        return spelt(self.model_name, path)

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        return groups_of(self.optimizer)

    @cached_property
    def held(self) -> list[torch.Tensor]:
        return tensors_of(self.groups)

    @cached_property
    def learning(self) -> set[int]:
        """Return the ids of what the optimizer has of the model; of all where it has nothing."""
        own = set(map(id, self.parameters.values()))
        return own.intersection(map(id, self.held)) or own

    @property
    def held_by_others(self) -> list[torch.Tensor]:
        """Return what optimizers hold to which other variables lead."""
        groups = []
        for name, thing in self.known.items():
            for one in (thing, *dict(parts(name, thing)).values()):
                groups += groups_of(one)
        return tensors_of(groups)

    @cached_property
    def asked(self) -> dict[str, torch.Tensor]:
        named = self.parameters.items()
        return {name: tensor for name, tensor in named if read(tensor, "requires_grad")}

    @cached_property
    def names(self) -> list[tuple[str, torch.Tensor]]:
        return list(reached([self.known]))

    @cached_property
    def names_by_id(self) -> dict[int, str]:
        """Return the first name of each tensor that variables lead to."""
        return {id(tensor): name for name, tensor in reversed(self.names)}

    @cached_property
    def walk(self) -> Walk:
        return Walk([self.loss] if torch.is_tensor(self.loss) else [])

    @cached_property
    def nodes(self) -> list[Any]:
        return met_nodes(self.walk)

    @cached_property
    def modules(self) -> list[tuple[str, torch.nn.Module]]:
        return list(submodules(self.model)) if isinstance(self.model, torch.nn.Module) else []

    @cached_property
    def unreached(self) -> dict[str, torch.Tensor]:
        met = set(map(id, self.walk.met))
        return {name: tensor for name, tensor in self.asked.items() if id(tensor) not in met}

    @cached_property
    def cuts(self) -> list[tuple[Event, list[str]]]:
        """Return the lines that end graphs, each with the unreached parameters behind it."""
        # those that are not to learn may be cut off on purpose
        left = {
            name: tensor for name, tensor in self.unreached.items() if id(tensor) in self.learning
        }
        found = []
        for cut in self.of("cut"):
            names = [name for name, tensor in left.items() if id(tensor) in cut.ids]
            for name in names:
                del left[name]
            found.append((cut, names))
        return found

    @property
    def unexplained(self) -> list[str]:
        """Return the unreached parameters that should learn, and that no line cuts off."""
        if not torch.is_tensor(self.loss):
            return []
        left = {name for name, tensor in self.unreached.items() if id(tensor) in self.learning}
        for _, names in self.cuts:
            left.difference_update(names)
        return [name for name in self.unreached if name in left]

    @cached_property
    def spot(self) -> Spot:
        """Return the place of the question: after all that ran."""
        body, place = [], None
        for place in places(self.space):
            body += placed(place.text.tree.body, place)
        return Spot(self.space, Scope(place, body, self.known, is_live=True), len(body))

    @cached_property
    def loss_name(self) -> str:
        return (self.loss is not None and self.name_of(self.loss)) or "the loss"

    @cached_property
    def values(self) -> Values:
        """Return the values of the loss, with what they went through by the learner's lines."""
        values, spot = Values(), self.spot
        for nr in range(len(spot.scope.body) - 1, -1, -1):
            if self.loss_name in set_by(spot.scope.body[nr].stmt):
                values.statement(spot.scope, nr)
                break
        return values

    def of(self, kind: str) -> list[Event]:
        return self.values.of_kind(kind)

    def ops(self, kind: str) -> list[str]:
        """Return the first lines with the operation of a node."""
        kind, events = kind.lower(), self.of("op")
        same = [event for event in events if event.word.lower().replace("_", "") == kind]
        return texts_of(same)[:2]

    @cached_property
    def gradients(self) -> Gradients:
        """Return the gradient of each parameter that the loss reaches, computed beside `.grad`."""
        if not torch.is_tensor(self.loss):
            return Gradients()
        wanted = dict(self.asked)
        for name in self.unreached:
            del wanted[name]
        alive = Alive()
        problem = self.why_not(alive, wanted.values())
        if problem or not wanted:
            return Gradients(problem=problem)
        kept = torch.random.fork_rng(devices=[])
        try:
            with kept, alive.retained_as_it_was(self.walk.met), alive.silenced() as heard:
                gradients = dict(zip(wanted, self.back_to(wanted.values()), strict=True))
                zero = [name for name in wanted if is_zero(gradients[name])]
                stopped = [name for name in zero if not self.arrives(wanted[name])]
        except Exception as error:  # the backward of an own Function may raise anything
            return Gradients(raised=in_one_line(error))
        if heard:
            return Gradients(problem=SAID["hook_hidden"])
        return Gradients(gradients, stopped)

    def back_to(self, ends: Iterable[Any]) -> list[torch.Tensor | None]:
        """Return the gradients of the loss at leaves, or at outputs of operations."""
        begin = torch.ones_like(self.loss) if self.loss.numel() > 1 else None
        how = {"retain_graph": True, "allow_unused": True}
        return list(map(dense, torch.autograd.grad(self.loss, tuple(ends), begin, **how)))

    def arrives(self, leaf: torch.Tensor) -> bool:
        """Say whether anything but 0 comes back to an operation that used a leaf."""
        walk, ends = self.walk, []
        number = next(nr for nr, thing in enumerate(walk.met) if thing is leaf)
        users = {edge.source for edge in walk.edges if edge.target == number}
        for edge in walk.edges:
            if edge.target in users:
                ends.append(torch.autograd.graph.GradientEdge(walk.met[edge.target], edge.input_nr))
        is_at_root = not users.isdisjoint(begin[0] for _, begin in walk.roots if begin)
        return is_at_root or not all(map(is_zero, self.back_to(ends)))

    def why_not(self, alive: Alive, wanted: Iterable[torch.Tensor]) -> str:
        """Say why computing the gradients would change something, or fail; "" if it would not."""
        if hook := alive.in_the_way(self.walk.met, self.names_by_id):
            return hook
        states = set().union(*map(states_of, self.nodes))
        if "freed" in states:
            return SAID["freed"]
        if "packed" in states or "modified" in states:
            return SAID["packed"]
        if any(map(gives_once, self.nodes)):
            return SAID["compiled"]
        if self.walk.is_cut or sum(tensor.numel() for tensor in wanted) > MOST_GRADIENTS:
            return SAID["large"]
        return ""


def groups_of(optimizer: Any) -> list[dict[str, Any]]:
    """Return the groups of an optimizer; none of anything else."""
    if not isinstance(optimizer, torch.optim.Optimizer):
        return []
    return list(vars(optimizer).get("param_groups", ()))


def tensors_of(groups: list[dict[str, Any]]) -> list[torch.Tensor]:
    return [thing for group in groups for thing in group["params"] if torch.is_tensor(thing)]


def dense(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Return a gradient with all its zeros: an embedding may have a sparse one."""
    if gradient is None or gradient.layout == torch.strided:
        return gradient
    return gradient.to_dense()


def is_zero(gradient: torch.Tensor | None) -> bool:
    return gradient is None or not bool(gradient.any())
