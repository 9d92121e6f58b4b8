"""Read the predictions of a lesson out of its notebook, for the package's data: what is right, and
why each wrong option tempts. Written to helpers/predicting/questions/NN.json by `make refresh`.
"""

import json
import re
from pathlib import Path

from helpers.predicting.ran import digest

FOLDER = Path(__file__).resolve().parents[1] / "helpers" / "predicting" / "questions"
OPTION = re.compile(r"^- \(([a-f])\) ", re.M)
HEADING = re.compile(r"^#{2,3} +(?:\d+ · )?(.+)$", re.M)
FOLD = re.compile(r"<summary>.*?</summary>(.*)</details>", re.S)
TAKEAWAY = re.compile(r"\*\*((?:`[^`]*`|[^`])+?)\*\*(?!\*)")
REASON = re.compile(r"^- (?:\(([a-f])\)|([^:\n]*\d[^:\n]*):) +(.+(?:\n {2,}\S.*)*)", re.M)
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2}|_)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def course(cell):
    return cell["metadata"].get("course", {})


def role(cell):
    return course(cell).get("role", "")


def questions(notebook):
    """Return the questions of a notebook by id, as the package's data hold them."""
    cells = notebook["cells"]
    return {
        course(cell)["id"]: read(cell, cells[number + 1 :])
        for number, cell in enumerate(cells)
        if role(cell) == "question"
    }


def read(cell, following):
    """Return what one question cell asks, and what the cells of its round answer."""
    source = "".join(cell["source"])
    found = {"title": plain(HEADING.search(source)[1])}
    letters = "".join(OPTION.findall(source))
    data = course(cell)
    if letters:
        found |= {"letters": letters}
    if "settled" in data:
        found |= {"settled": data["settled"]}
    else:
        found |= {"right": data["right"] if letters else numbers(data["answer"])}
    if "tolerance" in data:
        found |= {"tolerance": data["tolerance"]}
    return found | answered(round_of(following))


def numbers(answer):
    return answer if isinstance(answer, list) else [answer]


def round_of(following):
    """Return the cells that follow on a question, up to the next question, lab or exercise."""
    found = []
    for cell in following:
        if role(cell) in ("question", "lab", "exercise", "recap", "text"):
            break
        found.append(cell)
    return found


def answered(cells):
    """Return what the guess, the run and the reason of a round say."""
    found = {}
    by_role = {role(cell): cell for cell in reversed(cells)}  # the first of each role
    if "guess" in by_role:
        found |= {"cell": by_role["guess"]["id"]}
    if "run" in by_role:
        run = by_role["run"]
        found |= {"run": run["id"], "code": digest("".join(run["source"]))}
    if "because" in by_role:
        text = FOLD.search("".join(by_role["because"]["source"]))[1]
        found |= {"takeaway": plain(TAKEAWAY.search(text)[1])}
        found |= {
            "why": {letter or values: plain(why) for letter, values, why in REASON.findall(text)}
        }
    return found


def plain(text):
    """Return Markdown as the widget shows it: code between backticks, nothing else marked."""
    text = LINK.sub(r"\1", " ".join(text.split()))
    parts = text.split("`")
    for place in range(0, len(parts), 2):
        parts[place] = EMPHASIS.sub(r"\2", parts[place])
    return "`".join(parts)


def path_of(number):
    return FOLDER / f"{number}.json"


def text_of(notebook):
    """Return the text of a lesson's file of questions; "" where it has none."""
    found = questions(notebook)
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n" if found else ""


def write(number, notebook):
    """Write the file of a lesson; take away that of one which has no question."""
    path, text = path_of(number), text_of(notebook)
    if text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    else:
        path.unlink(missing_ok=True)
