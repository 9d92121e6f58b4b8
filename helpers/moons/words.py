"""Say in words what a picture of the moons shows: its caption, a sentence or two, its alt text."""

from __future__ import annotations

from helpers.moons.asking import MOON, Answers
from helpers.moons.contours import contour, is_straight


def caption(answers: Answers) -> str:
    """Return what stands above a picture: "86 of 100 right"."""
    count = len(MOON)
    if answers.silent == count:
        return f"NaN for all {count} points"
    right = f"{answers.right} of {count} right"
    return f"{right}, {answers.silent} NaN" if answers.silent else right


def told(answers: Answers) -> str:
    """Return a sentence on the points, and one on the boundary."""
    if answers.silent == len(MOON):
        return f"{caption(answers)}."
    return f"{caption(answers)}. {boundary(answers)}"


def boundary(answers: Answers) -> str:
    """Return a sentence on the line between what is called moon 0 and what is called moon 1."""
    if answers.gaps:
        return "There's no boundary to draw, because some places have no answer."
    if answers.flat:
        return f"The model says {answers.points[0]:.2f} everywhere."
    lines = contour(answers.lattice, answers.levels[2])
    if not lines:
        moon = int(answers.lattice[0][0] > answers.levels[2])
        return f"Everything in view is called moon {moon}."
    if len(lines) > 1:
        return f"The boundary comes in {len(lines)} pieces."
    if lines[0][0] == lines[0][-1]:
        return "The boundary is a closed curve."
    return f"The boundary {'is straight' if is_straight(lines[0]) else 'bends'}."


def described(answers: Answers, words: str = "") -> str:
    """Return what to notice, for those who don't see the picture; `words` stand under it."""
    return " ".join(filter(None, [told(answers), _wrong(answers), _sure(answers), words]))


def _wrong(answers: Answers) -> str:
    marks = list(zip(answers.verdicts, MOON, strict=True))
    zero, one = (marks.count(("wrong", moon)) for moon in (0, 1))
    if not zero and not one:
        return ""
    return f"It gets {_points(zero)} of moon 0 wrong, and {one or 'none'} of moon 1."


def _sure(answers: Answers) -> str:
    if answers.silent or answers.flat:
        return ""
    if not answers.sure:
        return "The model isn't more than 90% sure of any point."
    return f"The model is more than 90% sure of {_points(answers.sure)}."


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count or 'no'} points"
