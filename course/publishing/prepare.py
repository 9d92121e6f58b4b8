"""Make a copy of a notebook that any renderer may print: nothing runs or fetches, players play."""

from __future__ import annotations

import base64
import binascii
import copy
import html
import re
from urllib.parse import quote

from nbformat import NotebookNode
from nbformat.v4 import new_output
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from autograd_graphs.playing.player import FILM, slot_of
from autograd_graphs.stored import GRAPH
from course.publishing import cell_roles, terminal
from course.publishing.cell_colours import with_colours
from course.publishing.films import IDENTITY, STATE, VIEW, film_of
from course.publishing.grounds import grounded
from course.publishing.inert import inert
from course.publishing.network import note
from course.publishing.tex import Macros
from course.publishing.wording import formula, rendered, safe_markdown
from helpers.clinic import filter_box
from helpers.predicting import prediction

PIXELS = ("image/png", "image/jpeg", "image/gif", "image/webp")
LEFT_OUT = "(This output is left out: it could run code in your browser.)"
NO_FILM = "(A player that can't be shown: its notebook was saved without it, or too long ago.)"
NO_KERNEL = "({}: a widget. Only JupyterLab shows it: open the notebook there, and run its cell.)"
NO_VIEWER = "(An output of the kind {}, which only JupyterLab can show.)"
SCRIPTS = ("application/javascript", "text/javascript")
OF_TEXT = {"text/plain", "text/markdown", "text/latex"}
REPR = re.compile(r"([A-Z]\w*)\(.*\)", re.DOTALL)  # how a widget writes itself
LOST = re.compile(r"(\]\(\s*<?|^ {0,3}\[[^\]]+\]:\s*<?)attachment:", re.MULTILINE)
SLIDE_TYPES = ("slide", "subslide", "fragment", "skip", "notes")


def prepared(notebook: NotebookNode, *, notes: bool, trust: bool = False) -> NotebookNode:
    """Return a copy of a notebook that is safe to print; with its speaker notes or without.

    Saved players become slots in which the player's own script starts them, and so does the filter
    box of a glossary. HTML and pictures of outputs stay where they cannot run or fetch anything,
    else their text stands there. With `trust` HTML and scripts are shown, too.
    """
    made = copy.deepcopy(notebook)
    seen = [cell for cell in made.cells if cell.cell_type != "raw"]
    made.cells = [cell for cell in seen if notes or slide_type(cell) != "notes"]
    for cell in made.cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if re.fullmatch(r"[\w-]+", tag)]
        show = NotebookNode(slide_type=slide_type(cell))
        cell.metadata = NotebookNode(slideshow=show, tags=tags, course=cell_roles.course_of(cell))
    cell_roles.mark(made.cells)
    macros: Macros = {}
    for cell in made.cells:
        if not notes:
            cell_roles.for_readers(cell)
        if cell.cell_type == "markdown":
            cell.source = pasted(cell.source, cell.pop("attachments", {}))
            cell.source = safe_markdown(cell.source, macros, trust=trust)
        else:
            cell.outputs = [shown(notebook, output, trust, macros) for output in cell.outputs]
            put_caption(cell, notes)
    kept = ["kernelspec", "title"]
    if trust:
        kept.append("widgets")
    metadata = {name: made.metadata[name] for name in kept if name in made.metadata}
    lexer = language(notebook)
    metadata["language_info"] = NotebookNode(name=lexer, pygments_lexer=lexer)
    made.metadata = NotebookNode(metadata)
    return made


def language(notebook: NotebookNode) -> str:
    """Return by which name pygments knows the language of the code; "text" where it does not."""
    named, info = "python", notebook.metadata.get("language_info")
    if isinstance(info, dict):
        named = info.get("pygments_lexer") or info.get("name") or named
    try:
        get_lexer_by_name(named)
    except (ClassNotFound, AttributeError):
        return "text"
    return named


def put_caption(cell: NotebookNode, notes: bool) -> None:
    """Put its caption to the picture of a cell; in a page, which has no notes, under it too."""
    caption = cell.metadata.course.get("caption")
    if caption and cell.outputs:
        cell_roles.with_caption(cell.outputs, caption)
        if not notes:
            cell.outputs.append(cell_roles.caption_below(caption))


def slide_type(cell: NotebookNode) -> str:
    """Return the slide type of a cell, "" where it has none that we know."""
    show = cell.metadata.get("slideshow")
    if isinstance(show, dict) and show.get("slide_type") in SLIDE_TYPES:
        return show["slide_type"]
    return ""


