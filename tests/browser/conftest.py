"""Fixtures of the browser tests. All live as long as one file's tests: then Chromium and JupyterLab are stopped."""

import pytest
from driver import browser
from lab import Lab
from lab_page import window


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    with Lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def notebook(chromium, lab):
    """A window of JupyterLab with nothing open."""
    with window(chromium, lab) as (opened, _):
        yield opened
