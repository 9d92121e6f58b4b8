"""Say to the speaker at each step: what is right, what they guess, what to ask next."""

from __future__ import annotations

import re
from html import escape

from nbformat import NotebookNode

from course.publishing.cell_renderer import CellRenderer, Cells
from course.publishing.slides import Lab
from helpers.predicting.questions import Question
from helpers.predicting.round_text import Reason

CHECK = re.compile(r'^check\(("[\d.]+")', re.M)
NAMED = re.compile(r"\*\*(Guesses|Wait|Ask next)\.?\*\*\.?\s*", re.S)


def parts(cells: Cells) -> dict[str, str]:
    """Return the named parts of notes, "" for what stands before the first name."""
    made: dict[str, str] = {}
    for cell in cells:
        pieces = NAMED.split(cell.source)
        names = ["", *pieces[1::2]]
        for name, words in zip(names, pieces[0::2], strict=True):
            if words.strip():
                made[name] = f"{made.get(name, '')}\n\n{words.strip()}".lstrip("\n")
    return made


def of_round(
    renderer: CellRenderer, cells: Cells, asked: Question | None, why: Reason
) -> list[str]:
    """Return the notes of the question, of the result and of the takeaway of a round."""
    said = parts(cells) | {"Say": why.mechanism}
    first, tempting = right_line(asked), wrong_answers(renderer, why)
    before = first + begun(renderer, said)
    before = before or "<p>Hands for each letter. A later lesson answers it.</p>"
    after = first + titled(renderer, said, "Wait") + "<p>Who changes their mind?</p>"
    if tempting:
        after += f"<div class='tempt'><h3>Why the others tempt</h3><ul>{tempting}</ul></div>"
    last = titled(renderer, said, "Say") + titled(renderer, said, "Ask next")
    return [before, after, first + last or "<p>On to the next.</p>"]


def of_lab(renderer: CellRenderer, cells: Cells, why: Reason, lab: Lab) -> tuple[str, ...]:
    """Return the notes of a lab: at its question, at each press, at the answer and at the end.

    Of what plays nothing there is what it shows; where nothing is shown, a step for each answer only.
    """
    said = parts(cells) | {"Say": why.mechanism}
    before = begun(renderer, said)
    before = before or "<p>Let them write down their answers, then open it.</p>"
    pairs = zip(why.numbers, why.answers, strict=True)
    answers = [f"<p class='right'>{label}. {renderer.line(answer)}</p>" for label, answer in pairs]
    last = titled(renderer, said, "Say") + titled(renderer, said, "Ask next")
    last = "".join(answers) + last
    if not lab.result.html:
        return (before, *answers[:-1], last)
    if not lab.plays:
        return (before, before, last)
    right = answers[lab.asked] if lab.asked < len(answers) else "<p>They work.</p>"
    told = "<p>They try it in the lab; C shows all its questions. Then each → presses one button, and A"
    told += f" leads to the answer:</p>{right}"
    pressed = [told] * len(lab.presses.split())
    return (before + told, *pressed, *[right] * bool(lab.takeaway), last)


def begun(renderer: CellRenderer, said: dict[str, str]) -> str:
    """Return what is said first, and what they will guess, which they are not shown before they do."""
    words = renderer.text(said.get("", ""))
    if "Guesses" in said:
        guesses = renderer.text(said["Guesses"])
        words += f"<div class='guesses'><h3>They guess</h3>{guesses}</div>"
    return words + titled(renderer, said, "Wait")


def solved(cell: NotebookNode) -> str:
    """Say where the solution of the exercise is that a cell checks, "" where it checks none."""
    called = CHECK.search(cell.source)
    if not called or cell.cell_type != "code":
        return ""
    solves = f"<code>solution({called[1]})</code> prints code that solves it"
    return f"<p>In the notebook {solves}, and each <code>hint({called[1]})</code> gives one more hint.</p>"


def titled(renderer: CellRenderer, said: dict[str, str], name: str) -> str:
    words = said.get(name)
    return f"<h3>{name}</h3>{renderer.text(words)}" if words else ""


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


def wrong_answers(renderer: CellRenderer, why: Reason) -> str:
    """Return a list with a line for each wrong letter, or wrong value; "" where there is none."""
    labels = [f"({letter})" for letter in why.letters] + [f"{value}:" for value in why.values]
    items = ""
    for label, line in zip(labels, why.lines, strict=True):
        items += f"<li><b>{label}</b> {renderer.line(line)}</li>"
    return items
