"""Run the cell that failed once more, where the learner asks for it, and watch: at which line each
operation made a node, edited a tensor in place or left a graph behind.

No tensor is kept. What is noted about a node lies in its `metadata` and goes with it.
"""

from __future__ import annotations

import ast
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from autograd_graphs.diagnosing.catalogue import CUTS, SAID, Cut
from autograd_graphs.diagnosing.causes import found_in
from autograd_graphs.diagnosing.detectors import spoilt_by
from autograd_graphs.diagnosing.errors import cell_of
from autograd_graphs.diagnosing.facts import (
    Facts,
    Finding,
    Spot,
    each,
    finding,
    quoted,
    spot_in,
    texts_of,
)
from autograd_graphs.diagnosing.failed_backward import perhaps_freed_by
from autograd_graphs.diagnosing.graph_nodes import is_freed, node_of, read_flag
from autograd_graphs.diagnosing.inplace_edits import instead_of_edit, step_finding
from autograd_graphs.diagnosing.sources import cells_before, cells_in
from autograd_graphs.diagnosing.syntax import flat, nodes_in, set_by
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.looking.tensors import memory_of, read
from autograd_graphs.looking.users_line import users_frame
from autograd_graphs.looking.variable_names import variables

SEEN_BY = "watched by diagnose"
MOST_EDITS = 20  # of one place in memory
VALUES = {"item", "tolist", "numpy", "__float__", "__int__", "__array__"}
COMPARE = {"__gt__", "__ge__", "__lt__", "__le__", "__eq__", "__ne__"}
FORMS = ("modified by an inplace operation", "a second time", "does not require grad")


@dataclass(frozen=True)
class Seen:
    """Hold an operation that ran: its rank, the learner's code, line and namespace, its names."""

    order: int
    made: CodeType
    line: int
    space: dict[str, Any]
    word: str
    name: str = ""
    records: bool = True


