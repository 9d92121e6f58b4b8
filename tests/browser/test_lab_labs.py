"""Every lab in real JupyterLab, walked by the mouse and by keys to each state that has a name."""

import pytest
from lab_page import window

from helpers import labs
from helpers.labs.engine.lab import with_buttons

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shown(chromium, lab):
    """A notebook that shows all labs, a cell each after the first."""
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
    path = lab.path(state)
    player.press("r")
    assert player.title() == lab.map().states[0].title
    for number, action in enumerate(path, start=1):
        act(player, [action.name for action in with_buttons(lab.world)], action, by_key=number % 2)
        way = lab.map().walk(path[:number])
        assert player.title() == lab.map().states[way.to].title
        if way.error:
            kind, _, message = way.error.partition(": ")
            assert player.sentence().startswith(f"✗ {kind}: {message[:30]}")
        else:
            assert player.sentence() == lab.map().states[way.to].sentence


def act(player, actions, action, by_key):
    """Press the button of an action, or its key; what has no button is to go on to the next node."""
    if action not in actions:
        player.press("ArrowRight")
    elif by_key:
        player.press("1234567890"[actions.index(action)])
    else:
        player.click(f".player-action:nth-of-type({actions.index(action) + 1})")
