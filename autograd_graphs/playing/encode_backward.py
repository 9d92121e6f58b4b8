"""Turn a film of a backward into compact plain data, ready for JSON: numbers, words and roles.

film.schema.json says of each field what it holds. A step that is never shown has 0 for its moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

from autograd_graphs.data import Gradient, Span
from autograd_graphs.drawing.devices import Device
from autograd_graphs.drawing.diagram import arrow
from autograd_graphs.drawing.display_list import Mark, Runs, path_data, points_data
from autograd_graphs.drawing.for_player import Line, PlayerPicture
from autograd_graphs.playing.backward_film import BackwardFilm, Cell, Moment, Scene, Turn, What
from autograd_graphs.playing.equations import brief, shape
from autograd_graphs.recording.gradient_health import health_of
from autograd_graphs.text import visible

VERSION = 2
SHAPES = ("rect", "circle", "path", "polygon", "text")
STEPS = 9  # sizes of squares
HIGH = 30  # the highest bar
LONGEST, LONGEST_NAME = 600, 120  # characters of a sentence, of a name
NOT_A_NUMBER, INFINITE = 99, 98


class Pool:
    """Number things as they come; equal things share a number."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}

    def __call__(self, thing: object) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))

    @property
    def things(self) -> list:
        return list(self.numbers)


class Encoder:
    """Write one film."""

    def __init__(self) -> None:
        self.lines, self.tensors, self.roles = Pool(), Pool(), Pool()
        self.lines("")  # number 0, which moments leave out
        self.program: tuple[str, ...] = ()

    def film(self, film: BackwardFilm) -> dict:
        self.program = film.program
        return {
            "version": VERSION,
            "alt": visible(film.alt, LONGEST),
            "steps": film.steps,
            "start": film.start,
            "trouble": film.trouble,
            "program": list(map(source, film.program)),
            "remarks": list(map(visible_sentence, film.remarks)),
            "moments": list(map(self.moment, film.moments)),
            "scenes": list(map(self.scene, film.scenes)),
            "roles": self.roles.things,  # last: what stands above has put things in
            "lines": self.lines.things,
            "tensors": list(map(tensor, self.tensors.things)),
        }

    def line_number(self, text: str) -> int:
        return self.lines(shown(text))

    def what(self, what: What) -> str | int | None:
        return self.tensors(what) if isinstance(what, Gradient) else what

    def moment(self, moment: Moment | None) -> dict | int:
        if moment is None:
            return 0
        record = {
            "title": self.line_number(moment.title),
            "kind": moment.kind and self.line_number(moment.kind),
            "say": self.line_number(moment.sentence),
            "ask": moment.question and self.line_number(moment.question),
            "rows": [list(map(self.cell, row)) for row in moment.rows],
            "choices": list(moment.choices),
            "formulas": [
                [self.line_number(name), self.line_number(rule)] for name, rule in moment.formulas
            ],
            "way": moment.whole_way,
            "bars": list(map(bar, moment.bars)),
            "bytes": moment.bytes_held,
            "mark": columns(moment.span, self.program),
            "health": moment.health,
            "error": int(moment.is_error),
        }
        return {name: value for name, value in record.items() if value not in ("", [], 0, None)}

    def cell(self, cell: Cell) -> list:
        """Return one piece of an equation: [role, what, words], and 1 where it may be asked."""
        piece = [cell.role, self.what(cell.what), self.line_number(cell.caption)]
        return [*piece, 1] if cell.is_asked else piece

    def scene(self, scene: Scene) -> dict:
        """Return a picture, and what becomes of what is in it."""
        picture = scene.picture
        data = self.drawn(picture, scene)
        data |= {
            "turns": list(map(turn_data, scene.turns[: picture.drawn])),
            "names": list(map(visible_name, scene.names[: picture.drawn])),
            "keys": list(map(key, picture.keys)),
            "parent": scene.parent,
            "stopped": -1 if scene.stopped_at is None else scene.stopped_at,
            "text": self.lines("\n".join(map(visible, scene.text.split("\n")))),
        }
        if scene.lying:
            data["lying"] = self.drawn(scene.lying, scene)
        if any(stop.last > stop.first for stop in scene.stops):
            data["stops"] = flat((stop.first, stop.last, stop.moment) for stop in scene.stops)
        return data

    def drawn(self, picture: PlayerPicture, scene: Scene) -> dict:
        data = {
            "size": [picture.width, picture.height],
            "marks": self.marks(picture.marks, picture.drawn),
            "wires": [],
            "starts": [],
            "slots": [],
            "corners": list(map(list, picture.corners)),
        }
        for line in picture.lines:
            if line.edge is not None:
                data["wires"].append(self.wire(line, scene))
        for line in picture.lines:
            if line.edge is None:
                data["starts"].append(self.start(line, scene))
        for slot in picture.slots:
            data["slots"].append(self.slot(slot.node, slot.box, scene))
        return data

    def marks(self, marks: Sequence[Mark], nodes: int) -> list[list]:
        """Return the marks of the whole picture, then those of each node."""
        groups: list[list] = [[] for _ in range(nodes + 1)]
        for mark in marks:
            place = 0
            if mark.owner is not None and mark.owner.kind == "node":
                place = mark.owner.number + 1
            groups[place].append(self.mark(mark))
        return groups

    def mark(self, mark: Mark) -> list:
        """Return a mark: [number of its shape, role, state, …]."""
        start = [SHAPES.index(mark.shape), self.roles(mark.role), self.roles(mark.state)]
        if mark.shape == "path":
            return [*start, path_data(mark.at)]
        if mark.shape == "polygon":
            return [*start, points_data(mark.at)]
        if mark.shape != "text":
            return [*start, *mark.at]
        return [*start, *mark.at, *self.runs(mark.runs)]

    def runs(self, runs: Runs) -> list:
        """Return pieces of text, each followed by the number of its role."""
        pieces: list[object] = []
        for text, role in runs:
            pieces += [visible(text), self.roles(role)]
        return pieces

    def wire(self, line: Line, scene: Scene) -> list:
        """Return [curve, arrow, capsule, what, times, factor], and where the factor begins."""
        flow = scene.flows[line.edge]
        wire = [*self.curve(line), self.what(flow.carried), flat(flow.times), flow.factor]
        return [*wire, *line.factor] if line.factor else wire

    def start(self, line: Line, scene: Scene) -> list:
        """Return [curve, arrow, capsule, what, node] of what enters a root from above."""
        return [*self.curve(line), self.what(dict(scene.starts)[line.target]), line.target]

    def curve(self, line: Line) -> list:
        """Return a curve, its arrow and the box of its capsule."""
        points, corners = flat(line.curve), flat(arrow(line.curve))
        box = list(line.capsule) if line.capsule else 0
        return [path_data(list(map(round, points))), points_data(list(map(round, corners))), box]

    def slot(self, node: int, box: Sequence[int], scene: Scene) -> list:
        """Return [node, x, y, width, height, before, after]."""
        before, after = scene.turns[node].slot or (None, None)
        return [node, *box, self.what(before), self.what(after)]


