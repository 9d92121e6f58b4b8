"""Read printed text as a terminal shows it at its end: what was overwritten is gone, colours stay."""

from __future__ import annotations

import re

MOST_COLOURED = 100_000  # characters: nbconvert takes a minute over the colours of a million
COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
OTHERS = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"  # titles and links (OSC)
    r"|\x1b\[[0-?]*[ -/]*[@-ln-~]"  # moves of the cursor
    r"|\x1b\[[^0-9;m]*[0-9;]*[<-?:][0-?]*m"  # no colour
    r"|\x1b(?!\[)"
)
CONTROLS = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]")


def settled(text: str) -> str:
    """Return printed text with colours as its only codes; without them where there are too many."""
    text = CONTROLS.sub("", OTHERS.sub("", text))
    text = COLOUR.sub("" if len(text) > MOST_COLOURED else _colour, text)
    return "\n".join(map(line_at_end, text.split("\n"))) if re.search("[\r\b]", text) else text


def plain(text: str) -> str:
    return COLOUR.sub("", settled(text)).replace("\x1b", "")


def line_at_end(line: str) -> str:
    """Return what is left of a line that a progress bar wrote over and over."""
    last = line.rstrip("\r").rpartition("\r")[2]
    signs: list[str] = []
    for sign in last:
        if sign != "\b":
            signs.append(sign)
        elif signs:
            signs.pop()
    return "".join(signs)


def _colour(code: re.Match) -> str:
    """Return a code of colours; "" for one that nbconvert would stumble over."""
    numbers = [int(number[-6:] or 0) for number in code[1].split(";")]
    while numbers:
        if numbers.pop(0) in (38, 48):
            length = {2: 4, 5: 2}.get(numbers[0] if numbers else 0, 99)
            if len(numbers) < length:
                return ""
            del numbers[:length]
    return code[0]
