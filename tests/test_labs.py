"""Every lab shows what torch does: its states replayed, its merges judged, its named states against
plain torch.
"""

import gc
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from merging import check_merges, seen

from helpers import labs
from helpers.drawing.palette import attributes
from helpers.labs.engine.explore import explore, lead
from helpers.labs.engine.lab import changes
from helpers.labs.engine.scene import scenes
from helpers.playing.encode_lab import payload
from helpers.playing.player import SCRIPT
from helpers.text import numbers

LABS = {name: getattr(labs, name) for name in labs.__all__}
LIMIT = 200_000  # bytes of a map, and of what a player is sent
every_lab = pytest.mark.parametrize("lab", LABS.values(), ids=LABS)


def at(lab, name):
    return lab.map().states[lab.number(name)]


@every_lab
def test_every_state_is_what_a_fresh_world_shows_after_its_actions(lab):
    for state in lab.map().states:
        shown, _, _, offered = seen(lab.world, state.path)
        assert {key: getattr(state, key) for key in shown} == shown
        assert tuple(action for action, _ in state.moves) == offered


@every_lab
def test_every_two_ways_to_one_state_agree_one_action_further(lab):
    check_merges(lab.world, lab.map())


@every_lab
def test_a_map_is_whole_small_and_plain(lab):
    found = lab.map()
    assert "Cut" not in found.cut, "the world must say itself how far it goes"
    assert found.cut == lab.world.limits
    assert len(found.states) <= 200
    assert len(pickle.dumps(found)) <= LIMIT
    assert len(json.dumps(payload(lab.film()))) <= LIMIT
    assert pickle.loads(pickle.dumps(found)) == found
    assert all(
        state.sentence.endswith(".") and len(state.sentence) <= 350 for state in found.states
    )


@every_lab
def test_one_state_is_left_only_by_its_buttons(lab):
    found, film = lab.map(), lab.film()
    assert [frame.sentence for frame in film.frames] == [state.sentence for state in found.states]
    assert {name for name, _ in film.actions} == {
        name for name, words in lab.world.actions if words
    }
    for state, frame in zip(found.states, film.frames, strict=True):
        assert dict(frame.moves).items() <= dict(state.moves).items()
        assert bool(state.error) == (frame.moves == ()), "what the player says where the map ends"


@every_lab
def test_what_is_said_of_a_button_that_leads_nowhere_is_true(lab):
    """A lab says of such a button that it ran, or that the map has no such step and other buttons
    lead on.
    """
    states, film = lab.map().states, lab.film()
    for nr, (state, frame) in enumerate(zip(states, film.frames, strict=True)):
        moves = dict(frame.moves)
        refused = [name for name, _ in film.actions if name not in moves]
        assert not (moves and refused) or set(moves.values()) - {nr}, (
            f"no other button leads on from {state.path}"
        )
        for action in (name for name, to in frame.moves if to == nr):
            assert seen(lab.world, (*state.path, action)) == seen(lab.world, state.path), (
                "it ran, and changed something"
            )


def test_no_words_of_the_player_say_that_what_was_not_run_would_change_nothing():
    assert "this lab's map has no such step here" in SCRIPT
    assert not re.search("nothing (?:\\w+ )?change", SCRIPT)


@every_lab
def test_named_states_are_there_and_a_lab_can_start_from_each(lab):
    first = next(iter(lab.names))
    for name in lab.names:
        assert lab.film(name).start == lab.number(name)
        assert lab.film(name).text.startswith(
            f"lab {lab.name}, {len(lab.map().states)} states; at {name!r}: "
        )
    with pytest.raises(
        ValueError, match=f"has no state 'nowhere'. Start it from one of: start, {first}"
    ):
        lab(start="nowhere")


@every_lab
def test_all_scenes_have_one_size_and_every_mark_has_a_look_and_a_place_inside(lab):
    film = lab.film()
    assert len({(scene.width, scene.height) for scene in film.scenes}) == 1
    for frame in film.frames:
        scene = film.scenes[frame.scene]
        for mark in worn(scene, frame):
            assert attributes(mark.role, mark.state)
            xs, ys = (
                (mark.at[::2], mark.at[1::2])
                if mark.shape in ("path", "polygon")
                else (mark.at[:1], mark.at[1:2])
            )
            assert 0 <= min(xs) <= max(xs) <= scene.width
            assert 0 <= min(ys) <= max(ys) <= scene.height


def worn(scene, frame):
    """Return the marks of a frame as they are seen."""
    marks = list(scene.marks)
    for change in frame.changes:
        old = marks[change.mark]
        runs = old.runs if change.runs is None else change.runs
        marks[change.mark] = replace(old, state=change.state or old.state, runs=runs)
    return marks


@every_lab
def test_what_a_frame_shows_is_what_was_drawn_of_its_state(lab):
    drawn, film = scenes(lab.map().states, lab.alt), lab.film()
    for one, frame in zip(drawn, film.frames, strict=True):
        assert tuple(worn(film.scenes[frame.scene], frame)) == one.marks
        assert changes(film.scenes[frame.scene], one) == frame.changes


