"""What was missed comes back: nothing is lost, never more than ten minutes, whatever the file holds."""

import json
import random
import re
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers import check, explain, find_line, hint, pace, progress, review, solution
from helpers.exercises import asking
from helpers.exercises.exercise import exercises
from helpers.lessons import arrows, exercise_text, listings, question_text
from helpers.predicting import reviewing
from helpers.predicting.again import Recall
from helpers.predicting.due import MOST, NEARLY_FORGOTTEN, due, sitting, waiting
from helpers.predicting.kinds import kind_of
from helpers.predicting.prediction import predict
from helpers.predicting.questions import every, question
from helpers.progress_file import EXERCISES, PREDICTIONS, change, kept

ROOT = Path(__file__).parent.parent
START = date(2026, 3, 2)
MISSED = {"05.q1": "a", "01.q1": "a", "09.q11": "a", "05.q12": "b"}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    asking.VARIANTS.clear()
    asking.REVIEWED.clear()


@pytest.fixture
def clock(monkeypatch):
    """A clock whose days one sets."""
    now = [START]
    monkeypatch.setattr(pace, "today", lambda: now[0])
    return now


def miss(*names):
    for name in names:
        predict(name, MISSED[name])


def names():
    return {item.name for item in due(kept())}


def test_a_miss_comes_back_after_1_3_7_and_20_days_and_then_no_more(clock):
    miss("05.q1")
    asked = []
    for day in range(60):
        clock[0] = START + timedelta(days=day)
        if "05.q1" in names():
            asked.append(day)
            Recall(question("05.q1"), "c")
    assert asked == [1, 4, 11, 31]
    assert kept()[PREDICTIONS]["05.q1"]["first"] == "a"


def test_a_miss_outside_the_lessons_does_not_come_back(clock):
    predict("one_real_model.q1", "12")
    find_line("clinic.fake", "x = 1", line=6)
    clock[0] += timedelta(days=30)
    assert {*kept()[PREDICTIONS]} == {"one_real_model.q1", "clinic.fake"}
    assert names() == set()


def test_a_miss_at_review_begins_again(clock):
    miss("05.q1")
    for days, answer, expected in ((1, "c", "3 days"), (3, "b", "1 day"), (1, "c", "3 days")):
        clock[0] += timedelta(days=days)
        assert f"It comes back in {expected}." in Recall(question("05.q1"), answer)._told()


def month(clock, seed, days=45):
    """Let a student pass days, right in 60 % of all answers; yield what is asked on each day."""
    rng = random.Random(seed)
    for day in range(days):
        clock[0] = START + timedelta(days=day)
        if 9 <= day < 15:  # away
            continue
        found = due(kept())
        asked = sitting(found)
        yield day, found, asked
        for item in asked + [item for item in found if item.is_long][:1]:
            is_right = rng.random() < 0.6
            change(item.section, item.name, lambda record, it=is_right: pace.reviewed(record, it))
        if day % 2 == 0 and f"{day // 2:02}" in listings():
            study(f"{day // 2:02}", rng)


def study(lesson, rng):
    """Answer a lesson for the first time."""
    today = {"day": pace.today().isoformat()}
    for name, asked in every().items():
        if name.startswith(lesson) and asked.right:
            first = rng.choices([right_guess(asked), wrong_guess(asked)], [6, 4])[0]
            change(PREDICTIONS, name, lambda record, it=first: record | {"first": it, **today})
    for exercise in exercises(lesson):
        tries = rng.choices([1, 2], [6, 4])[0]
        solved = {"tries": tries, "solved": True, **today}
        change(EXERCISES, exercise.id, lambda record, it=solved: record | it)


def right_guess(asked):
    return asked.right if asked.kind != "number" else ", ".join(map(str, asked.right))


def wrong_guess(asked):
    """Return a guess that can be read and is wrong."""
    tries = [*asked.letters, "1", "2", "a", "AB", "BA", ", ".join(["77"] * asked.count)]
    kind = kind_of(asked)
    return next(one for one in tries if kind.read(asked, one) and not kind.is_right(asked, one))


def asked_first(asked, found):
    """Tell whether what is nearly forgotten and left out today would not have fitted beside the others."""
    old = [item for item in found if item.days >= NEARLY_FORGOTTEN and not item.is_long]
    minutes = sum(item.minutes for item in old if item in asked)
    return all(item in asked or minutes + item.minutes > MOST for item in old)


def test_a_month_of_a_student(clock):
    """Each day: at most ten minutes, mixed, nothing asked twice or early, nobody forgotten."""
    last_seen = {}
    for day, found, asked in month(clock, seed=0):
        assert sum(item.minutes for item in asked) <= MOST
        assert all(item.days >= 0 for item in asked)
        assert bool(asked) == any(not item.is_long for item in found)
        many = [item.lesson for item in asked]
        most = max(map(many.count, many), default=0)
        beside = sum(one == other for one, other in pairwise(many))
        assert beside <= max(0, 2 * most - len(many) - 1), many
        last_seen |= {item.name: day for item in asked}
        assert asked_first(asked, found), found
    assert len(last_seen) > 20


