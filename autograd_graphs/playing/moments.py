"""Say what a player's panel says at every stop of a backward: a sentence, the arithmetic, a question
with choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from autograd_graphs.data import Gradient, Node, Program, Storage, counted, stem
from autograd_graphs.playing.backward_film import Cell, Moment, Row, What
from autograd_graphs.playing.equations import (
    Equations,
    as_shown,
    caption,
    is_kept,
    leaf_name,
    number_of,
    shape,
    single,
)
from autograd_graphs.recording.gradient_health import (
    exploding,
    first,
    first_words,
    health_of,
    worst,
)
from autograd_graphs.recording.sentences import sentence
from autograd_graphs.recording.trace import CUSTOM, LeafGrad, Step, Trace, defined
from autograd_graphs.text import short_number, visible

MOST_CHOICES = 5
MOST_STARTS = 3  # of several roots
MOST_LEAVES = 4  # whose `.grad` the last moment shows
LONGEST_TITLE, LONGEST_NAME = 60, 20
LONGEST_FORMULA = 400


class Moments:
    """Make the moments of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.graph = trace, trace.graph
        self.equations = Equations(trace)
        self.bytes_held, self.first = bytes_held(trace), first(trace)
        self.exploding = dict.fromkeys(exploding(trace), "exploding")
        self.spans = dict((trace.program or Program()).spans)

    def begin(self) -> Moment:
        """Say where backward starts, and with what."""
        roots = [root.tensor.name for root in self.graph.roots]
        names = visible(", ".join(filter(None, roots)), LONGEST_TITLE)
        if not self.trace.steps:
            return self.graph_alone(names)
        title = f"{names}.backward()" if all(roots) else "backward()"
        rows = []
        for name, start in list(zip(roots, self.trace.starts, strict=False))[:MOST_STARTS]:
            where = f"enters at {visible(name or 'the root', LONGEST_NAME)}"
            rows.append((Cell("arrives", as_shown(start), caption(start, where)),))
        said = self.beginning(roots)
        return Moment(title, "", said, rows=tuple(rows), bytes_held=self.bytes_held[0])

    def beginning(self, roots: list[str]) -> str:
        """Say with which gradient backward starts, and why."""
        if all(self.trace.given) and len(roots) == 1:
            return "backward() starts with the gradient you gave it."
        if all(self.trace.given):
            return "backward() starts with the gradients you gave it."
        if any(self.trace.given):
            return "backward() starts with what you gave it, and with 1 at the other roots."
        if len(roots) != 1:
            return "backward() starts with the number 1 at each root."
        (name,) = roots
        if not name:
            return "backward() starts with the number 1."
        said = f"backward() starts with the number 1, since ∂{name}/∂{name} is 1."
        value = number_of(self.graph.roots[0].tensor.values)
        if value is None:
            return said
        return f"{name} is {short_number(value)}. {said}"

    def graph_alone(self, title: str) -> Moment:
        """Say how large a graph is that nobody went back through."""
        operations, leaves = self.graph.size
        size = f"{counted(operations, 'operation')}, {counted(leaves, 'leaf', 'leaves')}"
        said = f"{size}. Click a card to read what's in it."
        return Moment(title or "The graph", "", said, bytes_held=self.bytes_held[0])

    def step(self, number: int) -> Moment:
        """Say what step `number` (from 0) does."""
        step = self.trace.steps[number]
        node = self.graph.nodes[step.node]
        title, kind = titles(node)
        rows = asked_alike(self.equations.rows(step))
        return Moment(
            title,
            kind,
            visible(f"{said_of(node, step)} {self.trouble(number)}".strip(), 300),
            question(step, node),
            rows,
            choices(step, rows),
            torchs_own(step),
            self.equations.whole_way(step) if step.leaf else "",
            bytes_held=self.bytes_held[number],
            span=self.spans.get(step.node),
            health=health(step) or self.exploding.get(number, ""),
        )

    def end(self) -> Moment:
        """Say how it ended: with an error, or with which `.grad`s."""
        left = self.bytes_held[-1]
        if self.trace.error:
            words = f"After {counted(len(self.trace.steps), 'step')}: {self.trace.error}"
            return Moment(self.stopped(), "", words, bytes_held=left, is_error=True)
        leaves = [step for step in self.trace.steps if step.leaf]
        rows = list(map(self.result, leaves[:MOST_LEAVES]))
        if len(leaves) > MOST_LEAVES:
            rows.append((Cell("words", f"and {len(leaves) - MOST_LEAVES:,} more"),))
        said = self.reached(sum(any(step.grad_outputs) for step in leaves))
        if self.first:
            said += f" {first_words(self.trace, self.first)}"
        return Moment("backward() is done", "", said, rows=tuple(rows), bytes_held=left)

    def trouble(self, number: int) -> str:
        """Say at the first NaN or inf how it came about; "" at all other steps."""
        trouble = self.first
        if trouble is None or trouble.step != number:
            return ""
        if trouble.how != "made":
            return first_words(self.trace, trouble)
        for local in self.trace.steps[number].locals:
            if trouble.health == "NaN" and local and health_of(local.value) == "inf":
                return "A factor here is infinite, and 0 times that is NaN."
        return f"The first {trouble.health} appears here."

    def stopped(self) -> str:
        if self.trace.stopped_at is None:
            return "backward() stopped"
        name = stem(self.graph.nodes[self.trace.stopped_at].operation)
        return f"backward() stopped at {visible(name, LONGEST_TITLE)}"

    def reached(self, count: int) -> str:
        """Say how many of the leaves in the graph backward reached."""
        whole = len(self.graph.leaves)
        if count == whole and not self.graph.left_out:
            return "Backward reached every leaf." if count else "There was no leaf to reach."
        return f"Backward reached {count:,} of the {counted(whole, 'leaf', 'leaves')} here."

    def result(self, step: Step) -> Row:
        after = step.leaf.after
        total = Cell("total", as_shown(after), caption(after, ""))
        return Cell("name", self.equations.grad_name(step)), total


