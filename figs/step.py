"""Draw figs/step.svg, which opens the README: the real backward of e = (a·b + c)², step by step.

Every word and number comes from the film that `step_through` would play. The picture moves by CSS
alone; for whoever wants no motion it stands still on the product's step.
"""

from html import escape
from pathlib import Path

import torch

from autograd_graphs.drawing.diagram import arrow
from autograd_graphs.drawing.display_list import SHAPES, Mark, geometry
from autograd_graphs.drawing.palette import DARK, LIGHT, attributes
from autograd_graphs.drawing.svg import FONT
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.backward_film import BackwardFilm, Cell, Moment
from autograd_graphs.recording.record import record
from autograd_graphs.text import width

WIDE, HIGH = 940, 500
LEFT, TOP = 30, 26  # of the graph
PANEL = 430  # where the words begin
STEP = 2.4  # seconds that each stop is shown
STILL = 4  # the stop that is seen where nothing moves
BIG, SMALL = 34, 14  # px


def draw() -> str:
    """Return the picture as SVG text."""
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    e = (a * b + c) ** 2
    played = film(record(e, names={"a": a, "b": b, "c": c, "e": e}))
    stops = [Stop(played, nr) for nr in range(len(played.scenes[0].stops))]
    body = "\n".join([f'<g class="stop s{nr}">{stop.drawn()}</g>' for nr, stop in enumerate(stops)])
    alt = (
        "The backward of e = (a·b + c)², step by step: 1 enters at the top, each node multiplies "
        "what arrives by its local derivative, and c, a and b get 20, 60 and 40."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDE}" height="{HIGH}" '
        f'viewBox="0 0 {WIDE} {HIGH}" font-family="{FONT}">\n<title>{escape(alt)}</title>\n'
        f"<style>{sheet(len(stops))}</style>\n"
        f'<rect class="ground" x="0.5" y="0.5" width="{WIDE - 1}" height="{HIGH - 1}" rx="10"/>\n'
        f"{body}\n</svg>\n"
    )


