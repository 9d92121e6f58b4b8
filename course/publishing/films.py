"""Take the films out of a notebook's saved players, and let through only what a player of ours
could have saved.

The script that a notebook carries is never used: a published file plays with the one of this
package, which makes elements of no other kinds than its own. What is checked here is that every
number leads somewhere, and that what becomes a class or a path can be nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from nbformat import NotebookNode

from autograd_graphs.playing import encode_backward, encode_lab
from autograd_graphs.playing.encode_backward import SHAPES
from autograd_graphs.playing.encode_lab import DIGITS
from autograd_graphs.playing.film import CLICK, ENDS, IDLE
from autograd_graphs.playing.player import FILM, IDENTITY

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
ROLE = re.compile(r"([a-z0-9]+( [a-z0-9]+)?)?\Z")  # of two words a class of one is made
DRAWN = re.compile(r"[-+MCL0-9. ,e]*\Z")
KEYS = {"operation", "folded", "leaf", "held", "freed", "none"}  # of the legend
HEALTH = {"", "NaN", "inf", "zero", "exploding"}
CELLS = {"arrives", "factor", "handed", "before", "total", "name", "words", "sign"}
BACKWARD = {
    "version": int,
    "alt": str,
    "steps": int,
    "start": int,
    "trouble": (int, type(None)),
    "program": list,
    "remarks": list,
    "moments": list,
    "scenes": list,
    "roles": list,
    "lines": list,
    "tensors": list,
}
LAB = {
    "version": int,
    "alt": str,
    "code": list,
    "actions": list,
    "start": list,
    "size": list,
    "stacks": list,
    "scenes": list,
    "states": list,
    "marks": list,
    "owned": list,
    "looks": list,
    "legend": list,
    "roles": list,
    "lines": list,
}
SCENE = {
    "size": list,
    "marks": list,
    "wires": list,
    "starts": list,
    "slots": list,
    "corners": list,
    "turns": list,
    "names": list,
    "keys": list,
    "parent": int,
    "stopped": int,
    "text": int,
}
MOMENT = {
    "title": int,
    "kind": int,
    "say": int,
    "ask": int,
    "rows": list,
    "choices": list,
    "formulas": list,
    "way": str,
    "bars": list,
    "bytes": int,
    "mark": list,
    "health": str,
    "error": int,
}
MOST = 100_000  # pixels of a side
LARGEST = 2**53  # what a number of the script's counts to
NUMBERS = {"rect": 5, "circle": 3}  # of a mark, by its shape


class Refused(ValueError):
    """What is no film of ours."""


def film_of(notebook: NotebookNode, output: NotebookNode) -> str | None:
    """Return the film of the player that an output shows, as JSON; None where it shows none that
    can be trusted.

    It stands in the output itself, or, as older players were saved, in the notebook's widgets.
    """
    try:
        film = json.loads(stored(notebook, output))
        check(film)
        written = json.dumps(film, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        written.encode()  # half a surrogate cannot be written to a file
        return written
    except (ValueError, RecursionError, KeyError, TypeError, IndexError, AttributeError):
        return None


def stored(notebook: NotebookNode, output: NotebookNode) -> str:
    """Return the text of a film where an output, or the notebook, has one.

    Raises KeyError where neither has.
    """
    if FILM in output["data"]:
        return output["data"][FILM]
    state = notebook.metadata["widgets"][STATE]["state"][output["data"][VIEW]["model_id"]]["state"]
    if state["_anywidget_id"] != IDENTITY:
        raise KeyError(state["_anywidget_id"])
    return state["film"]


def check(film: Any) -> None:
    """Raise Refused, or what indexing raises, where data is not what our encoders write."""
    demand(isinstance(film, dict), "a film is a record")
    is_backward = "moments" in film
    version = (encode_backward if is_backward else encode_lab).VERSION
    demand(film.get("version") == version, "it is of another version")
    if is_backward:
        check_backward(film)
    else:
        check_lab(film)


def demand(is_so: object, what: str) -> None:
    if not is_so:
        raise Refused(f"This is no film of ours: {what}.")


def rows(value: Any) -> list:
    """Return a list as it is: what is a record or a text can be gone through, but not by the player."""
    demand(isinstance(value, list), "a list")
    return value


def check_fields(record: Any, fields: dict, what: str, optional: Collection[str] = ()) -> None:
    """Check that a record has these fields, of these types, and no others."""
    demand(isinstance(record, dict), f"{what} is a record")
    demand(set(record) <= set(fields), f"{what} has fields that we do not write")
    demand(set(fields) - set(record) <= set(optional), f"{what} lacks fields")
    for name, value in record.items():
        is_bool = isinstance(value, bool)
        demand(isinstance(value, fields[name]) and not is_bool, f"{what}: {name}")


def check_backward(film: dict) -> None:
    """Check a film of a backward."""
    check_fields(film, BACKWARD, "the film")
    check_texts(film["program"] + film["remarks"] + film["lines"] + film["roles"])
    check_roles(film["roles"])
    for tensor in film["tensors"]:
        check_tensor(rows(tensor))
    demand(film["moments"] and film["scenes"], "it has something to show")
    demand(isinstance(film["moments"][0], dict), "the first moment is shown")
    for moment in film["moments"]:
        if moment != 0:
            check_moment(film, moment)
    for scene in film["scenes"]:
        check_scene(film, scene)
    demand(film["start"] == 0 and 0 <= film["steps"] < MOST, "its steps")
    demand(film["trouble"] is None or 0 <= film["trouble"] < film["steps"], "its trouble")


def check_tensor(tensor: list) -> None:
    """Check [kind, shape, norm, health, columns, numbers]."""
    kind, *words = tensor[:4]
    check_texts(words)
    demand(whole(kind) and kind in (0, 1, 2) and len(words) == 3, "a tensor")
    demand(words[2] in HEALTH, "a tensor's health")
    if kind:
        columns, flat = tensor[4:]
        rows(flat)
        demand(0 < columns <= len(flat) <= 100 and whole(columns, *flat), "a tensor's numbers")


def check_moment(film: dict, moment: dict) -> None:
    """Check what the panel says at one stop."""
    check_fields(moment, MOMENT, "a moment", set(MOMENT))
    check_lines(film, *[moment[name] for name in ("title", "kind", "say", "ask") if name in moment])
    demand(moment.get("health", "") in HEALTH, "its health")
    demand(whole(moment.get("bytes", 0), moment.get("error", 0)), "its numbers")
    for row in moment.get("rows", []):
        for cell in rows(row):
            role, what, words, *asked = rows(cell)
            demand(role in CELLS and asked in ([], [1]), "a cell")
            check_what(film, what)
            check_lines(film, words)
    check_texts(moment.get("choices", []))
    for pair in moment.get("formulas", []):
        name, rule = rows(pair)
        check_lines(film, name, rule)
    for name, size in map(rows, moment.get("bars", [])):
        demand(isinstance(name, str) and type(size) in (int, float), "a bar")
    if "mark" in moment:
        line, *columns = moment["mark"]
        within(film["program"], line)
        demand(len(columns) == 4 and whole(*columns), "columns of the program")


def check_scene(film: dict, scene: dict) -> None:
    """Check one view."""
    check_fields(scene, SCENE | {"stops": list}, "a scene", {"stops"})
    nodes = len(scene["turns"])
    demand(len(scene["marks"]) == nodes + 1, "its marks are those of its nodes")
    check_texts(scene["names"])
    demand(len(scene["names"]) == nodes, "a name for each node")
    check_lines(film, scene["text"])
    check_numbers(scene["size"], 2)
    within(film["scenes"], scene["parent"])
    for group in scene["marks"]:
        for mark in rows(group):
            check_mark(film, rows(mark))
    check_wires(film, scene)
    for node, *box, before, after in map(rows, scene["slots"]):
        within(scene["turns"], node)
        check_numbers(box, 4)
        check_what(film, before)
        check_what(film, after)
    for node, *corner in map(rows, scene["corners"]):
        within(scene["turns"], node)
        check_numbers(corner, 2)
    for turn in scene["turns"]:
        check_turn(film, *rows(turn))
    for key in scene["keys"]:
        check_key(key)
    check_stops(film, scene.get("stops"))


def check_key(key: Any) -> None:
    """Check an entry of the legend: its name, or (bars, words) of a device."""
    if isinstance(key, list):
        bars, words = key
        check_texts([words])
        demand(whole(bars) and 0 <= bars < 10, "the legend")
    else:
        demand(key in KEYS, "the legend")


def check_wires(film: dict, scene: dict) -> None:
    """Check the wires of a view, and those along which the first gradients enter."""
    for curve, arrow, box, what, times, factor in map(rows, scene["wires"]):
        check_wire(film, curve, arrow, box, what)
        rows(times)
        demand(isinstance(factor, str) and whole(*times) and len(times) % 2 == 0, "a wire")
    for curve, arrow, box, what, node in map(rows, scene["starts"]):
        check_wire(film, curve, arrow, box, what)
        within(scene["turns"], node)


def check_turn(
    film: dict, stretches: list, freed: int, inside: int, opens: list | None = None
) -> None:
    opens = [] if opens is None else rows(opens)
    demand(whole(freed, inside, *rows(stretches), *opens), "a turn")
    demand(len(stretches) % 2 == len(opens) % 2 == 0, "a turn")
    within(film["scenes"], *opens[1::2])


def check_stops(film: dict, stops: list | None) -> None:
    """Check flat triples (first step, last step, moment); without them each step is a stop."""
    if stops is None:
        count = film["steps"] + 2 if film["steps"] else 1
        shown = film["moments"][:count]
        demand(
            len(shown) == count and all(isinstance(moment, dict) for moment in shown),
            "every step has its moment",
        )
        return
    demand(stops and len(stops) % 3 == 0 and whole(*stops), "its stops")
    ends = [-1, *([film["steps"]] if film["steps"] else [])]
    demand(stops[0] == ends[0] and stops[-2] == ends[-1], "its first and last stop")
    for number in stops[2::3]:
        within(film["moments"], number)
        demand(isinstance(film["moments"][number], dict), "every stop has its moment")


def check_wire(film: dict, curve: str, arrow: str, box: list | int, what: object) -> None:
    demand(DRAWN.match(curve) and DRAWN.match(arrow), "a curve")
    if box != 0:
        check_numbers(box, 4)
    check_what(film, what)


def check_what(film: dict, what: object) -> None:
    """Check what a cell, a capsule or a slot shows: a text, the number of a tensor, or nothing."""
    if what is not None and not isinstance(what, str):
        within(film["tensors"], what)


def check_mark(film: dict, mark: list) -> None:
    """Check [shape, role, state, …]."""
    kind, role, state, *rest = mark
    within(SHAPES, kind)
    check_look(film, role, state)
    shape = SHAPES[kind]
    if shape in NUMBERS:
        check_numbers(rest, NUMBERS[shape])
    elif shape == "text":
        check_numbers(rest[:2], 2)
        check_runs(film, rest[2:])
    else:
        (drawn,) = rest
        demand(DRAWN.match(drawn), "a path")


def check_look(film: dict, role: int, state: int) -> None:
    """Check the numbers of a role and of a state, which is one word."""
    within(film["roles"], role, state)
    demand(" " not in film["roles"][state], "a state")


def check_runs(film: dict, runs: list) -> None:
    """Check pieces of text, each followed by the number of its role, which is one word."""
    demand(len(rows(runs)) % 2 == 0, "a text")
    check_texts(runs[::2])
    for role in runs[1::2]:
        check_look(film, role, role)


def check_lab(film: dict) -> None:
    """Check the film of a lab."""
    check_fields(film, LAB, "the lab")
    check_texts(film["code"] + film["lines"] + film["roles"])
    check_roles(film["roles"])
    check_numbers(film["size"], 2)
    demand(min(film["size"]) > 0, "its size")
    check_pictures(film)
    for stack in film["stacks"]:
        check_stack(*rows(stack))
    for nr, action in enumerate(film["actions"]):
        check_action(film, nr, *rows(action))
    demand(film["states"], "it has a state")
    for nr, state in enumerate(film["states"]):
        check_state(film, nr, *rows(state))
    check_columns(film)
    check_came(film)
    check_start(film)
    for role, state, words in map(rows, film["legend"]):
        check_look(film, role, state)
        check_texts([words])


def check_pictures(film: dict) -> None:
    """Check what is drawn: marks, to what each belongs, looks, and scenes."""
    for mark in film["marks"]:
        check_mark(film, rows(mark))
    demand(len(film["owned"]) == len(film["marks"]), "its owners")
    within([0, *film["marks"]], *film["owned"])
    for role, state, runs in map(rows, film["looks"]):
        check_look(film, role, state)
        if runs != 0:
            check_runs(film, runs)
    for scene in film["scenes"]:
        within(film["marks"], *rows(scene))


def check_stack(name: str, *numbers: float) -> None:
    """Check [name, x, base, step, unit, wide]."""
    check_texts([name])
    check_numbers(list(numbers), 5)
    demand(min(numbers[2:]) > 0, "a stack")


def check_action(
    film: dict, nr: int, code: str, does: str, key: str, adds: list | int, group: str, anew: int
) -> None:
    """Check an action; its key follows from its number."""
    check_texts([code, does, group])
    demand(key == DIGITS[nr : nr + 1], "a key")
    demand(whole(anew) and anew in (0, 1), "an action")
    if not is_zero(adds):
        demand(adds and film["stacks"], "what an action adds")
        check_numbers(adds, len(adds))


def check_state(
    film: dict,
    nr: int,
    title: int,
    sentence: int,
    scene: int,
    patch: list,
    focus: int,
    text: list,
    ways: list,
    came: list | int,
    chosen: list,
    totals: list,
) -> None:
    """Check a state by itself."""
    check_lines(film, title, sentence, *rows(text))
    demand(text, "a state as text")
    within(film["scenes"], scene)
    marks = film["scenes"][scene]
    check_patch(film, marks, rows(patch))
    demand(whole(focus) and focus in {0, *[film["owned"][mark] for mark in marks]}, "a focus")
    demand(len(rows(ways)) == len(film["actions"]), "a way for each action")
    for way in ways:
        check_way(film, way)
    within(film["actions"], *rows(chosen))
    demand(len(rows(totals)) == len(film["stacks"]), "a total for each stack")
    for total in totals:
        if not is_zero(total):
            check_numbers(total, len(total))
    if nr == 0:
        demand(is_zero(came), "the first state is where all begins")
    else:
        before, action = rows(came)
        within(range(nr), before)
        demand(whole(action) and action >= -1, "an action, or a click")


def check_patch(film: dict, marks: list[int], patch: list[int]) -> None:
    """Check flat pairs (place in the scene, look): no place twice, words only where there are some."""
    within(marks, *patch[::2])
    within(film["looks"], *patch[1::2])
    demand(len(set(patch[::2])) == len(patch) // 2, "a mark looks in one way")
    for place, look in zip(patch[::2], patch[1::2], strict=True):
        kind, role, *_ = film["marks"][marks[place]]
        demand(film["looks"][look][0] == role, "a mark keeps its role")
        is_text = SHAPES[kind] == "text"
        demand(is_text or film["looks"][look][2] == 0, "words of what is no text")


def check_way(film: dict, way: Any) -> None:
    """Check where an action leads: to a state, past the end of the map, nowhere, or to an error."""
    if isinstance(way, list):
        to, error = way
        within(film["states"], to)
        within(film["lines"], error)
        demand(film["lines"][error], "an error has words")
    else:
        demand(whole(way) and min(ENDS, IDLE) <= way < len(film["states"]), "a way")


def check_columns(film: dict) -> None:
    """Check that a stack has the same number of columns in every state and in what is added to it."""
    for nr in range(len(film["stacks"])):
        lists = [state[9][nr] for state in film["states"]]
        if nr == 0:
            lists += [action[3] for action in film["actions"]]
        demand(len({len(one) for one in lists if one != 0}) <= 1, "the columns of a stack")


def check_came(film: dict) -> None:
    """Check that every state is reached from an earlier one by the way that it names; a click is no
    way, and goes to a node.
    """
    for nr, (*_, focus, _, _, came, _, _) in enumerate(film["states"]):
        if nr == 0:
            continue
        before, action = came
        if action == CLICK:
            demand(focus, "a click leads to a node")
        else:
            demand(target(film, before, action) == nr, "how a state is reached")


def check_start(film: dict) -> None:
    """Check that the actions with which a lab begins can be done one after the other."""
    number = 0
    for action in film["start"]:
        if whole(action) and action == CLICK:
            number = clicked(film, number)
            continue
        within(film["actions"], action)
        demand(film["states"][number][6][action] != ENDS, "its start")
        number = target(film, number, action)


def clicked(film: dict, number: int) -> int:
    """Return the state about the next node of the same picture."""
    _, _, scene, _, *_ = film["states"][number]
    for nr in range(number + 1, len(film["states"])):
        _, _, other, _, focus, *_ = film["states"][nr]
        if focus and other == scene:
            return nr
    raise Refused("This is no film of ours: it starts with a click on nothing.")


def target(film: dict, number: int, action: int) -> int:
    """Return the state after an action, which is the same where the action changed nothing."""
    way = film["states"][number][6][action]
    to = way[0] if isinstance(way, list) else way
    return number if to == IDLE else to


def is_zero(value: Any) -> bool:
    return type(value) is int and value == 0


def check_roles(roles: list) -> None:
    """Check what becomes part of a class: letters, digits and spaces."""
    demand(all(ROLE.match(role) for role in roles), "a role")


def check_texts(values: list) -> None:
    demand(all(isinstance(value, str) for value in values), "a text")


def check_lines(film: dict, *places: int) -> None:
    within(film["lines"], *places)


def check_numbers(values: list, count: int) -> None:
    """Check so many sizes or places in pixels."""
    rows(values)
    is_number = all(type(value) in (int, float) and abs(value) < MOST for value in values)
    demand(len(values) == count and is_number, "numbers")


def within(things: Sequence, *places: int) -> None:
    demand(
        all(type(at) is int and 0 <= at < len(things) for at in places), "a number leads nowhere"
    )


def whole(*values: int) -> bool:
    return all(type(value) is int and abs(value) < LARGEST for value in values)
