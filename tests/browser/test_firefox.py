"""Decks and pages from disk in Firefox, where it is installed: they open, step, play and unfold as
in Chromium; a live deck runs its code.
"""

import nbformat
import pytest
from deck import ROOT
from driver import GUESS_ALL
from firefox import MISSING, Firefox, firefox
from test_live_deck import SHOWN, Served, small

from course.publish import publish

pytestmark = [pytest.mark.browser, pytest.mark.notebooks, pytest.mark.thorough]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
SEEN = "[...document.querySelectorAll('.player')].filter((one) => one.checkVisibility({ visibilityProperty: true }))"
PLACE = "[Reveal.getSlidePastCount(), Reveal.getIndices().f ?? -1]"
TOLD = f"{SEEN}.map((one) => one.innerText).join()"
PLAYING = "Reveal.getSlides().filter((one) => one.querySelector('.player')).length"
AT_THE_END = "Reveal.isLastSlide() && !Reveal.availableFragments().next"
FOLDS = "[...document.querySelectorAll('section.present:not(.stack) .words summary')]"
BELOW = f"""(() => {{ const fold = {FOLDS}[0].parentElement, before = fold.parentElement.offsetHeight;
    fold.open = true;
    const range = document.createRange();
    range.setStartAfter(fold.firstElementChild);
    range.setEndAfter(fold.lastChild);
    const box = range.getBoundingClientRect();
    const said = [fold.parentElement.offsetHeight - before, box.height > 10, box.right <= 1280 && box.bottom <= 720];
    fold.open = false;
    return said; }})()"""


@pytest.fixture(scope="module")
def fox():
    if not firefox():
        pytest.skip(MISSING)
    with Firefox() as started:
        yield started


def answers(fox, number):
    """Tell whether a player that is seen answers one of four keys; after Escape the keys are the
    slides' again.
    """
    one = f"{SEEN}[{number}]"
    fox.evaluate(f"{one}.focus()")
    texts = [fox.evaluate(f"{one}.innerText")]
    for key in ("1", "2", "3", "ArrowRight"):
        fox.press(key)
        texts.append(fox.evaluate(f"{one}.innerText"))
    fox.press("Escape")
    return len(set(texts)) > 1


def next_place(fox):
    """Press → until the place changes, and return it: a player leads through its own steps first."""
    place = fox.evaluate(PLACE)
    while True:
        told = fox.evaluate(TOLD)
        fox.press("ArrowRight")
        if fox.evaluate(PLACE) != place:
            return fox.evaluate(PLACE)
        assert fox.evaluate(TOLD) != told


@every_lesson
def test_a_deck_goes_to_its_end_by_key_and_its_players_play(fox, tmp_path, lesson):
    publish(lesson, "slides", tmp_path / "deck.html")
    fox.open(tmp_path / "deck.html")
    places, played = [fox.evaluate(PLACE)], set()
    while True:
        slide = places[-1][0]
        if fox.evaluate(f"{SEEN}.length") and slide not in played:
            played.add(slide)  # one that is at its end lets → go on
            assert answers(fox, 0)
            assert fox.evaluate(PLACE) == places[-1]
        if fox.evaluate(f"{FOLDS}.length"):
            assert fox.evaluate(BELOW) == [0, True, True], (
                "a fold opens over the slide, and within it"
            )
        if fox.evaluate(AT_THE_END):
            break
        places.append(next_place(fox))
        assert places[-1] > places[-2]
    assert places[-1][0] + 1 == fox.evaluate("Reveal.getTotalSlides()")
    assert len(played) == fox.evaluate(PLAYING)
    assert (fox.foreign, fox.errors) == ([], [])


@every_lesson
def test_a_page_opens_and_its_players_play(fox, tmp_path, lesson):
    publish(lesson, "page", tmp_path / "page.html")
    fox.open(tmp_path / "page.html")
    fox.evaluate(f"({GUESS_ALL})()")
    players = fox.evaluate("document.querySelectorAll('.player-slot').length")
    assert fox.evaluate(f"{SEEN}.length") == players
    assert all(answers(fox, number) for number in range(players))
    assert (fox.foreign, fox.errors) == ([], [])


@pytest.fixture
def served(tmp_path, fox):
    nbformat.write(small(), tmp_path / "small.ipynb")
    made = Served(tmp_path / "small.ipynb")
    yield made
    made.close()


SIGN = "document.querySelector('section.present .state').innerText"
OUT = "document.querySelector('section.present .out')"


@pytest.mark.slow
def test_a_live_deck_runs_its_code_and_interrupts_it(fox, served):
    fox.go(served.address)
    fox.wait("!!document.querySelector('.reveal.ready')")
    for number in range(1, len(SHOWN) + 1):
        fox.evaluate(f"Reveal.slide({number}, 0, -1) ?? 0")
        fox.wait(f"{SIGN} === 'R runs it'")
        fox.press("r")
        fox.wait(f"{SIGN}.startsWith('Ran here') || {SIGN}.startsWith('Raised')")
        assert "stored" not in fox.evaluate(f"{OUT}.innerText")
        assert fox.evaluate(f"{OUT}.getBoundingClientRect().height") > 10
    fox.evaluate(f"Reveal.slide({len(SHOWN) + 1}, 0, -1) ?? 0")
    fox.press("r")
    fox.wait(f"{OUT}.innerText.includes('begun')")
    fox.press("Escape")
    fox.wait(f"{OUT}.innerText.includes('KeyboardInterrupt')")
    home = f"http://127.0.0.1:{served.port}/"
    asked = [one for one in fox.foreign if not one.startswith((home, home.replace("http", "ws")))]
    fox.foreign.clear()
    assert (asked, fox.errors) == ([], [])
