"""Turn a display list into SVG that follows a light or dark page. All text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from html import escape
from string import ascii_lowercase

from autograd_graphs.drawing.display_list import SHAPES, Drawing, Mark, geometry
from autograd_graphs.drawing.palette import DARK, LIGHT, attributes

FONT = "ui-sans-serif,system-ui,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif"
IN_PX = ("font-size", "stroke-width")
# JupyterLab does not tell pictures of its theme: with these rules they follow it.
IN_LAB = (
    "<style>body[data-jp-theme-light] .jp-Notebook img{color-scheme:light}"
    "body[data-jp-theme-light=false] .jp-Notebook img{color-scheme:dark}</style>"
)
# What lies over a picture in a notebook, and says what is under the mouse.
HOVER = (
    "<style>.jp-Notebook .parts{position:relative;width:fit-content}"
    ".jp-Notebook .parts img{display:block}.jp-Notebook .parts i{position:absolute}</style>"
)


def svg(drawing: Drawing) -> str:
    """Return a standalone SVG document on a ground of its own, light or dark as the system asks."""
    panel = Mark("rect", "panel", (0, 0, drawing.width, drawing.height, 10))
    said = f"<title>{safe(drawing.alt)}</title>\n<desc>{safe(drawing.text)}</desc>\n"
    return document(drawing.width, drawing.height, [panel, *drawing.marks], said)


def document(wide: int, high: int, marks: Sequence[Mark], said: str = "") -> str:
    """Return marks as a document of this size in px; `said` are its elements for who hears it."""
    sheet = Sheet()
    body = "\n".join(map(sheet.element, marks))
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" xml:space="preserve"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}">\n'
        f"{said}<style>{sheet.css()}</style>\n{body}\n</svg>\n"
    )


def html(
    svg: str, alt: str, text: str, summary: str = "The graph as text", places: str = ""
) -> str:
    """Return an SVG as a named image, `places` over it and a text folded under it: all inert."""
    folded = f"<details><summary>{summary}</summary><pre>{safe(text)}</pre></details>"
    shown = image(svg, alt)
    if places:
        shown = f'{HOVER}<div class="parts">{shown}{places}</div>'
    return shown + folded


def image(svg: str, alt: str) -> str:
    """Return an SVG as a named image in the theme of the page, inert in any notebook."""
    data = base64.b64encode(svg.encode()).decode()
    return f'{IN_LAB}<img alt="{safe(alt)}" src="data:image/svg+xml;base64,{data}">'


def safe(text: str) -> str:
    """Escape markup, and drop what XML 1.0 forbids: control characters and lone surrogates."""
    if text.replace("\n", "").isprintable():  # nearly always: then nothing has to go
        return escape(text)
    return escape("".join(ch for ch in text if ch in "\t\n" or ch.isprintable()))


class Sheet:
    """Write marks as SVG elements, and the style sheet of the looks that they wear.

    Every look has a class of one letter or two, in the order in which looks occur.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def element(self, mark: Mark) -> str:
        name = self.name(look_of(mark.role, mark.state))
        tag, *attributes = SHAPES[mark.shape]
        pairs = zip(attributes, geometry(mark), strict=True)
        places = " ".join([f'{attribute}="{value}"' for attribute, value in pairs])
        start = f'<{tag} {places} class="{name}"'
        return f"{start}>{self.text_of(mark)}</text>" if tag == "text" else f"{start}/>"

    def name(self, look: str) -> str:
        if look not in self.names:
            self.names[look] = letters(len(self.names))
        return self.names[look]

    def text_of(self, mark: Mark) -> str:
        """Return what stands in a text; pieces with a role of their own are in a tspan."""
        runs = ""
        for words, role in mark.runs:
            if role and words:
                runs += f'<tspan class="{self.name(look_of("run", role))}">{safe(words)}</tspan>'
            else:
                runs += safe(words)
        return runs

    def css(self) -> str:
        """Return the rules of all looks that occur; in the dark only colours differ.

        Chromium heeds `white-space` alone, other viewers `xml:space`.
        """
        light: dict[str, list[str]] = {}
        dark: dict[str, list[str]] = {}
        for look, name in self.names.items():
            in_light, in_dark = look.split("|")
            for rule in in_light.split(";"):
                light.setdefault(rule, []).append(f".{name}")
            for rule in in_dark.split(";"):
                if rule not in in_light.split(";"):
                    dark.setdefault(rule, []).append(f".{name}")
        in_the_dark = f"@media(prefers-color-scheme:dark){{{grouped(dark)}}}"
        return f"text{{white-space:pre}}{grouped(light)}{in_the_dark}"


def grouped(rules: dict[str, list[str]]) -> str:
    """Return CSS in which what holds for the same classes stands in one rule."""
    bodies: dict[str, list[str]] = {}
    for rule, names in rules.items():
        bodies.setdefault(",".join(names), []).append(rule)
    return "".join([f"{names}{{{';'.join(body)}}}" for names, body in bodies.items()])


@cache
def look_of(role: str, state: str = "") -> str:
    """Return the look of a role in CSS: in the light, "|", in the dark."""
    light, dark = attributes(role, state, LIGHT), attributes(role, state, DARK)
    return f"{declarations(light)}|{declarations(dark)}"


def declarations(look: dict[str, str]) -> str:
    rules = []
    for name, value in look.items():
        unit = "px" if name in IN_PX else ""
        rules.append(f"{name}:{value}{unit}")
    return ";".join(rules)


@cache
def letters(number: int) -> str:
    """Return the name of a class: a to z, then aa, ab and so on."""
    first, last = divmod(number, len(ascii_lowercase))
    return (letters(first - 1) if first else "") + ascii_lowercase[last]
