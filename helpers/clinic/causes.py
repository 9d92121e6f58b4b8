"""Hold the table of causes: for a message, how to find in the facts which tensor and which line of
the learner's it tells of, and what to do.

A cause that the facts do not show is not told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograd_graphs.looking.saved_tensors import Memory, saved
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import (
    device_name,
    dtype_name,
    is_custom,
    is_module,
    is_tensor,
    leaf_of,
    may_be_stale,
    memory_of,
    of_node,
    read,
    shape,
    shows_flag_of_base,
    type_name,
)
from autograd_graphs.looking.variable_names import parameters
from autograd_graphs.text import visible
from helpers.answers import code, listed
from helpers.clinic.catalogue import CUTS
from helpers.clinic.detectors import (
    editors,
    freed_by_earlier_lines,
    freers,
    nodes_of,
    spoilt_by,
    walked,
)
from helpers.clinic.earlier_lines import Line, Past, heads
from helpers.clinic.errors import frames_of
from helpers.clinic.facts import (
    Facts,
    Finding,
    assigned,
    each,
    head,
    in_sources,
    made_at,
    made_line,
    names_in,
    quoted,
)
from helpers.clinic.failed_backward import failed_backward, is_freed, nameless, perhaps_freed_by
from helpers.clinic.message_clues import tuple_of
from helpers.clinic.nans import before_it, dangerous, has_nan, kind_of, nan_finding
from helpers.clinic.values import Event, called, dotted, first_given, flat, targets
from helpers.users_line import is_users

Rule = Callable[[Facts, "re.Match[str]"], Finding | None]
RULES: list[tuple[re.Pattern[str], Rule]] = []


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
        if match := pattern.search(facts.text):
            found = function(facts, match)
            if found is not None:
                return found
    return None


# ---------------------------------------------------------------- graphs that were freed


@rule("Trying to backward through the graph a second time")
def freed(facts: Facts, _: Any) -> Finding | None:
    call = failed_backward(frames_of(facts.traceback))
    if not facts.framed or call is None or facts.is_past:
        return None
    frame, spot = facts.framed[0]
    carried = carried_state(facts)
    if carried is not None:
        return Finding(
            f"{code(carried.name)} brings the graph of an earlier round along. This backward() "
            "went back into that round, and what its graph had saved was freed by then.",
            (str(carried),),
            f"hand {carried.name} on without its graph: {carried.name} = {carried.name}.detach() "
            "after the line above. If it is a tuple of tensors, as of nn.LSTM, write "
            f"{carried.name} = tuple(part.detach() for part in {carried.name})",
        )
    past = Past(frame, spot.stmt.lineno)
    lines, is_sure = freers(past, call.roots)
    led = tuple(map(str, lines)) if is_sure else ()
    again = next((name for name in gone_back(past, lines) if is_root(facts, call, name)), "")
    if again and is_wholly_freed(call):
        return Finding(
            f"You went back from {code(again)} before, and that freed what its graph had saved.",
            led,
            "run the forward lines again before each backward(). If you do want to go back twice "
            "over the same values, write retain_graph=True in the first call",
        )
    kept = above_the_loop(facts, call, past) or kept_in_model(facts, call, past)
    return kept or shared(facts, call, past, lines, led)


def carried_state(facts: Facts) -> Event | None:
    """Return where a loop that the error came in hands a value with a graph to its next round."""
    around = {id(block) for spot in facts.spots for block in spot.scope.body[spot.nr][1]}
    for event in facts.of("carry"):
        is_attribute = event.loops == (event.stmt,)
        if event.ids and (is_attribute or any(id(loop) in around for loop in event.loops)):
            return event
    return None


def freed_before(call: Any, past: Past) -> list[Any]:
    """Return the nodes of the roots' graphs that were surely freed before the call."""
    perhaps = perhaps_freed_by(call, freed_by_earlier_lines(past))
    if perhaps is None:
        return []
    own = {id(one) for one in perhaps}
    return [one for one in nodes_of(call.roots) if is_freed(one) and id(one) not in own]


def gone_back(past: Past, lines: Sequence[Line]) -> list[str]:
    """Return the names from which lines went backward, those that still hold the same tensor."""
    roots = [(dotted(root), line) for line in lines for root, _ in walked(line.node)]
    return [name for name, line in roots if is_tensor(past.still(name, line))]


def is_root(facts: Facts, call: Any, name: str) -> bool:
    return any(one is root for root in call.roots for known, one in facts.names if known == name)


def is_wholly_freed(call: Any) -> bool:
    """Say whether no node of the graph still holds what it saved before the call."""
    nodes = nodes_of(call.roots)
    saving = [one for one in nodes if saved(one, nameless, (), Memory(()))]
    return bool(saving) and all(map(is_freed, saving))


def shared(
    facts: Facts, call: Any, past: Past, lines: Sequence[Line], led: tuple[str, ...]
) -> Finding | None:
    """Tell of two losses through one forward: the tensor that both went through."""
    roots = [past.still(name, line) for line in lines for name in gone_back(past, [line])]
    first = {id(one) for one in Walk([one for one in roots if not may_be_stale(one)]).met}
    nodes = first or {id(one) for one in freed_before(call, past)}
    name = first_named(facts, call, nodes)
    if not name:
        return None
    here = tuple(map(str, lines if first else made_line(facts.spot, name)))
    return Finding(
        f"Two losses share {code(name)}. An earlier backward() went back through it and freed what "
        "its graph had saved, and now the second one needs that again.",
        led or here,
        f"if one of the losses should not train what made {name}, give that one {name}.detach(). If "
        f"both should, add the losses and go back once, or compute {name} again for the second. The last "
        "way out is retain_graph=True in the first backward(), and then no optimizer step before "
        "the second",
    )


