"""Read the data of a player as its script does, strictly, and by the script's own rules for what is
now, done, on its way, free or full: `paintNodes` and `paintWires` of player/steps_picture.js in Python.
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


@dataclass
class State:
    """Hold one state of a lab, read: `marks` are (class, words) as they are seen, `ways` (next
    state or None where the map ends, error, whether it did nothing).
    """

    title: str
    sentence: str
    scene: int
    marks: list
    focus: int
    text: str
    ways: list
    came: tuple | None
    chosen: list
    totals: list


class Lab(Marks):
    """Read a film of a lab."""

    def __init__(self, text):
        super().__init__(json.loads(text, parse_constant=no_constant))
        data = self.data
        assert data["version"] == 3
        self.alt, self.code = of_type(data["alt"], str), many(data["code"], str)
        self.size = tuple(finite(*many(data["size"])))
        assert len(self.size) == 2
        assert min(self.size) > 0
        self.stacks = [self.stack(*many(one)) for one in many(data["stacks"])]
        self.actions = [self.action(nr, *many(one)) for nr, one in enumerate(many(data["actions"]))]
        self.marks = [self.mark(one) for one in many(data["marks"])]
        assert len(many(data["owned"], int)) == len(self.marks)
        assert all(0 <= owner <= len(self.marks) for owner in data["owned"])
        self.looks = [self.look(*many(one)) for one in many(data["looks"])]
        self.scenes = [many(one, int) for one in many(data["scenes"])]
        self.legend = [self.sample(*many(one)) for one in many(data["legend"])]
        self.states = [self.state(*many(one)) for one in many(data["states"])]
        self.begun = [(0, 0, 0)]
        for action in many(data["start"], int):
            self.begun.append(self.step(self.begun[-1][2], action))
        del self.begun[0]
        for number in range(len(self.states)):
            self.trail(number)

    @property
    def frames(self):
        return self.states

    def stack(self, name, *numbers):
        assert len(finite(*numbers)) == 5
        assert min(numbers[2:]) > 0, "no block has no room"
        return of_type(name, str), *numbers

    def action(self, nr, code, does, key, adds, group, anew):
        for words in (code, does, group):
            of_type(words, str)
        assert of_type(key, str) == "1234567890"[nr : nr + 1]
        assert of_type(anew, int) in (0, 1)
        if adds != 0:
            assert finite(*many(adds))
            assert self.stacks
        return code, does, key, self.column(adds), group, bool(anew)

    def column(self, numbers):
        """Return numbers as a tuple, None where they are 0."""
        if type(numbers) is int:
            assert numbers == 0
            return None
        return tuple(finite(*many(numbers)))

    def sample(self, role, state, words):
        return class_of(self.role(role), self.role(state)), of_type(words, str)

    def look(self, role, state, runs):
        words = None if runs == 0 else self.runs(runs)
        return class_of(self.role(role), self.role(state)), words

    def state(self, title, sentence, scene, patch, focus, text, ways, came, chosen, totals):
        assert of_type(focus, int) in {
            0,
            *[self.data["owned"][nr] for nr in at(self.scenes, scene)],
        }
        assert text
        lines = [self.line(number) for number in many(text, int)]
        assert len(many(ways)) == len(self.actions)
        assert len(many(totals)) == len(self.stacks)
        for action in many(chosen, int):
            at(self.actions, action)
        return State(
            self.line(title),
            self.line(sentence),
            scene,
            self.worn(at(self.scenes, scene), pairs(many(patch, int))),
            focus,
            "\n".join(lines),
            [self.way(one) for one in ways],
            None if came == 0 else tuple(many(came, int)),
            chosen,
            [self.column(total) for total in totals],
        )

    def worn(self, scene, patch):
        """Return (class, words) of every mark of a scene: its own, and those of the patch over
        them.
        """
        shown = [at(self.marks, number) for number in scene]
        found = [(mark.classes, mark.words) for mark in shown]
        for place, look in patch:
            at(found, place)
            classes, words = at(self.looks, look)
            assert words is None or shown[place].shape == "text"
            assert classes.split()[0] == found[place][0].split()[0], "a mark keeps its role"
            found[place] = classes, found[place][1] if words is None else words
        return [(classes, "".join([text for text, _ in words])) for classes, words in found]

    def way(self, way):
        if type(way) is list:
            to, error = way
            at(self.data["states"], to)
            assert self.line(error)
            return to, self.line(error), False
        if way == -1:
            return None, "", False
        if way == -2:
            return None, "", True
        at(self.data["states"], way)
        return way, "", False

    def step(self, number, action):
        """Return (state, action, next state); what does nothing stays where it is, -1 goes on to
        the next node of the same picture.
        """
        if action == -1:
            here, later = at(self.states, number), range(number + 1, len(self.states))
            nodes = [
                nr for nr in later if self.states[nr].focus and self.states[nr].scene == here.scene
            ]
            return number, action, nodes[0]
        to, _, is_idle = at(at(self.states, number).ways, action)
        assert to is not None or is_idle, "the map ends here"
        return number, action, number if is_idle else to

    def trail(self, number):
        """Return the steps that lead to a state: those of the start, or the shortest."""
        if number == (self.begun[-1][2] if self.begun else 0):
            return self.begun
        found = []
        while (came := self.states[number].came) is not None:
            before, action = came
            assert len(found) < len(self.states), "a ring"
            assert of_type(action, int) >= -1
            if action >= 0:
                assert self.step(before, action) == (before, action, number)
            found.insert(0, (before, action, number))
            number = before
        assert number == 0
        return found

    def blocks(self, trail, stack=0):
        """Return the numbers that lie on one another in a stack after a trail, the lowest first:
        what an action says that it adds is a block of its own where the total grew by just that.
        """
        layers, old = [], None
        for before, action, after in [(None, -1, 0), *trail]:
            assert before is None or self.states[before].totals[stack] == old
            new = self.states[after].totals[stack]
            adds = self.actions[action][3] if action >= 0 else None
            if new is None:
                layers = []
            elif old is None or (new != old and not adds_up(old, adds, new)):
                layers = [new]
            elif new != old:
                layers = [*layers, adds]
            old = new
        return [layer for layer in layers if any(layer)]

    def seen(self, number):
        """Return what a state shows: (class, words) of every mark."""
        return self.states[number].marks


def adds_up(old, adds, new):
    """Say whether what was there grew by what an action says that it adds."""
    if adds is None:
        return False
    grown = [after - before for before, after in zip(old, new, strict=True)]
    return len(grown) == len(adds) and all(
        abs(one - other) < 1e-4 for one, other in zip(grown, adds, strict=True)
    )


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def read(text):
    """Return a film, read from its JSON."""
    return Steps(text) if "moments" in json.loads(text) else Lab(text)


def is_in_order(numbers):
    return all(one <= other for one, other in pairwise(numbers))
