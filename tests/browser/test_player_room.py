"""All of a step is seen at once: at every size nothing scrolls inside the player, nothing is cut off
or covered, no word is too small, and no step moves what it is not about.
"""

import pytest
from driver import photograph
from player_films import PROGRAMS
from player_page import FAULTS, PLACES, go_through

pytestmark = pytest.mark.browser
# size of the window: the least size of a word, px
SIZES = {(833, 600): 10.4, (390, 800): 10.4, (1920, 1000): 22}
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
THEMES = {(833, 600): "dark", (390, 800): "dark", (1920, 1000): "light"}


@sizes
@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_is_seen_at_once_and_stays_where_it_is(film_page, name, size):
    shown = film_page(name, size, THEMES[size])
    places, asked = shown.evaluate(PLACES), 0
    for stop in go_through(shown):
        assert shown.evaluate(FAULTS, SIZES[size]) == [], stop
        assert shown.evaluate(PLACES) == places, stop
        asked += stop.endswith("asks")
        photograph(shown, f"player/{name}-{size[0]}x{size[1]}-{stop.replace(' ', '-')}")
    assert asked


@sizes
def test_inside_an_opened_part_everything_is_seen_too(film_page, size):
    shown = film_page("layers", size, THEMES[size])
    shown.focus(".player")
    for key in ("ArrowRight", "ArrowRight", "i"):
        shown.keyboard.press(key)
    assert shown.evaluate("!document.querySelector('.player-fold').ariaDisabled.includes('true')")
    places = shown.evaluate(PLACES)
    for stop in range(12):
        assert shown.evaluate(FAULTS, SIZES[size]) == [], stop
        assert shown.evaluate(PLACES) == places, stop
        shown.keyboard.press("ArrowRight")
