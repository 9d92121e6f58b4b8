"""Hold the table of causes: for a message, how to find in the facts which tensor and which line of
the learner's it tells of. findings.toml has the words.

A cause that the facts do not show is not told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.data import counted
from autograd_graphs.diagnosing.catalogue import CUTS, FINDINGS, SAID
from autograd_graphs.diagnosing.dataflow import (
    Event,
    called,
    dotted,
    first_given,
    nodes_in,
    placed,
    set_by,
)
from autograd_graphs.diagnosing.detectors import (
    editors,
    lines_that_freed,
    memory_in,
    nodes_of,
    spoilt_by,
    walked,
)
from autograd_graphs.diagnosing.earlier_lines import Line, Past, calls_in
from autograd_graphs.diagnosing.errors import frames_of
from autograd_graphs.diagnosing.facts import (
    Facts,
    Finding,
    aside,
    assigned,
    calls_of,
    each,
    finding,
    head,
    in_sources,
    lines_with,
    made_line,
    names_in,
    quoted,
    texts_of,
)
from autograd_graphs.diagnosing.failed_backward import is_freed, is_held, leaves_of, walk_from
from autograd_graphs.diagnosing.message_clues import tuple_of
from autograd_graphs.diagnosing.nans import (
    before_it,
    dangerous,
    first_name,
    has_nan,
    kind_of,
    nan_finding,
)
from autograd_graphs.looking.torch_private import (
    device_name,
    dtype_name,
    is_custom,
    is_module,
    is_tensor,
    may_be_stale,
    of_node,
    read,
    shape,
    shows_flag_of_base,
)
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.looking.variable_names import parameters
from autograd_graphs.text import visible

Rule = Callable[[Facts, "re.Match[str]"], Finding | None]
RULES: list[tuple[re.Pattern[str], Rule]] = []
SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@"}
GIVEN = ("gradient", "grad_outputs", "grad_tensors")
WHOLE = re.compile("Long|Int|Short|Byte|Bool|Char")
_FLAG = re.compile(r"([\w.]+)\.requires_grad(?:_\(\)|_\(True\)| = True)")
_FUNCTION = re.compile(r"[Ff]unction (\w+)Backward")


def rule(pattern: str) -> Callable[[Rule], Rule]:
    """Enter a function under the messages that it knows."""

    def enter(function: Rule) -> Rule:
        RULES.append((re.compile(pattern), function))
        return function

    return enter


def found_in(facts: Facts) -> Finding | None:
    """Return the first finding that the message and the facts allow; none without a line."""
    if facts.spot is None:
        return None
    for pattern, function in RULES:
        match = pattern.search(facts.text)
        diagnosis = match and function(facts, match)
        if diagnosis:
            return diagnosis
    return None


# ---------------------------------------------------------------- graphs that were freed


@rule("Trying to backward through the graph a second time")
def freed(facts: Facts, _: Any) -> Finding | None:
    call, past = facts.call, facts.past
    if call is None or past is None:
        return None
    carried = carried_state(facts)
    if carried is not None:
        return finding("carried", [carried], name=carried.name)
    lines, is_sure = lines_that_freed(past, call.roots)
    led = lines if is_sure else []
    has_lost_all = any(map(is_freed, call.nodes)) and not any(map(is_held, call.nodes))
    roots = set(map(id, call.roots))
    names = {name for name, tensor in facts.names if id(tensor) in roots}
    for name, _ in gone_back(past, lines):
        if has_lost_all and name in names:
            return finding("twice", led, name=name)
    return above_the_loop(facts) or kept_in_model(facts) or shared(facts, lines, led)


def carried_state(facts: Facts) -> Event | None:
    """Return where a loop that the error came in hands a value with a graph to its next round."""
    around: set[ast.stmt] = set()
    for spot in facts.spots:
        around.update(spot.row.blocks)
    for event in facts.of("carry"):
        is_attribute = event.loops == (event.stmt,)
        if event.ids and (is_attribute or not around.isdisjoint(event.loops)):
            return event
    return None


def freed_before(facts: Facts) -> set[int]:
    """Return the ids of the nodes that were surely freed before the call."""
    if facts.unsure is None:
        return set()
    return set(map(id, filter(is_freed, facts.call.nodes))).difference(map(id, facts.unsure))


def gone_back(past: Past, lines: Sequence[Line]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors from which lines went backward and whose names still hold them."""
    for line in lines:
        for root, _ in walked(line.node):
            tensor = past.still(dotted(root), line)
            if is_tensor(tensor):
                yield dotted(root), tensor


