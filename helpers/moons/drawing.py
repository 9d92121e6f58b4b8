"""Draw answers about the moons as SVG that follows a light or a dark page. Asks no model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograd_graphs.drawing import palette
from autograd_graphs.drawing.svg import FONT, safe
from helpers.moons.asking import ACROSS, BOTTOM, LEFT, MOON, PLACES, POINTS, UP, Answers
from helpers.moons.contours import Line, contour, framed, thinned
from helpers.moons.words import caption

BEGINS = '<svg id="moons"'  # by which a test knows such a picture
LIGHT = palette.LIGHT | {
    "halo": "#ffffff",
    "sure0": "#c5d8ef",
    "likely0": "#dae6f3",
    "hardly0": "#ecf1f5",
    "hardly1": "#f8efe3",
    "likely1": "#f8e2c9",
    "sure1": "#f7d2a9",
}
DARK = palette.DARK | {
    "halo": "#12171d",
    "sure0": "#213a59",
    "likely0": "#1b2c42",
    "hardly0": "#16202c",
    "hardly1": "#231d19",
    "likely1": "#38291b",
    "sure1": "#51371d",
}
TINTS = ("sure0", "likely0", "hardly0", "hardly1", "likely1", "sure1")
MOONS = ("leafrim", "now")  # the colours of moon 0 and moon 1
LOOKS = {
    "panel": "fill:{ground};stroke:{rim}",
    "frame": "fill:none;stroke:{rim}",
    "plain": "fill:{ground}",
    "title": "fill:{ink};font-weight:650",
    "alarm": "fill:{warn};font-weight:650",
    "said": "fill:{ink}",
    "faint": "fill:{faint}",
    "boundary": "fill:none;stroke:{ink};stroke-linejoin:round",
    **{tint: f"fill:{{{tint}}}" for tint in TINTS},
}
for _nr, _colour in enumerate(MOONS):  # a point is filled where right, hollow where wrong
    LOOKS[f"right{_nr}"] = f"fill:{{{_colour}}};stroke:{{halo}}"
    LOOKS[f"wrong{_nr}"] = f"fill:{{halo}};stroke:{{{_colour}}}"
    LOOKS[f"none{_nr}"] = f"fill:none;stroke:{{{_colour}}};stroke-dasharray:2 2"
PLOT = re.compile(r'<svg x="\d+" y="\d+" width="(\d+)" height="(\d+)">(.*?)</svg>', re.S)
MARK = re.compile(
    r'<(?:circle (class="\w+" stroke-width="[\d.]+") cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"'
    r'|path (class="(?:right|wrong|none)\d" stroke-width="[\d.]+") d="([^"]+)")/>'
)
LETTER, BOLD = 0.55, 0.6  # how wide letters are, of their height: on average, and a bit more


@dataclass(frozen=True)
class Size:
    """Hold the measures of one panel, in px: its picture, its two sizes of words, its points."""

    wide: int
    big: int
    small: int
    mark: float
    line: float  # the boundary, and the rim of a point that is wrong
    gap: int

    @property
    def plot(self) -> tuple[int, int]:
        wide = self.wide - 2 * self.gap
        return wide, round(wide * UP / ACROSS)


LARGE = Size(320, 15, 13, 3.7, 2, 10)
SMALL = Size(158, 13, 13, 2.1, 1.2, 5)


def panel(answers: Answers, words: str = "", title: str = "") -> tuple[str, int]:
    """Return a picture with its caption above and its words below, and how high that is.

    Raises ValueError for a title or words that have no room.
    """
    size, (_, high) = LARGE, LARGE.plot
    top, base = round(size.big * 1.9), round(size.big * 1.35)
    heading = f"{title}: {caption(answers)}" if title else caption(answers)
    remark = f"always {answers.points[0]:.2f}" if answers.flat else ""
    _demand_room(title, heading, remark)
    body = _text(size.gap, base, heading, "alarm" if answers.silent else "title", size.big)
    if remark:
        body += _text(size.wide - size.gap, base, remark, "alarm", size.small, "end")
    body += _plot(answers, size, top)
    base = top + high
    if words:
        _demand_line(words)
        base += round(size.small * 1.5)
        body += _text(size.gap, base, words, "said", size.small)
    return body, base


def small_panel(answers: Answers, name: str) -> tuple[str, int]:
    """Return a small picture with a line below, and how high that is.

    Raises ValueError for a name that has no room.
    """
    size, (wide, high) = SMALL, SMALL.plot
    line = f"{name}: {'NaN' if answers.silent else f'{answers.right} right'}"
    if len(line) * size.small * LETTER > wide:
        raise ValueError(f"{line!r} has no room under a small picture. Use a shorter name.")
    base = size.gap + high + round(size.small * 1.3)
    look = "alarm" if answers.silent else "faint"
    body = _plot(answers, size, size.gap) + _text(size.gap, base, line, look, size.small)
    return body, base + round(size.small * 0.6)


def points_alone() -> str:
    """Return the hundred points as a document, before any model says something of them."""
    silent = Answers([[math.nan]], [float(moon) for moon in MOON], ())  # all right, no background
    return only_plot(document(_plot(silent, LARGE, LARGE.gap), *LARGE.plot, ""))


def only_plot(svg: str) -> str:
    """Return the first plot of a document without its words, the marks of one look as one path."""
    wide, high, inner = PLOT.search(svg).groups()
    marks: dict[str, str] = {}

    def collect(mark: re.Match) -> str:
        round_look, x, y, r, look, data = mark.groups()
        if round_look:
            look, data = round_look, f"M{x} {float(y) - float(r):.1f}a{r} {r} 0 1 0 .1 0z"
        marks[look] = marks.get(look, "") + data
        return ""

    body = MARK.sub(collect, inner)
    body += "".join(f'<path {look} d="{data}"/>' for look, data in marks.items())
    sheet = svg[svg.index("<style>") : svg.index("</style>")]
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    return f'{BEGINS} xmlns="http://www.w3.org/2000/svg" {size}>{sheet}</style>{body}</svg>'


def beside(panels: Iterable[str], wide: int, down: int = 0) -> str:
    """Return panels in a row, each as wide."""
    made = [
        f'<g transform="translate({nr * wide} {down})">{body}</g>' for nr, body in enumerate(panels)
    ]
    return "".join(made)


def with_legend(body: str, wide: int, high: int) -> tuple[str, int, int]:
    """Return a body with what its marks mean below, how wide it is, and how high now."""
    base = high + round(LARGE.small * 1.65)
    return body + _legend(wide, base), wide, base + round(LARGE.small * 0.8)


def document(body: str, wide: int, high: int, alt: str) -> str:
    """Return a body on a ground of its own as an SVG document."""
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    edge = f'<rect class="panel" x="0.5" y="0.5" width="{wide - 1}" height="{high - 1}" rx="10"/>'
    return (
        f'{BEGINS} xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}">\n'
        f"<title>{safe(alt)}</title>\n<style>{_sheet(edge + body)}</style>\n{edge}{body}\n</svg>\n"
    )


def _demand_room(title: str, heading: str, remark: str) -> None:
    needed = len(heading) * LARGE.big * BOLD + len(remark) * LARGE.small * LETTER
    if needed > LARGE.plot[0]:
        raise ValueError(f"The title {title!r} leaves no room for the caption. Use a shorter one.")


def _demand_line(words: str) -> None:
    most = int(LARGE.plot[0] / LARGE.small / LETTER)
    if len(words) > most:
        raise ValueError(
            f"One line of at most {most} characters goes under a picture, and {words!r} has "
            f"{len(words)}."
        )


def _plot(answers: Answers, size: Size, top: int) -> str:
    """Return background, boundary and points within their frame."""
    wide, high = size.plot
    scale = wide / ACROSS
    if answers.flat or answers.gaps:
        inner = f'<rect class="plain" width="{wide}" height="{high}"/>'
    else:
        inner = _background(answers, wide, high, size.line)
    for (x, y), moon, said in zip(POINTS, MOON, answers.verdicts, strict=True):
        at = (x - LEFT) * scale, high - (y - BOTTOM) * scale
        inner += _mark(*at, moon, said, size.mark, size.line)
    inner += f'<rect class="frame" x="0.5" y="0.5" width="{wide - 1}" height="{high - 1}"/>'
    return f'<svg x="{size.gap}" y="{top}" width="{wide}" height="{high}">{inner}</svg>'


def _background(answers: Answers, wide: int, high: int, line: float) -> str:
    """Return the tints, firm where the model is sure, and the boundary over them."""
    scale = wide / (PLACES[0] - 1), high / (PLACES[1] - 1)
    body = f'<rect class="{TINTS[0]}" width="{wide}" height="{high}"/>'
    closed = framed(answers.lattice)
    for level, tint in zip(answers.levels, TINTS[1:], strict=True):
        data = _path(contour(closed, level), scale, high, off=1)
        body += f'<path class="{tint}" d="{data}"/>' if data else ""
    data = _path(contour(answers.lattice, answers.levels[2]), scale, high)
    return body + (f'<path class="boundary" stroke-width="{line}" d="{data}"/>' if data else "")


def _path(lines: list[Line], scale: tuple[float, float], high: int, off: int = 0) -> str:
    data = ""
    for line in lines:
        at = [
            f"{(x - off) * scale[0]:.1f} {high - (y - off) * scale[1]:.1f}"
            for x, y in thinned(line)
        ]
        data += "M" + "L".join(at)
    return data


def _mark(x: float, y: float, moon: int, said: str, r: float, line: float) -> str:
    """Return a disc for moon 0, a diamond for moon 1."""
    rim = round(line if said == "wrong" else line / 2, 2)
    look = f'class="{said}{moon}" stroke-width="{rim}"'
    if moon == 0:
        return f'<circle {look} cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    d = r * 1.3
    sides = f"l{d:.1f} {d:.1f}l{-d:.1f} {d:.1f}l{-d:.1f} {-d:.1f}z"
    return f'<path {look} d="M{x:.1f} {y - d:.1f}{sides}"/>'


def _legend(wide: int, base: int) -> str:
    """Return what the marks and the tints mean, in one line."""
    em = LARGE.small
    x, y, body = LARGE.gap + em * 0.35, base - em * 0.34, ""
    named = (
        ([(0, "right")], "moon 0"),
        ([(1, "right")], "moon 1"),
        ([(0, "wrong"), (1, "wrong")], "wrong"),
    )
    for marks, words in named:
        for moon, said in marks:
            body += _mark(x, y, moon, said, round(em * 0.29, 1), em * 0.14)
            x += em * 0.9
        body += _text(round(x - em * 0.2), base, words, "faint", em)
        x += em * (4.8 if wide > LARGE.wide else 4.3)
    return body + _text(wide - LARGE.gap, base, "tint: how sure", "faint", em, "end")


def _text(x: int, y: int, words: str, look: str, px: int, anchor: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{look}" x="{x}" y="{y}" font-size="{px}"{where}>{safe(words)}</text>'


def _sheet(body: str) -> str:
    """Return the rules of the looks that occur, and those of a dark page."""
    used = [name for name in LOOKS if f'class="{name}"' in body]
    light, dark = (
        "".join(f".{name}{{{LOOKS[name].format(**colours)}}}" for name in used)
        for colours in (LIGHT, DARK)
    )
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
