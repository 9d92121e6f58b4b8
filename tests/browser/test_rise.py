"""Live slides in Chromium, as `make present` starts them: cells run, labs and traces play, focus
decides on keys.
"""

import subprocess

import nbformat
import pytest
from driver import checked, photograph, watched
from lab import KERNELSPEC, OPTIONS, Lab

from course import present

pytestmark = pytest.mark.browser
SLIDE = ".slides section.present section.present"
EDITOR = f"{SLIDE} .jp-CodeCell .cm-content"
HERE = f"document.querySelector('{SLIDE}')"
RUN = f"""(number) => {HERE}.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[number].textContent.match(/\\d/)"""
PLACES = """[...document.querySelectorAll('.slides section section')].map((one) =>
    [one.id, one.querySelectorAll('.fragment').length - 1]).map(([id, last]) => last < 0 ? id : `${id}/${last}`)"""
BOTTOM = f"""Math.max(...[...{HERE}.querySelectorAll('.jp-Cell')].map((one) => one.getBoundingClientRect().bottom))"""
NOISE = (  # the RISE app's own
    # the Notebook's extension, which it cannot load
    "Error: The getter for the shared module is not a function",
    "RangeError: Maximum call stack size exceeded",  # its toolkit's design tokens, at the start
    "Refused to apply style from",  # it asks for a style named like the lesson, and there is none
    # the two small views in the speaker's window talk to the same kernel
    "Comm not found for comm id",
)
CELLS = "[...document.querySelectorAll('.jp-Cell')].map((one) => one.querySelector('.cm-content')?.innerText ?? '')"
LAB_KEYS = ("1", "2", "3", "u", "r", "ArrowLeft", "ArrowRight")
PLAYER_KEYS = [
    "ArrowRight",
    "ArrowLeft",
    "End",
    "Home",
    "g",
    "2",
    "Enter",
    "g",
    "n",
    "i",
    "f",
    "/",
    "+",
    "-",
    "0",
    "Shift+ArrowUp",
    "Shift+ArrowLeft",
    "o",
    " ",
    " ",
]
INSIDE = f"""[...{HERE}.querySelectorAll('.player, .player-panel, .player-eq')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
    .map((one) => one.className)"""
MADE = [
    ("slide", "# 90 · Live"),
    ("skip", "import torch\n\nfrom helpers import labs, step_through"),
    ("slide", "## A sum"),
    ("fragment", "torch.tensor(2.0) + 1"),
    ("notes", "Wait for the hands."),
    ("slide", "labs.requires_grad()"),
    ("subslide", "a = torch.tensor(2.0, requires_grad=True)\nstep_through(a * a)"),
    ("subslide", "print(*range(100), sep='\\n')"),
    ("fragment", "'the end'"),
]


class Stage(Lab):
    """A server as `make present` starts it: on lesson 90, which is made for these tests, beside the
    real ones.
    """

    def __enter__(self):
        self.hand_out()
        cells = [made(slide, source) for slide, source in MADE]
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
        nbformat.write(notebook, self.folder / "notebooks" / "90_live.ipynb")
        started = self.prepare("90")
        with open(self.folder / "lab.log", "wb") as log:
            self.server = subprocess.Popen(
                **started, stdout=log, stderr=log, start_new_session=True
            )
        self.address, self.token = self.listening()
        return self

    def prepare(self, number):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            return present.prepare([number, *OPTIONS], self.folder)


def made(slide, source):
    text = slide == "notes" or source.startswith("#")
    make = nbformat.v4.new_markdown_cell if text else nbformat.v4.new_code_cell
    return make(source, metadata={"slideshow": {"slide_type": slide}})


class Slides:
    """Hold a page of RISE; what is read is what the slide shows that is seen."""

    def __init__(self, page, stage):
        self.page, self.stage = page, stage

    def open(self, name):
        self.page.goto(f"{self.stage.address}/rise/present/{name}?token={self.stage.token}")
        self.page.wait_for_selector(SLIDE)
        return self

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def go(self, *keys, to):
        """Press keys until the place in the address is `to`."""
        self.press(*keys)
        self.page.wait_for_url(f"**#/slide-{to}")
        return self

    def run(self, number=0):
        """Run the selected cell, and wait until that code cell of the slide has a number."""
        self.press("Shift+Enter").page.wait_for_function(RUN, arg=number)
        return self

    def sees(self, text):
        self.page.wait_for_function(f"(text) => {HERE}.innerText.includes(text)", arg=text)

    def place(self):
        return self.page.url.rpartition("#")[2]

    def focus(self):
        return self.page.evaluate("document.activeElement.className")


