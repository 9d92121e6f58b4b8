"""Write the arithmetic of one step as rows of cells: what arrives, by what it is multiplied, what is
handed on and to whom.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite

from autograd_graphs.data import Edge, Gradient, Node, Operands, Program, stem
from autograd_graphs.playing.backward_film import Cell, Row
from autograd_graphs.recording.trace import CUSTOM, LocalDerivative, Step, Trace, changer, nth
from autograd_graphs.text import short_number, short_numbers, visible

MOST_PARTS = 3  # of a sum that arrives
MOST_ROWS = 4  # of one step; further inputs are counted in words
LONGEST = 26  # characters of values that are written out
LONGEST_FORM = 60  # characters of a form in words
LONGEST_OPERAND = 22  # characters of a source text that stands for an operand
LONGEST_NAME = 28  # characters of a name in a caption
LONGEST_PATH = 20  # characters of a dotted name in a caption, where its end is as short
LONGEST_SYMBOL = 44  # characters of a factor in symbols
NOTHING = "None"
WORDS = re.compile(r" [a-z]+ ")  # "1 where 0.5 > 0, else 2"
CLOSE = 1e-2  # relative: rounding of half precision, and no hook
TRANSPOSED = ("TBackward0", "TransposeBackward0")
SIGNS = {"×": "×", "@": "@", "@left": "@"}


def single(gradient: Gradient | None) -> object:
    """Return the one number that a gradient is; None where it is none, or more."""
    return None if gradient is None else number_of(gradient.values)


def number_of(values: object) -> object:
    """Return a lone number, also one nested as in a tensor of shape (1, 1); else None."""
    while isinstance(values, tuple) and len(values) == 1:
        (values,) = values
    return values if isinstance(values, int | float | complex) else None


def is_unknown(gradient: Gradient) -> bool:
    """Say whether nothing but a shape is known of a tensor."""
    return gradient.tile is None and gradient.bins is None


def as_shown(gradient: Gradient | None) -> str | Gradient:
    """Return a gradient as it is shown: a number, a few values as text, or the tensor itself."""
    if gradient is None:
        return NOTHING
    value = single(gradient)
    if value is not None:
        return short_number(value)
    values = gradient.values
    is_row = isinstance(values, tuple) and not any(isinstance(value, tuple) for value in values)
    if is_row and len(text := short_numbers(values)) <= LONGEST:
        return text
    return gradient


def caption(gradient: Gradient | None, words: str) -> str:
    """Return words under a tensor, and what a picture of it does not tell: shape and norm."""
    if isinstance(as_shown(gradient), str):
        return words
    size = shape(gradient.shape)
    if gradient.norm is not None:
        size += f", norm {brief(gradient.norm)}"
    return f"{words}\n{size}".lstrip("\n")


def arrives(gradient: Gradient | None, is_first: bool) -> Cell:
    """Return the cell of what arrives; below the first row its shape says that it is the same."""
    shown, words = as_shown(gradient), ""
    if is_first:
        words = caption(gradient, "arrives")
    elif isinstance(shown, Gradient):
        words = shape(gradient.shape)
    return Cell("arrives", shown, words)


def ended(path: str, limit: int) -> str:
    """Return a dotted name without so many of its first parts that it fits, where that can be."""
    parts = path.split(".")
    if not all(part.isidentifier() or part.isdecimal() for part in parts):
        return visible(path, LONGEST_NAME)
    end = path
    for nr, part in enumerate(parts):
        if len(end) > limit and part.isidentifier():
            end = ".".join(parts[nr:])
    return visible(end, LONGEST_NAME)


def brief(value: object) -> str:
    """Return a number to three significant digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def shape(sizes: Sequence[int] | None) -> str:
    """Return a shape as it is said in a caption: "4×3"."""
    if sizes is None:
        return "shape unknown"
    return "×".join(map(str, sizes)) or "one number"


