"""Write a graph in one line of JSON, and read it again: plain data, of which nothing is run."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from autograd_graphs.data import MARKS, Graph

GRAPH = "application/vnd.autograd-graphs.graph+json"  # its place in the metadata of an output


def written(graph: Graph) -> str:
    """Return a graph as JSON; fields that have their default are left out."""
    return json.dumps(plain(graph), ensure_ascii=False, separators=(",", ":"))


def graph_from(text: str) -> Graph:
    """Return the graph that `written` wrote. Raises ValueError for anything else."""
    try:
        graph = made(Graph, json.loads(text))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"This is no graph: {error}") from error
    led_to, states = set(), set()
    for edge in graph.edges:
        led_to |= {edge.source, edge.target}
    for root in graph.roots:
        led_to.add(root.node)
    for frame in graph.frames:
        led_to.update(frame.nodes)
    for node in graph.nodes:
        states.update([saved.state for saved in node.saved])
    if not led_to <= {None, *range(len(graph.nodes))} or not states <= MARKS.keys():
        raise ValueError("This is no graph: an edge, a root or a state leads nowhere.")
    return graph


def plain(value: Any) -> Any:
    if is_dataclass(value):
        own = [(field, getattr(value, field.name)) for field in fields(value)]
        return {field.name: plain(inner) for field, inner in own if inner != field.default}
    if isinstance(value, tuple):
        return list(map(plain, value))
    if isinstance(value, complex):
        return {"real": value.real, "imag": value.imag}
    return value


@cache
def hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def made(kind: Any, value: Any) -> Any:
    """Return plain data as the type that a field has. Raises ValueError for other data."""
    if is_dataclass(kind):
        return record(kind, value)
    if get_origin(kind) is tuple:
        return listed(get_args(kind), value)
    if NoneType in get_args(kind):
        inner, _ = get_args(kind)  # X | None
        return None if value is None else made(inner, value)
    if kind is Any:
        return anything(value)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"This is no graph: {type(value).__name__} instead of {kind}.")
    return value


def anything(value: Any) -> Any:
    """Return numbers as they were: nested in tuples, or complex."""
    if isinstance(value, list):
        return tuple(map(anything, value))
    return complex(**value) if isinstance(value, dict) else value


def record(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict) or not value.keys() <= hints(kind).keys():
        raise ValueError(f"This is no graph: there is no {kind.__name__}.")
    return kind(**{name: made(hints(kind)[name], inner) for name, inner in value.items()})


def listed(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("This is no graph: a list is missing.")
    return tuple([made(kinds[0], item) for item in value])
