"""Every row of the truth table has its lesson, and every lesson that exists treats its rows."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CLAIMS = tomllib.loads((ROOT / "tests" / "claims.toml").read_text(encoding="utf-8"))["claim"]
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
BROKEN = re.compile("â€|Ã.|Â[ \u00a0]")  # UTF-8 read as Latin-1


def treated(lesson):
    """Return the keys that the cells of a lesson carry, each with the id of the first such cell."""
    cells = json.loads(LESSONS[lesson].read_text(encoding="utf-8"))["cells"]
    return {
        key: cell["id"] for cell in reversed(cells) for key in cell["metadata"].get("claims", [])
    }


def due(lesson):
    return {claim["key"]: claim.get("cell") for claim in CLAIMS if claim["lesson"] == lesson}


def test_the_table_is_whole():
    keys = [claim["key"] for claim in CLAIMS]
    assert len(keys) == len(set(keys)) == 56
    for claim in CLAIMS:
        assert re.fullmatch(r"00[0-3]:\S+", claim["key"]), claim
        assert claim["says"]
        assert claim["verdict"]
        assert re.fullmatch(r"(0[1-9]|1[01])", claim["lesson"]) or claim["reason"], claim


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_treats_its_rows_and_no_others(lesson):
    here, wanted = treated(lesson), due(lesson)
    missing, alien = sorted(set(wanted) - set(here)), sorted(set(here) - set(wanted))
    assert not missing, f"lesson {lesson}: no cell carries {missing} in its metadata"
    assert not alien, f"lesson {lesson}: {alien} is not its row in claims.toml"
    assert here == wanted, f"lesson {lesson}: claims.toml names other cells"


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_character_is_broken(lesson):
    assert not BROKEN.search(LESSONS[lesson].read_text(encoding="utf-8"))


def test_broken_characters_are_seen():
    assert BROKEN.search("PyTorchâ€™s")
