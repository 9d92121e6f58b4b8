"""Fixtures of the browser tests: Chromium lives as long as one file's tests, JupyterLab as long as
the worker that runs them.
"""

import pytest
from driver import browser
from lab import Lab
from lab_page import window


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with Lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="module")
def one_window(chromium, lab):
    """A window of JupyterLab, which starts once for all tests of a file, and the watch over it."""
    with window(chromium, lab) as both:
        yield both


@pytest.fixture
def notebook(one_window, lab):
    """The window with nothing open, as large as ever; afterwards no error was seen in it."""
    notebook, watch = one_window
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    yield notebook
    notebook.leave()
    lab.stop_kernels()
    found = watch.foreign + watch.errors
    watch.foreign.clear()
    watch.errors.clear()
    assert found == []