def node_of(thing: Any) -> Any:
    """Return the node that made a tensor; None of anything else, or where it cannot be asked."""
    if not is_tensor(thing) or may_be_stale(thing):
        return None
    return read(thing, "grad_fn")


def results(facts: Facts) -> Iterator[tuple[str, torch.Tensor, Any]]:
    """Yield the names of results of operations, with the node that made each."""
    for name, tensor in facts.names:
        node = node_of(tensor)
        if node is not None:
            yield name, tensor, node


def ids_behind(tensors: Iterable[torch.Tensor]) -> set[int]:
    """Return the ids of the nodes and leaves in the graphs of tensors."""
    return set(map(id, walk_from(tensors).met))


def shared(facts: Facts, lines: Sequence[Line], led: Sequence[Line]) -> Finding | None:
    """Tell of two losses through one forward: the tensor that both went through."""
    first = ids_behind(dict(gone_back(facts.past, lines)).values())
    name = first_named(facts, first or freed_before(facts))
    if not name:
        return None
    if not first:
        lines = made_line(facts.spot, name)
    return finding("shared", led or lines, name=name)


def first_named(facts: Facts, nodes: set[int]) -> str:
    """Return the name of the first tensor behind the roots that one of some nodes made."""
    inner = nodes.difference(map(id, map(node_of, facts.call.roots)))
    names: dict[int, str] = {}
    for name, _, node in results(facts):
        if id(node) in inner:
            names.setdefault(id(node), name)
    return next((names[id(node)] for node in facts.call.nodes if id(node) in names), "")


def above_the_loop(facts: Facts) -> Finding | None:
    """Tell of a tensor that was computed once, above the loop, and freed by the first round."""
    before, spot = freed_before(facts), facts.spot
    if not spot.row.loops:
        return None
    roots = set(map(id, facts.call.roots))
    for name, tensor, _ in results(facts):
        made = spot.scope.made_at(name, spot.nr)
        if made is None or spot.row.loops[-1] in made.blocks or id(tensor) in roots:
            continue
        if not before.isdisjoint(ids_behind([tensor])):
            return finding("above_the_loop", [made, spot], name=name)
    return None


def kept_in_model(facts: Facts) -> Finding | None:
    """Tell of a result that `__init__` computed, and that every forward goes back through."""
    before, space = freed_before(facts), facts.spot.globals
    for name, tensor, _ in results(facts):
        if "." not in name or before.isdisjoint(ids_behind([tensor])):
            continue
        lines = assigned(space, name.rpartition(".")[2])
        if lines and lines_of_init(space).issuperset(lines):
            return finding("kept_in_model", [*lines, facts.spot], name=name)
    return None


def lines_of_init(space: dict[str, Any]) -> set[str]:
    lines = set()
    for function, place in in_sources(space, ast.FunctionDef):
        if function.name == "__init__":
            lines.update(map(str, placed(function.body, place)))
    return lines


# ---------------------------------------------------------------- edits in place


_MAKER = re.compile(r"which is output \d+ of (\w+?)(?:Backward\d*)?,")
# what torch calls a recorded edit, and the words that do it
EDITS = {
    "Add": {"Add", "Sub", "add_", "sub_"},
    "Sub": {"Sub", "sub_"},
    "Mul": {"Mult", "mul_", "Dropout", "dropout"},
    "Div": {"Div", "div_"},
    "Pow": {"Pow", "pow_"},
    "CopySlices": {"assign", "Add", "Sub", "Mult", "Div"},
    "IndexPut": {"assign", "index_put_"},
    "MaskedFill": {"masked_fill_", "assign"},
}


