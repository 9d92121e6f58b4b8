"""Words can be read on every ground that they stand on, in both themes: contrast is computed, not
judged by eye.
"""

from dataclasses import replace

import pytest
from made_up_film import folded, steps

from autograd_graphs.data import MARKS, NOTES
from autograd_graphs.drawing.cards import SIGNS
from autograd_graphs.drawing.devices import MOST
from autograd_graphs.drawing.palette import DARK, LIGHT, PLACES, STYLE, attributes
from autograd_graphs.playing.film import marks_of
from autograd_graphs.playing.lab_still import still
from helpers import labs


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colour(role, state, what):
    """Return the name in the palette of a mark's colour; None where it has none of its own."""
    name = STYLE.get(f"{role} {state}", STYLE.get(role, {})).get(what, "none")
    return name.strip("{}") if name != "none" else None


def under(marks, x, y):
    """Return the colour on which something at a place is drawn."""
    found = "ground"
    for mark in marks:
        if mark.shape == "rect" and (fill := colour(mark.role, mark.state, "fill")):
            left, top, wide, high, _ = mark.at
            found = fill if left <= x <= left + wide and top <= y <= top + high else found
    return found


def pairs_drawn(what):
    """Return (colour, colour below) of all words, or of all rims, that occur in any state of our
    labs, or at any stop of our films of a backward.
    """
    found = set()
    for marks in pictures():
        for number, mark in enumerate(marks):
            found |= set(pairs_of(what, mark, marks[:number]))
    return sorted(found)


def pictures():
    """Yield the marks of every picture that is seen."""
    for film in [getattr(labs, name).film() for name in labs.__all__]:
        yield from (marks_of(film, number) for number in range(len(film.states)))
        yield still(film).marks
    films = steps(4), folded(), folded(30)
    for marks in [scene.picture.marks for film in films for scene in film.scenes]:
        for state in ("", "now", "done"):
            yield [at_turn(mark, state) for mark in marks]


def at_turn(mark, state):
    """Return a mark as the player's script lets it look (`paintNodes`)."""
    if mark.role in ("operation", "leaf"):
        return replace(mark, state=state or mark.state)
    if mark.state == "held" and state == "done":
        return replace(mark, state="freed")
    return mark


def pairs_of(what, mark, before):
    if what == "words" and mark.shape == "text":
        below = under(before, *mark.at)
        for _, run in mark.runs:
            yield colour("run", run, "fill") or colour(mark.role, mark.state, "fill"), below
    if what == "rims" and mark.shape != "text":
        # a line may begin on the rim of what it leads away from
        place = len(mark.at) // 4 * 2 if mark.shape == "path" else 0
        x, y = mark.at[place : place + 2]
        rim = colour(mark.role, mark.state, "stroke") or colour(mark.role, mark.state, "fill")
        yield rim, under(before, x, y)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "least"), [("words", 4.5), ("rims", 3)])
def test_words_and_lines_in_pictures_have_contrast(what, least):
    for one, ground in pairs_drawn(what):
        for theme in (LIGHT, DARK):
            enough = contrast(theme[one], theme[ground]) >= least
            assert enough or (what == "rims" and one == ground), f"{one} on {ground}"


def test_the_bars_of_devices_have_a_contrast_of_three_and_differ():
    assert len(set(PLACES)) == len(PLACES) == MOST
    for nr, place in enumerate(PLACES, 1):
        assert (
            attributes("bar", f"on{nr}")["fill"] == attributes("edge", f"on{nr}")["stroke"] == place
        )
        in_the_dark = attributes("bar", f"on{nr}", DARK)["fill"]
        for ground in ("ground", "card", "leaf", "doneground", "nowground"):
            assert contrast(place, LIGHT[ground]) >= 3
            assert contrast(in_the_dark, DARK[ground]) >= 3


@pytest.mark.parametrize("role", ["edge", "operation", "leaf"])
def test_done_now_and_next_differ_by_more_than_colour(role):
    states = [
        state
        for state in ("", "done", "now", "next", "ghost")
        if not state or f"{role} {state}" in STYLE
    ]
    looks = [attributes(role, state) for state in states]
    shapes = {(look.get("stroke-width"), look.get("stroke-dasharray")) for look in looks}
    assert len(shapes) == len(looks) >= 4


def test_every_state_of_a_saved_tensor_has_words_a_sign_and_a_look():
    assert set(MARKS) == set(NOTES) == set(SIGNS)
    assert {f"saved {state}" for state in SIGNS} <= set(STYLE)
