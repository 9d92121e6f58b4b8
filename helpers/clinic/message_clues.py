"""Read out of a message which tensor and which operation it speaks of.

Pure text; adds nothing that it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SHAPE = r"torch\.Size\(\[([\d, ]{0,300})\]\)"
_VERSIONS = re.compile(
    r"\[([\w.]+) \[([\d, ]{0,300})\]\](?:, which is output (\d{1,18}) of (\w+),)?"
    r" is at version (\d{1,18}); expected version (\d{1,18})"
)
_SHAPES = re.compile(
    rf"grad_output\[(\d{{1,18}})\] has a shape of {_SHAPE} and output\[\d+\] has a shape of {_SHAPE}"
)
_UNUSED = re.compile(r"Tensor at index (\d{1,18}) appears to not have been used")
_ELEMENT = re.compile(r"element (\d{1,18}) of (?:tensors|variables) does not require grad")
_VIEW = re.compile(r"Output (\d{1,18}) of (\w+) is a view")
_DEVICE = re.compile(
    r"Tensor on device (\w+(?::\d+)?) is not on the expected device (\w+(?::\d+)?)"
)


def clue(text: str) -> str:
    """Return what a message tells of the tensor and the operation, in one or two sentences; "" if
    nothing.
    """
    for pattern, say in _CLUES:
        if found := pattern.search(text):
            return say(*found.groups())
    return ""


def _versions(kind: str, shape: str, nr: str | None, maker: str | None, now: str, then: str) -> str:
    ticks = int(now) - int(then)
    times = "once" if ticks == 1 else f"{ticks} times"
    tensor = f"The tensor is a {kind} of shape {tuple_of(shape)}. It was saved at version {then} and is at version {now} now"
    counted = f"{tensor}, so its counter has moved on {times}." if ticks > 0 else f"{tensor}."
    if maker is None:
        return f"{counted} The message names no operation, so it is a leaf, such as a weight or a constant."
    if maker == "AsStrided":
        return f"{counted} It is output {nr} of AsStrided: a view, such as a slice, or the transposed weight of nn.Linear."
    return f"{counted} It is output {nr} of {maker}: the operation that made it, or the last recorded one that wrote into it."


def _shapes(nr: str, given: str, wanted: str) -> str:
    return f"The gradient that you gave has shape {tuple_of(given)}, and output {nr} has shape {tuple_of(wanted)}."


def _unused(nr: str) -> str:
    return f"It is the tensor at index {nr} of those whose gradients you asked for. The first has index 0."


def _element(nr: str) -> str:
    return f"Element {nr} is the tensor at which backward() or grad() was to start. The first has number 0."


def _view(nr: str, maker: str) -> str:
    return f"The tensor is output {nr} of {maker}. The first has number 0."


def _device(one: str, other: str) -> str:
    return f"One tensor is on {one}, and the operation expected {other}."


def tuple_of(sizes: str) -> str:
    """Turn "3, 2" into the text of a tuple: "(3, 2)"; "(3,)" and "()" as Python writes them."""
    return str(tuple(int(size) for size in sizes.split(",") if size.strip()))


_CLUES: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = (
    (_VERSIONS, _versions),
    (_SHAPES, _shapes),
    (_UNUSED, _unused),
    (_ELEMENT, _element),
    (_VIEW, _view),
    (_DEVICE, _device),
)