@every_lab
def test_an_error_is_told_word_for_word_and_once(lab):
    film = lab.film()
    for state, frame in zip(lab.map().states, film.frames, strict=True):
        lines = [
            mark.runs[0][0]
            for mark in worn(film.scenes[frame.scene], frame)
            if mark.role == "error"
        ]
        assert state.sentence.startswith(lead(state.error))
        assert letters(lead(state.error), *lines) == letters(state.error), (
            "first sentence above, the rest in the picture"
        )
        assert state.error in frame.text


def letters(*lines):
    """Return text without what breaking it into sentences and lines puts in or leaves out."""
    return re.sub(r"[\s.…]", "", "".join(lines))


def test_maps_and_films_are_the_same_in_every_process():
    script = (
        "import hashlib\nfrom helpers import labs\n"
        "for name in labs.__all__:\n lab = getattr(labs, name)\n"
        " print(hashlib.sha256(repr((lab.map(), lab.film())).encode()).hexdigest())"
    )
    here = [
        hashlib.sha256(repr((lab.map(), lab.film())).encode()).hexdigest() for lab in LABS.values()
    ]
    env = os.environ | {"PYTHONHASHSEED": "7"}
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
    )
    assert ran.stdout.split() == here


def test_exploring_all_labs_leaves_no_tensor_and_no_trace():
    for lab in LABS.values():
        lab.film()
    before, state = tensors(), torch.get_rng_state().tolist()
    for lab in LABS.values():
        assert explore(lab.world, lab.depth) == lab.map()
    assert tensors() == before
    assert torch.get_rng_state().tolist() == state
    assert torch.is_grad_enabled()


def tensors():
    gc.collect()
    return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())


def test_a_lab_in_a_cell_is_a_player_whose_text_is_short():
    shown = labs.accumulation(start="twice")
    assert shown.frame == labs.accumulation.number("twice")
    assert repr(shown) == labs.accumulation.text("twice")
    assert all(len(lab.text().splitlines()) <= 16 for lab in LABS.values())


def test_requires_grad_what_is_not_recorded_is_a_ghost():
    one = at(labs.requires_grad, "one flag")
    assert (one.value("a.requires_grad"), one.value("b.requires_grad")) == ("False", "True")
    assert {node.name for node in one.graph.nodes} == {"b", "z"}
    assert {node.name for node in one.ghost.nodes} == {"b", "a", "x", "y", "z"}
    assert [
        at(labs.requires_grad, name).value("b.requires_grad") for name in ("comparison", "integer")
    ] == ["False"] * 2
    assert not at(labs.requires_grad, "grad mode off").graph.operations
    film = labs.requires_grad.film()
    frame = film.frames[labs.requires_grad.number("one flag")]
    marks = [
        mark for mark in worn(film.scenes[frame.scene], frame) if mark.role in ("operation", "leaf")
    ]
    cards = {mark.owner: mark.state for mark in marks if mark.owner}
    names = {("node", nr): node.name for nr, node in enumerate(one.ghost.nodes)}
    assert {names[of]: state for of, state in cards.items()} == dict.fromkeys("axy", "ghost") | {
        "b": "",
        "z": "",
    }


def test_requires_grad_has_every_combination():
    states = labs.requires_grad.map().states
    assert len(states) == 2**3 * 2 * 3 == len({state.values for state in states})
    for state in states:
        flags = [state.value(f"{name}.requires_grad") == "True" for name in "xyz"]
        recorded = state.value("grad mode") == "on"
        assert state.value("a.requires_grad") == str(recorded and any(flags[:2]))
        assert state.value("b.requires_grad") == str(
            recorded and any(flags) and state.value("operation") == "b = a + z"
        )


def test_leaves_as_plain_torch_has_them():
    w = torch.tensor([20.0, 30.0], requires_grad=True)
    v = w * 0.1
    v.retain_grad()
    (v * v).sum().backward()
    state = at(labs.leaves, "retained")
    assert state.value("w.grad") == numbers(v.grad.tolist())
    assert [str(leaf.outputs[0].grad) for leaf in state.graph.leaves] == [numbers(w.grad.tolist())]
    assert at(labs.leaves, "scaled too late").value("w.grad") == "None"
    late = at(labs.leaves, "retained too late")
    assert (late.value("w.retains_grad"), late.value("w.grad")) == ("True", "None")
    assert at(labs.leaves, "flag last").value("w.is_leaf") == "True"
    assert at(labs.leaves, "nothing to retain").error.startswith("RuntimeError: can't retain_grad")
    assert at(labs.leaves, "nothing to differentiate").error.startswith(
        "RuntimeError: element 0 of tensors does not"
    )


