"""Rules about the run whose outputs are stored: complete, in order, errors only where announced."""

import re

from normal_form import WIDGETS, stored_text

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def every_code_cell_was_run_in_order(lesson):
    """nbval compares nothing in a cell without a count, so a stripped notebook would pass."""
    counts = [cell.node["execution_count"] for cell in lesson.code]
    for expected, (cell, count) in enumerate(zip(lesson.code, counts, strict=True), start=1):
        if count != expected:
            yield f"{cell} has execution count {count}, not {expected}: run `make refresh N={lesson.number}`."


def errors_stand_only_where_they_are_announced(lesson):
    """An error without its tag is an accident; a tag without an error promises one that does not
    come.
    """
    for cell in lesson.code:
        announced = "raises-exception" in cell.tags
        if cell.errors and not announced:
            yield f"{cell} raised {cell.errors[0]['ename']}: repair it; if meant, tag it `raises-exception`."
        if announced and not cell.errors:
            yield f"{cell} is tagged `raises-exception` and raised nothing: remove the tag, or let it fail."


def one_traceback_is_genuine(lesson):
    """One error at most is read as it comes; the others go through `attempt()`."""
    found = [cell for cell in lesson.cells if "raises-exception" in cell.tags]
    if len(found) > 1:
        yield f"it has more than one cell tagged `raises-exception`, {', '.join(map(str, found))}: the others use attempt()."


def no_output_is_exempt_from_comparison(lesson):
    """nbval knows tags and comments that switch the comparison off."""
    for cell in lesson.code:
        marks = [tag for tag in cell.tags if tag.startswith("nbval")]
        marks += re.findall(r"NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT", cell.source)
        if marks:
            yield f"{cell} says {', '.join(marks)}: remove it and show what is the same in every run."


def widgets_are_saved_with_the_notebook(lesson):
    """A widget without its saved state is an error message for whoever opens the notebook with no
    kernel.
    """
    saved = lesson.node.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {})
    for cell in lesson.code:
        views = [
            output["data"][WIDGET_VIEW]
            for output in cell.outputs
            if WIDGET_VIEW in output.get("data", {})
        ]
        if any(view["model_id"] not in saved for view in views):
            yield f"{cell} shows a widget whose state is not saved: run `make refresh N={lesson.number}`."


def it_is_stored_in_normal_form(lesson):
    """Kernel name, ids, metadata and layout of the file are those that `make refresh` writes."""
    if lesson.text != stored_text(lesson.node):
        yield f"the file is not in the form that `make refresh N={lesson.number}` writes: run it."


RULES = (
    every_code_cell_was_run_in_order,
    errors_stand_only_where_they_are_announced,
    one_traceback_is_genuine,
    no_output_is_exempt_from_comparison,
    widgets_are_saved_with_the_notebook,
    it_is_stored_in_normal_form,
)
