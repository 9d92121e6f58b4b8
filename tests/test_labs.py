"""Every lab shows what torch does: its states replayed, its merges judged, its named states against
plain torch.
"""

import gc
import hashlib
import os
import random
import subprocess
import sys
from functools import cache

import pytest
import torch
from merging import check_merges, seen

from autograd_graphs.drawing.palette import attributes
from autograd_graphs.playing.film import ENDS, IDLE, marks_of
from helpers import labs
from helpers.labs.engine.explore import describe, explore, graphs, inside
from helpers.labs.engine.lab import with_buttons

LABS = {name: getattr(labs, name) for name in labs.__all__}
every_lab = pytest.mark.parametrize("lab", LABS.values(), ids=LABS)


def at(lab, name):
    return lab.state(name)


@every_lab
def test_every_state_is_what_a_fresh_world_shows_after_its_actions(lab):
    for state in lab.map().states:
        _, shown, _, _ = seen(lab.world, state.path)
        assert {key: getattr(state, key) for key in shown} == shown


@pytest.mark.slow
@every_lab
def test_the_player_tells_the_truth_of_every_state_and_every_action(lab):
    """All actions of the world are run in every state, in torch, and what the player says of each
    is held against it: another state, an error and the state after it, nothing, or a border.
    """
    film, states = lab.film(), lab.map().states
    known = cache(lambda path: seen(lab.world, path))
    assert [button.words for button in film.buttons] == [
        action.code for action in with_buttons(lab.world)
    ]
    for nr, (state, played) in enumerate(zip(states, film.states, strict=True)):
        before = known(state.path)
        assert len(played.ways) == len(film.buttons)
        for action, way in zip(with_buttons(lab.world), played.ways, strict=True):
            error, *after = seen(lab.world, (*state.path, action.name))
            if way.to == ENDS:
                assert len(state.path) == lab.depth, "only the last actions lead off the map"
                assert error or after != list(before[1:]), "it would change nothing"
                continue
            assert way.error == error
            to = nr if way.to == IDLE else way.to
            assert after == list(known(states[to].path)[1:])
            assert (way.to == IDLE) == (to == nr and not error)


@pytest.mark.slow
@every_lab
def test_a_long_walk_through_a_live_world_is_a_walk_on_the_map(lab):
    """Histories that the search never took are merged: what they show is what the map says."""
    rng = random.Random(1)
    for _ in range(25):
        with inside():
            torch.default_generator.manual_seed(0)
            live, nr = lab.world(), 0
            live.reset()
            for _ in range(12):
                action = rng.choice(lab.world.actions)
                way = lab.map().states[nr].way(action.name)
                if way.to is None:
                    break
                assert ran(live, action) == way.error
                nr = way.to
                state = lab.map().states[nr]
                shown = describe(live) | graphs(live)
                assert {key: getattr(state, key) for key in shown} == shown


def ran(live, action):
    """Run an action in a live world, and return what it raised."""
    try:
        live.run(action)
    except Exception as raised:
        return f"{type(raised).__name__}: {raised}"
    return ""


@pytest.mark.thorough
@every_lab
def test_every_two_ways_to_one_state_agree_one_action_further(lab):
    check_merges(lab.world, lab.map(), 100)


@every_lab
def test_named_states_are_there_and_a_lab_can_start_from_each(lab):
    first = next(name for name in lab.names if name != "start")
    for name in lab.names:
        film = lab.film(name)
        assert film.first == lab.map().walk(lab.path(name)).to
        assert film.refusal == lab.error(name)
        assert film.text.startswith(
            f"lab {lab.name}, {len(lab.map().states)} states; at {name!r}: "
        )
        assert lab.error(name).partition("\n")[0] in film.text
    with pytest.raises(
        ValueError, match=f"has no state 'nowhere'. Start it from one of: start, {first}"
    ):
        lab(start="nowhere")


@every_lab
def test_all_scenes_have_one_size_and_every_mark_has_a_look_and_a_place_inside(lab):
    film = lab.film()
    assert len({(scene.width, scene.height) for scene in film.scenes}) == 1
    for nr, state in enumerate(film.states):
        scene = film.scenes[state.scene]
        for mark in marks_of(film, nr):
            assert attributes(mark.role, mark.state)
            xs, ys = (
                (mark.at[::2], mark.at[1::2])
                if mark.shape in ("path", "polygon")
                else (mark.at[:1], mark.at[1:2])
            )
            assert 0 <= min(xs) <= max(xs) <= scene.width
            assert 0 <= min(ys) <= max(ys) <= scene.height


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    assert shown.frame == labs.accumulation.film("twice").first
    assert repr(shown) == labs.accumulation.text("twice")
    assert all(len(lab.text().splitlines()) <= 16 for lab in LABS.values())


def test_requires_grad_what_is_not_recorded_is_a_ghost():
    one = at(labs.requires_grad, "one flag")
    assert requires(one) == {"x": False, "y": False, "z": True, "a": False, "b": True}
    assert {node.name for node in one.graph.nodes} == {"b", "z"}
    assert {node.name for node in one.ghost.nodes} == {"b", "a", "x", "y", "z"}
    for name in ("comparison", "integer"):
        assert not requires(at(labs.requires_grad, name))["b"]
    assert not at(labs.requires_grad, "grad mode off").graph.operations
    film = labs.requires_grad.film("one flag")
    marks = [mark for mark in marks_of(film, film.first) if mark.role in ("operation", "leaf")]
    cards = {mark.owner: mark.state for mark in marks if mark.owner and mark.owner.kind == "node"}
    names = {("node", nr): node.name for nr, node in enumerate(one.ghost.nodes)}
    assert {names[of]: state for of, state in cards.items()} == dict.fromkeys("axy", "ghost") | {
        "b": "",
        "z": "",
    }


def requires(state):
    return {name: state.value(name, "requires_grad") == "True" for name in "xyzab"}


def test_explorer_has_a_state_for_every_node_of_its_programs():
    film, states = labs.explorer.film(), labs.explorer.map().states
    by_scene = {}
    for state, played in zip(states, film.states, strict=True):
        by_scene.setdefault(state.chosen, set()).add(played.focus)
        assert played.focus == ("node", state.focus)
        of = {
            mark.owner
            for mark in film.scenes[played.scene].marks
            if mark.owner and mark.owner.kind == "node"
        }
        assert played.focus in of
    for state in states:
        assert by_scene[state.chosen] == {("node", nr) for nr in range(len(state.graph.nodes))}
    assert len(by_scene) == 5
    log = at(labs.explorer, "log")
    assert (log.fact("node"), log.fact("saves")) == ("LogBackward0", "● self = d")


def test_accumulation_adds_by_each_backward_what_torch_adds():
    x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)
    losses = {"x.sum().backward()": x.sum(), "(x * x).sum().backward()": (x * x).sum()}
    found = {button.words: button.adds for button in labs.accumulation.film().buttons}
    for words, loss in losses.items():
        assert found.pop(words) == tuple(torch.autograd.grad(loss, x)[0].tolist())
    assert set(found.values()) == {None}