class Watch(TorchFunctionMode):
    """Note what each operation does to graphs and to tensors; it runs as it would without."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.edits: dict[int, deque[Seen]] = {}
        self.lost: Any = WeakIdKeyDictionary()  # where the graph of a tensor's value ended
        self.left: Seen | None = None  # where that of the last plain number or array did

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = list(tensors_in((*args, *kwargs.values())))
        versions = [read(tensor, "_version") for tensor in given]
        nodes = list(map(node_of, given))
        result = func(*args, **kwargs)
        with suppress(Exception):  # whatever a tensor is like: the cell runs on
            self.note(word_of(func), given, versions, nodes, list(tensors_in([result])))
        return result

    def note(self, word: str, given: list, versions: list, nodes: list, made: list) -> None:
        """Keep the line of an operation at its nodes, edits and results without a graph."""
        frame = users_frame()
        if frame is None:
            return
        self.count += 1
        seen = Seen(self.count, frame.f_code, frame.f_lineno, frame.f_globals, word)
        mark_nodes(seen, made, nodes)
        for tensor, version in zip(given, versions, strict=True):
            if version != read(tensor, "_version") and (memory := memory_of(tensor)):
                edit = self.named(seen, tensor, frame)
                self.edits.setdefault(memory[0], deque(maxlen=MOST_EDITS)).append(edit)
        self.note_ends(seen, given, made, frame)

    def note_ends(self, seen: Seen, given: list, made: list, frame: Any) -> None:
        """Keep the line at which graphs end: of results without one, of a number or an array."""
        end = self.first_lost(given)
        asking = next(filter(read_flag, given), None)
        if asking is not None and (seen.word in VALUES or not all(map(read_flag, made))):
            end = self.named(seen, asking, frame)
        if end is None:
            return
        for tensor in made:
            if not read_flag(tensor):
                self.lost[tensor] = end
        if seen.word in VALUES:
            self.left = end

    def first_lost(self, tensors: Iterable[torch.Tensor]) -> Seen | None:
        return next((self.lost[tensor] for tensor in tensors if tensor in self.lost), None)

    def named(self, seen: Seen, tensor: torch.Tensor, frame: Any) -> Seen:
        names = (name for name, thing in variables(frame) if thing is tensor)
        return replace(seen, name=next(names, ""), records=torch.is_grad_enabled())


def tensors_in(things: Iterable[Any]) -> Iterator[torch.Tensor]:
    for thing in things:
        if torch.is_tensor(thing):
            yield thing
        elif type(thing) in (list, tuple):
            yield from tensors_in(thing)


def word_of(func: Any) -> str:
    """Return the name of an operation; of an attribute that is read, that of the attribute."""
    name = getattr(func, "__name__", "")
    return getattr(func.__self__, "__name__", name) if name == "__get__" else name


def mark_nodes(seen: Seen, made: list[torch.Tensor], ends: list[Any]) -> None:
    """Note an operation at the nodes that it made: those between its results and what it was given."""
    waiting = list(map(node_of, made))
    known = set(map(id, ends))
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in known or type(node).__name__ == "AccumulateGrad":
            continue
        known.add(id(node))
        if SEEN_BY not in node.metadata:
            node.metadata[SEEN_BY] = seen
            waiting += [child for child, _ in node.next_functions]


# ---------------------------------------------------------------- the cell, once more


def run_again(error: BaseException | None) -> tuple[str, BaseException | None, Watch | None]:
    """Run the cell of an error once more; return what to say, the new error, what was seen."""
    shell = shell_here()
    if shell is None:
        return SAID["outside"], None, None
    numbers = cells_to_run(error)
    if not numbers:
        return SAID["no_cell"], None, None
    sources = [shell.user_ns["In"][number] for number in numbers]
    if "rerun" in "\n".join(sources):
        return SAID["itself"], None, None
    try:
        made = [compiled(shell, *pair) for pair in zip(sources, numbers, strict=True)]
    except SyntaxError:
        return SAID["waits"], None, None
    watch = Watch()
    new = run_watched(made, shell.user_ns, watch)
    sentence = f"I ran {cells(numbers)} once more and watched."
    if new is None:
        return f"{sentence} {SAID['ended']}", None, None
    return sentence, new, watch


def compiled(shell: Any, source: str, number: int) -> CodeType:
    cell = shell.transform_cell(source)
    return compile(cell, shell.compile.cache(cell, number, source), "exec")


def run_watched(made: list[CodeType], space: dict[str, Any], watch: Watch) -> BaseException | None:
    """Run cells without their output, and return the error that ended them."""
    from IPython.utils.capture import capture_output

    with capture_output(), warnings.catch_warnings():
        warnings.showwarning = lambda *_: None
        try:
            with watch:
                for cell in made:
                    exec(cell, space)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
    return None


def cells_to_run(error: BaseException | None) -> list[int]:
    """Return the numbers of the cell that made the graph, if any, and of that of an error."""
    if error is None or shell_here() is None:
        return []
    number = cell_of(error)
    if number is None:
        return []
    space = shell_here().user_ns
    before = cells_before(cells_in(space)[: number + 1])
    if not before or before[-1].cell != number:
        return [number]
    names = names_read(before.pop().text.tree)
    results = {name for name in names if node_of(space.get(name)) is not None}
    makers = [place.cell for place in before if results & made_in(place.text.tree)]
    return [*makers[-1:], number]


def made_in(tree: ast.Module) -> set[str]:
    return {name for stmt, _ in flat(tree.body) for name in set_by(stmt)}


def names_read(tree: ast.AST) -> set[str]:
    """Return the names that a program needs from before it."""
    names = nodes_in(tree, ast.Name)
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - made


def cells(numbers: list[int]) -> str:
    word = each(numbers, "cell", "cells")
    return f"{word} {' and '.join(f'[{number}]' for number in numbers)}"


def offer(error: BaseException, text: str, is_led: bool) -> str:
    """Return what would tell more: to run the cell once more, where no line `is_led` to, and
    anomaly mode, where it is the line of forward that nobody knows.
    """
    numbers = cells_to_run(error) if any(form in text for form in FORMS) else []
    said = []
    if numbers and not is_led:
        trains = each(numbers, "it trains, it trains", "they train, they train")
        said.append(SAID["offer"].format(cells(numbers), trains))
    if FORMS[0] in text:
        said.append(SAID["anomaly"])
    return " ".join(said)


# ---------------------------------------------------------------- what was seen


def found_again(facts: Facts, watch: Watch) -> Finding | None:
    if facts.call is None or facts.spot is None:
        return None
    for form, explain in zip(FORMS, (edited, freed, lost), strict=True):
        if form in facts.text:
            return explain(facts, watch)
    return None


def spot_at(facts: Facts, seen: Seen | None) -> Spot | None:
    if seen is None:
        return None
    return spot_in(seen.made, seen.line, seen.space, {}, facts.cell)


def maker(node: Any) -> Seen | None:
    return node.metadata.get(SEEN_BY)


def edited(facts: Facts, watch: Watch) -> Finding | None:
    """Tell which line edited a saved tensor, and which operation had saved it."""
    for node in facts.call.nodes:
        _, places = spoilt_by([node])
        seen = maker(node)
        later = []
        for place in places:
            for edit in watch.edits.get(place, ()):
                if seen is None or edit.order > seen.order:
                    later.append(edit)
        if later and (spot := spot_at(facts, later[0])):
            if ".step(" in str(spot):
                return step_finding(facts, [spot], quoted(later[0].name, "a tensor of this graph"))
            return finding_of_edit(node, spot_at(facts, seen), later[0], spot)
    return None


def finding_of_edit(node: Any, saver: Spot | None, edit: Seen, spot: Spot) -> Finding:
    lines = texts_of(filter(None, (spot, saver)))
    word = "assign" if edit.word == "__setitem__" else edit.word
    remedy = instead_of_edit(word, edit.name or "y", spot.stmt)
    kind = each(lines, "edited_seen", "edited_after")
    what = quoted(edit.name, "A tensor")
    return finding(kind, lines, what=what, node=type(node).__name__, remedy=remedy)


def freed(facts: Facts, watch: Watch) -> Finding | None:
    """Tell which operation's saved tensors were freed before the call that failed."""
    own = perhaps_freed_by(facts.call, ())
    if own is None:
        return None
    ids = set(map(id, own))
    for node in facts.call.nodes:
        if id(node) not in ids and is_freed(node):
            if spot := spot_at(facts, maker(node)):
                return finding("freed_here", [spot, facts.spot])
            return found_in(facts) or finding(
                "freed_elsewhere", [facts.spot], node=type(node).__name__
            )
    return None


def lost(facts: Facts, watch: Watch) -> Finding | None:
    """Tell at which line the value that backward() starts from left its graph."""
    kind, seen = "lost_seen", watch.first_lost(facts.call.roots)
    if seen is None:
        kind, seen = "lost_before", watch.left
    spot = spot_at(facts, seen)
    if spot is None:
        return None
    word = seen.word
    cut = Cut(f"{word}() gives a result that has no graph", "leave that out before the loss")
    cut = CUTS.get("compare" if word in COMPARE else word, cut)
    why = cut.why
    if not seen.records:
        why = "grad mode is off there, so no graph is recorded"
    where = quoted(seen.name, "this line")
    return finding(kind, [spot], where=where, why=why, remedy=cut.remedy, lesson=cut.lesson)
