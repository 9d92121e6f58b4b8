"""The lessons as pages that open from disk: lays their sources out in a scratch folder, where
Sphinx builds them.

Reads the notebooks, README.md and figs/ beside them, and what is in templates/site/; writes only
the folder it is given.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
import tempfile
from io import StringIO
from pathlib import Path
from urllib.parse import unquote

import nbformat

from autograd_graphs.diagnosing.entries import entries, lab_name, plain
from autograd_graphs.playing import player
from course.publishing.notebook_file import Unpublishable, read_run
from course.publishing.prepare import prepared
from course.workspace import PAGE, UNNUMBERED
from helpers.clinic import filter_box
from helpers.predicting import prediction

TEMPLATES = Path(__file__).parent / "templates"
STYLES = [TEMPLATES / "site" / "site.css", TEMPLATES / "shared" / "wide.css"]
SCRIPTS = [TEMPLATES / "site" / "site.js", TEMPLATES / "shared" / "wide.js"]
MORE = (*UNNUMBERED, PAGE)  # pages at the end, once there is a notebook of that name
LINK = re.compile(rf'href="((?:\d\d_\w+|{"|".join(MORE)})\.ipynb)?(#[^"]*)?"')
CELL = "cell-id="
TO_CELL = re.compile(r"\]\((\w+)\.ipynb#cell-id=([\w-]+)\)")
HEADING = re.compile(r"#+ +(.*)")
HEADS = {
    "player-slot": player.head,
    "glossary-box": filter_box.head,
    "prediction-slot": prediction.head,
}
MARK = "searchindex.js"  # a folder with this file is one that we may write anew
SETTINGS = {
    "project": "The graphs behind PyTorch's gradients",
    "language": "en",
    "smartquotes": False,  # messages of errors stand in text, and are searched for as they are
    # the second adds the one empty file that this host wants
    "extensions": ["myst_nb", "sphinx.ext.githubpages"],
    "nb_execution_mode": "off",  # outputs are stored, and compared by the tests
    "nb_ipywidgets_js": {},  # no widget manager: our players need none
    "myst_enable_extensions": [],  # formulas are MathML by now, and a dollar is a dollar
    # links to headings are those that JupyterLab follows
    "myst_heading_anchors": 3,
    "myst_heading_slug_func": "autograd_graphs.diagnosing.entries.lab_name",
    # a level left out: MyST puts the heading one below its parent, as it should be
    "suppress_warnings": ["myst.header"],
    "html_theme": "furo",
    "html_title": "The graphs behind PyTorch's gradients",
    "templates_path": [str(TEMPLATES / "site")],
    "html_static_path": [str(path) for path in (*STYLES, *SCRIPTS)],
    "html_css_files": [path.name for path in STYLES],
    "html_js_files": [path.name for path in SCRIPTS],
    # it fetches pages, which a browser forbids to pages from disk
    "html_show_search_summary": False,
    "html_show_copyright": False,
    "html_copy_source": False,
    "html_use_index": False,
}


def build(notebooks: Path, out: Path) -> int:
    """Write the pages of the notebooks in a folder to `out`; return how many. Raises Unpublishable."""
    paths = chosen(notebooks)
    if not paths:
        raise Unpublishable(f"There is no lesson in {notebooks}, no notebook like 01_topic.ipynb.")
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file()):
        raise Unpublishable(f"{out} holds something other than pages. Name a different folder.")
    with tempfile.TemporaryDirectory() as scratch:
        source, made = Path(scratch, "source"), Path(scratch, "pages")
        lay_out(paths, notebooks.resolve().parent, source)
        run_sphinx(source, made, Path(scratch, "doctrees"))
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out, ignore=shutil.ignore_patterns(".buildinfo"))
    return len(paths)


def chosen(notebooks: Path) -> list[Path]:
    """Return the notebooks that become pages, in the order of the course."""
    paths = sorted(notebooks.glob("[0-9][0-9]_*.ipynb"))
    for name in MORE:
        paths += notebooks.glob(f"{name}.ipynb")
    return paths


def lay_out(paths: list[Path], course: Path, source: Path) -> None:
    """Write what Sphinx reads: the prepared notebooks, the figures that they show, and the index."""
    (source / "lessons").mkdir(parents=True)
    if (course / "figs").is_dir():
        shutil.copytree(course / "figs", source / "figs")
    pages, headings = {}, {}
    for path in paths:
        pages[path] = prepared(read_run(path), notes=False)
        for cell in pages[path].cells:
            headings[path.stem, cell.id] = cell.source
    for path, notebook in pages.items():
        lead_to_headings(notebook, headings)
        lead_to_pages(notebook)
        hide_reasons(notebook)
        nbformat.write(notebook, source / "lessons" / path.name)
    (source / "index.md").write_text(index(course, pages), encoding="utf-8")


def lead_to_headings(notebook: nbformat.NotebookNode, texts: dict[tuple[str, str], str]) -> None:
    """Let links in text cells that name a cell of another notebook lead to the heading there."""

    def led(link: re.Match) -> str:
        heading = HEADING.match(texts.get((link[1], link[2]), ""))
        if not heading:
            return link[0]
        return f"](<{link[1]}.ipynb#{lab_name(plain(heading[1]))}>)"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = TO_CELL.sub(led, cell.source)


def lead_to_pages(notebook: nbformat.NotebookNode) -> None:
    """Let links in outputs lead to pages; Sphinx itself sees to those in text cells."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = LINK.sub(_led_to_page, output.data["text/html"])


