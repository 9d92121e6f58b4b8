"""Frozen, plain data about a backward graph: no tensor, no autograd object and no torch in here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helpers.tree import tree


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Hold what is known of one tensor: a leaf, or a tensor that a backward function made.

    `names` are the learner's own, at most two. `shape` is None where torch refuses to say.
    `value` and `grad` are short texts, or None: a small leaf has both, another tensor a `grad` once
    retain_grad() was called. `grad` is "None" for an empty `.grad`.
    """

    names: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = ()
    dtype: str = "float32"
    device: str = "cpu"
    requires_grad: bool = True
    value: str | None = None
    grad: str | None = None

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def kind(self) -> str:
        """Say shape, dtype and device in a few words, leaving out what is usual: (), float32, cpu."""
        shape = "(n/a)" if self.shape is None else str(self.shape) if self.shape else ""
        unusual = [word for word, usual in ((self.dtype, "float32"), (self.device, "cpu")) if word != usual]
        return " ".join([shape, *unusual]).strip()


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """Hold what a backward function keeps for later, and whether it still can use it.

    `state` is "held", "freed", "modified" (edited in place since), "packed" (a saved-tensor hook has it) or
    "edited": a view of a tensor that was edited, before or since; to tell which would rewrite its history.
    `version` is the version counter when it was saved, `version_now` the one found; None where unknown.
    """

    name: str
    state: str
    tensor: TensorInfo | None = None
    version: int | None = None
    version_now: int | None = None

    @property
    def mark(self) -> str:
        return {"held": "●", "freed": "○", "modified": "▲", "packed": "◆", "edited": "◇"}[self.state]

    def __str__(self) -> str:
        known = self.tensor and (self.tensor.name or self.tensor.value)
        what = f"{self.name} = {known}" if known else f"{self.name} {self.tensor.kind if self.tensor else ''}".strip()
        notes = {
            "held": "",
            "freed": " (freed)",
            "modified": f" (saved at v{self.version}, now v{self.version_now})",
            "packed": " (packed by a hook)",
            "edited": f" (view of an edited tensor, now v{self.version_now})",
        }
        return f"{self.mark} {what}{notes[self.state]}"


@dataclass(frozen=True, slots=True)
class Node:
    """Hold one backward function (`torch.autograd.graph.Node`) and the tensors that its operation made.

    For a leaf, `operation` is "AccumulateGrad" and `outputs` holds the leaf itself.
    """

    operation: str
    outputs: tuple[TensorInfo, ...]
    is_leaf: bool = False
    saved: tuple[SavedTensor, ...] = ()

    @property
    def name(self) -> str:
        """Name the tensors that it made: "t", or "p [0], q [1]" where there are several."""
        if len(self.outputs) == 1:
            return self.outputs[0].name
        return ", ".join(f"{out.name} [{nr}]" for nr, out in enumerate(self.outputs) if out.names)


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one entry of `next_functions`: from a node, at a position, to output `input_nr` of a target.

    `target` is None for the entry `(None, 0)`, and for an entry that the cap left out (`cut=True`).
    """

    source: int
    position: int
    target: int | None
    input_nr: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """Hold one tensor that was asked about; `node` is None, and `reason` says why, where it has no graph."""

    tensor: TensorInfo
    node: int | None = None
    output_nr: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """Hold a backward graph; a node's id is its place in `nodes`, found breadth first from the roots."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    roots: tuple[Root, ...]

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def operations(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if not node.is_leaf)

    @property
    def left_out(self) -> str:
        """Say in one sentence what the cap left out; empty where the graph is whole."""
        cut = sum(edge.cut for edge in self.edges)
        if not cut:
            return ""
        lead = "1 input leads" if cut == 1 else f"{cut:,} inputs lead"
        return f"Cut here: the {len(self.nodes):,} nodes nearest to the root are shown; {lead} further."

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
        return tree(self)
