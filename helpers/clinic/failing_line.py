"""Look at the place where an exception came from: the line, the tensors that it names, and their
graphs.

Nothing of the learner's runs and nothing is kept: only texts leave this module.
"""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from types import FrameType, TracebackType
from typing import Any

import torch

from autograd_graphs.data import Graph, Node
from autograd_graphs.looking.snapshot import Walk, graph_of
from autograd_graphs.looking.torch_private import (
    is_tensor,
    may_be_stale,
    quietly,
    read,
    tensor_info,
    type_name,
    why_no_graph,
)
from autograd_graphs.looking.variable_names import find_names, variables
from autograd_graphs.text import visible
from helpers.answers import code
from helpers.clinic.detectors import freed_before, led_to_it, starts_of
from helpers.clinic.earlier_lines import Past

THEIRS = {
    "torch",
    "autograd_graphs",
    "helpers",
    "IPython",
    "ipykernel",
    "numpy",
    "importlib",
    "contextlib",
}
_PATHS = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
INSTALLED = ("<frozen ", *(path + os.sep for path in _PATHS))
MOST_TENSORS, MOST_SAVED = 4, 3
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STRING = re.compile(r"""("[^"]*"|'[^']*')|#.*""")


def scene(traceback: TracebackType | None, look: str = "", asks: bool = False) -> list[str]:
    """Return lines of text: which line led to the error, or "", the learner's line, each tensor
    named there, and saved tensors in the state `look`; nothing where no line is known.

    `asks` says that a tensor was asked for a graph which it has not.
    """
    place = _learners(traceback)
    if place is None:
        return []
    frame, line_number = place
    line = linecache.getline(frame.f_code.co_filename, line_number).strip()
    if not line:
        return []
    with quietly():
        named = _named(frame, line)
        past = _past(frame, line_number)
        roots = starts_of(line, dict(variables(frame)))
        found = _tensors(frame, named, look, freed_before(past, roots))
        led = _led_to_it(past, named, look, asks)
    now = " (its tensors as they are now)" if found else ""
    return [led, f"In your line{now}: {code(visible(line, 90))}", *found]


def _past(frame: FrameType, number: int) -> Past | None:
    try:
        return Past(frame, number)
    except Exception:  # whatever a source is like: what is known without it is still said
        return None


def _led_to_it(past: Past | None, *what: Any) -> str:
    try:
        return led_to_it(past, *what) if past else ""
    except Exception:
        return ""


def _learners(traceback: TracebackType | None) -> tuple[FrameType, int] | None:
    """Return the innermost frame that is the learner's own, with its line."""
    found = None
    while traceback is not None:
        if _is_learners(traceback.tb_frame):
            found = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _is_learners(frame: FrameType) -> bool:
    """Say whether code is the learner's: not Python's own, of no installed package, and not ours."""
    module = frame.f_globals.get("__name__")
    if type(module) is str and module.split(".")[0] in THEIRS:
        return False
    return not frame.f_code.co_filename.startswith(INSTALLED)


def _named(frame: FrameType, line: str) -> dict[str, torch.Tensor]:
    """Return the first tensors that a line names."""
    here = dict(variables(frame))
    names = dict.fromkeys(_WORD.findall(_STRING.sub(" ", line)))
    found = [(name, here[name]) for name in names if name in here and is_tensor(here[name])]
    return dict(found[:MOST_TENSORS])


def _tensors(
    frame: FrameType, named: dict[str, torch.Tensor], look: str, before: list[Any]
) -> list[str]:
    told = [f"    {name}: {_tensor(tensor)}" for name, tensor in named.items()]
    if not look:
        return told
    found = find_names(frame)
    ids = {id(node) for node in before}  # which are held meanwhile: their ids stay their own
    for name, tensor in named.items():
        if may_be_stale(tensor):
            continue
        walk = Walk([tensor])
        graph = graph_of(walk, found)
        if look == "freed":
            told += _freed(name, graph, [id(node) in ids for node in walk.met])
        else:
            told += _modified(name, graph)
    return told


def _tensor(tensor: torch.Tensor) -> str:
    """Describe a tensor: shape, type, device where unusual, and how it stands to the graph."""
    kind = tensor_info(tensor, ()).kind
    shape = f"shape {kind}" if kind.startswith("(") else f"shape () {kind}".rstrip()
    if not read(tensor, "requires_grad"):
        return f"{shape}, {why_no_graph(tensor)}"
    if may_be_stale(tensor):
        return f"{shape}, a view of a tensor that was edited"
    node = read(tensor, "grad_fn")
    return (
        f"{shape}, a leaf that requires grad"
        if node is None
        else f"{shape}, made by {type_name(node)}"
    )


def _modified(name: str, graph: Graph) -> list[str]:
    """Name the saved tensors of a graph that were edited since; nothing if none is."""
    texts = [text for node in graph.nodes for text in _saved(node, "modified")]
    return _listed(f"In the graph of {name}, tensors that were edited since they were saved", texts)


def _freed(name: str, graph: Graph, before: list[bool]) -> list[str]:
    """Name the saved tensors of a graph that were freed before the call that failed; `before` says
    of each node whether that is sure. Of the others it is said that nobody knows.
    """
    texts, unsure = [], 0
    for node, is_sure in zip(graph.nodes, before, strict=True):
        if is_sure:
            texts += _saved(node, "freed")
        elif _saved(node, "freed"):
            unsure += 1
    told = _listed(f"In the graph of {name}, saved tensors that were freed before this call", texts)
    if unsure == 1:
        told.append(
            "One later node has lost its saved tensors, too; this call may have freed them."
        )
    if unsure > 1:
        told.append(
            f"{unsure} later nodes have lost their saved tensors, too; this call may have freed them."
        )
    return told


def _saved(node: Node, state: str) -> list[str]:
    title = f"{node.operation} ({node.name})" if node.name else node.operation
    return [f"{title}: {one}" for one in node.saved if one.state == state]


def _listed(what: str, texts: list[str]) -> list[str]:
    """Return what there is, the first few of it; nothing where there is none."""
    if not texts:
        return []
    more = [f"and {len(texts) - MOST_SAVED} more"] if len(texts) > MOST_SAVED else []
    return [f"{what}: {'; '.join(texts[:MOST_SAVED] + more)}"]
