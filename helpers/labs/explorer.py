"""The lab of lesson 04: a few programs, and of each node what it saves and its `next_functions`."""

from __future__ import annotations

import torch

from autograd_graphs.data import Graph, counted
from autograd_graphs.looking.snapshot import snapshot
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row
from helpers.labs.engine.world import Action, World

PROGRAM = "programs"


def program(name: str, leaves: str, lines: str, called: str) -> Action:
    return Action(name, f"{leaves}\n{lines}", "", PROGRAM, anew=True, called=called)


def leaf(values: object) -> torch.Tensor:
    """Return what the lines of the programs call a leaf."""
    return torch.tensor(values, requires_grad=True)


class Programs(World):
    """One program at a time, and one of its nodes in view; what was bound last is its root."""

    actions = (
        program("divide", "a, b = leaf(6.), leaf(2.)", "c = a / b", "quotient"),
        program("scaled_sum", "x = leaf([1., 2., 3.])", "y = x * 2; z = y.sum()", "sum"),
        program(
            "sum_of_two",
            "a, b, c, d = map(leaf, (2., 3., 5., 10.))",
            "u = a * b; t = torch.log(d); v = c * t; e = u + v",
            "products",
        ),
        program("matrix", "M = leaf([[1., 2.], [3., 4.]])", "loss = torch.trace(M @ M.T)", "trace"),
        program("chain", "x = leaf(4.)", "p = x.sqrt(); q = p.exp(); r = -q", "chain"),
        Action("look_on", ""),  # no button: nodes are clicked
    )
    tools = ("leaf",)

    def reset(self) -> None:
        self.choose(self.actions[0])

    def run(self, action: Action) -> None:
        if action.code:
            self.choose(action)
        else:
            self.node = min(self.node + 1, len(self.graph().nodes) - 1)

    def choose(self, action: Action) -> None:
        """Begin anew with a program, at its root."""
        super().reset()
        self.bound["leaf"] = leaf
        self.execute(action.code)
        self.node, self.program = 0, action.name
        self._graph: Graph | None = None

    def chosen(self) -> tuple[str, ...]:
        return (self.program,)

    def roots(self) -> tuple[torch.Tensor, ...]:
        return tuple(self.variables().values())[-1:]

    def graph(self) -> Graph:
        if self._graph is None:
            self._graph = snapshot(*self.roots(), names=self.variables())
        return self._graph

    def focus(self) -> int:
        return self.node

    def facts(self) -> tuple[Row, ...]:
        """Return what there is to know of the node, in as many lines for every node."""
        graph = self.graph()
        tables = [rows(graph, number) for number in range(len(graph.nodes))]
        missing = max(map(len, tables)) - len(tables[self.node])
        return (*tables[self.node], *[Row("", "")] * missing)

    def title(self) -> str:
        return self.graph().nodes[self.node].operation

    def say(self) -> str:
        graph = self.graph()
        node = graph.nodes[self.node]
        if node.is_leaf:
            return f"AccumulateGrad holds the leaf {node.name} itself: what arrives is added to {node.name}.grad."
        kept = ", ".join(str(cell)[2:] for cell in node.saved) or "nothing"
        entries = counted(len(graph.inputs_by_node()[self.node]), "entry", "entries")
        saves = f"It saves {kept}, and next_functions has {entries}."
        return f"It made {node.name}. {saves}" if node.name else saves


def rows(graph: Graph, number: int) -> list[Row]:
    """Return the table of one node: names and texts, long ones over several lines."""
    node = graph.nodes[number]
    if node.is_leaf:
        leaf = node.outputs[0]
        return [
            Row("node", node.operation),
            Row("variable", f"{leaf.name} = {leaf.value}"),
            Row("next_functions", "()"),
        ]
    saved = list(map(str, node.saved)) or ["nothing"]
    edges = [lead(graph, edge.target, edge.input_nr) for edge in graph.inputs_by_node()[number]]
    return [Row("node", node.operation), *titled("saves", saved), *titled("next_functions", edges)]


def lead(graph: Graph, target: int | None, input_nr: int) -> str:
    """Return an entry of `next_functions` as text, with what the tensor there is called."""
    if target is None:
        return f"(None, {input_nr})"
    node = graph.nodes[target]
    return f"({node.operation}, {input_nr})  {node.name}".rstrip()


def titled(title: str, texts: list[str]) -> list[Row]:
    first, *rest = texts
    return [Row(title, first), *[Row("", text) for text in rest]]


ALL = ["divide", "scaled_sum", "sum_of_two", "matrix", "chain"]

explorer = Lab(
    "explorer",
    Programs,
    9,
    "Lab: the graphs of five programs. The frame marks your node, and the table says what it keeps.",
    {
        "start": "divide",
        "division": "divide",
        "a constant": "scaled_sum look_on",
        "a leaf": "divide look_on",
        "sum of two": "sum_of_two",
        "log": "sum_of_two look_on look_on look_on look_on look_on look_on",
        "one leaf used twice": "matrix",
        "saves its output": "chain look_on",
    },
    [
        Question(
            "Which `MulBackward0` keeps a single tensor? Which one keeps what another operation made?",
            ["scaled_sum look_on", "sum_of_two look_on look_on"],
        ),
        Question("In which programs does no operation keep a leaf?", ALL),
        Question("How many operations keep nothing?", ALL),
    ],
)
