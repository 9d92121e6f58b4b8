"""Lanes show diaries in their order, and a bucket is back when every rank has sent it."""

import re

from helpers.ranks.lanes import lane_of, plot_lanes

FAST = [("gradient", "b", 0.0), ("sends", "b", 0.0), ("gradient", "a", 0.0), ("sends", "a", 0.0)]
SLOW = [("sleeps", "", 0.0), *FAST]


def test_a_lane_has_a_box_for_each_gradient_and_knows_where_buckets_leave():
    lane = lane_of(SLOW)
    assert lane.boxes == [
        ("sleeps", "sleeps", 0, 3),
        ("gradient", "b", 3, 4),
        ("gradient", "a", 4, 5),
    ]
    assert lane.sent == {"b": 4, "a": 5}
    assert lane.end == 5


def test_who_is_faster_waits_at_the_end_and_the_words_say_so():
    drawn = plot_lanes([FAST, SLOW])
    words = re.findall(r"<text[^>]*>([^<]+)</text>", drawn.svg)
    assert words.count("waits") == 2
    assert words.count("sleeps") == 1
    assert {"rank 0", "rank 1", "buckets", "1", "2"} <= set(words)
    assert drawn.alt.startswith("Rank 0: gradient of b, sends b, gradient of a, sends a, waits")
    assert "Rank 1: sleeps, gradient of b" in drawn.alt


def test_a_diary_without_times_draws_the_same():
    later = [(kind, name, 100.0 + at) for at, (kind, name, _) in enumerate(FAST)]
    assert plot_lanes([later, SLOW]).svg == plot_lanes([FAST, SLOW]).svg
