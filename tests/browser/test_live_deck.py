"""A live deck in a real browser, beside a server and a kernel of its own: keys, results, endings, attacks."""

import json
import os
import re
import select
import signal
import subprocess
import sys

import nbformat
import pytest
from deck import ROOT
from driver import photograph, watched
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

from course.publishing.cell_renderer import CellRenderer
from course.publishing.prepare import prepared

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 30_000  # ms: a kernel may take its time
SIGN = "section.present .state"
OUT = "section.present .out"
STEP = "+document.querySelector('section.present').dataset.step"
# A socket or an address that does not answer, or answers 403, is what these tests are about.
NOISE = ("WebSocket connection to", "Failed to load resource")
SHOWN = {
    "print": "print('came', 'live')",
    "show": "import torch\nfrom helpers import show\nx = torch.tensor(2.0, requires_grad=True)\nshow(x * x)",
    "step_through": "import torch\nfrom helpers import step_through\nw = torch.tensor(3.0, requires_grad=True)\nstep_through(w * w)",
    "plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);",
    "traceback": "def broken():\n    return 1 / 0\n\n\nbroken()",
    "stderr": "import sys\nprint('a warning', file=sys.stderr)",
    "progress": "for part in range(4): print(f'{part} of 3', end='\\r', flush=True)",
    "attempt": "import torch\nfrom helpers import attempt\nwith attempt():\n    torch.tensor(1.0).backward()",
}


NAMES = ["tenfold", "one_more", "keep", "halve", "forward", "backward"]


def cell(name, source, **more):
    return new_code_cell(source, id=name, **more)


def part(name, **more):
    return {"slideshow": {"slide_type": "slide"}, "course": {"role": name}} | more


def round_of(name, source, stored):
    """A round as lessons have it: what runs comes one step later."""
    return [
        new_markdown_cell(f"## {name}\n\nWhat comes?", id=f"q-{name}", metadata=part("question")),
        cell(name, source, metadata=part("run"), outputs=stored, execution_count=1),
    ]


def lab_of(name, source, stored):
    """A lab as lessons have it, whose code is seen above what came."""
    asks = f"## Lab: {name}\n\nRun it.\n\n1. What comes?"
    why = "<details><summary>Why?</summary>\n\n**It is so.**\n\n1. This.\n\n</details>"
    return [
        new_markdown_cell(asks, id=f"q-{name}", metadata=part("lab")),
        cell(name, source, metadata=part("run"), outputs=stored, execution_count=1),
        new_markdown_cell(why, id=f"because-{name}", metadata=part("because")),
    ]


def the_recap():
    """Words that come one sentence a key, and no cell that runs."""
    words = "## Recap\n\n- A node keeps photographs.\n- A leaf keeps a tally."
    return [new_markdown_cell(words, id="recap", metadata=part("recap"))]


def small():
    stored = [new_output("stream", text="stored\n")]
    cells = [new_markdown_cell("# Live\n\nWords.", id="title", metadata=part("title"))]
    for name, source in SHOWN.items():
        cells += round_of(name, source, stored)
    cells += round_of("loop", "print('begun', flush=True)\nwhile True: pass", stored)
    cells += the_recap()
    cells += lab_of("ported", "print('came', 'live')", stored)
    hooks = lab_of("hooks", "from helpers import labs\nlabs.hooks()", stored)
    hooks[0].metadata["course"]["slide"] = {"presses": "1 6"}
    cells += hooks
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return new_notebook(cells=cells, metadata=kernel)


class Served:
    """A server of live decks in a process of its own."""

    def __init__(self, path, port=0):
        self.path = path
        command = [
            sys.executable,
            "-m",
            "course.present",
            str(path),
            "--no-browser",
            f"--port={port}",
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0)
        self.address = self.next_address()
        self.port = int(re.search(r":(\d+)/", self.address)[1])

    def next_address(self):
        """Return the next address that is printed."""
        while True:
            assert select.select([self.process.stdout], [], [], 90)[0], "the server says nothing"
            line = self.process.stdout.readline().decode()
            assert line, "the server has ended"
            if "/enter?" in line:
                return line.strip()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def entered(page, address):
    """Enter by an address; return the deck's page once its kernel is ready."""
    page.goto(address)
    page.wait_for_selector(".reveal.ready")
    return page


