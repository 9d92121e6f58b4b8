"""Turn a display list into SVG: the one place that knows colours. Everything that is text is escaped."""

from __future__ import annotations

from html import escape

from helpers.marks import Drawing, Mark

FONT = "ui-sans-serif,system-ui,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif"
INK, FAINT, LEAF, DARK, WARN = "#1f2933", "#5a6673", "#2f6db5", "#1f2933", "#9a3412"

# role, or role and state → SVG attributes. A word is FAINT or darker: contrast 4.5:1 on every ground here.
STYLE = {
    "panel": 'fill="#fbfbfa" stroke="#e4e7eb"',
    "operation": f'fill="#ffffff" stroke="{FAINT}" stroke-width="1.3"',
    "leaf": f'fill="#e8f1fb" stroke="{LEAF}" stroke-width="1.5"',
    "none": f'fill="none" stroke="{FAINT}" stroke-dasharray="3 3"',
    "cut": f'fill="#f1f3f5" stroke="{FAINT}" stroke-dasharray="6 3"',
    "tag": f'fill="{DARK}"',
    "capsule": f'fill="#ffffff" stroke="{FAINT}"',
    "ground": 'fill="#fbfbfa"',
    "edge": f'fill="none" stroke="{FAINT}" stroke-width="1.4"',
    "arrow": f'fill="{FAINT}"',
    "saved held": f'fill="{FAINT}" stroke="{FAINT}" stroke-width="1.4"',
    "saved freed": f'fill="none" stroke="{FAINT}" stroke-width="1.4"',
    "saved modified": f'fill="{WARN}" stroke="{WARN}"',
    "saved packed": f'fill="{FAINT}" stroke="{FAINT}" stroke-width="1.4"',
    "saved edited": f'fill="none" stroke="{WARN}" stroke-width="1.4"',
    "title": f'fill="{INK}" font-size="13" font-weight="600"',
    "note": f'fill="{FAINT}" font-size="12"',
    "start": f'fill="{INK}" font-size="13"',
    "middle": f'fill="{INK}" font-size="13" text-anchor="middle"',
    "tagged": 'fill="#ffffff" font-size="12" font-style="italic" text-anchor="middle"',
    "row": f'fill="{FAINT}" font-size="12"',
    "row freed": f'fill="{FAINT}" font-size="12" text-decoration="line-through"',
    "row modified": f'fill="{WARN}" font-size="12"',
    "label": f'fill="{INK}" font-size="12" font-weight="600" text-anchor="middle"',
    "torchviz": 'fill="#000000" font-size="12" font-family="monospace" text-anchor="middle"',
    "torchviz function": 'fill="lightgrey" stroke="#000000"',
    "torchviz leaf": 'fill="lightblue" stroke="#000000"',
    "torchviz output": 'fill="#caff70" stroke="#000000"',
    "torchviz saved": 'fill="orange" stroke="#000000"',
    "run name": 'font-weight="650"',
    "run faint": f'fill="{FAINT}"',
    "run grad": f'fill="{FAINT}" font-size="12" font-weight="600"',
}


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
    allowed = (ch for ch in text if ch in "\t\n" or ch.isprintable())
    return escape("".join(allowed))


def element(mark: Mark) -> str:
    """Return one mark as an SVG element."""
    style = STYLE.get(f"{mark.role} {mark.state}") or STYLE[mark.role]
    return _SHAPES[mark.shape](mark, style)


def _rect(mark: Mark, style: str) -> str:
    x, y, wide, high, radius = mark.at
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="{radius}" {style}/>'


def _circle(mark: Mark, style: str) -> str:
    x, y, radius = mark.at
    return f'<circle cx="{x}" cy="{y}" r="{radius}" {style}/>'


def _path(mark: Mark, style: str) -> str:
    points = [f"{x} {y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True)]
    return f'<path d="M{points[0]}C{" ".join(points[1:])}" {style}/>'


def _triangle(mark: Mark, style: str) -> str:
    points = " ".join(f"{x},{y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True))
    return f'<polygon points="{points}" {style}/>'


def _text(mark: Mark, style: str) -> str:
    runs = "".join(
        f"<tspan {STYLE[f'run {role}']}>{safe(text)}</tspan>" if role else safe(text) for text, role in mark.runs
    )
    return f'<text x="{mark.at[0]}" y="{mark.at[1]}" xml:space="preserve" {style}>{runs}</text>'


_SHAPES = {"rect": _rect, "circle": _circle, "path": _path, "triangle": _triangle, "text": _text}
