"""The glossary: a notebook rendered from data, handed out with its outputs, whose links lead to
lessons.
"""

import json
import re
from pathlib import Path

import pytest
import refresh
from notebook_rules import RULES, Lesson

from course import workspace
from helpers.clinic.catalogue import book
from helpers.clinic.index import KINDS, symptoms, terms

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"
OF_LESSONS = {
    "one_traceback_is_genuine",
    "every_idea_has_notes",
    "it_has_the_length_of_a_lesson",
    "exercises_are_numbered",
}


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.__name__ not in OF_LESSONS], ids=lambda r: r.__name__
)
def test_it_keeps_the_rules_that_are_not_of_lessons_alone(rule):
    assert list(rule(Lesson.at(GLOSSARY))) == []


def test_it_shows_what_the_data_holds_today():
    shown = [
        output["data"]["text/markdown"]
        for cell in Lesson.at(GLOSSARY).code
        for output in cell.outputs
        if "data" in output
    ]
    assert shown == [*(str(symptoms(kind)) for kind in KINDS), str(terms())]


def test_every_link_leads_to_a_lesson():
    stems = {
        path.name[:2]: path.stem for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    }
    links = re.findall(r"\[(\d\d)\]\(([^)]+)\.ipynb\)", "".join([*map(symptoms, KINDS), terms()]))
    assert len(links) == sum(len(one.causes) for one in book().symptoms) + len(book().terms)
    for number, stem in links:
        assert stem == stems.get(number, book().lessons[number])
    assert set(stems.items()) <= set(book().lessons.items())


def test_terms_are_sorted_and_said_in_one_sentence():
    names = [re.sub(r"[^\w ]", "", term.name).lower().strip("_") for term in book().terms]
    assert names == sorted(names)
    assert len(set(names)) == len(names) >= 40
    for term in book().terms:
        assert term.says.endswith(".")
        assert len(term.says.split()) < 30
        assert not re.search(r"\.\s+[A-Z]", term.says), term.name


def test_no_cell_of_a_table_is_torn():
    for line in terms().splitlines():
        assert line.count("|") == 4, line
    assert not [
        one.message for one in book().symptoms if "`" in one.message and one.kind != "silent"
    ]


def test_another_kind_gets_the_list():
    with pytest.raises(ValueError, match="Ask for one out of error, warning, silent"):
        symptoms("hint")


def test_refresh_knows_it():
    assert refresh.chosen(["glossary"]) == [GLOSSARY]
    assert GLOSSARY in refresh.chosen([])


def write(course, shown, source="terms()"):
    """Write a glossary of one cell into a made-up course."""
    output = {"output_type": "stream", "name": "stdout", "text": shown}
    cell = {
        "cell_type": "code",
        "id": "one",
        "metadata": {},
        "source": source,
        "outputs": [output],
        "execution_count": 1,
    }
    (course / "notebooks").mkdir(exist_ok=True)
    made = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (course / "notebooks" / "glossary.ipynb").write_text(json.dumps(made), encoding="utf-8")


def copied(course):
    (cell,) = json.loads((course / "work" / "glossary.ipynb").read_text(encoding="utf-8"))["cells"]
    return cell["source"], "".join(cell["outputs"][0]["text"])


def test_a_student_gets_it_with_what_it_shows_and_always_the_latest(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    (tmp_path / "figs").mkdir()
    write(tmp_path, "one word")
    assert workspace.sync(tmp_path) == ["glossary.ipynb: copied into work/."]
    assert copied(tmp_path) == ("terms()", "one word")
    write(tmp_path, "two words")
    assert workspace.sync(tmp_path) == []
    assert copied(tmp_path) == ("terms()", "two words")
    mine = tmp_path / "work" / "glossary.ipynb"
    mine.write_text(
        mine.read_text(encoding="utf-8").replace("terms()", "diagnose()"), encoding="utf-8"
    )
    write(tmp_path, "three words")
    assert workspace.sync(tmp_path) == []
    assert copied(tmp_path) == ("diagnose()", "two words")
    assert (
        workspace.reset("glossary", tmp_path)[0]
        == "glossary.ipynb: your copy is kept as glossary-kept.ipynb."
    )
    assert copied(tmp_path) == ("terms()", "three words")
