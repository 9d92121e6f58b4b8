"""Follow a value through a learner's source, back from the loss: which parameters it comes from,
where that is lost, what edits it, and which operations it passes.

Source is read and never run. Names are looked up in what the program holds now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import torch

from autograd_graphs.diagnosing.catalogue import CUTS
from autograd_graphs.diagnosing.sources import Place, place_of_function
from autograd_graphs.looking.statements import SCOPES, bodies
from autograd_graphs.looking.torch_private import is_module, is_tensor, read
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.looking.variable_names import parameters
from autograd_graphs.text import visible

DEEPEST = 24  # calls within calls
MOST_EVENTS = 300
MOST_LOOPED = 30  # modules of one loop
MOST_ENTRIES = 100  # of one list or dict
MODES = {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"}
NO_EDITS = {"requires_grad_", "retain_grad_", "detach_", "share_memory_", "rename_"}
Ids = frozenset[int]  # of the tensors that ask for gradients and that a value comes from
BUILTINS = {"float": "float()", "int": "int()"}
ABOUT = {"shape", "size", "dtype", "device", "ndim", "dim", "numel", "len", "grad", "range"}
ABOUT |= {"zeros_like", "ones_like", "rand_like", "randn_like", "isnan", "isfinite", "print"}


@dataclass(frozen=True)
class Event:
    """Hold something that a value goes through: a "cut", an "edit", an "op" or a "carry".

    `word` is the name of the operation, `name` what the learner calls the tensor there, `ids` are
    of the parameters that it came from, `loops` those from round to round of which it is carried.
    """

    kind: str
    word: str
    place: Place
    stmt: ast.stmt
    name: str
    ids: Ids = frozenset()
    loops: tuple[ast.stmt, ...] = ()

    def __str__(self) -> str:
        return self.place.line(self.stmt)


class Placed(NamedTuple):
    """Hold a statement of a source, and the compound ones that it stands in."""

    stmt: ast.stmt
    blocks: tuple[ast.stmt, ...]
    place: Place

    @property
    def loops(self) -> list[ast.stmt]:
        return [block for block in self.blocks if isinstance(block, (ast.For, ast.While))]

    def __str__(self) -> str:
        return self.place.line(self.stmt)


@dataclass
class Scope:
    """Hold the statements that names are looked up in, and what else is known of the names.

    `given` are a function's arguments, `inner` the names of a comprehension. One that `is_live` has
    in `space` what its own names hold now.
    """

    place: Place
    body: list[Placed]
    space: dict[str, Any]
    given: dict[str, Ids] = field(default_factory=dict)
    inner: dict[str, Ids] = field(default_factory=dict)
    modes: tuple[str, ...] = ()
    is_live: bool = False

    def made_at(self, name: str, stop: int) -> Placed | None:
        """Return the last statement before number `stop` that gave a name its value."""
        for row in reversed(self.body[:stop]):
            is_made = isinstance(row.stmt, (ast.Assign, ast.AnnAssign, ast.For))
            if is_made and name in set_by(row.stmt):
                return row
        return None


def flat(body: Sequence[ast.stmt], blocks: tuple[ast.stmt, ...] = ()) -> Iterator[tuple]:
    """Yield statements in order, each with the compound ones that it stands in."""
    for stmt in body:
        yield stmt, blocks
        if not isinstance(stmt, SCOPES):
            for inner in bodies(stmt):
                yield from flat(inner, (*blocks, stmt))


def placed(body: Sequence[ast.stmt], place: Place) -> list[Placed]:
    """Return the statements of a source in order, as a scope holds them."""
    return [Placed(stmt, blocks, place) for stmt, blocks in flat(body)]


def dotted(expr: ast.AST | None) -> str:
    """Return "a.b" of a name or attribute, of what is indexed, of a method's owner; or ""."""
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, (ast.Subscript, ast.Starred)):
        return dotted(expr.value)
    if isinstance(expr, ast.Attribute):
        inner = dotted(expr.value)
        return f"{inner}.{expr.attr}" if inner else ""
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
        return dotted(expr.func.value)
    return ""


def called(expr: ast.expr) -> str:
    """Return the name of what is called, or of an attribute or name itself, without its owner."""
    func = getattr(expr, "func", expr)
    return getattr(func, "attr", getattr(func, "id", ""))


