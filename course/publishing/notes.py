"""Say to the speaker at each step: what is right, what they guess, what to ask next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from nbformat import NotebookNode

from course.publishing.faces import Faces
from course.publishing.round_text import Reason
from helpers.predicting.questions import Question

CHECK = re.compile(r'^check\(("[\d.]+")', re.M)
NAMED = re.compile(r"\*\*(Guesses|Wait|Ask next)\.?\*\*\.?\s*", re.S)


def parts(texts: list[str]) -> dict[str, str]:
    """Return the named parts of notes, "" for what stands before the first name."""
    found: dict[str, str] = {}
    for text in texts:
        pieces = NAMED.split(text)
        names = ["", *pieces[1::2]]
        for name, words in zip(names, pieces[0::2], strict=True):
            if words.strip():
                found[name] = "\n\n".join(filter(None, (found.get(name), words.strip())))
    return found


def of_round(faces: Faces, texts: list[str], asked: Question | None, why: Reason) -> list[str]:
    """Return the notes of the question, of the result and of the takeaway of a round."""
    said = parts(texts)
    first = right_line(asked)
    before = first + faces.text(said.get("", "")) + guesses(faces, said)
    before += titled(faces, "Wait", said.get("Wait"))
    tempting = "".join(f"<li>{line}</li>" for line in wrong_answers(faces, why))
    before = before or "<p>Hands for each letter. A later lesson answers it.</p>"
    after = first + titled(faces, "Wait", said.get("Wait"))
    after += "<p>Who changes their mind?</p>"
    if tempting:
        after += f"<div class='tempt'><h3>Why the others tempt</h3><ul>{tempting}</ul></div>"
    last = titled(faces, "Say", why.mechanism) + titled(faces, "Ask next", said.get("Ask next"))
    return [before, after, first + last or "<p>On to the next.</p>"]


def of_lab(
    faces: Faces, texts: list[str], why: Reason, is_seen: bool, presses: Sequence[str]
) -> list[str]:
    """Return the notes of a lab: before it runs, at each question, each press and each answer, at
    the end.

    Where the lab itself is not seen on the slide, there is a step for each answer only.
    """
    said = parts(texts)
    before = faces.text(said.get("", "")) + guesses(faces, said)
    before += titled(faces, "Wait", said.get("Wait"))
    before = before or "<p>Let them write down their answers, then open it.</p>"
    pairs = zip(why.numbers, why.answers, strict=True)
    answers = [f"<p class='right'>{label}. {faces.line(answer)}</p>" for label, answer in pairs]
    last = titled(faces, "Say", why.mechanism) + titled(faces, "Ask next", said.get("Ask next"))
    if not is_seen:
        return [before, *answers[:-1], "".join(answers) + last]
    told = []
    for answer, keys in zip(answers or ["<p>They work.</p>"], presses or [""], strict=False):
        asked = f"<p>They try it in the lab. Then each key does one press:</p>{answer}"
        told += [asked] * (1 + len(keys.split())) + [answer]
    return [before, *told, "".join(answers) + last]


def guesses(faces: Faces, said: dict[str, str]) -> str:
    """Return what they will guess, which is not shown to them before they do."""
    words = titled(faces, "They guess", said.get("Guesses"))
    return words and f"<div class='guesses'>{words}</div>"


def solved(cell: NotebookNode) -> str:
    """Say where the solution of the exercise is that a cell checks, "" where it checks none."""
    called = CHECK.search(cell.source) if cell.cell_type == "code" else None
    if not called:
        return ""
    solves = f"<code>solution({called[1]})</code> prints code that solves it"
    return f"<p>In the notebook {solves}, <code>hint({called[1]})</code> a hint at each call.</p>"


def titled(faces: Faces, title: str, words: str | None) -> str:
    return f"<h3>{title}</h3>{faces.text(words)}" if words else ""


def right_line(asked: Question | None) -> str:
    right = shown_right(asked)
    return f"<p class='right'>Right: <b>{escape(right)}</b></p>" if right else ""


def shown_right(asked: Question | None) -> str:
    """Return what is right: "(b)", numbers, the number of a line, an order; "" where a picture shows it."""
    if asked is None or not asked.right or asked.kind == "draw":
        return ""
    if asked.kind == "number":
        return ", ".join(f"{number:g}" for number in asked.right)
    usual = {"choose": f"({asked.right})", "find_line": f"line {asked.right}"}
    return usual.get(asked.kind, f"for example {asked.right}")


def wrong_answers(faces: Faces, why: Reason) -> list[str]:
    """Return a line for each wrong letter, or wrong value."""
    labels = [f"({letter})" for letter in why.letters] + [f"{value}:" for value in why.values]
    pairs = zip(labels, why.lines, strict=True)
    return [f"<b>{label}</b> {faces.line(line)}" for label, line in pairs]
