"""Find the source lines that made a graph, and where in them each node was made, by the syntax tree
where that is certain.

Nothing of the learner's runs, and nothing here raises.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from autograd_graphs.data import Graph, Operands, Program, Span
from autograd_graphs.looking.cells import MOST_SOURCE, cells_of, failures, read_cells
from autograd_graphs.looking.certain import Claims, merged
from autograd_graphs.looking.matching import Matcher
from autograd_graphs.looking.running_code import runs
from autograd_graphs.looking.statements import (
    SCOPES,
    Replay,
    Text,
    Value,
    declared,
    is_our_function,
    lines_of,
    rebinds,
)
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import variables
from autograd_graphs.text import shortened, visible

MOST_LINES = 6  # shown
LONGEST = 100  # characters of a line
_OPERATOR = re.compile(r"[)\s]*(\*\*|//|[-+*/@%])[(\s]*")


class Part(NamedTuple):
    """Tell where an expression or a line stands: in which source, in which of its lines."""

    order: int
    number: int  # from 1
    start: int = -1
    stop: int = -1
    op_start: int = -1
    op_stop: int = -1


class Look(NamedTuple):
    """Hold what was found: sources by order, each node's place and operands, lines to show."""

    texts: dict[int, Sequence[str]]
    parts: dict[int, Part]
    operands: dict[int, Operands]
    shown: set[tuple[int, int]]


def program_of(frame: FrameType | None, graph: Graph, met: Sequence[Any]) -> Program | None:
    """Return the source above a graph, None where there is none to show.

    `frame` is the learner's, in which a function of this package was called; `met` what a walk met,
    by node. The syntax tree counts only if it compiles to the very code that runs. A source longer
    than 2,000 lines, and a graph of more nodes, have none.
    """
    try:
        with quietly():
            look = Look({}, {}, {}, set())
            follow(frame, graph, met, look)
            return shown(look)
    except Exception:  # whatever a source or a live object is like: a look never ends a program
        return None


def follow(frame: FrameType | None, graph: Graph, met: Sequence[Any], look: Look) -> None:
    """Find places by the syntax tree, where it is that of the code that runs."""
    if frame is None or len(graph.nodes) > MOST_SOURCE:
        return
    here = place_of(frame)
    if here is None:
        return
    text, body, call = here
    replay = Replay(dict(variables(frame)))
    functions = (*SCOPES, ast.Lambda)  # one may bind names that nobody sees when it is called
    for source in [text, *replay_earlier(frame, text, replay)]:
        look.texts[source.order] = source.lines
        for node in ast.walk(source.tree):
            if isinstance(node, functions) and rebinds(node):
                return
    replay.run(text, body, call)
    values = begun(replay, call)
    write_down(agreed(graph, met, replay, values), graph, look)
    for value in values:  # shown even where no place in the statement is certain
        if value.statement is not None and value.kind != "either":
            lines = range(value.statement.first, value.statement.last + 1)
            look.shown.update((value.statement.text.order, number) for number in lines)


def place_of(frame: FrameType) -> tuple[Text, list[ast.stmt], ast.Call] | None:
    """Return the source that runs in a frame, the statements of its function and the call there."""
    lines = lines_of(frame.f_code.co_filename)
    if not 0 < len(lines) <= MOST_SOURCE:
        return None
    key = tuple([line.rstrip("\r\n") for line in lines])
    text = text_of(key)
    call = call_at(text, frame)
    scope = scope_of(text.tree, frame.f_code)
    if call is None or scope is None or not runs(key, call.lineno, frame.f_code):
        return None
    return text, scope.body, call


@lru_cache(maxsize=4)
def text_of(lines: tuple[str, ...]) -> Text:
    return Text(lines, MOST_SOURCE)


def call_at(text: Text, frame: FrameType) -> ast.Call | None:
    """Return the call that a frame is in, by its place in the source."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Call):
            begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            if positions == (begin[0], end[0], begin[1], end[1]):
                return node
    return None


def scope_of(tree: ast.Module, code: CodeType) -> ast.Module | ast.FunctionDef | None:
    """Return the module, or the function, whose body a code is."""
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return None if code.co_flags & inspect.CO_NEWLOCALS else tree
    scopes = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([begin.lineno for begin in (node, *node.decorator_list)])
            if first == code.co_firstlineno:
                scopes.append(node)
    return scopes[0] if len(scopes) == 1 else None


def replay_earlier(frame: FrameType, text: Text, replay: Replay) -> list[Text]:
    """Process the cells that ran before this one, as IPython's `In` has them; return those."""
    replay.rebound |= declared(text.tree)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED or frame.f_locals is not frame.f_globals:
        return []
    cells = cells_of(frame)
    if cells and cells[-1].splitlines() == text.lines:
        cells = cells[:-1]
    texts, replay.is_complete = read_cells(cells, len(text.lines))
    for earlier in texts:
        replay.rebound |= declared(earlier.tree)
    failed = failures()
    for earlier in texts:
        replay.is_certain = failed is not None and earlier.order not in failed
        replay.run(earlier, earlier.tree.body)
    replay.is_certain = True
    return texts


def begun(replay: Replay, call: ast.Call) -> list[Value]:
    """Return the values that a call of ours is given as roots; none where that is not certain."""
    thing = replay.thing(call.func)
    if isinstance(call.func, ast.Name):
        thing = replay.live.get(call.func.id)
    if not any(is_our_function(thing, name) for name in ("step_through", "record")):
        return []
    given = call.args[:1]
    for word in call.keywords:
        if word.arg == "loss":
            given.append(word.value)
    if not given or isinstance(given[0], ast.Starred):
        return []
    value = replay.value(given[0])
    if value.kind != "several":
        return [value]
    return [root for _, root in value.operands]