def ready(page):
    """Wait for the kernel on the first slide that has code."""
    page.evaluate("Reveal.slide(1, 0, -1)")
    expect(page.locator(SIGN)).to_have_text("R runs it", timeout=LONG)
    return page


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "small.ipynb"
    nbformat.write(small(), path)
    made = Served(path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def room(chromium, served):
    with watched(chromium, noise=NOISE) as watch:
        yield entered(watch.page, served.address)


@pytest.fixture
def deck(room):
    """The first slide that has code, nothing running, whatever the test before has done."""
    return ready_again(room)


def ready_again(page):
    page.evaluate("Reveal.slide(1, 0, -1)")
    expect(page.locator(SIGN)).not_to_contain_text(re.compile("starts|Connecting"), timeout=LONG)
    if "Running" in page.inner_text(SIGN):
        page.keyboard.press("Escape")
    return page


def to(page, name):
    """Go to the question of a round."""
    at = list(SHOWN).index(name) if name in SHOWN else len(SHOWN)
    page.evaluate(f"Reveal.slide({at + 1}, 0, -1)")
    assert page.evaluate(STEP) == 0


def typed(page, name, code):
    """Go to the question of a round, and type code in the place of its own."""
    to(page, name)
    for key in ("e", "Control+a"):
        page.keyboard.press(key)
    page.keyboard.type(code)


def ran(page, mood="done"):
    expect(page.locator(f"{SIGN}[data-mood={mood}]")).to_contain_text(
        re.compile("^(Ran here|Raised an error)"), timeout=LONG
    )


def test_where_a_slide_has_nothing_to_run_no_sign_waits_and_r_changes_nothing(deck):
    titles = deck.evaluate("Reveal.getSlides().map((slide) => slide.ariaLabel)")
    deck.evaluate(f"Reveal.slide({titles.index('Recap')}, 0, -1)")
    expect(deck.locator(SIGN)).to_have_text("")
    deck.keyboard.press("r")
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(STEP) == 1
    expect(deck.locator(SIGN)).to_have_text("")
    expect(deck.locator("section.present")).to_contain_text("A node keeps photographs.")
    deck.keyboard.press("r")
    assert deck.inner_text(SIGN) == "Nothing runs on this slide"
    deck.evaluate("Reveal.slide(1, 0, -1)")
    assert deck.inner_text(SIGN) != "Nothing runs on this slide"


def pressed(page, name, mood="done"):
    to(page, name)
    page.keyboard.press("r")
    page.wait_for_selector("section.present[data-step='1']", timeout=LONG)
    ran(page, mood)


def test_r_shows_what_came_and_not_what_was_stored(deck):
    to(deck, "print")
    assert not deck.locator(OUT).is_visible()
    pressed(deck, "print")
    expect(deck.locator(OUT)).to_have_text("came live")
    assert deck.locator(OUT).is_visible()
    deck.keyboard.press("ArrowLeft")
    assert deck.evaluate(STEP) == 0
    assert not deck.locator(OUT).is_visible(), "a prediction stays honest"


SAME = """(one, html) => {
  const made = document.createElement("template"), copy = one.cloneNode(true);
  made.innerHTML = html;
  for (const inside of [...made.content.querySelectorAll("*"), ...copy.querySelectorAll("*")])
    for (const name of ["style", "class", "data-words", "tabindex"]) inside.removeAttribute(name); // by fit.js
  return copy.innerHTML === made.innerHTML;
}"""


def test_every_output_looks_as_in_a_published_deck(deck, tmp_path):
    names = [name for name in SHOWN if name != "step_through"]
    for name in names:
        pressed(deck, name, "bad" if name == "traceback" else "done")
        photograph(deck, f"live/{name}")
    kept = saved(deck, tmp_path)
    cells = prepared(kept, notes=True).cells
    for name in names:
        to(deck, name)
        published = CellRenderer(tmp_path).result(cells[at(kept, name)])
        assert deck.locator(OUT).evaluate(SAME, published.html), name


def saved(page, folder):
    """Return the copy that Ctrl+S saves."""
    with page.expect_download() as loading:
        page.keyboard.press("Control+s")
    loading.value.save_as(folder / "kept.ipynb")
    assert loading.value.suggested_filename == "small-live.ipynb"
    return nbformat.read(folder / "kept.ipynb", as_version=4)


def at(notebook, name):
    return next(number for number, cell in enumerate(notebook.cells) if cell.id == name)


def test_a_player_that_came_live_plays_by_keys(deck):
    pressed(deck, "step_through")
    player = deck.locator("section.present .player")
    assert player.bounding_box()["height"] > 400
    seen = set()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        deck.keyboard.press(key)
        seen.add(player.locator(".player-count").inner_text())
    assert len(seen) == 4
    deck.focus(".present .player")
    assert deck.inner_text(".keys") == "Keys: player · Esc for slides"
    deck.keyboard.press("r")
    assert deck.inner_text(SIGN).startswith("Ran here"), "in a player R is the player's"
    deck.keyboard.press("Escape")
    expect(deck.locator(".keys")).to_have_text("")
    deck.keyboard.press("r")
    expect(player.locator(".player-count")).to_contain_text("steps", timeout=LONG)


def test_code_is_edited_run_and_reset_from_the_keyboard(deck):
    to(deck, "print")
    deck.keyboard.press("e")
    box = deck.get_by_label("Code of this slide")
    expect(box).to_be_focused()
    deck.keyboard.press("Control+End")
    deck.keyboard.type("\nprint('<b>typed</b> rnslbe?')")
    deck.keyboard.press("Shift+Enter")
    expect(deck.locator(OUT)).to_have_text("came live\n<b>typed</b> rnslbe?", timeout=LONG)
    assert deck.locator("section.present pre.src").is_visible()
    assert deck.locator("section.present .ln").count() == 2
    expect(deck.locator(SIGN)).to_contain_text("edited")
    deck.keyboard.press("Shift+E")
    expect(deck.locator("section.present .ln")).to_have_count(1)
    expect(deck.locator(SIGN)).not_to_contain_text("edited")


def test_escape_stops_a_cell_that_never_ends_and_nothing_else(deck):
    to(deck, "loop")
    deck.keyboard.press("r")
    expect(deck.locator(OUT)).to_have_text("begun", timeout=LONG)
    expect(deck.locator(SIGN)).to_contain_text("Running")
    deck.evaluate("Reveal.slide(0)")
    deck.keyboard.press("Escape")
    deck.evaluate(f"Reveal.slide({len(SHOWN) + 1})")
    ran(deck, "bad")
    expect(deck.locator(f"{OUT} .err")).to_contain_text("KeyboardInterrupt")


def test_up_to_here_runs_all_before(deck):
    deck.keyboard.press("Shift+K")
    expect(deck.locator(SIGN)).to_contain_text("is starting")
    to(deck, "step_through")
    deck.keyboard.press("Shift+R")
    ran(deck)
    for name in ("print", "show"):
        to(deck, name)
        ran(deck)
        assert not deck.locator(OUT).is_visible(), "only the slide that is seen goes on"


def marked(page, out=OUT):
    """An output is seen to be of other code: a band across its width, nothing of it cut."""
    expect(page.locator(f"{out}.foreign")).to_have_count(1)
    words, wide, cut = page.locator(out).evaluate(
        """out => {
          const band = getComputedStyle(out, "::before"), box = out.closest(".out");
          const wide = parseFloat(band.width) / box.clientWidth;
          return [band.content, wide, box.scrollHeight - box.clientHeight];
        }"""
    )
    assert words == '"This output is not from the code shown here"'
    assert wide > 0.9
    assert cut <= 1


def unmarked(page):
    expect(page.locator("section.present .foreign")).to_have_count(0)


def test_an_output_is_marked_while_other_code_is_typed_beside_it(deck):
    typed(deck, "print", "kept = 41; kept + 1")
    deck.evaluate("Reveal.nextFragment()")
    marked(deck)
    deck.keyboard.press("Control+a")
    deck.keyboard.type("print('came', 'live')")
    unmarked(deck)
    deck.keyboard.press("Backspace")
    deck.keyboard.press("Escape")
    marked(deck)
    expect(deck.locator(SIGN)).not_to_contain_text("Stored")
    deck.keyboard.press("Shift+E")
    unmarked(deck)


def test_the_code_of_a_lab_is_edited_and_its_output_marked(deck):
    titles = deck.evaluate("Reveal.getSlides().map((slide) => slide.ariaLabel)")
    deck.evaluate(f"Reveal.slide({titles.index('Lab: ported')}, 0, -1)")
    expect(deck.locator(SIGN)).not_to_contain_text("Connecting")
    deck.keyboard.press("e")
    assert deck.locator(".typing").count() == 0, "its code is not seen yet"
    deck.keyboard.press("ArrowRight")
    deck.keyboard.press("e")
    expect(deck.get_by_label("Code of this slide")).to_be_focused()
    deck.keyboard.press("Control+a")
    deck.keyboard.type("print('typed')")
    deck.keyboard.press("Escape")
    marked(deck, "section.present .of")
    deck.keyboard.press("r")
    expect(deck.locator("section.present .of")).to_have_text("typed", timeout=LONG)
    unmarked(deck)
    deck.keyboard.press("Shift+E")
    marked(deck, "section.present .of")


def test_a_lab_that_runs_again_keeps_the_names_of_its_buttons_and_what_was_pressed(deck):
    titles = deck.evaluate("Reveal.getSlides().map((slide) => slide.ariaLabel)")
    deck.evaluate(f"Reveal.slide({titles.index('Lab: hooks')}, 0, -1)")
    buttons = deck.locator("section.present .player-action")
    for _ in range(2):
        deck.keyboard.press("r")
        deck.wait_for_selector("section.present .player-room:not([data-before])", timeout=LONG)
        deck.evaluate("document.querySelector('.present .player-room').dataset.before = ''")
        while deck.evaluate(STEP) < 2:
            deck.keyboard.press("ArrowRight")
        expect(buttons.locator("b")).to_have_text(NAMES)
        assert buttons.evaluate_all("all => all.map((one) => one.dataset.nr)") == [
            "1",
            *[""] * 4,
            "2",
        ]


def test_a_traceback_opens_whole_and_once_loaded_again_marks_no_line_that_did_not_fail(deck):
    pressed(deck, "traceback", "bad")
    assert deck.inner_text("section.present .err").startswith("ZeroDivisionError")
    deck.click("section.present summary")
    assert "return 1 / 0" in deck.inner_text("section.present details pre")
    deck.keyboard.press("Escape")
    deck.keyboard.press("e")
    deck.keyboard.press("Control+Home")
    deck.keyboard.type("print('other')\n" * 4)
    deck.keyboard.press("Escape")
    marked(deck)
    deck.reload()
    deck.wait_for_selector(".reveal.ready")
    to(deck, "traceback")
    deck.keyboard.press("ArrowRight")
    marked(deck)
    assert deck.locator("section.present .ln.failed").count() == 0
    deck.keyboard.press("Shift+E")
    unmarked(deck)
    assert deck.locator("section.present .ln.failed").all_inner_texts() == ["broken()"]


def test_every_window_says_without_a_key_that_the_kernel_was_killed(deck):
    typed(deck, "print", "import os; print(os.getpid())")
    deck.keyboard.press("Shift+Enter")
    expect(deck.locator(OUT)).to_have_text(re.compile(r"^\d+$"), timeout=LONG)
    pid = int(deck.inner_text(OUT))
    deck.keyboard.press("Shift+E")
    other = deck.context.new_page()
    to(entered(other, deck.url), "print")
    with deck.expect_popup() as opening:
        deck.keyboard.press("s")
    speaker = opening.value
    os.kill(pid, signal.SIGKILL)
    for page in (deck, other):
        expect(page.locator(SIGN)).to_contain_text("The kernel died.", timeout=5_000)
        marked(page)
    expect(speaker.locator("#room")).to_contain_text("The kernel died.")
    speaker.close()
    other.close()
    deck.keyboard.press("Shift+K")
    expect(deck.locator(SIGN)).to_have_text("Ran in the kernel before: R runs it", timeout=LONG)


def test_the_speakers_window_follows_runs_and_shows_the_next_step_as_they_will_see_it(deck):
    to(deck, "print")
    with deck.expect_popup() as opening:
        deck.keyboard.press("s")
    speaker = opening.value
    expect(speaker.locator("#slide")).to_contain_text("print")
    speaker.keyboard.press("r")
    deck.wait_for_selector("section.present[data-step='1']", timeout=LONG)
    expect(deck.locator(OUT)).to_have_text("came live")
    expect(speaker.locator("#then")).not_to_have_text("Next: more on this slide")
    to(deck, "print")
    foreign = speaker.locator("#picture .foreign")
    expect(foreign).to_have_count(0)
    typed(deck, "print", "print('typed')")
    deck.keyboard.press("Escape")
    expect(speaker.locator("#picture .ln")).to_have_text("print('typed')")
    expect(foreign).to_have_count(1)
    deck.keyboard.press("Shift+E")
    expect(foreign).to_have_count(0)
    speaker.close()


def test_a_connection_that_is_lost_is_said_and_what_came_meanwhile_is_seen_after(deck):
    to(deck, "loop")
    deck.keyboard.press("r")
    expect(deck.locator(OUT)).to_have_text("begun", timeout=LONG)
    deck.context.set_offline(True)
    deck.evaluate("dispatchEvent(new Event('offline'))")
    deck.context.set_offline(False)
    expect(deck.locator(SIGN)).to_contain_text("Running", timeout=LONG)
    deck.keyboard.press("Escape")
    ran(deck, "bad")


def test_nothing_of_the_way_in_stays_in_the_address_or_is_told_to_scripts(deck):
    assert "enter" not in deck.url
    assert deck.evaluate("document.cookie") == ""
    assert deck.evaluate("document.referrer") == ""
    assert "once" not in json.dumps(deck.evaluate("[{...localStorage}, {...sessionStorage}]"))


def test_on_a_wall_at_125_per_cent_all_fits(chromium, served, room):
    options = {"viewport": {"width": 1536, "height": 864}, "device_scale_factor": 1.25}
    with watched(chromium, noise=NOISE, **options) as watch:
        page = ready_again(entered(watch.page, served.next_address()))
        for name in ("print", "show", "step_through", "traceback"):
            pressed(page, name, "bad" if name == "traceback" else "done")
            beyond = page.evaluate(
                "(({ scrollWidth, scrollHeight, clientWidth, clientHeight }) => [scrollWidth - clientWidth, scrollHeight - clientHeight])(Reveal.getCurrentSlide())"
            )
            assert max(beyond) <= 1
            sign, title = (page.locator(one).bounding_box() for one in (SIGN, ".present h2"))
            assert sign["y"] >= 0
            assert sign["x"] > title["x"]
            photograph(page, f"live/wall-{name}")


# The server's end


@pytest.mark.thorough
def test_a_server_that_ends_is_said_and_a_new_one_says_what_to_do(chromium, tmp_path):
    nbformat.write(small(), tmp_path / "small.ipynb")
    server = Served(tmp_path / "small.ipynb")
    with watched(chromium, noise=NOISE) as watch:
        page = ready(entered(watch.page, server.address))
        server.close()
        expect(page.locator(SIGN)).to_have_text("No connection: stored outputs", timeout=LONG)
        page.keyboard.press("r")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(STEP) == 1
        expect(page.locator(OUT)).to_have_text("stored")
        server = Served(tmp_path / "small.ipynb", server.port)
        try:
            expect(page.locator(SIGN)).to_contain_text("has been restarted", timeout=LONG)
            page.keyboard.press("ArrowRight")
            entered(page, server.address)
            ready(page)
            pressed(page, "print")
            expect(page.locator(OUT)).to_have_text("came live")
        finally:
            server.close()
