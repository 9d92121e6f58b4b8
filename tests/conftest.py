"""Fixtures that several test files share."""

import pytest


@pytest.fixture
def unfolded(monkeypatch):
    """Let `check`, `hint` and `expect_error` print a sentence on one line, for tests that compare sentences."""
    for module in ("engine", "expect"):
        monkeypatch.setattr(f"helpers.exercises.{module}.fold", lambda text: text)
