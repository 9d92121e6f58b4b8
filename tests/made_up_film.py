"""Small films for tests of the player: backwards in steps, and labs made by hand of real drawings."""

import random
from dataclasses import replace

import torch
from torch import nn

from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.palette import STYLE
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.film import ENDS, IDLE, Button, Change, LabFilm, LabState, Transition
from autograd_graphs.playing.stylesheet import css_class
from helpers import module_calls, record, snapshot


class Layer(nn.Module):
    """Return sin(2 sin(x * weight))."""

    def __init__(self, value):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(value))

    def forward(self, x):
        return (2 * (x * self.weight).sin()).sin()


def chained(length, name="x"):
    """Return the tensors of a chain of `length` multiplications by 2, by name; the leaf first."""
    names = {name: torch.tensor(2.0, requires_grad=True)}
    for nr in range(length):
        names[f"y{nr + 1}"] = last(names) * 2
    return names


def last(names):
    return list(names.values())[-1]


def chain(length, name="x"):
    """Return the graph of `length` multiplications in a row, down to one leaf."""
    names = chained(length, name)
    return snapshot(last(names), names=names)


def chain_trace(length, name="x"):
    names = chained(length, name)
    return replace(record(last(names), names=names), program=None)


def steps(length, name="x"):
    """Return the film of `length` multiplications by 2 and a leaf: length + 1 steps."""
    trace = chain_trace(length, name)
    return film(trace, f"A chain of {length} operations, step by step.")


def folded_trace(blocks=7):
    """Return the trace of equal module calls in a row, which is folded."""
    layers = nn.ModuleList([Layer(1.5 + nr / 8) for nr in range(blocks)])
    y = torch.tensor(0.5, requires_grad=True)
    with module_calls(layers) as calls:
        for layer in layers:
            y = layer(y)
    loss = y * 3
    return replace(record(loss, names=calls), program=None)


def folded(blocks=7):
    """Return the film of a graph that is folded."""
    return film(folded_trace(blocks), "Equal layers in a row, folded.")


def lab():
    """Return a lab of two switches: four states, each of its own scene, two actions."""
    scenes = tuple(drawing(chain(length)) for length in (1, 2, 3, 4))
    refused = Transition(3, "RuntimeError: both are on\nnothing is left to switch")
    ways = [
        (Transition(1), Transition(2)),
        (Transition(IDLE), Transition(3)),
        (Transition(3), Transition(IDLE)),
        (refused, Transition(ENDS)),
    ]
    titles = ["nothing is on", "a is on", "b is on", "both are on"]
    states = [
        LabState(title, f"{title}.", nr, text=f"{title}\na graph", transitions=ways[nr])
        for nr, title in enumerate(titles)
    ]
    came = [None, (0, 0), (0, 1), (1, 1)]
    chosen = [(), (0,), (1,), (0, 1)]
    states = [
        replace(state, reached_by=came[nr], chosen=chosen[nr]) for nr, state in enumerate(states)
    ]
    return LabFilm(
        ("a = b = False",),
        (Button("a = True", "switches a on"), Button("b = True", "switches b on")),
        scenes,
        tuple(states),
        "a lab of 4 states",
        "Two switches.",
        legend=(("operation", "", "backward function"), ("saved", "held", "saved")),
    )


def restless(seed, states=12):
    """Return a lab that goes to and fro between two scenes, and changes any marks in any way."""
    dice = random.Random(seed)
    scenes = (drawing(chain(1)), drawing(chain(2)))
    ways = [
        [Transition((nr + 1) % states), restless_way(dice, states), restless_way(dice, states)]
        for nr in range(states)
    ]
    free, came = [], [None]
    for nr in range(1, states):
        free += [(nr - 1, 1), (nr - 1, 2)]
        before, action = free.pop(dice.randrange(len(free)))
        ways[before][action] = Transition(nr, dice.choice(["", f"ValueError: {nr}"]))
        came.append(dice.choice([(before, action), (nr - 1, 0)]))
    made = tuple(
        [
            replace(
                restless_state(dice, nr, scenes), transitions=tuple(ways[nr]), reached_by=came[nr]
            )
            for nr in range(states)
        ]
    )
    buttons = tuple([Button(f"go({nr})", "goes on", anew=nr == 2) for nr in range(3)])
    film = LabFilm(("begin()",), buttons, scenes, made, "", "")
    start = walk(dice, film)
    return replace(film, start=start, first=end(film, start))


def restless_way(dice, states):
    number = dice.randrange(states)
    return dice.choice(
        [
            Transition(number),
            Transition(number, f"ValueError: {number}"),
            Transition(ENDS),
            Transition(IDLE),
        ]
    )


def restless_state(dice, nr, scenes):
    scene = dice.choice([0, 0, 1, 1, 1])
    marks = scenes[scene].marks
    places = [at for at in range(len(marks)) if marks[at].role in STYLE and dice.random() < 0.3]
    words = {
        at: dice.choice([None, ((f"{nr}.0", "grad"),)]) if marks[at].runs else None for at in places
    }
    changes = [Change(at, dice.choice(["", "now", "done"]), words[at]) for at in places]
    owners = [mark.owner for mark in marks if mark.owner]
    return LabState(
        f"state {nr}",
        f"It is state {nr}.",
        scene,
        tuple(changes),
        dice.choice([None, *owners]),
        "\n".join(dice.choices(["a line", "another", f"line {nr}"], k=3)),
        chosen=tuple(dice.sample(range(3), dice.randrange(4))),
    )


def walk(dice, film):
    """Return a few actions that can be done one after the other."""
    number, found = 0, []
    for _ in range(dice.randrange(1, 6)):
        ways = film.states[number].transitions
        able = [nr for nr, way in enumerate(ways) if way.to != ENDS]
        if not able:
            break
        found.append(dice.choice(able))
        number = end(film, found)
    return tuple(found)


def end(film, actions):
    """Return the number of the state that actions lead to."""
    number = 0
    for before, _, way in replace(film, start=tuple(actions)).steps():
        number = before if way.to == IDLE else way.to
    return number


def meant(film, number):
    """Return what a state of a lab shall show: (class, words) of every mark."""
    state = film.states[number]
    changes = {change.mark: change for change in state.changes}
    return [
        mark_meant(mark, changes.get(at, Change(at)))
        for at, mark in enumerate(film.scenes[state.scene].marks)
    ]


def mark_meant(mark, change):
    runs = mark.runs if change.runs is None else change.runs
    classes = css_class(mark.role, change.state or mark.state)
    return classes, "".join(text for text, _ in runs)
