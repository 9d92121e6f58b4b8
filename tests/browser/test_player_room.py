"""All of a step is seen at once: at every size nothing scrolls inside the player, nothing is cut off
or covered, no word is too small, and no step moves what it is not about.
"""

import pytest
from driver import photograph, watched
from player_films import PROGRAMS, film_of
from player_page import FAULTS, PLACES, SETTLED, go_through

from autograd_graphs.playing.player import page

pytestmark = pytest.mark.browser
# size of the window: the least size of a word, px
SIZES = {
    (960, 600): 10.4,
    (833, 600): 10.4,
    (1200, 650): 10.4,
    (1440, 900): 10.4,
    (720, 560): 10.4,
    (390, 800): 10.4,
    (1920, 1000): 22,
}
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
DARK = {(833, 600), (1920, 1000), (390, 800)}


@pytest.fixture(scope="module")
def pages(chromium, tmp_path_factory):
    """Return a function that opens the page of a film in a window of some size, always the same."""
    folder = tmp_path_factory.mktemp("films")
    with watched(chromium, reduced_motion="reduce") as watch:

        def opened(name, size, film=None):
            path = folder / f"{name}.html"
            if not path.exists():
                path.write_text(page(film or film_of(name)), encoding="utf-8")
            watch.page.set_viewport_size({"width": size[0], "height": size[1]})
            watch.page.emulate_media(
                color_scheme="dark" if size in DARK else "light", reduced_motion="reduce"
            )
            watch.page.goto(path.as_uri())
            watch.page.evaluate(SETTLED)
            return watch.page

        yield opened


@sizes
@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_is_seen_at_once_and_stays_where_it_is(pages, name, size):
    shown = pages(name, size)
    places, asked = shown.evaluate(PLACES), 0
    for stop in go_through(shown):
        assert shown.evaluate(FAULTS, SIZES[size]) == [], stop
        assert shown.evaluate(PLACES) == places, stop
        asked += stop.endswith("asks")
        photograph(shown, f"player/{name}-{size[0]}x{size[1]}-{stop.replace(' ', '-')}")
    assert asked


@sizes
def test_inside_an_opened_part_everything_is_seen_too(pages, size):
    shown = pages("layers", size)
    shown.focus(".player")
    for key in ("ArrowRight", "ArrowRight", "i"):
        shown.keyboard.press(key)
    assert shown.evaluate("!document.querySelector('.player-fold').ariaDisabled.includes('true')")
    places = shown.evaluate(PLACES)
    for stop in range(12):
        assert shown.evaluate(FAULTS, SIZES[size]) == [], stop
        assert shown.evaluate(PLACES) == places, stop
        shown.keyboard.press("ArrowRight")