class Equations:
    """Write the rows of a trace's steps."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.graph = trace, trace.graph
        self.inputs = self.graph.inputs_by_node()
        self.step_of: dict[int, Step] = {}
        self.turn_of: dict[int, int] = {}
        for number, step in enumerate(trace.steps):
            self.step_of[step.node], self.turn_of[step.node] = step, number
        self.roots = {root.node for root in self.graph.roots}
        self.consumers: dict[int, list[Edge]] = {}
        for edge in self.graph.edges:
            if edge.target is not None:
                self.consumers.setdefault(edge.target, []).append(edge)
        self.operands = dict((trace.program or Program()).operands)

    def rows(self, step: Step) -> tuple[Row, ...]:
        rows = self.sum_rows(step)
        if step.before_hooks != step.grad_outputs:
            rows.append(hook_row(step))
        if step.leaf:
            return (*rows, self.leaf_row(step))
        edges = [edge for edge in self.inputs.get(step.node, ()) if edge.target is not None]
        shown = edges[: MOST_ROWS - len(rows)]
        for edge in shown:
            rows.append(self.row(step, edge, is_first=not rows))
        left = len(edges) - len(shown)
        if left > 0:
            rows.append((Cell("words", f"and {left:,} more inputs: see “As text”"),))
        return tuple(rows)

    def sum_rows(self, step: Step) -> list[Row]:
        """Return how what arrives is summed up, where several hand it on; none where one does."""
        parts = self.parts(step.node)
        if len(parts) < 2 or len(step.before_hooks) != 1:
            return []
        (total,) = step.before_hooks
        if total is None or not self.is_sum([part for _, part in parts], total):
            return []
        cells: list[Cell] = []
        for words, part in parts[:MOST_PARTS]:
            if cells:
                cells.append(Cell("sign", "+"))
            cells.append(Cell("arrives", as_shown(part), words))
        if len(parts) > MOST_PARTS:
            cells += [Cell("sign", "+"), Cell("words", f"{len(parts) - MOST_PARTS:,} more")]
        return [(*cells, Cell("sign", "="), Cell("arrives", as_shown(total), "arrives"))]

    def is_sum(self, parts: Sequence[Gradient], total: Gradient) -> bool:
        """Say whether parts are all of a sum: not in a graph that was cut, where some may be hidden,
        and not where numbers tell otherwise.
        """
        numbers = list(map(single, parts))
        if self.graph.left_out or None in numbers:
            return not self.graph.left_out
        return is_near(sum(numbers), single(total), sum(map(abs, numbers)))

    def parts(self, node: int) -> list[tuple[str, Gradient]]:
        """Return (from whom, gradient) of all that is handed to a node, in the order of the steps."""
        parts = []
        for root, start in zip(self.graph.roots, self.trace.starts, strict=False):
            if root.node == node and start is not None:
                parts.append(("enters here", start))
        edges = [edge for edge in self.consumers.get(node, ()) if edge.source in self.step_of]
        for edge in sorted(edges, key=lambda edge: self.turn_of[edge.source]):
            gradient = nth(self.step_of[edge.source].grad_inputs, edge.position)
            if gradient is not None:
                parts.append((f"from {stem(self.graph.nodes[edge.source].operation)}", gradient))
        return parts

    def leaf_row(self, step: Step) -> Row:
        """Return what becomes of a leaf's `.grad`: before + arrives = now."""
        before, after = step.leaf.before, step.leaf.after
        arrived = nth(step.grad_outputs, 0)
        name = self.grad_name(step)
        if arrived is None:
            return (Cell("words", f"nothing arrives: {name} doesn't change"),)
        words, equals = "before", Cell("sign", "=")
        if before is None:
            words = "nothing yet"
        if not is_kept(step):
            equals = Cell("words", "a hook makes it")
        return (
            Cell("before", as_shown(before), caption(before, words)),
            Cell("sign", "+"),
            Cell("arrives", as_shown(arrived), caption(arrived, "arrives")),
            equals,
            Cell("total", as_shown(after), caption(after, name), is_asked=is_kept(step)),
        )

    def grad_name(self, step: Step) -> str:
        return ended(f"{leaf_name(self.graph.nodes[step.node])}.grad", LONGEST_PATH)

    def row(self, step: Step, edge: Edge, is_first: bool) -> Row:
        goal = ended(self.goal(edge), LONGEST_PATH)
        grad_input, local = nth(step.grad_inputs, edge.position), nth(step.locals, edge.position)
        if grad_input is None:
            return (Cell("words", f"and nothing to {goal}"),)
        out = Cell("handed", as_shown(grad_input), caption(grad_input, f"to {goal}"), is_asked=True)
        if len(step.grad_outputs) != 1:
            return (*several_arrive(step, is_first), Cell("sign", "→"), out)
        (grad_output,) = step.grad_outputs
        arriving = arrives(grad_output, is_first)
        if is_reshaped(local, grad_output, grad_input):
            return (*self.unchanged(arriving), out)
        return (*self.made(arriving, local, step), out)

    def made(self, arriving: Cell, local: LocalDerivative | None, step: Step) -> Row:
        """Return the cells between what arrives and what is handed on."""
        if local is None and step.formulas == CUSTOM:
            return in_words(arriving, "by its own backward")
        if local is None:
            return in_words(arriving, "by torch's formula")
        if local.is_unchanged and not local.after:
            return self.unchanged(arriving)
        if local.after and single(local.value) == 1:
            return in_words(arriving, local.after)
        known = self.names(step)
        if not local.sign:
            return in_words(arriving, visible(local.form_text(known), LONGEST_FORM))
        factor = factor_cell(local, known)
        if local.after:
            factor = replace(factor, caption=f"{factor.caption}\n{local.after}".strip())
        sign, equals = Cell("sign", SIGNS[local.sign]), Cell("sign", "=")
        if local.sign == "@left":
            return factor, sign, arriving, equals
        return arriving, sign, factor, equals

    def unchanged(self, arriving: Cell) -> Row:
        if isinstance(arriving.what, str):
            return arriving, Cell("sign", "×"), Cell("factor", "1", "unchanged"), Cell("sign", "=")
        return arriving, Cell("words", "unchanged"), Cell("sign", "=")

    def goal(self, edge: Edge) -> str:
        """Say to whom an edge leads: a leaf or tensor by name, else what is written in the program,
        else an operation.
        """
        node = self.graph.nodes[edge.target]
        return self.named(edge) or self.operand(edge) or stem(node.operation)

    def named(self, edge: Edge) -> str:
        """Return the learner's name of what an edge leads to, "Wᵀ" for a transposed leaf; else ""."""
        node = self.graph.nodes[edge.target]
        if node.is_leaf:
            return leaf_name(node)
        if node.name:
            return node.outputs[edge.input_nr].name or node.name
        if node.operation in TRANSPOSED:
            (below,) = self.inputs.get(edge.target, (edge,))[:1]
            if below.target is not None and self.graph.nodes[below.target].name:
                return f"{self.graph.nodes[below.target].name}ᵀ"
        return ""

    def operand(self, edge: Edge) -> str:
        """Return the source text of what an edge leads to, where it is known and short."""
        return short(nth(self.operands.get(edge.source, Operands()).inputs, edge.position, ""))

    def names(self, step: Step) -> dict[str, str]:
        """Return source texts by torch's own names of a step's inputs and result."""
        texts = {"result": short(self.operands.get(step.node, Operands()).result)}
        for edge in self.inputs.get(step.node, ()):
            if edge.target is not None and edge.position < len(step.formulas):
                name, _ = step.formulas[edge.position]
                texts[name] = self.operand(edge) or self.named(edge)
        return {name: text for name, text in texts.items() if text}

    def whole_way(self, step: Step) -> str:
        """Return the product of all factors from the root to a leaf, where one path alone leads
        there and every factor is one number; else "".
        """
        path, factors = self.path_to(step), []
        if not path or step.before_hooks != step.grad_outputs or len(step.grad_outputs) != 1:
            return ""
        for above, edge in path:
            factors.append(self.scalar_factor(above, edge))
            if above.before_hooks != above.grad_outputs or not factors[-1]:
                return ""
        start, result = single(path[0][0].grad_outputs[0]), single(step.grad_outputs[0])
        if start is None or result is None:
            return ""
        words = [short_number(start), *factors]
        return " × ".join(words) + f" = {short_number(result)}"

    def path_to(self, step: Step) -> list[tuple[Step, Edge]]:
        """Return the steps and edges from the root to a leaf; none where several ways lead there, or
        backward starts anywhere on the way too.
        """
        steps: list[tuple[Step, Edge]] = []
        node = step.node
        if self.graph.left_out:  # what was cut off may lead there too
            return []
        while consumers := self.consumers.get(node, ()):
            edge = consumers[0]
            if len(consumers) > 1 or edge.source not in self.step_of or node in self.roots:
                return []
            steps.append((self.step_of[edge.source], edge))
            node = edge.source
        return steps[::-1] if node in self.roots else []

    def scalar_factor(self, step: Step, edge: Edge) -> str:
        """Return the factor along one edge, in numbers; "" where it is none."""
        local = nth(step.locals, edge.position)
        if local is None or local.after or len(step.grad_outputs) != 1:
            return ""
        if local.is_unchanged:
            return "1"
        value = single(local.value)
        if local.sign != "×" or value is None:
            return ""
        text = as_factor(local.numbers) or short_number(value)
        if text.startswith("-"):
            return f"({text})"
        return text