def _led_to_page(link: re.Match) -> str:
    """Return a link to a notebook, or to a heading of one, as one to its page."""
    notebook, heading = link[1] or "", link[2] or ""
    return f'href="{notebook.replace(".ipynb", ".html")}{page_name(heading)}"'


def page_name(fragment: str) -> str:
    """Return the place in a page that JupyterLab calls "#Heading" or "#cell-id=entry"; or ""."""
    from docutils.nodes import make_id

    name = html.unescape(unquote(fragment[1:]))
    if name.startswith(CELL):
        anchors = {entry.cell: entry.anchor for entry in entries()}
        name = anchors.get(name.removeprefix(CELL), "")
    return f"#{make_id(name)}" if name else ""


def hide_reasons(notebook: nbformat.NotebookNode) -> None:
    """Put each text that waits for a guess into an element that the script of the page can hide."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and "cell_after" in cell.metadata:
            cell.source = f"{begin_hidden(cell.metadata.cell_after)}\n\n{cell.source}\n\n</div>"


def begin_hidden(question: str) -> str:
    return f'<div class="prediction-after" data-after="{html.escape(question)}">'


def hide_answers(app: object, doctree: object, name: str) -> None:
    """Do the same with code that waits for a guess, or with its outputs alone."""
    from docutils import nodes

    for cell in list(doctree.findall(nodes.container)):
        metadata = cell.get("cell_metadata", {})
        waiting = {cell: metadata.get("cell_after")}
        for part in cell.children:
            if "cell_output" in part["classes"]:
                waiting[part] = metadata.get("outputs_after")
        for part, question in waiting.items():
            if question:
                begin = nodes.raw("", begin_hidden(question), format="html")
                end = nodes.raw("", "</div>", format="html")
                part.parent.replace(part, [begin, part, end])


def index(course: Path, pages: dict[Path, nbformat.NotebookNode]) -> str:
    """Return the first page: how the README begins, then what one can do after each lesson."""
    readme = course / "README.md"
    opening = f"# {SETTINGS['project']}\n"
    if readme.is_file():
        opening = readme.read_text(encoding="utf-8").partition("\n## ")[0]
    listed, tree = [], ["```{toctree}", ":hidden:", ""]
    for path, notebook in pages.items():
        title, promise = outline(path, notebook)
        listed.append(f"## [{title}](lessons/{path.stem}.ipynb)\n\n{promise}")
        # In the list at the side a title is plain text.
        tree.append(f"{title.replace('`', '')} <lessons/{path.stem}>")
    return "\n\n".join([opening, *listed, "\n".join([*tree, "```"])])


def outline(path: Path, notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """Return the title of a lesson, with its number, and its "you will be able to" as a list."""
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    heading = re.search(r"^# (?:\d\d · )?(.+)", first, re.M)
    title = heading[1] if heading else path.stem
    number = re.match(r"\d\d", path.stem)
    if not number:
        return title, ""
    promise = re.search(r"(?:^- .+\n(?:  .+\n)*)+", first + "\n", re.M)
    able = f"After it you will be able to\n\n{promise[0]}" if promise else ""
    return f"{number[0]} · {title}", able


def run_sphinx(source: Path, made: Path, doctrees: Path) -> None:
    """Build; every warning is an error. Raises Unpublishable with what Sphinx said."""
    try:
        from sphinx.application import Sphinx
        from sphinx.errors import SphinxError
        from sphinx.util.console import strip_escape_sequences
        from sphinx.util.docutils import docutils_namespace
    except ImportError as error:
        said = f"{error}. Pages are built with Sphinx: `make pages` installs it."
        raise Unpublishable(said) from None
    said = StringIO()
    try:
        with docutils_namespace():
            places = (source, None, made, doctrees)
            how = {"status": None, "warning": said, "warningiserror": True}
            app = Sphinx(*places, "html", SETTINGS, **how)
            app.connect("doctree-resolved", hide_answers)
            app.connect("html-page-context", with_scripts)
            app.build()
            failed = app.statuscode
    except SphinxError as error:
        failed = str(error)
    if failed:
        why = strip_escape_sequences(said.getvalue()).strip() or failed
        raise Unpublishable(f"Sphinx didn't build the pages: {why}".replace(f"{source}/", ""))


def with_scripts(app: object, name: str, template: str, context: dict, doctree: object) -> None:
    """Give a page the style and script of what it has: players, the filter box, questions."""
    for mark, head in HEADS.items():
        if f'class="{mark}"' in context.get("body", ""):
            context["metatags"] = context.get("metatags", "") + head()


def main(words: list[str] | None = None) -> None:
    """Build the pages of a course; end with one sentence where that cannot be."""
    parser = argparse.ArgumentParser("python -m course.publishing.site", description=main.__doc__)
    parser.add_argument("notebooks", type=Path, help="the folder of the lessons")
    helped = "the folder for the pages; what was in it is removed"
    parser.add_argument("-o", "--out", type=Path, required=True, help=helped)
    asked = parser.parse_args(words)
    try:
        count = build(asked.notebooks, asked.out)
    except (Unpublishable, OSError) as error:
        sys.exit(str(error))
    size = sum(path.stat().st_size for path in asked.out.rglob("*") if path.is_file())
    what = "1 page and its" if count == 1 else f"{count} pages and their"
    print(f"{what} index: {asked.out / 'index.html'} ({size / 1e6:.1f} MB in all)")


if __name__ == "__main__":
    main()
