"""Say to the speaker, step by step, what to do: which letter is right, what they guess, what to ask
next.
"""

from __future__ import annotations

import re
from html import escape

from course.publishing.faces import Faces
from course.publishing.round_text import Reason
from helpers.predicting.questions import Question

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
    right = shown_right(asked)
    first = f"<p class='right'>Right: <b>{escape(right)}</b></p>" if right else ""
    before = first + faces.text(said.get("", "")) + titled(faces, "They guess", said.get("Guesses"))
    before += titled(faces, "Wait", said.get("Wait"))
    tempting = "".join(f"<li>{line}</li>" for line in wrong_answers(faces, why))
    before = before or "<p>Hands for each letter. A later lesson answers it.</p>"
    after = first + "<p>Who changes their mind, now that it ran?</p>"
    after += f"<h3>Why the others tempt</h3><ul>{tempting}</ul>" if tempting else ""
    last = titled(faces, "Say", why.mechanism) + titled(faces, "Ask next", said.get("Ask next"))
    return [before, after, first + last or "<p>On to the next.</p>"]


def of_lab(faces: Faces, texts: list[str], why: Reason) -> list[str]:
    """Return the notes of a lab: before it runs, while they work, for each answer, at the end."""
    said = parts(texts)
    before = faces.text(said.get("", "")) + titled(faces, "They guess", said.get("Guesses"))
    before += titled(faces, "Wait", said.get("Wait"))
    before = before or "<p>Let them write down their answers, then open it.</p>"
    answers = [
        f"<p class='right'>{label}. {faces.line(answer)}</p>"
        for label, answer in zip(why.numbers, why.answers, strict=True)
    ]
    last = titled(faces, "Say", why.mechanism) + titled(faces, "Ask next", said.get("Ask next"))
    told = [
        f"<p>Answered so far:</p>{''.join(answers[:count])}" for count in range(1, len(answers) + 1)
    ]
    at_work = "<p>They work. Each key brings an answer.</p>" + "".join(answers)
    return [before, at_work, *told[:-1], *[one + last for one in told[-1:]]]


def titled(faces: Faces, title: str, words: str | None) -> str:
    return f"<h3>{title}</h3>{faces.text(words)}" if words else ""


def shown_right(asked: Question | None) -> str:
    """Return what is right: "(b)", or the numbers."""
    if asked is None or not asked.right:
        return ""
    if asked.letters:
        return f"({asked.right})"
    return ", ".join(f"{number:g}" for number in asked.right)


def wrong_answers(faces: Faces, why: Reason) -> list[str]:
    """Return a line for each wrong letter, or wrong value."""
    labels = [f"({letter})" for letter in why.letters] + [f"{value}:" for value in why.values]
    return [
        f"<b>{label}</b> {faces.line(line)}" for label, line in zip(labels, why.lines, strict=True)
    ]
