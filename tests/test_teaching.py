"""TEACHING.md names what is there: lessons, ideas, exercises, commands; and its minutes add up."""

import json
import re
from itertools import groupby, pairwise
from pathlib import Path

import deck_plan
import pytest

from helpers.lessons import listings
from helpers.predicting.kinds import named
from helpers.predicting.questions import every

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
IN_THE_DAY = {listing.number for listing in listings().values() if not listing.beyond}
EXERCISE = re.compile(r"\b\d\d\.\d+\b")
MINUTES = re.compile(r"\((\d+)\)")
IN_WORDS = {
    "an hour and a half": 90,
    "an hour and a quarter": 75,
    "three quarters of an hour": 45,
    "half an hour": 30,
    "a quarter of an hour": 15,
    "an hour": 60,
    "ten": 10,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}


def cells(lesson):
    return json.loads(LESSONS[lesson].read_text(encoding="utf-8"))["cells"]


def markdown(lesson):
    return ["".join(cell["source"]) for cell in cells(lesson) if cell["cell_type"] == "markdown"]


def roles(lesson):
    return [cell["metadata"]["course"]["role"] for cell in cells(lesson)]


def exercises(lesson):
    """Return the minutes of each exercise, as its statement gives them: {"03.1": 3}."""
    stated = rf"^\W*({lesson}\.\d+)\b.*?(\d+) minutes"
    found = re.findall(stated, "\n".join(markdown(lesson)), re.MULTILINE)
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


def in_minutes(words):
    """Return the minutes that a title says: "an hour and ten minutes", "40 for the exercises"."""
    for said, minutes in IN_WORDS.items():
        words = words.replace(said, str(minutes))
    return sum(map(int, re.findall(r"\d+", words)))


def given(text):
    """Return the sum of the minutes in brackets."""
    return sum(map(int, MINUTES.findall(text)))


ALL = {name: minutes for lesson in LESSONS for name, minutes in exercises(lesson).items()}


def test_the_story_has_the_case_of_each_lesson_which_is_repaired_once():
    assert [row[0] for row in table("One program, a fault in each lesson")] == list(LESSONS)
    for lesson in LESSONS:
        assert roles(lesson).count("return") == 1, lesson


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_minutes_of_a_lesson_are_its_own(lesson):
    (row,) = (row for row in table("The lessons") if LESSONS[lesson].name in row[0])
    (said,) = re.findall(r"About ([^.]*exercises)\.", markdown(lesson)[0])
    told = [in_minutes(words) for words in said.split(", and ")]
    assert [int(minutes) for minutes in row[1].split(" + ")] == told, (
        f"lesson {lesson} says: {said}"
    )
    assert abs(told[1] - sum(exercises(lesson).values())) <= 5, exercises(lesson)


def test_all_exercises_and_ideas_that_it_names_exist():
    named = set(EXERCISE.findall(TEXT))
    assert named <= set(ALL), f"no lesson has the exercises {sorted(named - set(ALL))}"
    for lesson, idea in re.findall(r"\b(\d\d)·(\d)", TEXT):
        assert idea in deck_plan.seconds(lesson), f"{lesson} has no part {idea}"


def minutes_of(clock):
    return int(clock[:2]) * 60 + int(clock[3:])


def day():
    """Return (start, minutes, what, parts, leave out) of each row of the day; `what` without signs."""
    rows = []
    for start, minutes, what, do, late in table("One day"):
        rows.append((minutes_of(start), int(minutes), what.strip("*"), do, late))
    return rows


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
            found = re.fullmatch(r"(\d|case|lab|quiz|Welcome)\b(.*) \((\d+)\)", part)
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
    after = TEXT.split("**At home afterwards**")[1].split("whole")[0]
    at_home = set(re.findall(r"\b\d\d\b(?!\.)", after))
    assert named & set(LESSONS) | at_home == IN_THE_DAY
    assert not named & at_home


def test_the_day_has_slack_and_breaks():
    rows = day()
    in_blocks = [row for block in blocks(rows) for row in block]
    teaching, slack = split(in_blocks)
    breaks = sum(row[1] for row in rows if row[2] == "Break")
    assert 0.20 <= slack / teaching <= 0.25
    assert teaching + slack + breaks <= 6.5 * 60
    for block in blocks(rows):
        assert sum(row[1] for row in block) <= 75, block[0]
        assert block[-1][2] == "Slack", "a block ends on its slack"
        taught, spare = split(block)
        assert 0.20 <= spare / taught <= 0.26, block[0]
    share = round(100 * slack / teaching)
    told = f"{teaching} minutes of teaching, {slack} of slack ({share} %), {breaks} of breaks"
    assert told in " ".join(TEXT.split()), f"it has {told}"