class Stop:
    """Draw one stop of the film: the graph as it is then, and what the panel says."""

    def __init__(self, played: BackwardFilm, number: int) -> None:
        self.scene = played.scenes[0]
        self.stop = self.scene.stops[number]
        self.moment = played.moments[self.stop.moment]
        self.now, self.steps = self.stop.last, played.steps
        self.program = played.program

    def drawn(self) -> str:
        """Return all of it as SVG."""
        graph = "".join([*self.wires(), *map(self.mark, self.scene.picture.marks), *self.slots()])
        return f'<g transform="translate({LEFT} {TOP})">{graph}</g>{self.line()}{panel(self.moment, self.count())}'

    def line(self) -> str:
        """Return the line of the program, the operation of this step marked in it."""
        (words,), span = self.program, self.moment.span
        if span is None:
            return text("code", PANEL, 46, words, 17)
        pieces = [words[: span.start], words[span.start : span.stop], words[span.stop :]]
        before, marked, after = map(escape, pieces)
        inner = f'{before}<tspan class="marked">{marked}</tspan>{after}'
        return f'<text class="code" x="{PANEL}" y="46" font-size="17">{inner}</text>'

    def count(self) -> str:
        if self.now < 0:
            return f"{self.steps} steps"
        return "the end" if self.now == self.steps else f"step {self.now + 1} of {self.steps}"

    def state(self, node: int) -> str:
        """Return "now", "done" or ""."""
        ((turn, _),) = self.scene.turns[node].stretches
        return "now" if turn == self.now else "done" if turn < self.now else ""

    def wires(self) -> list[str]:
        """Return the wires with the gradients on them."""
        found = []
        starts = dict(self.scene.starts)
        for line in self.scene.picture.lines:
            if line.edge is None:
                what, first = starts[line.target], -1
            else:
                flow = self.scene.flows[line.edge]
                what, ((first, _),) = flow.carried, flow.times
            last = self.scene.turns[line.target].stretches[0][0]
            state = "" if first > self.now else "done" if last < self.now else "next"
            state = "now" if last == self.now else state
            points = tuple([round(number) for point in line.curve for number in point])
            found.append(element(Mark("path", "edge", points, state=state)))
            corners = tuple([round(number) for point in arrow(line.curve) for number in point])
            found.append(element(Mark("polygon", "arrow", corners, state=state)))
            if state:
                x, y, wide, high = line.capsule
                found.append(element(Mark("rect", "capsule", (x, y, wide, high, 12), state=state)))
                runs = ((str(what), ""),)
                middle = (x + wide // 2, y + 17)
                found.append(element(Mark("text", "label", middle, runs=runs, state=state)))
        return found

    def mark(self, mark: Mark) -> str:
        """Return a mark of a card as it looks now."""
        if mark.owner is None or mark.owner.kind != "node":
            return element(mark)
        state, node = mark.state, mark.owner.number
        if mark.role in ("operation", "leaf"):
            state = self.state(node)
        if state == "held" and self.state(node):
            state = "freed"
        return element(Mark(mark.shape, mark.role, mark.at, None, mark.runs, state))

    def slots(self) -> list[str]:
        """Return what each `.grad` holds now."""
        found = []
        for slot in self.scene.picture.slots:
            state = self.state(slot.node)
            before, after = self.scene.turns[slot.node].slot
            what, look = (after, state) if state else (before, "none")
            x, y, wide, high = slot.box
            found.append(element(Mark("rect", "slot", (x, y, wide, high, 5), state=look)))
            role = "none" if what is None else f"grad{state}"
            runs = ((str(what), role),)
            found.append(element(Mark("text", "middle", (x + wide // 2, y + 17), runs=runs)))
        return found


def element(mark: Mark) -> str:
    """Return a mark as SVG; its colours are variables of the style sheet."""
    looks = ";".join(looks_of(mark.role, mark.state))
    if mark.shape == "text":
        x, y = mark.at
        runs = "".join([run(text, role) for text, role in mark.runs])
        return f'<text x="{x}" y="{y}" style="{looks}">{runs}</text>'
    tag, *names = SHAPES[mark.shape]
    pairs = zip(names, geometry(mark), strict=True)
    places = " ".join([f'{name}="{value}"' for name, value in pairs])
    return f'<{tag} {places} style="{looks}"/>'


def run(text: str, role: str) -> str:
    looks = ";".join(looks_of("run", role)) if role else ""
    return f'<tspan style="{looks}">{escape(text)}</tspan>'


def looks_of(role: str, state: str = "") -> list[str]:
    """Return the look of a mark as CSS, a colour as a variable."""
    names = {name: f"var(--{name})" for name in LIGHT}
    found = attributes(role, state, names)
    sizes = {"font-size", "stroke-width"}
    return [f"{name}:{value}{'px' if name in sizes else ''}" for name, value in found.items()]


def panel(moment: Moment, count: str) -> str:
    """Return what the panel says: the step, a sentence, the arithmetic, the whole way."""
    found = [text("faint", WIDE - 30, 92, count, SMALL, "end")]
    title = f'<tspan class="bold">{escape(moment.title)}</tspan>'
    found.append(f'<text class="title" x="{PANEL}" y="96">{title}{escape(moment.kind)}</text>')
    y = 130
    for line in wrapped(moment.sentence, WIDE - PANEL - 30):
        found.append(text("say", PANEL, y, line, 17))
        y += 24
    y += 34
    for row in moment.rows:
        found.append(equation(row, y))
        y += 92
    if moment.whole_way:
        found.append(text("say", PANEL, y + 6, f"the whole way: {moment.whole_way}", 17))
    return "".join(found)


def equation(row: tuple[Cell, ...], y: float) -> str:
    """Return one row of the arithmetic, with words under its cells."""
    x, found = float(PANEL), []
    for cell in row:
        size = 17 if cell.role == "words" else BIG
        words = str(cell.what)
        wide = width(words, size, bold=True) + (26 if cell.role in CAPSULES else 0)
        middle = x + wide / 2
        if cell.role in CAPSULES:
            place = f'x="{x:.0f}" y="{y - 34:.0f}" width="{wide}" height="50" rx="22"'
            found.append(f'<rect class="{cell.role}" {place}/>')
        look = cell.role if cell.role in CAPSULES else "sign" if cell.role == "sign" else "bold"
        found.append(text(f"{look} number", middle, y + 3, words, size, "middle"))
        caption = cell.caption.replace("\n", ", ")
        found.append(text("faint", middle, y + 36, caption, SMALL, "middle"))
        x += wide + 12
    return "".join(found)


CAPSULES = {"arrives": "now", "handed": "now", "before": "faint", "total": "done"}


def text(look: str, x: float, y: float, words: str, size: int, anchor: str = "start") -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text class="{look}" {place}>{escape(words)}</text>' if words else ""


def wrapped(words: str, wide: float) -> list[str]:
    """Break a sentence into lines."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if width(longer, 17) > wide:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def sheet(stops: int) -> str:
    """Return the style: colours of both themes, and when which stop is seen."""
    whole, part = STEP * stops, 100 / stops
    rules = [
        f"svg{{{colours(LIGHT)}}}",
        f"@media(prefers-color-scheme:dark){{svg{{{colours(DARK)}}}}}",
        ".ground{fill:var(--ground);stroke:var(--rim)}.bold{font-weight:650;fill:var(--ink)}"
        ".title{font-size:23px;fill:var(--faint)}.say{fill:var(--ink)}.sign,.faint{fill:var(--faint)}",
        ".code{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink);white-space:pre}"
        ".marked{fill:var(--now);font-weight:700;text-decoration:underline}",
        ".number{font-weight:650}.sign{font-weight:400}rect.before,rect.handed{stroke-dasharray:6 4}",
        *[
            f"rect.{name}{{fill:none;stroke:var(--{colour});stroke-width:2}}"
            for name, colour in CAPSULES.items()
        ],
        *[f"text.{name}{{fill:var(--{colour})}}" for name, colour in CAPSULES.items()],
        "rect.arrives{fill:var(--nowground)}",
        f"@keyframes seen{{0%,{part:.3f}%{{visibility:visible}}{part + 0.001:.3f}%,100%{{visibility:hidden}}}}",
        f".stop{{visibility:hidden;animation:seen {whole:g}s step-end infinite}}",
        *[f".s{nr}{{animation-delay:{STEP * nr:g}s}}" for nr in range(stops)],
        f"@media(prefers-reduced-motion:reduce){{.stop{{animation:none}}.s{STILL}{{visibility:visible}}}}",
    ]
    return "".join(rules)


def colours(theme: dict[str, str]) -> str:
    return ";".join([f"--{name}:{colour}" for name, colour in theme.items()])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
