"""Write the questions of a lesson for the package's data: what is right, and why each wrong answer
tempts. `make refresh` writes them to helpers/predicting/questions/NN.json.
"""

import json
import re
from pathlib import Path

from computed import KINDS
from notebook_rules.rounds import asked

from helpers.predicting.ran import digest

FOLDER = Path(__file__).resolve().parents[1] / "helpers" / "predicting" / "questions"
NUMBER_OF_IDEA = re.compile(r"^\d+ · ")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2}|_)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def questions(lesson):
    """Return the questions of a lesson by id, as the package's data hold them."""
    return {round_.first.course["id"]: read(lesson, round_) for round_ in asked(lesson)}


def read(lesson, round_):
    """Return what one round asks and answers."""
    found = {"title": plain(NUMBER_OF_IDEA.sub("", round_.question.title))}
    if round_.kind in KINDS:
        computed = KINDS[round_.kind](lesson, round_)
        takeaway = {"takeaway": reason(round_)["takeaway"]}
        return found | {"kind": round_.kind} | computed | cells(round_) | takeaway
    if round_.question.letters:
        found["letters"] = "".join(round_.question.letters)
    return found | answer(round_) | cells(round_) | reason(round_)


def answer(round_):
    """Return what is right, or which lesson tells; and how near a number has to come."""
    said = round_.first.course
    if round_.is_settled_later:
        return {"settled": said["settled"]}
    if round_.question.letters:
        return {"right": said["right"]}
    numbers = said["answer"] if isinstance(said["answer"], list) else [said["answer"]]
    return {"right": numbers} | {name: said[name] for name in ("tolerance",) if name in said}


def cells(round_):
    """Return what tells the cell that asks, and the one that answers."""
    found = {}
    for cell in round_.with_role("guess")[:1]:
        found["cell"] = cell.node["id"]
    for cell in round_.with_role("run")[:1]:
        found |= {"run": cell.node["id"], "code": digest(cell.source)}
    return found


def reason(round_):
    """Return the takeaway, and what is said of each wrong answer."""
    for _, said in round_.reasons[:1]:
        wrong = [*said.letters, *said.values]
        why = dict(zip(wrong, map(plain, said.lines), strict=True))
        return {"takeaway": plain(said.takeaway), "why": why}
    return {}


def plain(text):
    """Return Markdown as the widget shows it: code between backticks, nothing else marked."""
    text = LINK.sub(r"\1", " ".join(text.split()))
    parts = text.split("`")
    for place in range(0, len(parts), 2):
        parts[place] = EMPHASIS.sub(r"\2", parts[place])
    return "`".join(parts)


def path_of(number):
    return FOLDER / f"{number}.json"


def text_of(lesson):
    """Return the text of a lesson's file of questions; "" where it has none."""
    found = questions(lesson)
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n" if found else ""


def write(lesson):
    """Write the file of a lesson; take away that of one without; return whether it changed."""
    path, text = path_of(lesson.number), text_of(lesson)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    else:
        path.unlink(missing_ok=True)
    return text != before