@rule("has been modified by an inplace operation")
def modified(facts: Facts, _: Any) -> Finding | None:
    if facts.call is None or facts.past is None:
        return None
    maker, (_, places) = _MAKER.search(facts.text), spoilt_by(facts.call.nodes)
    names = [name for name, tensor in facts.names if places & memory_in(tensor)]
    events = [event for event in facts.of("edit") if event.ids or event.name in names]
    if events and maker and maker[1] not in ("AsStrided", "T"):
        return edit_finding(facts, edits_of(facts, events, maker[1]), names)
    if steps := stepped(facts):
        return step_finding(facts, steps, listed(names) if names else "a tensor of this graph")
    return edit_finding(facts, events, names) if events else None


def step_finding(facts: Facts, lines: Sequence[Any], what: str) -> Finding:
    """Tell of a step that edited what a graph had saved: perhaps that of an earlier round."""
    carried = carried_state(facts)
    if carried is not None:
        return finding("carried_stepped", [carried, *lines], name=carried.name, what=what)
    return finding("stepped", lines, what=what)


def edits_of(facts: Facts, events: Sequence[Event], maker: str) -> Sequence[Event]:
    """Return the edits that made the saved tensor, or else those of the result of what made it."""
    names: set[str] = set()
    for operation in facts.of("op"):
        if is_same(operation, maker):
            names.update(set_by(operation.stmt))
    exact, of_result = [], []
    for event in events:
        if event.word in EDITS.get(maker, ()) or is_same(event, maker):
            exact.append(event)
        elif event.name in names:
            of_result.append(event)
    return exact or of_result or events


def is_same(event: Event, maker: str) -> bool:
    """Say whether an operation has the name of one of torch's."""
    return event.word.rstrip("_").lower() == maker.lower()


def edit_finding(facts: Facts, events: Sequence[Event], names: Sequence[str]) -> Finding:
    """Tell of edits in place, one or several that may have been it."""
    lines = texts_of(events)
    name = first_name(events) or "".join(names[:1])
    tensor = dict(facts.names).get(name)
    remedy = instead_of_edit(events[0].word, name or "y", events[0].stmt)
    if read_flag(tensor) and read(tensor, "is_leaf"):
        remedy = f"call every backward() that needs the old {name} before you update it"
        remedy += ", or compute the loss again after the update"
    return finding("edited", lines, lines, what=quoted(name, "A tensor"), remedy=remedy)


def instead_of_edit(word: str, name: str, stmt: ast.stmt) -> str:
    if isinstance(stmt, ast.AugAssign):
        sign, side = SIGNS.get(type(stmt.op).__name__, "+"), visible(ast.unparse(stmt.value), 30)
        old = f"{name} {sign}= {side}"
        if isinstance(stmt.value, (ast.BinOp, ast.IfExp)):
            side = f"({side})"
        return f"write {code(f'{name} = {name} {sign} {side}')}, and not {code(old)}"
    if is_class(word):
        return f"make the module without inplace=True: {word}()"
    if word == "assign":
        return FINDINGS["assigned"]["try"].format(name=name)
    if word.endswith("_"):
        return f"write {name} = {name}.{word.rstrip('_')}(...), without the _ at the end"
    return "leave inplace=True out"


def is_class(word: str) -> bool:
    return isinstance(getattr(torch.nn, word, None), type)


def stepped(facts: Facts) -> list[Line]:
    """Return the lines with an optimizer's step that may have edited what the graph saved."""
    steps = []
    for spot in facts.spots:
        lines, _ = editors(Past(spot.scope, spot.nr), facts.call.roots)
        if any("step" in str(line) for line in lines):
            steps += lines
    return steps


@rule("BackwardHookFunction is a view and is being modified inplace")
def view_of_hook(facts: Facts, _: Any) -> Finding | None:
    """A full backward hook makes of a module's output a view."""
    hooks = "register_full_backward_hook", "register_full_backward_pre_hook"
    lines = [facts.spot, *calls_of(facts.spot.globals, *hooks)]
    return finding("view_of_hook", lines, what=quoted(edited_here(facts), "This tensor"))


def edited_here(facts: Facts) -> str:
    stmt = facts.spot.stmt
    if isinstance(stmt, ast.AugAssign):
        return dotted(stmt.target)
    return first_name([event for event in facts.of("edit") if event.stmt is stmt])


