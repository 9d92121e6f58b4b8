"""What the player shows at every stop is what the film's data says: states, gradients, `.grad`s, saved
tensors and arithmetic.
"""

import random

import pytest
from player_films import PROGRAMS, film_of, trace_of
from reading_film import Steps

from autograd_graphs.playing.player import as_json
from autograd_graphs.playing.views import views

pytestmark = pytest.mark.browser
SEEN = """() => {
    const state = (one) => (/is-(now|next|done)/.exec(one.getAttribute("class")) ?? ["", ""])[1];
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true });
    const what = (one) => one.querySelector("svg")?.getAttribute("viewBox") ?? one.querySelector("text").textContent;
    const nodes = [...document.querySelectorAll(".player-node")].map((one) => [state(one),
        one.querySelectorAll(".m-saved.s-held").length, one.querySelectorAll(".m-saved.s-freed").length,
        one.querySelector(".player-tick") ? isSeen(one.querySelector(".player-tick")) : null,
        [...one.querySelectorAll(".player-grad")].map(what), Boolean(one.querySelector(".player-alarm") && isSeen(one.querySelector(".player-alarm")))]);
    const wires = [...document.querySelectorAll(".player-wire")];
    return { nodes, states: wires.map(state).sort(),
        capsules: wires.filter((one) => one.querySelector(".player-capsule") && isSeen(one.querySelector(".player-capsule")))
            .map((one) => [state(one), what(one.querySelector(".player-capsule"))]).sort() }; }"""
ROWS = """() => [...document.querySelectorAll(".player-row")].map((row) => [...row.children].map((cell) => [
    /player-(arrives|handed|factor|before|total|name|words|sign)/.exec(cell.className)[1],
    cell.querySelector("svg")?.getAttribute("viewBox") ?? cell.querySelector("b").textContent]))"""
TEXTS = "[...document.querySelectorAll('.player-node')].map((one) => one.textContent)"
TO = """(at) => { const range = document.querySelector(".player-range"); range.value = at; range.dispatchEvent(new Event("input")); }"""


def picture(what):
    """Return what stands for something in the data of a film: its text, or the size of its picture."""
    if what is None or isinstance(what, str):
        return what or "None"
    kind, *_, columns, numbers = what
    assert kind
    return f"0 0 {10 * columns} {10 * len(numbers) // columns}" if kind == 1 else "0 0 90 30"


def compare(shown, read, view, stop):
    """Compare what is seen with what the film's data means, read in Python: that it is what torch
    did is tested without a browser, by `check_film`.
    """
    found, last = shown.evaluate(SEEN), read.scenes[view].stops[stop][1]
    nodes = read.nodes_at(view, stop)
    for nr, (state, held, freed, tick, slots, alarm) in enumerate(found["nodes"]):
        wanted, is_freed, grads = nodes[nr]
        assert (state, slots) == (wanted, [*map(picture, grads)]), nr
        assert not (held if is_freed else freed), nr
        if tick is not None:
            assert tick == (state == "done" and not alarm), nr
        spans = read.scenes[view].turns[nr]["stretches"]
        has_trouble = any(begin <= (read.trouble or 0) <= end for begin, end in spans)
        assert alarm == (read.trouble is not None and has_trouble and read.trouble <= last), nr
    assert len(found["nodes"]) == len(nodes)
    wires = read.wires_at(view, stop)
    assert found["states"] == sorted(state for state, *_ in wires)
    capsules = [[state, picture(what)] for state, _, what in wires if state and what is not None]
    assert found["capsules"] == sorted(capsules)
    assert shown.evaluate(ROWS) == rows(read, read.scenes[view].stops[stop][2])


def rows(read, number):
    """Return the arithmetic of a moment: (role, what stands for it) of each cell of each row."""
    found = []
    for row in read.moments[number].get("rows", []):
        cells = [(role, read.what(what)) for role, what, *_ in row]
        found.append([[role, in_a_row(what)] for role, what in cells])
    return found


def in_a_row(what):
    is_shape = isinstance(what, tuple) and what[0] == 0  # too large for a picture
    return what[1] if is_shape else picture(what)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "layers"])
def test_every_stop_shows_what_its_film_says_from_wherever_one_comes(film_page, name):
    shown, read = film_page(name), Steps(as_json(film_of(name)))
    stops = read.scenes[0].stops
    assert shown.evaluate("+document.querySelector('.player-range').max") == len(stops) - 1
    for at in [*range(len(stops)), *random.Random(name).choices(range(len(stops)), k=12)]:
        shown.evaluate(TO, at)
        compare(shown, read, 0, at)


def test_every_stop_of_every_view_of_a_folded_graph_shows_what_its_film_says(film_page):
    shown, read = film_page("layers"), Steps(as_json(film_of("layers")))
    shown.focus(".player")
    all_views, seen_views, dice = views(trace_of("layers").graph, 24), set(), random.Random(0)
    for _ in range(24):
        view = matching(all_views, shown.evaluate(TEXTS))
        stops = read.scenes[view].stops
        assert shown.evaluate("+document.querySelector('.player-range').max") == len(stops) - 1
        for at in [0, *dice.choices(range(len(stops)), k=6), len(stops) - 1]:
            shown.evaluate(TO, at)
            compare(shown, read, view, at)
        seen_views.add(view)
        shown.evaluate(TO, dice.randrange(1, len(stops) - 1))
        shown.keyboard.press("i" if dice.random() < 0.7 else "f")
    assert len(seen_views) > 3


def matching(all_views, texts):
    """Return the number of the view whose nodes are called as those that are seen."""

    def alike(number):
        pairs = zip(all_views[number].graph.nodes, texts, strict=True)
        return sum(text.startswith(node.title[:14]) for node, text in pairs if node.folded)

    return max([nr for nr, one in enumerate(all_views) if len(one.nodes) == len(texts)], key=alike)
