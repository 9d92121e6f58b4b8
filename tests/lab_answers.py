"""Read what the lessons answer about their labs, and press the keys of a lab: on its map, and in
plain torch.
"""

import re
import weakref
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import nbformat
import torch

from helpers import labs
from helpers.labs.engine.lab import with_buttons

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
LABS = {
    "02": labs.requires_grad,
    "03": labs.leaves,
    "04": labs.explorer,
    "06": labs.accumulation,
    "07": labs.lifecycle,
    "08": labs.who_records,
    "09": labs.versions,
    "11": labs.loop,
    "14": labs.hooks,
    "16": labs.shelf,
    "17": labs.jacobian,
    "18": labs.ranks,
}
FOLD = re.compile(
    r"<details><summary>(?:Answers: open them when you have played|Why\? Open it when you have run the cell)"
    r"</summary>\n\n(.*)\n\n</details>",
    re.S,
)
ITEM = re.compile(r"^(\d)\. (.*)", re.M)
KEYS = re.compile(r"`([0-9](?: [0-9→])*)`")
NAMED = {  # lessons whose answers name buttons in words, and what they call them
    "02": ("flag x", "flag y", "flag z", "grad mode", "add", "compare", "make integers"),
    "03": ("plain", "flagged", "cast", "scale", "flag", "retain", "backward"),
    "04": tuple(f"{nr} program" for nr in ("first", "second", "third", "fourth", "fifth")),
    "06": ("ones", "others", "zero", "none", "second name"),
    "07": ("forward",),
    "08": ("ordinary", "no grad", "inference", "detach", "data", "eval"),
    "09": ("forward", "no_grad", "minus", "detach", "data", "numpy", "direct", "clone", "backward"),
    "11": ("forward",),
    "14": ("tenfold", "one_more", "keep", "halve", "forward", "backward"),
    "16": ("others", "seven", "one", "no_grad", "eval", "train", "step", "hook"),
    "17": (
        "row",
        "all rows",
        "column",
        "all columns",
        "even columns",
        "odd columns",
        "arrow",
        "band",
    ),
}
PRESSES = re.compile(r"\*[a-z_ ]+\*(?:, (?:`[^`]+`|\*[a-z_ ]+\*))*")
DIGITS = "1234567890"


@dataclass(frozen=True)
class Answer:
    """Hold one answer: its bold sentence, its reason, and the keys that it tells to press."""

    bold: str
    reason: str
    keys: tuple[str, ...]