def agreed(graph: Graph, met: Sequence[Any], replay: Replay, values: list[Value]) -> Claims:
    """Return all claims on which the roots and the names that still hold tensors agree."""
    matcher = Matcher(graph, met, replay)
    starts: list[tuple[Value, tuple[int, int] | None]] = []
    if len(values) == len(graph.roots):
        for value, root in zip(values, graph.roots, strict=True):
            starts.append((value, None if root.node is None else (root.node, root.output_nr)))
    for name, value in list(replay.names.items()):
        starts.append((value, matcher.tensors.where_made(replay.live.get(name))))
    trials = []
    for value, place in starts:
        if place is None or value.kind not in ("op", "either"):
            continue
        claims = matcher.matched(value, place)
        if claims is not None:
            trials.append(claims)
    return merged(trials)


def write_down(claims: Claims, graph: Graph, look: Look) -> None:
    """Write down the place of every claimed node, and its operands."""
    texts = {}
    inner = inner_nodes(claims, graph)
    for node, value in claims.values.items():
        text = value.statement.text
        look.parts[node] = part(text, value.expr, value)
        inputs = claims.inputs.get(node, ())
        texts.update({id(expr): text for expr in inputs})
        words = tuple([named(text, expr) for expr in inputs])
        result = "" if node in inner else named(text, value.expr)
        look.operands[node] = Operands(result, words)
    entries = Counter(edge.target for edge in graph.edges)
    is_cut = any(edge.cut for edge in graph.edges)
    for node, uses in claims.uses.items():
        text = texts.get(id(uses[0]))
        is_unique = len(uses) == entries[node] == 1 and not is_cut
        if graph.nodes[node].is_leaf and is_unique and text is not None:
            look.parts[node] = part(text, uses[0])
            look.operands[node] = Operands(named(text, uses[0]))


def inner_nodes(claims: Claims, graph: Graph) -> set[int]:
    """Return the nodes whose result is not that of their expression, since another node of the same
    one follows: of `6 / x` the reciprocal, of a cross entropy all but the last.
    """
    exprs = {node: id(value.expr) for node, value in claims.values.items()}
    inner = set()
    for edge in graph.edges:
        if edge.target in exprs and exprs[edge.target] == exprs.get(edge.source):
            inner.add(edge.target)
    return inner


def named(text: Text, expr: ast.expr | None) -> str:
    return "" if expr is None else visible(text.segment(expr), LONGEST)


def part(text: Text, expr: ast.expr, value: Value | None = None) -> Part:
    """Return where an expression stands, with columns where it is on one line."""
    while isinstance(expr, ast.NamedExpr):
        expr = expr.value
    if expr.lineno != expr.end_lineno:
        return Part(text.order, expr.lineno)
    return Part(text.order, expr.lineno, *text.columns(expr), *operator(text, expr, value))


def operator(text: Text, expr: ast.expr, value: Value | None) -> tuple[int, int]:
    """Return the columns of the operator, or of the function's name, of an expression."""
    start, stop = text.columns(expr)
    line = text.lines[expr.lineno - 1]
    if value is None:
        return start, stop
    if isinstance(expr, ast.BinOp):
        match = _OPERATOR.match(line, text.columns(expr.left)[1], text.columns(expr.right)[0])
        return match.span(1)
    if isinstance(expr, ast.UnaryOp):
        return start, start + 1
    if isinstance(expr, ast.Subscript):
        return line.index("[", text.columns(expr.value)[1]), stop
    func = getattr(expr, "func", expr)
    begin, end = text.columns(func)
    if isinstance(func, ast.Attribute) and value.operands[0][0] is func.value:
        return end - len(func.attr), end  # a method
    return begin, end


def shown(look: Look) -> Program | None:
    """Return the lines to show, without their common indent, and the spans in them."""
    places = {(part.order, part.number) for part in look.parts.values()}
    chosen = sorted(places)[-MOST_LINES:]
    room = MOST_LINES - len(chosen)
    chosen = sorted({*chosen, *sorted(look.shown - set(chosen))[:room]})
    raw = [look.texts[order][number - 1] for order, number in chosen]
    if not any(line.strip() for line in raw):
        return None
    indent = min(len(line) - len(line.lstrip()) for line in raw if line.strip())
    lines = tuple([shortened(line[indent:].rstrip(), LONGEST) for line in raw])
    spans = dict(moved(look, chosen, indent))
    operands = tuple(sorted(look.operands.items()))
    return Program(lines, tuple(sorted(spans.items())), operands)


def moved(look: Look, chosen: Sequence[tuple[int, int]], indent: int) -> Iterator[tuple[int, Span]]:
    """Yield the spans of nodes in the lines that are shown; those past a cut are dropped."""
    for node, part in look.parts.items():
        if (part.order, part.number) not in chosen:
            continue
        line = chosen.index((part.order, part.number))
        length = len(look.texts[part.order][part.number - 1].rstrip()) - indent
        last = LONGEST if length <= LONGEST else LONGEST - 1
        if part.start < 0:
            yield node, Span(line)
        elif max(part[2:]) - indent <= last:
            yield node, Span(line, *[column - indent for column in part[2:]])
