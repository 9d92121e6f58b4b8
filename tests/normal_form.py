"""The one form in which a notebook is stored: same run, same bytes. Reads the sanitiser's file
only.
"""

import json
import re
from pathlib import Path

import nbformat
from nbval.plugin import coalesce_streams, get_sanitize_patterns

from autograd_graphs.playing.player import FILM
from course.workspace import is_claim
from helpers.predicting.prediction import ASKED

SANITISER = Path(__file__).with_name("nbval_sanitize.cfg")
PATTERNS = get_sanitize_patterns(SANITISER.read_text(encoding="utf-8"))
# paths in tracebacks: where this machine keeps packages and the standard library says nothing
INSTALLED = [
    (r"(?:~|[A-Za-z]:)?[/\\][^\s\x1b\"'(]*[/\\]site-packages[/\\]", "site-packages/"),
    (r"(?:~|[A-Za-z]:)?[/\\][^\s\x1b\"'(]*[/\\]python3[.0-9]*[/\\]", "python3/"),
]
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
KEPT_CELL_METADATA = {"slideshow", "tags", "course"}
FOLDED_AWAY = {"source_hidden": True}  # as JupyterLab calls a program that stands below anyway
INDEX = "index"  # the role of the first cell of a notebook for browsing, which makes no slides
# The role of a cell (metadata.course.role) gives its slide type. None: a `## ` heading begins a slide.
SLIDE_TYPE_OF_ROLE = {
    "title": "slide",
    "setup": "skip",
    "case": None,
    "question": None,
    "guess": "fragment",
    "run": "subslide",
    "because": "subslide",
    "notes": "notes",
    "lab": None,
    "text": None,
    "return": None,
    "try": "skip",
    "exercise": None,
    "stub": "fragment",
    "recap": "slide",
    "claim": "notes",  # nobody but the author sees it
}


def stored_text(notebook) -> str:
    """Return the normalised text of the .ipynb file for `notebook`."""
    notebook = nbformat.from_dict(json.loads(json.dumps(notebook)))
    for number, cell in enumerate(notebook.cells, start=1):
        _settle_cell(cell, number)
    if any(cell.metadata.get("course", {}).get("role") == INDEX for cell in notebook.cells):
        for cell in notebook.cells:
            if not is_claim(cell):
                cell.metadata["slideshow"] = nbformat.from_dict({"slide_type": "skip"})
    _settle_metadata(notebook)
    return _renamed_widgets(notebook, nbformat.writes(notebook, version=4).rstrip() + "\n")


def _settle_metadata(notebook):
    """Keep the kernel's name and the widgets in view."""
    shown = any(
        VIEW in output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
    widgets = notebook.metadata.get("widgets") if shown else None
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    if widgets and widgets.get(WIDGETS, {}).get("state"):
        notebook.metadata["widgets"] = widgets
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def _settle_cell(cell, number):
    """Trim one cell's source, metadata and outputs; a cell without an id gets one from its place."""
    cell.setdefault("id", f"cell-{number:02d}")
    cell.source = cell.source.rstrip()
    cell.metadata = nbformat.from_dict(
        {k: v for k, v in cell.metadata.items() if k in KEPT_CELL_METADATA}
    )
    derived = slide_type_of(cell)
    if derived:
        cell.metadata["slideshow"] = nbformat.from_dict({"slide_type": derived})
    if cell.metadata.get("course", {}).get("role") == "guess" and "\n" in cell.source:
        cell.metadata["jupyter"] = nbformat.from_dict(FOLDED_AWAY)
    if cell.cell_type == "code":
        cell.outputs = coalesce_streams(cell.outputs)
        for output in cell.outputs:
            _settle_output(output)


def slide_type_of(cell):
    """Return the slide type that the cell's role gives, or "" where it has no role, as in the
    glossary, or one that is not known.
    """
    role = cell.metadata.get("course", {}).get("role")
    if role not in SLIDE_TYPE_OF_ROLE:
        return ""
    if SLIDE_TYPE_OF_ROLE[role]:
        return SLIDE_TYPE_OF_ROLE[role]
    return "slide" if cell.source.lstrip().startswith("## ") else "subslide"


def _settle_output(output):
    """Replace addresses and paths in what a reader sees as text; encoded pictures stay as they are."""
    if "text" in output:
        output.text = sanitised(output.text)
    if "evalue" in output:
        output.evalue = sanitised(output.evalue)
        output.traceback = [without_machine(line) for line in output.traceback]
    data = output.get("data", {})
    # a player plays from its film, a prediction asks by its id; the widget with its script is made
    # anew where a kernel runs
    if FILM in data or ASKED in data:
        data.pop(VIEW, None)
    for kind in [kind for kind in data if kind in ("text/plain", "text/markdown")]:
        data[kind] = sanitised(data[kind])


def sanitised(text):
    """Return `text` with addresses and kernel file names replaced, exactly as nbval does before
    comparing.
    """
    for pattern, replacement in PATTERNS:
        text = re.sub(pattern, replacement, text)
    return text


def without_machine(line):
    """Return a line of a traceback without the directories of the machine that ran it."""
    for pattern, replacement in INSTALLED:
        line = re.sub(pattern, replacement, line)
    return sanitised(line)


def _renamed_widgets(notebook, text):
    """Number the widget models in the order of their creation: their own ids are random."""
    state = notebook.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {})
    names = {model: f"{number:032x}" for number, model in enumerate(state, start=1)}
    if not names or all(old == new for old, new in names.items()):
        return text
    text = re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], text)
    return nbformat.writes(nbformat.reads(text, as_version=4), version=4).rstrip() + "\n"
