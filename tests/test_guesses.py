"""What a student commits in a player is kept once a frame, under the lesson whose notebook runs; what
is no guess is passed over.
"""

import pytest
import torch

from helpers import step_through
from helpers.predicting import player_guesses as guesses
from helpers.predicting.player_guesses import SESSION, keep, lesson_of, verdict
from helpers.progress_file import kept as all_kept

RIGHT = {"frame": 3, "guesses": [["4", "4.0", True], ["1", "1.0", True]]}
WRONG = {"frame": 3, "guesses": [["4", "4.0", True], ["2", "1.0", False]]}
JUNK = [
    None,
    {},
    {"frame": 1, "guesses": []},
    {"frame": "1", "guesses": [["4", "4.0", True]]},
    {"frame": True, "guesses": [["4", "4.0", True]]},
    {"frame": 1, "guesses": [["4", "4.0"]]},
]


@pytest.fixture(autouse=True)
def _lesson(tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    monkeypatch.setenv(SESSION, "work/05_backward_and_the_chain_rule.ipynb")


def kept():
    return all_kept()["players"]


def test_the_first_guess_at_a_frame_counts():
    keep("film", WRONG)
    keep("film", RIGHT)
    keep("film", RIGHT | {"frame": 4})
    keep("another film", RIGHT)
    assert sorted(kept()["05"].values()) == ["right", "right", "wrong"]


@pytest.mark.parametrize("content", JUNK, ids=repr)
def test_what_is_no_guess_is_passed_over(content):
    keep("film", content)
    assert verdict(content) is None
    assert kept() == {}


@pytest.mark.parametrize("session", ["", "mine.ipynb", "5_x.ipynb", "05.ipynb"])
def test_without_a_lesson_nothing_is_kept(session, monkeypatch):
    monkeypatch.setenv(SESSION, session)
    keep("film", RIGHT)
    assert (lesson_of(session), kept()) == ("", {})


def test_there_is_an_end_to_what_is_kept(monkeypatch):
    monkeypatch.setattr(guesses, "MOST", 5)
    for number in range(7):
        keep(str(number), RIGHT)
    assert len(kept()["05"]) == 5


def test_a_player_keeps_what_its_browser_sends():
    x = torch.tensor(2.0, requires_grad=True)
    player = step_through(x * 3)
    player._handle_custom_msg(RIGHT, [])
    assert list(kept()["05"].values()) == ["right"]


def test_where_nothing_can_be_written_the_player_goes_on(tmp_path):
    (tmp_path / "progress.json").write_text("[]")
    keep("film", RIGHT)
    assert kept() == {}
