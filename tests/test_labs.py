"""Every lab shows what torch does: its states replayed, its merges judged, its named states against
plain torch.
"""

import random
from functools import cache

import pytest
import torch
from merging import check_merges, seen

from autograd_graphs.drawing.palette import attributes
from autograd_graphs.playing.film import ENDS, IDLE, marks_of
from helpers import labs
from helpers.labs.engine.explore import describe, graphs, inside
from helpers.labs.engine.lab import with_buttons

LABS = {name: getattr(labs, name) for name in labs.__all__}
every_lab = pytest.mark.parametrize("lab", LABS.values(), ids=LABS)


@pytest.mark.slow
@every_lab
def test_the_player_tells_the_truth_of_every_state_and_every_action(lab):
    """All actions of the world are run in every third state, in torch, and what the player says of
    each is held against it: another state, an error and the state after it, nothing, or a border.
    """
    film, states = lab.film(), lab.map().states
    known = cache(lambda path: seen(lab.world, path))
    assert [button.words for button in film.buttons] == [
        action.code for action in with_buttons(lab.world)
    ]
    for nr, (state, played) in list(enumerate(zip(states, film.states, strict=True)))[::3]:
        assert len(played.transitions) == len(film.buttons)
        for action, way in zip(with_buttons(lab.world), played.transitions, strict=True):
            assert (way.to == ENDS) == (len(state.path) == lab.depth), "it ends for all buttons"
            if way.to == ENDS:
                continue
            error, *after = seen(lab.world, (*state.path, action.name))
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
                way = lab.map().states[nr].after(action.name)
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
    marks = [mark for nr in range(len(film.states)) for mark in marks_of(film, nr)]
    cards = [mark for mark in marks if mark.owner and mark.owner.kind == "node"]
    kinds = {card.role for card in cards} & {"operation", "leaf"}
    assert kinds <= {role for role, _, _ in film.legend}, "the legend names each kind of card"
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


def test_requires_grad_what_is_not_recorded_is_a_ghost():
    one = labs.requires_grad.state("one flag")
    assert requires(one) == {"x": False, "y": False, "z": True, "a": False, "b": True}
    assert {node.name for node in one.graph.nodes} == {"b", "z"}
    assert {node.name for node in one.ghost.nodes} == {"b", "a", "x", "y", "z"}
    for name in ("comparison", "integer"):
        assert not requires(labs.requires_grad.state(name))["b"]
    assert not labs.requires_grad.state("grad mode off").graph.operations
    film = labs.requires_grad.film("one flag")
    names = {("node", nr): node.name for nr, node in enumerate(one.ghost.nodes)}
    ghosts = {
        names[mark.owner]
        for mark in marks_of(film, film.first)
        if mark.state == "ghost" and mark.owner in names
    }
    assert ghosts == set("axy")


def test_lifecycle_what_is_dead_or_not_yet_born_is_a_ghost_whatever_names_are_left():
    film = labs.lifecycle.film()
    for nr, state in enumerate(labs.lifecycle.map().states):
        alive = {node.operation for node in state.graph.nodes}
        ghosts = {
            state.ghost.nodes[mark.owner.number].operation
            for mark in marks_of(film, nr)
            if mark.state == "ghost" and mark.owner and mark.owner.kind == "node"
        }
        assert ghosts == {node.operation for node in state.ghost.nodes} - alive, state.path


def requires(state):
    return {name: state.value(name, "requires_grad") == "True" for name in "xyzab"}