def first_given(call: ast.Call) -> str:
    return next(map(dotted, call.args), "")


def keywords_of(call: ast.Call) -> dict[str | None, ast.expr]:
    """Return the expressions that a call gives by name; None is the key of `**more`."""
    return {keyword.arg: keyword.value for keyword in call.keywords}


def nodes_in(tree: ast.AST, kind: Any) -> list[Any]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def set_by(stmt: ast.stmt) -> list[str]:
    return [name for name, _ in targets(stmt)]


def targets(stmt: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a statement gives a value to, with the expression of that value."""
    if isinstance(stmt, ast.Assign):
        for target in stmt.targets:
            yield from paired(target, stmt.value)
    elif isinstance(stmt, (ast.AnnAssign, ast.AugAssign)) and stmt.value is not None:
        yield dotted(stmt.target), stmt.value
    elif isinstance(stmt, (ast.For, ast.AsyncFor)):
        yield from in_turn(stmt.target, stmt.iter)
    elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        yield from filled(stmt.value)


def in_turn(target: ast.expr, rounds: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a loop sets, with what their values come from: a count from nothing."""
    names = nodes_in(target, ast.Name)
    is_counted = isinstance(rounds, ast.Call) and called(rounds) in ("enumerate", "items")
    if is_counted and isinstance(target, ast.Tuple) and names:
        yield names.pop(0).id, ast.Constant(0)
    for name in names:
        yield name.id, rounds


def filled(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a call gives a name: append() to a list, a method in `_` to a tensor."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr in ("append", "extend") and call.args:
        yield dotted(func.value), call.args[0]
    elif func.attr.endswith("_") and not func.attr.endswith("__"):
        yield dotted(func.value), call


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield dotted(target), value
        return
    values = [value] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
        values = value.elts
    for part, its_value in zip(target.elts, values, strict=True):
        yield from paired(part, its_value)


class Values:
    """Follow expressions, and keep what happens to them as `events`, the latest first."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.sources: set[int] = set()  # what the statements that were followed come from
        self.is_sure = True  # that every function which was called is known
        self._busy: set[tuple[int, str, int]] = set()
        self._done: dict[tuple[int, str, int], Ids] = {}
        self._depth = 0
        self._is_probe = False
        self._here: list[Placed] = []
        self._kinds: dict[type, Any] = {
            ast.Call: self._call,
            ast.Attribute: self._attribute,
            ast.BinOp: self._arithmetic,
        }
        for kind in (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp):
            self._kinds[kind] = self._comprehension

    def of_kind(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    def of(self, scope: Scope, expr: ast.AST, stop: int) -> Ids:
        """Return what a value comes from, and record all of its way; `stop` is the number of the
        statement that uses it.
        """
        if isinstance(expr, ast.Name):
            return self._name(scope, expr.id, stop)
        if isinstance(expr, (ast.Lambda, ast.Constant)):
            return frozenset()
        if isinstance(expr, ast.Subscript):
            return self.of(scope, expr.value, stop)
        if isinstance(expr, ast.Compare):
            return self._cut("compare", self._all(scope, expr, stop), name_in(expr))
        follow = self._kinds.get(type(expr), self._all)
        return follow(scope, expr, stop)

    def _arithmetic(self, scope: Scope, expr: ast.BinOp, stop: int) -> Ids:
        word = type(expr.op).__name__
        ids = self._all(scope, expr, stop)
        is_difference = word == "Sub" and not self._is_number(scope, expr.right)
        if is_difference or word == "Div" or (word == "Pow" and may_fail(expr.right)):
            side = expr.left
            if not self.of(scope, side, stop) and is_difference:
                side = expr.right
            name = name_in(side)
            if is_difference and not isinstance(side, (ast.Name, ast.Attribute)):
                name = ""
            self._note("op", word, name, ids)
        return ids

    def _is_number(self, scope: Scope, expr: ast.AST) -> bool:
        """Say whether an expression is made of plain numbers alone."""
        if isinstance(expr, ast.BinOp):
            return self._is_number(scope, expr.left) and self._is_number(scope, expr.right)
        if isinstance(expr, ast.Constant):
            return isinstance(expr.value, (int, float))
        return isinstance(self.thing(scope, expr), (int, float))

    def at(self, scope: Scope, expr: ast.AST, nr: int) -> Ids:
        self._here.append(scope.body[nr])
        ids = self.of(scope, expr, nr)
        self._here.pop()
        return ids

    def statement(self, scope: Scope, nr: int) -> None:
        stmt = scope.body[nr].stmt
        for name, value in targets(stmt):
            self._statement(scope, nr, name, value)
        for child in ast.iter_child_nodes(stmt):
            if isinstance(child, ast.expr):
                self.sources |= self.at(scope, child, nr)

    def _all(self, scope: Scope, expr: ast.AST, stop: int) -> Ids:
        ids: Ids = frozenset()
        for child in ast.iter_child_nodes(expr):
            if isinstance(child, (ast.expr, ast.keyword, ast.comprehension)):
                ids |= self.of(scope, child, stop)
        return ids

    def _comprehension(self, scope: Scope, expr: Any, stop: int) -> Ids:
        inner = dict(scope.inner)
        for part in expr.generators:
            for name, value in in_turn(part.target, part.iter):
                inner[name] = self.of(scope, value, stop)
        element = expr.value if isinstance(expr, ast.DictComp) else expr.elt
        return self.of(replace(scope, inner=inner), element, stop)

    def _name(self, scope: Scope, name: str, stop: int) -> Ids:
        if name in scope.inner:
            return scope.inner[name]
        key = (id(scope.body), name, stop)
        if key in self._busy:
            return frozenset()
        if key in self._done:
            return self._done[key]
        self._busy.add(key)
        ids, is_bound = self._bindings(scope, name, stop)
        self._busy.discard(key)
        thing = scope.space.get(name)
        if is_bound and scope.is_live and is_tensor(thing) and read(thing, "is_leaf"):
            ids |= ids_of(thing)  # whatever line made it, gradients end there
        if not is_bound:
            ids = scope.given.get(name, ids_of(thing))
        self._done[key] = ids
        return ids

    def _bindings(self, scope: Scope, name: str, stop: int) -> tuple[Ids, bool]:
        """Return what the statements before `stop`, that give a name its value, make of it."""
        ids, is_bound = frozenset(), False
        loops = set()
        if stop < len(scope.body):
            loops.update(scope.body[stop].loops)
        for nr in range(len(scope.body) - 1, -1, -1):
            stmt, blocks, _ = scope.body[nr]
            is_later = nr >= stop
            if is_later and loops.isdisjoint(blocks):
                continue
            for target, value in targets(stmt):
                if target != name:
                    continue
                is_bound = True
                ids |= self._statement(scope, nr, name, value)
                is_whole = isinstance(stmt, ast.Assign) and not holds_subscript(stmt, name)
                same = {block for block in blocks if not isinstance(block, (ast.With, ast.Try))}
                if is_whole and not is_later and same <= loops:
                    return ids, True
        return ids, is_bound

    def _statement(self, scope: Scope, nr: int, name: str, value: ast.expr) -> Ids:
        stmt = scope.body[nr].stmt
        self._here.append(scope.body[nr])
        ids = self.of(scope, value, nr)
        if isinstance(stmt, ast.AugAssign):
            ids |= self._name(scope, name, nr)
            if isinstance(stmt.op, ast.Div):
                self._note("op", "Div", name, frozenset())
            self._note("edit", type(stmt.op).__name__, name, ids)
        if isinstance(stmt, ast.Assign):
            if holds_subscript(stmt, name):
                ids |= self._name(scope, name, nr)
                self._note("edit", "assign", name, ids)
            else:
                self._carried(scope, nr, ids)
        ids = self._under_modes(scope, value, ids, name)
        self._here.pop()
        return ids

    def _under_modes(self, scope: Scope, expr: ast.expr, ids: Ids, name: str = "") -> Ids:
        for mode in (*modes_of(self._here[-1].blocks), *scope.modes):
            if mode == "enable_grad":
                break
            ids = self._cut(mode, ids, name)
        return ids

    def _carried(self, scope: Scope, nr: int, ids: Ids) -> None:
        """Note which names a statement hands from round to round, with their graph."""
        for name, value in targets(scope.body[nr].stmt):
            if not mentions(value, name) or not self._keeps_graph(scope, nr, name, value):
                continue
            if loops := carrying_loops(scope, nr, name):
                self._note("carry", "", name, ids, loops)

    def _keeps_graph(self, scope: Scope, nr: int, name: str, value: ast.expr) -> bool:
        """Say whether a new value of a name comes from the old one by a way without a cut."""
        if self._is_probe:
            return False
        probe, mark = Values(), frozenset([0])  # no id is 0
        probe._is_probe = True
        marked = replace(scope, inner={**scope.inner, name: mark})
        return mark <= probe.at(marked, value, nr)

    def _attribute(self, scope: Scope, expr: ast.Attribute, stop: int) -> Ids:
        if expr.attr in ABOUT:
            return frozenset()
        if expr.attr == "data":
            return self._cut("data", self.of(scope, expr.value, stop), name_in(expr.value))
        path = dotted(expr)
        if path in scope.inner:
            return scope.inner[path]
        thing = self.thing(scope, expr)
        if path and any(path in set_by(stmt) for stmt, _, _ in scope.body):
            return self._name(scope, path, stop) or ids_of(thing)
        if is_tensor(thing):
            return ids_of(thing)
        return self.of(scope, expr.value, stop)

    def _call(self, scope: Scope, call: ast.Call, stop: int) -> Ids:
        func = call.func
        is_method = isinstance(func, ast.Attribute)
        word = called(call)
        thing = self.thing(scope, func)
        given = [self.of(scope, argument, stop) for argument in call.args]
        named = {keyword.arg: self.of(scope, keyword.value, stop) for keyword in call.keywords}
        ids = frozenset().union(*given, *named.values())
        if thing is torch.autograd.grad:
            return self._cut(cut_by(call, thing), ids, operand(call))
        if word in ABOUT:
            return frozenset()
        callees = self._looped(scope, func) or [thing]
        results = [self._learners(callee, call, given, named) for callee in callees]
        if None not in results:
            return frozenset().union(*results)
        is_function = isinstance(thing, FunctionType)
        is_theirs = is_function and is_users(thing.__code__.co_filename)
        is_torchs = is_function and str(thing.__module__).startswith("torch")
        self.is_sure = self.is_sure and (is_method or thing is not None) and not is_theirs
        if is_method and not is_torchs:
            ids |= self.of(scope, func.value, stop)
        if isinstance(func, ast.Name):  # of a comprehension over layers
            ids |= scope.inner.get(func.id, frozenset())
        self._edits_by_call(call, word, ids)
        self._note("op", word, operand(call), ids)
        return self._cut(cut_by(call, thing), ids, operand(call))

    def _edits_by_call(self, call: ast.Call, word: str, ids: Ids) -> None:
        first = first_given(call)
        if word.endswith("_") and not word.endswith("__") and word not in NO_EDITS:
            self._note("edit", word, dotted(call) or first, ids)
        if getattr(keywords_of(call).get("inplace"), "value", False) is True:
            self._note("edit", word, first, ids)

    def _module(self, module: Any, given: list, named: dict, ids: Ids) -> Ids:
        forward = type(module).__dict__.get("forward") or getattr(type(module), "forward", None)
        result = self._run(forward, [frozenset(), *given], named, module)
        if result is not None:
            return result
        self._note("op", type(module).__name__, "", ids)
        ids |= ids_of(module)
        for part in modules_in(module):
            ids |= self._module(part, [ids], {}, ids)
        return ids

    def _learners(self, thing: Any, call: ast.Call, given: list, named: dict) -> Ids | None:
        """Follow a call of a module, or of a function or method of the learner's; else None."""
        if is_module(thing):
            ids = frozenset().union(*given, *named.values())
            for path, part in inplace_parts(thing):
                name = "" if path else first_given(call)
                self._note("edit", type(part).__name__, name, ids)
            return self._module(thing, given, named, ids)
        if isinstance(thing, MethodType):
            owner = thing.__self__
            if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
                return None
            return self._run(thing.__func__, [frozenset(), *given], named, owner)
        return self._run(thing, given, named) if isinstance(thing, FunctionType) else None

    def _run(self, function: Any, given: list, named: dict, owner: Any = None) -> Ids | None:
        """Follow what a function of the learner's returns; None where it is not theirs."""
        source = place_of_function(function)
        if source is None or self._depth > DEEPEST:
            return None
        place, tree = source
        names = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
        known = dict.fromkeys(names, frozenset())
        known.update(zip(names, given, strict=False))
        known.update(named)
        for argument in filter(None, (tree.args.vararg, tree.args.kwarg)):
            known[argument.arg] = frozenset().union(*given, *named.values())
        space = {**function.__globals__, **closure_of(function)}
        if owner is not None and names:
            known.pop(names[0], None)
            space[names[0]] = owner
        body = placed(tree.body, place)
        modes = tuple(filter(None, map(mode_of, tree.decorator_list)))
        return self._returned(Scope(place, body, space, known, {}, modes))

    def _returned(self, scope: Scope) -> Ids:
        self._depth += 1
        ids: Ids = frozenset()
        for nr, row in reversed(list(enumerate(scope.body))):
            if value := handed_out(row.stmt):
                self._here.append(row)
                ids |= self._under_modes(scope, value, self.of(scope, value, nr))
                self._here.pop()
        self._depth -= 1
        return ids

    def thing(self, scope: Scope, expr: ast.AST) -> Any:
        """Return what a name or an attribute stands for now, without running anything; else None."""
        if isinstance(expr, ast.Name):
            return scope.space.get(expr.id, getattr(scope.space.get("__builtins__"), expr.id, None))
        if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
            return entry(self.thing(scope, expr.value), expr.slice.value)
        if isinstance(expr, ast.Attribute):
            return attribute(self.thing(scope, expr.value), expr.attr)
        return None

    def _looped(self, scope: Scope, func: ast.expr) -> list[Any]:
        """Return the modules that a loop calls, one after the other, under a name."""
        for loop, _, _ in scope.body:
            if not isinstance(loop, ast.For) or not isinstance(func, ast.Name):
                continue
            if func.id not in set_by(loop):
                continue
            for expr in ast.walk(loop.iter):
                if modules := modules_in(self.thing(scope, expr)):
                    return modules[:MOST_LOOPED]
        return []

    def _cut(self, word: str, ids: Ids, name: str) -> Ids:
        if not word:
            return ids
        if ids:
            self._note("cut", word, name, ids)
        return frozenset()

    def _note(self, kind: str, word: str, name: str, ids: Ids, loops: tuple = ()) -> None:
        if self._here and len(self.events) < MOST_EVENTS:
            stmt, _, place = self._here[-1]
            event = Event(kind, word, place, stmt, visible(name), ids, loops)
            if event not in self.events:
                self.events.append(event)


def operand(call: ast.Call) -> str:
    """Return the name of the tensor that a call works on, as far as it has one."""
    owner = getattr(call.func, "value", None)
    if owner is not None and dotted(owner).partition(".")[0] not in (
        "torch",
        "F",
        "nn",
        "np",
        "math",
    ):
        return name_in(owner)
    return name_in(call.args[0]) if call.args else ""


def name_in(expr: ast.AST) -> str:
    """Return the first name in an expression; what a call returns has none."""
    if nodes_in(expr, ast.Call):
        return ""
    if isinstance(expr, (ast.Name, ast.Attribute, ast.Subscript)):
        return dotted(expr)
    return next(filter(None, map(name_in, ast.iter_child_nodes(expr))), "")


def cut_by(call: ast.Call, thing: Any) -> str:
    """Return by which word a call of a thing ends a graph; "" if it does not."""
    word, is_method = called(call), isinstance(call.func, ast.Attribute)
    if thing is torch.autograd.grad and is_kept(call, "create_graph"):
        return ""
    is_cut = word in CUTS and (is_method or not CUTS[word].is_method)
    if is_cut or thing is torch.autograd.grad:
        return word
    return "" if is_method else BUILTINS.get(word, "")


def handed_out(stmt: ast.stmt) -> ast.expr | None:
    """Return what a function hands to its caller in a statement: by return or yield."""
    value = getattr(stmt, "value", None)
    if isinstance(value, (ast.Yield, ast.YieldFrom)):
        return value.value
    return value if isinstance(stmt, ast.Return) else None


def may_fail(power: ast.expr) -> bool:
    """Say whether some number may have no power of this kind, or no slope of it."""
    return not isinstance(power, ast.Constant) or power.value < 1 or power.value % 1 != 0


def carrying_loops(scope: Scope, nr: int, name: str) -> tuple[ast.stmt, ...]:
    """Return the loops in which a statement gets a name's value from the round before: no line of
    such a loop sets the name first. An attribute lives longer than its function: then the
    statement itself stands for the rounds.
    """
    setting = [row.blocks for row in scope.body[:nr] if name in set_by(row.stmt)]
    if "." in name and is_module(scope.space.get(name.partition(".")[0])):
        return () if setting else (scope.body[nr].stmt,)
    around_setting = set().union(*setting)
    return tuple([loop for loop in scope.body[nr].loops if loop not in around_setting])


def holds_subscript(stmt: ast.Assign, name: str) -> bool:
    return name in [dotted(target) for target in stmt.targets if isinstance(target, ast.Subscript)]


def mentions(expr: ast.AST, name: str) -> bool:
    return name in map(dotted, nodes_in(expr, (ast.Name, ast.Attribute)))


def is_kept(call: ast.Call, option: str) -> bool:
    """Say whether a call sets an option to anything but False."""
    for keyword in call.keywords:
        is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
        if keyword.arg in (option, None) and not is_false:
            return True
    return False


def modes_of(blocks: Sequence[ast.stmt]) -> list[str]:
    """Return the grad modes that blocks set, the innermost first."""
    modes = []
    for block in reversed(blocks):
        for item in reversed(getattr(block, "items", ())):
            modes.append(mode_of(item.context_expr))
    return list(filter(None, modes))


def mode_of(expr: ast.expr) -> str:
    word, given = called(expr), next(iter(getattr(expr, "args", ())), None)
    is_false = isinstance(given, ast.Constant) and given.value is False
    is_set = {"set_grad_enabled": is_false, "inference_mode": not is_false}
    return word if is_set.get(word, word in MODES) else ""


def inplace_parts(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a module, of torch's own classes, that edit their input in place."""
    inner = attribute(module, "_modules") if type(module) is torch.nn.Sequential else {}
    for path, part in {"": module, **inner}.items():
        if is_module(part) and attribute(part, "inplace") is True:
            yield path, part


def closure_of(function: FunctionType) -> dict[str, Any]:
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return variables


def attribute(thing: Any, name: str) -> Any:
    """Return an attribute as it is stored: of a module, a plain object, a class, a namespace."""
    if thing is None or is_tensor(thing):
        return None
    try:
        inside = object.__getattribute__(thing, "__dict__")
    except Exception:
        return None
    if name in inside and not isinstance(thing, type):
        return inside[name]
    for part in ("_modules", "_parameters", "_buffers"):
        if is_module(thing) and name in inside.get(part, {}):
            return inside[part][name]
    return of_class(thing, name)


def of_class(thing: Any, name: str) -> Any:
    """Return what a class, or that of an object, has under a name; a method bound to the object."""
    kind = thing if isinstance(thing, type) else type(thing)
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in base.__dict__:
            member = base.__dict__[name]
            if isinstance(member, (staticmethod, classmethod)):
                return member.__func__
            if isinstance(member, FunctionType) and kind is not thing:
                return MethodType(member, thing)
            return member
    return None


def entry(thing: Any, key: Any) -> Any:
    if is_module(thing):
        inner = attribute(thing, "_modules") or {}
        if type(key) is str:
            return inner.get(key)
        thing = list(inner.values())
    if type(thing) in (list, tuple) and type(key) is int and -len(thing) <= key < len(thing):
        return thing[key]
    return thing.get(key) if type(thing) is dict and type(key) in (int, str) else None


def modules_in(thing: Any) -> list[Any]:
    if is_module(thing):
        thing = list((attribute(thing, "_modules") or {}).values())
    if type(thing) in (list, tuple):
        return list(filter(is_module, thing))
    return []


def ids_of(thing: Any) -> Ids:
    """Return the id of a tensor that requires grad, or those of the ones in a list or a model."""
    if is_tensor(thing) and read(thing, "requires_grad"):
        return frozenset([id(thing)])
    inside: Sequence[Any] = ()
    if is_module(thing):
        inside = list(dict(parameters(thing)).values())
    elif type(thing) is dict:
        inside = list(thing.values())[:MOST_ENTRIES]
    elif type(thing) in (list, tuple):
        inside = thing[:MOST_ENTRIES]
    return frozenset().union(*map(ids_of, inside))
