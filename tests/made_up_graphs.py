"""Strategies for folding: programs with loops in loops, and graphs of plain data that no program
made.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import strategies as st

from autograd_graphs.data import Call, Edge, Graph, Node, Root, TensorInfo
from autograd_graphs.text import call_labels
from helpers import snapshot

STEPS = {
    "sin": lambda x, leaves: x.sin(),
    "own": lambda x, leaves: x * leaves.fresh(),
    "shared": lambda x, leaves: x + leaves.shared,
    "split": lambda x, leaves: torch.cat(x.chunk(2)[::-1]),
    "skip": lambda x, leaves: x + leaves.first.cos(),
    "edit": lambda x, leaves: x.clone().mul_(2),
}

Block = tuple  # (times, steps): a step is a word of STEPS or a block


class Leaves:
    def __init__(self):
        self.first, self.shared = (
            torch.full((4,), value, requires_grad=True) for value in (1.0, 2.0)
        )
        self.own = []

    def fresh(self):
        self.own.append(torch.full((4,), 0.5, requires_grad=True))
        return self.own[-1]


def blocks() -> st.SearchStrategy[Block]:
    """Draw a loop: how often it runs, and what is in it, loops included."""
    word = st.sampled_from(list(STEPS))
    inner = st.tuples(st.integers(1, 4), st.lists(word, min_size=1, max_size=3).map(tuple))
    return st.tuples(st.integers(1, 6), st.lists(word | inner, min_size=1, max_size=4).map(tuple))


def loops() -> st.SearchStrategy[tuple[Block, ...]]:
    return st.lists(blocks(), min_size=1, max_size=3).map(tuple)


def run(program: tuple[Block, ...]) -> Graph:
    """Run blocks one after the other; return the graph of the sum of what comes out."""
    leaves = Leaves()
    x = leaves.first
    for block in program:
        x = _run(block, x, leaves)
    return snapshot(x.sum())


def _run(block, x, leaves):
    times, steps = block
    for _ in range(times):
        for step in steps:
            x = STEPS[step](x, leaves) if isinstance(step, str) else _run(step, x, leaves)
    return x


def info(name=""):
    return TensorInfo((name,) if name else (), (2,))


@st.composite
def graphs(draw) -> Graph:
    """Draw a graph of plain data."""
    length = draw(st.integers(1, 24))
    ops = [
        Node(draw(st.sampled_from("ABC")), (info(),) * draw(st.integers(1, 2)))
        for _ in range(length)
    ]
    owners = st.sampled_from(["", "w", "m.a.w", "m.b.w", "m.b.c.w", "n.0.w", "n.1.w"])
    names = draw(st.lists(owners, min_size=1, max_size=5))
    leaves = [Node("AccumulateGrad", (info(name),), True) for name in names]
    place = st.integers(0, length + len(leaves) - 1)
    reads = [[draw(place) for _ in range(draw(st.integers(0, 3)))] for _ in range(length)]
    return reachable(ops, leaves, reads)


def modules() -> st.SearchStrategy[tuple]:
    """Draw a module: operations with so many parameters of its own, and modules in it that it calls
    so often; a negative count stands for so many numbered modules, each called once.
    """
    operation = st.tuples(st.sampled_from("ABC"), st.integers(0, 2))
    return st.recursive(
        st.lists(operation, min_size=1, max_size=6).map(tuple),
        lambda inner: st.lists(
            operation | st.tuples(st.integers(-5, 5).filter(bool), inner), min_size=1, max_size=4
        ).map(tuple),
        max_leaves=8,
    )


@st.composite
def owners(draw) -> Graph:
    """Draw the graph of a chain of calls that nobody took down."""
    return replace(draw(calls()), calls=())


@st.composite
def calls(draw) -> Graph:
    """Draw the graph of a chain of calls."""
    chain: list[tuple[str, list[str]]] = []
    made: list[Call] = []
    _call(draw(modules()), "", chain, made, 0)
    ops, names = (
        chain[:120],
        list(dict.fromkeys(name for _, reads in chain[:120] for name in reads)),
    )
    leaves = [Node("AccumulateGrad", (info(name),), True) for name in names]
    own = [[len(ops) + names.index(name) for name in reads] for _, reads in ops]
    skips = draw(st.lists(st.integers(0, 5), min_size=len(ops), max_size=len(ops)))
    before = [
        [nr - 1] * bool(nr) + [max(nr - skip, 0)] * (skip > 1 and nr > 1)
        for nr, skip in enumerate(skips)
    ]
    reads = [one + other for one, other in zip(before, own, strict=True)]
    graph = reachable([Node(kind, (info(),)) for kind, _ in ops], leaves, reads)
    labels = call_labels((call.name, call.depth) for call in made)
    met = [
        replace(call, stop=min(call.stop, len(ops)), label=label, times=times)
        for call, (label, times) in zip(made, labels, strict=True)
        if call.start < len(ops)
    ]
    return replace(graph, calls=tuple(met))


def _call(
    module: tuple, path: str, chain: list[tuple[str, list[str]]], made: list[Call], depth: int
) -> None:
    for nr, (first, second) in enumerate(module):
        if isinstance(first, str):
            chain.append((first, [f"{path}w{nr}_{one}" for one in range(second)]))
            continue
        for copy in range(abs(first)):
            name = f"{path}m{nr}" if first > 0 else f"{path}m{nr}.{copy}"
            start, number = len(chain), len(made)
            made.append(Call(name, f"Kind{nr}", depth, start, start))
            _call(second, f"{name}.", chain, made, depth + 1)
            made[number] = replace(made[number], stop=len(chain))


def reachable(ops: list[Node], leaves: list[Node], reads: list[list[int]]) -> Graph:
    """Number what the last operation leads to, breadth first."""
    nodes, met, edges = [*ops, *leaves], [len(ops) - 1], []
    for source, old in enumerate(met):  # the list grows as we go
        for position, target in enumerate(reads[old] if old < len(ops) else ()):
            is_later = old <= target < len(ops)
            if not is_later and target not in met:
                met.append(target)
            number = None if is_later else met.index(target)
            output = target % len(nodes[target].outputs) if not is_later else 0
            edges.append(Edge(source, position, number, output, cut=is_later and target % 2 == 0))
    ran = sorted((nr for nr, old in enumerate(met) if old < len(ops)), key=lambda nr: met[nr])
    return Graph(
        tuple(nodes[old] for old in met), tuple(edges), (Root(info("loss"), 0),), tuple(ran)
    )