@pytest.fixture(scope="module")
def stage(chromium, tmp_path_factory):
    with Stage(tmp_path_factory.mktemp("stage")) as running:
        yield running


@pytest.fixture
def slides(chromium, stage):
    """Slides in a window of their own; all windows share what was fetched of the scripts."""
    with checked(stage.context(chromium), NOISE) as watch:
        yield Slides(watch.page, stage)
        for other in watch.page.context.pages:
            if other != watch.page:
                other.close()
    stage.stop_kernels()


def test_a_cell_is_edited_and_run_in_its_slide(slides):
    slides.open("90_live.ipynb").go(" ", to="0-1").run()
    slides.go(" ", to="1-0").go(" ", to="1-0/0").run().sees("tensor(3.)")
    assert slides.place() == "/slide-1-0/0", "running a cell stays where its output is"
    slides.page.click(EDITOR)
    slides.press("Control+a").page.keyboard.insert_text("torch.tensor(20.0) + 1")
    slides.press("Shift+Enter").sees("tensor(21.)")
    slides.go("ArrowRight", to="2-0")
    master = (slides.stage.folder / "notebooks" / "90_live.ipynb").read_text(encoding="utf-8")
    assert "20.0" not in master


def test_a_lab_and_a_trace_play_and_keep_their_keys_until_escape(slides):
    page = slides.open("90_live.ipynb").go(" ", to="0-1").run().page
    slides.go(" ", to="1-0").go(" ", to="1-0/0").go(" ", to="2-0").run()
    sentence = f"{SLIDE} .player-title"
    page.wait_for_selector(sentence)
    before = page.inner_text(sentence)
    page.click(f"{SLIDE} .player-action")
    after = page.inner_text(sentence)
    assert before != after
    slides.press("u")
    assert page.inner_text(sentence) == before
    slides.press("1", "d", "d", "Home", "ArrowRight", "ArrowLeft", "b", "w")
    assert (page.inner_text(sentence), slides.place()) == (after, "/slide-2-0")
    slides.press("Escape")
    assert "jp-Cell" in slides.focus()
    slides.go(" ", to="2-1").run()
    page.wait_for_selector(f"{SLIDE} .player-say")
    page.focus(f"{SLIDE} .player")
    slides.press("ArrowRight", "ArrowRight")
    assert page.inner_text(f"{SLIDE} .player-count") == "step 2 of 2"
    assert slides.place() == "/slide-2-1"
    page.mouse.click(1260, 300)
    slides.go(" ", to="2-2")


def test_no_documented_key_of_a_lab_or_a_trace_edits_the_notebook(slides):
    page = slides.open("90_live.ipynb").go(" ", to="0-1").run().page
    slides.go(" ", to="1-0").go(" ", to="1-0/0").go(" ", to="2-0").run()
    page.wait_for_selector(f"{SLIDE} .player-title")
    for keys, to in ((LAB_KEYS, "2-1"), (PLAYER_KEYS, "2-2")):
        before = [page.evaluate(CELLS), slides.place()]
        for key in keys:
            page.focus(f"{SLIDE} .player")
            slides.press(key, *("Escape" for _ in range(key == "/")))
            assert [page.evaluate(CELLS), slides.place()] == before, key
        slides.press("Escape")
        assert "jp-Cell" in slides.focus()
        slides.go(" ", to=to).run()
        if to == "2-1":
            page.wait_for_selector(f"{SLIDE} .player-say")


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_trace_is_seen_whole_in_its_slide(chromium, stage, size):
    width, height = size
    with watched(chromium, NOISE, viewport={"width": width, "height": height}) as watch:
        slides = Slides(watch.page, stage).open("90_live.ipynb").go(" ", to="0-1").run()
        slides.page.evaluate("location.hash = '#/slide-2-1'")
        slides.page.wait_for_url("**#/slide-2-1")
        slides.run().page.wait_for_selector(f"{SLIDE} .player-wide")
        assert slides.page.evaluate(f"{HERE}.scrollHeight <= {HERE}.clientHeight")
        size = slides.page.evaluate(f"getComputedStyle({HERE}.querySelector('.player')).fontSize")
        assert float(size.removesuffix("px")) >= 18
        assert slides.page.evaluate(INSIDE) == []
    stage.stop_kernels()


