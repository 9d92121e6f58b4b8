"""Check the health of one training step: which parameters the loss reaches, what their gradients
are, what the optimizer holds, and which lines of the learner's explain it.

It changes nothing: gradients are computed beside `.grad`, and no hook of a parameter or a module
runs. Where computing them would run one, they are left out, and that is said.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from types import FrameType
from typing import Any

import torch

from autograd_graphs.looking.saved_tensors import Memory, saved, values_held
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import (
    is_a,
    is_custom,
    is_module,
    is_tensor,
    leaf_of,
    of_node,
    quietly,
    read,
    shape,
    type_name,
)
from autograd_graphs.looking.variable_names import parameters, submodules, variables
from autograd_graphs.untrusted.messages import in_one_line
from helpers.answers import code, listed
from helpers.clinic.catalogue import CUTS
from helpers.clinic.earlier_lines import heads
from helpers.clinic.facts import (
    Finding,
    Spot,
    assigned,
    each,
    head,
    in_sources,
    made_at,
    made_line,
    names_in,
    places,
    quoted,
)
from helpers.clinic.failed_backward import is_freed, nameless
from helpers.clinic.hooks import HIDDEN, hook_in_the_way, retained_as_it_was, silenced
from helpers.clinic.nans import dangerous, kind_of, nan_finding
from helpers.clinic.reach import attributes, parts, reached, spelt
from helpers.clinic.rounds import in_rounds
from helpers.clinic.values import Event, Scope, Values, called, dotted, flat, targets

HUGE = 1e4  # a gradient whose norm is this many times that of its weight is told
MOST_GRADIENTS = 50_000_000  # elements


class Health:
    """Hold what is known of a step; each part is found when it is asked for."""

    def __init__(self, model: Any, loss: Any, optimizer: Any, frame: FrameType) -> None:
        self.model, self.loss, self.optimizer = model, loss, optimizer
        self.known, self.space = dict(variables(frame)), frame.f_globals
        self.records = torch.is_grad_enabled()
        self.problem = ""  # why there are no gradients to look at
        self.raised = ""  # what a backward of the learner's raised
        self.explained: set[str] = set()  # parameters of which a finding says where the way ends

    @cached_property
    def parameters(self) -> dict[str, torch.Tensor]:
        if is_module(self.model):
            return {self.spelt(path): one for path, one in parameters(self.model)}
        held = {id(one) for one in self.held}
        named = {id(one): name for name, one in reversed(self.names) if id(one) in held}
        return {named.get(id(one), f"parameter {nr}"): one for nr, one in enumerate(self.held)}

    @cached_property
    def model_name(self) -> str:
        return next((name for name, one in self.known.items() if one is self.model), "")

    def spelt(self, path: str) -> str:
        """Return what the learner calls a part of the model."""
        return spelt(self.model_name, path)

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        if not is_a(self.optimizer, torch.optim.Optimizer):
            return []
        return list(object.__getattribute__(self.optimizer, "__dict__").get("param_groups", ()))

    @cached_property
    def held(self) -> list[torch.Tensor]:
        """Return the tensors that the optimizer steps."""
        return [one for group in self.groups for one in group["params"] if is_tensor(one)]

    @cached_property
    def names(self) -> list[tuple[str, torch.Tensor]]:
        return list(reached([self.known]))

    @cached_property
    def walk(self) -> Walk:
        return Walk([self.loss] if is_tensor(self.loss) else [])

    @cached_property
    def nodes(self) -> list[Any]:
        return [one for one in self.walk.met if not is_tensor(one)]

    @cached_property
    def used(self) -> set[int]:
        """Return the ids of the leaves that the loss leads back to."""
        return {id(one) for one in self.walk.met if is_tensor(one)}

    @cached_property
    def unreached(self) -> dict[str, torch.Tensor]:
        asked = self.parameters.items()
        return {
            name: one
            for name, one in asked
            if read(one, "requires_grad") and id(one) not in self.used
        }

    @cached_property
    def spot(self) -> Spot:
        """Return the place of the question: after all that ran."""
        body = [
            (stmt, blocks, place)
            for place in places(self.space)
            for stmt, blocks in flat(place.text.tree.body)
        ]
        place = body[-1][2] if body else None
        return Spot(self.space, Scope(place, body, self.known, is_live=True), len(body))

    @cached_property
    def loss_name(self) -> str:
        found = [name for name, one in self.known.items() if one is self.loss]
        return found[0] if found and self.loss is not None else "the loss"

    @cached_property
    def events(self) -> list[Event]:
        """Return what the loss went through, as the learner's lines tell it."""
        values, spot = Values(), self.spot
        for nr in range(len(spot.scope.body) - 1, -1, -1):
            stmt = spot.scope.body[nr][0]
            if self.loss_name in [name for name, _ in targets(stmt)]:
                values.statement(spot.scope, nr)
                break
        return values.events

    def of(self, kind: str) -> list[Event]:
        return [one for one in self.events if one.kind == kind]

    @cached_property
    def gradients(self) -> dict[str, torch.Tensor | None]:
        """Return the gradient of each parameter that the loss reaches, computed beside `.grad`."""
        wanted = {
            name: one
            for name, one in self.parameters.items()
            if id(one) in self.used and read(one, "requires_grad")
        }
        self.problem = self.why_not(wanted.values())
        if self.problem or not wanted:
            return {}
        begin = torch.ones_like(self.loss) if self.loss.numel() > 1 else None
        try:
            with (
                torch.random.fork_rng(devices=[]),
                retained_as_it_was(self.walk.met),
                silenced() as heard,
            ):
                found = torch.autograd.grad(
                    self.loss, list(wanted.values()), begin, retain_graph=True, allow_unused=True
                )
        except Exception as error:  # the backward of an own Function may raise anything
            self.raised = in_one_line(error)
            return {}
        if heard:
            self.problem = HIDDEN
            return {}
        return {name: dense(one) for name, one in zip(wanted, found, strict=True)}

    def why_not(self, wanted: Iterable[torch.Tensor]) -> str:
        """Say why computing the gradients would change something, or fail; "" if it would not."""
        if hook := hook_in_the_way(self.walk.met, self.names):
            return hook
        if any(is_freed(one) for one in self.nodes):
            return (
                "backward() has freed the graph of this loss, so I could not compute the gradients. "
                "Give me a loss that was just computed."
            )
        states = [one.state for node in self.nodes for one in saved(node, nameless, (), Memory(()))]
        if "packed" in states or "modified" in states:
            return "Its saved tensors are packed or edited, so I did not compute the gradients."
        if self.walk.is_cut or sum(one.numel() for one in wanted) > MOST_GRADIENTS:
            return "The graph is too large to compute the gradients here."
        return ""


