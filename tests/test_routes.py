"""The routes that a teacher presents are those of TEACHING.md, and each of their parts is on a slide."""

import pytest
from deck_plan import slides

from course import workspace
from course.present import route_named
from course.publishing.notebook_file import Unpublishable
from course.publishing.stretches import Stretch, cut_to, is_in, parts_of
from course.routes import Pause, blocks, parts, routes

ROUTES = routes(workspace.ROOT)
BLOCKS = [(name, block) for name, found in ROUTES.items() for block in found]


def test_there_is_a_day_and_there_are_weeks():
    weeks = [f"week-{number}" for number in range(1, len(ROUTES))]
    assert list(ROUTES) == ["day", *weeks]
    assert len(weeks) >= 4
    starts = [block.start for block in ROUTES["day"]]
    assert starts == sorted(starts)
    assert {block.lesson for block in ROUTES["week-1"]} == {"00", "01", "02"}


@pytest.mark.notebooks
@pytest.mark.parametrize(("name", "block"), BLOCKS)
def test_every_part_of_a_route_is_on_a_slide(name, block):
    shown = parts_of(slides(block.lesson))
    for part in block.parts:
        assert any(is_in(one, [part]) and one != "opening" for one in shown), part


@pytest.mark.notebooks
def test_a_stretch_shows_its_parts_in_order_and_leads_on():
    given = slides("05")
    wanted = [one for one, part in zip(given, parts_of(given), strict=True) if part in ("2a", "4a")]
    pauses = (Pause("Slack", 13, "in pairs: 05.1 (3), 05.2 (4)"), Pause("Break", 10))
    kept = cut_to(given, Stretch(("2a", "4a"), 20, pauses, "06 · The tally", "12:20", "/06?at=4"))
    assert kept[0] is given[0]
    assert kept[1:-3] == wanted
    assert {one.part for one in wanted} == {"2", "4"}
    slack, rest, onward = kept[-3:]
    assert [goal.split("</em>")[0] for goal in slack.goals] == ["<em>05.1", "<em>05.2"]
    assert ('data-minutes="13"' in slack.title, 'data-minutes="10"' in rest.title) == (True, True)
    assert 'href="/06?at=4">06 · The tally</a>' in onward.title
    assert "12:20" in onward.crumb


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        (
            "case (4) · 1 (9) · 2, first question (5) · lab, in pairs (8)",
            ("case", "1", "2a", "lab"),
        ),
        ("case, with the traceback (4) · 3, second question (5)", ("case", "3b")),
        ("case, 1, 2; quiz in silence; 00.1", ("case", "1", "2", "quiz")),
        ("install check, how to vote", ()),
    ],
)
def test_a_cell_of_the_plan_names_parts(do, expected):
    assert parts(do) == expected


def test_the_pauses_of_the_day_stand_between_its_blocks():
    day = ROUTES["day"]
    planned = [one for block in day for one in (*block.before, *block.after)]
    assert {one.what for one in planned} == {"Slack", "Break", "Lunch"}
    assert [one.what for one in day[2].before] == ["Slack", "Break"]
    assert [one.what for one in day[-1].after] == ["Slack"]


def test_rows_that_show_nothing_are_no_blocks():
    row = "| 09:57 | 13 | **Slack** | in pairs: 00.4 (5) | |"
    assert blocks(f"{row}\n| 8 | 25 | 11 | 11.2, 11.3 | |") == []


def test_a_route_that_there_is_not_is_answered_with_those_that_there_are():
    with pytest.raises(Unpublishable, match=r"no route 'night'\. There are day, week-1"):
        route_named("night", workspace.ROOT)
