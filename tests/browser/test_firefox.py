"""Decks and pages from disk in Firefox, where it is installed: they open, step, play and unfold as
in Chromium.
"""

import pytest
from deck import ROOT
from driver import GUESS_ALL
from firefox import MISSING, Firefox, firefox

from course.publish import publish

pytestmark = [pytest.mark.browser, pytest.mark.notebooks]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
SEEN = "[...document.querySelectorAll('.player')].filter((one) => one.checkVisibility({ visibilityProperty: true }))"
PLACE = "[Reveal.getSlidePastCount(), Reveal.getIndices().f ?? -1]"
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


@every_lesson
def test_a_deck_goes_to_its_end_by_key_and_its_players_play(fox, tmp_path, lesson):
    publish(lesson, "slides", tmp_path / "deck.html")
    fox.open(tmp_path / "deck.html")
    places = [fox.evaluate(PLACE)]
    while True:
        for number in range(fox.evaluate(f"{SEEN}.length")):
            assert answers(fox, number)
            assert fox.evaluate(PLACE) == places[-1]
        if fox.evaluate(f"{FOLDS}.length"):
            assert fox.evaluate(BELOW) == [0, True, True], (
                "a fold opens over the slide, and within it"
            )
        if fox.evaluate(AT_THE_END):
            break
        fox.press("ArrowRight")
        places.append(fox.evaluate(PLACE))
        assert places[-1] > places[-2]
    assert places[-1][0] + 1 == fox.evaluate("Reveal.getTotalSlides()")
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
