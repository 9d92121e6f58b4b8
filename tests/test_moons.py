"""Pictures of the moons: what is drawn and said of each kind of answer; the model is left as it was."""

import hashlib
import math
from functools import partial
from html import escape

import pytest
import torch
from nbval_patch import PIXELS
from torch import nn

from helpers.moons import (
    classifier,
    moons,
    moons_pair,
    moons_picture,
    moons_strip,
    pretrained,
)
from helpers.moons.asking import POINTS, ask
from helpers.moons.contours import FINE, contour, is_straight, thinned
from helpers.moons.drawing import BEGINS

NAN = float("nan")


def slope(points):
    return points @ torch.tensor([[1.0], [-2.0]])


def constant(value):
    return lambda points: torch.full((len(points), 1), value)


def left_unknown(points):
    return torch.where(points[:, :1] < 0, NAN, points[:, :1] - 0.5)


@pytest.mark.parametrize(
    ("model", "says", "told"),
    [
        (slope, "score", "81 of 100 right. The boundary is straight."),
        (lambda x: slope(x).sigmoid(), "probability", "81 of 100 right. The boundary is straight."),
        (lambda x: slope(x).flatten(), "score", "81 of 100 right. The boundary is straight."),
        (lambda x: torch.cat([-slope(x), slope(x)], 1), None, "81 of 100 right. The boundary is straight."),
        (constant(0.0), "score", "50 of 100 right. The model says 0.50 everywhere."),
        (lambda x: slope(x).exp(), "score", "50 of 100 right. Everything in view is called moon 1."),
        (lambda x: (x[:, :1] - 0.5).square() - 0.04, "score", "47 of 100 right. The boundary comes in 2 pieces."),
        (lambda x: 0.09 - (x - 0.5).square().sum(1), "score", "47 of 100 right. The boundary is a closed curve."),
        (lambda x: x[:, :1] ** 2 - x[:, 1:] - 0.5, "score", "72 of 100 right. The boundary bends."),
        (constant(NAN), "score", "NaN for all 100 points."),
        (left_unknown, "score", "38 of 100 right, 25 NaN. There's no boundary to draw, because some places have no answer."),
    ],
)  # fmt: skip
def test_a_picture_says_how_many_are_right_and_what_the_boundary_is(model, says, told):
    picture = moons_picture(model, says)
    assert repr(picture) == told
    assert picture.alt.startswith(told)
    assert f">{told.partition('.')[0]}</text>" in picture.svg


@pytest.mark.parametrize("model", [slope, left_unknown, classifier()])
def test_the_count_is_that_of_a_plain_comparison(model):
    with torch.no_grad():
        chances = model(moons()[0]).sigmoid()
    known = ~chances.isnan()
    expected = int(((chances > 0.5) == (moons()[1] > 0.5))[known].sum())
    assert ask(model, "score").right == expected
    assert f"{expected} of 100" in repr(moons_picture(model, "score"))


def test_what_is_wrong_is_hollow_what_has_no_answer_is_dashed_and_a_flat_model_has_no_tint():
    both, flat, none = (
        moons_picture(one, "score").svg for one in (slope, constant(0.0), constant(NAN))
    )
    right = both.count('class="right0"') + both.count('class="right1"')
    wrong = both.count('class="wrong0"') + both.count('class="wrong1"')
    assert (right - 2, wrong - 2) == (81, 19)  # without those of the legend
    assert ">always 0.50<" in flat
    for svg in (flat, none):
        assert 'class="boundary"' not in svg
        assert 'class="plain"' in svg
    assert none.count('class="none0"') == none.count('class="none1"') == 50


def test_words_for_whoever_does_not_see_it_say_what_to_notice():
    alt = moons_pair(constant(0.0), slope, "score", words=("No opinion.", "A line.")).alt
    assert alt == (
        "Before: 50 of 100 right. The model says 0.50 everywhere. It gets no points of moon 0 "
        "wrong, and 50 of moon 1. No opinion. After: 81 of 100 right. The boundary is straight. "
        "It gets 10 points of moon 0 wrong, and 9 of moon 1. The model is more than 90% sure of 17 points. A line."
    )


def test_one_wrong_point_is_told_in_the_singular():
    (x, y), _ = sorted(
        zip(moons()[0].tolist(), moons()[1].tolist(), strict=True), key=lambda one: one[1]
    )[0]
    network = pretrained()
    alt = moons_picture(
        lambda at: network(at) + 99 * (at == torch.tensor([x, y])).all(1, True), "score"
    ).alt
    assert "99 of 100 right" in alt
    assert "It gets 1 point of moon 0 wrong, and none of moon 1." in alt


def test_a_strip_counts_each_moment_and_has_two_rows_beyond_four():
    row, rows = (
        moons_strip([("step 0", slope)] * n + [("end", constant(NAN))], "score") for n in (3, 4)
    )
    assert (
        repr(row) == "Right, of 100 points: 81 at step 0, 81 at step 0, 81 at step 0, NaN at end."
    )
    assert ('width="632"' in row.svg, 'width="474"' in rows.svg) == (True, True)


