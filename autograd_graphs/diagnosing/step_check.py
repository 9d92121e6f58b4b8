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

from autograd_graphs.answer_card import code, listed
from autograd_graphs.diagnosing.catalogue import CUTS, SAID
from autograd_graphs.diagnosing.dataflow import Event, Scope, Values, placed
from autograd_graphs.diagnosing.facts import (
    Finding,
    Spot,
    assigned,
    calls_of,
    each,
    finding,
    lines_with,
    made_line,
    places,
    quoted,
    texts_of,
)
from autograd_graphs.diagnosing.graph_nodes import (
    is_mean,
    kind_of,
    leaves_of,
    met_nodes,
    pairs_in,
    states_of,
    walk_from,
)
from autograd_graphs.diagnosing.hidden_hooks import Alive
from autograd_graphs.diagnosing.live_names import ids_of
from autograd_graphs.diagnosing.nans import dangerous, first_name, nan_finding
from autograd_graphs.diagnosing.reach import attributes, is_other_in_eval, parts, reached, spelt
from autograd_graphs.diagnosing.syntax import head, names_in, nodes_in, set_by
from autograd_graphs.looking.nodes import is_custom
from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import read, shape_of
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import parameters, submodules, variables
from autograd_graphs.text import in_one_line

HUGE = 1e4  # a gradient whose norm is this many times that of its weight is told
MOST_GRADIENTS = 50_000_000  # elements
OF_LOSS = {
    "Sub": {"Sub", "sub"},
    "L1Loss": {"l1_loss", "L1Loss"},
    "MseLoss": {"mse_loss", "MSELoss"},
    "SmoothL1Loss": {"smooth_l1_loss", "SmoothL1Loss"},
    "HuberLoss": {"huber_loss", "HuberLoss"},
}
TWICE = {
    ("LogSoftmax", "Softmax"): ("cross_entropy", "softmax"),
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): ("binary_cross_entropy_with_logits", "sigmoid"),
}
FLAT = {"Round", "Floor", "Ceil", "Sign", "Sgn", "Trunc", "Heaviside", "Bernoulli"}


class Health:
    """Hold what is known of a step; each part is found when it is asked for."""

    def __init__(self, model: Any, loss: Any, optimizer: Any, frame: FrameType) -> None:
        self.model, self.loss, self.optimizer = model, loss, optimizer
        self.known, self.space = dict(variables(frame)), frame.f_globals
        self.records = torch.is_grad_enabled()
        self.problem = ""  # why there are no gradients to look at
        self.raised = ""  # what a backward of the learner's raised
        self.unexplained: list[str] = []  # unreached parameters whose way no line ends
        self.stopped: list[str] = []  # parameters to whose operations nothing but 0 comes back

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
    def gradients(self) -> dict[str, torch.Tensor | None]:
        """Return the gradient of each parameter that the loss reaches, computed beside `.grad`."""
        wanted = dict(self.asked)
        for name in self.unreached:
            del wanted[name]
        alive = Alive()
        self.problem = self.why_not(alive, wanted.values())
        if self.problem or not wanted:
            return {}
        kept = torch.random.fork_rng(devices=[])
        try:
            with kept, alive.retained_as_it_was(self.walk.met), alive.silenced() as heard:
                gradients = dict(zip(wanted, self.back_to(wanted.values()), strict=True))
                zero = [name for name in wanted if is_zero(gradients[name])]
                self.stopped = [name for name in zero if not self.arrives(wanted[name])]
        except Exception as error:  # the backward of an own Function may raise anything
            self.raised = in_one_line(error)
            return {}
        if heard:
            self.problem = SAID["hook_hidden"]
            return {}
        return gradients

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

    @cached_property
    def known_gradients(self) -> dict[str, torch.Tensor]:
        return {name: grad for name, grad in self.gradients.items() if grad is not None}

    def why_not(self, alive: Alive, wanted: Iterable[torch.Tensor]) -> str:
        """Say why computing the gradients would change something, or fail; "" if it would not."""
        if hook := alive.in_the_way(self.walk.met, self.names_by_id):
            return hook
        states = set().union(*map(states_of, self.nodes))
        if "freed" in states:
            return SAID["freed"]
        if "packed" in states or "modified" in states:
            return SAID["packed"]
        if self.walk.is_cut or sum(tensor.numel() for tensor in wanted) > MOST_GRADIENTS:
            return SAID["large"]
        return ""