def test_all_that_is_answered_rightly_is_learnt_in_the_end(clock):
    for lesson in ("05", "06", "11"):
        study(lesson, random.Random(3))
    sections = kept()
    assert len(waiting(sections)) > 6
    for _ in range(60):
        clock[0] += timedelta(days=1)
        for item in due(sections):
            sections[item.section][item.name] = pace.reviewed(item.record, True)
    assert waiting(sections) == []


@pytest.mark.parametrize(
    ("clocked", "box"),
    [("2031-01-01", 3), ("1999-01-01", -1), ("", 10.5), (None, "2"), (["2026"], None)],
)
def test_a_record_that_cannot_be_is_asked_and_never_lost(clocked, box, capsys):
    change(PREDICTIONS, "05.q1", lambda record: {"first": "a", "day": clocked, "box": box})
    review()
    said = " ".join(capsys.readouterr().out.split())
    assert "05.q1: your answer" in said
    assert ("dates in the future" in said) == (clocked == "2031-01-01")
    review("05.q1", "c")
    assert kept()[PREDICTIONS]["05.q1"]["day"] == pace.today().isoformat()
    assert names() == set()


def test_a_machine_that_is_a_day_ahead_is_no_clock_set_back(clock):
    change(PREDICTIONS, "05.q1", lambda record: {"first": "a", "day": "2026-03-03", "box": 0})
    assert names() == set()


def test_two_notebooks_that_ask_the_same_count_once(clock):
    miss("05.q1")
    clock[0] += timedelta(days=1)
    first, second = (Recall(question("05.q1")) for _ in range(2))
    first.set_state({"choice": "c"})
    second.set_state({"choice": "a"})
    assert kept()[PREDICTIONS]["05.q1"]["box"] == 1
    assert second.answer["right"] == "c"


def test_a_file_that_is_not_ours_gets_a_sentence_and_stays(tmp_path, capsys):
    text = '{"version": 2}'
    (tmp_path / "progress.json").write_text(text, encoding="utf-8")
    review()
    assert "progress.json holds something I can't read" in capsys.readouterr().out
    review("05.q1", "c")
    assert "Not kept" in capsys.readouterr().out
    assert (tmp_path / "progress.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "given", [("05.q99",), (3,), ("05.e1", "Because it is so."), ("05.q1", "z")]
)
def test_what_cannot_be_asked_gets_a_sentence(given, capsys):
    review(*given)
    assert re.search("There's no question|you gave", capsys.readouterr().out)
    assert kept()[PREDICTIONS] == {}


def test_with_nothing_missed_it_says_so(capsys):
    predict("05.q1", "c")
    review()
    assert capsys.readouterr().out.strip() == "Nothing is due."


def test_an_exercise_is_asked_as_a_variant_and_its_first_answer_counts(clock, capsys):
    change(EXERCISES, "06.1", lambda record: {"tries": 3, "solved": True})
    review()
    said = capsys.readouterr().out
    variant = asking.VARIANTS["06.1"]
    assert variant.program in said
    check("06.1", list(variant.truth()))
    assert "It comes back in 3 days." in " ".join(capsys.readouterr().out.split())
    check("06.1", [0, 0])
    record = kept()[EXERCISES]["06.1"]
    assert record == {"tries": 3, "solved": True, "day": START.isoformat(), "box": 1}


def test_a_hint_at_review_counts_as_a_miss_and_a_function_is_asked_as_it_is(clock, capsys):
    change(EXERCISES, "05.3", lambda record: {"tries": 2, "solved": True, "box": 2})
    review()
    assert exercise_text("05.3") in capsys.readouterr().out
    assert asking.VARIANTS["05.3"].reader.cases
    hint("05.3")
    check("05.3", asking.VARIANTS["05.3"].truth())
    assert kept()[EXERCISES]["05.3"]["box"] == 0


def test_what_is_long_is_offered_beside_the_ten_minutes(clock, capsys):
    change(EXERCISES, "11.7", lambda record: {"hints": 1})
    change(EXERCISES, "00.3", lambda record: {"hints": 1})  # of an earlier edition
    review()
    assert "If you have 12 minutes, try exercise 11.7" in capsys.readouterr().out
    assert {"11.7"} == asking.REVIEWED


def test_a_lesson_begins_with_a_line_if_something_is_due_and_only_then(clock, monkeypatch):
    shown = []
    monkeypatch.setattr(reviewing, "shell_here", lambda: object())
    monkeypatch.setattr(reviewing, "show_markdown", shown.append)
    miss("05.q1", "01.q1")
    reviewing.remind()
    assert shown == []
    clock[0] += timedelta(days=1)
    before = kept()
    reviewing.remind()
    (line,) = shown
    assert line == "2 things to look at again, about 2 minutes. Run `review()`."
    assert kept() == before


