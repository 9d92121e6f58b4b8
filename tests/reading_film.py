"""Read the data of a player as its script does, strictly, and by the script's own rules for what is
now, done, on its way, free or full: `paintNodes` and `paintWires` of player.js in Python.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise

CLASS = re.compile(r"[a-z0-9-]+\Z")
CURVE = re.compile(r"M-?\d+,-?\d+ C(-?\d+,-?\d+ ?){3}\Z")
SHAPES = ("rect", "circle", "path", "polygon", "text")
HEALTH = {"NaN", "inf", "zero", "exploding"}
SAMPLES = {"operation", "folded", "leaf", "held", "freed", "none"}


def of_type(value, *kinds):
    """Return a value that is of one of these types and no other."""
    assert type(value) in kinds, f"{value!r} is none of {kinds}"
    return value


def many(value, *kinds):
    for one in of_type(value, list):
        if kinds:
            of_type(one, *kinds)
    return value


def at(things, number):
    """Return one of the things; a number that leads nowhere is no number of ours."""
    assert 0 <= of_type(number, int) < len(many(things)), f"{number} of {len(things)}"
    return things[number]


def finite(*numbers):
    assert all(math.isfinite(of_type(one, int, float)) for one in numbers)
    return list(numbers)


def pairs(flat):
    assert len(many(flat)) % 2 == 0
    return list(zip(flat[::2], flat[1::2], strict=True))


def class_of(role, state=""):
    """Return the classes that the script gives to a mark: each is one word."""
    names = [f"m-{role.replace(' ', '-', 1)}", *([f"s-{state}"] if state else [])]
    for name in names:
        assert CLASS.match(name), name
    return " ".join(names)


@dataclass
class Mark:
    shape: str
    classes: str
    at: object
    words: tuple = ()


@dataclass
class Scene:
    """Hold one view, read: `stops` are (first, last, moment)."""

    size: tuple
    marks: list
    wires: list
    starts: list
    slots: list
    corners: list
    turns: list
    names: list
    keys: list
    parent: int
    text: str
    stops: list


class Marks:
    """Read what films of steps and of labs write alike."""

    def __init__(self, data):
        self.data = data
        many(data["lines"], str)
        for role in many(data["roles"], str):
            class_of(role or "x")

    def line(self, number):
        return at(self.data["lines"], number)

    def role(self, number):
        return at(self.data["roles"], number)

    def mark(self, mark):
        kind, role, state, *rest = many(mark)
        shape, role, state = at(list(SHAPES), kind), self.role(role), self.role(state)
        classes = class_of(role, state)
        if shape == "text":
            x, y, *runs = rest
            return Mark(shape, classes, tuple(finite(x, y)), self.runs(runs))
        if shape in ("rect", "circle"):
            assert len(rest) == {"rect": 5, "circle": 3}[shape]
            return Mark(shape, classes, tuple(finite(*rest)))
        (drawn,) = rest
        assert re.fullmatch(r"[-+MCL0-9., e]*", of_type(drawn, str)), drawn
        return Mark(shape, classes, drawn)

    def runs(self, flat):
        return tuple([(of_type(text, str), self.run(role)) for text, role in pairs(flat)])

    def run(self, number):
        role = self.role(number)
        assert not role or CLASS.match(f"m-run-{role}"), role
        return role


class Steps(Marks):
    """Read a film of a backward."""

    def __init__(self, text):
        super().__init__(json.loads(text, parse_constant=no_constant))
        data = self.data
        assert data["version"] == 2
        self.steps = of_type(data["steps"], int)
        self.trouble = data["trouble"]
        assert self.trouble is None or self.trouble in range(self.steps)
        self.program = many(data["program"], str)
        self.remarks = many(data["remarks"], str)
        self.alt, self.start = of_type(data["alt"], str), of_type(data["start"], int)
        self.tensors = [self.tensor(one) for one in many(data["tensors"])]
        self.moments = [None if one == 0 else self.moment(one) for one in many(data["moments"])]
        self.scenes = [self.scene(one) for one in many(data["scenes"])]
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
        kind, shape, norm, health, *rest = many(tensor)
        for text in (shape, norm, health):
            of_type(text, str)
        assert health in HEALTH | {""}
        if not of_type(kind, int):
            return kind, shape, norm, health, 0, []
        columns, numbers = rest
        assert 0 < of_type(columns, int) <= len(many(numbers, int))
        assert kind in (1, 2)
        return kind, shape, norm, health, columns, numbers

    def what(self, what):
        """Return a text, a tensor, or None."""
        if what is None or type(what) is str:
            return what
        return at(self.tensors, what)

    def moment(self, moment):
        of_type(moment, dict)
        rows = [[self.cell(cell) for cell in many(row)] for row in many(moment.get("rows", []))]
        bars = [self.bar(*many(bar)) for bar in many(moment.get("bars", []))]
        mark = moment.get("mark")
        if mark is not None:
            line, *columns = many(mark, int)
            assert len(columns) == 4
            at(self.program, line)
        assert moment.get("health", "") in HEALTH | {""}
        return {
            "title": self.line(moment.get("title", 0)),
            "kind": self.line(moment.get("kind", 0)),
            "sentence": self.line(moment.get("say", 0)),
            "question": self.line(moment.get("ask", 0)),
            "rows": rows,
            "choices": many(moment.get("choices", []), str),
            "formulas": [self.formula(*many(one)) for one in many(moment.get("formulas", []))],
            "whole_way": of_type(moment.get("way", ""), str),
            "bars": bars,
            "bytes_held": of_type(moment.get("bytes", 0), int),
            "span": mark,
            "health": moment.get("health", ""),
            "is_error": bool(of_type(moment.get("error", 0), int)),
        }

    def cell(self, cell):
        role, what, words, *asked = many(cell)
        assert CLASS.match(of_type(role, str))
        assert asked in ([], [1])
        return role, self.what(what), self.line(words), bool(asked)

    def bar(self, name, size):
        return of_type(name, str), *finite(size)

    def formula(self, name, rule):
        return self.line(name), self.line(rule)

    def scene(self, scene):
        count = len(many(scene["turns"]))
        turns = [self.turn(*many(one)) for one in scene["turns"]]
        marks = [[self.mark(one) for one in many(group)] for group in many(scene["marks"])]
        assert len(marks) == count + 1
        flat = scene.get("stops")
        if flat is None:
            last = self.steps + 2 if self.steps else 1
            flat = [number for nr in range(last) for number in (nr - 1, nr - 1, nr)]
        assert flat
        assert len(many(flat, int)) % 3 == 0
        for key in many(scene["keys"]):
            if type(key) is not str:
                bars, words = many(key)
                assert 0 <= of_type(bars, int) < 10
                of_type(words, str)
            else:
                assert key in SAMPLES
        corners = [tuple(finite(*many(one))) for one in many(scene["corners"])]
        for node, *corner in corners:
            at(turns, node)
            assert len(corner) == 2
        names = many(scene["names"], str)
        assert len(names) == count
        return Scene(
            tuple(finite(*scene["size"])),
            marks,
            [self.wire(*many(one)) for one in many(scene["wires"])],
            [self.start_wire(turns, *many(one)) for one in many(scene["starts"])],
            [self.slot(turns, *many(one)) for one in many(scene["slots"])],
            corners,
            turns,
            names,
            scene["keys"],
            of_type(scene["parent"], int),
            self.line(scene["text"]),
            [tuple(flat[nr : nr + 3]) for nr in range(0, len(flat), 3)],
        )

    def turn(self, stretches, freed, inside, opens=()):
        finite(freed, inside)
        opens = pairs(many(list(opens), int)) if opens else []
        return {
            "stretches": pairs(many(stretches, int)),
            "freed": freed,
            "inside": inside,
            "opens": opens,
        }

    def wire(self, curve, arrow, box, what, times, factor):
        many(times, int)
        line = self.line_of(curve, arrow, box)
        return line | {
            "what": self.what(what),
            "times": pairs(times),
            "factor": of_type(factor, str),
        }

    def start_wire(self, turns, curve, arrow, box, what, node):
        first = next((first for first, _ in at(turns, node)["stretches"]), 0)
        line = self.line_of(curve, arrow, box)
        return line | {"what": self.what(what), "times": [(-1, first)], "node": node}

    def line_of(self, curve, arrow, box):
        for text in (curve, arrow):
            assert re.fullmatch(r"[-+MCL0-9., e]*", of_type(text, str)), text
        if box != 0:
            assert len(finite(*many(box))) == 4
        return {"curve": curve, "arrow": arrow, "box": box}

    def slot(self, turns, node, x, y, width, height, before, after):
        at(turns, node)
        finite(x, y, width, height)
        return {
            "node": node,
            "box": (x, y, width, height),
            "before": self.what(before),
            "after": self.what(after),
        }

    def nodes_at(self, view, stop, hides=False):
        """Return of each node what is seen at a stop: (state, whether it is freed, its slots)."""
        scene = self.scenes[view]
        first, last, _ = scene.stops[stop]
        found = []
        for number, turn in enumerate(scene.turns):
            is_now = any(begin <= last and end >= first for begin, end in turn["stretches"])
            had = sum(max(0, min(end, last) - begin + 1) for begin, end in turn["stretches"])
            is_done = had > 0 and had == turn["inside"]
            is_secret = is_now and hides
            frees = 0 <= turn["freed"] < last
            slots = []
            for slot in scene.slots:
                if slot["node"] == number:
                    after = slot["after"] if is_done and not is_secret else slot["before"]
                    slots.append("?" if is_secret else after)
            found.append(("now" if is_now else "done" if is_done else "", frees, slots))
        return found

    def wires_at(self, view, stop, hides=False):
        """Return of each wire what is seen at a stop: (state, whether it is new, what it shows).

        Those come first along which the first gradients enter.
        """
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
            shown = "?" if is_new and hides else wire["what"] if state else ""
            found.append((state, is_new and not hides, shown))
        return found


class Lab(Marks):
    """Read a film of a lab."""

    def __init__(self, text):
        super().__init__(json.loads(text, parse_constant=no_constant))
        data = self.data
        assert data["version"] == 2
        for words, key in many(data["actions"]):
            of_type(words, str)
            of_type(key, str)
        many(data["sizers"], str)
        assert data["parts"]
        for part in many(data["parts"]):
            assert len(finite(*many(part))) == 4
        self.marks = [self.mark(one) for one in many(data["marks"])]
        assert len(many(data["owned"], int)) == len(self.marks)
        self.looks = [self.look(*many(one)) for one in many(data["looks"])]
        self.scenes = [[at(self.marks, nr) for nr in many(one)] for one in many(data["scenes"])]
        self.frames = [self.frame(*many(one)) for one in many(data["frames"])]
        at(self.frames, data["start"])

    def look(self, role, state, runs, hidden):
        assert hidden in (0, 1)
        words = None if runs == 0 else self.runs(runs)
        return class_of(self.role(role), self.role(state)), words, bool(hidden)

    def frame(self, sentence, scene, patch, focus, moves, text):
        of_type(focus, int)
        marks = at(self.scenes, scene)
        for place, look in pairs(many(patch, int)):
            assert look == -1 or at(self.looks, look)
            assert place >= 0
        for action, to in pairs(many(moves, int)):
            at(self.data["actions"], action)
            at(self.data["frames"], to)
        return self.line(sentence), scene, pairs(patch), focus, pairs(moves), self.line(text), marks

    def seen(self, number):
        """Return what a frame shows: (class, words, hidden) of every mark."""
        worn = {}
        for _, _, patch, *_ in self.frames[: number + 1]:
            for place, look in patch:
                worn[place] = look
        found = []
        for place, mark in enumerate(self.frames[number][-1]):
            look = worn.get(place, -1)
            classes, words, hidden = (mark.classes, None, False) if look < 0 else self.looks[look]
            runs = mark.words if words is None else words
            found.append((classes, "".join(text for text, _ in runs), hidden))
        return found


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def read(text):
    """Return a film, read from its JSON."""
    return Steps(text) if "moments" in json.loads(text) else Lab(text)


def is_in_order(numbers):
    return all(one <= other for one, other in pairwise(numbers))
