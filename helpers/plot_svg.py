"""Draw a matplotlib figure as a small SVG that follows a light or a dark page, its words as text.

A backend of matplotlib, for `helpers.plots` alone. A path that occurs again, such as a mark, is
written once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import IO, Any, NamedTuple

from matplotlib.backend_bases import FigureCanvasBase, GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform

from autograd_graphs.drawing import palette
from autograd_graphs.drawing.svg import FONT, grouped, letters, safe

BEGINS = '<svg id="chart"'  # by which a test knows such a picture
SIGNS = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}
ANCHORS = {"center": (0.5, "middle"), "right": (1, "end")}  # how much of a text is before its place
# The first colours of matplotlib's lines, as the course's own; others are turned round in the dark.
OURS = {"#1f77b4": "leafrim", "#ff7f0e": "now", "#2ca02c": "done", "#d62728": "warn"}
WORTH = 24  # letters of a path: a shorter one is written each time
Colour = Sequence[float]  # red, green, blue, maybe how opaque, from 0 to 1
Rules = tuple[tuple[str, str, str], ...]  # name, value in the light, value in the dark
PAPER = (("fill", palette.LIGHT["ground"], palette.DARK["ground"]),)
PANEL = (*PAPER, ("stroke", palette.LIGHT["rim"], palette.DARK["rim"]))


class TooMuch(Exception):
    """A figure holds what makes no small SVG: pixels, hatches, shades."""


class Piece(NamedTuple):
    """A path from its first place on, or a text, with its class and the id of what it is cut to."""

    look: str
    cut: str
    data: str
    x: float
    y: float


class Renderer(RendererBase):
    """Collect what a figure draws, in px from the upper left corner."""

    def __init__(self, wide: float, high: float, dpi: float) -> None:
        super().__init__()
        self.wide, self.high, self.dpi = wide, high, dpi
        self.pieces: list[Piece] = []
        self.looks: dict[Rules, str] = {PAPER: "paper", PANEL: "panel"}  # classes
        self.cuts: dict[str, str] = {}  # ids

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.wide, self.high

    def points_to_pixels(self, points: float) -> float:
        return points * self.dpi / 72

    def draw_path(
        self,
        gc: GraphicsContextBase,
        path: Path,
        transform: Transform,
        rgbFace: Colour | None = None,
    ) -> None:
        if gc.get_hatch():
            raise TooMuch
        down = transform + Affine2D().scale(1, -1).translate(0, self.high)
        room = (-9, -9, self.wide + 9, self.high + 9) if rgbFace is None else None
        segments = list(path.iter_segments(down, clip=room))
        look = self._look(gc, rgbFace, self.points_to_pixels(gc.get_linewidth()))
        is_paper = look == "paper" and not self.pieces  # a panel stands for the figure's own
        if look and segments and not is_paper:
            x, y = map(float, segments[0][0][:2])
            data = "".join(steps([([*e[::2] - x], [*e[1::2] - y], code) for e, code in segments]))
            self.pieces.append(Piece(look, self._cut(gc, segments), data, x, y))

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        if ismath:  # a formula is drawn
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            return
        share, anchor = ANCHORS.get(mtext and mtext.get_horizontalalignment(), (0, ""))
        before = share * self.get_text_width_height_descent(s, prop, False)[0]
        x += before * math.cos(math.radians(angle))
        y -= before * math.sin(math.radians(angle))
        marks = f'x="{short(x)}" y="{short(y)}"'
        marks += f' font-size="{short(self.points_to_pixels(prop.get_size_in_points()))}"'
        marks += f' text-anchor="{anchor}"' if anchor else ""
        marks += ' font-weight="650"' if prop.get_weight() == "bold" else ""
        if angle:
            marks += f' transform="rotate({-angle:g} {short(x)} {short(y)})"'
        look = self._look(gc, gc.get_rgb(), 0)
        self.pieces.append(Piece(look, "", f"<text {marks}>{safe(s)}</text>", x, y))

    def draw_image(self, *args: Any, **more: Any) -> None:
        raise TooMuch

    def draw_gouraud_triangles(self, *args: Any) -> None:
        raise TooMuch

    def _look(self, gc: GraphicsContextBase, face: Colour | None, wide: float) -> str:
        """Return the class of a face and a rim so many px wide; "" where nothing of it is seen."""
        if gc.get_forced_alpha() and face is not None:
            face = (*face[:3], gc.get_alpha())
        rim = painted("stroke", gc.get_rgb()) if wide else []
        rules = [*painted("fill", face, is_area=bool(wide and not rim)), *rim]
        names = [name for name, *_ in rules]
        if not names:
            return ""
        if "fill" not in names:
            rules.append(same("fill", "none"))
        if "stroke" in names:
            rules.append(same("stroke-width", short(wide)))
            dashes = gc.get_dashes()[1]
            if dashes is not None:
                px = map(short, map(self.points_to_pixels, dashes))
                rules.append(same("stroke-dasharray", " ".join(px)))
        return self.looks.setdefault(tuple(rules), letters(len(self.looks)))

    def _cut(self, gc: GraphicsContextBase, segments: list[tuple[Any, int]]) -> str:
        """Return the id of what a path is cut to, "" for one that lies within it."""
        room = gc.get_clip_rectangle()
        if room is None:
            return ""
        left, top = room.x0, self.high - room.y1
        for ends, _ in segments:
            for x, y in zip(ends[::2] - left, ends[1::2] - top, strict=True):
                if not (-1 < x < room.width + 1 and -1 < y < room.height + 1):
                    size = f'width="{short(room.width)}" height="{short(room.height)}"'
                    rect = f'<rect x="{short(left)}" y="{short(top)}" {size}/>'
                    return self.cuts.setdefault(rect, f"cut{len(self.cuts)}")
        return ""

    def document(self, alt: str) -> str:
        """Return what was drawn as an SVG document, on a ground of its own."""
        often = Counter(piece.data for piece in self.pieces)
        again = [data for data, times in often.items() if times > 1 and len(data) > WORTH]
        ids = {data: f"s{nr}" for nr, data in enumerate(again) if data[0] != "<"}
        defs = "".join(f'<clipPath id="{id}">{rect}</clipPath>' for rect, id in self.cuts.items())
        defs += "".join(f'<path id="{id}" d="M0 0{data}"/>' for data, id in ids.items())
        edge = f'width="{short(self.wide - 1)}" height="{short(self.high - 1)}" rx="10"'
        body = f'<rect class="panel" x=".5" y=".5" {edge}/>'
        for (look, cut), pieces in groupby(self.pieces, lambda piece: piece[:2]):
            within = f' clip-path="url(#{cut})"' if cut else ""
            body += f'<g class="{look}"{within}>{"".join(element(one, ids) for one in pieces)}</g>'
        wide, high = short(self.wide), short(self.high)
        size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
        return (
            f'{BEGINS} xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}">\n'
            f"<title>{safe(alt)}</title>\n<style>{sheet(self.looks)}</style>\n"
            f"<defs>{defs}</defs>\n{body}\n</svg>\n"
        )


class FigureCanvas(FigureCanvasBase):
    """Let `figure.savefig` draw: matplotlib looks for this name in a backend."""

    def print_svg(self, file: IO[bytes], *, alt: str = "", **_: object) -> None:
        renderer = Renderer(*self.figure.bbox.size, self.figure.dpi)
        self.figure.draw(renderer)
        file.write(renderer.document(alt).encode())


def element(piece: Piece, ids: dict[str, str]) -> str:
    """Return a piece as SVG."""
    if piece.data[:1] == "<":
        return piece.data
    x, y = short(piece.x), short(piece.y)
    if piece.data in ids:
        return f'<use href="#{ids[piece.data]}" x="{x}" y="{y}"/>'
    return f'<path d="M{x} {y}{piece.data}"/>'.replace(" -", "-")


def steps(segments: list[tuple[list[float], list[float], int]]) -> Iterator[str]:
    """Yield the commands of a path from its first place, to a tenth of a px; steps on one line that
    goes across or up are one.
    """
    here, start, row, so_far = (0.0, 0.0), (0.0, 0.0), "", 0.0
    for xs, ys, code in segments:
        ends = [(round(float(x), 1), round(float(y), 1)) for x, y in zip(xs, ys, strict=True)]
        dx, dy = round(ends[-1][0] - here[0], 1), round(ends[-1][1] - here[1], 1)
        is_line, is_flat = code == Path.LINETO, not dx or not dy
        if is_line and not dx and not dy:
            continue
        step = ("v" if not dx else "h") if is_line and is_flat else ""
        if row and (step != row or so_far * (dx + dy) < 0):
            yield f"{row}{short(so_far)}"
            row, so_far = "", 0.0
        if step:
            row, so_far, here = step, so_far + dx + dy, ends[-1]
        elif code == Path.CLOSEPOLY:
            yield "z"
            here = start
        elif (dx, dy) != (0, 0) or code != Path.MOVETO or here != (0, 0):
            moved = (f"{short(x - here[0])} {short(y - here[1])}" for x, y in ends)
            yield f"{SIGNS[code]}{' '.join(moved)}"
            start, here = (ends[-1] if code == Path.MOVETO else start), ends[-1]
    if row:
        yield f"{row}{short(so_far)}"


def painted(name: str, colour: Colour | None, is_area=False) -> list[tuple[str, str, str]]:
    """Return the rules of a colour, none where nothing is seen; words may stand on an area."""
    opaque = 0.0 if colour is None else (*colour, 1)[3]
    if not opaque:
        return []
    rules = [(name, *in_themes(to_hex(colour), is_area))]
    return rules if opaque == 1 else [*rules, same(f"{name}-opacity", f"{opaque:.2g}")]


def same(name: str, value: str) -> tuple[str, str, str]:
    return name, value, value


def in_themes(colour: str, is_area: bool) -> tuple[str, str]:
    """Return a colour in the light and in the dark, where light and dark change places.

    Greys run from the ink of a theme to its ground.
    """
    if colour in OURS and not is_area:
        return palette.LIGHT[OURS[colour]], palette.DARK[OURS[colour]]
    parts = parted(colour)
    if len(set(parts)) == 1:
        return between(palette.LIGHT, parts), between(palette.DARK, parts)
    turned = parted(between(palette.DARK, parts))
    bright = 2 * (0.213 * turned[0] + 0.715 * turned[1] + 0.072 * turned[2])
    return colour, to_hex([min(max(bright - part, 0), 1) for part in turned])


def parted(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def between(theme: dict[str, str], parts: list[float]) -> str:
    """Return a colour of a theme: its ink for 0, its ground for 1."""
    ends = zip(parts, parted(theme["ink"]), parted(theme["ground"]), strict=True)
    return to_hex([ink + (ground - ink) * part for part, ink, ground in ends])


def sheet(looks: dict[Rules, str]) -> str:
    """Return the rules of all classes; in the dark only colours differ."""
    light: dict[str, list[str]] = {}
    dark: dict[str, list[str]] = {}
    for rules, name in looks.items():
        for what, bright, dim in rules:
            light.setdefault(f"{what}:{bright}", []).append(f".{name}")
            if dim != bright:
                dark.setdefault(f"{what}:{dim}", []).append(f".{name}")
    return f"{grouped(light)}@media(prefers-color-scheme:dark){{{grouped(dark)}}}"


def short(number: float) -> str:
    """Return a number to a tenth, without signs that it can do without."""
    text = f"{round(float(number), 1) + 0:g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