@rule("a leaf Variable that requires grad is being used in an in-place operation")
def module_edits_leaf(facts: Facts, _: Any) -> Finding | None:
    """A module with inplace=True got a leaf, or a line writes into a part of one."""
    for event in facts.of("edit"):
        if event.stmt is facts.spot.stmt and is_class(event.word):
            what = quoted(event.name, "what it gets here")
            return finding("module_edits_leaf", [event], module=event.word, what=what)
        if event.stmt is facts.spot.stmt and event.word == "assign":
            return finding("leaf_assigned", [event], name=event.name)
    return None


# ---------------------------------------------------------------- gradients that are given, workers


@rule(
    r"grad_output\[(\d+)\] has a shape of .*?\(\[(.*?)\]\) and output\[\d+\] has .*?\(\[(.*?)\]\)"
)
def shape_of_gradient(facts: Facts, match: Any) -> Finding | None:
    name, given = started_from(facts.spot.stmt)
    given_shape, wanted = tuple_of(match[2]), tuple_of(match[3])
    words = {"given": aside(given), "given_shape": given_shape, "output": aside(name)}
    words |= {"number": match[1], "shape": wanted, "name": name or "y"}
    return finding("shape_of_gradient", [facts.spot], **words)


def started_from(stmt: ast.stmt) -> tuple[str, str]:
    """Return the names of the tensor that a call goes back from, and of the gradient it is given."""
    for call in nodes_in(stmt, ast.Call):
        word, place = called(call), 0
        if word not in ("backward", "grad"):
            continue
        root = getattr(call.func, "value", None)
        if dotted(call.func).startswith(("torch", "autograd")):
            root, place = next(iter(call.args), None), {"grad": 2}.get(word, 1)
        given = None
        if len(call.args) > place:
            given = call.args[place]
        for keyword in call.keywords:
            if keyword.arg in GIVEN:
                given = keyword.value
        return name_in(root), name_in(given)
    return "", ""


def name_in(expr: Any) -> str:
    """Return an expression that is a name, with dots or without; "" for any other."""
    return ast.unparse(expr) if isinstance(expr, (ast.Name, ast.Attribute)) else ""


@rule("Expected to have finished reduction")
def left_out(facts: Facts, _: Any) -> Finding | None:
    """Tell which parameters of a DistributedDataParallel the last loss did not reach."""
    asked = asked_of_workers(facts)
    for name, tensor, _ in results(facts):
        used = ids_behind([tensor])
        missing = [path for path, parameter in asked.items() if id(parameter) not in used]
        if shape(tensor) == () and 0 < len(missing) < len(asked):
            return finding("left_out", [facts.spot], missing, loss=name)
    return None


def asked_of_workers(facts: Facts) -> dict[str, torch.Tensor]:
    """Return the parameters of a DistributedDataParallel that ask for gradients, by their path."""
    for spot in facts.spots:
        for model in filter(is_module, spot.scope.space.values()):
            if type(model).__name__ == "DistributedDataParallel":
                asked = [pair for pair in parameters(model) if read_flag(pair[1])]
                return {path.removeprefix("module."): parameter for path, parameter in asked}
    return {}


# ---------------------------------------------------------------- graphs that were lost


@rule("does not require grad and does not have a grad_fn")
@rule(r"'(?:float|int|numpy\.\w+|ndarray|list|NoneType)' object has no attribute 'backward'")
@rule("can't retain_grad on Tensor that has requires_grad=False")
@rule("cannot register a hook on a tensor that doesn't require gradient")
def lost(facts: Facts, _: Any) -> Finding | None:
    if any(frame.f_code.co_name == "vmap_impl" for frame in frames_of(facts.traceback)):
        return finding("in_vmap", [facts.spot])
    cuts = facts.of("cut")
    if not cuts:
        explained = no_tensor(facts) or in_backward(facts) or frozen(facts)
        return explained or asked_late(facts) or never_asked(facts)
    if facts.past:
        cuts = facts.seen_cuts()
    if not cuts:
        return None
    start = facts.spot.called() or next(map(head, names_in(facts.spot.stmt)), "")
    if read_flag(facts.spot.scope.space.get(start)):  # the line made something else of it
        start = ""
    first, lines = cuts[0], texts_of(cuts)[:3]
    words = {"why": CUTS[first.word].why, "remedy": CUTS[first.word].remedy, "came": "The"}
    if first.name not in ("", start):
        words["came"] = f"It came from {code(first.name)}, and the"
    if ".numpy(" in str(first):
        words["remedy"] = CUTS["numpy"].remedy
    start = quoted(start, "What backward() was to start from")
    return finding("lost", lines, lines, start=start, **words)


