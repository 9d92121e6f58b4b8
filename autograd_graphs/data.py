"""Frozen, plain data about a backward graph, and its text: no torch in here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from autograd_graphs.text import bounded, in_bytes, number, numbers

BY_PARAMETERS = "Boxes are guessed from the parameters read; `module_calls` makes them exact."
NOT_FOLDED = "This graph couldn't be folded, so it's drawn node by node. Please report the model."
DEEPEST = 24  # levels of indentation of the text tree; what is deeper continues at the left margin
WORTH_TELLING = 1_000  # bytes: what holds less is told without them
SUFFIX = re.compile(r"(?<=.)Backward(Autograd[A-Za-z]*)?\d*(_copy)?$")
MARKS = {"held": "●", "freed": "○", "modified": "▲", "packed": "◆", "edited": "◇", "busy": "◌"}
NOTES = {
    "held": "",
    "freed": "freed",
    "modified": "modified since",
    "packed": "packed by a hook",
    "edited": "view of an edited tensor",
    "busy": "in use: a backward runs in another thread",
}


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """Hold what is known of a gradient: its shape, and its values where it is small.

    `values` is a number, or nested tuples of numbers. A larger gradient has `norm`, `least` and
    `greatest` where they were computed. `shape` is None where torch refuses to say.

    For a picture there is, where it was computed, `tile`: the values of up to 64 elements, row by
    row of the last dimension; a larger one has `bins`: how many of its finite values, or of a
    sample of them, lie in each of 15 bins from -m to m, the greatest absolute value of these.
    `nans` and `infs` count what is not finite.

    Equal are two of which all that is alike to the last bit.
    """

    shape: tuple[int, ...] | None
    values: Any = None
    norm: Any = None
    least: Any = None
    greatest: Any = None
    tile: tuple[tuple[float, ...], ...] | None = None
    bins: tuple[int, ...] | None = None
    nans: int = 0
    infs: int = 0

    @property
    def brief(self) -> str:
        """Return the values as text, or the shape alone."""
        return str(self) if self.norm is None else str(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gradient) and repr(self) == repr(other)  # nan is equal to nan here

    def __hash__(self) -> int:
        return hash(repr(self))

    def __str__(self) -> str:
        if self.values is not None:
            return numbers(self.values)
        if self.norm is None:
            return str(self.shape or "n/a")
        span = f"{number(self.least)} to {number(self.greatest)}"
        return f"{self.shape} norm {number(self.norm)}, {span}"


def elements(values: Any) -> list[Any]:
    """Return the numbers in nested tuples."""
    if not isinstance(values, tuple):
        return [values]
    return list(chain.from_iterable(map(elements, values)))


def tile_of(values: Any) -> tuple[tuple[float, ...], ...] | None:
    """Return nested real numbers row by row of the last dimension; None for fewer than two."""
    flat = elements(values)
    if len(flat) < 2 or any(isinstance(value, complex) for value in flat):
        return None
    wide = values
    while isinstance(wide[0], tuple):
        wide = wide[0]
    return tuple(tuple(flat[at : at + len(wide)]) for at in range(0, len(flat), len(wide)))


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Hold what is known of one tensor: a leaf, or a tensor that a backward function made.

    `names` are the learner's own, at most two. `shape` is None where torch refuses to say. `value`
    is a short text of a small leaf's values, and in a player of the number from which a backward
    starts; `values` are the numbers themselves. `keeps_grad` says
    whether there is a `.grad` to look at, as a leaf has it, and any tensor once retain_grad() was
    called; `grad` is what it holds, None where it is empty.
    """

    names: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = ()
    dtype: str = "float32"
    device: str = "cpu"
    requires_grad: bool = True
    value: str | None = None
    keeps_grad: bool = False
    grad: Gradient | None = None
    values: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def kind(self) -> str:
        """Say shape, dtype and device, leaving out what is usual: (), float32, cpu."""
        words = []
        if self.shape is None:
            words.append("(n/a)")
        elif self.shape:
            words.append(str(self.shape))
        if self.dtype != "float32":
            words.append(self.dtype)
        if self.device != "cpu":
            words.append(self.device)
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Storage:
    """Hold one piece of memory that saved tensors keep alive; views of one tensor share it.

    `number` counts those of a graph in the order in which they were met, from 0; `size` is in
    bytes, and None where unknown: then `number` is below 0. `is_leaf` says that a leaf of the graph
    lives in it, as a parameter does: it stays alive without the graph.
    """

    number: int
    size: int | None = None
    is_leaf: bool = False


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """Hold what a backward function keeps for later, and whether it still can use it.

    `state` is "held", "freed", "modified" (edited in place since), "packed" (a saved-tensor hook
    has it) or "edited": a view of a tensor that was edited, before or since; to tell which would
    rewrite its history. "busy" stands for all that an operation saved while another thread goes
    backward, and may free it at any moment. `version` is the version counter when it was saved,
    `version_now` the one found; None where unknown. `storages` is the memory that it keeps alive:
    one, none where it is freed, several where it stands for several.
    """

    name: str
    state: str
    tensor: TensorInfo | None = None
    version: int | None = None
    version_now: int | None = None
    storages: tuple[Storage, ...] = ()

    @property
    def mark(self) -> str:
        return MARKS[self.state]

    @property
    def words(self) -> str:
        """Say what is saved and how it is, without the mark."""
        words = self.name
        if self.tensor:
            known = self.tensor.name or self.tensor.value
            words = f"{self.name} = {known}" if known else f"{self.name} {self.tensor.kind}".strip()
        return f"{words} ({self.note})" if self.note else words

    @property
    def note(self) -> str:
        """Say how it is: "" where it is held, "saved at v0, now v1" where it was modified."""
        if self.version_now is None or self.state not in ("modified", "edited"):
            return NOTES[self.state]
        if self.state == "modified":
            return f"saved at v{self.version}, now v{self.version_now}"
        return f"{NOTES[self.state]}, now v{self.version_now}"

    def __str__(self) -> str:
        return f"{self.mark} {self.words}"