def groups_of(optimizer: Any) -> list[dict[str, Any]]:
    """Return the groups of an optimizer; none of anything else."""
    if not isinstance(optimizer, torch.optim.Optimizer):
        return []
    return list(object.__getattribute__(optimizer, "__dict__").get("param_groups", ()))


def tensors_of(groups: list[dict[str, Any]]) -> list[torch.Tensor]:
    return [thing for group in groups for thing in group["params"] if torch.is_tensor(thing)]


def dense(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Return a gradient with all its zeros: an embedding may have a sparse one."""
    if gradient is None or gradient.layout == torch.strided:
        return gradient
    return gradient.to_dense()


def is_zero(gradient: torch.Tensor | None) -> bool:
    return gradient is None or not bool(gradient.any())


def findings(health: Health) -> list[Finding]:
    checks = (no_tensor, no_graph, *OF_GRAPH) if health.loss is not None else ()
    results: list[Finding] = []
    for check in (*checks, *OF_STATE):
        results += check(health)
        if results and check in (no_tensor, no_graph):
            break
    return results


def no_tensor(health: Health) -> Iterator[Finding]:
    """The loss is a number of Python's or NumPy's."""
    if torch.is_tensor(health.loss):
        return
    cuts = health.of("cut")
    why, remedy = "", "give diagnose the tensor before it became one"
    if isinstance(health.loss, torch.nn.Module):
        remedy = "write diagnose(model, loss, optimizer), in this order"
    if cuts:
        why, remedy = f": {CUTS[cuts[0].word].why}", CUTS[cuts[0].word].remedy
    words = {"name": health.loss_name, "kind": type(health.loss).__name__, "why": why}
    yield finding("no_tensor", cuts, remedy=remedy, **words)


def no_graph(health: Health) -> Iterator[Finding]:
    """The loss is a tensor that nothing leads back from."""
    if not torch.is_tensor(health.loss) or read(health.loss, "requires_grad"):
        return
    name, cuts = health.loss_name, health.of("cut")
    if cuts:
        for cut in cuts[:2]:
            yield finding("loss_cut", [cut], name=name, **of_cut(cut))
    elif not health.records:
        yield finding("loss_grad_mode", calls_of(health.space, "set_grad_enabled"), name=name)
    elif health.parameters and not health.asked:
        yield finding("loss_frozen", lines_with(health.space, "requires_grad")[:2], name=name)
    else:
        yield finding("loss_alone", (), name=name)


def of_cut(cut: Event) -> dict[str, str]:
    known = CUTS[cut.word]
    return {"where": quoted(cut.name, "this line"), "why": known.why, "remedy": known.remedy}


def plain_attributes(health: Health) -> Iterator[Finding]:
    """What a module has as an attribute, and not as a part: model.parameters() misses it."""
    own = set(map(id, [*health.parameters.values(), *dict(health.modules).values()]))
    for path, module in health.modules:
        for name, thing in attributes(module):
            kind, made = "plain_layers", ""
            held: Iterable[tuple[str, Any]] = ()
            if type(thing) in (list, tuple, dict):
                held = parts(name, thing)
            if torch.is_tensor(thing):
                kind, made, held = "plain_tensor", "the result of an operation", [(name, thing)]
                if read(thing, "grad_fn") is None:
                    made = "a plain tensor"
            if name.startswith("_") or not any(is_lost(part, own) for _, part in held):
                continue
            full, lines = f"{path}.{name}".removeprefix("."), assigned(health.space, name)[:2]
            words = {"name": health.spelt(full), "kind": type(thing).__name__, "attribute": name}
            yield finding(kind, lines, made=made, **words)


def ends_of(tensor: torch.Tensor) -> set[int]:
    """Return the ids of the leaves at which the graph of a tensor ends, or of itself."""
    return set(map(id, filter(torch.is_tensor, walk_from([tensor]).met)))


def is_lost(thing: Any, own: set[int]) -> bool:
    """Say whether a tensor or layer asks for gradients and has nothing of the model's own."""
    if not isinstance(thing, torch.nn.Module) and not torch.is_tensor(thing):
        return False
    leaves = (
        ends_of(thing) if torch.is_tensor(thing) else {id(thing)}
    )  # a result of forward has own ones
    return own.isdisjoint(leaves) and bool(ids_of(thing))


def cut_off(health: Health) -> Iterator[Finding]:
    """Parameters that forward uses, that should learn, and whose graph a line ends."""
    left = {}
    for name, tensor in health.unreached.items():
        if id(tensor) in health.learning:  # the rest may be cut off on purpose
            left[name] = tensor
    for cut in health.of("cut"):
        names = [name for name, tensor in left.items() if id(tensor) in cut.ids]
        for name in names:
            del left[name]
        if names:
            yield finding("cut_off", [cut], names, **of_cut(cut))
    health.unexplained = list(left)


def unused(health: Health) -> Iterator[Finding]:
    """Parameters that the loss does not use at all, as far as the lines tell."""
    left = health.unexplained
    if not left:
        return
    # a checkpoint of the older kind, into which no graph leads
    hiding = [event for event in health.of("op") if is_reentrant(event)]
    if hiding or "CheckpointFunctionBackward" in (type(each).__name__ for each in health.nodes):
        yield finding("hidden", texts_of(hiding)[:2], left, loss=health.loss_name)
        return
    lines, unseen = [], ""
    if health.values.sources.isdisjoint(id(health.asked[name]) for name in left):
        unseen = f", and I see no line that uses {each(left, 'it', 'them')}"
    for name in left:
        owner = head(name.removeprefix(f"{health.model_name}."))
        lines += assigned(health.space, owner)[:1]
    yield finding("unused", texts_of(lines)[:2], left, loss=health.loss_name, unseen=unseen)


def is_reentrant(event: Event) -> bool:
    return event.word == "checkpoint" and "use_reentrant=True" in ast.unparse(event.stmt)


def not_held(health: Health) -> Iterator[Finding]:
    """Parameters that learn and that no optimizer in reach has; what this one has instead."""
    held = set(map(id, health.held))
    moved = held | set(map(id, health.held_by_others))
    missing = []
    for name, tensor in health.asked.items():
        is_cut_off = torch.is_tensor(health.loss) and name in health.unreached
        if id(tensor) not in moved and (id(tensor) in health.learning or not is_cut_off):
            missing.append(name)
    if not missing or not health.groups:
        return
    strange = held.difference(map(id, health.parameters.values()))
    instead = ""
    if strange:
        count = each(strange, "one tensor", f"{len(strange)} tensors")
        instead = f" It holds {count} that this model does not have. Was a layer replaced?"
    what = listed(missing)
    if len(missing) == len(health.parameters):
        what = "any parameter of this model"
    yield finding("not_held", made_and_later(health), missing, what=what, instead=instead)


def made_and_later(health: Health) -> list[str]:
    """Return the line that made the optimizer, and later ones that change parts or flags."""
    scope, model = health.spot.scope, health.model_name
    made = scope.made_at(health.name_of(health.optimizer), health.spot.nr)
    if made is None:
        return []
    body, lines = scope.body, [made]
    if not model:
        return texts_of(lines)
    for row in body[body.index(made) + 1 :]:
        is_part = isinstance(row.stmt, ast.Assign) and model in map(head, set_by(row.stmt))
        is_plain = isinstance(row.stmt, (ast.Assign, ast.Expr))
        if is_part or (is_plain and "requires_grad" in " ".join(names_in(row.stmt))):
            lines.append(row)
    return texts_of(lines)[:3]


def strange_flags(health: Health) -> Iterator[Finding]:
    """An attribute that looks like a flag and is none."""
    for path, module in health.modules:
        value = dict(attributes(module)).get("requires_grad")
        if type(value) is bool:
            name = health.name_of(module) or health.spelt(path)
            lines = assigned(health.space, "requires_grad")[:1]
            yield finding("flag", lines, name=name, value=value)


def raised(health: Health) -> Iterator[Finding]:
    """Going backward raises, mostly in a backward that the learner wrote."""
    if not health.raised:
        return
    own = sorted({type(each).__name__ for each in filter(is_custom, health.nodes)})
    whose = f", whose graph holds {listed(own)} with a backward of your own," if own else ""
    error = health.raised.rstrip(".")
    yield finding("raised", (), loss=health.loss_name, whose=whose, error=error)


def is_finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(tensor.detach()).all())