def read_flag(thing: Any) -> bool:
    return is_tensor(thing) and bool(read(thing, "requires_grad"))


def in_backward(facts: Facts) -> Finding | None:
    """Tell of a line that ran while another backward did: in a hook, or in a custom Function."""
    names = [frame.f_code.co_name for frame in frames_of(facts.traceback)]
    is_inner = names.count("_engine_run_backward") > 1
    return finding("in_backward", [facts.spot]) if is_inner else None


def frozen(facts: Facts) -> Finding | None:
    """Tell that nothing asked for gradients: a model that is frozen, or grad mode off."""
    space = facts.spot.globals
    if not facts.records:
        return finding("grad_mode", calls_of(space, "set_grad_enabled")[:1])
    models = []
    for name, thing in facts.spot.scope.space.items():
        if is_module(thing):
            own = dict(parameters(thing)).values()
            if not own or any(map(read_flag, own)):
                return None
            models.append(name)
    if not models:
        return None
    return finding("frozen", lines_with(space, "requires_grad")[:2], models)


def no_tensor(facts: Facts) -> Finding | None:
    """Tell of a list, or of None, that was to go backward."""
    name, _ = started_from(facts.spot.stmt)
    thing = facts.spot.scope.space.get(name, 0)
    lines = [facts.spot, *made_line(facts.spot, name)]
    if thing is None:
        return finding("none_given", lines, name=name)
    if type(thing) in (list, tuple) and thing and all(map(is_tensor, thing)):
        return finding("several", lines, name=name, kind=type(thing).__name__, count=len(thing))
    return None


def asked_late(facts: Facts) -> Finding | None:
    """Tell of a leaf that was asked for its gradient after it was used."""
    before: list[Line] = []
    for line in facts.past.lines if facts.past else ():
        match = _FLAG.fullmatch(ast.unparse(line.node))
        leaf = facts.past.still(match[1], line) if match and line.is_sure else None
        if is_tensor(leaf) and read(leaf, "is_leaf"):
            using = used_before_asked(match[1], before)
            if using:
                return finding("asked_late", [line, using[-1]], name=match[1])
        before.append(line)
    return None


def used_before_asked(name: str, before: Sequence[Line]) -> list[Line]:
    """Return the assignments that use a name; none where a line before asks for its gradient."""
    using = []
    for line in before:
        if name not in names_in(line.node):
            continue
        if "requires_grad" in ast.unparse(line.node):
            return []
        if isinstance(line.node, ast.Assign) and name in names_in(line.node.value):
            using.append(line)
    return using


def never_asked(facts: Facts) -> Finding | None:
    """Tell that nothing on the way requires grad, where the lines lead to no tensor that does."""
    calls = list(map(called, calls_in(facts.spot.stmt)))
    is_here = facts.framed and ("backward" in calls or "grad" in calls)
    is_asked = facts.values.sources or any(read_flag(tensor) for _, tensor in facts.line_names)
    if not is_here or is_asked or not facts.values.is_sure:
        return None
    name = facts.spot.called()
    lines = made_line(facts.spot, name) or [facts.spot]
    return finding("never_asked", lines, what=quoted(name, "What backward() was to start from"))


# ---------------------------------------------------------------- empty gradients


@rule("'NoneType'")
def empty_gradient(facts: Facts, _: Any) -> Finding | None:
    known = dict(facts.names)
    for spot in facts.spots:
        for owner in owners_of_grad(facts.spot.stmt):
            tensor = spot.scope.space.get(owner)
            tensor = tensor if is_tensor(tensor) else known.get(owner)
            if is_tensor(tensor) and has_no_grad(tensor):
                return why_empty(facts, owner, tensor)
    return None


def owners_of_grad(stmt: ast.stmt) -> list[str]:
    """Return the names of which a statement reads `.grad`."""
    return [name.removesuffix(".grad") for name in names_in(stmt) if name.endswith(".grad")]


