"""Every lab in real JupyterLab, walked by the mouse and by keys to each state that has a name."""

import re

import pytest
from lab_page import window

from helpers import labs
from helpers.labs.engine.explore import lead

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shown(chromium, lab):
    """A notebook that shows all labs, a cell each after the first; one window serves all tests of
    this file.
    """
    with window(chromium, lab) as (notebook, _):
        name = lab.write(
            "labs.ipynb", "from helpers import labs", *(f"labs.{name}()" for name in labs.__all__)
        )
        notebook.open(name).run_all()
        yield notebook


WALKS = [(name, state) for name in labs.__all__ for state in getattr(labs, name).names]


@pytest.mark.parametrize(("name", "state"), WALKS, ids=[f"{name}-{state}" for name, state in WALKS])
def test_a_lab_is_walked_to_a_named_state(shown, name, state):
    lab, player = getattr(labs, name), shown.player(1 + labs.__all__.index(name))
    states, path = lab.map().states, lab.names[state].split()
    player.press("r")
    assert player.sentence() == states[0].sentence
    for number, action in enumerate(path, start=1):
        act(player, [name for name, _ in lab.film().actions], action, by_key=number % 2)
        assert player.sentence() == states[lab.map().after(tuple(path[:number]))].sentence
    error = states[lab.number(state)].error
    assert letters(lead(error), *player.texts("text.m-error")) == letters(error), (
        "the error as torch says it, once"
    )


def letters(*lines):
    """Return text without what breaking it into sentences and lines puts in or leaves out."""
    return re.sub(r"[\s.…]", "", "".join(lines))


def act(player, actions, action, by_key):
    """Press the button of an action, or its key; what has no button is to go on to the next node."""
    if action not in actions:
        player.press("ArrowRight")
    elif by_key and actions.index(action) < 9:
        player.press(str(actions.index(action) + 1))
    else:
        player.click(f".player-action:nth-of-type({actions.index(action) + 1})")
