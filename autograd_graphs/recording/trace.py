"""Frozen, plain data about one backward that ran: its graph, its steps and their sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from autograd_graphs.data import Gradient, Graph, Node, Program, counted
from autograd_graphs.text import short_number, visible

LONGEST = 60  # characters of a formula in a sentence
LONGEST_NAME = 40
CUSTOM = (("input", "custom"),)  # the formulas of a Function that is written in Python


@dataclass(frozen=True, slots=True)
class LeafGrad:
    """Hold a leaf's `.grad` before and after its AccumulateGrad ran; None where it was empty."""

    before: Gradient | None
    after: Gradient | None

    def __str__(self) -> str:
        return f"{briefly(self.before)} to {briefly(self.after)}"


def briefly(grad: Gradient | None) -> str:
    """Return what a `.grad` holds as text: None, its values, or its shape."""
    return "None" if grad is None else grad.brief


@dataclass(frozen=True, slots=True)
class LocalDerivative:
    """Hold how the gradient of one input is made of what arrived, as it was verified in this step.

    `sign` says how they meet: "×" elementwise, "@" arrived @ factor, "@left" factor @ arrived, ""
    where there is no single factor. `symbol` is the factor, and `form` the whole, with "g" for what
    arrives; in both a saved tensor stands as {name}, by torch's name, and `names` holds what the
    learner calls it. `numbers` is the symbol with its numbers, where each is a single one and the
    text says more than `value`, which is the factor's own. `after` says what becomes of the product
    so that it has the input's shape. `is_unchanged` where what arrived is handed on as it is.
    `is_refuted` where a form is known, and what was handed on is something else: a hook of the
    user's may have changed it after the operation. Then `form` says that, and nothing else is told.
    `kind` is what a sentence tells apart: "square", "sign", "direction", "zero". `scale` is a
    number of the call's that stands before the rest, such as alpha.
    """

    sign: str = ""
    symbol: str = ""
    numbers: str = ""
    value: Gradient | None = None
    form: str = ""
    after: str = ""
    is_unchanged: bool = False
    names: tuple[tuple[str, str], ...] = ()
    is_refuted: bool = False
    kind: str = ""
    scale: float = 1

    def factor_text(self, operands: Mapping[str, str] | None = None) -> str:
        """Return the factor, with the names that are given (source text) or known."""
        return filled(self.symbol, {**dict(self.names), **(operands or {})})

    def form_text(self, operands: Mapping[str, str] | None = None) -> str:
        """Return the whole form, with the names that are given (source text) or known."""
        return filled(self.form, {**dict(self.names), **(operands or {})})


def nth(things: Sequence[Any], number: int, default: Any = None) -> Any:
    """Return one of some things, counted from 0; `default` where there are not so many."""
    return things[number] if number < len(things) else default


def defined(gradients: Iterable[Gradient | None]) -> list[Gradient]:
    """Return the gradients that are there: None stands for an undefined one."""
    return [gradient for gradient in gradients if gradient is not None]


_FIELD = re.compile(r"(?<=\()\{(\w+)\}(?=\))|\{(\w+)\}")
_SIMPLE = re.compile(r"[\w.]+ᵀ?|[\w.]*(\([^()]*\)|\[[^\[\]]*\])")