def dense(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Return a gradient with all its zeros: an embedding may have a sparse one."""
    is_sparse = gradient is not None and gradient.layout != torch.strided
    return gradient.to_dense() if is_sparse else gradient


def findings(health: Health) -> list[Finding]:
    """Return all that is found to be wrong, the gravest first."""
    checks = (no_tensor, no_graph, *OF_GRAPH) if health.loss is not None else ()
    found: list[Finding] = []
    for check in (*checks, *OF_STATE):
        found += list(check(health))
        if found and check in (no_tensor, no_graph):
            break
    return found


def no_tensor(health: Health) -> Iterator[Finding]:
    """The loss is a number of Python's or NumPy's."""
    if is_tensor(health.loss):
        return
    cuts = health.of("cut")
    lines = tuple(dict.fromkeys(map(str, cuts)))[:3]
    why = f": {CUTS[cuts[0].word].why}" if cuts else ""
    name = health.loss_name
    remedy = CUTS[cuts[0].word].remedy if cuts else "give diagnose the tensor before it became one"
    yield Finding(
        f"{code(name)} is a {type_name(health.loss)} and no tensor, so it has no graph{why}.",
        lines,
        remedy,
    )


def no_graph(health: Health) -> Iterator[Finding]:
    """The loss is a tensor that nothing leads back from."""
    if not is_tensor(health.loss) or read(health.loss, "requires_grad"):
        return
    name, cuts = code(health.loss_name), health.of("cut")
    if cuts:
        for cut in cuts[:2]:
            yield Finding(
                f"{name} has no graph, so no parameter can get a gradient. The graph ended at "
                f"{quoted(cut.name, 'this line')}: {CUTS[cut.word].why}.",
                (str(cut),),
                CUTS[cut.word].remedy,
            )
        return
    if not health.records:
        yield Finding(
            f"{name} has no graph, and grad mode is off in this session.",
            calls_of(health, "set_grad_enabled"),
            "call torch.set_grad_enabled(True), and compute the loss again",
        )
        return
    if health.parameters and not any(read(p, "requires_grad") for p in health.parameters.values()):
        yield Finding(
            f"All parameters of the model are frozen (requires_grad=False), so {name} has no graph.",
            lines_with(health, "requires_grad")[:2],
            "call requires_grad_(True) on the part that should learn",
        )
        return
    yield Finding(
        f"{name} has no graph: nothing that it was computed from requires grad.",
        (),
        "look at how it was made. print(t.grad_fn) for each tensor shows where the graph ends",
    )


def calls_of(health: Health, name: str) -> tuple[str, ...]:
    """Return the lines with a call of that name, in all of the learner's sources."""
    found = [
        place.line(stmt)
        for stmt, place in in_sources(health.space, ast.stmt)
        if any(one.rpartition(".")[2] == name for one in called_in(stmt))
    ]
    return tuple(dict.fromkeys(found))


def called_in(stmt: ast.stmt) -> list[str]:
    """Return the names of what a statement calls, without those of blocks in it."""
    return [called(one) for one in heads(stmt) if isinstance(one, ast.Call)]


def lines_with(health: Health, word: str) -> tuple[str, ...]:
    found = [
        place.line(stmt)
        for stmt, place in in_sources(health.space, (ast.Assign, ast.Expr))
        if any(word in name for name in names_in(stmt))
    ]
    return tuple(dict.fromkeys(found))


def plain_attributes(health: Health) -> Iterator[Finding]:
    """What a module has as an attribute, and not as a part: model.parameters() misses it."""
    if not is_module(health.model):
        return
    known = {id(one) for one in health.parameters.values()}
    modules = {id(one) for _, one in submodules(health.model)}
    for path, module in submodules(health.model):
        for name, thing in attributes(module):
            full = health.spelt(f"{path}.{name}".removeprefix("."))
            lost = [one for _, one in within(name, thing) if is_lost(one, known, modules)]
            if not lost or name.startswith("_"):
                continue
            lines = tuple(assigned(health.space, name))[:2]
            if is_tensor(thing):
                made = "the result of an operation" if read(thing, "grad_fn") else "a plain tensor"
                yield Finding(
                    f"{code(full)} is {made} and no Parameter, so it is not registered in the "
                    "model: model.parameters() does not have it, and the optimizer never moves it.",
                    lines,
                    f"finish the computation inside: self.{name} = nn.Parameter(...)",
                )
            else:
                yield Finding(
                    f"{code(full)} is a plain {type_name(thing)}. Its layers are not registered in "
                    "the model, so model.parameters() does not have them and the optimizer never "
                    "moves them.",
                    lines,
                    "put them into nn.ModuleList, nn.ModuleDict or nn.ParameterList",
                )


def within(name: str, thing: Any) -> list[tuple[str, Any]]:
    if type(thing) in (list, tuple, dict):
        return parts(name, thing)
    return [(name, thing)] if is_tensor(thing) else []


def is_lost(thing: Any, known: set[int], modules: set[int]) -> bool:
    """Say whether a tensor or layer asks for gradients and is no part of the model."""
    if is_module(thing):
        return id(thing) not in modules and any(
            read(p, "requires_grad") for _, p in parameters(thing)
        )
    return is_tensor(thing) and id(thing) not in known and bool(read(thing, "requires_grad"))


def cut_off(health: Health) -> Iterator[Finding]:
    """Parameters that forward uses, and whose graph a line ends."""
    missing = {id(one): name for name, one in health.unreached.items()}
    for cut in health.of("cut"):
        names = [
            missing.pop(one) for one in sorted(cut.ids & set(missing), key=list(missing).index)
        ]
        if names:
            yield Finding(
                f"The loss does not reach {listed(names)}: no gradient gets there. The graph ends at "
                f"{quoted(cut.name, 'this line')}: {CUTS[cut.word].why}.",
                (str(cut),),
                CUTS[cut.word].remedy,
            )
    health.explained = set(health.unreached) - set(missing.values())


def unused(health: Health) -> Iterator[Finding]:
    """Parameters that the loss does not use at all, as far as the lines tell."""
    left = [name for name in health.unreached if name not in health.explained]
    if not left or not is_tensor(health.loss):
        return
    if hiding := hiding_checkpoints(health):
        yield Finding(
            f"The graph of {code(health.loss_name)} does not show {listed(left)}. A checkpoint with "
            f"use_reentrant=True hides what is in it. If {each(left, 'it is', 'they are')} in there, "
            f"{each(left, 'it gets', 'they get')} a gradient only if one of the checkpoint's inputs "
            "requires grad.",
            hiding[:2],
            "call checkpoint(..., use_reentrant=False), and ask me again",
        )
        return
    lines = []
    for name in left:
        owner = name.removeprefix(f"{health.model_name}.").partition(".")[0].partition("[")[0]
        lines += list(assigned(health.space, owner))[:1]
    yield Finding(
        f"{listed(left)} {each(left, 'gets', 'get')} no gradient: nothing on the way to "
        f"{code(health.loss_name)} uses {each(left, 'it', 'them')}.",
        tuple(dict.fromkeys(lines))[:2],
        "call that part in forward, or add its output to the loss. If it is not meant to learn in "
        "this step, leave it as it is",
    )


def hiding_checkpoints(health: Health) -> tuple[str, ...]:
    """Return the lines with a checkpoint of the older kind, into which no graph leads."""
    found = [
        place.line(stmt)
        for stmt, place in in_sources(health.space, ast.stmt)
        for one in heads(stmt)
        if isinstance(one, ast.Call) and called(one) == "checkpoint"
        if "use_reentrant=True" in ast.unparse(one)
    ]
    return tuple(dict.fromkeys(found))


def not_held(health: Health) -> Iterator[Finding]:
    """Parameters that learn and that the optimizer does not have; what it has instead."""
    if not health.groups:
        return
    held = {id(one) for one in health.held}
    missing = [
        name
        for name, one in health.parameters.items()
        if id(one) not in held and read(one, "requires_grad")
    ]
    own = {id(one) for one in health.parameters.values()}
    strange = [one for one in health.held if id(one) not in own]
    if not missing:
        return
    is_all = len(missing) == len(health.parameters)
    lines = [*made_lines(health), *later_lines(health)]
    instead = ""
    if strange:
        count = each(strange, "one tensor", f"{len(strange)} tensors")
        instead = f" It holds {count} that this model does not have. Was a layer replaced?"
    what = "any parameter of this model" if is_all else listed(missing)
    yield Finding(
        f"The optimizer does not hold {what}, so step() never updates "
        f"{each(missing, 'it', 'them')}.{instead}",
        tuple(dict.fromkeys(lines))[:3],
        "make the optimizer after the model is finished, or give it the rest with "
        "optimizer.add_param_group(...)",
    )


def optimizer_name(health: Health) -> str:
    found = [name for name, one in health.known.items() if one is health.optimizer]
    return found[0] if found else ""


def made_lines(health: Health) -> list[str]:
    return made_line(health.spot, optimizer_name(health))


def later_lines(health: Health) -> list[str]:
    """Return the lines that changed the model's parts or flags after the optimizer was made."""
    made = made_at(health.spot, optimizer_name(health))
    model = health.model_name
    if made is None or not model:
        return []
    body = health.spot.scope.body
    after = [nr for nr, one in enumerate(body) if one[0] is made[0]][-1]
    found = []
    for stmt, _, place in body[after + 1 :]:
        is_new = isinstance(stmt, ast.Assign) and any(
            dotted(one).partition(".")[0] == model and not isinstance(one, ast.Name)
            for one in stmt.targets
        )
        is_flag = isinstance(stmt, (ast.Assign, ast.Expr)) and any(
            "requires_grad" in one for one in names_in(stmt)
        )
        is_again = isinstance(stmt, ast.Assign) and any(
            dotted(one) == model for one in stmt.targets
        )
        if is_new or is_flag or is_again:
            found.append(place.line(stmt))
    return found


def strange_flags(health: Health) -> Iterator[Finding]:
    """An attribute that looks like a flag and is none."""
    if not is_module(health.model):
        return
    for path, module in submodules(health.model):
        for name, value in attributes(module):
            if name == "requires_grad" and type(value) is bool:
                called = [one for one, thing in health.known.items() if thing is module]
                name = next(iter([*called, health.spelt(path)]))
                yield Finding(
                    f"{code(f'{name}.requires_grad = {value}')} only made an attribute of "
                    "that name. It freezes and unfreezes nothing: a module has no such flag.",
                    tuple(assigned(health.space, "requires_grad"))[:1],
                    f"call requires_grad_({value}) on the module",
                )


def raised(health: Health) -> Iterator[Finding]:
    """Going backward raises, mostly in a backward that the learner wrote."""
    if not health.raised:
        return
    own = sorted({type_name(one) for one in health.nodes if is_custom(one)})
    whose = f", whose graph holds {listed(own)} with a backward of your own," if own else ""
    yield Finding(
        f"Going backward from {code(health.loss_name)}{whose} fails. {health.raised.rstrip('.')}.",
        (),
        "call backward() in a cell of its own, and diagnose() in the next one: it looks at the error",
    )


def not_finite(health: Health) -> Iterator[Finding]:
    """NaN or infinity in the loss or in gradients, and where it began."""
    loss = health.loss.detach()
    is_bad = not bool(torch.isfinite(loss).all())
    bad = [
        name
        for name, one in health.gradients.items()
        if one is not None and not bool(torch.isfinite(one).all())
    ]
    if not is_bad and not bad:
        return
    spoilt = [name for name, one in health.parameters.items() if not bool(one.isfinite().all())]
    if is_bad and spoilt:
        yield Finding(
            f"{code(health.loss_name)} is NaN or infinite, because {listed(spoilt)} "
            f"{each(spoilt, 'is', 'are')} so already. This loss cannot tell where that began.",
            calls_of(health, "step")[:1],
            "run the loop again from new weights, inside with watching(model, optimizer): it names "
            "the first round and the line",
        )
        return
    told = f"The gradient of {listed(bad)} is NaN or infinite" if bad else ""
    if is_bad:
        told = f"{code(health.loss_name)} itself is NaN or infinite."
    else:
        told += f", although {code(health.loss_name)} is a number."
    begun = dangerous(health.nodes)
    if begun is not None:
        yield nan_finding(health.of("op"), kind_of(begun), "", told)
    else:
        yield Finding(told, (), "look at log, sqrt, divisions and exp of large numbers on the way")


FLAT = {"Round", "Floor", "Ceil", "Sign", "Sgn", "Trunc", "Heaviside"}


def zeros(health: Health) -> Iterator[Finding]:
    """Gradients that are 0 everywhere, or that an own Function did not give."""
    found = health.gradients
    none = [name for name, one in found.items() if one is None]
    if none:
        own = sorted({kind_of(one) for one in health.nodes if is_custom(one)})
        yield Finding(
            f"{listed(none)} {each(none, 'gets', 'get')} None, although the graph leads there. The "
            f"backward of {'your Function ' + listed(own) if own else 'a Function'} returns None.",
            (),
            "return a gradient for each input that should learn",
        )
    zero = [name for name, one in found.items() if one is not None and not bool(one.any())]
    if not zero:
        return
    why, lines, remedy = why_zero(health)
    yield Finding(f"The gradient of {listed(zero)} is 0 everywhere. {why}", lines, remedy)


def why_zero(health: Health) -> tuple[str, tuple[str, ...], str]:
    for node in health.nodes:
        kind = kind_of(node)
        lines = [
            str(one) for one in health.of("op") if one.word.lower().rstrip("_") == kind.lower()
        ]
        lines = tuple(dict.fromkeys(lines))[:2]
        if kind in FLAT:
            why = f"{kind.lower()}() is flat nearly everywhere, so its slope is 0."
            return why, lines, "compute the loss without it, or use a soft version"
        result = values_held(node).get("result")
        if kind == "Relu" and is_tensor(result) and not bool(result.any()):
            why = "Every value that goes into one relu is at or below 0, so it lets no gradient through."
            return (
                why,
                lines,
                "look at the scale of the data, the learning rate and the start values",
            )
    return "Something on the way multiplies by 0.", (), "look for a weight or a mask that is all 0"


def large(health: Health) -> Iterator[Finding]:
    found = {
        name: float(one.double().norm())
        for name, one in health.gradients.items()
        if one is not None and bool(torch.isfinite(one).all())
    }
    size = {name: float(health.parameters[name].detach().norm()) for name in found}
    names = [name for name in found if found[name] > HUGE * max(size[name], 1.0)]
    if names:
        most = max(names, key=found.get)
        carried = [str(one) for one in health.of("carry")]
        whose = each(names, "Its", f"That of {code(most)} is the largest. Its")
        yield Finding(
            f"The {each(names, 'gradient', 'gradients')} of {listed(names)} "
            f"{each(names, 'explodes', 'explode')}. {whose} norm is {found[most]:.3g}, and that of "
            f"the weight itself is {size[most]:.3g}.",
            tuple(carried[:1]) or calls_of(health, "backward")[:1],
            "clip the gradients between backward() and step(), lower the learning rate, or scale "
            "the data",
        )


def made_shapes(node: Any) -> list[tuple[int, ...]]:
    return [found for one in of_node(node, "_input_metadata") if (found := shape(one)) is not None]


def broadcast(health: Health) -> Iterator[Finding]:
    """A column minus a row of data: every prediction is compared with every target."""
    for nr, node in enumerate(health.walk.met):
        kind = kind_of(node)
        if is_tensor(node) or kind not in ("Sub", "MseLoss", "L1Loss"):
            continue
        outer = made_shapes(node)[0] if made_shapes(node) else ()
        near = [one.target for one in health.walk.edges if one.source == nr]
        near = [health.walk.met[one] for one in near if one is not None]
        if len(near) != 1:  # both sides have a graph, so neither is a target
            continue
        inner = shape(near[0]) if is_tensor(near[0]) else (*made_shapes(near[0]), ())[0]
        if is_square(inner, outer) or (kind != "Sub" and is_square_loss(node, inner)):
            yield broadcast_finding(health, kind, inner)
            return


def is_square(inner: Any, outer: Any) -> bool:
    """Say whether n values in a row or a column became n times n."""
    if inner is None or len(outer) != 2 or outer[0] != outer[1] or outer[0] < 2:
        return False
    return inner in ((outer[0], 1), (1, outer[0]), (outer[0],))


def is_square_loss(node: Any, inner: Any) -> bool:
    """Say whether a loss saw a column and a row of as many values."""
    held = [tuple(one.shape) for one in values_held(node).values() if is_tensor(one)]
    count = inner[0] if inner else 0
    return count > 1 and any(
        one != inner and {one, inner} <= {(count, 1), (count,), (1, count)} for one in held
    )


OF_LOSS = {"Sub": {"Sub", "sub"}, "MseLoss": {"mse_loss", "MSELoss"}}


def broadcast_finding(health: Health, kind: str, inner: Any) -> Finding:
    words = OF_LOSS.get(kind, {"l1_loss", "L1Loss"})
    events = [one for one in health.of("op") if one.word in words and one.ids]
    lines = tuple(dict.fromkeys(map(str, events)))
    name = events[0].name if len(lines) == 1 else ""
    if kind != "Sub" and shape(health.known.get(name)) != inner:
        name = ""  # of a loss the first argument may be the target
    side = quoted(name, "The side that comes from the model")
    return Finding(
        f"{side} has shape {inner}, and the target has another one. The two were broadcast to "
        f"({max(inner)}, {max(inner)}), so every prediction is compared with every target.",
        lines[:2],
        "give both the same shape: pred.squeeze(1), or target.unsqueeze(1)",
    )


MEANS = {"Mean", "MseLoss", "L1Loss", "NllLoss", "SmoothL1Loss", "HuberLoss"}
MEANS |= {"BinaryCrossEntropyWithLogits", "BinaryCrossEntropy"}


def mean_twice(health: Health) -> Iterator[Finding]:
    """A mean over the batch is divided by the batch's size once more."""
    for edge in health.walk.edges:
        if edge.target is None or kind_of(health.walk.met[edge.source]) != "Div":
            continue
        mean = health.walk.met[edge.target]
        reduction = getattr(mean, "_saved_reduction", 1)  # 1 is the mean
        if is_tensor(mean) or kind_of(mean) not in MEANS or reduction != 1:
            continue
        events = [one for one in health.of("op") if one.word == "Div" and is_by_batch(health, one)]
        if events:
            yield Finding(
                "The loss is a mean over the batch already, and here it is divided by the size of "
                "the batch once more. The gradients are that many times too small, so it learns "
                "slowly.",
                tuple(dict.fromkeys(map(str, events)))[:2],
                'leave that division out, or sum first: reduction="sum"',
            )
            return


def is_by_batch(health: Health, event: Event) -> bool:
    """Say whether a statement divides by the size of the batch: of how many there are of others,
    such as batches, that is no mistake.
    """
    for node in ast.walk(event.stmt):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            below = ast.unparse(node.right)
            counted = re.fullmatch(r"len\((\w+)\)", below)
            if counted and is_tensor(health.known.get(counted[1])):
                return True
            if re.search(r"\.shape\[0\]$|\.size\(0\)$|\bbatch_size$", below):
                return True
    return False


def stepped_copy(health: Health) -> Iterator[Finding]:
    """The optimizer holds a tensor, and the learner's name means a result computed from it."""
    named = {id(one) for _, one in health.names}
    hidden = [one for one in health.held if id(one) not in named]
    for name, one in health.names if hidden and not is_module(health.model) else ():
        node = read(one, "grad_fn")
        near = [leaf_of(child) for child, _ in of_node(node, "next_functions")] if node else []
        if "[" not in name and any(leaf is other for leaf in near for other in hidden):
            yield Finding(
                f"{code(name)} was computed from the tensor that the optimizer holds. step() changes "
                f"that one, and {code(name)} keeps its old numbers.",
                tuple(made_line(health.spot, name)) + tuple(made_lines(health)),
                "make the tensor with its final dtype and device, ask for its gradient then, and "
                "make the optimizer after that",
            )


TWICE = {
    ("LogSoftmax", "Softmax"): ("cross_entropy", "softmax"),
    ("LogSoftmax", "LogSoftmax"): ("cross_entropy", "softmax"),
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): ("binary_cross_entropy_with_logits", "sigmoid"),
}


