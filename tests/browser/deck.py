"""Open a deck in Chromium, step through every slide and fragment, measure what does not fit,
photograph it.

`PYTHONPATH=tests .venv/bin/python tests/browser/deck.py 03` builds the deck of one lesson and
prints what it finds.
"""

import os
import shutil
import sys
from pathlib import Path

from driver import SHOTS, browser, photograph, watched
from playwright.sync_api import expect

from course.publish import publish

ROOT = Path(__file__).resolve().parents[2]
# One slide under the other, each with all its fragments: then one look at the page sees every slide.
UNROLL = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    html, body { overflow: auto !important; height: auto !important }
    .reveal, .slides, .slides section { position: static !important; display: block !important; opacity: 1 !important;
      visibility: visible !important; transform: none !important; overflow: visible !important; height: auto !important }
    .fragment { visibility: visible !important; opacity: 1 !important }`);
  document.adoptedStyleSheets.push(sheet);
  for (const slide of document.querySelectorAll(".slides section")) {
    slide.hidden = false;
    slide.removeAttribute("aria-hidden");
  }
  for (const fragment of document.querySelectorAll(".fragment")) fragment.classList.add("visible");
  for (const part of document.querySelectorAll("[data-at]")) part.classList.add("on");
}"""
STEP = "() => { if (Reveal.isLastSlide() && !Reveal.availableFragments().next) return false; Reveal.next(); return true; }"
FOLD = "() => document.querySelectorAll('details[open]').forEach((one) => { one.open = false; })"
PLACE = "() => [Reveal.getSlidePastCount(), (Reveal.getIndices().f ?? -1) + 1]"
# What is seen of a slide must lie in 1280×720, with nothing out of sight in a box that scrolls or cuts, and no text
# too small to be read. What fit.js could not fit it says itself.
MEASURE = """(open) => {
  const slide = Reveal.getCurrentSlide();
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("aside, .player-live");
  const folds = [...slide.querySelectorAll("details")].filter(seen);
  if (open >= folds.length) return null;
  folds.forEach((fold, at) => { fold.open = at === open; });
  const found = [];
  const say = (one, what, px) => found.push([one.closest("[data-cell]").dataset.cell, `${what} (${one.className || one.localName})`, Math.round(px)]);
  if (slide.dataset.trouble && !slide.querySelector(".flow")) say(slide, `does not fit at its smallest size: ${slide.dataset.trouble}`, 1);
  const boxes = [];
  const range = document.createRange();
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("details:not([open]) > :not(summary)") || parent.matches("details:not([open])")) {
      if (node.localName !== "summary") continue;
    }
    if (!seen(node.nodeType === 1 ? node : parent) || parent.closest("details[open] > pre")) continue;
    range.selectNode(node);
    const rects = [...(node.nodeType === 1 ? node : range).getClientRects()].filter((box) => box.width > 1);
    boxes.push(...rects.map((box) => [box, node.nodeType === 1 ? node : parent]));
  }
  const beyond = (name, far) => {
    const worst = boxes.reduce((one, other) => (far(other[0]) > far(one[0]) ? other : one), boxes[0]);
    if (worst && far(worst[0]) > 1) say(worst[1], name, far(worst[0]));
  };
  beyond("below the slide", (box) => box.bottom - 720);
  beyond("right of the slide", (box) => box.right - 1280);
  beyond("left of the slide", (box) => -box.left);
  for (const box of [...slide.querySelectorAll("*")].filter(seen)) {
    const style = getComputedStyle(box);
    if (box.closest("svg") || box.matches("details[open] > pre, .player-told pre")) continue;
    const [wide, high] = [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight];
    if (style.overflowX !== "visible" && wide > 1) say(box, "cut at the right", wide);
    if (style.overflowY !== "visible" && high > 1) say(box, "cut below", high);
  }
  for (const one of [...slide.querySelectorAll("h1, h2, p, li, td, th, summary, pre, span")].filter(seen)) {
    const size = parseFloat(getComputedStyle(one).fontSize), ours = one.closest(".player");
    if (one.textContent && !ours && size < 20) say(one, `text of ${size} px, under`, 20);
  }
  for (const one of [...slide.querySelectorAll("img:not(.chart img)")].filter(seen)) {
    const shown = one.getBoundingClientRect().width;
    if (shown < one.naturalWidth * 0.8) say(one, "picture shrunk to % of its size", (100 * shown) / one.naturalWidth);
  }
  return found;
}"""


def opened(watch, path, query=""):
    """Open a deck from disk; return its page once it is ready."""
    watch.page.goto(path.as_uri() + query)
    watch.page.wait_for_selector(
        ".reveal.ready"
    )  # a function to wait for would be refused by the deck's policy
    expect(watch.page.locator(".player-slot:not(:has(.player))")).to_have_count(0)
    return watch.page


def states(page):
    """Yield (slide, fragment) at every step of a deck, from where it stands to its end."""
    yield tuple(page.evaluate(PLACE))
    while page.evaluate(STEP):
        yield tuple(page.evaluate(PLACE))


def unfit(page, number="made up"):
    """Return (slide, fragment, cell, what, pixels) of all that does not fit."""
    found = []
    for slide, fragment in states(page):
        for fold in range(-1, 20):
            measured = page.evaluate(MEASURE, fold)
            if measured is None:
                break
            found += [
                (slide + 1, fragment, *one)
                for one in measured
                if fold < 0 or (slide + 1, fragment, *one) not in found
            ]
            if fold < 0:
                photograph(page, f"slides/{number}/{slide + 1:02}-{fragment:02}")
        page.evaluate(FOLD)
    return found


def main(numbers):
    """Build the decks of these lessons, print what does not fit; return how many do not."""
    bad = 0
    os.environ["PHOTOGRAPHS"] = "yes"
    with browser() as started:
        for source in sorted(ROOT.glob("notebooks/[0-9][0-9]_*.ipynb")):
            if numbers and source.name[:2] not in numbers:
                continue
            path = ROOT / "build" / "slides" / f"{source.stem}.html"
            publish(source, "slides", path)
            shutil.rmtree(SHOTS / "slides" / source.name[:2], ignore_errors=True)
            with watched(started) as watch:
                found = unfit(opened(watch, path), source.name[:2])
            bad += bool(found)
            print(f"{source.name}: {len(found) or 'nothing'} does not fit")
            for slide, fragment, cell, what, pixels in found:
                print(f"  slide {slide}, fragment {fragment}, cell {cell}: {what} {pixels}")
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