def shown(
    notebook: NotebookNode, output: NotebookNode, trust: bool, macros: Macros
) -> NotebookNode:
    """Return an output with the one form that is printed, and its text.

    In its metadata an output of ours keeps under its MIME type what it shows: a film, the id of a
    question, or a graph.
    """
    if output.output_type == "stream":
        return NotebookNode(output | {"text": terminal.settled(output.text)})
    if output.output_type == "error":
        return raised(output)
    data = output.data
    text = str(data.get("text/plain", ""))
    film = film_of(notebook, output)
    if film:
        return _only(slot_of(film, text), text, {FILM: film})
    asked = cell_roles.question_of(output)
    if asked:
        return _only(prediction.slot(asked), text, {prediction.ASKED: asked.id})
    if filter_box.BOX in data:
        return _only(filter_box.listed(), text)
    drawn = output.metadata.get(GRAPH)
    graph = {GRAPH: drawn} if isinstance(drawn, str) else {}
    kept = trusted_html(data) if trust and VIEW not in data else None
    if kept is not None:
        return _only(note(kept) + kept, text, graph)
    page = html_of(output, text, macros)
    if page is not None:
        return _only(grounded(page) + f"<p>{NO_FILM}</p>" * (FILM in data), text, graph)
    said = left_out(notebook, data, text)
    is_widget = said and VIEW in data and REPR.fullmatch(text)
    return _only(None, "\n".join(filter(None, ("" if is_widget else text, said))))


def raised(output: NotebookNode) -> NotebookNode:
    """Return an error with nothing in it but words and colours."""
    lines = terminal.settled("\n".join(output.traceback)).split("\n")
    words = {"ename": terminal.plain(output.ename), "evalue": terminal.plain(output.evalue)}
    return NotebookNode(output | {"traceback": lines} | words)


def trusted_html(data: NotebookNode) -> str | None:
    """Return what stays of a trusted output because it is trusted; None where that makes no odds."""
    if "text/html" in data:
        return str(data["text/html"])
    for kind in SCRIPTS:
        if kind in data:
            return f"<script>{data[kind]}</script>"
    return str(data["image/svg+xml"]) if "image/svg+xml" in data else None


def html_of(output: NotebookNode, text: str, macros: Macros) -> str | None:
    """Return the first form of an output that is safe to print; None where there is text alone."""
    data = output.data
    if "text/html" in data:
        page = inert(with_colours(str(data["text/html"])))
        if page is not None:
            return page
    if "text/markdown" in data:
        return rendered(str(data["text/markdown"]), macros)
    if "text/latex" in data:
        return formula(str(data["text/latex"]), macros)
    for kind in ("image/svg+xml", *PIXELS):
        if kind in data:
            return image(output, kind, alt_of(output, text))
    return None


def image(output: NotebookNode, kind: str, alt: str) -> str | None:
    """Return an <img> that holds its picture, in which nothing runs; None for what is no picture."""
    data = str(output.data[kind])
    if kind == "image/svg+xml":
        data = base64.b64encode(data.encode()).decode()
    squeezed = "".join(data.split())
    try:
        base64.b64decode(squeezed, validate=True)
    except (binascii.Error, ValueError):
        return None
    width = width_of(output, kind)
    return f'<img alt="{html.escape(alt)}"{width} src="data:{kind};base64,{squeezed}">'


def width_of(output: NotebookNode, kind: str) -> str:
    """Return as an attribute how wide a picture says it is, for fine screens; "" where it does not."""
    said = output.get("metadata", {}).get(kind)
    width = said.get("width") if isinstance(said, dict) else None
    if type(width) is int and 0 < width <= 10_000:
        return f' width="{width}"'
    return ""


def alt_of(output: NotebookNode, text: str) -> str:
    """Return what an output says about its picture: metadata, the drawing's title, or its text."""
    title = re.search(r"<title>([^<]*)</title>", str(output.data.get("image/svg+xml", "")))
    if title:
        text = html.unescape(title[1])
    said = output.get("metadata", {}).get("alt") or text
    return " ".join(str(said).split())[:400]


def left_out(notebook: NotebookNode, data: NotebookNode, text: str) -> str:
    """Return what to say where only text is printed of an output; "" where that is all of it."""
    if FILM in data or is_player(notebook, data.get(VIEW)):
        return NO_FILM
    if VIEW in data:
        widget = REPR.fullmatch(text)
        return NO_KERNEL.format(widget[1] if widget else "What stood here")
    if {"text/html", *SCRIPTS} & set(data):
        return LEFT_OUT
    others = sorted(set(data) - OF_TEXT - {prediction.ASKED, filter_box.BOX})
    return NO_VIEWER.format(terminal.plain(others[0])[:80]) if others else ""


def is_player(notebook: NotebookNode, view: object) -> bool:
    """Tell whether a widget is one of our players, saved in the notebook."""
    try:
        models = notebook.metadata["widgets"][STATE]["state"]
        return models[view["model_id"]]["state"]["_anywidget_id"] == IDENTITY
    except (KeyError, TypeError, IndexError, AttributeError):
        return False


def pasted(source: str, attachments: NotebookNode) -> str:
    """Return a text cell's source with its pasted pictures; a lost one is looked for beside it."""
    for name, forms in attachments.items():
        for kind in PIXELS:
            if kind in forms:
                held = f"data:{kind};base64,{''.join(forms[kind].split())}"
                for written in (name, quote(name)):  # JupyterLab writes a space as %20
                    source = source.replace(f"attachment:{written}", held)
    return LOST.sub(r"\1", source)


def _only(page: str | None, text: str, ours: dict[str, str] | None = None) -> NotebookNode:
    data = {"text/plain": terminal.plain(text)}
    if page is not None:
        data["text/html"] = page
    return new_output("display_data", data=data, metadata=ours or {})