def not_finite(health: Health) -> Iterator[Finding]:
    """NaN or infinity in the loss or in gradients, and where it began."""
    loss, is_bad = health.loss_name, not is_finite(health.loss)
    bad, spoilt = not_finite_in(health.known_gradients), not_finite_in(health.parameters)
    if is_bad and spoilt:
        yield finding("spoilt", (), spoilt, loss=loss)
    elif is_bad or bad:
        fact = f"{code(loss)} itself is NaN or infinite."
        if not is_bad:
            fact = f"The gradient of {listed(bad)} is NaN or infinite, although {code(loss)} is a "
            fact += "number."
        begun = dangerous(health.nodes)
        if begun is None:
            yield finding("not_finite", (), fact=fact)
        else:
            yield nan_finding(health.of("op"), kind_of(begun), "", fact)


def not_finite_in(tensors: dict[str, torch.Tensor]) -> list[str]:
    return [name for name, tensor in tensors.items() if not is_finite(tensor)]


def zeros(health: Health) -> Iterator[Finding]:
    """Gradients that are 0 everywhere, or that an own Function did not give."""
    none = [name for name, grad in health.gradients.items() if grad is None]
    if none:
        own = sorted(set(map(kind_of, filter(is_custom, health.nodes))))
        whose = f"your Function {listed(own)}" if own else "a Function"
        yield finding("none_returned", (), none, whose=whose)
    left, told = list(health.stopped), ""
    for kind in (*FLAT, "Relu"):
        nodes = [node for node in health.nodes if kind_of(node) == kind and lets_none_through(node)]
        hidden = behind(health.walk, nodes) if nodes else ()
        names = [name for name in left if id(health.asked[name]) in hidden]
        if names:
            told = "zero_relu" if kind == "Relu" else "zero_flat"
            yield finding(told, health.ops(kind), names, operation=kind.lower())
            left = [name for name in left if name not in names]
    if left and not told:  # else what they are multiplied by may be 0 for the same reason
        yield finding("zero", (), left)


