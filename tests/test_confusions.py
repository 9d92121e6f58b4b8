"""Every confusion that the course treats has its lesson, and every lesson that exists shows those
of its rows.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest

from helpers.clinic.catalogue import book

ROOT = Path(__file__).parent.parent
TABLE = tomllib.loads((ROOT / "tests" / "confusions.toml").read_text(encoding="utf-8"))
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
ALL = [
    f"C{number}{more}"
    for number in range(1, 43)
    for more in ("", "b")
    if not more or number in (1, 3, 4, 10, 27)
]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def due(lesson):
    """Return the rows of a lesson: {key: words}."""
    return {row["key"]: row["words"] for row in TABLE["confusion"] if row["lesson"] == lesson}


def shown(cells):
    """Return {key: all text of the ideas in which a cell carries it}."""
    found = {}
    for idea in ideas(cells):
        told = COLOURS.sub("", "".join(map(text, idea)))
        for key in dict.fromkeys(
            key for cell in idea for key in cell["metadata"].get("confusions", [])
        ):
            found[key] = found.get(key, "") + told
    return found


def ideas(cells):
    """Cut the cells of a lesson before each `# ` or `## ` heading."""
    found = [[]]
    for cell in cells:
        begins = cell["cell_type"] == "markdown" and re.match("##? ", "".join(cell["source"]))
        found += [[]] if begins else []
        found[-1].append(cell)
    return found


def text(cell):
    """Return the source of a cell and what it shows, words of pictures left out."""
    parts = [cell["source"]]
    for output in cell.get("outputs", []):
        parts += [
            output.get("text", ""),
            output.get("evalue", ""),
            output.get("data", {}).get("text/plain", ""),
        ]
    return "\n".join("".join(part) for part in parts) + "\n"


def complaints(cells, wanted):
    """Say of each confusion that is due what is missing, and of each that is not that it does not
    belong.
    """
    here = shown(cells)
    yield from (f"no cell carries {key} in its metadata" for key in wanted if key not in here)
    yield from (f"{key} is not its row in confusions.toml" for key in here if key not in wanted)
    for key in wanted.keys() & here.keys():
        if " ".join(wanted[key].split()) not in " ".join(here[key].split()):
            yield f"the ideas with {key} do not show {wanted[key]!r}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_treats_its_confusions_and_no_others(lesson):
    cells = json.loads(LESSONS[lesson].read_text(encoding="utf-8"))["cells"]
    assert not list(complaints(cells, due(lesson)))


def test_every_confusion_has_a_row_or_a_reason():
    treated, elsewhere = (
        {row["key"] for row in TABLE["confusion"]},
        [key for e in TABLE["elsewhere"] for key in e["keys"]],
    )
    assert treated | set(elsewhere) == set(ALL)
    assert not treated & set(elsewhere)
    assert all(entry["reason"] for entry in TABLE["elsewhere"])
    pairs = [(row["key"], row["lesson"]) for row in TABLE["confusion"]]
    assert len(pairs) == len(set(pairs))
    assert {lesson for _, lesson in pairs} <= set(book().lessons)


def test_the_symptom_index_has_each_of_them_and_sends_to_a_lesson_that_treats_it():
    rows = {(row["key"], row["lesson"]) for row in TABLE["confusion"]}
    indexed = {
        (cause.key, cause.lesson) for one in book().symptoms for cause in one.causes if cause.key
    }
    extra = {
        "C27b"
    }  # its message may come in lesson 07, which shows the better way; what it is about comes later
    assert {key for key, _ in indexed} == {key for key, _ in rows} | extra
    assert {pair for pair in indexed if pair[0] not in extra} <= rows


def test_what_is_missing_alien_or_not_shown_is_seen():
    heading = {
        "cell_type": "markdown",
        "metadata": {"confusions": ["C1"]},
        "source": ["## Twice\n"],
    }
    output = {"output_type": "stream", "text": ["a second\n", "time\n"]}
    run = {"cell_type": "code", "metadata": {}, "source": ["loss.backward()"], "outputs": [output]}
    last = {"cell_type": "markdown", "metadata": {}, "source": ["## Once\n", "a third time"]}
    cells = [heading, run, last]
    assert list(complaints(cells, {"C1": "a second time"})) == []
    assert list(complaints(cells, {"C1": "a third time"})) == [
        "the ideas with C1 do not show 'a third time'"
    ]
    assert list(complaints(cells, {})) == ["C1 is not its row in confusions.toml"]
    assert list(complaints([run], {"C1": "x"})) == ["no cell carries C1 in its metadata"]