def first_named(facts: Facts, call: Any, nodes: set[int]) -> str:
    """Return the name of the first tensor behind the roots that one of some nodes made."""
    names: dict[int, str] = {}
    for name, tensor in facts.names:
        if not may_be_stale(tensor) and (node := read(tensor, "grad_fn")) is not None:
            names.setdefault(id(node), name)
    roots = {id(read(one, "grad_fn")) for one in call.roots}
    found = [id(one) for one in Walk(call.roots).met if id(one) in nodes - roots]
    return next((names[one] for one in found if one in names), "")


def above_the_loop(facts: Facts, call: Any, past: Past) -> Finding | None:
    """Tell of a tensor that was computed once, above the loop, and that each round goes back
    through.
    """
    before = {id(one) for one in freed_before(call, past)}
    spot = facts.spot
    loops = [one for one in spot.scope.body[spot.nr][1] if isinstance(one, (ast.For, ast.While))]
    for name, tensor in facts.names if loops else ():
        made = made_at(spot, name)
        inside = [one[0] for one in spot.scope.body if loops[-1] in one[1]]
        if made is None or any(made[0] is one for one in inside) or may_be_stale(tensor):
            continue
        if read(tensor, "grad_fn") is None or any(tensor is one for one in call.roots):
            continue
        if before & {id(one) for one in Walk([tensor]).met}:
            return Finding(
                f"{code(name)} was computed once, above the loop. An earlier backward(), perhaps that of "
                "an earlier round, freed what its graph had saved. This round needs that again.",
                (made[1].line(made[0]), str(spot)),
                f"move the line that makes {name} into the loop, so that each round computes it "
                f"again. If it should stay fixed, write {name} = {name}.detach() above the loop",
            )
    return None


def kept_in_model(facts: Facts, call: Any, past: Past) -> Finding | None:
    """Tell of a result that `__init__` computed, and that every forward goes back through."""
    before = {id(one) for one in freed_before(call, past)}
    space = facts.spot.globals
    for name, tensor in facts.names if before else ():
        if "." not in name or may_be_stale(tensor) or read(tensor, "grad_fn") is None:
            continue
        lines = tuple(assigned(space, name.rpartition(".")[2]))
        if not lines or not before & {id(one) for one in Walk([tensor]).met}:
            continue
        if set(lines) <= lines_of_init(space):
            return Finding(
                f"{code(name)} was computed once, in __init__, and the model keeps it with its "
                "graph. An earlier backward() freed what that graph had saved, and this one needs "
                "that again.",
                (*lines, str(facts.spot)),
                "compute it in forward, so that each round makes a new graph. If it should stay "
                "fixed, keep it without its graph: add .detach()",
            )
    return None


def lines_of_init(space: dict[str, Any]) -> set[str]:
    functions = in_sources(space, ast.FunctionDef)
    inits = [(node, place) for node, place in functions if node.name == "__init__"]
    return {place.line(stmt) for node, place in inits for stmt, _ in flat(node.body)}


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

AFTER_STEP = (
    "run the model again after the step, and compute this loss from its new result. If you only "
    "move the step down, this loss adds to the gradients of the weights that the step updates"
)


@rule("has been modified by an inplace operation")
def modified(facts: Facts, _: Any) -> Finding | None:
    call = failed_backward(frames_of(facts.traceback))
    if not facts.framed or call is None or facts.is_past:
        return None
    maker = _MAKER.search(facts.text)
    names = edited_names(facts, call)
    steps = [one for one in stepped(facts, call) if one]
    events = [one for one in facts.of("edit") if one.ids]
    word = maker[1] if maker else ""
    if word not in ("", "AsStrided", "T"):
        events = edits_of(facts, events, word)
        if events:
            return edit_finding(facts, events, names)
    if steps:
        what = listed(names) if names else "a tensor of this graph"
        return Finding(
            f"Most likely the optimizer's step() changed {what} in place. This backward() still "
            "needed the numbers from before the step.",
            tuple(steps),
            AFTER_STEP,
        )
    return edit_finding(facts, events, names) if events else None


def edits_of(facts: Facts, events: Sequence[Event], maker: str) -> Sequence[Event]:
    """Return those edits that fit what made the saved tensor: the edit itself, or else the
    operation whose result it was.
    """
    exact = [one for one in events if fits_maker(one.word, maker)]
    made = [one.stmt for one in facts.of("op") if one.word.rstrip("_").lower() == maker.lower()]
    names = {target for stmt in made for target, _ in targets(stmt)}
    return exact or [one for one in events if one.name in names] or events