def test_explorer_has_a_frame_for_every_node_of_its_programs():
    film, states = labs.explorer.film(), labs.explorer.map().states
    by_scene = {}
    for state, frame in zip(states, film.frames, strict=True):
        by_scene.setdefault(frame.scene, set()).add(frame.focus)
        assert frame.focus == ("node", state.focus)
    for scene, found in by_scene.items():
        of = {
            mark.owner
            for mark in film.scenes[scene].marks
            if mark.owner and mark.owner.kind == "node"
        }
        assert found == of
    assert len(by_scene) == 5
    log = at(labs.explorer, "log")
    assert (log.value("node"), log.value("formula"), log.value("saves")) == (
        "LogBackward0",
        "self: grad.div(self.conj())",
        "● self = d",
    )


def test_accumulation_as_plain_torch_has_it():
    x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)
    for name in ("once", "twice", "three times"):
        x.sum().backward()
        assert at(labs.accumulation, name).value("x.grad") == numbers(x.grad.tolist())
    assert [label for label, _ in at(labs.accumulation, "three times").bars] == [
        "None",
        "[1.0, 1.0, 1.0]",
        "[2.0, 2.0, 2.0]",
        "[3.0, 3.0, 3.0]",
    ]
    both = at(labs.accumulation, "two losses")
    assert both.value("x.grad") == numbers((1 + 2 * x.detach()).tolist())
    assert at(labs.accumulation, "zeroed").value("x.grad") == "[0.0, 0.0, 0.0]"
    assert at(labs.accumulation, "set to None").value("x.grad") == "None"
    assert at(labs.accumulation, "alias zeroed").value("g") == "[0.0, 0.0, 0.0], x.grad itself"
    assert at(labs.accumulation, "alias kept").value("g") == "[1.0, 1.0, 1.0], another tensor"


def test_lifecycle_counts_what_lives():
    found = {name: at(labs.lifecycle, name) for name in labs.lifecycle.names}
    nodes = {name: int(state.value("nodes alive")) for name, state in found.items()}
    assert nodes == dict.fromkeys(found, 3) | {"only h": 1, "gone": 0}
    assert found["built"].value("saved tensors") == "3 held, 0 freed"
    assert found["freed"].value("saved tensors") == "0 held, 3 freed"
    assert (found["built"].value("bytes they hold"), found["freed"].value("bytes they hold")) == (
        "24",
        "0",
    )
    assert found["held without a name"].value("held by no name") == "12 bytes"
    assert found["retained twice"].value("x.grad") == "[8.0, 64.0, 216.0]"
    assert found["second backward"].error.startswith(
        "RuntimeError: Trying to backward through the graph a second time"
    )


def test_versions_has_the_three_outcomes():
    for name, edit in {"no_grad": under_no_grad, "detach": lambda x: x.detach().add_(1)}.items():
        state = at(labs.versions, f"{name}, RuntimeError")
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x**2
        edit(x)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
        assert state.error == f"RuntimeError: {caught.value}"
        assert (state.value("x._version"), state.value("x.grad")) == ("1", "None")
    for name in ("data, silent", "numpy, silent"):
        state = at(labs.versions, name)
        assert (state.value("x._version"), state.error) == ("0", "")
        assert state.value("x.grad") == "[4.0, 6.0, 8.0] ✗ wrong"
        assert state.value("the right one") == "[2.0, 4.0, 6.0]"
    back = at(labs.versions, "there and back")
    assert (back.value("x"), back.value("y saved x")) == (
        "[1.0, 2.0, 3.0]",
        "modified, at version 0",
    )
    assert at(labs.versions, "leaf").error.startswith(
        "RuntimeError: a leaf Variable that requires grad is being used"
    )
    assert at(labs.versions, "forward again").value("x.grad") == "[4.0, 6.0, 8.0]"
    assert at(labs.versions, "after backward").value("x.grad") == "[2.0, 4.0, 6.0]"


def under_no_grad(x):
    with torch.no_grad():
        x += 1


def test_who_records_shares_and_checks():
    keys = ("y.requires_grad", "storage of x and y")
    told = {
        name: tuple(at(labs.who_records, name).value(key) for key in keys)
        for name in list(labs.who_records.names)[:6]
    }
    assert told == {
        "ordinary": ("True", "two"),
        "no_grad": ("False", "two"),
        "inference_mode": ("False", "two"),
        "detach": ("False", "the same"),
        "data": ("False", "the same"),
        "eval": ("True", "two"),
    }
    assert at(labs.who_records, "inside").value("z.requires_grad") == "False"
    assert at(labs.who_records, "outside").value("z.requires_grad") == "True"
    assert "modified by an inplace operation" in at(labs.who_records, "detach, checked").error
    assert at(labs.who_records, "data, unchecked").value("x.grad") == "[4.0, 6.0, 8.0] ✗ wrong"
    assert "cannot be saved for backward" in at(labs.who_records, "inference, used outside").error
    assert (
        "Inplace update to inference tensor"
        in at(labs.who_records, "inference, edited outside").error
    )