def filled(template: str, names: Mapping[str, str]) -> str:
    """Put names into a template once, whatever they hold; a sum, or a number below 0, gets
    parentheses unless it has some, or stands alone.
    """

    def put(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        text = names.get(name, name)
        if match[1] or match[0] == template or _SIMPLE.fullmatch(text):
            return text
        return f"({text})"

    return _FIELD.sub(put, template).replace("ᵀᵀ", "")


@dataclass(frozen=True, slots=True)
class Step:
    """Hold what one node did. None stands for an undefined gradient.

    `grad_outputs` has one gradient per output of the node, as its backward got them; `before_hooks`
    the same before any hook of the user's. `grad_inputs` has one per input, in the order of
    `next_functions`: what it handed on. `locals` says, per input, how that was made of what
    arrived, where it is known and was verified. `used` are the names of the saved tensors
    that it could use, `freed` of those that were freed after it. `leaf` is there for an
    AccumulateGrad. `edited_by` is the operation of another node that edited in place what waited
    here.
    """

    node: int
    formulas: tuple[tuple[str, str], ...] = ()
    before_hooks: tuple[Gradient | None, ...] = ()
    grad_outputs: tuple[Gradient | None, ...] = ()
    grad_inputs: tuple[Gradient | None, ...] = ()
    locals: tuple[LocalDerivative | None, ...] = ()
    used: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()
    leaf: LeafGrad | None = None
    edited_by: str = ""


_WRITERS: list[Callable[[Trace, str | Path], Path]] = []


def write_by(writer: Callable[[Trace, str | Path], Path]) -> None:
    """Say what writes a trace as a page: this room knows no player."""
    _WRITERS.append(writer)


@dataclass(frozen=True, slots=True)
class Trace:
    """Hold a backward that ran: the graph before it, the graph after it, and its steps in the
    engine's order.

    `error` is the first line of what stopped it, or empty, `stopped_at` the node that was at work
    then, where it is known. `starts` has what entered each root, `given` whether that was given to
    backward(), which else puts the 1 in by itself. `program` are the source lines that made the
    graph, where they were found. `lost` counts what could not be read while it ran, `more` the
    steps of an engine of one's own that came after those told.
    """

    graph: Graph
    after: Graph
    steps: tuple[Step, ...]
    error: str = ""
    stopped_at: int | None = None
    starts: tuple[Gradient | None, ...] = ()
    given: tuple[bool, ...] = ()
    program: Program | None = field(default=None, compare=False)
    lost: int = 0
    more: int = 0

    @property
    def repeated(self) -> int | None:
        """Return the node that ran most often, if more than once; None where each ran once, as in
        torch.
        """
        times = Counter(step.node for step in self.steps)
        node, count = max(times.items(), key=itemgetter(1), default=(None, 0))
        return node if count > 1 else None

    def save(self, path: str | Path) -> Path:
        """Write one .html page that plays these steps, with no kernel; returns the path."""
        return _WRITERS[-1](self, path)

    def sentence(self, number: int) -> str:
        """Say in one sentence, with its numbers, what step `number` (from 0) does."""
        step = self.steps[number]
        name = title(self.graph.nodes[step.node])
        return f"step {number + 1} of {len(self.steps)}: {name}: {action(step)}"

    @property
    def not_read(self) -> str:
        """Say that steps ran that are not told; empty where all are."""
        if self.more:
            return f"{counted(self.more, 'more step')} ran after these."
        if not self.lost:
            return ""
        places = counted(self.lost, "place")
        return f"At {places} I couldn't read this backward, but it ran all the same."

    def __str__(self) -> str:
        lines = list(map(self.sentence, range(len(self.steps))))
        if self.error:
            lines.append(f"stopped: {self.error}")
        if self.graph.left_out:
            lines.append(self.graph.left_out)
        if self.not_read:
            lines.append(self.not_read)
        return "\n".join(lines) or "no step: nothing was differentiated"


def saved_at(node: int, before: Graph, after: Graph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the saved tensors that a step could use, and those that were freed after it."""
    used, left = usable(before.nodes[node]), usable(after.nodes[node])
    return used, tuple([name for name in used if name not in left])


def usable(node: Node) -> tuple[str, ...]:
    """Return the names of the saved tensors of a node that are not freed."""
    return tuple([saved.name for saved in node.saved if saved.state != "freed"])


def title(node: Node) -> str:
    """Name a node: "LogBackward0 (t)", or "AccumulateGrad (leaf a)"."""
    if node.is_leaf:
        return f"{node.operation} (leaf {node.name or 'unnamed'})"
    if node.name:
        return f"{node.operation} ({node.name})"
    return node.operation


def action(step: Step) -> str:
    """Say what arrives at a step, what becomes of it, and what it hands on."""
    if step.leaf:
        return f"{arrival(step)}, .grad goes from {step.leaf}"
    parts = [hands_on(step, position) for position in range(len(step.grad_inputs))]
    words = f"{arrival(step)}, hands on {' and '.join(parts) or 'nothing'}"
    if step.freed:
        words += f"; freed: {', '.join(step.freed)}"
    return words


def arrival(step: Step) -> str:
    """Say what arrives at a step, before and after a hook of the user's."""
    arrived = joined(step.before_hooks)
    if step.before_hooks != step.grad_outputs:
        return f"{arrived} arrives, {changer(step)} makes it {joined(step.grad_outputs)}"
    if len(step.grad_outputs) > 1:
        return f"{arrived} arrive"
    return f"{arrived} arrives"


def changer(step: Step) -> str:
    """Say what made something else of what arrives."""
    if step.edited_by:
        return f"an edit in place by {visible(step.edited_by, LONGEST_NAME)}"
    return "a hook"


def joined(gradients: Sequence[Gradient | None]) -> str:
    """Return gradients as text, an undefined one as "nothing"."""
    return " and ".join([str(gradient or "nothing") for gradient in gradients]) or "nothing"


def hands_on(step: Step, position: int) -> str:
    """Say what one input gets, and by which verified factor or form, else by which formula."""
    gradient, local = step.grad_inputs[position], step.locals[position]
    if gradient is None:
        return "nothing"
    if local:
        return f"{gradient} ({made_by(local)})"
    if step.formulas == CUSTOM:
        return f"{gradient} (by its own backward)"
    if len(step.formulas) == len(step.grad_inputs):
        _, formula = step.formulas[position]
        if len(formula) > LONGEST:
            formula = "torch's formula"
        return f"{gradient} (by {visible(formula)})"
    return str(gradient)


def made_by(local: LocalDerivative) -> str:
    """Say how a gradient was made of what arrived: "unchanged", "times 1 / d = 0.1"."""
    if local.is_unchanged:
        return "unchanged"
    if local.is_refuted:
        return local.form
    if local.sign != "×":
        return f"by {visible(local.form_text())}"
    if local.symbol == "1":
        return local.after
    factor = local.factor_text()
    words = f"times {visible(factor)}"
    if local.value and local.value.values is not None and factor not in as_texts(local.value):
        words += f" = {local.value}"
    if local.after:
        words += f", {local.after}"
    return words


def as_texts(gradient: Gradient) -> tuple[str, ...]:
    """Return what a gradient's values may be written as: "2.0", and "2"."""
    if isinstance(gradient.values, tuple):
        return (str(gradient),)
    return str(gradient), short_number(gradient.values)