def edit_finding(facts: Facts, events: Sequence[Event], names: Sequence[str]) -> Finding:
    """Tell of edits in place, one or several that may have been it."""
    lines = tuple(dict.fromkeys(map(str, events)))
    name = next((one.name for one in events if one.name), "".join(names[:1]))
    tensor = dict(facts.names).get(name)
    if read_flag(tensor) and read(tensor, "is_leaf"):
        remedy = (
            f"call every backward() that needs the old {name} before you update it, or compute "
        )
        remedy += "the loss again after the update"
    else:
        remedy = instead_of_edit(events[0].word, name or "y", events[0].stmt)
    which = each(lines, "here", "on one of these lines")
    return Finding(
        f"{quoted(name, 'A tensor')} was edited in place {which}, after an operation had saved it "
        "for backward(). So backward() found another version than the one that was saved.",
        lines,
        remedy,
    )


def instead_of_edit(word: str, name: str, stmt: ast.stmt) -> str:
    if isinstance(stmt, ast.AugAssign):
        sign, side = SIGNS.get(type(stmt.op).__name__, "+"), visible(ast.unparse(stmt.value), 30)
        inner = f"({side})" if isinstance(stmt.value, (ast.BinOp, ast.IfExp)) else side
        new, old = f"{name} = {name} {sign} {inner}", f"{name} {sign}= {side}"
        return f"write {code(new)}, and not {code(old)}"
    if is_class(word):
        return f"make the module without inplace=True: {word}()"
    if word == "assign":
        return (
            f"make a new tensor and leave {name} as it is. In a loop, append each part to a list, "
            "read the part before from there, and put them together after the loop, with "
            "torch.stack(parts, dim=...). Elsewhere write torch.where(...) or "
            f"{name}.masked_fill(mask, value)"
        )
    if word.endswith("_"):
        return f"write {name} = {name}.{word.rstrip('_')}(...), without the _ at the end"
    return "leave inplace=True out"


SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@"}


def is_class(word: str) -> bool:
    return isinstance(getattr(torch.nn, word, None), type)


def fits_maker(word: str, maker: str) -> bool:
    return word in EDITS.get(maker, ()) or word.rstrip("_").lower() == maker.lower()


def edited_names(facts: Facts, call: Any) -> list[str]:
    """Return what the learner calls the tensors that were edited since the graph saved them."""
    _, places = spoilt_by(nodes_of(call.roots))
    found = [(name, memory_of(one)) for name, one in facts.names]
    return [name for name, memory in found if memory and memory[0] in places]


def stepped(facts: Facts, call: Any) -> list[str]:
    """Return the lines with an optimizer's step that may have edited what the graph saved."""
    found = []
    for frame, spot in facts.framed:
        lines, _ = editors(Past(frame, spot.stmt.lineno), call.roots)
        is_step = any("step" in one.text for one in lines)
        found += [str(one) for one in lines if is_step]
    return found


@rule("BackwardHookFunction is a view and is being modified inplace")
def view_of_hook(facts: Facts, _: Any) -> Finding | None:
    """A full backward hook makes of a module's output a view."""
    name = edited_here(facts)
    hooks = [
        place.line(ast.Expr(node, lineno=node.lineno))
        for node, place in in_sources(facts.spot.globals, ast.Call)
        if called(node).startswith("register_full_backward")
    ]
    what = quoted(name, "This tensor")
    return Finding(
        f"{what} went into a module with a full backward hook, or came out of it. Such a hook turns "
        "both into views, and nobody may edit these in place.",
        (str(facts.spot), *hooks[:2]),
        "make a new tensor there: out = out + x and not out += x, ReLU() and not "
        "ReLU(inplace=True). Or put the hook on the tensor, with register_hook()",
    )


def edited_here(facts: Facts) -> str:
    """Return the name of what the failing line edits in place."""
    spot = facts.spot
    named = [name for name, _ in targets(spot.stmt)] if isinstance(spot.stmt, ast.AugAssign) else []
    edits = [one.name for one in facts.of("edit") if one.stmt is spot.stmt and one.name]
    return next(iter([*named, *edits]), "")


@rule("a leaf Variable that requires grad is being used in an in-place operation")
def module_edits_leaf(facts: Facts, _: Any) -> Finding | None:
    """A module with inplace=True got a leaf."""
    events = [one for one in facts.of("edit") if one.stmt is facts.spot.stmt]
    for event in events:
        if is_class(event.word):
            what = quoted(event.name, "what it gets here")
            return Finding(
                f"A {event.word} with inplace=True edits {what}, and that is a leaf that requires "
                "grad. Torch records no edit of such a leaf.",
                (str(event),),
                f"make the module without inplace=True: {event.word}()",
            )
    return None


# ---------------------------------------------------------------- gradients that are given, workers


@rule(
    r"grad_output\[(\d+)\] has a shape of .*?\(\[(.*?)\]\) and output\[\d+\] has .*?\(\[(.*?)\]\)"
)
def shape_of_gradient(facts: Facts, match: Any) -> Finding | None:
    name, given = started_from(facts.spot.stmt)
    what = f"The gradient that you gave{', ' + code(given) + ',' if given else ''} has shape "
    what += f"{tuple_of(match[2])}, and output {match[1]}{', ' + code(name) + ',' if name else ''} "
    return Finding(
        f"{what}has shape {tuple_of(match[3])}. A gradient has the shape of its tensor.",
        (str(facts.spot),),
        f"give a tensor of that shape, such as torch.ones_like({name or 'y'})",
    )