def twice_normalized(health: Health) -> Iterator[Finding]:
    """A loss that normalizes itself gets what was normalized before."""
    met = health.walk.met
    for edge in health.walk.edges:
        pair = (
            ("", "")
            if edge.target is None
            else (kind_of(met[edge.source]), kind_of(met[edge.target]))
        )
        if pair not in TWICE:
            continue
        loss, word = TWICE[pair]
        events = [one for one in health.of("op") if one.word.lower() in (word, f"log_{word}")]
        name = next((one.name for one in events if one.name), "")
        yield Finding(
            f"The loss {loss} applies {word} itself, and {quoted(name, 'its input')} has "
            f"been through {word} already. Twice makes the gradients small, and it learns slowly.",
            tuple(dict.fromkeys(map(str, events)))[:2],
            f"give the loss the raw outputs (logits), and leave that {word} out",
        )
        return


def target_with_graph(health: Health) -> Iterator[Finding]:
    for node in health.nodes:
        kind = kind_of(node)
        if kind not in ("MseLoss", "SmoothL1Loss", "HuberLoss", "L1Loss"):
            continue
        children = of_node(node, "next_functions")
        if len(children) > 1 and all(child is not None for child, _ in children[:2]):
            events = [
                one for one in health.of("op") if one.word.lower().replace("_", "") == kind.lower()
            ]
            yield Finding(
                "The target of the loss has a graph, too, so gradients also go through the target "
                "and train what made it.",
                tuple(dict.fromkeys(map(str, events)))[:2],
                "if the target should stand still, compute it under no_grad() or give the loss "
                "target.detach()",
            )
            return