@dataclass(frozen=True, slots=True)
class Held:
    """Hold how much memory is kept for backward, each storage counted once.

    `size` is in bytes, in so many `storages`; `leaf_size` is what saved leaves take, which live
    anyway; of `unknown` saved tensors the size is not known, such as of those packed by a hook.
    """

    size: int = 0
    storages: int = 0
    leaf_size: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        words = f"{in_bytes(self.size)} for backward in {counted(self.storages, 'storage')}"
        if self.leaf_size:
            words += f", besides saved leaves of {in_bytes(self.leaf_size)}"
        if self.unknown:
            words += f"; the size of {self.unknown:,} more isn't known"
        return words


def held(saved: Iterable[SavedTensor]) -> Held:
    """Return how much memory saved tensors keep alive together."""
    sizes: dict[tuple[int, bool], int] = {}
    unknown = set()
    for tensor in saved:
        for storage in tensor.storages:
            if storage.size is None:
                unknown.add(storage.number)
                continue
            key = storage.number, storage.is_leaf
            sizes[key] = max(sizes.get(key, 0), storage.size)
    own = [size for (_, is_leaf), size in sizes.items() if not is_leaf]
    return Held(sum(own), len(own), sum(sizes.values()) - sum(own), len(unknown))


@dataclass(frozen=True, slots=True)
class Folded:
    """Hold what one box of a folded graph stands for: equal copies of a part, each with its own
    name.

    `copies` are their names in the order in which they ran; each copy has so many `operations`, and
    `leaves` that nothing else uses. `with_grad` counts the leaves in all of them whose `.grad`
    holds a gradient. `kind` is the class of a module that was called. `is_guess` says that the
    module is known only by the parameters read.
    """

    copies: tuple[str, ...]
    operations: int
    leaves: int
    with_grad: int = 0
    kind: str = ""
    is_guess: bool = False

    @property
    def count(self) -> int:
        return len(self.copies)

    def __str__(self) -> str:
        words = []
        if self.operations:
            words.append(counted(self.operations, "operation"))
        if self.leaves:
            words.append(counted(self.leaves, "leaf", "leaves"))
        text = ", ".join(words)
        if self.count > 1:
            text += " each"
        if self.with_grad:
            text += f", {self.with_grad:,} with .grad"
        return text


def stem(operation: str) -> str:
    """Return an operation without what torch adds: "Mul" of "MulBackward0"."""
    return SUFFIX.sub("", operation)


