"""Fixtures of the browser tests: Chromium lives as long as one file's tests, JupyterLab as long as
the worker that runs them.
"""

import lab_page
import pytest
from driver import browser, watched
from lab import Lab


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


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with Lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def notebook(chromium, lab):
    """A window of JupyterLab with nothing open."""
    with lab_page.window(chromium, lab) as (opened, _):
        yield opened
