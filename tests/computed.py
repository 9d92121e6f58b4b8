"""Run the programs of a question, and store what came in the metadata of its cell: the edges of a live
graph, what stands behind each line of a program, what each order of lines does.

helpers/predicting/from_notebook.py makes questions of it.
"""

import re
import warnings

import torch
from drawn_cards import drawing
from notebook_rules.rounds import asked

from helpers.predicting.from_notebook import CannotBeAsked, every_order, mend, program_in
from helpers.predicting.program_outcomes import (
    Outcome,
    cured,
    in_this_order,
    outcome,
    ran,
    undisturbed,
    with_line,
)


def store_what_came(lesson, notebook):
    """Run the programs of each question anew, and take away what belongs to none."""
    stored = {}
    for round_ in asked(lesson):
        if round_.kind in KINDS:
            stored[round_.first.id] = KINDS[round_.kind](lesson, round_)
    for cell in notebook.cells:
        said = cell.metadata.get("course", {})
        said.pop("came", None)
        if cell["id"] in stored:
            said["came"] = stored[cell["id"]]


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
    return drawing(graph, names, tuple(round_.first.course.get("decoys", ())))


def find_line(lesson, round_):
    """Run the program line by line, as it stands, and with each change that the author wants tried.

    One with a recorded `symptom` runs mended only: as it stands it may ruin the process on a GPU.
    """
    said, program = round_.first.course, program_in([cell.node for cell in round_.cells])
    good, is_recorded = cured(program, mend(said)), "symptom" in said
    lines = (good if is_recorded else program).split("\n")
    with warnings.catch_warnings(action="ignore"):
        first = recorded(said) if is_recorded else outcome(program)
        cure = outcome(good)
        if cure.error or cure == first:
            raise CannotBeAsked(f"{round_.first}: {mend(said)} does not mend the program.")
        tried = {}
        for number, (_, *change) in said["tells"].items():
            if change:
                tried[number] = came_of(first, outcome(with_line(program, int(number), change[0])))
    return {
        "raises": first.line,
        "symptom": first.printout,
        "behind": [behind(lines, nr) for nr in range(1, len(lines) + 1)],
        "tried": tried,
    }


def recorded(said):
    """Return what a program did elsewhere, as its author wrote it down."""
    *printed, error = said["symptom"].split("\n")
    return Outcome(tuple(printed), error, said["raises"])


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
    """Run every order of every choice of lines; `of` numbers, from 1, what came of each."""
    said = round_.first.course
    number_of, of = {}, []
    for letters in every_order(said["lines"]):
        program = f"{said.get('before', '')}\n{in_this_order(said, letters)}"
        came = outcome(program, said["after"])
        facts = (*came.printed, *filter(None, [came.error]))
        of.append(number_of.setdefault(facts, len(number_of) + 1))
    return {"facts": list(map(list, number_of)), "of": " ".join(map(str, of))}


KINDS = {"draw": draw, "find_line": find_line, "order": order}