def has_no_grad(tensor: torch.Tensor) -> bool:
    """Say whether .grad is None, without asking a result for it: torch would warn."""
    if read(tensor, "is_leaf") or read(tensor, "retains_grad"):
        return read(tensor, "grad") is None
    return True


def why_empty(facts: Facts, owner: str, tensor: torch.Tensor) -> Finding:
    """Say why a tensor has no gradient, as far as it tells itself."""
    longer = [name for name, known in facts.names if known is tensor and name != owner]
    longer = sorted(longer, key=lambda name: (name.startswith("self."), -len(name)))
    words = {"name": owner, "also": f", which is {code(longer[0])}," if longer else ""}
    if not read(tensor, "requires_grad"):
        return finding("empty", [facts.spot], why=SAID["not_required"], **words)
    if not read(tensor, "is_leaf"):
        lines = [facts.spot, *made_line(facts.spot, owner)]
        return finding("empty_of_result", lines, **words)
    if functions := own_functions_at(facts, tensor):
        return finding("empty_by_function", [facts.spot], functions, **words)
    model = head((*longer, owner)[0])
    why = SAID["none_has"]
    for name, known in facts.names:
        if head(name) == model and read(known, "is_leaf") and read(known, "grad") is not None:
            why = SAID["others_have"]
    return finding("empty", [facts.spot], why=why, **words)


def own_functions_at(facts: Facts, tensor: torch.Tensor) -> list[str]:
    """Return the names of the learner's Functions that hand a leaf its gradient."""
    roots = [known for _, known in facts.names if read(known, "requires_grad")]
    nodes = [node for node in nodes_of(roots) if id(tensor) in map(id, leaves_of(node))]
    return list(dict.fromkeys(own_functions(nodes)))


def own_functions(nodes: Sequence[Any]) -> list[str]:
    return [type(node).__name__.removesuffix("Backward") for node in filter(is_custom, nodes)]


@rule("grad can be implicitly created only for scalar outputs")
def many_numbers(facts: Facts, _: Any) -> Finding | None:
    """backward() began at a tensor with several elements."""
    name, _ = started_from(facts.spot.stmt)
    tensor = facts.spot.scope.space.get(name)
    if not is_tensor(tensor) or shape(tensor) == ():
        return None
    lines = [facts.spot, *made_line(facts.spot, name)]
    return finding("many_numbers", lines, name=name, shape=shape(tensor))


@rule("appears to not have been used in the graph")
def not_used(facts: Facts, _: Any) -> Finding | None:
    """autograd.grad() was asked for a tensor that the output was not computed from."""
    if facts.call is None:
        return None
    met = set(map(id, facts.call.walk.met))
    left, lines = [], [facts.spot]
    for name, tensor in facts.line_names:
        if may_be_stale(tensor) or read(tensor, "_version"):
            return None  # the name may mean a newer result
        own = read(tensor, "grad_fn") or tensor
        if "." not in name and read_flag(tensor) and id(own) not in met:
            left.append(name)
            lines += made_line(facts.spot, name)
    if not left:
        return None
    start, _ = started_from(facts.spot.stmt)
    what = quoted(start, "The output")
    return finding("not_used", lines, left, what=what, start=start or "the output", first=left[0])


# ---------------------------------------------------------------- numbers of two types, two devices


@rule(r"target dtype to be Long|expected scalar type Long but found|not implemented for 'Float'")
def class_numbers(facts: Facts, _: Any) -> Finding | None:
    """The target of cross_entropy is to hold the numbers of classes."""
    for name, tensor in reversed(facts.line_names):
        is_data = name in names_in(facts.spot.stmt) and not read(tensor, "requires_grad")
        dtype = read(tensor, "dtype")
        if is_data and dtype.is_floating_point:
            lines = origin(facts, [name])
            return finding("class_numbers", lines, name=name, type=dtype_name(dtype))
    return None


@rule(r"same dtype|[Ee]xpected scalar type|Found dtype|expected .* dtype|should be the same$")
@rule(r"not implemented for '(?:Long|Half|Int)'|can't be cast|Input type")
def two_types(facts: Facts, _: Any) -> Finding | None:
    kinds = []
    for name, tensor in facts.line_names:
        dtype = read(tensor, "dtype")
        if dtype.is_floating_point or WHOLE.search(facts.text):
            kinds.append((name, f"of the type {dtype_name(dtype)}"))
    return odd_one(facts, "two_types", kinds)


