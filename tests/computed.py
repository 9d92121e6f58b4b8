"""Compute what no author types of a question: the edges of a live graph, what stands behind each line
of a program, what each order of lines does. Each returns {"right", "shown", "told"}.
"""

import ast
import re
import warnings
from itertools import permutations

import torch
from drawn_cards import drawing

from helpers.predicting.programs import (
    cured,
    in_this_order,
    outcome,
    ran,
    undisturbed,
    with_line,
)

NO_LINE = {"says": "no line is used.", "facts": [], "isGood": False}


class CannotBeAsked(ValueError):
    """Say to the author what a question lacks."""


def draw(lesson, round_):
    """Run the set-up and the cell that settles the round; make cards of the graph that it shows."""
    names = {}
    setup = [cell.source for cell in lesson.code if cell.role == "setup"]
    *lines, last = round_.runs[0].source.split("\n")
    with undisturbed(), warnings.catch_warnings(action="ignore"):
        failed, _ = ran("\n".join([*setup, *lines, f"_picture = {last}"]), names)
    if failed:
        raise CannotBeAsked(f"{round_.runs[0]} does not run after the set-up alone: {failed}")
    graph = names.pop("_picture").graph
    found = drawing(graph, names, tuple(round_.first.course.get("decoys", ())))
    return {"right": found["told"]["edges"], **found}


def find_line(lesson, round_):
    """Run the program line by line, as it stands, and with each change that the author wants tried."""
    said, program = round_.first.course, program_in(round_)
    lines, cause = program.split("\n"), int(said["right"])
    with warnings.catch_warnings(action="ignore"):
        first = outcome(program)
        mend = said["mend"] if isinstance(said["mend"], dict) else {said["right"]: said["mend"]}
        cure = outcome(cured(program, mend))
        if cure.error or cure == first:
            raise CannotBeAsked(f"{round_.first}: {mend} does not mend the program.")
        tells = [told_of(program, nr, first, said["tells"]) for nr in range(1, len(lines) + 1)]
    shown = {
        "lines": lines,
        "raises": first.line,
        "symptom": first.printout,
        "reasons": said["reasons"],
    }
    told = {
        "cause": cause,
        "mend": mend,
        "notes": [behind(lines, nr) for nr in range(1, len(lines) + 1)],
        "tells": tells,
        "reason": said["reason"],
        "reasonTells": said["reason_tells"],
    }
    return {"right": str(cause), "shown": shown, "told": told}


def program_in(round_):
    """Return the program that the cell of a `find_line` holds."""
    (cell,) = round_.with_role("guess")
    (call,) = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    return ast.literal_eval(call.args[1]).strip()


def told_of(program, number, first, tells):
    """Say what is to be known of one line, and what came when it was changed."""
    says, *change = tells.get(str(number), ("",))
    if not change:
        return says
    came = outcome(with_line(program, number, change[0]))
    tried = f"With `{change[0].strip()}`" if change[0].strip() else "Without it"
    return f"{says} {tried}, {came_of(first, came)}".strip()


def came_of(first, came):
    """Say what a changed program did, beside what it did at first."""
    if came.printout == first.printout:
        return "the same happens." if not came.error else "you get the same error."
    if not came.printed and not first.printed:
        return f"you get {came.error}" if came.error else "there is no error."
    printed = f"it prints {', '.join(came.printed)}" if came.printed else "nothing is printed"
    return f"{printed}, then {came.error}" if came.error else f"{printed}, and no error comes."


def behind(lines, number):
    """Return what stands behind the name that a line makes, once it has run; "" where it makes none."""
    made = re.match(r"(\w+) = ", lines[number - 1])
    if not made:
        return ""
    names = {"torch": torch, "nn": torch.nn, "print": lambda *words: None}
    with undisturbed():
        ran("\n".join(lines[:number]), names)
    tensor = names.get(made[1])
    if not torch.is_tensor(tensor):
        return ""
    if tensor.grad_fn:
        return type(tensor.grad_fn).__name__
    return "leaf, requires grad" if tensor.requires_grad else "plain"


def order(lesson, round_):
    """Run every order of every choice of lines; those that do the same share what is said of them."""
    said = round_.first.course
    shown = {name: said[name] for name in ("head", "lines", "start")}
    shown["indent"] = 4 if shown["head"][-1:] and shown["head"][-1].endswith(":") else 0
    before, after = said.get("before", ""), said["after"]
    outcomes, number_of, of = [NO_LINE], {}, {}
    for letters in every_order(said["lines"]):
        came = outcome(f"{before}\n{in_this_order(shown, letters)}", after)
        facts = [*came.printed, *filter(None, [came.error])]
        key = tuple(facts)
        if key not in number_of:
            number_of[key] = len(outcomes)
            outcomes.append(said_of(facts, letters, said["says"]))
        of[letters] = number_of[key]
    good = [letters for letters, number in of.items() if outcomes[number]["isGood"]]
    if not good:
        raise CannotBeAsked(f"{round_.first}: no order does what is asked for.")
    told = {"before": before, "after": after, "of": of, "outcomes": outcomes}
    return {"right": good[0], "shown": shown, "told": told}


def every_order(lines):
    """Yield each choice of lines in each order, as letters."""
    for size in range(1, len(lines) + 1):
        yield from map("".join, permutations(lines, size))


def said_of(facts, letters, says):
    """Return what is said of an outcome: the first sentence whose pattern is found in it."""
    for number, (pattern, sentence) in enumerate(says):
        if re.search(pattern, "\n".join(facts)):
            return {"says": sentence, "facts": facts, "isGood": number == 0}
    raise CannotBeAsked(f"No sentence for the order {letters}, which does this: {facts}")


def explain(lesson, round_):
    """Return the good answer and its points, as the author wrote them."""
    said = round_.first.course
    return {"shown": {}, "told": {"good": said["good"], "points": said["points"]}}


KINDS = {"draw": draw, "find_line": find_line, "order": order, "explain": explain}
