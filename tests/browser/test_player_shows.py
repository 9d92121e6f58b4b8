"""What the player shows at every stop is what torch did: states, gradients, `.grad`s, saved tensors
and arithmetic, computed here from the trace alone.
"""

import random
import re

import pytest
from driver import watched
from player_films import PROGRAMS, film_of, trace_of
from player_page import SETTLED

from autograd_graphs.playing.player import page
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


class Meant:
    """Know what one view of a trace has to show, from the trace."""

    def __init__(self, trace, view):
        self.trace, self.view = trace, view
        self.turn = {step.node: number for number, step in enumerate(trace.steps)}
        self.box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        self.last = len(trace.steps)

    def stops(self):
        """Return (first, last) step of every stop."""
        found = []
        for number, step in enumerate(self.trace.steps):
            box = self.box[step.node]
            is_folded = self.view.graph.nodes[box].folded
            if found and is_folded and found[-1][0] == box:
                found[-1][2] = number
            else:
                found.append([box, number, number])
        return [(-1, -1), *((first, last) for _, first, last in found), (self.last, self.last)]

    def nodes(self, first, last):
        return [self.node(nr, first, last) for nr in range(len(self.view.nodes))]

    def node(self, nr, first, last):
        inside = self.view.nodes[nr]
        turns = [self.turn[one] for one in inside if one in self.turn]
        is_now = any(first <= turn <= last for turn in turns)
        is_done = len(turns) == len(inside) and all(turn <= last for turn in turns)
        state = "now" if is_now else "done" if is_done else ""
        return state, self.slots(nr, last), self.is_freed(inside, last)

    def slots(self, nr, last):
        (one, *more) = self.view.nodes[nr]
        if more or one not in self.turn or not (leaf := self.trace.steps[self.turn[one]].leaf):
            return []
        return [seen(leaf.after if self.turn[one] <= last else leaf.before)]

    def is_freed(self, inside, last):
        freed = [self.turn[one] for one in inside if one in self.turn]
        freed = [turn for turn in freed if self.trace.steps[turn].freed]
        return bool(freed) and max(freed) < last  # a circle empties at the next stop

    def wires(self, first, last):
        """Return (state, what) of all edges; what is None where several are one."""
        found = []
        for inside in self.view.edges:
            ways = []
            for edge in map(self.trace.graph.edges.__getitem__, inside):
                if edge.target is None or edge.source not in self.turn:
                    continue
                step = self.trace.steps[self.turn[edge.source]]
                if edge.position < len(step.grad_inputs) and (
                    handed := step.grad_inputs[edge.position]
                ):
                    ways.append((self.turn[edge.source], self.goal(edge), handed))
            if all(self.trace.graph.edges[one].target is not None for one in inside):
                alone = ways[0][2] if len(ways) == 1 else None
                found.append((self.state(ways, first, last), alone and seen(alone)))
        return found + self.starts(first, last)

    def goal(self, edge):
        return self.turn.get(edge.target, self.last + 1)

    def state(self, ways, first, last):
        begun = [goal for start, goal, *_ in ways if start <= last]
        if any(first <= goal <= last for goal in begun):
            return "now"
        if any(goal > last for goal in begun):
            return "next"
        return "done" if begun and len(begun) == len(ways) else ""

    def starts(self, first, last):
        root = self.trace.graph.roots[0].node
        way = [(-1, self.turn[root])]
        return [(self.state(way, first, last), seen(self.trace.steps[0].before_hooks[0]))]


def compare(shown, meant, first, last):
    found = shown.evaluate(SEEN)
    assert len(found["nodes"]) == len(meant.view.nodes)
    trouble = first_trouble(meant.trace)
    for nr, (state, held, freed, tick, slots, alarm) in enumerate(found["nodes"]):
        wanted, grads, is_freed = meant.node(nr, first, last)
        assert (state, slots) == (wanted, grads), nr
        assert not (held if is_freed else freed), nr
        if tick is not None:
            assert tick == (state == "done" and not alarm), nr
        has_trouble = trouble is not None and meant.box[meant.trace.steps[trouble].node] == nr
        assert alarm == (has_trouble and trouble <= last), nr
    wires = meant.wires(first, last)
    assert found["states"] == sorted(state for state, _ in wires)
    capsules = [[state, what] for state, what in wires if state and what]
    assert found["capsules"] == sorted(capsules)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "layers"])
def test_every_stop_shows_what_torch_did_from_wherever_one_comes(opened, name):
    shown, trace = opened(name), trace_of(name)
    (view,) = views(trace.graph, 24)
    meant = Meant(trace, view)
    stops = meant.stops()
    assert shown.evaluate("+document.querySelector('.player-range').max") == len(stops) - 1
    for at in [*range(len(stops)), *random.Random(name).choices(range(len(stops)), k=12)]:
        shown.evaluate(TO, at)
        compare(shown, meant, *stops[at])
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


def first_trouble(trace):
    """Return the first step at which a NaN or inf is handed on, None for none."""
    for number, step in enumerate(trace.steps):
        if any(re.search(r"\b(nan|inf)\b", repr(one.values)) for one in step.grad_inputs if one):
            return number
    return None


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
    shown, trace = opened("layers"), trace_of("layers")
    shown.focus(".player")
    all_views, seen_views = views(trace.graph, 24), set()
    dice = random.Random(0)
    for _ in range(14):
        number = len(shown.evaluate(TEXTS))
        candidates = [one for one in all_views if len(one.nodes) == number]
        texts = shown.evaluate(TEXTS)
        meant = matching(trace, candidates, texts)
        stops = meant.stops()
        assert shown.evaluate("+document.querySelector('.player-range').max") == len(stops) - 1
        for at in [0, *dice.choices(range(len(stops)), k=6), len(stops) - 1]:
            shown.evaluate(TO, at)
            compare(shown, meant, *stops[at])
        seen_views.add(id(meant.view))
        at = dice.randrange(1, len(stops) - 1)
        shown.evaluate(TO, at)
        shown.keyboard.press("i" if dice.random() < 0.7 else "f")
    assert len(seen_views) > 3


def matching(trace, candidates, texts):
    """Return the view whose nodes are called as those that are seen, as far as titles are drawn."""

    def alike(view):
        pairs = zip(view.graph.nodes, texts, strict=True)
        return sum(text.startswith(node.title[:14]) for node, text in pairs if node.folded)

    return Meant(trace, max(candidates, key=alike))
