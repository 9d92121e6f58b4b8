"""Find the tensors that names and expressions of a learner hold now, without asking objects."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import torch

from autograd_graphs.looking.certain import Place
from autograd_graphs.looking.statements import Replay, Value
from autograd_graphs.looking.tensors import may_be_stale, read
from autograd_graphs.looking.variable_names import named


class LiveTensors:
    """Know what names hold now that a source was replayed, and which node of a walk made it."""

    def __init__(self, met: Sequence[Any], replay: Replay) -> None:
        self.live, self.current = replay.live, replay.names
        self.index = {id(node): number for number, node in enumerate(met)}
        self.names: dict[int, list[str]] = {}
        for name, value in replay.names.items():
            self.names.setdefault(id(value), []).append(name)

    def where_made(self, thing: Any) -> Place | None:
        """Return the node that made a tensor, and its output; None where the graph has none."""
        if not torch.is_tensor(thing) or not read(thing, "requires_grad") or may_be_stale(thing):
            return None
        node, output_nr = read(thing, "grad_fn"), 0
        if node is None:
            node = thing  # a leaf
        else:
            output_nr = read(thing, "output_nr")
        if id(node) not in self.index:
            return None
        return self.index[id(node)], output_nr

    def held(self, value: Value) -> Any:
        """Return the tensor that a name holds which still stands for a value; None where none."""
        for name in self.names.get(id(value), ()):
            if torch.is_tensor(self.live.get(name)):
                return self.live[name]
        thing = None
        if value.kind == "unknown" and isinstance(value.expr, (ast.Attribute, ast.Subscript)):
            thing = self.reached(value.expr)
        return thing if torch.is_tensor(thing) else None

    def reached(self, expr: ast.expr) -> Any:
        """Return what an expression of names, module attributes and plain containers holds now."""
        if isinstance(expr, ast.Name):
            value = self.current.get(expr.id)
            known = value is None or value.kind == "unknown" or value.callee is not None
            return self.live.get(expr.id) if known else None
        if isinstance(expr, ast.Attribute):
            return part_of(self.reached(expr.value), expr.attr)
        if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
            return item_of(self.reached(expr.value), expr.slice.value)
        return None


def part_of(thing: Any, name: str) -> Any:
    """Return a module's parameter, buffer or submodule, without asking the module."""
    if not isinstance(thing, torch.nn.Module):
        return None
    inside = vars(thing)
    for kind in ("_parameters", "_buffers", "_modules"):
        part = inside.get(kind, {}).get(name)
        if part is not None:
            return part
    part = inside.get(name)
    return part if torch.is_tensor(part) else None


def item_of(thing: Any, key: Any) -> Any:
    """Return what a plain list, tuple or dict holds under a plain key."""
    if type(thing) is dict and type(key) is str:
        return dict(named(thing)).get(key)
    if type(thing) in (list, tuple) and type(key) is int and -len(thing) <= key < len(thing):
        return thing[key]
    return None
