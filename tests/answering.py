"""Read the answers in tests/answers and hold each against `check`.

python tests/answering.py            a table: right refused, wrong accepted, per exercise
python tests/answering.py 03.3       every answer to 03.3, and what check says to it
"""

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "answers"
LABELS = ("right", "wrong", "odd")
HEAD = re.compile(r"=== (right|wrong|odd)")
USUAL = """
import contextlib, copy, functools, itertools, math, operator, random, re, warnings, weakref
import numpy, numpy as np
from decimal import Decimal
from fractions import Fraction
import torch, torch.nn as nn, torch.nn.functional as F, torch.nn.functional as functional
from torch import Tensor, autograd, optim, tensor
from torch.autograd import Function, Variable, grad
from torch.autograd.graph import Node, saved_tensors_hooks
from helpers import record, show, snapshot
"""


@dataclass(frozen=True)
class Answer:
    """Hold one answer: its exercise, its label and its source."""

    exercise: str
    label: str
    source: str


def answers(exercise: str) -> list[Answer]:
    """Return the answers of tests/answers/EXERCISE.txt."""
    path = FOLDER / f"{exercise}.txt"
    found, source = [], []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("==="):
            head = HEAD.fullmatch(line)
            if head is None:
                raise ValueError(f"{path.name}, line {number}: {line!r} is no head of an answer")
            source = []
            found.append((head, source))
        elif found:
            source.append(line)
        elif line.strip():
            raise ValueError(f"{path.name}, line {number}: {line!r} stands before the first head")
    return [Answer(exercise, head[1], "\n".join(lines).strip("\n")) for head, lines in found]


def evaluated(source: str) -> object:
    """Return what an answer's source is: an expression, or statements that define `answer`."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(USUAL, namespace)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            code = compile(source, "<answer>", "eval")
        except SyntaxError:
            exec(compile(source, "<answer>", "exec"), namespace)
            return namespace["answer"]
        return eval(code, namespace)


@cache
def judged(answer: Answer):
    """Return how check judges an answer, as its Verdict, nothing tried before it."""
    from helpers.exercises.exercise import find
    from helpers.exercises.verdict import judge

    return judge(find(answer.exercise), evaluated(answer.source))


def fault(answer: Answer) -> str:
    """Say what is wrong with how an answer is judged; "" where nothing is."""
    try:
        verdict = judged(answer)
    except Exception as error:
        return f"it cannot be judged: {type(error).__name__}: {error}"
    is_right = verdict.kind == "right"
    if answer.label == "right" and not is_right:
        return f"right, and refused: {verdict.text}"
    if answer.label == "wrong" and is_right:
        return "wrong, and accepted"
    if answer.label == "odd" and not is_right and not is_about_form(verdict):
        return f"odd, and called wrong: {verdict.text}"
    return ""


def is_about_form(verdict) -> bool:
    """Tell whether a verdict speaks of how the answer is written."""
    return verdict.more == "unread"


def main(names: list[str]) -> None:
    """Print the table, or every answer of the exercises that are named."""
    for path in sorted(FOLDER.glob("*.txt")):
        if names and path.stem not in names:
            continue
        found = answers(path.stem)
        bad = [(one, fault(one)) for one in found]
        counts = " ".join(f"{label} {sum(a.label == label for a in found):3}" for label in LABELS)
        print(f"{path.stem}  {counts}   faults {sum(bool(why) for _, why in bad)}")
        for one, why in bad:
            if names:
                verdict = judged(one)
                shown = one.source.replace("\n", "\n    ")
                print(
                    f"\n  {one.label}\n    {shown}\n  -> {verdict.kind} {verdict.more}: {verdict.text}"
                )
            if why:
                print(f"  FAULT {one.source!r}: {why}"[:400])


if __name__ == "__main__":
    main(sys.argv[1:])
