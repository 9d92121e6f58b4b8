"""What a lesson, an exercise, a question or the glossary says, for tests that run it. Reads them only."""

import json
import re
from functools import cache
from pathlib import Path

from autograd_graphs.diagnosing.catalogue import book
from helpers.exercises.exercise import find
from helpers.predicting.questions import question

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@cache
def _cells(lesson):
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    return {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    }


def source(lesson, cell):
    """Return the source of a cell as it stands."""
    return _cells(lesson)[cell]


def refusal(call):
    """Return the message of the error that a call raises, "" without one."""
    try:
        call()
    except (RuntimeError, TypeError) as error:
        return str(error)
    return ""


def stands(lesson, where, *words):
    """Hold that these words stand in a cell of a lesson ("08", "clinic"), among all that an exercise
    ("08.2") or a question ("08.e1") may say, or in an entry of the glossary.
    """
    text = " ".join(_text(lesson, where).split())
    for one in words:
        assert one in text, f"{where} does not say: {one}"


def _text(lesson, where):
    if where in _cells(lesson):
        return _cells(lesson)[where]
    if re.match(r"\d\d\.\d", where):
        return _of_exercise(find(where))
    if re.match(r"\d\d\.", where):
        return json.dumps(question(where).told, ensure_ascii=False)
    return _of_entry(where)


def _of_exercise(one):
    texts = [one.right, one.principle, one.solution, *one.hints, *one.known]
    if one.quantities:
        texts += one.quantities.own
        for place in one.quantities.places:
            texts += [place.wanted, *place.known]
    return " ".join(texts)


def _of_entry(name):
    """Return what the glossary says of a term, or of the first symptom whose message has these words."""
    for term in book().terms:
        if term.name.strip("`") == name:
            return term.says
    symptom = next(one for one in book().symptoms if name in one.message)
    return ". ".join([symptom.means, *(f"{one.what}. {one.remedy}" for one in symptom.causes)])
