"""Whatever lesson 01 tells readers to write instead of old code is run there.

Reads the notebook only.
"""

import re
from pathlib import Path

import pytest
from notebook_rules import Lesson

LESSON = Path(__file__).parent.parent / "notebooks" / "01_variable_to_tensor.ipynb"


@pytest.mark.notebooks
def test_every_right_hand_side_of_the_migration_table_runs_in_a_cell():
    lesson = Lesson.at(LESSON)
    table = next(cell.source for cell in lesson.cells if "### Migration table" in cell.source)
    rows = re.findall(r"(?m)^\| `.+?` \| (.+) \|$", table)
    advice = [code for row in rows for code in re.findall(r"`(.+?)`", row)]
    run = [cell.source for cell in lesson.code if not cell.errors]
    assert len(rows) >= 9
    assert [
        code for code in advice if not any(re.search(rf"\b{re.escape(code)}", cell) for cell in run)
    ] == []
