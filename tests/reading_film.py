"""Read the data of a player as its script does, strictly, and by the script's own rules for what is
now, done, on its way, free or full: `paintNodes` and `paintWires` of player/steps_picture.js in Python.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from course.publishing.films import schema

SHAPES = ("rect", "circle", "path", "polygon", "text")


def at(things, number):
    """Return one of the things; a number that leads nowhere is no number of ours."""
    assert 0 <= number < len(things), f"{number} of {len(things)}"
    return things[number]


def pairs(flat):
    return list(zip(flat[::2], flat[1::2], strict=True))


def class_of(role, state=""):
    """Return the classes that the script gives to a mark: each is one word."""
    assert " " not in state
    return f"m-{role.replace(' ', '-', 1)} s-{state}" if state else f"m-{role.replace(' ', '-', 1)}"


@dataclass
class Mark:
    shape: str
    classes: str
    at: object
    words: tuple = ()


@dataclass
class Scene:
    """Hold one view, read: `stops` are (first, last, moment)."""

    wires: list
    starts: list
    slots: list
    turns: list
    parent: int
    stops: list


class Marks:
    """Read what films of steps and of labs write alike."""

    def __init__(self, data):
        schema()(data)
        self.data = data

    def line(self, number):
        return at(self.data["lines"], number)

    def role(self, number):
        return at(self.data["roles"], number)

    def mark(self, mark):
        kind, role, state, *rest = mark
        shape, role, state = at(list(SHAPES), kind), self.role(role), self.role(state)
        classes = class_of(role, state)
        if shape == "text":
            x, y, *runs = rest
            return Mark(shape, classes, (x, y), self.runs(runs))
        if shape in ("rect", "circle"):
            return Mark(shape, classes, tuple(rest))
        (drawn,) = rest
        return Mark(shape, classes, drawn)

    def runs(self, flat):
        return tuple([(text, self.run(role)) for text, role in pairs(flat)])

    def run(self, number):
        assert " " not in self.role(number)
        return self.role(number)


class Steps(Marks):
    """Read a film of a backward."""

    def __init__(self, text):
        super().__init__(json.loads(text, parse_constant=no_constant))
        data = self.data
        self.steps = data["steps"]
        self.trouble = data["trouble"]
        assert self.trouble is None or self.trouble in range(self.steps)
        self.program = data["program"]
        self.alt, self.start = data["alt"], data["start"]
        self.tensors = [self.tensor(one) for one in data["tensors"]]
        self.moments = data["moments"]
        self.scenes = [self.scene(one) for one in data["scenes"]]
        for scene in self.scenes:
            at(self.scenes, scene.parent)
            for _, _, number in scene.stops:
                assert at(self.moments, number), "a stop without words"
            for turn in scene.turns:
                for _, view in turn["opens"]:
                    at(self.scenes, view)
        at(self.frames, self.start)

    @property
    def frames(self):
        return [(scene, stop) for scene in self.scenes for stop in scene.stops]

    def tensor(self, tensor):
        kind, shape, norm, health, *rest = tensor
        if not kind:
            return kind, shape, norm, health, 0, []
        assert 0 < rest[0] <= len(rest[1])
        return kind, shape, norm, health, *rest

    def what(self, what):
        """Return a text, a tensor, or None."""
        if what is None or type(what) is str:
            return what
        return at(self.tensors, what)

    def scene(self, scene):
        turns = [self.turn(*one) for one in scene["turns"]]
        assert len(scene["marks"]) == len(turns) + 1
        assert len(scene["names"]) == len(turns)
        flat = scene.get("stops")
        if flat is None:
            last = self.steps + 2 if self.steps else 1
            flat = [number for nr in range(last) for number in (nr - 1, nr - 1, nr)]
        for node, *_ in scene["corners"]:
            at(turns, node)
        return Scene(
            [self.wire(*one) for one in scene["wires"]],
            [self.start_wire(turns, *one) for one in scene["starts"]],
            [self.slot(turns, *one) for one in scene["slots"]],
            turns,
            scene["parent"],
            [tuple(flat[nr : nr + 3]) for nr in range(0, len(flat), 3)],
        )

    def turn(self, stretches, freed, inside, opens=()):
        stretches, opens = pairs(stretches), pairs(opens)
        return {"stretches": stretches, "freed": freed, "inside": inside, "opens": opens}

    def wire(self, curve, arrow, box, what, times, factor, *place):
        assert len(place) in (0, 2)
        line = {"curve": curve, "arrow": arrow, "box": box, "what": self.what(what)}
        return line | {"times": pairs(times), "factor": factor}

    def start_wire(self, turns, curve, arrow, box, what, node):
        first = next((first for first, _ in at(turns, node)["stretches"]), 0)
        line = {"curve": curve, "arrow": arrow, "box": box, "what": self.what(what)}
        return line | {"times": [(-1, first)], "node": node}

    def slot(self, turns, node, x, y, width, height, before, after):
        at(turns, node)
        before, after = self.what(before), self.what(after)
        return {"node": node, "box": (x, y, width, height), "before": before, "after": after}

    def nodes_at(self, view, stop):
        """Return of each node what is seen at a stop: (state, whether it is freed, its slots)."""
        scene = self.scenes[view]
        first, last, _ = scene.stops[stop]
        found = []
        for number, turn in enumerate(scene.turns):
            is_now = any(begin <= last and end >= first for begin, end in turn["stretches"])
            had = sum(max(0, min(end, last) - begin + 1) for begin, end in turn["stretches"])
            is_done = had > 0 and had == turn["inside"]
            frees = 0 <= turn["freed"] < last
            slots = []
            for slot in scene.slots:
                if slot["node"] == number:
                    slots.append(slot["after"] if is_done else slot["before"])
            found.append(("now" if is_now else "done" if is_done else "", frees, slots))
        return found

    def wires_at(self, view, stop):
        """Return of each wire what is seen at a stop: (state, whether it is new, what it shows)."""
        scene = self.scenes[view]
        first, last, _ = scene.stops[stop]
        found = []
        for wire in [*scene.starts, *scene.wires]:
            begun = [(begin, end) for begin, end in wire["times"] if begin <= last]
            is_new = first >= 0 and any(begin >= first for begin, _ in begun)
            state = ""
            if any(first <= end <= last for _, end in begun):
                state = "now"
            elif any(end > last for _, end in begun):
                state = "next"
            elif begun and len(begun) == len(wire["times"]):
                state = "done"
            found.append((state, is_new, wire["what"] if state else ""))
        return found


class Lab(Marks):
    """Read a film of a lab: `seen` is (class, words) of every mark of each state, `ways` are (next
    state or a code, error) of each action there.
    """

    def __init__(self, text):
        super().__init__(json.loads(text, parse_constant=no_constant))
        data = self.data
        self.drawn = [self.mark(one) for one in data["marks"]]
        assert len(data["owned"]) == len(self.drawn)
        self.looks = [self.look(*one) for one in data["looks"]]
        self.frames = data["states"]
        self.seen = [self.worn(at(data["scenes"], one[2]), pairs(one[3])) for one in self.frames]
        self.ways = [list(map(self.way, one[6])) for one in self.frames]
        for _, _, scene, _, focus, text, ways, _, chosen, totals in self.frames:
            assert focus in {0, *[data["owned"][nr] for nr in data["scenes"][scene]]}
            assert all(map(self.line, [number for number in text if number]))
            assert (len(ways), len(totals)) == (len(data["actions"]), len(data["stacks"]))
            assert all(action < len(data["actions"]) for action in chosen)

    def look(self, role, state, runs):
        words = None if runs == 0 else self.runs(runs)
        return class_of(self.role(role), self.role(state)), words

    def worn(self, scene, patch):
        """Return (class, words) of every mark of a scene."""
        shown = [at(self.drawn, number) for number in scene]
        found = [(mark.classes, mark.words) for mark in shown]
        for place, look in patch:
            classes, words = at(self.looks, look)
            assert words is None or shown[place].shape == "text"
            assert classes.split()[0] == at(found, place)[0].split()[0], "a mark keeps its role"
            found[place] = classes, found[place][1] if words is None else words
        return [(classes, "".join([text for text, _ in words])) for classes, words in found]

    def way(self, way):
        to, error = way if type(way) is list else (way, 0)
        assert to in (-1, -2) or at(self.frames, to)
        return to, self.line(error)


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def read(text):
    """Return a film, read from its JSON."""
    return Steps(text) if "moments" in json.loads(text) else Lab(text)


def is_in_order(numbers):
    return all(one <= other for one, other in pairwise(numbers))
