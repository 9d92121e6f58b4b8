"""Read out of a message which tensor and which operation it speaks of.

Pure text; adds nothing that it does not say.
"""

from __future__ import annotations

import re

_SHAPE = r"torch\.Size\(\[([\d, ]{0,300})\]\)"
_VERSIONS = re.compile(
    r"\[([\w.]+) \[([\d, ]{0,300})\]\](?:, which is output (\d{1,18}) of (\w+),)?"
    r" is at version (\d{1,18}); expected version (\d{1,18})"
)
_SHAPES = re.compile(
    rf"grad_output\[(\d{{1,18}})\] has a shape of {_SHAPE} and output\[\d+\] has a shape of {_SHAPE}"
)
_CLUES = {
    r"Tensor at index (\d{1,18}) appears to not have been used": "It is the tensor at index {} of "
    "those whose gradients you asked for. The first has index 0.",
    r"element (\d{1,18}) of (?:tensors|variables) does not require grad": "Element {} is the tensor "
    "at which backward() or grad() was to start. The first has number 0.",
    r"Output (\d{1,18}) of (\w+) is a view": "The tensor is output {} of {}. The first has number 0.",
    r"Tensor on device (\w+(?::\d+)?) is not on the expected device (\w+(?::\d+)?)": "One tensor is "
    "on {}, and the operation expected {}.",
}


def clue(text: str) -> str:
    """Return what a message tells of tensor and operation, in one or two sentences, or ""."""
    if match := _VERSIONS.search(text):
        return _versions(*match.groups())
    if match := _SHAPES.search(text):
        given, wanted = tuple_of(match[2]), tuple_of(match[3])
        return f"The gradient that you gave has shape {given}, and output {match[1]} has shape {wanted}."
    for pattern, said in _CLUES.items():
        if match := re.search(pattern, text):
            return said.format(*match.groups())
    return ""


def _versions(kind: str, shape: str, nr: str | None, maker: str | None, now: str, then: str) -> str:
    ticks = int(now) - int(then)
    said = f"The tensor is a {kind} of shape {tuple_of(shape)}. It was saved at version {then} and is at version {now} now"
    if ticks == 1:
        said += ", so its counter has moved on once"
    if ticks > 1:
        said += f", so its counter has moved on {ticks} times"
    if maker is None:
        return f"{said}. The message names no operation, so it is a leaf, such as a weight or a constant."
    if maker == "AsStrided":
        return f"{said}. It is output {nr} of AsStrided: a view, such as a slice, or the transposed weight of nn.Linear."
    return f"{said}. It is output {nr} of {maker}: the operation that made it, or the last recorded one that wrote into it."


def tuple_of(sizes: str) -> str:
    """Turn "3, 2" into the text of a tuple: "(3, 2)"; "(3,)" and "()" as Python writes them."""
    return str(tuple(int(size) for size in sizes.split(",") if size.strip()))
