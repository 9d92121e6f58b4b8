"""Run one program on PyTorch and on an engine of somebody's own, by the same lines, and look at what
came: the graph and what it saved, or the gradients, and how often each node ran.

A program names its leaves x, y and w, and its result z.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import torch

from autograd_graphs.guard import limited

MOST_LINES = 100_000  # may run for one program on somebody's engine; a right one that looks at all pairs needs most of it
LARGEST = 1e6  # of what a random program computes
LEAVES = ("x", "y", "w")
NAMES = "abcdefghijklm"


def on_torch(program: str, look: str) -> object:
    """Return what is seen of a program in PyTorch."""
    return _run({"Value": _tensor}, program, look, _TORCH)


def on_engine(engine: dict, program: str, look: str) -> object:
    """Return what is seen of a program on an engine."""

    def value(data: object, **flags: bool) -> object:
        return engine["Value"](_tensor(data), **flags)

    with limited(MOST_LINES):
        return _run({"Value": value}, program, look, engine)


_TORCH: dict = {}  # stands where an engine's names would


def _tensor(data: object, requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def _run(names: dict, program: str, look: str, engine: dict) -> object:
    if look == "graph":
        exec(program, names)
        return _graph(names, engine is _TORCH)
    forward, _, last = program.rpartition("\n")
    exec(forward, names)
    with _counted(names["z"].grad_fn, engine) as calls:
        exec(last, names)
    leaves = [names[name].grad for name in LEAVES if name in names]
    return [
        [grad if grad is None else _numbers(grad) for grad in leaves],
        max(calls.values(), default=0),
        len([node for node in _nodes(names["z"].grad_fn) if node not in calls]),
    ]


def _numbers(value: object) -> object:
    return (value.detach() if isinstance(value, torch.Tensor) else value.data).tolist()


def _graph(names: dict, is_torch: bool) -> list:
    """Return the number, whether it requires grad, its graph in words, and what its node knows."""
    z = names["z"]
    node, shape, saved = z.grad_fn, None, None
    if node is not None:
        shape = tuple(z.shape if is_torch else node.shape)
        if all(child for child, _ in node.next_functions):  # else PyTorch saves less than we do
            saved = _saved_by_torch(node) if is_torch else node.saved
            saved = [_name(value, names) for value in saved]
    return [_numbers(z), bool(z.requires_grad), _in_words(node, names, []), shape, saved]


def _saved_by_torch(node: object) -> list:
    fields = ("_saved_self", "_saved_other")
    return [getattr(node, field) for field in fields if hasattr(node, field)]


def _name(value: object, names: dict) -> str:
    """Return the name by which a program knows a value, or the tensor in one."""
    for name, known in names.items():
        if known is value:
            return name
        if getattr(known, "data", None) is value:
            return f"{name}.data"
    return "something else"


def _in_words(node: object, names: dict, met: list) -> str:
    """Write a graph as one text: each node with those that it leads to. One that was met before is
    "the same", with its number in the order in which they are met.
    """
    if node is None:
        return "None"
    label = node.name().rpartition("::")[2]
    if hasattr(node, "variable"):
        label += f" of {_name(node.variable, names)}"
    if node in met:
        number = "" if hasattr(node, "variable") else f" (node {met.index(node) + 1})"
        return f"the same {label}{number}"
    met.append(node)
    nodes = [
        _in_words(child, names, met) + f" [{nr}]" * bool(nr) for child, nr in node.next_functions
    ]
    return f"{label}({', '.join(nodes)})" if nodes else label


@contextlib.contextmanager
def _counted(root: object, engine: dict) -> Iterator[Counter]:
    """Count how often each node runs: in PyTorch by hooks, in an engine by its `evaluate`."""
    calls: Counter = Counter()
    if engine is _TORCH:
        handles = [node.register_hook(_counting(calls, node)) for node in _nodes(root)]
        yield calls
        for handle in handles:
            handle.remove()
        return
    real = engine["evaluate"]

    def watched(node: object, *args: object, **options: object) -> object:
        calls[node] += 1
        return real(node, *args, **options)

    engine["evaluate"] = watched
    try:
        yield calls
    finally:
        engine["evaluate"] = real


def _counting(calls: Counter, node: object) -> Callable:
    def count(*_: object) -> None:
        calls[node] += 1

    return count


def _nodes(root: object) -> list:
    """Return the nodes below and with this one."""
    found = [root] if root is not None else []
    for node in found:
        found += {child for child, _ in node.next_functions if child and child not in found}
    return found


def drawn(random: Random, lines: int, backward: bool) -> str:
    """Draw a program of so many lines, whose numbers stay whole and small enough to read."""
    while True:
        program = _drawn(random, lines, backward)
        z = _result(program)
        if z.abs().max() < LARGEST and (z.requires_grad or not backward):
            return program


def _result(program: str) -> torch.Tensor:
    names: dict = {"Value": _tensor}
    exec(program.partition("\nz.backward")[0], names)
    return names["z"]


def _drawn(random: Random, lines: int, backward: bool) -> str:
    is_vector = random.random() < 0.25
    rows = []
    for nr, name in enumerate(LEAVES[: random.choice((1, 2, 2, 3))]):
        numbers = [random.choice((-3, -2, -1, 1, 2, 3, 4, 5)) for _ in range(2)]
        data = list(map(float, numbers)) if is_vector else float(numbers[0])
        flag = ", requires_grad=True" if nr == 0 or random.random() < 0.6 else ""
        rows.append(f"{name} = Value({data}{flag})")
    known = [row[0] for row in rows]
    for name in [*NAMES[: lines - 1], "z"]:
        left, right = (known[-1 - min(int(random.expovariate(0.6)), len(known) - 1)] for _ in "12")
        right = random.choice(("2", "3")) if random.random() < 0.12 else right
        rows.append(f"{name} = {left} {random.choice('+*')} {right}")
        known.append(name)
    if backward:
        rows.append("z.backward(Value([1.0, 10.0]))" if is_vector else "z.backward()")
    return "\n".join(rows)
