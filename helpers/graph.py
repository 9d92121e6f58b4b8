"""Frozen, plain data about a backward graph: no tensor, no autograd object and no torch in here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from helpers.fold import fold
from helpers.folded import Folded, counted
from helpers.tensors import SavedTensor, TensorInfo
from helpers.tree import tree


@dataclass(frozen=True, slots=True)
class Node:
    """Hold one backward function (`torch.autograd.graph.Node`) and the tensors that its operation made.

    For a leaf, `operation` is "AccumulateGrad" and `outputs` holds the leaf itself. Where `folded` is there, the
    node stands for a whole part of the graph, and `outputs` are the tensors that the rest takes from it.
    """

    operation: str
    outputs: tuple[TensorInfo, ...]
    is_leaf: bool = False
    saved: tuple[SavedTensor, ...] = ()
    folded: Folded | None = None

    @property
    def name(self) -> str:
        """Name the tensors that it made: "t", or "p [0], q [1]" where there are several."""
        if len(self.outputs) == 1:
            return self.outputs[0].name
        return ", ".join(f"{out.name} [{nr}]" for nr, out in enumerate(self.outputs) if out.names)

    @property
    def size(self) -> tuple[int, int]:
        """Return how many operations and leaves it stands for."""
        if self.folded:
            return self.folded.count * self.folded.operations, self.folded.count * self.folded.leaves
        return int(not self.is_leaf), int(self.is_leaf)


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one entry of `next_functions`: from a node, at a position, to output `input_nr` of a target.

    `target` is None for the entry `(None, 0)`, and for an entry that the cap left out (`cut=True`): it stands for
    all that follow it where they were not even counted (`many=True`).
    """

    source: int
    position: int
    target: int | None
    input_nr: int = 0
    cut: bool = False
    many: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """Hold one tensor that was asked about; `node` is None, and `reason` says why, where it has no graph."""

    tensor: TensorInfo
    node: int | None = None
    output_nr: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """Hold a backward graph; a node's id is its place in `nodes`, found breadth first from the roots.

    `ran` are the ids of the operations in the order in which the forward pass ran them.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    roots: tuple[Root, ...]
    ran: tuple[int, ...] = field(default=(), compare=False)

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def operations(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if not node.is_leaf)

    @property
    def size(self) -> tuple[int, int]:
        """Return how many operations and leaves it has, those counted that are folded."""
        operations, leaves = zip(*(node.size for node in self.nodes), strict=True) if self.nodes else ((), ())
        return sum(operations), sum(leaves)

    @property
    def left_out(self) -> str:
        """Say in one sentence what the cap left out; empty where the graph is whole."""
        cut = sum(edge.cut for edge in self.edges)
        if not cut:
            return ""
        lead = "1 input leads" if cut == 1 else f"{cut:,} inputs lead"
        lead = f"at least {lead}" if any(edge.many for edge in self.edges) else lead
        return f"Cut here: the {sum(self.size):,} nodes nearest to the root are shown; {lead} further."

    @property
    def how_to_open(self) -> str:
        """Say in one sentence how to see what is folded; empty where nothing is."""
        parts = [node.folded for node in self.nodes if node.folded]
        if not parts:
            return ""
        last = max(parts, key=lambda part: part.count).copies[-1]
        how = f"unfold={last!r} opens one, unfold=True all."
        return f"{counted(len(parts), 'folded part')}, named after the parameters read: {how}"

    def inputs_by_node(self) -> dict[int, tuple[Edge, ...]]:
        """Return the edges of every node in the order of its `next_functions`."""
        found: dict[int, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.source, []).append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    def head(self, count: int) -> Graph:
        """Return the first `count` nodes as a graph of its own; edges that lead further are marked cut."""
        edges = (e for e in self.edges if e.source < count)
        kept = tuple(replace(e, target=None, cut=True) if (e.target or 0) >= count else e for e in edges)
        return Graph(self.nodes[:count], kept, tuple(r for r in self.roots if (r.node or 0) < count))

    def __str__(self) -> str:
        return tree(fold(self))