MOODY = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._BatchNorm)


def modes(health: Health) -> Iterator[Finding]:
    if not is_module(health.model):
        return
    moody = [(path, one) for path, one in submodules(health.model) if is_a(one, MOODY)]
    still = [health.spelt(path) or type_name(one) for path, one in moody if not one.training]
    if still:
        yield Finding(
            f"{listed(still)} {each(still, 'is', 'are')} in eval mode: dropout drops nothing, "
            "and batch norm uses its running averages and does not update them.",
            calls_of(health, "eval")[:1],  # the newest
            "call model.train() at the start of each round of training, if that part should learn",
        )


def hooked(health: Health) -> Iterator[Finding]:
    """Hooks that change gradients, or that pile up."""
    with_hook = [name for name, one in health.parameters.items() if one._backward_hooks]
    if with_hook:
        yield Finding(
            f"{listed(with_hook)} {each(with_hook, 'has', 'have')} a hook of yours. What a "
            "hook returns takes the place of the gradient.",
            calls_of(health, "register_hook")[:2],
            "look at what it returns. handle.remove() takes the hook away",
        )
    if not is_module(health.model):
        return
    for path, module in submodules(health.model):
        inside = object.__getattribute__(module, "__dict__")
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            hooks = list((inside.get(kind) or {}).values())
            codes = [getattr(one, "__code__", one) for one in hooks]
            most = max((codes.count(one) for one in codes), default=0)
            if most > 1:
                lines = calls_of(health, "register_forward_hook")
                lines += calls_of(health, "register_full_backward_hook")
                yield Finding(
                    f"The module {code(health.spelt(path) or type_name(module))} has the same hook {most} times. Each one runs in "
                    "every forward, and what it keeps stays in memory.",
                    lines[:2],
                    "register it once, before the loop, or call handle.remove() in each round",
                )