@rule(r"same device|expected device|Expected all tensors|device type|meta tensor")
def two_devices(facts: Facts, _: Any) -> Finding | None:
    devices = [(name, device_name(read(tensor, "device"))) for name, tensor in facts.line_names]
    kinds = [(name, f"on the device {device}") for name, device in devices]
    return odd_one(facts, "two_devices", kinds)


def odd_one(facts: Facts, kind: str, kinds: list[tuple[str, str]]) -> Finding | None:
    """Tell which tensors of the failing lines are of another kind than the others."""
    groups: dict[str, list[str]] = {}
    for name, its_kind in kinds:
        if not name.endswith(".grad"):
            groups.setdefault(its_kind, []).append(name)
    if len(groups) < 2:
        return None
    texts = []
    for its_kind, names in groups.items():
        shortest = sorted(names, key=lambda name: name.count("."))
        texts.append(f"{listed(shortest)} {each(names, 'is', 'are')} {its_kind}")
    return finding(kind, origin(facts, min(groups.values(), key=len)), kinds="; ".join(texts))


def origin(facts: Facts, names: Sequence[str]) -> list[str]:
    """Return the failing line, and the lines that made the tensors of these names."""
    lines = [str(facts.spot)]
    for name in names[:3]:
        made = [line for spot in facts.spots for line in made_line(spot, name)]
        if not made and "." in name:
            made = assigned(facts.spot.globals, name.rpartition(".")[2])
        lines += made[:1]
    return lines[:3]


# ---------------------------------------------------------------- own Functions


@rule(r"returned an (?:invalid gradient|incorrect number of gradients)|expected Variable or None")
def own_function(facts: Facts, _: Any) -> Finding | None:
    names = set(_FUNCTION.findall(facts.text))
    if not names and facts.call:
        names = set(own_functions(facts.call.nodes))
    for node, place in in_sources(facts.spot.globals, ast.ClassDef):
        if node.name in names and len(names) == 1:
            return of_function(facts.text, node, place)
    return None


