"""Draw timeline.svg: how Variable and Tensor became one class, and when graphs are made."""

from html import escape
from pathlib import Path

from autograd_graphs.drawing.palette import DARK, LIGHT

FILE = Path(__file__).with_suffix(".svg")
# px; YEAR is one year's width, BAR a bar's height
WIDTH, HEIGHT, LEFT, YEAR, BAR = 960, 382, 26, 76, 34
AXIS, EVENT_ROW = 62, 366
# Class: property and colour of the palette. Lanes differ by place and outline, never by colour
# alone.
LOOKS = {
    "ground": {"fill": "ground", "stroke": "rim"},
    "ink": {"fill": "ink"},
    "faint": {"fill": "faint"},
    "line": {"stroke": "faint"},
    "static": {"fill": "nowground", "stroke": "now"},
    "old": {"fill": "card", "stroke": "faint"},
    "dynamic": {"fill": "leaf", "stroke": "leafrim"},
}
DASHES = {"static": "6 4"}
FIRST, LAST = 2015, 2026


def _month(year: int, month: float) -> float:
    return year + (month - 1) / 12


CHAINER, TENSORFLOW, PYTORCH = _month(2015, 6.3), _month(2015, 11.3), _month(2017, 1.6)
MERGED, TORCHSCRIPT = _month(2018, 4.8), _month(2018, 12.2)
TENSORFLOW_2, PYTORCH_2 = _month(2019, 10), _month(2023, 3.5)
TODAY = LAST + 0.9

LATER_SCRIPT = "TorchScript: from PyTorch 1.0, December 2018; deprecated today"
LATER_FLOW = "TensorFlow 2: line by line by default; Keras fit() captures"
LANES = ((114, "One graph, made once and used again"), (238, "A new graph at each run"))  # y, words
BARS = (  # from, to, top, style, words
    (TENSORFLOW, TENSORFLOW_2, 124, "static", "TensorFlow 1, Keras compile()"),
    (PYTORCH_2, TODAY, 124, "static", "torch.compile captures graphs"),
    (TORCHSCRIPT, TODAY, 166, "static", LATER_SCRIPT),
    (PYTORCH, MERGED, 248, "old", "Variable"),
    (MERGED, TODAY, 248, "dynamic", "PyTorch 0.4 and later: one class, Tensor"),
    (TENSORFLOW_2, TODAY, 294, "dynamic", LATER_FLOW),
)
EVENTS = (  # year, y where its line begins, words, which end of them is at the line
    (PYTORCH, 248, "Jan 2017: PyTorch", "end"),
    (MERGED, 248, "Apr 2018", "start"),
    (TENSORFLOW_2, 294, "Sep 2019: TensorFlow 2", "start"),
    (PYTORCH_2, 124, "Mar 2023: PyTorch 2", "start"),
)
TITLE = "Variable and Tensor became one class in April 2018; PyTorch can capture graphs since December 2018, and TensorFlow 2 runs line by line"


def draw() -> str:
    """Return the picture as the text of an SVG file."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="ui-sans-serif,system-ui,Segoe UI,Helvetica,Arial,sans-serif">'
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" class="ground"/>'
    words = "From Variable to Tensor, and when a graph is made"
    parts = [opening, f"<title>{TITLE}</title>"]
    parts.append(f"<style>{_css(LIGHT)}@media(prefers-color-scheme:dark){{{_css(DARK)}}}</style>")
    parts += [ground, _text(LEFT, 30, words, weight=600, size=19), *_axis()]
    parts += [_text(LEFT, y, words, look="faint", weight=600) for y, words in LANES]
    parts.append(_chainer())
    for event in EVENTS:  # before the bars, so that lines run behind them
        parts += _event(*event)
    return "\n".join([*parts, *[_bar(*bar) for bar in BARS], "</svg>\n"])


def _x(year: float) -> int:
    return round(LEFT + (year - FIRST) * YEAR)


def _css(colours: dict[str, str]) -> str:
    """Return the rules of all looks in the colours of a theme."""
    rules = []
    for look, properties in LOOKS.items():
        body = ";".join([f"{name}:{colours[colour]}" for name, colour in properties.items()])
        rules.append(f".{look}{{{body}}}")
    return "".join(rules)


def _text(x: float, y: float, words: str, anchor="start", look="ink", weight=400, size=17) -> str:
    return (
        f'<text x="{x:g}" y="{y}" text-anchor="{anchor}" class="{look}" font-weight="{weight}"'
        f' font-size="{size}">{escape(words)}</text>'
    )


def _line(x1: int, y1: int, x2: int, y2: int, dash="none") -> str:
    return f'<path d="M{x1} {y1}L{x2} {y2}" class="line" stroke-dasharray="{dash}"/>'


def _axis() -> list[str]:
    years = [
        _text(_x(year + 0.5), AXIS + 18, str(year), "middle", "faint")
        for year in range(FIRST, LAST + 1)
    ]
    ticks = [_line(_x(year), AXIS, _x(year), AXIS + 6) for year in range(FIRST, LAST + 2)]
    return [_line(_x(FIRST), AXIS, _x(LAST + 1), AXIS), *ticks, *years]


def _bar(start: float, end: float, top: int, style: str, words: str) -> str:
    dash = DASHES.get(style, "none")
    left, right = _x(start) + 1, _x(end) - 1
    return (
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{BAR}" rx="7" class="{style}"'
        f' stroke-width="1.5" stroke-dasharray="{dash}"/>'
    ) + _text((left + right) / 2, top + 23, words, "middle")


def _event(year: float, top: int, words: str, anchor: str) -> tuple[str, str]:
    """Draw a date below the lanes and a dotted line up to the bar that begins there."""
    beside = _x(year) + (6 if anchor == "start" else -6)
    return _line(_x(year), top + BAR, _x(year), EVENT_ROW, "2 4"), _text(
        beside, EVENT_ROW, words, anchor
    )


def _chainer() -> str:
    """Mark the first framework of the second lane with a dot: it was first, and went its own way."""
    dot = f'<circle cx="{_x(CHAINER)}" cy="265" r="5" class="faint"/>'
    return dot + _text(_x(CHAINER) + 11, 271, "Chainer")


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8", newline="\n")