def lets_none_through(node: Any) -> bool:
    """Say whether an operation hands on nothing but 0: a flat one, a relu that gave only 0."""
    result = values_held(node).get("result") if kind_of(node) == "Relu" else None
    return kind_of(node) in FLAT or (torch.is_tensor(result) and is_zero(result))


def behind(walk: Walk, nodes: list[Any]) -> set[int]:
    """Return the ids of what every way from the loss reaches only through some nodes."""
    closed = {nr for nr, thing in enumerate(walk.met) if any(thing is node for node in nodes)}
    reached, waiting = set(closed), [begin[0] for _, begin in walk.roots if begin]
    following: dict[int, list[int]] = {}
    for edge in walk.edges:
        following.setdefault(edge.source, []).append(edge.target)
    while waiting:
        nr = waiting.pop()
        if nr is not None and nr not in reached:
            reached.add(nr)
            waiting += following.get(nr, ())
    return {id(thing) for nr, thing in enumerate(walk.met) if nr not in reached}


def large(health: Health) -> Iterator[Finding]:
    norms, sizes = {}, {}
    for name, grad in health.known_gradients.items():
        size = norm(health.parameters[name].detach())
        if is_finite(grad) and norm(grad) > HUGE * max(size, 1.0):
            norms[name], sizes[name] = norm(grad), size
    names = list(norms)
    if names:
        most = max(names, key=norms.get)
        lines = health.of("carry")[:1]
        whose = each(names, "Its", f"That of {code(most)} is the largest. Its")
        yield finding("explodes", lines, names, whose=whose, norm=norms[most], size=sizes[most])


