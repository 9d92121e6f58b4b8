"""Read the questions of a lesson off its notebook: what is right, and why each wrong answer tempts.

What torch did with the programs of a question stands there, too: `make refresh` ran them and stored
what came in the metadata of its cell. Imports the standard library only, since setup.py reads the
notebooks with it where there is no torch.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

from helpers.predicting.round_text import Reason, question, reason

BEGINS = ("question", "lab")
HEADINGS = ("## ", "### ")
OF_A_ROUND = ("guess", "run", "because", "notes", "text", "try")
CLAIM = "claim"  # stands below a sentence for its author, wherever that is
NUMBER_OF_IDEA = re.compile(r"^\d+ · ")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2}|_)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
OF_A_CARD = ("id", "title", "rest", "name", "kind", "at")
UNTOLD = "This line can stay as it is."
NO_LINE = {"says": "no line is used.", "facts": [], "isGood": False}

Json = dict[str, Any]
Round = list[Json]  # its cells, of which the first asks


class CannotBeAsked(ValueError):
    """Say to the author what a question lacks."""


def questions_at(path: Path) -> Json:
    """Return the questions of a notebook by id. Raises OSError, ValueError: no such notebook is there."""
    return questions_in(json.loads(path.read_text(encoding="utf-8"))["cells"])


def questions_in(cells: list[Json]) -> Json:
    """Return the questions in the cells of a notebook by id. Raises CannotBeAsked."""
    found = {}
    for round_ in rounds(cells):
        said = course(round_[0])
        if said["role"] == "question":
            found[said["id"]] = asked(round_)
    return found


def rounds(cells: list[Json]) -> list[Round]:
    """Return the cells of each round and lab, in order.

    A round begins at a cell with one of the roles `BEGINS`; cells with one of `OF_A_ROUND` belong to
    it, until a cell begins another round, begins a stretch or has any other role.
    """
    found: list[Round] = []
    is_inside = False
    for cell in cells:
        role = course(cell).get("role")
        if role in BEGINS:
            found.append([cell])
            is_inside = True
        elif role != CLAIM:
            is_inside = is_inside and role in OF_A_ROUND and not begins_a_stretch(cell)
            if is_inside:
                found[-1].append(cell)
    return found


def begins_a_stretch(cell: Json) -> bool:
    """Tell whether a text with a heading of its own stands here: what follows asks nothing."""
    return course(cell)["role"] == "text" and source(cell).lstrip().startswith(HEADINGS)


def course(cell: Json) -> Json:
    """Return what a cell says of its place in the course; {} where it says nothing."""
    return cell["metadata"].get("course", {})


def source(cell: Json) -> str:
    return "".join(cell["source"])  # in a file a list of lines


def asked(round_: Round) -> Json:
    """Return what one round asks and answers."""
    said, text = course(round_[0]), question(source(round_[0]))
    found: Json = {"title": plain(NUMBER_OF_IDEA.sub("", text.title))}
    kind = said.get("kind")
    if kind in KINDS:
        takeaway = {"takeaway": why(round_)["takeaway"]}
        return found | {"kind": kind} | KINDS[kind](said, round_) | settling(round_) | takeaway
    if text.letters:
        found["letters"] = "".join(text.letters)
    return found | answer(said, text.letters) | settling(round_) | why(round_)


def answer(said: Json, letters: list[str]) -> Json:
    """Return what is right, or which lesson tells; and how near a number has to come."""
    if "settled" in said:
        return {"settled": said["settled"]}
    if letters:
        return {"right": said["right"]}
    numbers = said["answer"] if isinstance(said["answer"], list) else [said["answer"]]
    found = {"right": numbers}
    if "tolerance" in said:
        found["tolerance"] = said["tolerance"]
    return found


def settling(round_: Round) -> Json:
    """Return what tells the cell that asks, and the one that answers."""
    found = {}
    for cell in with_role(round_, "guess")[:1]:
        found["cell"] = cell["id"]
    for cell in with_role(round_, "run")[:1]:
        found |= {"run": cell["id"], "code": digest(source(cell))}
    return found


def with_role(round_: Round, role: str) -> Round:
    return [cell for cell in round_ if course(cell)["role"] == role]


def digest(code: str) -> str:
    """Return what tells a cell's code from another; spaces at the ends of lines do not count."""
    lines = [line.rstrip() for line in code.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def why(round_: Round) -> Json:
    """Return the takeaway, and what is said of each wrong answer."""
    for cell in with_role(round_, "because")[:1]:
        said: Reason = reason(source(cell))
        wrong = [*said.letters, *said.values]
        told = dict(zip(wrong, map(plain, said.lines), strict=True))
        return {"takeaway": plain(said.takeaway), "why": told}
    return {}


def plain(text: str) -> str:
    """Return Markdown as the widget shows it: code between backticks, nothing else marked."""
    text = LINK.sub(r"\1", " ".join(text.split()))
    parts = text.split("`")
    for place in range(0, len(parts), 2):
        parts[place] = EMPHASIS.sub(r"\2", parts[place])
    return "`".join(parts)


def came(said: Json) -> Json:
    """Return what `make refresh` stored of the programs of a question."""
    if "came" not in said:
        raise CannotBeAsked(f"{said.get('id')}: nobody ran its programs yet: make refresh does it.")
    return said["came"]


def draw(said: Json, round_: Round) -> Json:
    """Return the cards of a graph, its edges, and why there is no other edge."""
    shown, told = came(said)["shown"], came(said)["told"]
    cards = list(map(in_order, shown["cards"]))
    return {"right": told["edges"], "shown": shown | {"cards": cards}, "told": told}


def in_order(card: Json) -> Json:
    """Return a card with its words in the order of a browser's; a notebook sorts them."""
    return {key: card[key] for key in OF_A_CARD}


def find_line(said: Json, round_: Round) -> Json:
    """Return a program, its symptom, and what is to be known of each of its lines."""
    lines, ran = program_in(round_).split("\n"), came(said)
    shown = {
        "lines": lines,
        "raises": ran["raises"],
        "symptom": ran["symptom"],
        "reasons": said["reasons"],
    }
    told = {
        "cause": int(said["right"]),
        "mend": mend(said),
        "notes": ran["behind"],
        "tells": [told_of(str(nr), said["tells"], ran["tried"]) for nr in range(1, len(lines) + 1)],
        "reason": said["reason"],
        "reasonTells": said["reason_tells"],
    }
    return {"right": str(told["cause"]), "shown": shown, "told": told}


def program_in(round_: Round) -> str:
    """Return the program that the cell of a `find_line` holds."""
    (cell,) = with_role(round_, "guess")
    (call,) = [node for node in ast.walk(ast.parse(source(cell))) if isinstance(node, ast.Call)]
    return ast.literal_eval(call.args[1]).strip()


def mend(said: Json) -> dict[str, str]:
    """Return what stands in which line of a mended program."""
    return said["mend"] if isinstance(said["mend"], dict) else {said["right"]: said["mend"]}


def told_of(number: str, tells: dict[str, list[str]], tried: dict[str, str]) -> str:
    """Say what is to be known of one line, and what came when it was changed."""
    says, *change = tells.get(number, (UNTOLD,))
    if not change:
        return says
    changed = f"With `{change[0].strip()}`" if change[0].strip() else "Without it"
    return f"{says} {changed}, {tried[number]}".strip()


def order(said: Json, round_: Round) -> Json:
    """Return lines to put in order, and what is said of what each order does."""
    shown = {name: said[name] for name in ("head", "lines", "start")}
    shown["indent"] = 4 if shown["head"][-1:] and shown["head"][-1].endswith(":") else 0
    of = dict(zip(every_order(said["lines"]), map(int, came(said)["of"].split()), strict=True))
    outcomes = [NO_LINE]
    for number, facts in enumerate(came(said)["facts"], start=1):
        first = next(letters for letters in of if of[letters] == number)
        outcomes.append(said_of(facts, first, said["says"]))
    good = [letters for letters, number in of.items() if outcomes[number]["isGood"]]
    if not good:
        raise CannotBeAsked(f"{said['id']}: no order does what is asked for.")
    told = {
        "before": said.get("before", ""),
        "after": said["after"],
        "of": of,
        "outcomes": outcomes,
    }
    return {"right": good[0], "shown": shown, "told": told}


def every_order(lines: dict[str, str]) -> Iterator[str]:
    """Yield each choice of lines in each order, as letters."""
    for size in range(1, len(lines) + 1):
        yield from map("".join, permutations(lines, size))


def said_of(facts: list[str], letters: str, says: list[list[str]]) -> Json:
    """Return what is said of an outcome: the first sentence whose pattern is found in it."""
    for number, (pattern, sentence) in enumerate(says):
        if re.search(pattern, "\n".join(facts)):
            return {"says": sentence, "facts": facts, "isGood": number == 0}
    raise CannotBeAsked(f"No sentence for the order {letters}, which does this: {facts}")


def explain(said: Json, round_: Round) -> Json:
    """Return the good answer and its points, as the author wrote them."""
    return {"shown": {}, "told": {"good": said["good"], "points": said["points"]}}


KINDS = {"draw": draw, "find_line": find_line, "order": order, "explain": explain}
