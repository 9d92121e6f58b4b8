"""Exercises that name their quantities: which came is said, in which place, and of other data too."""

from dataclasses import replace

import pytest

from autograd_graphs.plain_values import plain
from helpers.exercises.exercise import Exercise, exercises, lessons
from helpers.exercises.quantities import Place, Quantities
from helpers.exercises.reading import number, same
from helpers.exercises.verdict import judge

ALL = [one for lesson in lessons() for one in exercises(lesson)]
NAMED = [one for one in ALL if one.quantities]
SEEDS = range(40)


def seeds_of(exercise):
    """Return an exercise and its variants."""
    return [exercise, *[exercise.variant(seed) for seed in SEEDS]]


def each_wrong_value(exercise):
    """Yield (answer, name) with one quantity in the place of the right value."""
    quantities, truth = exercise.quantities, exercise.truth()
    truth = tuple(truth) if isinstance(truth, list) else (truth,)
    for at, place in enumerate(quantities.places):
        met = [truth[at]]
        for name, values in quantities.values({**place.known, **place.loose}).items():
            for value in values:
                if not any(same(plain(value), plain(one)) for one in met):
                    yield [*truth[:at], value, *truth[at + 1 :]], truth, name
            met += values


@pytest.mark.parametrize("exercise", NAMED, ids=lambda one: one.id)
def test_each_quantity_is_named_in_its_place_whatever_the_data(exercise):
    assert exercise.quantities.clashes() == []
    for one in seeds_of(exercise):
        for answer, truth, name in each_wrong_value(one):
            own = [
                words for words, meant in one.quantities.own.items()
                if meant(one.quantities.data, tuple(answer))
            ]  # fmt: skip
            said = one.quantities.said_of(tuple(answer), tuple(truth))
            assert (own[0] if own else name) in said or "The order counts" in said


def test_values_in_each_others_places_and_a_right_half_are_told():
    exercise = next(one for one in NAMED if one.id == "06.1")
    p, q = exercise.truth()
    assert "The order counts" in judge(exercise, [q, p], False).text
    said = judge(exercise, [p, 12345.0], False).text
    assert "Your `p` is right." in said
    assert "For `q` you need" in said


def small(**more):
    place = Place("`p`", "the sum", {"twice {x}": lambda data: 2 * data["x"]})
    return Quantities(lambda data: f"answer = {data['x']} + 1", {"x": 3}, (place,), **more)


def asked_with(quantities):
    hints = ("Look.", "Add.")
    return Exercise("99.1", number(), "So.", hints, "answer = 4", quantities=quantities)


def test_what_cannot_be_drawn_or_told_apart_is_said():
    with pytest.raises(ValueError, match="has no variants"):
        asked_with(small()).variant(1)
    with pytest.raises(ValueError, match="keeps right and wrong apart"):
        asked_with(small(draw=lambda random: {"x": 1})).variant(1)
    with pytest.raises(ValueError, match="6 are the most"):
        small(own={str(number): lambda *_: False for number in range(7)})
    with pytest.raises(ValueError, match="needs a quantity"):
        replace(small(), places=())