def kept_graphs(health: Health) -> Iterator[Finding]:
    """Tensors besides the loss that keep graphs alive: in lists, or summed up over rounds."""
    inner: dict[str, list[str]] = {}
    for name, one in health.names:
        if one is health.loss or read(one, "grad_fn") is None or "[" not in name:
            continue
        if is_module(health.spot.scope.space.get(head(name))):
            continue
        inner.setdefault(name.partition("[")[0], []).append(name)
    sums = {event for event in in_rounds(health) if event.kind == "kept"}
    for base, names in inner.items():
        lines = [one.line for one in sums if one.name == base]
        is_pair = isinstance(health.spot.scope.space.get(base), tuple)  # as the state of an LSTM
        if lines or (len(names) > 1 and not is_pair):
            count = each(names, "a tensor", f"{len(names)} tensors")
            it = each(names, "it", "each")
            yield Finding(
                f"{code(base)} holds {count} with a graph, and {it} keeps all that its forward had "
                "saved. With every round memory grows.",
                tuple(lines)[:2],
                "keep numbers, as loss.item() gives them. Where you need the tensor, keep it without "
                "its graph: detach()",
            )
    for event in sums:
        thing = health.spot.scope.space.get(event.name)
        if event.name not in inner and is_tensor(thing) and read(thing, "grad_fn") is not None:
            yield Finding(
                f"{code(event.name)} is a sum of losses with their graphs, so the graphs of all rounds "
                "stay alive and memory grows.",
                (event.line,),
                "add loss.item(), or loss.detach()",
            )


