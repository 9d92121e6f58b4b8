"""Look at the place where an exception came from: the line, its tensors, and their graphs.

Nothing of the learner's runs and nothing is kept: only texts leave this module.
"""

from __future__ import annotations

import ast
import linecache
import re
from types import FrameType

import torch

from autograd_graphs.answer_card import code
from autograd_graphs.data import Graph, Node
from autograd_graphs.diagnosing.detectors import editors, lines_that_freed
from autograd_graphs.diagnosing.errors import learners_lines
from autograd_graphs.diagnosing.facts import Facts, texts_of
from autograd_graphs.diagnosing.sources import is_as_it_ran
from autograd_graphs.looking.snapshot import Walk, graph_of
from autograd_graphs.looking.tensors import (
    may_be_stale,
    read,
    shows_flag_of_base,
    tensor_info,
    why_no_graph,
)
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import find_names, variables
from autograd_graphs.text import visible

LED = ("Edited by", "Freed by", "Its graph was lost in")  # how a line that is sure is told
MOST_TENSORS, MOST_SAVED, MOST_SHOWN = 4, 3, 3
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STRING = re.compile(r"""("[^"]*"|'[^']*')|#.*""")


def scene(facts: Facts, look: str = "", is_brief: bool = False) -> list[str]:
    """Return lines of text: which line led to the error, or "", the learner's line, each tensor
    named there, and saved tensors in the state `look`; nothing where no line is known.

    Of an older error nothing is said of what was before it: cells that ran since may have changed
    what is seen here. It `is_brief` where the cause is known: lists are short, no reason is told.
    """
    lines = [place for place in learners_lines(facts.traceback) if _line(*place[:2])]
    if not lines:
        return []
    frame, number, _ = lines[0]
    line = _line(frame, number)
    with quietly():
        named = _named(frame, line)
        tensors = _tensors(facts, frame, named, look, is_brief)
        led = _led_to_it(facts, named, look)
    where = "In your line (its tensors as they are now)" if tensors else "In your line"
    if not is_as_it_ran(frame.f_code, number):
        where = f"In line {number} of your file, as it reads now"
    return [led, f"{where}: {code(visible(line, 90))}", *tensors]


def _led_to_it(facts: Facts, named: dict[str, torch.Tensor], look: str) -> str:
    """Say which line edited, freed or lost what is missing; "" where that cannot be told."""
    lines, is_sure, words = [], True, ""
    if facts.past is None:
        return ""
    if look == "modified":
        lines, is_sure = editors(facts.past, list(named.values()))
        words = LED[0]
    elif look == "freed":
        roots = facts.call.roots if facts.call else list(named.values())
        lines, is_sure = lines_that_freed(facts.past, roots)
        words = LED[1]
    elif "does not require grad" in facts.text:
        cuts = facts.seen_cuts()
        lines = texts_of(cuts)
        words = LED[2]
        if len(lines) != 1 or not isinstance(cuts[0].stmt, ast.Assign):
            return ""
    if not lines:
        return ""
    if not is_sure:
        words = f"Perhaps {words.lower()}"
    return f"{words} {'; '.join(map(str, lines[-MOST_SHOWN:]))}"


def _line(frame: FrameType, number: int) -> str:
    """Return the text of a line; "" where there is none, or only what a magic has become."""
    line = linecache.getline(frame.f_code.co_filename, number).strip()
    return "" if line.startswith("get_ipython().") else line


def _named(frame: FrameType, line: str) -> dict[str, torch.Tensor]:
    here = dict(variables(frame))
    tensors = {}
    for name in _WORD.findall(_STRING.sub(" ", line)):
        if torch.is_tensor(here.get(name)) and len(tensors) < MOST_TENSORS:
            tensors[name] = here[name]
    return tensors


def _tensors(
    facts: Facts, frame: FrameType, named: dict[str, torch.Tensor], look: str, is_brief: bool
) -> list[str]:
    lines = [f"    {name}: {_tensor(tensor, is_brief)}" for name, tensor in named.items()]
    if not look:
        return lines
    names = find_names(frame)
    for name, tensor in named.items():
        if may_be_stale(tensor):
            continue
        walk = Walk([tensor])
        graph = graph_of(walk, names)
        if look == "modified":
            lines += _modified(name, graph, is_brief)
        elif facts.unsure is None:
            lines += _freed_by_now(name, graph, walk.is_cut)
        else:
            unsure = set(map(id, facts.unsure))
            lines += _freed(name, graph, [id(node) not in unsure for node in walk.met], is_brief)
    return lines


def _tensor(tensor: torch.Tensor, is_brief: bool) -> str:
    """Describe a tensor: shape, type, device where unusual, and how it stands to the graph."""
    kind = tensor_info(tensor, ()).kind
    shape = f"shape {kind}" if kind.startswith("(") else f"shape () {kind}".rstrip()
    if not read(tensor, "requires_grad"):
        why = "requires_grad=False" if is_brief else why_no_graph(tensor)
        return f"{shape}, {why}"
    if may_be_stale(tensor):
        return f"{shape}, a view of a tensor that was edited"
    node = read(tensor, "grad_fn")
    if node is not None:
        return f"{shape}, made by {type(node).__name__}"
    if shows_flag_of_base(tensor):
        return f"{shape}, a view of a tensor that requires grad, with no graph that leads to it"
    return f"{shape}, a leaf that requires grad"


def _modified(name: str, graph: Graph, is_brief: bool) -> list[str]:
    """Name the saved tensors of a graph that were edited since; nothing if none is."""
    texts = []
    for node in graph.nodes:
        texts += _saved(node, "modified")
    if is_brief:
        del texts[1:]
    return _listed(f"In the graph of {name}, tensors that were edited since they were saved", texts)


def _freed(name: str, graph: Graph, is_sure: list[bool], is_brief: bool) -> list[str]:
    """Name what a graph lost before the call that failed; `is_sure` says which nodes surely did."""
    texts, unsure = [], 0
    for node, is_known in zip(graph.nodes, is_sure, strict=True):
        freed = _saved(node, "freed")
        if is_known:
            texts += freed
        elif freed:
            unsure += 1
    if is_brief:
        del texts[MOST_SAVED:]
    what = f"In the graph of {name}, saved tensors that were freed before this call"
    lines = _listed(what, texts)
    if unsure:
        lost = f"{_counted(unsure)} lost saved tensors, perhaps only in this call."
        lines.append(f"In the graph of {name}, {lost}")
    return lines


def _freed_by_now(name: str, graph: Graph, is_cut: bool) -> list[str]:
    """Say how many nodes of a graph have lost what they saved, where nobody knows when."""
    count = sum(bool(_saved(node, "freed")) for node in graph.nodes)
    if not count:
        return []
    least = "at least " if is_cut else ""
    lost = "lost saved tensors. I can't tell whether that was before this line."
    return [f"In the graph of {name}, {least}{_counted(count)} {lost}"]


def _counted(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"


def _saved(node: Node, state: str) -> list[str]:
    title = f"{node.operation} ({node.name})" if node.name else node.operation
    return [f"{title}: {tensor}" for tensor in node.saved if tensor.state == state]


def _listed(what: str, texts: list[str]) -> list[str]:
    """Return what there is, the first few of it; nothing where there is none."""
    if not texts:
        return []
    shown = texts[:MOST_SAVED]
    if len(texts) > MOST_SAVED:
        shown.append(f"and {len(texts) - MOST_SAVED} more")
    return [f"{what}: {'; '.join(shown)}"]