def started_from(stmt: ast.stmt) -> tuple[str, str]:
    """Return the names of the tensor that a call goes back from, and of the gradient it is given."""
    calls = [one for one in ast.walk(stmt) if isinstance(one, ast.Call)]
    for call in calls:
        options = {one.arg: one.value for one in call.keywords}
        word, place = called(call), 0
        if word not in ("backward", "grad"):
            continue
        is_function = dotted(call.func).startswith(("torch", "autograd"))
        root = call.args[0] if is_function and call.args else call.func.value
        if is_function:
            place = 2 if word == "grad" else 1
        given = next((options[one] for one in GIVEN if one in options), None)
        if given is None and len(call.args) > place:
            given = call.args[place]
        names = [ast.unparse(one) if is_name(one) else "" for one in (root, given)]
        return names[0], names[1]
    return "", ""


GIVEN = ("gradient", "grad_outputs", "grad_tensors")


def is_name(expr: Any) -> bool:
    return isinstance(expr, (ast.Name, ast.Attribute))


@rule("Expected to have finished reduction")
def left_out(facts: Facts, _: Any) -> Finding | None:
    """Tell which parameters of a DistributedDataParallel the last loss did not reach."""
    models = [one for spot in facts.spots for one in spot.scope.space.values() if is_module(one)]
    wrapped = [one for one in models if type_name(one) == "DistributedDataParallel"]
    if not wrapped:
        return None
    own = dict(parameters(wrapped[0]))
    for name, tensor in facts.names:
        if may_be_stale(tensor) or read(tensor, "grad_fn") is None or shape(tensor) != ():
            continue
        used = {id(one) for one in Walk([tensor]).met if is_tensor(one)}
        asked = {path: one for path, one in own.items() if read(one, "requires_grad")}
        missing = [path.removeprefix("module.") for path in asked if id(asked[path]) not in used]
        if missing and len(missing) < len(asked):
            return Finding(
                f"{listed(missing)} {each(missing, 'is', 'are')} not reached by {code(name)}, so no gradient "
                "came for that part, and the workers wait for it.",
                (str(facts.spot),),
                "use that part in the loss, freeze it with requires_grad_(False), or give "
                "DistributedDataParallel find_unused_parameters=True",
            )
    return None


# ---------------------------------------------------------------- graphs that were lost


@rule("does not require grad and does not have a grad_fn")
@rule(r"'(?:float|int|numpy\.\w+|ndarray|list|NoneType)' object has no attribute 'backward'")
@rule("can't retain_grad on Tensor that has requires_grad=False")
@rule("cannot register a hook on a tensor that doesn't require gradient")
def lost(facts: Facts, _: Any) -> Finding | None:
    cuts = facts.of("cut")
    if not cuts:
        return no_tensor(facts) or in_backward(facts) or frozen(facts) or never_asked(facts)
    start = facts.spot.called() or next(iter(names_in(facts.spot.stmt)), "").partition(".")[0]
    if read_flag(facts.spot.scope.space.get(start)):  # the line made something else of it
        start = ""
    first = cuts[0]
    came = f"It came from {code(first.name)}, and the" if first.name not in ("", start) else "The"
    lines = tuple(dict.fromkeys(map(str, cuts)))[:3]
    where = each(lines, "here", "on these lines")
    return Finding(
        f"{quoted(start, 'What backward() was to start from')} has no graph. {came} "
        f"graph ended {where}: {CUTS[first.word].why}.",
        lines,
        CUTS["numpy" if ".numpy(" in str(first) else first.word].remedy,
    )


def read_flag(thing: Any) -> bool:
    return is_tensor(thing) and bool(read(thing, "requires_grad"))


def in_backward(facts: Facts) -> Finding | None:
    """Tell of a line that ran while another backward did: in a hook, or in a custom Function."""
    names = [frame.f_code.co_name for frame in frames_of(facts.traceback)]
    if names.count("_engine_run_backward") < 2:
        return None
    return Finding(
        "This ran in the middle of another backward(), in a hook or in a backward of your own. "
        "There nothing is recorded, unless that backward() was called with create_graph=True.",
        (str(facts.spot),),
        "compute it under torch.enable_grad(), and not through the tensor that has the hook: the "
        "hook would call itself without end",
    )


def frozen(facts: Facts) -> Finding | None:
    """Tell that nothing asked for gradients: a model that is frozen, or grad mode off."""
    if not facts.records:
        lines = [
            place.line(ast.Expr(node, lineno=node.lineno))
            for node, place in in_sources(facts.spot.globals, ast.Call)
            if dotted(node.func).endswith("set_grad_enabled")
        ]
        return Finding(
            "Grad mode is off in this session, so torch records no graph.",
            tuple(lines[:1]),
            "call torch.set_grad_enabled(True)",
        )
    space = facts.spot.scope.space
    models = {name: one for name, one in space.items() if is_module(one) and one.parameters}
    still = [
        name
        for name, one in models.items()
        if (flags := [p.requires_grad for p in one.parameters()]) and not any(flags)
    ]
    if not still or len(still) < len(models):
        return None
    lines = [
        place.line(stmt)
        for stmt, place in in_sources(facts.spot.globals, (ast.Assign, ast.Expr))
        if any("requires_grad" in name for name in names_in(stmt))
    ]
    return Finding(
        f"All parameters of {listed(still)} are frozen (requires_grad=False), so nothing here asks "
        "for a gradient, and there is no graph.",
        tuple(lines[:2]),
        "set requires_grad_(True) on what should learn, or give the model a new layer that does",
    )


