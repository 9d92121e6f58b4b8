"""TEACHING.md names what is there: lessons, ideas, exercises, commands; and its minutes add up."""

import json
import re
from itertools import groupby, pairwise
from pathlib import Path

import deck_plan
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


def minutes_of(clock):
    return int(clock[:2]) * 60 + int(clock[3:])


def day():
    """Return (start, minutes, what, parts, leave out) of each row of the day; `what` without signs."""
    return [
        (minutes_of(start), int(minutes), what.strip("*"), do, late)
        for start, minutes, what, do, late in table("One day")
    ]


def blocks(rows):
    """Return the rows between breaks, each block a list."""
    found = [[]]
    for row in rows:
        if row[2] in ("Break", "Lunch", "End"):
            found.append([])
        else:
            found[-1].append(row)
    return [block for block in found if block]


def split(rows):
    """Return the minutes of teaching, and those of slack."""
    slack = sum(row[1] for row in rows if row[2] == "Slack")
    return sum(row[1] for row in rows) - slack, slack


def planned():
    """Return (lesson, what, how, minutes) of each part of the day that has slides."""
    for _, _, lesson, do, _ in day():
        for part in do.split(" · ") if lesson in LESSONS else ():
            found = re.fullmatch(r"(\d|lab|quiz|Welcome)\b(.*) \((\d+)\)", part)
            assert found, f"{lesson}: {part!r} is no part with its minutes"
            if found[1] != "Welcome":
                yield lesson, found[1], found[2], int(found[3])


def of_the_deck(lesson, what, how):
    """Return the seconds that the deck gives a part: an idea, or one of its questions."""
    parts = deck_plan.seconds(lesson)[what]
    if "first question" in how or "second question" in how:
        assert len(parts) > 1, f"{lesson}·{what} asks a single question"
        return parts["second" in how]
    return sum(parts)


def test_the_day_adds_up():
    rows = day()
    for (start, minutes, what, do, _), after in pairwise(rows):
        assert start + minutes == after[0], f"{what}: {minutes} minutes do not lead to the next row"
        if what in LESSONS:
            assert given(do) == minutes, f"{what} at {start}: the parts do not add up"
    named = {row[2] for row in rows}
    at_home = set(
        re.findall(r"\b\d\d\b(?!\.)", TEXT.split("**At home afterwards**")[1].split("whole")[0])
    )
    assert named & set(LESSONS) | at_home == set(LESSONS)
    assert not named & at_home


@pytest.mark.slow
def test_each_part_of_the_day_has_the_time_that_its_slides_take():
    total = 0
    for lesson, what, how, minutes in planned():
        if what != "quiz":  # eight short questions in eight minutes; the deck plans each as a round
            assert of_the_deck(lesson, what, how) <= 60 * minutes, (lesson, what, how)
            total += of_the_deck(lesson, what, how)
    deck = round(total / 60)
    talk = sum(minutes for _, what, _, minutes in planned() if what != "quiz") - deck
    told = re.search(r"is (\d+) minutes:.*?The\s+other (\d+) are talk", TEXT, re.DOTALL)
    assert (int(told[1]), int(told[2])) == (deck, talk)


def test_the_four_weeks_add_up():
    rows = table("Four weeks")
    told = re.search(
        r"Two sessions of (\d+) minutes a week: (\d+) of teaching.*?break of (\d+).*?(\d+)\s+of slack\s+\((\d+) %\)",
        TEXT,
        re.DOTALL,
    )
    whole, teaching, pause, slack, share = map(int, told.groups())
    assert whole == teaching + pause + slack <= 90
    assert 20 <= share == round(100 * slack / teaching) <= 25
    for name, group in groupby(rows, key=lambda row: row[0]):
        minutes = [int(row[1]) for row in group if "Quiz" not in row[2]]
        quiz = sum(int(row[1]) for row in rows if row[0] == name and "Quiz" in row[2])
        assert sum(minutes) + quiz == teaching, name
        assert max(sum(minutes[:-1]), minutes[-1] + quiz + slack) <= 75, name
    assert sorted({row[0] for row in rows}) == list("12345678")
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
