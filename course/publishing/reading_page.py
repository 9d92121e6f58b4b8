"""Print a notebook as a page to read, one HTML string."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

from nbconvert.filters import Highlight2HTML, ansi2html
from nbformat import NotebookNode

from autograd_graphs.diagnosing.entries import lab_name
from course.publishing import assets
from course.publishing.addresses import led_to_pages, with_pictures
from course.publishing.cell_renderer import CellRenderer
from course.publishing.notebook_file import title_of
from course.publishing.prepare import prepared
from course.publishing.terminal import COLOUR

TEMPLATES = Path(__file__).parent / "templates" / "page"
# A script may write one: it stays as it is.
UNTOLD = re.compile(r"(<script\b.*?</script\s*>)|<img(?![^>]*\salt=)", re.DOTALL | re.IGNORECASE)
NOT_TOLD = '<img alt="A picture that came without a description"'


def page(notebook: NotebookNode, folder: Path, *, trust: bool = False) -> str:
    """Return a page to read, without notes; pictures of text cells are looked for in `folder`."""
    made = prepared(notebook, notes=False, trust=trust)
    for cell in made.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                html = led_to_pages(output.data["text/html"])
                if trust:
                    html = with_pictures(html, folder)
                output.data["text/html"] = UNTOLD.sub(lambda match: match[1] or NOT_TOLD, html)
    templates = assets.environment(TEMPLATES)
    names: set[str] = set()
    renderer = CellRenderer(folder, trust=trust)
    templates.filters |= {
        "text": lambda source: named(renderer.text(source), names),
        "code": Highlight2HTML(pygments_lexer=made.metadata.language_info.pygments_lexer),
        "coloured": ansi2html,
        "traceback_parts": traceback_parts,
    }
    shown = {"cells": made.cells, "title": title_of(made)}
    carried = {"styles": assets.styles("page"), "scripts": assets.scripts("page")}
    template = templates.get_template("page.html.j2")
    return template.render(policy=assets.policy("page", trust), **shown, **carried)


def named(html: str, names: set[str]) -> str:
    """Return a text cell with headings named as in JupyterLab; `names` are those given already."""

    def name_of(heading: re.Match) -> str:
        name = lab_name(unescape(re.sub(r"<[^>]*>", "", heading[2])))
        if name in names:
            return heading[0]
        names.add(name)
        return f'<h{heading[1]} id="{escape(name)}">{heading[2]}</h{heading[1]}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", name_of, html, flags=re.DOTALL)


def traceback_parts(output: NotebookNode) -> tuple[str, str]:
    """Return how an error came about, and what was raised: seen even where the first scrolls."""
    lines = "\n".join(output.get("traceback", [])).rstrip().split("\n")
    kind, at = output.get("ename", ""), 0
    for index, line in enumerate(lines):
        if kind and COLOUR.sub("", line).startswith(kind):
            at = index
    raised = "\n".join(lines[at:]) or f"{kind}: {output.get('evalue', '')}"
    return "\n".join(lines[:at]).rstrip(), raised