@cache
def around(lesson):
    """Return the text before the cell of a lab, that cell, the text after it, and the notes."""
    (path,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    (at,) = [nr for nr, cell in enumerate(cells) if cell.source == f"labs.{LABS[lesson].name}()"]
    return cells[at - 1 : at + 3]


def items(text):
    """Return the numbered items of a text: (number, words)."""
    return [(int(nr), words) for nr, words in ITEM.findall(text)]


@cache
def answers(lesson):
    """Return the answers under the fold after a lab, by number."""
    found = {}
    for nr, words in items(FOLD.fullmatch(around(lesson)[2].source)[1]):
        bold, reason = re.fullmatch(r"\*\*(.+?)\*\* (.+)", words).groups()
        found[nr] = Answer(bold, reason, tuple(KEYS.findall(reason) or in_words(lesson, reason)))
    return found


def in_words(lesson, reason):
    """Return the keys of what an answer names in words: a button by its name or by its code."""
    key = {f"`{action.code}`": key for key, action in lines(lesson).items()}
    key |= {f"*{name}*": DIGITS[place] for place, name in enumerate(NAMED.get(lesson, ()))}
    return [" ".join(key[one] for one in row.split(", ")) for row in PRESSES.findall(reason)]


def lines(lesson):
    """Return the actions of a lab by their keys."""
    return dict(zip(DIGITS, with_buttons(LABS[lesson].world), strict=False))


def named(lesson):
    """Return the keys that lead to each named state of a lab."""
    key = {action.name: key for key, action in lines(lesson).items()}
    lab = LABS[lesson]
    return [" ".join(key[one] for one in lab.path(name)) for name in lab.names]


def walk(lesson, keys):
    """Return the state on the map after keys, and what the last of them raised."""
    buttons = {key: action.name for key, action in lines(lesson).items()}
    path = tuple([buttons.get(key, "look_on") for key in keys.split()])
    way = LABS[lesson].map().walk(path)
    return LABS[lesson].map().states[way.to], way.error


class Mark:
    """Lie in a node's metadata: it lives as long as the node does."""


class Prompt:
    """Run the lines of a lab as a Python prompt would, with nothing of the labs' engine."""

    def __init__(self, lesson):
        self.lesson, self.error, self.second = lesson, "", "b = a + z"
        self.marks = weakref.WeakSet()
        self.begin()

    def begin(self):
        self.names = {"torch": torch, "nn": torch.nn}
        if self.lesson == "16":
            torch._dynamo.reset()
        exec("\n".join(LABS[self.lesson].world.setup), self.names)
        self.follow()

    def follow(self):
        """Run the two lines of lesson 02, which follow every key; mark the nodes of lesson 07."""
        if self.lesson == "02":
            exec(f"a = x + y; {self.second}", self.names)
        if self.lesson == "07":
            for node in self.nodes():
                if "mark" not in node.metadata:
                    node.metadata["mark"] = Mark()
                    self.marks.add(node.metadata["mark"])

    def press(self, keys):
        """Press keys, one after the other; what the last of them raises is kept."""
        with torch.enable_grad():
            for key in keys.split():
                self.run(lines(self.lesson)[key])
        return self

    def run(self, action):
        self.error = ""
        if action.anew:
            self.begin()
        try:
            if self.lesson == "02" and action.group == "line of b":
                self.second = action.code
            else:
                exec(action.code, self.names)
            self.follow()
        except Exception as raised:
            self.error = f"{type(raised).__name__}: {raised}"

    def __getitem__(self, name):
        """Return what a name, or "x.grad", is bound to. Raises KeyError where it is not."""
        owner, _, grad = name.partition(".")
        one = self.names[owner]
        if not grad or one is None:
            return one
        return one.grad if one.is_leaf or one.retains_grad else None

    def numbers(self, name):
        """Return the numbers under a name as a list, None where there is no tensor."""
        one = self[name]
        return None if one is None else one.tolist()

    def nodes(self):
        """Return the nodes behind h and loss, AccumulateGrad apart."""
        waits = [self.names[name].grad_fn for name in ("h", "loss") if name in self.names]
        found = []
        while waits:
            node = waits.pop()
            if node not in found and not hasattr(node, "variable"):
                found.append(node)
                waits += [child for child, _ in node.next_functions]
        return found

    def bytes(self):
        """Return how many bytes those nodes hold for backward."""
        held = [one for node in self.nodes() for one in saved(node).values()]
        return sum({one.data_ptr(): one.nbytes for one in held}.values())


def saved(node):
    """Return the tensors that a node has saved, by name; none where they are freed."""
    found = {}
    for name in dir(node):
        if not name.startswith("_saved_"):
            continue
        try:
            one = getattr(node, name)
        except RuntimeError:
            continue  # freed
        if isinstance(one, torch.Tensor):
            found[name.removeprefix("_saved_")] = one
    return found


def at(lesson, keys):
    return Prompt(lesson).press(keys)


def solutions(lesson, presses, is_seen):
    """Return all sequences of so many keys that lead to a state, or an error, that is asked for."""
    paths = [" ".join(path) for path in product(lines(lesson), repeat=presses)]
    return [keys for keys in paths if is_seen(*walk(lesson, keys))]


def fewest(lesson, is_seen):
    """Return the fewest presses to a state, or an error, of the map that is asked for."""
    states = LABS[lesson].map().states
    found = []
    for state in states:
        for action in lines(lesson).values():
            to, error = state.after(action.name)
            if to is not None and is_seen(states[to], error):
                found.append(len(state.path) + 1)
    return min(found)