class Undecided(nn.Module):
    """A model that would show it if it were disturbed: it counts, and draws random numbers."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng([]):
            torch.manual_seed(0)
            self.layers = nn.Sequential(
                nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1)
            )

    def forward(self, points):
        return self.layers(points)


def state(model):
    modes = [part.training for part in model.modules()]
    return modes, {name: value.clone() for name, value in model.state_dict().items()}


@pytest.mark.parametrize("given", ["module", "function"])
def test_a_model_is_asked_in_eval_mode_and_left_as_it_was(given):
    model = Undecided().train()
    model.layers[1].eval()  # a frozen part stays one
    modes, values = state(model)
    random = torch.get_rng_state()
    one, other = (
        moons_picture(model if given == "module" else lambda x: model(x), "score") for _ in "12"
    )
    assert one.svg == other.svg
    assert state(model)[0] == modes
    assert all(torch.equal(state(model)[1][name], value) for name, value in values.items())
    assert torch.equal(torch.get_rng_state(), random)
    assert all(weight.grad is None for weight in model.parameters())


def test_a_model_that_fails_gets_its_mode_back():
    model = Undecided()
    model.layers[0] = nn.Linear(3, 4)
    with pytest.raises(RuntimeError, match="shapes"):
        moons_picture(model, "score")
    assert all(part.training for part in model.modules())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: moons_picture(slope), 'Say which it is: "score"'),
        (lambda: moons_picture(slope, "logit"), 'Say which it is: "score"'),
        (lambda: moons_picture(lambda x: x.T, "score"), r"gave \(2, 2113\) for 2113 points"),
        (lambda: moons_picture(slope, "score", words="w" * 42), "at most 41 characters .* has 42"),
        (lambda: moons_pair(slope, slope, "score", titles=("Before the repair", "After")), "leaves no room"),
        (lambda: moons_strip([("a long name", slope)], "score"), "no room under a small picture"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_gets_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_contour_keeps_whole_where_values_meet_the_level_exactly():
    flat = [[0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]]
    (line,) = contour(flat, 0.0)
    assert [y for _, y in line] == [2, 1, 0]
    assert is_straight(line)
    saddle = [[1.0, 0.0], [0.0, 1.0]]
    assert [len(line) for line in contour(saddle, 0.3)] == [2, 2]
    assert contour(saddle, 2.0) == []


def test_a_picture_is_an_image_in_both_themes_that_a_notebook_shows():
    picture = moons_pair(slope, constant(0.0), "score", words=("<a> & b", ""))
    data = picture._repr_mimebundle_()
    assert data["text/plain"] == repr(picture)
    assert f'<img alt="{escape(picture.alt)}" src="data:image/svg+xml;base64,' in data["text/html"]
    assert "@media(prefers-color-scheme:dark)" in picture.svg
    assert picture.svg.startswith(BEGINS)


def test_a_thinned_line_keeps_its_ends_and_passes_by_what_it_leaves_out():
    around = [(math.cos(k / 20), math.sin(k / 20)) for k in range(127)]
    for line in ([(0.0, 0.0), (1.0, 1.0)], [(float(k), 2.0 * k) for k in range(9)], around):
        kept = thinned(line)
        assert [kept[0], kept[-1]] == [line[0], line[-1]]
        assert all(min(map(partial(beside, place), kept, kept[1:])) <= FINE for place in line)
    assert len(thinned(around)) < 30


def beside(place, one, other):
    """Return how far a place is from a piece of a line."""
    along = [b - a for a, b in zip(one, other, strict=True)]
    long = sum(step * step for step in along)
    share = sum((p - a) * step for p, a, step in zip(place, one, along, strict=True)) / long
    share = min(max(share, 0.0), 1.0)
    return math.dist(place, [a + share * step for a, step in zip(one, along, strict=True)])


def test_fixed_weights_give_the_bytes_that_were_looked_at():
    drawn = [
        moons_pair(constant(0.0), slope, "score", words=("a", "b")),
        moons_picture(left_unknown, "score"),
    ]
    drawn.append(moons_strip([("step 0", slope)] * 5, "score"))
    seen = [hashlib.sha256(picture.svg.encode()).hexdigest()[:12] for picture in drawn]
    assert seen == ["1609c8cd0477", "3c3df0f3ae6f", "31589c1cbceb"]


def test_between_machines_the_words_of_a_picture_are_compared_and_not_its_drawing():
    one, close, other = (
        PIXELS.sub(
            r"\1",
            moons_picture(lambda x, by=by: slope(x) + by, "score")._repr_mimebundle_()["text/html"],
        )
        for by in (0.0, 1e-4, 0.3)
    )
    assert one == close != other
    assert len(POINTS) == 100


def test_the_network_that_is_trained_already_gets_all_right_and_draws_no_random_number():
    random = torch.get_rng_state()
    assert ask(pretrained(), "score").right == 100
    assert torch.equal(torch.get_rng_state(), random)
    assert pretrained() is not pretrained()


def test_the_points_are_the_same_at_each_call_and_draw_no_random_number():
    random = torch.get_rng_state()
    (one, moon), (other, _) = moons(), moons()
    assert torch.equal(one, other)
    assert (one.shape, moon.shape) == ((100, 2), (100, 1))
    assert sorted(set(moon.flatten().tolist())) == [0.0, 1.0]
    assert torch.equal(torch.get_rng_state(), random)


def test_a_classifier_takes_the_weights_of_another_one():
    other = classifier()
    with torch.no_grad():
        other[0].weight.add_(1.0)
    again = classifier(other.state_dict())
    assert torch.equal(again[0].weight, other[0].weight)
    assert not torch.equal(classifier()[0].weight, other[0].weight)
