"""Look at the place where an exception came from: the line, the tensors that it names, and their
graphs.

Nothing of the learner's runs and nothing is kept: only texts leave this module.
"""

from __future__ import annotations

import linecache
import re
from types import FrameType, TracebackType
from typing import Any

import torch

from autograd_graphs.data import Graph
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
from helpers.clinic.detectors import led_to_it
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
        found = _tensors(frame, named, look)
        led = _led_to_it(frame, line_number, named, look, asks)
    now = " (its tensors as they are now)" if found else ""
    return [led, f"In your line{now}: {code(visible(line, 90))}", *found]


def _led_to_it(frame: FrameType, number: int, *what: Any) -> str:
    try:
        return led_to_it(Past(frame, number), *what)
    except Exception:  # whatever a source is like: what is known without it is still said
        return ""


def _learners(traceback: TracebackType | None) -> tuple[FrameType, int] | None:
    """Return the innermost frame that is not torch's or ours, with its line."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        module = frame.f_globals.get("__name__")
        if type(module) is not str or module.split(".")[0] not in THEIRS:
            found = frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _named(frame: FrameType, line: str) -> dict[str, torch.Tensor]:
    """Return the first tensors that a line names."""
    here = dict(variables(frame))
    names = dict.fromkeys(_WORD.findall(_STRING.sub(" ", line)))
    found = [(name, here[name]) for name in names if name in here and is_tensor(here[name])]
    return dict(found[:MOST_TENSORS])


def _tensors(frame: FrameType, named: dict[str, torch.Tensor], look: str) -> list[str]:
    told = [f"    {name}: {_tensor(tensor)}" for name, tensor in named.items()]
    if not look:
        return told
    found = find_names(frame)
    graphs = [
        (name, graph_of(Walk([one]), found)) for name, one in named.items() if not may_be_stale(one)
    ]
    return told + [text for name, graph in graphs if (text := _saved(name, graph, look))]


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


def _saved(name: str, graph: Graph, state: str) -> str:
    """Name the saved tensors of a graph that are in a state, "freed" or "modified"; "" if none is."""
    found = [(node, one) for node in graph.nodes for one in node.saved if one.state == state]
    texts = [
        f"{node.operation}{f' ({node.name})' if node.name else ''}: {one}" for node, one in found
    ]
    more = [f"and {len(texts) - MOST_SAVED} more"] if len(texts) > MOST_SAVED else []
    what = (
        "tensors that were edited since they were saved"
        if state == "modified"
        else "saved tensors that are freed"
    )
    return (
        f"In the graph of {name}, {what}: {'; '.join(texts[:MOST_SAVED] + more)}" if texts else ""
    )
