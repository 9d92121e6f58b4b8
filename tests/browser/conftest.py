"""Fixtures of the browser tests: Chromium lives as long as one file's tests, JupyterLab as long as
the worker that runs them.
"""

import lab_page
import pytest
from chromium import MISSING, under_ci
from chromium import chromium as program
from driver import browser, watched
from lab import Lab
from player_films import film_of
from player_page import SETTLED

from autograd_graphs.playing.player import page


@pytest.fixture(scope="session", autouse=True)
def installed():
    """Without a browser every test here is skipped, with the line that installs one; under CI it fails."""
    if not program():
        (pytest.fail if under_ci() else pytest.skip)(MISSING)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Put all tests that were skipped for want of a browser into one line of the summary."""
    report = yield
    if report.skipped and MISSING in str(report.longrepr):
        report.longrepr = ("tests/browser", None, f"Skipped: {MISSING}")
    return report


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def window(chromium):
    """A page whose clock stands still until it is told to go on."""
    with watched(chromium, viewport={"width": 960, "height": 600}) as watch:
        watch.page.clock.install(time=0)
        watch.page.clock.pause_at(1)  # installed alone, it would run on by itself
        yield watch.page


@pytest.fixture
def open_page(window, tmp_path):
    """Return a function that opens a page in the one window: light and still, unless told."""
    plain = {"color_scheme": "light", "reduced_motion": "reduce", "forced_colors": "none"}

    def start(html, size=(960, 600), focused=True, **media):
        (tmp_path / "film.html").write_text(html, encoding="utf-8")
        window.set_viewport_size({"width": size[0], "height": size[1]})
        window.emulate_media(**(plain | media))
        window.goto((tmp_path / "film.html").as_uri())
        window.clock.run_for(1000)
        if focused:
            window.focus(".player")
        return window

    return start


@pytest.fixture(scope="module")
def film_page(chromium, tmp_path_factory):
    """Return a function that opens the film of a program in one page whose clock goes on."""
    folder = tmp_path_factory.mktemp("films")
    with watched(chromium) as watch:

        def opened(name, size=(1280, 720), theme="light"):
            path = folder / f"{name}.html"
            if not path.exists():
                path.write_text(page(film_of(name)), encoding="utf-8")
            watch.page.set_viewport_size({"width": size[0], "height": size[1]})
            watch.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            watch.page.goto(path.as_uri())
            watch.page.evaluate(SETTLED)
            return watch.page

        yield opened


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with Lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def notebook(chromium, lab):
    """A window of JupyterLab with nothing open."""
    with lab_page.window(chromium, lab) as (opened, _):
        yield opened
