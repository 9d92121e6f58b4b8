"""Every figure is the one its code draws, and the timeline can be read."""

import re
import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from test_palette import contrast

FIGS = Path(__file__).parent.parent / "figs"
TIMELINE = FIGS / "timeline.svg"
SVG = "{http://www.w3.org/2000/svg}"
# JupyterLab shows the picture at least at this part of its own width, beside an open side bar
SHOWN = 0.9


@pytest.fixture(scope="module")
def picture():
    return ET.parse(TIMELINE).getroot()


@pytest.mark.parametrize("script", sorted(FIGS.glob("*.py")), ids=lambda path: path.stem)
def test_a_figure_is_what_its_code_draws(script):
    drawn = [runpy.run_path(str(script))["draw"]() for _ in range(2)]
    assert drawn[0] == drawn[1]
    stored = script.with_suffix(".svg").read_bytes()
    assert stored == drawn[0].encode(), f"run: python figs/{script.name}"


def test_every_figure_has_its_code():
    assert {path.stem for path in FIGS.glob("*.svg")} == {path.stem for path in FIGS.glob("*.py")}


def looks(picture):
    """Return the fill of each class, light and dark."""
    css = picture.find(f"{SVG}style").text
    light, dark = css.split("@media(prefers-color-scheme:dark)")
    return [dict(re.findall(r"\.(\w+){fill:(#\w{6})", rules)) for rules in (light, dark)]


def test_every_text_can_be_read_on_every_ground_in_the_picture(picture):
    for fills in looks(picture):
        grounds = {fills[rect.get("class")] for rect in picture.iter(f"{SVG}rect")}
        assert len(grounds) == 4
        for text in picture.iter(f"{SVG}text"):
            assert float(text.get("font-size")) * SHOWN >= 12, text.text
            for ground in grounds:
                assert contrast(fills[text.get("class")], ground) >= 4.5, (text.text, ground)
