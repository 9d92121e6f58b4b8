"""Explain what the backward of a learner's own Function did not return as it must."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from autograd_graphs.data import counted
from autograd_graphs.diagnosing.facts import Facts, Finding, finding, in_sources, quoted
from autograd_graphs.diagnosing.graph_nodes import is_own
from autograd_graphs.diagnosing.message_clues import tuple_of
from autograd_graphs.diagnosing.syntax import nodes_in

_FUNCTION = re.compile(r"[Ff]unction (\w+)Backward")


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


def own_functions(nodes: Sequence[Any]) -> list[str]:
    return [type(node).__name__.removesuffix("Backward") for node in filter(is_own, nodes)]