def counted(number: int, singular: str, plural: str = "") -> str:
    """Say how many: "1 leaf", "1,000 operations"."""
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


@dataclass(frozen=True, slots=True)
class Node:
    """Hold one backward function (`torch.autograd.graph.Node`) and the tensors that its operation
    made.

    For a leaf, `operation` is "AccumulateGrad" and `outputs` holds the leaf itself. Where `folded`
    is there, the node stands for a whole part of the graph, and `outputs` are the tensors that the
    rest takes from it.
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
        named = [f"{made.name} [{nr}]" for nr, made in enumerate(self.outputs) if made.names]
        return ", ".join(named)

    @property
    def title(self) -> str:
        """Return what it does; of equal parts that are drawn together also how many they are."""
        if not self.folded or self.folded.count < 2:
            return self.operation
        return f"{self.operation} × {self.folded.count:,}"

    @property
    def held(self) -> Held:
        return held(self.saved)

    @property
    def folded_words(self) -> list[str]:
        """Say what a folded part stands for, and how much memory it keeps, where it is much."""
        words = [str(self.folded)]
        if (size := self.held.size) >= WORTH_TELLING:
            words.append(f"holds {in_bytes(size)}")
        return words

    @property
    def size(self) -> tuple[int, int]:
        """Return how many operations and leaves it stands for."""
        if self.folded:
            count = self.folded.count
            return count * self.folded.operations, count * self.folded.leaves
        return int(not self.is_leaf), int(self.is_leaf)


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one entry of `next_functions`: from a node, at a position, to output `input_nr` of a
    target.

    `target` is None for the entry `(None, 0)`, and for an entry that the cap left out (`cut=True`):
    it stands for all that follow it where they were not even counted (`many=True`).
    """

    source: int
    position: int
    target: int | None
    input_nr: int = 0
    cut: bool = False
    many: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """Hold a tensor that was asked about; `node` is None where it has no graph, `reason` why."""

    tensor: TensorInfo
    node: int | None = None
    output_nr: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """Hold one module call: its operations are `ran[start:stop]` of the graph.

    `kind` is the module's class, `depth` how many calls it was made in. `label` says which of the
    `times` that its module was called it is: "D[call 2].net".
    """

    name: str
    kind: str
    depth: int
    start: int
    stop: int
    label: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Frame:
    """Hold a module call that a folded graph shows opened: its name, and the nodes in it."""

    name: str
    nodes: tuple[int, ...]

    def head(self, count: int) -> Frame:
        """Return it with those of the first `count` nodes alone."""
        return Frame(self.name, tuple([node for node in self.nodes if node < count]))


@dataclass(frozen=True, slots=True)
class Span:
    """Hold where a node's operation stands in the lines of a `Program`.

    `line` is the place among its lines. The expression takes columns `start` up to `stop`, its
    operator or the name of its function `op_start` up to `op_stop`; all four are -1 where only the
    line is known.
    """

    line: int
    start: int = -1
    stop: int = -1
    op_start: int = -1
    op_stop: int = -1