def torchs_own(step: Step) -> tuple[tuple[str, str], ...]:
    """Return torch's formulas of a step; none of one that somebody's own backward made."""
    if step.formulas == CUSTOM:
        return ()
    return tuple([(name, visible(text, LONGEST_FORMULA)) for name, text in step.formulas if text])


def said_of(node: Node, step: Step) -> str:
    """Say what a step does; of a leaf also that a hook changed its `.grad` afterwards."""
    if step.leaf and not is_kept(step):
        return f"{leaf_name(node)} is a leaf: the gradient was added to its .grad, and then a hook changed that."
    return sentence(node, step)


def titles(node: Node) -> tuple[str, str]:
    """Return what is drawn bold, and the faint rest: "Mul", "Backward0"."""
    if node.is_leaf:
        return visible(f"{leaf_name(node)}.grad", LONGEST_TITLE), " AccumulateGrad"
    bold = stem(node.operation)
    return visible(bold, LONGEST_TITLE), node.operation.removeprefix(bold)


def question(step: Step, node: Node) -> str:
    arriving = defined(step.before_hooks)
    handed_on = list(map(as_shown, defined(step.grad_inputs)))
    if not arriving and not handed_on:
        return ""
    what = arrival(arriving)
    if step.leaf:
        name = visible(leaf_name(node), 40)
        if isinstance(as_shown(step.leaf.after), Gradient):
            return f"{what} What shape does {name}.grad have?"
        return f"{what} What is {name}.grad now?"
    asked = f"does {visible(stem(node.operation), 40)} hand on"
    tensors = [gradient for gradient in handed_on if isinstance(gradient, Gradient)]
    if len(tensors or handed_on) > 1:
        asked += " to each"
    if tensors:
        return f"{what} What shape {asked}?"
    return f"{what} What {asked}?"


def arrival(arrived: list[Gradient]) -> str:
    """Say what arrives, of several gradients only that."""
    if not arrived:
        return "Nothing arrives."
    if len(arrived) > 1:
        return "A gradient arrives."
    what = as_shown(arrived[0])
    if isinstance(what, Gradient):
        return f"A gradient of shape {shape(what.shape)} arrives."
    return f"{what} arrives."


