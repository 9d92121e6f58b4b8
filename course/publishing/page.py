"""Print a notebook as a page to read, one HTML string, by nbconvert and the templates beside this
module.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from course.publishing import assets
from course.publishing.addresses import embedded, led_to_pages
from course.publishing.inert import clean
from course.publishing.naming import title_of
from course.publishing.prepare import prepared
from course.publishing.wording import ticked
from helpers.clinic.entries import lab_name

TEMPLATES = Path(__file__).parent / "templates"
PLAIN = re.compile(r"\x1b\[[0-9;]*m")


def page(notebook: NotebookNode, folder: Path, *, trust: bool = False) -> str:
    """Return a page to read, without notes; pictures of text cells are looked for in `folder`."""
    made = prepared(notebook, notes=False, trust=trust)
    for cell in made.cells:
        cell.metadata.slideshow.slide_type = ""
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = led_to_pages(output.data["text/html"])
    html = printed(made, folder, trust)
    return html.replace("<table", '<table tabindex="0"')  # a wide one scrolls, by the keyboard too


def printed(notebook: NotebookNode, folder: Path, trust: bool) -> str:
    """Return a prepared notebook as one HTML string."""
    config = Config()
    config.TemplateExporter.extra_template_basedirs = [str(TEMPLATES)]
    config.HTMLExporter.exclude_anchor_links = True
    names: set[str] = set()
    filters = {
        "published": lambda html: named(finished(html, folder, trust), names),
        "traceback_parts": traceback_parts,
    }
    made = HTMLExporter(
        template_name="published", template_file="page.html.j2", config=config, filters=filters
    )
    ours = {
        "title": title_of(notebook),
        "policy": assets.policy("page", trust),
        "styles": assets.styles("page"),
        "scripts": assets.scripts("page"),
        "trusted": trust,
    }
    return made.from_notebook_node(notebook, resources={"ours": ours})[0]


def finished(html: str, folder: Path, trust: bool) -> str:
    """Return a text cell in HTML: its pictures in it, links to notebooks lead to what is published
    of them.
    """
    html = ticked(led_to_pages(html))
    return html if trust else clean(html, lambda address: embedded(address, folder), rendered=True)


def named(html: str, names: set[str]) -> str:
    """Return a text cell in HTML, its headings named as JupyterLab names them, so that links lead
    there; `names` are those that are given already.
    """

    def name_of(heading: re.Match) -> str:
        name = lab_name(unescape(re.sub(r"<[^>]*>", "", heading[2])))
        if name in names:
            return heading[0]
        names.add(name)
        return f'<h{heading[1]} id="{escape(name)}">{heading[2]}</h{heading[1]}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", name_of, html, flags=re.DOTALL)


def traceback_parts(output: NotebookNode) -> tuple[str, str]:
    """Return how an error came about, and what was raised: it is seen even where the first part
    scrolls.
    """
    lines = "\n".join(output.get("traceback", [])).rstrip().split("\n")
    start = output.get("ename", "")
    at = max(
        (nr for nr, line in enumerate(lines) if start and PLAIN.sub("", line).startswith(start)),
        default=0,
    )
    return "\n".join(lines[:at]).rstrip(), "\n".join(
        lines[at:]
    ) or f"{start}: {output.get('evalue', '')}"
