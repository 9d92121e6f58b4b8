"""Small films for tests of the player, made by hand from real drawings: a backward in steps, and a
lab. No torch.
"""

import random
from dataclasses import replace

from helpers.drawing.diagram import drawing
from helpers.drawing.display_list import Owner
from helpers.drawing.palette import STYLE
from helpers.graph import Edge, Graph, Node, Root, SavedTensor, TensorInfo
from helpers.playing.film import Change, Film, Frame, Unfolding
from helpers.playing.stylesheet import css_class

FIRST = Owner("node", 0)


def chain(length, name="x"):
    """Return the graph of `length` multiplications in a row, down to one leaf."""
    made = [TensorInfo((f"y{nr}",)) for nr in range(length, 0, -1)]
    nodes = [Node("MulBackward0", (one,), saved=(SavedTensor("self", "held"),)) for one in made]
    nodes.append(
        Node("AccumulateGrad", (TensorInfo((name,), value="2.0", keeps_grad=True),), is_leaf=True)
    )
    edges = tuple(Edge(nr, 0, nr + 1) for nr in range(length))
    return Graph(tuple(nodes), edges, (Root(made[0], 0),))


def steps(length, name="x"):
    """Return a film of length + 2 frames: before, a step for each node; the number handed on is to
    be guessed.
    """
    graph = chain(length, name)
    scene = drawing(graph, {nr: f"{2.0 ** (nr + 1)}" for nr in range(length)})
    frames = [Frame(f"before the first of {length + 1} steps", changes=tuple(_changes(scene, -1)))]
    for step in range(length + 1):
        guess = [
            at
            for at, mark in enumerate(scene.marks)
            if mark.owner == ("edge", step) and mark.role == "label"
        ]
        frames.append(
            Frame(
                f"step {step + 1} of {length + 1}: {2.0**step} arrives, {2.0 ** (step + 1)} is handed on",
                changes=tuple(_changes(scene, step)),
                focus=Owner("node", step),
                guess=tuple(guess),
                question=f"step {step + 1} of {length + 1}: what is handed on?" if guess else "",
            )
        )
    return Film(
        (scene,),
        tuple(frames),
        f"a table of {length} steps",
        f"A chain of {length} operations, step by step.",
    )


def _changes(scene, step):
    """Yield the marks that differ: cards done and now; capsules wait, and are hidden until their
    number is known.
    """
    for at, mark in enumerate(scene.marks):
        kind, number = mark.owner or ("", "")
        if kind == "node" and mark.part == "body" and int(number) <= step:
            yield Change(at, "now" if int(number) == step else "done")
        if kind == "edge" and mark.role in ("capsule", "label"):
            known = int(number) <= step
            yield Change(at, "next" if int(number) == step else "done", hidden=not known)


def lab():
    """Return a lab of two switches: four states, each of its own scene, two actions; state 3 is the
    end.
    """
    scenes = tuple(drawing(chain(length)) for length in (1, 2, 3, 4))
    moves = [(("a", 1), ("b", 2)), (("b", 3),), (("a", 3),), ()]
    sentences = ["nothing is on", "a is on", "b is on", "both are on: nothing is left to do"]
    frames = tuple(Frame(words, nr, moves=moves[nr]) for nr, words in enumerate(sentences))
    return Film(
        scenes,
        frames,
        "a lab of 4 states",
        "Two switches.",
        (("a", "Switch a on"), ("b", "Switch b on")),
    )


def explorer():
    """Return a lab of two programs whose nodes are chosen by click, with one action to change the
    program.
    """
    scenes = tuple(drawing(chain(length)) for length in (2, 3))
    frames, starts = [], (0, 3)
    for nr, other in enumerate(reversed(starts)):
        moves = (("other", other),)
        frames.append(Frame(f"program {nr}: choose a node", nr, moves=moves))
        frames += [
            Frame(f"program {nr}, node {at}", nr, focus=Owner("node", at), moves=moves)
            for at in (0, 1)
        ]
    return Film(
        scenes, tuple(frames), "an explorer", "Two programs.", (("other", "The other program"),)
    )


def unfolding():
    """Return a film of three views of four steps: node 0 of view 0 opens view 1, then view 2; view
    1 opens view 2.
    """
    frames = [
        Frame(
            f"step {step}",
            view,
            (Change(view, "now"),),
            FIRST if step else None,
            question="which?" if step else "",
        )
        for view in range(3)
        for step in range(4)
    ]
    ways = ((0, 1), (2, 2), (3, 0))
    views = (
        Unfolding(0, ((None, ways), (FIRST, ways))),
        Unfolding(0, ((None, ((0, 2),)), (Owner("node", 1), ((0, 2),)))),
        Unfolding(1, ((None, ((0, 0),)),)),
    )
    scenes = tuple(drawing(chain(length)) for length in (1, 2, 3))
    return Film(scenes, tuple(frames), "a table", "A chain, folded.", views=views)


def restless(seed, frames=12):
    """Return a film that goes to and fro between two scenes, and changes any marks in any way."""
    dice = random.Random(seed)
    scenes = (drawing(chain(1)), drawing(chain(2), {0: "4.0", 1: "8.0"}))
    return Film(scenes, tuple(_restless(dice, nr, scenes) for nr in range(frames)), "", "")


def restless_views(seed, frames=9):
    """Return a film of two views that changes any marks in any way, and often nothing."""
    dice = random.Random(seed)
    scenes = (drawing(chain(1)), drawing(chain(2), {0: "4.0", 1: "8.0"}))
    made, ways = [], ((0, 1), (4, 0))
    for nr in range(2 * frames):
        new = _restless(dice, nr, scenes, nr // frames)
        changes = made[-1].changes if nr % frames and dice.random() < 0.4 else new.changes
        words = (
            made[nr - frames]
            if nr >= frames
            else Frame(f"frame {nr}", focus=FIRST, question=f"{nr}?")
        )
        guess = tuple(change.mark for change in changes if dice.random() < 0.1)
        focus = dice.choice([None, FIRST, Owner("node", 1)])
        made.append(replace(words, scene=nr // frames, changes=changes, guess=guess, focus=focus))
    return Film(
        scenes,
        tuple(made),
        "",
        "",
        views=(Unfolding(0, ((None, ways), (FIRST, ways))), Unfolding(0)),
    )


def _restless(dice, nr, scenes, scene=None):
    scene = dice.choice([0, 0, 1, 1, 1]) if scene is None else scene
    marks = scenes[scene].marks
    places = [at for at in range(len(marks)) if marks[at].role in STYLE and dice.random() < 0.3]
    words = {
        at: dice.choice([None, ((f"{nr}.0", "grad"),)]) if marks[at].runs else None for at in places
    }
    changes = [
        Change(at, dice.choice(["", "now", "done"]), words[at], dice.random() < 0.2)
        for at in places
    ]
    return Frame(f"frame {nr}", scene, tuple(changes))


def meant(film, number):
    """Return what a frame shall show: (class, words, hidden) of every mark."""
    frame = film.frames[number]
    changes = {change.mark: change for change in frame.changes}
    return [
        mark_meant(mark, changes.get(at, Change(at)))
        for at, mark in enumerate(film.scenes[frame.scene].marks)
    ]


def mark_meant(mark, change):
    runs = mark.runs if change.runs is None else change.runs
    return (
        css_class(mark.role, change.state or mark.state),
        "".join(text for text, _ in runs),
        change.hidden,
    )
