"""The answer of every drawing can be read: no edge hides behind a card or leaves the board, no sign stands on
another or on a card, and every title is inside its own card, on a wide screen and on a telephone.
"""

from dataclasses import replace

import pytest
from driver import photograph, watched

from helpers.predicting.prediction import head, slot
from helpers.predicting.questions import every

pytestmark = pytest.mark.browser
DRAWN = {name: asked for name, asked in every().items() if "cards" in (asked.shown or {})}
BELL = DRAWN["12.d1"]
RENAMED = [
    card | {"title": "StraightThroughEstimator"} if card["title"] == "Bell" else card
    for card in BELL.shown["cards"]
]
DRAWN["own"] = replace(BELL, id="own", shown=BELL.shown | {"cards": RENAMED})
# How many of the real edges are drawn first: the others are missing.
SHARES = {"one": 1, "all": 99}
FEW = ("00.d1", "02.d2", "own")  # three cards in one column; the longest title; one's own
FAULTS = """() => {
  const board = document.querySelector(".prediction-board"), found = [], box = (one) => one.getBoundingClientRect();
  const cards = [...board.querySelectorAll(".prediction-card")], { left, top } = box(board);
  const name = (one) => one.textContent, near = 9;
  const covers = ({ left, right, top, bottom }, [x, y], by) => x > left - by && x < right + by && y > top - by && y < bottom + by;
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  for (const path of board.querySelectorAll("path")) {
    const length = path.getTotalLength(), at = (part) => { const { x, y } = path.getPointAtLength(part * length); return [x + left, y + top]; };
    for (const card of cards) {
      if (covers(box(card), at(0), near) || covers(box(card), at(1), near)) continue;
      if (Array.from({ length: 60 }, (_, part) => at(part / 60)).some((point) => covers(box(card), point, -2))) found.push(`an edge hides behind ${name(card)}`);
    }
    const { left: west, right: east, top: north, bottom: south } = box(path), { right, bottom } = box(board);
    if (west < left || north < top || east > right || south > bottom) found.push("an edge leaves the board");
    if (length < 12) found.push("an edge is too short to be seen");
  }
  const signs = [...board.querySelectorAll("rect")];
  signs.forEach((one, nr) => {
    for (const card of cards) if (meets(box(one), box(card))) found.push(`a sign is over ${name(card)}`);
    for (const other of signs.slice(nr + 1)) if (meets(box(one), box(other))) found.push("a sign is over a sign");
    if (box(one).left < left || box(one).right > box(board).right) found.push("a sign is cut off");
  });
  for (const card of cards) for (const line of card.children) {
    const range = document.createRange();
    range.selectNodeContents(line);
    if (box(range).left < box(card).left || box(range).right > box(card).right) found.push(`${name(line)} is wider than its card`);
  }
  return found; }"""


def thorough(name):
    return pytest.param(name, marks=pytest.mark.thorough)


@pytest.fixture(scope="module")
def opened(chromium, tmp_path_factory):
    """Return a function that opens one drawing in a page of its own."""
    folder = tmp_path_factory.mktemp("drawings")
    blank = folder / "blank.html"
    blank.write_text("<!doctype html>", encoding="utf-8")
    with watched(chromium) as watch:

        def start(asked, size):
            html = f"<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>{head()}{slot(asked)}"
            path = folder / f"{asked.id}.html"
            path.write_text(html, encoding="utf-8")
            watch.page.set_viewport_size({"width": size[0], "height": size[1]})
            watch.page.emulate_media(reduced_motion="reduce")
            watch.page.goto(blank.as_uri())  # the page before may write as it goes
            watch.page.evaluate("localStorage.clear()")
            watch.page.goto(path.as_uri())
            return watch.page

        yield start


@pytest.mark.parametrize("size", [(833, 600), (390, 800)], ids=lambda size: "{}x{}".format(*size))
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", [name if name in FEW else thorough(name) for name in DRAWN])
def test_no_edge_of_an_answer_hides_and_no_words_collide(opened, name, share, size):
    asked = DRAWN[name]
    page = opened(asked, size)
    places = {card["id"]: nr for nr, card in enumerate(asked.shown["cards"])}
    for edge in asked.told["edges"].split()[: SHARES[share]]:
        for letter in edge:
            page.locator(".prediction-card").nth(places[letter]).press("Enter")
    page.click(".prediction-lock")
    photograph(page, f"drawn/{name}-{share}-{size[0]}")
    assert page.evaluate(FAULTS) == []