def short(operand: str) -> str:
    """Return a source text that is short enough to stand for an operand, else ""."""
    return operand if len(operand) <= LONGEST_OPERAND else ""


def in_words(arriving: Cell, words: str) -> Row:
    return arriving, Cell("sign", "→"), Cell("words", words), Cell("sign", "→")


def is_reshaped(local: LocalDerivative | None, arrived: Gradient | None, sent: Gradient) -> bool:
    """Say whether what is handed on is the very number that arrives, in another shape."""
    if local is None or arrived is None or local.symbol != "1" or arrived.shape == sent.shape:
        return False
    number = single(arrived)
    return number is not None and number == single(sent)


def as_factor(text: str) -> str:
    """Return a text as it can stand in a product: a sum in parentheses; "" for one in words."""
    if WORDS.search(text):
        return ""
    depth = 0
    for letter, follows in pairwise(text):
        depth += (letter in "([") - (letter in ")]")
        if not depth and letter in "+-" and follows == " ":
            return f"({text})"
    return text


def factor_cell(local: LocalDerivative, names: dict[str, str]) -> Cell:
    """Return the factor: its number under which its symbol stands, or the tensor."""
    symbol = visible(local.factor_text(names), LONGEST_SYMBOL)
    value = single(local.value)
    if value is not None:
        words = as_factor(local.numbers) or short_number(value)
        if symbol == words:
            symbol = ""
        return Cell("factor", words, symbol)
    if local.value is None:
        return Cell("factor", symbol)
    return Cell("factor", as_shown(local.value), caption(local.value, symbol))


