"""Find what a captured function did: compiled by torch.compile, or traced by torch.fx.

Live objects and sources are read; nothing is compiled or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from autograd_graphs.answer_card import listed
from autograd_graphs.diagnosing.facts import Facts, Finding, calls_of, finding, in_sources, quoted
from autograd_graphs.diagnosing.graph_nodes import is_compiled, node_of
from autograd_graphs.diagnosing.syntax import dotted, nodes_in, set_by, started_from
from autograd_graphs.diagnosing.training_step import TrainingStep

MOST_LINES = 2


def compiled_twice(facts: Facts, _: Any) -> Finding:
    """A gradient that came through a compiled function was differentiated once more."""
    here = dict(compiled_in(facts.spot.globals))
    what = listed(list(here)) if len(here) == 1 else "A function on the way"
    return finding("compiled_twice", [facts.spot, *list(here.values())[:MOST_LINES]], what=what)


def compiled_in(space: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names that the learner gave to compiled functions, each with the line that says so."""
    for node, place in in_sources(space, (ast.FunctionDef, ast.Assign)):
        for expr in getattr(node, "decorator_list", ()) or [getattr(node, "value", None)]:
            if is_compile(expr):
                name = next(iter(set_by(node)), "") or getattr(node, "name", "")
                yield name, place.line(expr)


def is_compile(expr: ast.expr | None) -> bool:
    """Say whether an expression is `torch.compile`, or a call of it or of what it returns."""
    parts = nodes_in(expr, (ast.Attribute, ast.Name)) if expr is not None else ()
    return any(word in ("torch.compile", "compile") for word in map(dotted, parts))


def inside_compiled(facts: Facts) -> Finding | None:
    """A gradient was asked for from one result of a compiled function to another one of it."""
    met = set(map(id, facts.call.walk.met))
    start, _ = started_from(facts.spot.stmt)
    names = []
    for name, tensor in facts.line_names:
        node = node_of(tensor)
        if name != start and is_compiled(node) and id(node) in met:
            names.append(name)
    if not names:
        return None
    lines = [facts.spot, *calls_of(facts.spot.globals, "compile")[:1]]
    return finding("inside_compiled", lines, names, what=quoted(start, "The output"))


def traced_modes(step: TrainingStep) -> Iterator[Finding]:
    """A module that torch.fx traced in the other mode than it is in: that mode is written into it."""
    for path, module in step.modules:
        words = []
        if isinstance(module, torch.fx.GraphModule):
            words = [named for named, mode in modes_in(module.graph) if mode != module.training]
        if words:
            name = step.spelt(path) or type(module).__name__
            lines = calls_of(step.space, "symbolic_trace")[:1]
            now, then = ("train", "eval") if module.training else ("eval", "train")
            yield finding("traced", lines, name=name, word=words[0], now=now, then=then)


def modes_in(graph: torch.fx.Graph) -> Iterator[tuple[str, bool]]:
    """Yield the functions in a traced graph that were given a mode as a constant, each with it."""
    for node in graph.nodes:
        mode = node.kwargs.get("training")
        if node.op == "call_function" and type(mode) is bool:
            yield getattr(node.target, "__name__", "a function"), mode