def turn_data(turn: Turn) -> list:
    """Return [stretches, freed, inside, opens] of a node, without what is empty at its end."""
    freed = -1 if turn.freed is None else turn.freed
    data = [flat(turn.stretches), freed, turn.inside]
    return [*data, flat(turn.opens)] if turn.opens else data


def shown(text: str) -> str:
    """Return a text in which nothing is hidden; its lines stay lines."""
    return "\n".join(map(visible_sentence, text.split("\n")))


def visible_name(text: str) -> str:
    return visible(text, LONGEST_NAME)


def visible_sentence(text: str) -> str:
    return visible(text, LONGEST)


def flat(groups: Iterable[Iterable]) -> list:
    return list(chain.from_iterable(groups))


def key(entry: str | Device) -> str | list:
    """Return an entry of the legend: its key, or bars and words of a device."""
    return entry if isinstance(entry, str) else [entry.bars, entry.words]


def source(line: str) -> str:
    """Return a line of the program in which what cannot be seen is a sign, of one column too."""
    line = line.replace("\t", " ")
    for letter in set(line):
        if not letter.isprintable():
            line = line.replace(letter, "�")
    return line


def columns(span: Span | None, program: Sequence[str]) -> list | None:
    """Return a span as the script counts columns, to which some letters are two."""
    if span is None:
        return None
    line = source(program[span.line])
    places = [span.line]
    for at in (span.start, span.stop, span.op_start, span.op_stop):
        before = line[: max(at, 0)]
        places.append(at + sum(letter > "\uffff" for letter in before))
    return places


def bar(named: tuple[str, float]) -> list:
    """Return the name of a bar and a norm to four digits, as JSON can hold it."""
    name, size = named
    if not math.isfinite(size):
        return [name, 0]
    return [name, float(f"{size:.4g}")]


def tensor(gradient: Gradient) -> list:
    """Return [kind, shape, norm, health, columns, numbers] of a tensor."""
    norm = "" if gradient.norm is None else brief(gradient.norm)
    words = [shape(gradient.shape), norm, health_of(gradient)]
    if gradient.tile is not None:
        return [1, *words, len(gradient.tile[0]), squares(flat(gradient.tile))]
    if gradient.bins is not None:
        most = max(gradient.bins) or 1
        heights = [round(HIGH * math.sqrt(count / most)) for count in gradient.bins]
        return [2, *words, len(heights), heights]
    return [0, *words]


def squares(values: Sequence[float]) -> list[int]:
    """Return the side of each value's square: it goes with the root of the magnitude."""
    most = max(map(abs, filter(math.isfinite, values)), default=0) or 1
    return [square(value, most) for value in values]


def square(value: float, most: float) -> int:
    """Return the signed size of one square: at least 1 for what is not 0."""
    if value == 0:
        return 0
    if math.isnan(value):
        return NOT_A_NUMBER
    size = INFINITE
    if math.isfinite(value):
        size = max(1, round(STEPS * math.sqrt(abs(value) / most)))
    return round(math.copysign(size, value))