def no_tensor(facts: Facts) -> Finding | None:
    """Tell of a list, or of None, that was to go backward."""
    name, _ = started_from(facts.spot.stmt)
    thing = facts.spot.scope.space.get(name, 0)
    lines = (str(facts.spot), *made_line(facts.spot, name))
    if thing is None:
        return Finding(
            f"{code(name)} is None, so there is nothing to go back from. A function that has no "
            "return gives None.",
            lines,
            "return the loss from the function that computes it",
        )
    if type(thing) in (list, tuple) and thing and all(map(is_tensor, thing)):
        return Finding(
            f"{code(name)} is a {type(thing).__name__} of {len(thing)} tensors, and only one tensor "
            "can go backward.",
            lines,
            f"go back from sum({name}), or from torch.stack({name}).mean()",
        )
    return None


def never_asked(facts: Facts) -> Finding | None:
    """Tell that nothing on the way requires grad, where the lines lead to no tensor that does."""
    calls = [called(one) for one in heads(facts.spot.stmt) if isinstance(one, ast.Call)]
    is_here = facts.framed and ("backward" in calls or "grad" in calls)
    is_asked = facts.values.came or any(read_flag(one) for _, one in facts.line_names)
    if not is_here or is_asked or not facts.values.is_sure:
        return None
    name = facts.spot.called()
    return Finding(
        f"{quoted(name, 'What backward() was to start from')} has no graph: I see nothing that it "
        "was computed from that requires grad.",
        tuple(made_line(facts.spot, name)) or (str(facts.spot),),
        "ask for a gradient where you make the tensor that should learn: requires_grad=True, or "
        "nn.Parameter in a module",
    )


# ---------------------------------------------------------------- empty gradients


@rule(r"'NoneType' object (?:has no attribute|is not subscriptable)|'NoneType'")
def empty_gradient(facts: Facts, _: Any) -> Finding | None:
    spot = facts.spot
    if "grad" not in ast.unparse(spot.stmt):
        return None
    owners = [name[: -len(".grad")] for name in names_in(spot.stmt) if name.endswith(".grad")]
    for spot in facts.spots:
        for owner in owners:
            tensor = spot.scope.space.get(owner)
            if not is_tensor(tensor):
                tensor = dict(facts.names).get(owner)
            if is_tensor(tensor) and has_no_grad(tensor):
                return Finding(*why_empty(facts, owner, tensor))
    return None


def has_no_grad(tensor: torch.Tensor) -> bool:
    """Say whether .grad is None, without asking a result for it: torch would warn."""
    if read(tensor, "is_leaf") or read(tensor, "retains_grad"):
        return read(tensor, "grad") is None
    return True


def why_empty(facts: Facts, owner: str, tensor: torch.Tensor) -> tuple[str, tuple[str, ...], str]:
    """Say why a tensor has no gradient, as far as it tells itself."""
    longer = [name for name, one in facts.names if one is tensor and name != owner]
    longer = sorted(longer, key=lambda name: (name.startswith("self."), -len(name)))
    also = f", which is {code(longer[0])}," if longer else ""
    line = (str(facts.spot),)
    if not read(tensor, "requires_grad"):
        why = "it does not require grad, so backward() leaves it alone"
    elif not read(tensor, "is_leaf"):
        return (
            f"{code(owner)}{also} has no gradient (.grad is None): it is not a leaf but the result of "
            "an operation, and backward() keeps gradients of leaves alone.",
            (*line, *made_line(facts.spot, owner)),
            f"to update a weight, keep the same tensor: with torch.no_grad(): {owner} -= ... Else call "
            f"{owner}.retain_grad() before backward()",
        )
    elif functions := own_functions_at(facts, tensor):
        return (
            f"{code(owner)}{also} has no gradient (.grad is None): either no backward() ran since the "
            f"last zero_grad(), or that of your Function {listed(functions)} returned None for it.",
            line,
            "see what the Function returns: a gradient for each input that should learn, in the "
            "order of forward",
        )
    else:
        why = "nothing has brought it one since the last zero_grad(). "
        model = head((*longer, owner)[0])
        parts = [one for name, one in facts.names if head(name) == model and read(one, "is_leaf")]
        if any(read(one, "grad") is not None for one in parts):
            why += "Other parts of the model have one, so most likely this one is not used in "
            why += "forward"
        else:
            why += "Either the loss does not use it, or backward() has not run yet"
    return (
        f"{code(owner)}{also} has no gradient (.grad is None): {why}.",
        line,
        "skip it where p.grad is None. If it should learn, use it in forward, or call backward() "
        "first",
    )


def own_functions_at(facts: Facts, tensor: torch.Tensor) -> list[str]:
    """Return the names of the learner's Functions that hand a leaf its gradient."""
    roots = [one for _, one in facts.names if read(one, "requires_grad") and not may_be_stale(one)]
    found = []
    for node in Walk(roots).met:
        if not is_tensor(node) and is_custom(node):
            children = [leaf_of(one) for one, _ in of_node(node, "next_functions")]
            if any(one is tensor for one in children):
                found.append(type_name(node).removesuffix("Backward"))
    return list(dict.fromkeys(found))