def in_loops(health: Health) -> Iterator[Finding]:
    for event in in_rounds(health):
        if event.kind != "kept":
            yield Finding(event.what, (event.line,), event.remedy)


OF_GRAPH = (cut_off, raised, not_finite, zeros, large, broadcast, mean_twice)
OF_GRAPH += (twice_normalized, target_with_graph, stepped_copy)
OF_STATE = (plain_attributes, not_held, strange_flags, unused, modes, hooked, kept_graphs)
OF_STATE += (in_loops,)


def summary(health: Health) -> list[str]:
    """Return what is known of the step in figures."""
    told = []
    count = len(health.parameters)
    asked = [one for one in health.parameters.values() if read(one, "requires_grad")]
    if is_tensor(health.loss) and count:
        got = sum(id(one) in health.used for one in asked)
        frozen = f"; {count - len(asked)} are frozen" if count > len(asked) else ""
        told.append(
            f"The loss reaches {got} of {len(asked)} parameters that ask for a gradient{frozen}."
        )
    lengths = [float(one.double().norm()) for one in health.gradients.values() if one is not None]
    if lengths and all(map(math.isfinite, lengths)):
        told.append(f"The norms of their gradients: {min(lengths):.3g} to {max(lengths):.3g}.")
    if health.problem:
        told.append(health.problem)
    return told


def examined(model: Any, loss: Any, optimizer: Any, frame: FrameType) -> tuple[list, list[str]]:
    """Return the findings about a step, and its figures."""
    health = Health(model, loss, optimizer, frame)
    if is_tensor(loss):
        _ = health.gradients  # computed with grad mode as it is
    with quietly():
        found = findings(health)
        told = summary(health)
    return found, told
