"""The lab of lesson 04: a few programs, and of each node what it saves, its `next_functions` and
its formula.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partialmethod

import torch

from helpers.graph import Graph
from helpers.labs import programs
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import World
from helpers.labs.programs import Tensors
from helpers.looking.snapshot import snapshot
from helpers.recording.local_derivatives import formulas

LINE = 44  # characters of a formula in one line of the table


class Programs(World):
    """One program at a time, and one of its nodes in view; the first tensor of a program is its
    root.
    """

    actions = (
        ("divide", "c = a / b"),
        ("scaled_sum", "z = (x * 2).sum()"),
        ("sum_of_two", "e = a * b + c * log(d)"),
        ("matrix", "loss = trace(M @ M.T)"),
        ("chain", "r = -exp(sqrt(x))"),
        ("look_on", ""),  # no button: nodes are clicked
    )

    def reset(self) -> None:
        self.divide()

    def run(self, program: Callable[[], Tensors]) -> None:
        vars(self).clear()
        made = program()
        self.__dict__.update(made)
        self.root, self.node = next(iter(made)), 0

    divide = partialmethod(run, programs.divide)
    scaled_sum = partialmethod(run, programs.scaled_sum)
    sum_of_two = partialmethod(run, programs.sum_of_two)
    matrix = partialmethod(run, programs.matrix)
    chain = partialmethod(run, programs.chain)

    def look_on(self) -> None:
        self.node += 1

    def offers(self, action: str) -> bool:
        return action != "look_on" or self.node + 1 < len(self.graph().nodes)

    def roots(self) -> tuple[torch.Tensor, ...]:
        return (getattr(self, self.root),)

    def graph(self) -> Graph:
        tensors = {name: one for name, one in vars(self).items() if name not in ("root", "node")}
        return snapshot(*self.roots(), names=tensors)

    def focus(self) -> int:
        return self.node

    def values(self) -> tuple[tuple[str, str], ...]:
        """Return what there is to know of the node, in as many lines as the longest of its program
        needs.
        """
        graph = self.graph()
        tables = [rows(graph, number) for number in range(len(graph.nodes))]
        missing = max(map(len, tables)) - len(tables[self.node])
        return (*tables[self.node], *[("", "")] * missing)

    def say(self) -> str:
        graph = self.graph()
        one = graph.nodes[self.node]
        if one.is_leaf:
            return f"AccumulateGrad holds the leaf {one.name} itself: what arrives is added to {one.name}.grad."
        kept = ", ".join(str(cell)[2:] for cell in one.saved) or "nothing"
        leads = len(graph.inputs_by_node()[self.node])
        entries = "1 entry" if leads == 1 else f"{leads} entries"
        made = f" made {one.name};" if one.name else ""
        return f"{one.operation}:{made} it saves {kept}, and next_functions has {entries}."


def rows(graph: Graph, number: int) -> list[tuple[str, str]]:
    """Return the table of one node: names and texts, long ones over several lines."""
    one = graph.nodes[number]
    if one.is_leaf:
        leaf = one.outputs[0]
        return [
            ("node", one.operation),
            ("variable", f"{leaf.name} = {leaf.value}"),
            ("next_functions", "()"),
        ]
    saved = [str(cell) for cell in one.saved] or ["nothing"]
    edges = [lead(graph, edge.target, edge.input_nr) for edge in graph.inputs_by_node()[number]]
    texts = [
        line
        for key, rule in formulas(one.operation).items()
        for line in textwrap.wrap(f"{key}: {rule}", LINE)
    ]
    return [
        ("node", one.operation),
        *titled("saves", saved),
        *titled("next_functions", edges),
        *titled("formula", texts),
    ]


def lead(graph: Graph, target: int | None, input_nr: int) -> str:
    """Return an entry of `next_functions` as text, with what the tensor there is called."""
    if target is None:
        return f"(None, {input_nr})"
    name = graph.nodes[target].name
    return f"({graph.nodes[target].operation}, {input_nr})" + (f"  {name}" if name else "")


def titled(title: str, texts: list[str]) -> list[tuple[str, str]]:
    return [(title if nr == 0 else "", text) for nr, text in enumerate(texts)]


explorer = Lab(
    "explorer",
    Programs,
    9,
    "Lab: the graphs of five programs; the node in view is framed, and the table tells what it keeps.",
    {
        "division": "divide",
        "a constant": "scaled_sum look_on",
        "a leaf": "divide look_on",
        "sum of two": "sum_of_two",
        "log": "sum_of_two look_on look_on look_on look_on look_on look_on",
        "one leaf used twice": "matrix",
        "saves its output": "chain look_on",
    },
)
