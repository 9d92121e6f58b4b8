"""TEACHING.md names what is there: lessons, ideas, exercises, commands; and its minutes add up."""

import json
import re
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from helpers.predicting.answers import named
from helpers.predicting.questions import every

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
EXERCISE = re.compile(r"\b\d\d\.\d\b")
MINUTES = re.compile(r"\((\d+)\)")


def markdown(lesson):
    cells = json.loads(LESSONS[lesson].read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def exercises(lesson):
    """Return the minutes of each exercise, as its statement gives them: {"03.1": 3}."""
    found = re.findall(
        rf"^\W*({lesson}\.\d)\b.*?(\d+) minutes", "\n".join(markdown(lesson)), re.MULTILINE
    )
    return {name: int(minutes) for name, minutes in found}


def table(heading):
    """Return the rows of the first table below a heading, as lists of cells."""
    lines = TEXT.split(f"\n## {heading}\n")[1].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def given(text):
    """Return the sum of the minutes in brackets."""
    return sum(map(int, MINUTES.findall(text)))


ALL = {name: minutes for lesson in LESSONS for name, minutes in exercises(lesson).items()}


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 220


def test_every_link_resolves_and_every_lesson_is_linked():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    broken = [link for link in links if not (ROOT / link.partition("#")[0]).exists()]
    assert not broken, f"TEACHING.md leads to {broken}, which are not there"
    missing = [path.name for path in LESSONS.values() if f"notebooks/{path.name}" not in links]
    assert not missing, f"TEACHING.md does not name {missing}: add a row to its table of lessons"


def test_every_command_exists():
    targets = set(
        re.findall(
            r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    named = set(re.findall(r"`make ([a-z][a-z-]*)", TEXT))
    assert {"lab", "reset"} <= named
    assert named <= targets, (
        f"TEACHING.md names make {sorted(named - targets)}, which the Makefile does not have"
    )


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_minutes_of_a_lesson_are_its_own(lesson):
    (row,) = (row for row in table("The lessons") if LESSONS[lesson].name in row[0])
    (title,) = re.findall(r"(?:About|Time:\S*) (\d[^.]*minutes[^.]*)", markdown(lesson)[0])
    assert re.findall(r"\d+", row[1]) == re.findall(r"\d+", title), f"lesson {lesson} says: {title}"
    assert int(row[2]) == sum(exercises(lesson).values()), (
        f"exercises of {lesson}: {exercises(lesson)}"
    )


def test_all_exercises_and_ideas_that_it_names_exist():
    named = set(EXERCISE.findall(TEXT))
    assert named <= set(ALL), f"no lesson has the exercises {sorted(named - set(ALL))}"
    for lesson, idea in re.findall(r"\b(\d\d)·(\d)", TEXT):
        assert any(cell.startswith(f"## {idea} · ") for cell in markdown(lesson)), (
            f"{lesson} has no idea {idea}"
        )


def test_the_day_adds_up():
    rows = table("One day")
    clock = [int(row[0][:2]) * 60 + int(row[0][3:]) for row in rows]
    for row, (start, end) in zip(rows, pairwise(clock), strict=False):
        assert end - start == int(row[1]), (
            f"{row[0]} {row[2]}: {row[1]} minutes do not lead to the next row"
        )
    for start, minutes, what, live, exercise in rows:
        if live:
            assert given(live) + given(exercise) == int(minutes), (
                f"{start} {what}: the parts do not add up"
            )
        for name, marked in re.findall(r"(\d\d\.\d) \((\d+)\)", exercise):
            assert ALL[name] == int(marked), f"{name} takes {ALL[name]} minutes"
    assert {row[2] for row in rows} >= set(LESSONS)


def test_the_four_weeks_add_up():
    rows = table("Four weeks")
    sessions = {
        name: [int(row[1]) for row in group]
        for name, group in groupby(rows, key=lambda row: row[0])
    }
    assert list(sessions) == list("12345678")
    assert {sum(minutes) for minutes in sessions.values()} == {90}, sessions
    lessons = [row for row in rows if row[2] in LESSONS]
    assert {row[2] for row in lessons} == set(LESSONS)
    done = [name for row in lessons for name in EXERCISE.findall(" ".join(row[3:]))]
    assert sorted(done) == sorted(ALL), "each exercise stands once, in class or at home"
    for _, _, what, _, home in lessons:
        assert given(home) == sum(ALL[name] for name in EXERCISE.findall(home)), (
            f"{what}, at home: {home}"
        )


def rounds_told():
    """Return (lesson, title, what is said to be right) of each row on a question of a lesson."""
    for where, _, right, _ in table("Predictions that split a class"):
        found = re.fullmatch(r"(\d\d)·\d (.+)", where)
        if found:
            yield found[1], found[2], right


def test_the_right_answers_are_those_of_the_lessons():
    told = list(rounds_told())
    assert len(told) > 15
    for lesson, title, right in told:
        asked = [one for one in every().values() if one.id[:2] == lesson and one.title == title]
        assert asked, f"lesson {lesson} asks no question {title!r}"
        assert named(asked[0].right) == right, asked[0].id
