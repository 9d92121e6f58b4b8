"""Follow a value through a learner's source, back from the loss: which parameters it comes from,
where that is lost, what edits it, and which operations it passes.

Source is read and never run. Names are looked up in what the program holds now.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import torch

from autograd_graphs.diagnosing.catalogue import CUTS
from autograd_graphs.diagnosing.live_names import (
    Ids,
    attribute,
    closure_of,
    entry,
    ids_of,
    inplace_parts,
    modules_in,
)
from autograd_graphs.diagnosing.sources import Place, place_of_function
from autograd_graphs.diagnosing.syntax import (
    NO_EDITS,
    called,
    dotted,
    first_given,
    flat,
    handed_out,
    holds_subscript,
    in_turn,
    is_kept,
    keywords_of,
    may_fail,
    mentions,
    mode_of,
    modes_of,
    name_in,
    operand,
    set_by,
    targets,
)
from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.text import visible

DEEPEST = 24  # calls within calls
MOST_EVENTS = 300
MOST_LOOPED = 30  # modules of one loop
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


def placed(body: Sequence[ast.stmt], place: Place) -> list[Placed]:
    """Return the statements of a source in order, as a scope holds them."""
    return [Placed(stmt, blocks, place) for stmt, blocks in flat(body)]


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
        if is_bound and scope.is_live and torch.is_tensor(thing) and read(thing, "is_leaf"):
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
        if torch.is_tensor(thing):
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
        if isinstance(thing, torch.nn.Module):
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


def cut_by(call: ast.Call, thing: Any) -> str:
    """Return by which word a call of a thing ends a graph; "" if it does not."""
    word, is_method = called(call), isinstance(call.func, ast.Attribute)
    if thing is torch.autograd.grad and is_kept(call, "create_graph"):
        return ""
    is_cut = word in CUTS and (is_method or not CUTS[word].is_method)
    if is_cut or thing is torch.autograd.grad:
        return word
    return "" if is_method else BUILTINS.get(word, "")


def carrying_loops(scope: Scope, nr: int, name: str) -> tuple[ast.stmt, ...]:
    """Return the loops in which a statement gets a name's value from the round before: no line of
    such a loop sets the name first. An attribute lives longer than its function: then the
    statement itself stands for the rounds.
    """
    setting = [row.blocks for row in scope.body[:nr] if name in set_by(row.stmt)]
    if "." in name and isinstance(scope.space.get(name.partition(".")[0]), torch.nn.Module):
        return () if setting else (scope.body[nr].stmt,)
    around_setting = set().union(*setting)
    return tuple([loop for loop in scope.body[nr].loops if loop not in around_setting])
