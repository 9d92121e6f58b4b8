"""What the player shows at every stop is what torch did: states, gradients, `.grad`s and saved
tensors as the film's data has them, arithmetic as the trace has it.
"""

import random

import pytest
from driver import watched
from player_films import PROGRAMS, film_of, trace_of
from player_page import SETTLED
from reading_film import Steps

from autograd_graphs.playing.player import as_json, page
from autograd_graphs.playing.views import views
from autograd_graphs.text import short_number

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


@pytest.fixture(scope="module")
def opened(chromium, tmp_path_factory):
    """Return a function that opens a film in one page."""
    folder = tmp_path_factory.mktemp("films")
    with watched(chromium, reduced_motion="reduce") as watch:

        def start(name):
            (folder / "film.html").write_text(page(film_of(name)), encoding="utf-8")
            watch.page.goto((folder / "film.html").as_uri())
            watch.page.evaluate(SETTLED)
            return watch.page

        yield start


def listed(values):
    if isinstance(values, tuple):
        return f"[{', '.join(map(listed, values))}]"
    return short_number(values)


def seen(gradient, most=14):
    """Return what stands for a gradient: a number, a short list, or the size of its picture."""
    if gradient is None:
        return "None"
    values = gradient.values
    while isinstance(values, tuple) and len(values) == 1:
        (values,) = values
    if values is not None and not isinstance(values, tuple):
        return short_number(values)
    is_flat = isinstance(values, tuple) and not any(isinstance(one, tuple) for one in values)
    if is_flat and len(listed(gradient.values)) <= most:
        return listed(gradient.values)
    if gradient.tile is not None:
        return f"0 0 {10 * len(gradient.tile[0])} {10 * len(gradient.tile)}"
    assert gradient.bins is not None
    return f"0 0 {6 * len(gradient.bins)} 30"


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


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "layers"])
def test_every_stop_shows_what_torch_did_from_wherever_one_comes(opened, name):
    shown, trace, read = opened(name), trace_of(name), Steps(as_json(film_of(name)))
    stops = read.scenes[0].stops
    assert shown.evaluate("+document.querySelector('.player-range').max") == len(stops) - 1
    for at in [*range(len(stops)), *random.Random(name).choices(range(len(stops)), k=12)]:
        shown.evaluate(TO, at)
        compare(shown, read, 0, at)
        if 0 < at < len(stops) - 1:
            arithmetic(shown, trace, trace.steps[stops[at][0]])


def arithmetic(shown, trace, step):
    """Compare the rows of the panel: what arrives, what is handed on, before and after of a leaf."""
    rows = shown.evaluate(ROWS)
    cells = [tuple(cell) for row in rows for cell in row]
    said = {role: [what for one, what in cells if one == role] for role, _ in cells}
    came = seen(step.grad_outputs[0], 26)
    assert came in said["arrives"]
    assert set(said["arrives"]) <= {came, seen(step.before_hooks[0], 26), *arriving(trace, step)}
    if step.leaf:
        before, after = seen(step.leaf.before, 26), seen(step.leaf.after, 26)
        assert (said["before"], said["total"]) == ([before], [after])
        return
    inputs = trace.graph.inputs_by_node().get(step.node, ())
    handed = [step.grad_inputs[edge.position] for edge in inputs if edge.target is not None]
    wanted = [seen(one, 26) for one in handed if one is not None]
    more = [what for role, what in cells if role == "words" and "more" in what]
    assert said["handed"] == wanted[: len(said["handed"])]
    assert len(said["handed"]) == len(wanted) or (len(wanted) > 3 and more)
    for row in rows:
        numbers = product([what for role, what in row if role in ("arrives", "factor")])
        result = [what for role, what in row if role == "handed"]
        if ["sign", "×"] in row and numbers is not None and len(result) == 1:
            assert float(result[0]) == pytest.approx(numbers, rel=2e-3)


def arriving(trace, step):
    """Return what each edge brings to the node of a step."""
    of = {one.node: one for one in trace.steps}
    edges = [edge for edge in trace.graph.edges if edge.target == step.node and edge.source in of]
    return {seen(of[edge.source].grad_inputs[edge.position], 26) for edge in edges}


def product(factors):
    """Return the product of what is a plain number; None where something is not."""
    try:
        one, other = map(float, factors)
    except ValueError:
        return None
    return one * other


def test_every_stop_of_every_view_of_a_folded_graph_shows_what_torch_did(opened):
    shown, read = opened("layers"), Steps(as_json(film_of("layers")))
    shown.focus(".player")
    all_views, seen_views, dice = views(trace_of("layers").graph, 24), set(), random.Random(0)
    for _ in range(14):
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
