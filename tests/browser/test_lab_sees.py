"""The tests in JupyterLab are seen to fail: of a notebook full of faults they name every one, and
nothing else.
"""

import nbformat
import pytest
from lab_page import window
from lab_rules import VIEW, complaints

pytestmark = pytest.mark.browser
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
HEAD = """import torch
from IPython.display import HTML, SVG, Javascript

from helpers import show, step_through

x = torch.tensor(2.0, requires_grad=True)
"""
RIGHT = [
    "step_through(x * 3)",
    "show(x * 3, alt='a product')",
    f'HTML(\'<img alt="a dot" src="{DOT}">\')',
]
SILENT = "pictures: cell {} has a picture that says nothing"
WRONG = {
    f"HTML('<img src=\"{DOT}\">')": SILENT,
    'HTML(\'<img alt="gone" src="figs/gone.svg">\')': "pictures: cell {} has a picture that did not load: ",
    'p = step_through(x * 3)\np.film = p.film.replace(\'"handed","3"\', \'"handed","4"\')\np': (
        "players: cell {}: the player shows 4, the text 'step 1 of 2: MulBackward0: 1.0 arrives"
    ),
    f"display({{'{VIEW}': {{'model_id': 'gone'}}}}, raw=True)": (
        "outputs_are_seen: cell {} put out a player, and none is there"
    ),
}
ASKS = {
    'HTML(\'<img alt="far away" src="http://example.invalid/card.png">\')': "http://example.invalid/card.png",
    "Javascript('new WebSocket(\"ws://example.invalid/socket\")')": "ws://example.invalid/socket",
}
FAILS = [
    "Javascript('console.error(\"said by ours\")')",
    "Javascript('setTimeout(() => { throw Error(\"thrown by ours\"); })')",
]


@pytest.fixture
def seen(chromium, lab):
    """A notebook whose faults do not fail the test, and the watch over it."""
    with window(chromium, lab) as (notebook, watch):
        yield notebook, watch
        watch.foreign.clear()
        watch.errors.clear()


@pytest.mark.thorough
def test_every_fault_is_named_and_nothing_else(seen, lab):
    notebook, watch = seen
    sources = [HEAD, *RIGHT, *WRONG, *ASKS, *FAILS, "6 * 7", "1 / 0", "6 * 7"]
    lab.write("faults.ipynb", *sources)
    found = lab.read("faults.ipynb")
    found.cells[-3].metadata["tags"] = ["raises-exception"]
    nbformat.write(found, lab.work / "faults.ipynb")
    notebook.open("faults.ipynb").run_all()
    expected = [
        complaint.format(number)
        for number, complaint in enumerate(WRONG.values(), start=1 + len(RIGHT))
    ]
    last = len(sources) - 1
    expected += [
        f"pictures: cell {1 + len(RIGHT) + len(WRONG)} has a picture that did not load: http://example"
    ]
    expected += [f"errors: cell {last - 2} is tagged raises-exception and raises nothing"]
    expected += [
        f"errors: cell {last - 1} raises ZeroDivisionError",
        f"errors: cell {last} was not run",
    ]
    assert sorted(cut(one, expected) for one in complaints(notebook)) == sorted(expected)
    assert set(watch.foreign) == set(ASKS.values())
    for what in ("said by ours", "thrown by ours"):
        assert any(what in error for error in watch.errors), watch.errors


def cut(complaint, expected):
    """Return the beginning of a complaint that is expected, or all of it."""
    return next((one for one in expected if complaint.startswith(one)), complaint)
