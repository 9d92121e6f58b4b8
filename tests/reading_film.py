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

    def wire(self, curve, arrow, box, what, times, factor):
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
        self.alt, self.code = data["alt"], data["code"]
        self.size = tuple(data["size"])
        self.stacks = [tuple(one) for one in data["stacks"]]
        self.actions = [self.action(nr, *one) for nr, one in enumerate(data["actions"])]
        self.marks = [self.mark(one) for one in data["marks"]]
        assert len(data["owned"]) == len(self.marks)
        assert all(0 <= owner <= len(self.marks) for owner in data["owned"])
        self.looks = [self.look(*one) for one in data["looks"]]
        self.scenes = data["scenes"]
        self.legend = [self.sample(*one) for one in data["legend"]]
        self.states = [self.state(*one) for one in data["states"]]
        self.begun = [(0, 0, 0)]
        for action in data["start"]:
            self.begun.append(self.step(self.begun[-1][2], action))
        del self.begun[0]
        for number in range(len(self.states)):
            self.trail(number)

    @property
    def frames(self):
        return self.states

    def action(self, nr, code, does, key, adds, group, anew):
        assert key == "1234567890"[nr : nr + 1]
        assert adds == 0 or self.stacks
        return code, does, key, self.column(adds), group, bool(anew)

    def column(self, numbers):
        """Return numbers as a tuple, None where they are 0."""
        return None if numbers == 0 else tuple(numbers)

    def sample(self, role, state, words):
        return class_of(self.role(role), self.role(state)), words

    def look(self, role, state, runs):
        words = None if runs == 0 else self.runs(runs)
        return class_of(self.role(role), self.role(state)), words

    def state(self, title, sentence, scene, patch, focus, text, ways, came, chosen, totals):
        assert focus in {0, *[self.data["owned"][nr] for nr in at(self.scenes, scene)]}
        lines = [self.line(number) for number in text]
        assert len(ways) == len(self.actions)
        assert len(totals) == len(self.stacks)
        for action in chosen:
            at(self.actions, action)
        return State(
            self.line(title),
            self.line(sentence),
            scene,
            self.worn(at(self.scenes, scene), pairs(patch)),
            focus,
            "\n".join(lines),
            [self.way(one) for one in ways],
            None if came == 0 else tuple(came),
            chosen,
            [self.column(total) for total in totals],
        )

    def worn(self, scene, patch):
        """Return (class, words) of every mark of a scene."""
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
        """Return (state, action, next state)."""
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
