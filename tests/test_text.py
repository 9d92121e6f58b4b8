"""Short texts: true to four digits, safe to show, and never wider than the room that is reserved
for them.
"""

import math

from hypothesis import given
from hypothesis import strategies as st

from autograd_graphs.text import ending, fold, number, visible


@given(st.floats(-1e300, 1e300))
def test_a_number_is_true_to_four_significant_digits(value):
    assert math.isclose(float(number(value)), value, rel_tol=5.001e-4)


def test_the_shortest_text_that_is_true():
    values = 2.0, 2.3025851249694824, -0.0, 1e-9, math.inf, math.nan, True, 1 - 2j
    told = "2.0 2.303 -0.0 1e-09 inf nan True 1.0-2.0j"
    assert " ".join(map(number, values)) == told


@given(st.text(max_size=400))
def test_visible_text_is_printable_and_bounded(text):
    shown = visible(text)
    assert shown.isprintable()
    assert len(shown) <= 200
    if text.isprintable() and len(text) <= 200:
        assert shown == text


def test_long_lines_are_broken_at_spaces():
    text = "one " * 40 + "\n    " + "two " * 40
    folded = fold(text)
    assert folded.split() == text.split()
    assert max(map(len, folded.splitlines())) <= 100
    assert all(line.startswith("    two") for line in folded.splitlines() if "two" in line)
    assert fold("w" * 300) == "w" * 300


def test_a_path_that_is_too_long_keeps_its_end():
    path = "transformer.encoder.layers.11.self_attn.out_proj.weight"
    assert ending(path, 24) == "…lf_attn.out_proj.weight"
    assert ending("a" * 30, 10) == "aaaaaaaaa…"
    assert ending("fc.weight", 24) == "fc.weight"