@rule("No inf checks were recorded|Attempted unscale_ but _scale is None")
def nothing_to_unscale(facts: Facts, _: Any) -> Finding | None:
    """A gradient scaler found no gradient."""
    told = "The scaler found no gradient to unscale: no weight of this optimizer has one."
    if "_scale is None" in facts.text:
        told = "The scaler was asked to unscale gradients, and it has not scaled a loss yet."
    return Finding(
        told,
        (str(facts.spot),),
        "call scaler.scale(loss).backward() before this line. If it ran, see whether the loss "
        "reaches these weights: diagnose(model, loss, optimizer)",
    )


@rule("grad can be implicitly created only for scalar outputs")
def many_numbers(facts: Facts, _: Any) -> Finding | None:
    """backward() began at a tensor with several elements."""
    name, _ = started_from(facts.spot.stmt)
    tensor = facts.spot.scope.space.get(name)
    if not is_tensor(tensor) or shape(tensor) == ():
        return None
    return Finding(
        f"{code(name)} has shape {shape(tensor)}. A gradient belongs to one number, and you did "
        "not say how much each of these elements counts.",
        (str(facts.spot), *made_line(facts.spot, name)),
        f"go back from {name}.mean() or {name}.sum(). To weigh the elements yourself, give a "
        f"gradient: torch.ones_like({name}) weighs all of them alike",
    )


@rule("appears to not have been used in the graph")
def not_used(facts: Facts, _: Any) -> Finding | None:
    """autograd.grad() was asked for a tensor that the output was not computed from."""
    call = failed_backward(frames_of(facts.traceback))
    edited = [one for _, one in facts.line_names if may_be_stale(one) or read(one, "_version")]
    if call is None or edited:  # then the name may mean a newer result
        return None
    met = {id(one) for one in Walk(call.roots).met}
    met |= {id(read(one, "grad_fn")) for one in call.roots}
    asked = [pair for pair in facts.line_names if "." not in pair[0] and read_flag(pair[1])]
    left = [name for name, one in asked if id(one) not in met and id(node_or_leaf(one)) not in met]
    if not left:
        return None
    start, _ = started_from(facts.spot.stmt)
    return Finding(
        f"{quoted(start, 'The output')} was not computed from {listed(left)}: nothing in its graph "
        "leads there.",
        (str(facts.spot), *[line for name in left for line in made_line(facts.spot, name)]),
        f"compute {start or 'the output'} from {left[0]} itself, not from what {left[0]} was cut "
        "out of. Where it need not depend on it, write allow_unused=True and get None",
    )


def node_or_leaf(tensor: torch.Tensor) -> Any:
    return tensor if read(tensor, "is_leaf") else read(tensor, "grad_fn")


# ---------------------------------------------------------------- numbers of two types, two devices


@rule(r"target dtype to be Long|expected scalar type Long but found|not implemented for 'Float'")
def class_numbers(facts: Facts, _: Any) -> Finding | None:
    """The target of cross_entropy is to hold the numbers of classes."""
    for name, tensor in reversed(facts.line_names):
        is_data = name in names_in(facts.spot.stmt) and not read(tensor, "requires_grad")
        if is_data and read(tensor, "dtype").is_floating_point:
            return Finding(
                f"{code(name)} holds {dtype_name(read(tensor, 'dtype'))} numbers. This loss wants "
                "the number of a class for each row, and those are whole numbers (int64).",
                origin(facts, [name]),
                f"give it {name}.long()",
            )
    return None


@rule(r"same dtype|[Ee]xpected scalar type|Found dtype|expected .* dtype|should be the same$")
@rule(r"not implemented for '(?:Long|Half|Int)'|can't be cast|Input type")
def two_types(facts: Facts, _: Any) -> Finding | None:
    return odd_one(facts, lambda one: dtype_name(read(one, "dtype")), "of the type", TYPES)


WHOLE = re.compile("Long|Int|Short|Byte|Bool|Char")
TYPES = (
    "Python and torch make whole numbers int64 (long), NumPy makes float64, torch makes float32: "
    "convert the data where you make it, for example with x.float() or dtype=torch.float32"
)
DEVICES = (
    "send the one that was left behind to the same device, with .to(device). A tensor that belongs "
    "to a model moves along with model.to(device) only as a parameter or a buffer: "
    "register_buffer(...)"
)


@rule(r"same device|expected device|Expected all tensors|device type|meta tensor")
def two_devices(facts: Facts, _: Any) -> Finding | None:
    return odd_one(facts, lambda one: device_name(read(one, "device")), "on the device", DEVICES)


def odd_one(facts: Facts, kind_of: Any, words: str, remedy: str) -> Finding | None:
    """Tell which tensors of the failing lines are of another kind than the others."""
    kinds: dict[str, list[str]] = {}
    seen: set[int] = set()
    for name, tensor in facts.line_names:
        if id(tensor) in seen or name.endswith(".grad"):
            continue
        seen.add(id(tensor))
        kind = kind_of(tensor)
        if (
            words.startswith("on")
            or WHOLE.search(facts.text)
            or read(tensor, "dtype").is_floating_point
        ):
            kinds.setdefault(kind, []).append(name)
    if len(kinds) < 2:
        return None
    told = [
        f"{listed(shortest(names))} {each(names, 'is', 'are')} {words} {kind}"
        for kind, names in kinds.items()
    ]
    odd = min(kinds.values(), key=len)
    return Finding("; ".join(told) + ".", origin(facts, odd), remedy)


