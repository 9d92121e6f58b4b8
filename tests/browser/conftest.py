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


@pytest.fixture
def notebook(chromium, lab):
    """A window of JupyterLab with nothing open."""
    with window(chromium, lab) as (opened, _):
        yield opened