def asked_alike(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return rows in which, where a shape is asked for, no number is."""
    if not is_shape_asked(rows):
        return rows
    return tuple([tuple(map(with_number_unasked, row)) for row in rows])


def with_number_unasked(cell: Cell) -> Cell:
    return replace(cell, is_asked=False) if isinstance(cell.what, str) else cell


def is_shape_asked(rows: tuple[Row, ...]) -> bool:
    return any(isinstance(what, Gradient) for what in asked_in(rows))


def asked_in(rows: tuple[Row, ...]) -> list[What]:
    asked = []
    for row in rows:
        for cell in row:
            if cell.is_asked:
                asked.append(cell.what)
    return asked


def choices(step: Step, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Return right and wrong answers, in an order that tells nothing: by size.

    The wrong ones are other numbers, or shapes, of this very step. None where nothing is asked.
    """
    asked = asked_in(rows)
    if not asked:
        return ()
    if is_shape_asked(rows):
        return shapes(step, asked)
    return with_wrong(asked, map(short_number, others(step)), sort_key)


def with_wrong(right: Iterable[str], wrong: Iterable[str], key: Callable | None) -> tuple[str, ...]:
    """Return right answers and a few wrong ones, sorted; none where there is no wrong one."""
    answers = dict.fromkeys(right)
    count = len(answers)
    for text in wrong:
        if len(answers) < MOST_CHOICES:
            answers.setdefault(text)
    if len(answers) == count:
        return ()
    return tuple(sorted(answers, key=key))


def others(step: Step) -> list[object]:
    """Return the numbers that one may take for the answer: what arrives, factors, sums, products."""
    arrived = map(single, step.grad_outputs)
    factors = [single(local.value) for local in step.locals if local]
    leaf = step.leaf or LeafGrad(None, None)
    before, after = single(leaf.before), single(leaf.after)
    known = [number for number in (*arrived, *factors, before) if isinstance(number, int | float)]
    numbers = [*known]
    if before is None and isinstance(after, int | float):
        numbers += [2 * after, 0.0]
    for number in known:
        for other in known:
            numbers += [number + other, number * other]
    return [number for number in numbers if number == number and abs(number) != float("inf")]


def shapes(step: Step, asked: list[Gradient]) -> tuple[str, ...]:
    """Return the shapes that one may take for the answer."""
    right = [what.shape for what in asked if isinstance(what, Gradient)]
    if None in right:
        return ()
    likely = [grad.shape for grad in defined((*step.grad_outputs, *step.grad_inputs))]
    for part in (slice(None, None, -1), slice(1, None), slice(None, -1)):
        likely += [sizes[part] for sizes in right]
    wrong = [shape(sizes) for sizes in likely if sizes is not None]
    return with_wrong(map(shape, right), wrong, None)


def sort_key(text: str) -> tuple[int, float, str]:
    """Sort numbers by size, other texts after them."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def health(step: Step) -> str:
    """Say what is not well with the gradients of a step: "NaN", "inf", or "zero" where it hands on
    zeros alone.
    """
    gradients = [*step.grad_outputs, *step.grad_inputs]
    if step.leaf:
        gradients.append(step.leaf.after)
    handed_on = set(map(health_of, defined(step.grad_inputs)))
    if handed_on == {"zero"}:
        return worst(map(health_of, gradients)) or "zero"
    return worst(map(health_of, gradients))


def bytes_held(trace: Trace) -> list[int]:
    """Return how many bytes are kept for backward before all steps, and after each."""
    sizes: dict[int, int] = {}
    users: dict[int, int] = {}
    for node in trace.graph.nodes:
        for storage in own_storages(node):
            sizes[storage.number] = max(sizes.get(storage.number, 0), storage.size)
            users[storage.number] = users.get(storage.number, 0) + 1
    held = [sum(sizes.values())]
    for step in trace.steps:
        left = held[-1]
        if step.freed:
            for storage in own_storages(trace.graph.nodes[step.node]):
                users[storage.number] -= 1
                if users[storage.number] == 0:
                    left -= sizes[storage.number]
        held.append(left)
    return held


def own_storages(node: Node) -> list[Storage]:
    """Return the storages that a node's saved tensors keep alive; leaves live anyway."""
    storages = []
    for saved in node.saved:
        for storage in saved.storages:
            if storage.size is not None and not storage.is_leaf:
                storages.append(storage)
    return storages