def shortest(names: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.count("."), names.index(name)))


def origin(facts: Facts, names: Sequence[str]) -> tuple[str, ...]:
    """Return the failing line, and the lines that made the tensors of these names."""
    lines = [str(facts.spot)]
    for name in names[:3]:
        for spot in facts.spots:
            if made := made_line(spot, name):
                lines += made
                break
        else:
            if "." in name:
                lines += list(assigned(facts.spot.globals, name.rpartition(".")[2]))[:1]
    return tuple(dict.fromkeys(lines))[:3]


# ---------------------------------------------------------------- own Functions


_FUNCTION = re.compile(r"[Ff]unction (\w+?)Backward|function (\w+)Backward")


@rule(r"returned an (?:invalid gradient|incorrect number of gradients)|expected Variable or None")
def own_function(facts: Facts, _: Any) -> Finding | None:
    match, call = _FUNCTION.search(facts.text), failed_backward(frames_of(facts.traceback))
    if match is None and call is None:
        return None
    names = {match[1] or match[2]} if match else own_names(call)
    for node, place in in_sources(facts.spot.globals, ast.ClassDef):
        if node.name in names and len(names) == 1:
            return of_function(facts, node.name, node, place)
    return None


def own_names(call: Any) -> set[str]:
    """Return the names of the learner's Functions in the graph that a call went back through."""
    nodes = nodes_of(call.roots)
    return {type_name(one).removesuffix("Backward") for one in nodes if is_custom(one)}


def plural(word: str, count: str) -> str:
    return word if count == "1" else f"{word}s"


def of_function(facts: Facts, name: str, node: ast.ClassDef, place: Any) -> Finding | None:
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None:
        return None
    inputs = [one.arg for one in forward.args.args]
    inputs = inputs[1:] if inputs[:1] == ["ctx"] or "setup_context" not in methods else inputs
    returns = [one for one in ast.walk(backward) if isinstance(one, ast.Return)]
    lines = tuple(place.line(one) for one in returns[-2:])
    if count := re.search(r"expected (\d+), got (\d+)", facts.text):
        is_whole = len(inputs) == int(count[1])  # not so where forward takes *args
        names = f" ({', '.join(inputs)})" if inputs and is_whole else ""
        return Finding(
            f"The backward of your Function {code(name)} returned {count[2]} "
            f"{plural('gradient', count[2])}, and its forward takes {count[1]} "
            f"{plural('input', count[1])}{names}. It must return one for each input.",
            lines,
            "return one gradient per input, in the order of forward, with commas between them (a "
            "list counts as one), and None for an input that needs none, such as a number",
        )
    if wrong := re.search(r"expected Variable or None \(got (\w+)\)", facts.text):
        return Finding(
            f"The backward of your Function {code(name)} returned a {wrong[1]}. It must return a "
            "tensor for each input, or None.",
            lines,
            "return tensors, with commas between several, and compute with torch alone in backward",
        )
    index = re.search(r"at index (\d+)", facts.text)
    which = inputs[int(index[1])] if index and int(index[1]) < len(inputs) else ""
    shapes = re.search(
        r"got (\[[\d, ]*\]) but expected shape compatible with (\[[\d, ]*\])", facts.text
    )
    told = f"The backward of your Function {code(name)} returned a gradient for "
    told += f"{quoted(which, 'an input')} that does not fit"
    if shapes:
        given, wanted = (tuple_of(one.strip("[]")) for one in shapes.groups())
        told += f": its shape is {given}, and the input's shape is {wanted}"
        sizes = [re.findall(r"\d+", one) for one in shapes.groups()]
        if sizes[0] == sizes[1][::-1]:
            told += ". These are the same sizes in reverse, so perhaps it is transposed"
    return Finding(
        told + ".",
        lines,
        "return for each input a gradient of its own shape, dtype and device. Where forward "
        "broadcast an input, sum over the dimensions that it was broadcast along",
    )


# ---------------------------------------------------------------- copies, views, inference tensors


@rule("Only Tensors created explicitly by the user")
def deep_copy(facts: Facts, _: Any) -> Finding | None:
    results = [pair for pair in facts.line_names if read(pair[1], "grad_fn") is not None]
    if not results:
        return None
    names = [name for name, _ in results]
    kept = names[0].rpartition(".")[2]
    owner = re.split(r"[.\[]", names[0])[0] if "." in names[0] else "model"
    have, they = each(names, ("was", "it has"), ("were", "they have"))
    lines = [str(facts.spot), *list(assigned(facts.spot.globals, kept))[:1]]
    return Finding(
        f"{listed(names)} {have} made by an operation, so {they} a graph. deepcopy() copies only "
        "leaves.",
        tuple(lines),
        f"copy the numbers alone, with copy.deepcopy({owner}.state_dict()), and load them into a "
        f"second model. Or store only {kept}.detach(), and let the forward compute with the tensor "
        "itself, under a name of its own",
    )