def norm(tensor: torch.Tensor) -> float:
    return float(tensor.double().norm())


def made_shape(node: Any) -> tuple[int, ...] | None:
    """Return the shape of what a node made, or of a leaf."""
    if torch.is_tensor(node):
        return shape_of(node)
    return next(filter(None, map(shape_of, node._input_metadata)), ())


def broadcast(health: Health) -> Iterator[Finding]:
    """A column minus a row of data: every prediction is compared with every target."""
    for node in health.nodes:
        kind = kind_of(node)
        if kind not in OF_LOSS:
            continue
        sides = [side for side in leaves_of(node) if side is not None]
        if len(sides) != 1:  # both sides have a graph, so neither is a target
            continue
        side, outer = sides[0], made_shape(node)
        if kind_of(side) == "Expand":  # torch's losses broadcast first; l1_loss then subtracts
            kind = "L1Loss" if kind == "Sub" else kind
            side, outer = leaves_of(side)[0], made_shape(side)
        if is_square(made_shape(side), outer) and not is_stood_up(side):
            yield broadcast_finding(health, kind, made_shape(side))
            return


def is_stood_up(node: Any) -> bool:
    """Say whether a row became a column right here: then it is meant to be broadcast."""
    is_new = kind_of(node) in ("Unsqueeze", "View", "ReshapeAlias")
    return is_new and len(made_shape(leaves_of(node)[0]) or ()) == 1


def is_square(inner: Any, outer: Any) -> bool:
    """Say whether n values in a row or a column became n times n."""
    if inner is None or len(outer) != 2 or outer[0] != outer[1] or outer[0] < 2:
        return False
    return inner in ((outer[0], 1), (1, outer[0]), (outer[0],))


def broadcast_finding(health: Health, kind: str, inner: Any) -> Finding:
    events = [event for event in health.of("op") if event.word in OF_LOSS[kind] and event.ids]
    lines = texts_of(events)[:2]
    name = events[0].name if len(lines) == 1 else ""
    if kind != "Sub" and shape_of(health.known.get(name)) != inner:
        name = ""  # of a loss the first argument may be the target
    side = quoted(name, "The side that comes from the model")
    return finding("broadcast", lines, side=side, shape=inner, count=max(inner))


def mean_twice(health: Health) -> Iterator[Finding]:
    """A mean over the batch is divided by the batch's size once more."""
    divided = [event for event in health.of("op") if is_by_batch(health, event)]
    if not divided:
        return
    for node, mean in pairs_in(health.walk):
        if is_mean(mean) and kind_of(node) == "Div" and is_count(values_held(node).get("other")):
            yield finding("mean_twice", texts_of(divided)[:2])
            return


def is_count(divisor: Any) -> bool:
    """Say whether a divisor may be the size of a batch: a whole number above 1."""
    if not torch.is_tensor(divisor) or divisor.numel() != 1:
        return False
    return float(divisor) > 1 and float(divisor).is_integer()


def is_by_batch(health: Health, event: Event) -> bool:
    """Say whether a statement divides by the size of the batch, not by a number of batches."""
    if event.word != "Div":
        return False
    for node in nodes_in(event.stmt, ast.BinOp):
        if isinstance(node.op, ast.Div):
            below = ast.unparse(node.right)
            counted = re.fullmatch(r"len\((\w+)\)", below)
            if counted and torch.is_tensor(health.known.get(counted[1])):
                return True
            if re.search(r"\.shape\[0\]$|\.size\(0\)$|\bbatch_size$", below):
                return True
    return False


