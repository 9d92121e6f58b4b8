"""Make matplotlib's SVG of a figure small, in colours that follow a light or a dark page.

For `helpers.plots` alone.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import matplotlib
from matplotlib.colors import to_hex

from autograd_graphs.drawing import palette
from autograd_graphs.drawing.svg import FONT, grouped, letters, safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from matplotlib.figure import Figure

BEGINS = '<svg id="chart"'  # by which a test knows such a picture
SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
AS_WORDS = {"svg.fonttype": "none", "svg.hashsalt": "chart"}  # the same ids for the same figure
UNSEEN = ("metadata", "style")
NUMBER, LINK = re.compile(r"-?\d*\.\d+"), re.compile(r"#([\w-]+)")
STEP = re.compile(r"([MLQCz])([^MLQCz]*)")
# The first colours of matplotlib's lines, as the course's own; others are turned round in the dark.
OURS = {"#1f77b4": "leafrim", "#ff7f0e": "now", "#2ca02c": "done", "#d62728": "warn"}
PX = 100 / 72  # of a point
GROUND = (
    ((("fill", palette.LIGHT["ground"], palette.DARK["ground"]),), ".panel"),
    ((("stroke", palette.LIGHT["rim"], palette.DARK["rim"]),), ".panel"),
    ((("fill", palette.LIGHT["ink"], palette.DARK["ink"]),), "text"),
)
WHOLE = "data:", "matrix("  # pixels, and what makes each of them larger


def chart(figure: Figure, alt: str) -> str:
    """Return a figure as an SVG document whose words are text, on a ground of its own."""
    file = io.BytesIO()
    with matplotlib.rc_context(AS_WORDS):
        figure.savefig(file, format="svg", facecolor="none", metadata={"Date": None})
    drawn = file.getvalue().decode()
    root = ElementTree.fromstring(drawn)
    sheet = Sheet(set(LINK.findall(drawn)))
    body = "".join(map(sheet.element, root))
    wide, high = map(float, root.attrib["viewBox"].split()[2:])
    size = f'width="{short(wide * PX)}" height="{short(high * PX)}"'
    size += f' viewBox="0 0 {short(wide)} {short(high)}"'
    edge = f'width="{short(wide - 1)}" height="{short(high - 1)}" rx="7"'
    return (
        f'{BEGINS} xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}">\n'
        f"<title>{safe(alt)}</title>\n<style>{sheet.css()}</style>\n"
        f'<rect class="panel" x=".5" y=".5" {edge}/>{body}\n</svg>\n'
    )


class Sheet:
    """Write elements again, with the classes of their looks and with short ids."""

    def __init__(self, linked: set[str]) -> None:
        self.linked = linked  # the ids that something refers to
        self.ids: dict[str, str] = {}
        self.looks: dict[tuple[tuple[str, str, str], ...], str] = {}

    def element(self, node: Element) -> str:
        tag = node.tag.removeprefix(SVG)
        if tag in UNSEEN:
            return ""
        marks = "".join(f' {name}="{value}"' for name, value in self.attributes(node))
        body = safe((node.text or "").strip("\n")).strip() if tag in ("text", "tspan") else ""
        body += "".join(map(self.element, node))
        if tag == "g" and not (marks and body):
            return body
        return f"<{tag}{marks}>{body}</{tag}>" if body else f"<{tag}{marks}/>"

    def attributes(self, node: Element) -> Iterator[tuple[str, str]]:
        for name, value in node.items():
            if name == "id":
                if value in self.linked:
                    yield "id", self.id(value)
            elif name == "style":
                yield "class", self.look(value)
            elif name == "d":
                yield "d", path(value)
            elif not value.startswith("rotate(-0"):
                name = name.replace(HREF, "href")
                yield name, value if value.startswith(WHOLE) else self.shorter(value)

    def id(self, name: str) -> str:
        return self.ids.setdefault(name, f"s{len(self.ids)}")

    def shorter(self, value: str) -> str:
        """Return a value with short ids and short numbers."""
        value = LINK.sub(lambda link: f"#{self.id(link[1])}", value)
        return NUMBER.sub(lambda number: short(float(number[0])), value)

    def look(self, style: str) -> str:
        """Return the class of a style, whose colours have a light and a dark form."""
        written = (rule.split(":", 1) for rule in style.strip("; ").split(";"))
        own = {name.strip(): value.strip() for name, value in written}
        is_area = "font-size" not in own and "stroke" not in own
        rules = []
        for name, value in own.items():
            if name in ("fill", "stroke") and value.startswith("#"):
                rules.append((name, *in_themes(value, is_area)))
            elif name != "font-family":
                rules.append((name, *[self.shorter(value)] * 2))
        return self.looks.setdefault(tuple(rules), letters(len(self.looks)))

    def css(self) -> str:
        """Return the rules of all classes; in the dark only colours differ."""
        light: dict[str, list[str]] = {}
        dark: dict[str, list[str]] = {}
        looks = ((rules, f".{name}") for rules, name in self.looks.items())
        for rules, name in (*GROUND, *looks):
            for what, bright, dim in rules:
                light.setdefault(f"{what}:{bright}", []).append(name)
                if dim != bright:
                    dark.setdefault(f"{what}:{dim}", []).append(name)
        return f"{grouped(light)}@media(prefers-color-scheme:dark){{{grouped(dark)}}}"


def path(data: str) -> str:
    """Return the steps of a path to a tenth, without those that go nowhere."""
    steps, here = [], []
    for letter, numbers in STEP.findall(data):
        ends = [round(float(number), 1) for number in numbers.split()]
        if letter == "L" and ends == here:
            continue
        if letter == "L" and ends[1] == here[1]:
            steps.append(f"H{short(ends[0])}")
        elif letter == "L" and ends[0] == here[0]:
            steps.append(f"V{short(ends[1])}")
        else:
            steps.append(letter + " ".join(map(short, ends)))
        here = ends[-2:] or here
    return "".join(steps)


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


def short(number: float) -> str:
    """Return a number to a tenth, without signs that it can do without."""
    text = f"{round(float(number), 1) + 0:g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