def test_a_key_hit_by_mistake_changes_no_cell(slides):
    slides.open("90_live.ipynb").go(" ", to="0-1")
    count = "document.querySelectorAll('.jp-Cell').length"
    before = slides.page.evaluate(count)
    slides.press(*"ddbaxvcmy1")
    assert (slides.page.evaluate(count), slides.place()) == (before, "/slide-0-1")
    assert slides.page.inner_text(SLIDE).strip().endswith("import labs, step_through")


def test_what_is_too_tall_scrolls_and_a_new_fragment_comes_into_sight(slides):
    page = slides.open("90_live.ipynb").page
    slides.press("End").page.wait_for_url("**#/slide-2-0")
    slides.go("ArrowDown", to="2-1").go("ArrowDown", to="2-2").run().sees("99")
    page.mouse.move(640, 300)
    page.mouse.wheel(0, 9999)
    page.wait_for_function(f"{HERE}.scrollTop > 900")
    page.mouse.wheel(0, -9999)
    page.wait_for_function(f"{HERE}.scrollTop === 0")
    slides.go(" ", to="2-2/0").page.wait_for_function(f"{HERE}.scrollTop > 900")


def test_the_speaker_has_the_notes_in_a_window_of_their_own(slides):
    slides.open("90_live.ipynb").go(" ", to="0-1").go(" ", to="1-0")
    with slides.page.context.expect_page() as opened:
        slides.press("t")
    opened.value.wait_for_function("document.body.innerText.includes('Wait for the hands.')")


def test_the_shim_fits_the_installed_lab(slides):
    said = []
    slides.page.on("console", lambda message: said.append(message.text))
    slides.open("90_live.ipynb")
    about = [text for text in said if "@jupyterlab/console" in text]
    assert not about, f"the shim in course/rise_shim does not fit this JupyterLab any more: {about}"


def test_without_the_shim_widgets_do_not_load(chromium, stage):
    package = (
        stage.folder
        / "work"
        / "present"
        / ".jupyter"
        / "labextensions"
        / present.NAME
        / "package.json"
    )
    package.rename(package.with_suffix(".away"))
    try:
        with watched(chromium, noise=("",)) as watch:
            Slides(watch.page, stage).open("90_live.ipynb")
            for to in ("0-1", "2-0"):
                watch.page.evaluate(f"location.hash = '#/slide-{to}'")
                watch.page.click(EDITOR)
                watch.page.keyboard.press("Control+Enter")
                watch.page.wait_for_function(RUN, arg=0)
            watch.page.wait_for_selector(f"{SLIDE} .jp-OutputArea-output")
            found = watch.page.locator(f"{SLIDE} .player").count()
    finally:
        package.with_suffix(".away").rename(package)
        stage.stop_kernels()
    assert not found, (
        "RISE draws widgets without the shim: take the stub of @jupyterlab/console out of course/rise_shim."
    )


@pytest.mark.parametrize("number", ["02", "04"])
def test_a_lesson_is_presented_from_end_to_end(slides, stage, number):
    """Every slide is run; nothing is wider than it, and what is too tall is
    reached by scrolling.
    """
    address = next(word for word in stage.prepare(number)["args"] if "/rise/" in word)
    page = slides.open(address.rpartition("/")[2]).page
    places = page.evaluate(PLACES)
    assert len(places) > 15
    for place in places:
        page.evaluate(f"location.hash = '#/{place}'")
        page.wait_for_url(f"**#/{place}")
        for cell in page.query_selector_all(f"{SLIDE} .jp-CodeCell:not(.reveal-skip)"):
            cell.focus()
            slides.press("Shift+Enter")
            page.wait_for_function(
                "(cell) => /\\d/.test(cell.querySelector('.jp-InputPrompt').textContent)", arg=cell
            )
        photograph(page, f"present/{number}-{place.replace('/', '-')}")
        assert page.evaluate(f"{HERE}.scrollWidth <= {HERE}.clientWidth"), (
            f"{place} is wider than the screen"
        )
        page.evaluate(f"{HERE}.scrollTo(0, 1e6)")
        assert page.evaluate(BOTTOM) <= 720, f"the end of {place} cannot be reached"