def of_function(text: str, node: ast.ClassDef, place: Any) -> Finding | None:
    """Tell what the backward of a Function returned, and on which lines."""
    methods = {stmt.name: stmt for stmt in node.body if isinstance(stmt, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None:
        return None
    inputs = [argument.arg for argument in forward.args.args]
    if inputs[:1] == ["ctx"] or "setup_context" not in methods:
        inputs = inputs[1:]
    lines = list(map(place.line, nodes_in(backward, ast.Return)[-2:]))
    if count := re.search(r"expected (\d+), got (\d+)", text):
        given, wanted = counted(int(count[2]), "gradient"), counted(int(count[1]), "input")
        words = {"given": given, "wanted": wanted, "inputs": ""}
        if inputs and len(inputs) == int(count[1]):  # not so where forward takes *args
            words["inputs"] = f" ({', '.join(inputs)})"
        return finding("count_returned", lines, name=node.name, **words)
    if wrong := re.search(r"expected Variable or None \(got (\w+)\)", text):
        return finding("kind_returned", lines, name=node.name, kind=wrong[1])
    index = re.search(r"at index (\d+)", text)
    which = "".join(inputs[int(index[1]) :][:1]) if index else ""
    words = {"which": quoted(which, "an input"), "shapes": wrong_shapes(text)}
    return finding("gradient_returned", lines, name=node.name, **words)


def wrong_shapes(text: str) -> str:
    """Say which shape a gradient had, and which it should have; "" where the message does not."""
    shapes = re.search(r"got \[([\d, ]*)\] but expected shape compatible with \[([\d, ]*)\]", text)
    if not shapes:
        return ""
    given, wanted = map(tuple_of, shapes.groups())
    sentence = f": its shape is {given}, and the input's shape is {wanted}"
    if shapes[1].split(", ") == shapes[2].split(", ")[::-1]:
        sentence += ". These are the same sizes in reverse, so perhaps it is transposed"
    return sentence


@rule("Only Tensors created explicitly by the user")
def deep_copy(facts: Facts, _: Any) -> Finding | None:
    names = [name for name, tensor in facts.line_names if read(tensor, "grad_fn") is not None]
    if not names:
        return None
    kept = names[0].rpartition(".")[2]
    owner = head(names[0]) if "." in names[0] else "model"
    lines = [facts.spot, *assigned(facts.spot.globals, kept)[:1]]
    return finding("deep_copy", lines, names, owner=owner, kept=kept)


@rule("Inference tensors cannot be saved|Inplace update to inference tensor|[Ii]nference tensor")
def inference(facts: Facts, _: Any) -> Finding | None:
    names = [name for name, tensor in facts.line_names if torch.is_inference(tensor)]
    if not names:
        return None
    return finding("inference", origin(facts, names), names, first=names[0])


@rule("view of a leaf Variable that requires grad|view was created in no_grad mode")
def view_of_leaf(facts: Facts, _: Any) -> Finding | None:
    for name, tensor in facts.line_names:
        if shows_flag_of_base(tensor):
            return finding("view_of_leaf", origin(facts, [name]), name=name)
    return None


@rule(r"Function '(\w+)' returned nan values")
def anomaly(facts: Facts, match: Any) -> Finding | None:
    if facts.call is None:
        return None
    same = [node for node in facts.call.nodes if type(node).__name__ == match[1]]
    begun = dangerous(facts.call.nodes) or before_it(facts.call.walk, match[1])
    if begun is None and len(same) == 1:
        begun = same[0]
    fact = "The loss is a number, its gradient NaN."
    if any(map(has_nan, facts.call.roots)):
        fact = "The forward gave NaN already."
    kind, line = re.sub(r"Backward\d*$", "", match[1]), ""
    if begun is not None:
        kind, line = kind_of(begun), recorded_line(begun)
    return nan_finding(facts.of("op"), kind, line, fact)


def recorded_line(node: Any) -> str:
    """Return the learner's line that anomaly mode has kept of a node's forward; "" without one."""
    line = ""
    for entry in of_node(node, "metadata").get("traceback_", ()):
        match = re.match(r'\s*File "(.*?)", line (\d+), in .*\n\s*(.*)', entry)
        if match and is_users(match[1]) and match[3]:
            line = f"line {match[2]}: {visible(match[3].strip(), 90)}"
    return line


# ---------------------------------------------------------------- messages that say all


PLAIN = {
    "No inf checks were recorded": "nothing_to_unscale",
    "Attempted unscale_ but _scale is None": "nothing_scaled",
    r"lr_scheduler\.step\(\)` before `optimizer\.step": "scheduler_first",
}
for message, kind in PLAIN.items():
    rule(message)(lambda facts, _, kind=kind: finding(kind, [facts.spot]))


@rule("The .grad attribute of a Tensor that is not a leaf")
def grad_of_result(facts: Facts, _: Any) -> Finding | None:
    owners = owners_of_grad(facts.spot.stmt)
    if not owners:
        return None
    lines = [facts.spot, *made_line(facts.spot, owners[0])]
    return finding("grad_of_result", lines, name=owners[0])


@rule(r"Using a target size \(torch.Size\(\[(.*?)\]\)\).* input size \(torch.Size\(\[(.*?)\]\)\)")
def sizes(facts: Facts, match: Any) -> Finding | None:
    by_size: dict[str, list[str]] = {}
    for call in nodes_in(facts.spot.stmt, ast.Call):
        for argument in call.args:
            name = getattr(argument, "id", "")
            by_size.setdefault(str(shape(facts.spot.scope.space.get(name))), []).append(name)
    words = {}
    for word, size in (("target", tuple_of(match[1])), ("prediction", tuple_of(match[2]))):
        words[word] = f"{word} has shape {size}"
        names = by_size.get(size, [])
        if len(names) == 1 and names[0] != word:
            words[word] = f"{word}{aside(names[0])} has shape {size}"
    return finding("sizes", [facts.spot], **words)


@rule("To copy construct from a tensor")
def copied(facts: Facts, _: Any) -> Finding | None:
    calls = nodes_in(facts.spot.stmt, ast.Call)
    name = next((first_given(call) for call in calls if called(call) == "tensor"), "")
    return finding("copied", [facts.spot], what=quoted(name, "a tensor"))