def several_arrive(step: Step, is_first: bool) -> Row:
    """Return a cell for each gradient that arrives, of an operation with several outputs; in the
    first row alone.
    """
    if not is_first:
        return ()
    cells: list[Cell] = []
    for nr, gradient in enumerate(step.grad_outputs[:MOST_ROWS]):
        if gradient is not None:
            cells.append(Cell("arrives", as_shown(gradient), caption(gradient, f"at output {nr}")))
    return tuple(cells)


def hook_row(step: Step) -> Row:
    """Return what a hook of the user's, or an edit in place, made of what arrived."""
    pairs = zip(step.before_hooks, step.grad_outputs, strict=True)
    before, after = next(pair for pair in pairs if pair[0] != pair[1])
    made = Cell("words", f"{changer(step)} makes it")
    return arrives(before, True), made, Cell("arrives", as_shown(after), caption(after, ""))


def is_kept(step: Step) -> bool:
    """Say whether a leaf's `.grad` is what was there and what arrived; False where a hook changed it
    afterwards, as far as the numbers tell.
    """
    before, after = step.leaf.before, step.leaf.after
    arrived = nth(step.grad_outputs, 0)
    if arrived is None:
        return True
    if before is None or after is None:
        return after is not None and str(after) == str(arrived)
    numbers = list(map(single, (before, arrived, after)))
    if None in numbers:
        return True
    there, more, now = numbers
    return is_near(there + more, now, abs(there) + abs(more))


def is_near(number: complex, other: complex | None, size: float) -> bool:
    """Say whether two numbers are alike but for rounding of numbers of this size; what is not finite
    counts as alike.
    """
    if other is None:
        return False
    far = abs(number - other)
    return far <= CLOSE * size or not isfinite(far)


def leaf_name(node: Node) -> str:
    return node.name or "leaf"
