"""A graph as a text tree that a student can read and a test can compare. Plain data in, plain text out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from helpers.text import bounded

if TYPE_CHECKING:
    from helpers.graph import Graph, Node

DEEPEST = 24  # levels of indentation; what is deeper continues at the left margin


def tree(graph: Graph) -> str:
    """Return one line per use of a node, results first; a shared node is spelled out once."""
    return "\n".join([*bounded(_Lines(graph).write()), *filter(None, [graph.left_out, graph.how_to_open])])


def line(node: Node) -> str:
    """Return one node as text: what it is, the tensor it made, what it saved."""
    if node.is_leaf:
        leaf = node.outputs[0]
        value = f" = {leaf.value}" if leaf.value else f" {leaf.kind}".rstrip()
        frozen = "" if leaf.requires_grad else ", requires_grad=False"
        return f"{node.operation} (leaf {leaf.name or 'unnamed'}{value}, .grad {leaf.grad}{frozen})"
    made = f" → {node.name}" if node.name else ""
    kind = f" {node.outputs[0].kind}".rstrip() if node.outputs else ""
    folded = [str(node.folded)] if node.folded else []
    parts = [title(node) + made + kind, *folded, *grads(node)]
    return ", ".join(parts) + "".join(f"   {one}" for one in node.saved)


def title(node: Node) -> str:
    """Return what a node does; of equal parts that are drawn together also how many they are."""
    return node.operation + (f" × {node.folded.count:,}" if node.folded and node.folded.count > 1 else "")


def grads(node: Node) -> list[str]:
    """Return the gradients that retain_grad() keeps on what an operation made."""
    return [f".grad {made.grad}" for made in node.outputs if made.grad]


def reference(node: Node) -> str:
    """Return the few words that point to a node which was spelled out before."""
    if node.is_leaf:
        return f"{node.operation} (leaf {node.outputs[0].name or 'unnamed'})"
    return title(node) + (f" → {node.name}" if node.name else "")


class _Lines:
    """Write the tree iteratively: a graph may be far deeper than Python's stack."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.inputs = graph, graph.inputs_by_node()
        uses = Counter(edge.target for edge in graph.edges if edge.target is not None)
        uses.update(root.node for root in graph.roots if root.node is not None)
        shared = sorted(node for node, count in uses.items() if count > 1)
        self.numbers = {node: number for number, node in enumerate(shared, start=1)}
        self.shown: set[int] = set()
        self.later: list[int] = []

    def write(self) -> list[str]:
        out = []
        for root in self.graph.roots:
            if root.node is None:
                fact, _, why = root.reason.partition(": ")
                out.append(f"{root.tensor.name or 'this tensor'} has no graph: {fact} ({why})")
            else:
                out += self.subtree(root.node, root.output_nr)
        while self.later:
            if (node := self.later.pop(0)) not in self.shown:
                out += ["…", *self.subtree(node, 0)]
        return out

    def subtree(self, node: int, output_nr: int) -> list[str]:
        out, stack = [], [(node, output_nr, False, "", "", 0)]
        while stack:
            node, nr, cut, lead, indent, depth = stack.pop()
            below = self.inputs.get(node, ()) if node not in self.shown else ()
            if depth == DEEPEST and below:
                self.later.append(node)
                self.numbers.setdefault(node, len(self.numbers) + 1)
                out.append(lead + self.label(node, nr, cut) + " … continues below")
                continue
            out.append(lead + self.label(node, nr, cut))
            self.shown.add(node)
            below = [edge for nr, edge in enumerate(below) if not (edge.cut and nr and below[nr - 1].cut)]
            for last, child in zip([True] + [False] * len(below), reversed(below), strict=False):
                bar, pad = ("└─ ", "   ") if last else ("├─ ", "│  ")
                stack.append((child.target, child.input_nr, child.cut, indent + bar, indent + pad, depth + 1))
        return out

    def label(self, node: int | None, nr: int, cut: bool) -> str:
        if cut:
            return "… left out"
        if node is None:
            return "(None, 0): no gradient wanted here"
        data = self.graph.nodes[node]
        tag = f"#{self.numbers[node]} " if node in self.numbers else ""
        tag += f"[output {nr}] " if len(data.outputs) > 1 else ""
        return tag + (f"{reference(data)}, shown above" if node in self.shown else line(data))