def test_what_to_leave_out_is_planned_and_never_what_others_lean_on():
    needed = re.findall(r"(\d\d)·(\d)", TEXT.split("**Never leave out**")[1].split("lean")[0])
    assert len(needed) == 5
    for _, _, lesson, do, late in day():
        if late:
            found = re.fullmatch(r"(\d|lab) (\(\d+\))", late)
            parts = [part for part in do.split(" · ") if part.startswith(found[1])]
            assert any(part.endswith(found[2]) for part in parts)
            assert (lesson, found[1]) not in needed
    for block in blocks(day()):
        assert any(row[4] for row in block), "each block says what to leave out"
    taught = {(lesson, what) for lesson, what, *_ in planned()}
    assert set(needed) <= taught


def test_what_slack_may_be_used_for_takes_the_minutes_of_the_lesson():
    for row in day():
        for name, marked in re.findall(r"(\d\d\.\d+) \((\d+)\)", row[3]):
            assert ALL[name] == int(marked), f"{name} takes {ALL[name]} minutes"
            assert row[2] == "Slack"
        if row[2] == "Slack":
            assert given(row[3]) <= row[1]


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


def test_the_weeks_add_up():
    rows = table("Week by week")
    said = r"Two sessions of (\d+) minutes a week: (\d+) of teaching.*?break of (\d+)"
    told = re.search(said + r".*?(\d+)\s+of slack\s+\((\d+) %\)", TEXT, re.DOTALL)
    whole, teaching, pause, slack, share = map(int, told.groups())
    assert whole == teaching + pause + slack <= 90
    assert 20 <= share == round(100 * slack / teaching) <= 25
    for name, group in groupby(rows, key=lambda row: row[0]):
        minutes = [int(row[1]) for row in group if "Quiz" not in row[2]]
        quiz = sum(int(row[1]) for row in rows if row[0] == name and "Quiz" in row[2])
        assert sum(minutes) + quiz == teaching, name
        assert max(sum(minutes[:-1]), minutes[-1] + quiz + slack) <= 75, name
    sessions = list(dict.fromkeys(row[0] for row in rows))
    assert sessions == [str(number) for number in range(1, len(sessions) + 1)]
    lessons = [row for row in rows if row[2] in LESSONS]
    assert {row[2] for row in lessons} == set(LESSONS)
    done = [name for row in lessons for name in EXERCISE.findall(" ".join(row[3:]))]
    assert sorted(done) == sorted(ALL), "each exercise stands once, in class or at home"
    for _, _, what, _, home in lessons:
        taken = sum(ALL[name] for name in EXERCISE.findall(home))
        assert given(home) == taken, f"{what}, at home: {home}"


def ideas_in(words):
    return re.findall(r"(?<![\d.(])\d(?![\d.)])", words)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_weeks_have_each_idea_once_and_time_for_what_is_in_class(lesson):
    plan = deck_plan.seconds(lesson)
    rows = [row for row in table("Week by week") if row[2] == lesson]
    ideas = {name for name in plan if name.isdigit()}
    in_class = [idea for row in rows for idea in ideas_in(row[3])]
    at_home = [idea for row in rows for idea in ideas_in(row[4])]
    if any("the other ideas" in row[4] for row in rows):
        at_home += sorted(ideas - set(in_class))
    assert sorted(in_class + at_home) == sorted(ideas)
    labs = [word for row in rows for cell in row[3:] for word in re.findall(r"\blab\b", cell)]
    assert len(labs) == len(plan.get("lab", []))
    for row in rows:
        taken = sum(sum(plan[idea]) for idea in ideas_in(row[3]))
        taken += sum(sum(plan[part]) for part in ("case", "lab") if part in row[3])
        taken += 60 * sum(ALL[name] for name in EXERCISE.findall(row[3]))
        assert taken <= 60 * int(row[1]), (row, round(taken / 60))


def test_the_paper_for_sixty_is_what_is_printed():
    """Count leaves printed on both sides; each lesson begins a leaf."""

    def leaves(lessons):
        return sum(-(-deck_plan.question_pages(lesson) // 2) for lesson in lessons)

    lessons = sorted({row[2] for row in day() if row[2] in LESSONS})
    pages = sum(map(deck_plan.question_pages, lessons))
    told = f"{pages} pages, {leaves(lessons)} leaves printed on both sides; one for each pair is"
    assert f"{told} {30 * leaves(lessons)} leaves" in TEXT, told
    few = re.search(r"Too many\? (.*?) alone: (\d+) leaves, (\d+)", TEXT)
    some = leaves(re.findall(r"\d\d", few[1]))
    assert (int(few[2]), int(few[3])) == (some, 30 * some)


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