def stepped_copy(health: Health) -> Iterator[Finding]:
    """The optimizer holds a tensor, and the learner's name means a result computed from it."""
    hidden = set(map(id, health.held)).difference(health.names_by_id)
    if health.modules:
        return
    for name, tensor in health.names:
        node = read(tensor, "grad_fn")
        if node is None or "[" in name:
            continue
        if not hidden.isdisjoint(map(id, leaves_of(node))):
            lines = made_line(health.spot, name)
            lines += made_line(health.spot, health.name_of(health.optimizer))
            yield finding("stepped_copy", lines, name=name)


def normalized_twice(health: Health) -> Iterator[Finding]:
    """A loss that normalizes itself gets what was normalized before."""
    for node, earlier in pairs_in(health.walk):
        loss, word = TWICE.get((kind_of(node), kind_of(earlier)), ("", ""))
        if not word:
            continue
        words = (word, f"log_{word}")
        events = [event for event in health.of("op") if event.word.lower() in words]
        name, lines = quoted(first_name(events), "its input"), texts_of(events)[:2]
        yield finding("normalized_twice", lines, loss=loss, word=word, name=name)
        return


def target_with_graph(health: Health) -> Iterator[Finding]:
    for node in health.nodes:
        kind, children = kind_of(node), node.next_functions
        if kind not in ("MseLoss", "SmoothL1Loss", "HuberLoss", "L1Loss"):
            continue
        if len(children) > 1 and all(child is not None for child, _ in children[:2]):
            yield finding("target_with_graph", health.ops(kind))
            return


def modes(health: Health) -> Iterator[Finding]:
    names = []
    if isinstance(health.model, torch.nn.Module) and health.model.training:
        return  # a part of it was put into eval mode on purpose
    for path, module in health.modules:
        if is_other_in_eval(module):
            names.append(health.spelt(path) or type(module).__name__)
    if names:
        own = f"{health.model_name}.eval("
        lines = [line for line in calls_of(health.space, "eval") if own in line]
        yield finding("modes", lines[:1], names)  # the newest


def hooked(health: Health) -> Iterator[Finding]:
    """Hooks that change gradients, or that pile up."""
    with_hook = [name for name, tensor in health.parameters.items() if tensor._backward_hooks]
    if with_hook:
        yield finding("hooked", calls_of(health.space, "register_hook")[:2], with_hook)
    makers = "register_forward_hook", "register_full_backward_hook"
    for path, module in health.modules:
        inside = dict(attributes(module))
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            codes = [getattr(hook, "__code__", hook) for hook in inside.get(kind, {}).values()]
            most = max(map(codes.count, codes), default=0)
            if most > 1:
                name = health.spelt(path) or type(module).__name__
                lines = calls_of(health.space, *makers)[:2]
                yield finding("hooks_pile_up", lines, name=name, most=most)


OF_GRAPH = (cut_off, raised, not_finite, zeros, large, broadcast, mean_twice)
OF_GRAPH += (normalized_twice, target_with_graph, stepped_copy)
OF_STATE = (plain_attributes, not_held, strange_flags, unused, modes, hooked)


def summary(health: Health) -> list[str]:
    figures = []
    asked = len(health.asked)
    frozen = len(health.parameters) - asked
    if torch.is_tensor(health.loss) and health.parameters:
        own = asked - len(health.unreached)
        said = f"The loss reaches {own} of {asked} parameters that ask for a gradient"
        if frozen:
            said += f"; {frozen} are frozen"
        figures.append(f"{said}.")
    norms = list(map(norm, health.known_gradients.values()))
    if norms and all(map(math.isfinite, norms)):
        figures.append(f"The norms of their gradients: {min(norms):.3g} to {max(norms):.3g}.")
    return list(filter(None, [*figures, health.problem]))


def examined(model: Any, loss: Any, optimizer: Any, frame: FrameType) -> tuple[list, list[str]]:
    health = Health(model, loss, optimizer, frame)
    if torch.is_tensor(loss):
        _ = health.gradients  # computed with grad mode as it is
    with quietly():
        return findings(health), summary(health)
