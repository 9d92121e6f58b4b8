"""The role of a cell gives its slide type, when a notebook is stored. No kernel runs."""

import json

import nbformat
import pytest
from normal_form import SLIDE_TYPE_OF_ROLE, stored_text

BY_HEADING = [role for role, kind in SLIDE_TYPE_OF_ROLE.items() if kind is None]


def stored_cell(source, **metadata):
    """Return the one cell of a notebook after it was stored."""
    cell = nbformat.v4.new_markdown_cell(source, metadata=metadata)
    made = nbformat.v4.new_notebook(cells=[cell])
    return nbformat.from_dict(json.loads(stored_text(made))["cells"][0])


@pytest.mark.parametrize(
    ("role", "kind"), [pair for pair in SLIDE_TYPE_OF_ROLE.items() if pair[1] is not None]
)
def test_the_slide_type_comes_from_the_role(role, kind):
    cell = stored_cell("## words", course={"role": role}, slideshow={"slide_type": "-"})
    assert cell.metadata.slideshow == {"slide_type": kind}


@pytest.mark.parametrize("role", BY_HEADING)
def test_a_heading_of_second_level_begins_a_slide(role):
    assert stored_cell("## 1 · A", course={"role": role}).metadata.slideshow.slide_type == "slide"
    below = stored_cell("### A\n\n## 2", course={"role": role}, slideshow={"slide_type": "slide"})
    assert below.metadata.slideshow.slide_type == "subslide"


def test_without_a_known_role_the_slide_type_stays():
    fragment = {"slide_type": "fragment"}
    assert stored_cell("A", slideshow=fragment).metadata.slideshow == fragment
    cell = stored_cell("A", course={"role": "verse"}, slideshow=fragment)
    assert cell.metadata.slideshow == fragment
    assert cell.metadata.course == {"role": "verse"}


def test_what_a_question_carries_is_kept():
    course = {"role": "question", "id": "99.q1", "right": "b", "minutes": 1}
    assert stored_cell("## 1 · A", course=course, tags=["b"]).metadata.course == course