def test_a_cell_that_imports_progress_and_calls_it_says_once_what_is_due(clock, monkeypatch):
    shell = SimpleNamespace(execution_count=1)
    monkeypatch.setattr(reviewing, "shell_here", lambda: shell)
    monkeypatch.setattr(reviewing, "show_markdown", lambda text: None)
    monkeypatch.setattr(reviewing, "_reminded", [])
    miss("05.q1")
    clock[0] += timedelta(days=1)
    reviewing.remind()
    assert "Run review()" not in repr(progress())
    shell.execution_count = 2
    assert "Run review()" in repr(progress())


def test_every_question_and_exercise_has_its_text(monkeypatch):
    for name, asked in every().items():
        if not name[0].isdigit():  # of the quiz and the clinic, which no review asks
            continue
        assert question_text(name), name
        assert (
            all(f"({letter})" in question_text(name) for letter in asked.letters) or name[0] == "q"
        )
    for lesson in listings():
        assert [one.id for one in exercises(lesson) if not exercise_text(one.id)] == []


def test_the_lessons_are_listed_as_readme_and_teaching_have_them():
    readme, teaching = ((ROOT / name).read_text("utf-8") for name in ("README.md", "TEACHING.md"))
    found = re.findall(r"(?m)^\| (\d\d) \| \[(.+?)\]\(notebooks/(\w+)\.ipynb\)", readme)
    assert found == [(one.number, one.title, one.file) for one in listings().values()]
    for number, listing in listings().items():
        assert (ROOT / "notebooks" / listing.link).exists()
        (needs,) = re.findall(rf"(?m)^\| \[{number}\].*? \| [\d +]+ \| (.*?) \|", teaching)
        assert tuple(re.findall(r"\b\d\d\b", needs)) == listing.needs


def test_the_page_links_to_every_lesson_marks_what_is_due_and_escapes(clock, capsys):
    miss("05.q1")
    predict("05.q12", "a")
    change(EXERCISES, "06.1", lambda record: {"tries": 2, "solved": True})
    change(EXERCISES, "06.2", lambda record: {"tries": 1, "solved": True})
    for name in ("06.2", "06.6"):  # the first of them when it was solved already
        solution(name)
    explain("07.e1", "Only the last graph is left.")
    clock[0] += timedelta(days=1)
    data = progress()._repr_mimebundle_()
    page = data["text/html"]
    assert re.findall(r'<a href="(\w+\.ipynb)">', page) == [one.link for one in listings().values()]
    marks = re.findall(r'class="progress-mark (\S+(?: \S+)?)" role="img" title="(\S+?),', page)
    by_name = {name: look for look, name in marks}
    assert by_name["05.q1"] == "progress-missed progress-again"
    assert by_name["06.1"] == "progress-later progress-again", "nobody helped"
    assert (by_name["06.2"], by_name["07.e1"]) == ("progress-right", "progress-said")
    assert by_name["06.6"] == "progress-missed progress-again"
    assert "05.q12, The other way round: right at first" in page
    assert page.count('class="is-begun"') == 3, "the dots of 05, 06 and 07 on the map"
    assert "Today: 3 things to look at again, about 7 minutes." in data["text/plain"]
    assert "<script" not in page


def test_what_a_student_may_hand_over_has_minutes_and_first_guesses_alone(
    monkeypatch, tmp_path, capsys
):
    now = [0.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(pace, "_last", [0.0])
    for minutes, name, guess in ((2.5, "05.q1", "a"), (4, "05.q12", "a"), (90, "01.q1", "c")):
        now[0] += 60 * minutes
        predict(name, guess)
    change(PREDICTIONS, "05.e1", lambda record: {"first": "My own words, which stay here."})
    progress(export=True)
    assert "Written: for_my_teacher.txt" in capsys.readouterr().out
    text = (tmp_path / "for_my_teacher.txt").read_text(encoding="utf-8")
    assert (
        "05 backward and the chain rule: 6 minutes\n  05.q1  wrong: a\n  05.q12  right: a\n" in text
    )
    assert "01 From Variable to tensor: 15 minutes" in text  # a pause is no work
    assert "My own words" not in text
    assert not re.search(r"\d{4}-\d\d|\d:\d\d", text)
    told = json.dumps(kept()).replace(pace.today().isoformat(), "")
    assert not re.search(r"\d{4}-\d\d|\d:\d\d", told)  # dates, and no hours


def test_the_map_has_a_lane_for_each_branch():
    assert ("04", "08") in arrows()
    assert ("04", "07") not in arrows()  # by way of 05 and 06


def test_a_lesson_builds_on_lessons_before_it_and_all_but_the_first_build_on_one():
    order = list(listings())
    assert order == [f"{number:02}" for number in range(len(order))]
    for at, listing in enumerate(listings().values()):
        assert set(listing.needs) <= set(order[:at]), listing.number
        assert bool(listing.needs) == (at > 0)
        if not listing.beyond:
            assert not any(listings()[needed].beyond for needed in listing.needs)


def test_no_line_of_the_map_goes_through_a_lesson_between_its_ends():
    places = [(listing.number, listing.lane) for listing in listings().values()]
    for start, end in arrows():
        lane = max(listings()[start].lane, listings()[end].lane)
        between = [number for number, at in places if at == lane and start < number < end]
        assert between == [], (start, end)
