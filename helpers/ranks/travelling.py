"""Hold what travels between a notebook and a rank: the text of a function, arguments and answers.

A function that stands in a notebook can't be imported by another process, so its text goes there.
"""

import builtins
import inspect
import io
import symtable
import textwrap
from collections.abc import Callable

import torch

FIRST_LINES = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torch.nn.parallel import DistributedDataParallel as DDP
from helpers.moons import classifier, moons
"""  # what each rank begins with, like the first cell of the lesson
THERE = {"torch", "dist", "nn", "bce", "DDP", "classifier", "moons"}


def text_of(function: Callable) -> str:
    """Return the text of a function, its first line at the margin.

    Raises ValueError where there is none, or where it needs more than a rank has.
    """
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        raise ValueError("run_ranks takes a function: define one with `def`, and give its name.")
    name = function.__name__
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except OSError:
        raise ValueError(
            f"The text of `{name}` can't be found. Define it in a cell or in a file."
        ) from None
    missing = ", ".join(f"`{one}`" for one in names_missing(text))
    if missing:
        raise ValueError(
            f"A rank doesn't have {missing}: it's a process of its own, and all it gets is the text"
            f" of `{name}`. Define or import it inside `{name}`, or hand it over as an argument."
        )
    return text


def names_missing(text: str) -> list[str]:
    """Return the names that a text uses, and that neither it nor a rank defines."""
    used, made = set(), THERE | {"__name__", *dir(builtins)}
    waiting = [symtable.symtable(text, "<cell>", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if table.get_type() != "module" and not symbol.is_global():
                continue
            if symbol.is_assigned() or symbol.is_imported():
                made.add(symbol.get_name())
            elif symbol.is_referenced():
                used.add(symbol.get_name())
    return sorted(used - made)


def packed(value: object, what: str) -> bytes:
    """Return a value as bytes that can be read without running anything; `what` says whose it is.

    Raises ValueError where it holds more than tensors, numbers, strings, lists, tuples and dicts.
    """
    file = io.BytesIO()
    try:
        torch.save(value, file)
        unpacked(file.getvalue())
    except Exception:
        raise ValueError(
            f"{what} has a {type(_odd(value)).__name__} in it, which can't go to another process."
            " Tensors, numbers and strings can, and lists, tuples and dicts of them."
        ) from None
    return file.getvalue()


def unpacked(data: bytes) -> object:
    return torch.load(io.BytesIO(data), weights_only=True)


def _odd(value: object) -> object:
    """Return the first part of a value that can't be sent; the value where all its parts can."""
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(parts, list | tuple):
        for part in parts:
            try:
                packed(part, "")
            except ValueError:
                return _odd(part)
    return value
