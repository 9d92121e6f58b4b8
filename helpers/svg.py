"""Turn a display list into SVG. Everything that is text is escaped."""

from __future__ import annotations

from functools import cache
from html import escape

from helpers.marks import Drawing, Mark
from helpers.palette import attributes

FONT = "ui-sans-serif,system-ui,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif"


def svg(drawing: Drawing) -> str:
    """Return a standalone SVG document; its title is the alt text and its description the text tree."""
    panel = Mark("rect", "panel", (0, 0, drawing.width, drawing.height, 10))
    body = "\n".join(map(element, (panel, *drawing.marks)))
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}">\n'
        f"<title>{safe(drawing.alt)}</title>\n<desc>{safe(drawing.text)}</desc>\n{body}\n</svg>\n"
    )


def safe(text: str) -> str:
    """Escape markup, and drop what XML 1.0 forbids: control characters and lone surrogates."""
    if text.replace("\n", "").isprintable():  # nearly always: then nothing has to go
        return escape(text)
    return escape("".join(ch for ch in text if ch in "\t\n" or ch.isprintable()))


def element(mark: Mark) -> str:
    """Return one mark as an SVG element."""
    return _SHAPES[mark.shape](mark, style(mark.role, mark.state))


@cache
def style(role: str, state: str = "") -> str:
    """Return the look of a role as XML attributes."""
    return " ".join(f'{name}="{value}"' for name, value in attributes(role, state).items())


def _rect(mark: Mark, look: str) -> str:
    x, y, wide, high, radius = mark.at
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="{radius}" {look}/>'


def _circle(mark: Mark, look: str) -> str:
    x, y, radius = mark.at
    return f'<circle cx="{x}" cy="{y}" r="{radius}" {look}/>'


def _path(mark: Mark, look: str) -> str:
    points = [f"{x} {y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True)]
    return f'<path d="M{points[0]}C{" ".join(points[1:])}" {look}/>'


def _polygon(mark: Mark, look: str) -> str:
    points = " ".join(f"{x},{y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True))
    return f'<polygon points="{points}" {look}/>'


def _text(mark: Mark, look: str) -> str:
    runs = "".join(
        f"<tspan {style('run', role)}>{safe(text)}</tspan>" if role else safe(text) for text, role in mark.runs
    )
    return f'<text x="{mark.at[0]}" y="{mark.at[1]}" xml:space="preserve" {look}>{runs}</text>'


_SHAPES = {"rect": _rect, "circle": _circle, "path": _path, "polygon": _polygon, "text": _text}
