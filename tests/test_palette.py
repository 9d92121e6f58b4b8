"""Words can be read on every ground that they stand on, in both themes: contrast is computed, not judged by eye."""

import pytest

from helpers.palette import DARK, LIGHT, STYLE, attributes

GROUNDS = {  # where a word of this colour may stand
    "ink": ("ground", "card", "leaf", "doneground", "nowground", "cutground"),
    "faint": ("ground", "card", "leaf", "doneground", "nowground", "cutground"),
    "done": ("ground", "card", "leaf"),
    "now": ("card", "nowground", "leaf"),
    "warn": ("card", "doneground", "nowground"),
    "tagink": ("tag",),
}


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("word", "ground"), [(word, ground) for word, all_ in GROUNDS.items() for ground in all_])
def test_words_have_a_contrast_of_four_and_a_half(theme, word, ground):
    assert contrast(theme[word], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_rims_have_a_contrast_of_three(theme):
    for rim, ground in (("faint", "card"), ("leafrim", "leaf"), ("done", "doneground"), ("now", "nowground")):
        assert contrast(theme[rim], theme["ground"]) >= 3
        assert contrast(theme[rim], theme[ground]) >= 3


def test_both_themes_have_the_same_colours_and_every_role_uses_them():
    assert set(LIGHT) == set(DARK)
    for role in STYLE:
        name, _, state = role.partition(" ")
        assert attributes(name, state)


def test_an_unknown_role_is_named():
    with pytest.raises(KeyError, match="nonsense"):
        attributes("nonsense")


def test_done_now_and_next_differ_by_more_than_colour():
    looks = [attributes("edge", state) for state in ("", "done", "now", "next")]
    shapes = {(look.get("stroke-width"), look.get("stroke-dasharray")) for look in looks}
    assert len(shapes) == len(looks)
