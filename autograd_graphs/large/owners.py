"""Guess module calls, where none were taken down, by the parameters that operations read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from autograd_graphs.data import Call, Node, TensorInfo
from autograd_graphs.large.execution_order import Program
from autograd_graphs.text import call_labels

Path = tuple[str, ...]


def guessed_calls(program: Program) -> list[Call]:
    """Return stretches of a program as calls of the modules that own the parameters read there.

    An operation that reads none goes with those around it, but for what ran first or last: a loss.
    """
    calls: list[Any] = []  # None where one has not ended yet
    running: list[tuple[int, int]] = []  # place in `calls` and start of each, outer ones first
    before: Path = ()
    paths = [*filled([reads(program, at) for at in range(len(program))]), ()]
    for at, path in enumerate(paths):
        shared = len(common((before, path)))
        while len(running) > shared:
            nr, start = running.pop()
            depth = len(running)
            calls[nr] = Call(".".join(before[: depth + 1]), "", depth, start, at)
        for _ in path[shared:]:
            running.append((len(calls), at))
            calls.append(None)
        before = path
    labels = call_labels((call.name, call.depth) for call in calls)
    numbered = zip(calls, labels, strict=True)
    return [replace(call, label=as_guess(label), times=times) for call, (label, times) in numbered]


def as_guess(label: str) -> str:
    """Return a label that does not say which call it is: "cell[3]" is the third to be seen."""
    return label.replace("[call ", "[")


def filled(paths: list[Path | None]) -> list[Path]:
    """Replace None by what the nearest paths before and after it share, or by the parent of the one
    before; by nothing where there is none before or after.
    """
    after: list[Path | None] = []
    following: Path | None = None
    for path in reversed(paths):
        if path is not None:
            following = path
        after.append(following)
    complete: list[Path] = []
    before: Path | None = None
    for path, following in zip(paths, reversed(after), strict=True):
        if path is not None:
            before = path
            complete.append(path)
        elif before is None or following is None:
            complete.append(())
        else:
            complete.append(max(common((before, following)), before[:-1], key=len))
    return complete


def reads(program: Program, at: int) -> Path | None:
    """Return the path that all parameters share which an operation reads; None for no parameter."""
    node = program.nodes[at]
    owners: list[Path] = []
    for saved in program.graph.nodes[node].saved:  # a frozen parameter is no leaf
        if saved.tensor:
            owners += holders(saved.tensor)
    for edge in program.below.get(node, ()):
        if edge.target is not None and (path := owner(program.graph.nodes[edge.target])):
            owners.append(path)
    return common(owners) if owners else None


def owner(node: Node) -> Path:
    """Return the path of the module that holds a leaf; empty for any other node."""
    if not node.is_leaf:
        return ()
    return next(holders(node.outputs[0]), ())


def holders(tensor: TensorInfo) -> Iterator[Path]:
    """Yield the path of each module that holds a tensor."""
    for name in tensor.names:
        if "." in name:
            yield tuple(name.split(".")[:-1])


def common(paths: Iterable[Path]) -> Path:
    """Return the beginning that all paths share; empty where there is none."""
    shared: Path | None = None
    for path in paths:
        if shared is None:
            shared = path
        length = 0
        while length < min(len(path), len(shared)) and path[length] == shared[length]:
            length += 1
        shared = shared[:length]
    return shared or ()
