"""Draw timeline.svg: how Variable and Tensor became one class, and when graphs are made. Writes
that file only.
"""

from html import escape
from pathlib import Path

FILE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT, LEFT, YEAR, BAR = (
    960,
    340,
    26,
    76,
    34,
)  # pixels; YEAR is one year's width, BAR a bar's height
AXIS, EVENT_ROW = 62, 324
INK, FAINT, GROUND = "#1f2933", "#52606d", "#fbfbfa"
STYLES = {  # fill, outline, dash: lanes differ by place and outline too, never by colour alone
    "static": ("#fff4e0", "#b45309", "6 4"),
    "old": ("#ffffff", "#52606d", "none"),
    "dynamic": ("#e8f1fb", "#2f6db5", "none"),
}
FIRST, LAST = 2015, 2026


def _month(year: int, month: float) -> float:
    return year + (month - 1) / 12


CHAINER, TENSORFLOW, PYTORCH = _month(2015, 6.3), _month(2015, 11.3), _month(2017, 1.6)
MERGED, TENSORFLOW_2, PYTORCH_2, TODAY = (
    _month(2018, 4.8),
    _month(2019, 10),
    _month(2023, 3.5),
    LAST + 0.9,
)

LANES = ((114, "One graph, made once and used again"), (196, "A new graph at each run"))  # y, words
BARS = (  # from, to, top, style, words
    (TENSORFLOW, TENSORFLOW_2, 124, "static", "TensorFlow 1, Keras compile()"),
    (PYTORCH_2, TODAY, 124, "static", "torch.compile captures graphs"),
    (PYTORCH, MERGED, 206, "old", "Variable"),
    (MERGED, TODAY, 206, "dynamic", "PyTorch 0.4 and later: one class, Tensor"),
    (TENSORFLOW_2, TODAY, 252, "dynamic", "TensorFlow 2: runs line by line by default"),
)
EVENTS = (  # year, y where its line begins, words, which end of them is at the line
    (PYTORCH, 206, "Jan 2017: PyTorch", "end"),
    (MERGED, 206, "Apr 2018: 0.4", "start"),
    (TENSORFLOW_2, 252, "Sep 2019: TensorFlow 2", "start"),
    (PYTORCH_2, 124, "Mar 2023: PyTorch 2", "start"),
)
TITLE = "Variable and Tensor became one class in April 2018; TensorFlow 2 and torch.compile brought the camps together"


def draw() -> str:
    """Return the picture as the text of an SVG file."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="ui-sans-serif,system-ui,Segoe UI,Helvetica,Arial,sans-serif">'
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{GROUND}"/>'
    heading = _text(
        LEFT, 30, "From Variable to Tensor, and when a graph is made", weight=600, size=16
    )
    lanes = [_text(LEFT, y, words, fill=FAINT, weight=600) for y, words in LANES]
    events = [
        part for event in EVENTS for part in _event(*event)
    ]  # before the bars, so that lines run behind them
    bars = [_bar(*bar) for bar in BARS]
    return "\n".join(
        [
            opening,
            f"<title>{TITLE}</title>",
            ground,
            heading,
            *_axis(),
            *lanes,
            _chainer(),
            *events,
            *bars,
            "</svg>\n",
        ]
    )


def _x(year: float) -> int:
    return round(LEFT + (year - FIRST) * YEAR)


def _text(x: float, y: float, words: str, anchor="start", fill=INK, weight=400, size=14) -> str:
    return (
        f'<text x="{x:g}" y="{y}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}"'
        f' font-size="{size}">{escape(words)}</text>'
    )


def _line(x1: int, y1: int, x2: int, y2: int, dash="none") -> str:
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{FAINT}" stroke-dasharray="{dash}"/>'


def _axis() -> list[str]:
    years = [
        _text(_x(year + 0.5), AXIS + 18, str(year), "middle", FAINT)
        for year in range(FIRST, LAST + 1)
    ]
    ticks = [_line(_x(year), AXIS, _x(year), AXIS + 6) for year in range(FIRST, LAST + 2)]
    return [_line(_x(FIRST), AXIS, _x(LAST + 1), AXIS), *ticks, *years]


def _bar(start: float, end: float, top: int, style: str, words: str) -> str:
    fill, outline, dash = STYLES[style]
    left, right = _x(start) + 1, _x(end) - 1
    return (
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{BAR}" rx="7" fill="{fill}" stroke="{outline}"'
        f' stroke-width="1.5" stroke-dasharray="{dash}"/>'
    ) + _text((left + right) / 2, top + 22, words, "middle")


def _event(year: float, top: int, words: str, anchor: str) -> tuple[str, str]:
    """Draw a date below the lanes and a dotted line up to the bar that begins there."""
    beside = _x(year) + (6 if anchor == "start" else -6)
    return _line(_x(year), top + BAR, _x(year), EVENT_ROW, "2 4"), _text(
        beside, EVENT_ROW, words, anchor
    )


def _chainer() -> str:
    """Mark the first framework of the second lane with a dot: it was first, and went its own way."""
    dot = f'<circle cx="{_x(CHAINER)}" cy="223" r="5" fill="{FAINT}"/>'
    return dot + _text(_x(CHAINER) + 11, 228, "Chainer, 2015")


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8", newline="\n")