@rule("Inference tensors cannot be saved|Inplace update to inference tensor|[Ii]nference tensor")
def inference(facts: Facts, _: Any) -> Finding | None:
    found = [name for name, one in facts.line_names if torch.is_inference(one)]
    if not found:
        return None
    return Finding(
        f"{listed(found)} {each(found, 'was', 'were')} made under inference_mode(). Such a tensor "
        "takes no part in a graph, and outside the block nobody may edit it.",
        origin(facts, found),
        f"make it under no_grad(), or take a copy outside the block: {found[0]}.clone()",
    )


@rule("view of a leaf Variable that requires grad|view was created in no_grad mode")
def view_of_leaf(facts: Facts, _: Any) -> Finding | None:
    for name, tensor in facts.line_names:
        if shows_flag_of_base(tensor):
            return Finding(
                f"{code(name)} is a view that was made under no_grad(). It shows the same numbers "
                "as a leaf that requires grad, and an edit of it here would change the leaf.",
                origin(facts, [name]),
                "do the edit under no_grad(), too, if it should change the leaf. Else take "
                f"{name}.clone() first",
            )
    return None


# ---------------------------------------------------------------- NaN


@rule(r"Function '(\w+)' returned nan values")
def anomaly(facts: Facts, match: Any) -> Finding | None:
    call = failed_backward(frames_of(facts.traceback))
    if call is None:
        return None
    walk = Walk(call.roots)
    nodes = nodes_of(call.roots)
    same = [one for one in nodes if type_name(one) == match[1]]
    begun = dangerous(nodes) or before_it(walk, match[1]) or (same[0] if len(same) == 1 else None)
    is_forward = any(map(has_nan, call.roots))
    told = (
        "The forward gave NaN already." if is_forward else "The loss is a number, its gradient NaN."
    )
    kind = kind_of(begun) if begun is not None else re.sub(r"Backward\d*$", "", match[1])
    return nan_finding(facts.of("op"), kind, recorded_line(begun) if begun else "", told)


def recorded_line(node: Any) -> str:
    """Return the learner's line that anomaly mode has kept of a node's forward; "" without one."""
    found = ""
    for entry in of_node(node, "metadata").get("traceback_", ()):
        match = re.match(r'\s*File "(.*?)", line (\d+), in .*\n\s*(.*)', entry)
        if match and is_users(match[1]) and match[3]:
            found = f"line {match[2]}: {visible(match[3].strip(), 90)}"
    return found


# ---------------------------------------------------------------- warnings


@rule("The .grad attribute of a Tensor that is not a leaf")
def grad_of_result(facts: Facts, _: Any) -> Finding | None:
    spot = facts.spot
    owners = [name[: -len(".grad")] for name in names_in(spot.stmt) if name.endswith(".grad")]
    for owner in owners:
        lines = [str(spot), *made_line(spot, owner)]
        return Finding(
            f"{code(owner)} is not a leaf: an operation made it. backward() keeps the gradients of "
            f"leaves alone, so {code(owner + '.grad')} is None.",
            tuple(lines),
            f"call {owner}.retain_grad() before backward(), or ask the tensor that it was made from",
        )
    return None


@rule(r"lr_scheduler\.step\(\)` before `optimizer\.step")
def scheduler_first(facts: Facts, _: Any) -> Finding | None:
    return Finding(
        "The scheduler stepped before the optimizer did, so the first learning rate of its plan was "
        "never used.",
        (str(facts.spot),),
        "call optimizer.step() first, and scheduler.step() after it",
    )


@rule(r"Using a target size \(torch.Size\(\[(.*?)\]\)\).* input size \(torch.Size\(\[(.*?)\]\)\)")
def sizes(facts: Facts, match: Any) -> Finding | None:
    sides = []
    for word, size in (("target", match[1]), ("prediction", match[2])):
        plain = [name for name in given_names(facts.spot.stmt) if "." not in name]
        same = [name for name in plain if size_of(facts, name) == tuple_of(size)]
        is_told = len(same) == 1 and same[0] != word
        name = f"the {word}{', ' + code(same[0]) + ',' if is_told else ''}"
        sides.append(f"{name} has shape {tuple_of(size)}")
    return Finding(
        f"{sides[0][0].upper()}{sides[0][1:]}, and {sides[1]}. The loss broadcasts the two, so "
        "predictions may be compared with targets that are not theirs.",
        (str(facts.spot),),
        "give both the same shape: pred.squeeze(1), or target.unsqueeze(1)",
    )


def given_names(stmt: ast.stmt) -> list[str]:
    """Return the names that stand alone as an argument of a call."""
    given = [arg for one in ast.walk(stmt) if isinstance(one, ast.Call) for arg in one.args]
    return [ast.unparse(one) for one in given if is_name(one)]


def size_of(facts: Facts, name: str) -> str:
    return str(shape(facts.spot.scope.space.get(name)))


@rule("To copy construct from a tensor")
def copied(facts: Facts, _: Any) -> Finding | None:
    calls = [one for one in ast.walk(facts.spot.stmt) if isinstance(one, ast.Call)]
    name = next((first_given(one) for one in calls if called(one) == "tensor"), "")
    return Finding(
        f"torch.tensor() copied the values of {quoted(name, 'a tensor')}. The copy has no "
        "graph, so no gradient goes back through it.",
        (str(facts.spot),),
        "use the tensor itself, or torch.stack(...) for several. Where you do want a copy without "
        "the graph, write x.detach().clone()",
    )