@dataclass(frozen=True, slots=True)
class Operands:
    """Hold what the source calls a node's result and its inputs, in the order of `next_functions`:
    "a * b + c" and ("a * b", "c"). A text is empty where it is not certain.
    """

    result: str = ""
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Hold the source lines that made a graph, and where in them its nodes were made.

    `spans` has (node, span) of the nodes whose place is certain; a leaf's is that of the one use of
    its name. `operands` has (node, operands) of nodes whose expression is certain.
    """

    lines: tuple[str, ...] = ()
    spans: tuple[tuple[int, Span], ...] = ()
    operands: tuple[tuple[int, Operands], ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Hold a backward graph; a node's id is its place in `nodes`, found breadth first from the
    roots.

    `ran` are the ids of the operations in the order in which the forward pass ran them. `calls` are
    the module calls that were taken down, each before those made in it; `without_calls` says why
    there are none although some were given. `folding_failed` says that it is whole only because
    folding it went wrong. `at_least` is 0 where the graph was walked to its end; else how many
    nodes were met before the walk stopped. `frames` are the module calls that a folded graph shows
    opened, outer ones first.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    roots: tuple[Root, ...]
    ran: tuple[int, ...] = field(default=(), compare=False)
    calls: tuple[Call, ...] = field(default=(), compare=False)
    without_calls: str = ""
    folding_failed: bool = False
    at_least: int = 0
    frames: tuple[Frame, ...] = field(default=(), compare=False)

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def operations(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if not node.is_leaf)

    @property
    def size(self) -> tuple[int, int]:
        """Return how many operations and leaves it has, those counted that are folded."""
        operations = leaves = 0
        for node in self.nodes:
            more_operations, more_leaves = node.size
            operations += more_operations
            leaves += more_leaves
        return operations, leaves

    @property
    def held(self) -> Held:
        """Say how much memory it keeps for backward; what two nodes saved counts once."""
        return held(chain.from_iterable(node.saved for node in self.nodes))

    @property
    def memory(self) -> str:
        """Say in one sentence how much memory is kept for backward; empty where it is little."""
        memory = self.held
        if memory.size < WORTH_TELLING:
            return ""
        owner = "The nodes looked at hold" if self.at_least else "The graph holds"
        return f"{owner} {memory}."

    @property
    def left_out(self) -> str:
        """Say in one sentence what the cap left out; empty where the graph is whole."""
        cut = [edge for edge in self.edges if edge.cut]
        if not cut:
            return ""
        lead = "1 input leads" if len(cut) == 1 else f"{len(cut):,} inputs lead"
        if any(edge.many for edge in cut):
            lead = f"at least {lead}"
        shown = f"the {sum(self.size):,} nodes nearest to the root are shown"
        unknown = ""
        if self.at_least:
            unknown = f" It has at least {self.at_least:,} nodes; exactly how many isn't known."
        return f"Cut here: {shown}; {lead} further.{unknown}"

    @property
    def how_to_open(self) -> str:
        """Say in one sentence how to see what is folded; empty where nothing is."""
        parts = [node.folded for node in self.nodes if node.folded]
        if not parts:
            return ""
        last = max(parts, key=lambda part: part.count).copies[-1]
        return f"{counted(len(parts), 'folded part')}: unfold={last!r} opens one, unfold=True all."

    @property
    def remarks(self) -> list[str]:
        """Return the sentences on what is not shown, or not as it should be."""
        remarks = [NOT_FOLDED] if self.folding_failed else []
        remarks += [self.without_calls, self.left_out, self.how_to_open]
        if any(node.folded and node.folded.is_guess for node in self.nodes):
            remarks.append(BY_PARAMETERS)
        return [text for text in remarks if text]

    @property
    def closing(self) -> list[str]:
        return [*self.remarks, *filter(None, [self.memory])]

    def inputs_by_node(self) -> dict[int, tuple[Edge, ...]]:
        """Return the edges of every node in the order of its `next_functions`."""
        inputs: dict[int, list[Edge]] = {}
        for edge in self.edges:
            inputs.setdefault(edge.source, []).append(edge)
        return {node: tuple(edges) for node, edges in inputs.items()}

    def head(self, count: int) -> Graph:
        """Return the first `count` nodes as a graph; edges that lead further are cut."""
        edges = []
        for edge in self.edges:
            if edge.source < count:
                if edge.target is not None and edge.target >= count:
                    edge = replace(edge, target=None, cut=True)
                edges.append(edge)
        roots = tuple(root for root in self.roots if root.node is None or root.node < count)
        frames = tuple([frame.head(count) for frame in self.frames])
        nodes = self.nodes[:count]
        edges = tuple(edges)
        return replace(self, nodes=nodes, edges=edges, roots=roots, ran=(), calls=(), frames=frames)

    def __str__(self) -> str:
        return tree(self)


def tree(
    graph: Graph, remarks: Sequence[str] | None = None, words: Mapping[int, str] | None = None
) -> str:
    """Return one line per use of a node, results first; a shared node is spelled out once.

    `remarks` stand in the place of the graph's own; `words` end the lines of nodes, by number.
    """
    lines = _Lines(graph, words or {}).write()
    if remarks is None:
        remarks = graph.closing
    return "\n".join([*bounded(lines), *remarks])


def line(node: Node) -> str:
    """Return one node as text: what it is, the tensor it made, what it saved."""
    if node.is_leaf:
        return leaf_line(node)
    words = node.title
    if node.name:
        words += f" → {node.name}"
    if node.outputs and node.outputs[0].kind:
        words += f" {node.outputs[0].kind}"
    if node.folded:
        words += f", {', '.join(node.folded_words)}"
    for made in node.outputs:
        if made.keeps_grad:
            words += f", .grad {made.grad}"
    for saved_tensor in node.saved:
        words += f"   {saved_tensor}"
    return words


def leaf_line(node: Node) -> str:
    """Return an AccumulateGrad as text: its leaf, with value or shape, and `.grad`."""
    leaf = node.outputs[0]
    words = f"leaf {leaf.name or 'unnamed'}"
    if leaf.value:
        words += f" = {leaf.value}"
    elif leaf.kind:
        words += f" {leaf.kind}"
    words += f", .grad {leaf.grad}"
    if not leaf.requires_grad:
        words += ", requires_grad=False"
    return f"{node.operation} ({words})"


def reference(node: Node) -> str:
    """Return the few words that point to a node which was spelled out before."""
    if node.is_leaf:
        return f"{node.operation} (leaf {node.outputs[0].name or 'unnamed'})"
    return f"{node.title} → {node.name}" if node.name else node.title


class _Lines:
    """Write the tree iteratively: a graph may be far deeper than Python's stack."""

    def __init__(self, graph: Graph, words: Mapping[int, str]) -> None:
        self.graph, self.words, self.inputs = graph, words, graph.inputs_by_node()
        uses = Counter(edge.target for edge in graph.edges if edge.target is not None)
        uses.update(root.node for root in graph.roots if root.node is not None)
        shared = sorted(node for node, count in uses.items() if count > 1)
        self.numbers = {node: number for number, node in enumerate(shared, start=1)}
        self.shown: set[int] = set()
        self.later: list[int] = []

    def write(self) -> list[str]:
        lines = []
        for root in self.graph.roots:
            if root.node is None:
                fact, _, why = root.reason.partition(": ")
                lines.append(f"{root.tensor.name or 'this tensor'} has no graph: {fact} ({why})")
            else:
                lines += self.subtree(root.node, root.output_nr)
        while self.later:
            node = self.later.pop(0)
            if node not in self.shown:
                lines += ["…", *self.subtree(node, 0)]
        return lines

    def subtree(self, node: int, output_nr: int) -> list[str]:
        """Return the lines of a node and of all below it that were not shown yet."""
        lines: list[str] = []
        stack = [(Edge(node, 0, node, output_nr), "", "", 0)]
        while stack:
            edge, lead, indent, depth = stack.pop()
            below = self.below(edge)
            if depth == DEEPEST and below:
                self.later.append(edge.target)  # spelled out under a number, at the left margin
                self.numbers.setdefault(edge.target, len(self.numbers) + 1)
                lines.append(f"{lead}{self.label(edge)} … continues below")
                continue
            lines.append(lead + self.label(edge))
            self.shown.add(edge.target)
            for following, child in enumerate(reversed(below)):
                bar, pad = ("├─ ", "│  ") if following else ("└─ ", "   ")
                stack.append((child, indent + bar, indent + pad, depth + 1))
        return lines

    def below(self, edge: Edge) -> list[Edge]:
        """Return the inputs of an edge's target, of several cut in a row the first."""
        if edge.target in self.shown:
            return []
        children: list[Edge] = []
        for child in self.inputs.get(edge.target, ()):
            if not (child.cut and children and children[-1].cut):
                children.append(child)
        return children

    def label(self, edge: Edge) -> str:
        if edge.cut:
            return "… left out"
        if edge.target is None:
            return "(None, 0): no gradient wanted here"
        node = self.graph.nodes[edge.target]
        tag = ""
        if edge.target in self.numbers:
            tag = f"#{self.numbers[edge.target]} "
        if len(node.outputs) > 1:
            tag += f"[output {edge.input_nr}] "
        if edge.target in self.shown:
            return f"{tag}{reference(node)}, shown above"
        words = self.words.get(edge.target)
        if words:
            return f"{tag}{line(node)}   {words}"
        return tag + line(node)
