"""What holds for every film of a backward, whatever ran: told by its trace, read as the player reads
it.
"""

from __future__ import annotations

import json
from itertools import pairwise

from nbformat.v4 import new_notebook, new_output
from reading_film import is_in_order, read

from autograd_graphs.data import Gradient
from autograd_graphs.playing import animate, equations, moments, stepped_over
from autograd_graphs.playing.encode_backward import STEPS
from autograd_graphs.playing.player import FILM, as_json
from autograd_graphs.playing.views import MOST_NODES, views
from autograd_graphs.text import short_number
from course.publishing.films import film_of


def check_film(trace, film=None):
    """Check a film against its trace; return it, and its data as read."""
    film = film or animate.film(trace)
    text = as_json(film)
    text.encode()
    assert text.isprintable()
    assert "\n" not in text
    data = json.loads(text)
    output = new_output("display_data", data={FILM: text})
    assert json.loads(film_of(new_notebook(), output) or "null") == data, "our publisher refuses it"
    found = read(text)
    drawn = views(trace.graph, animate.MOST_VIEWS)
    assert len(film.scenes) == len(found.scenes) == len(drawn) <= animate.MOST_VIEWS
    assert sum(len(view.nodes) for view in drawn[:-1]) <= MOST_NODES
    check_stops(trace, film, drawn)
    check_moments(trace, film)
    for nr, view in enumerate(drawn):
        scene = found.scenes[nr]
        for stop in some(len(scene.stops)):
            check_nodes(trace, view, found, nr, stop)
            check_wires(trace, view, film.scenes[nr], found, nr, stop)
    assert film.steps == len(trace.steps)
    return film, found


def some(count):
    """Return the numbers of all stops, or of thirty spread over them."""
    return sorted({*range(0, count, max(1, count // 30)), count - 1, max(count - 2, 0)})


def check_stops(trace, film, drawn):
    """Check that each view stops at each step once, in order, and over folded parts once."""
    count, over = len(trace.steps), []
    for scene, view in zip(film.scenes, drawn, strict=True):
        box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        begin, *stops = scene.stops
        assert (begin.first, begin.last, begin.moment) == (-1, -1, 0)
        if not count:
            assert not stops
            continue
        *stops, end = stops
        assert (end.first, end.last, end.moment) == (count, count, count + 1)
        gone = [now for stop in stops for now in range(stop.first, stop.last + 1)]
        assert gone == list(range(count))
        for stop in stops:
            inside = {box[trace.steps[now].node] for now in range(stop.first, stop.last + 1)}
            if stop.first == stop.last:
                assert stop.moment == stop.first + 1
            else:
                over.append(stop.moment)
                (only,) = inside
                assert view.graph.nodes[only].folded
        for one, other in pairwise(stops):
            boxes = {box[trace.steps[now].node] for now in (one.last, other.first)}
            is_folded = all(view.graph.nodes[nr].folded for nr in boxes)
            assert not (len(boxes) == 1 and is_folded), "one stop for steps in a row in a part"
    assert over == list(range(count + 2, len(film.moments)))
    seen = {stop.moment for scene in film.scenes for stop in scene.stops}
    words = {nr for nr, moment in enumerate(film.moments) if moment is not None}
    assert words - seen <= {count + 1}, "no words for what is never shown"


def check_moments(trace, film):
    for moment in film.moments:
        if moment is None:
            continue
        assert len(moment.title) <= moments.LONGEST_TITLE + len(".backward()")
        assert len(moment.choices) <= moments.MOST_CHOICES
        assert len(moment.bars) <= stepped_over.MOST_BARS
        assert len(moment.rows) <= equations.MOST_ROWS + 1
        assert all(len(rule) <= moments.LONGEST_FORMULA for _, rule in moment.formulas)
        assert moment.bytes_held >= 0
        check_choices(moment)
    held = [moment.bytes_held for moment in film.moments[: len(trace.steps) + 2] if moment]
    assert held == sorted(held, reverse=True), "what is kept only falls"
    end = film.moments[len(trace.steps) + 1]
    assert end.is_error == bool(trace.error)
    assert not [one for one in film.moments if one and one.is_error and one is not end]


def check_choices(moment):
    """Check that the right answers are among the choices, and a wrong one at least."""
    answers = {answer(cell.what) for row in moment.rows for cell in row if cell.is_asked}
    assert bool(moment.question) or not answers
    assert len(set(moment.choices)) == len(moment.choices)
    if moment.choices:
        assert answers <= set(moment.choices)
        assert set(moment.choices) - answers


def answer(what):
    """Return what one has to type: the shape of a tensor, as its caption says it."""
    return equations.shape(what.shape) if isinstance(what, Gradient) else what


def check_nodes(trace, view, found, nr, stop):
    """Compare the states of nodes with what the steps say, counted anew."""
    first, last, _ = found.scenes[nr].stops[stop]
    turn = {step.node: number for number, step in enumerate(trace.steps)}
    for shown, inside in zip(found.nodes_at(nr, stop), view.nodes, strict=False):
        state, is_freed, slots = shown
        turns = [turn.get(one, len(trace.steps)) for one in inside]
        is_now = any(first <= one <= last for one in turns) and first < len(trace.steps)
        is_done = all(one <= last and one < len(trace.steps) for one in turns)
        assert state == ("now" if is_now else "done" if is_done else "")
        frees = [turn[one] for one in inside if one in turn and trace.steps[turn[one]].freed]
        assert is_freed == (bool(frees) and max(frees) < last)
        if not slots:
            continue
        (one,) = inside
        before, after = grads(trace, one)
        for slot in slots:
            assert_shows(slot, after if is_done else before)


def grads(trace, node):
    """Return `.grad` of a node's tensor before and after its turn."""
    for step in trace.steps:
        if step.node == node and step.leaf:
            return step.leaf.before, step.leaf.after
    return trace.graph.nodes[node].outputs[0].grad, trace.after.nodes[node].outputs[0].grad


def check_wires(trace, view, scene, found, nr, stop):
    """Compare what travels along wires with what the steps handed on, counted anew."""
    first, last, _ = found.scenes[nr].stops[stop]
    turn = {step.node: number for number, step in enumerate(trace.steps)}
    shown = found.wires_at(nr, stop)[len(found.scenes[nr].starts) :]
    lines = [line for line in scene.picture.lines if line.edge is not None]
    for line, (state, is_new, what) in zip(lines, shown, strict=True):
        olds = [trace.graph.edges[one] for one in view.edges[line.edge]]
        olds = [one for one in olds if one.source in turn and one.target is not None]
        olds = [one for one in olds if handed_on(trace, turn, one) is not None]
        gone = [one for one in olds if turn[one.source] <= last]
        goals = [turn.get(one.target, len(trace.steps) + 1) for one in gone]
        wanted = "done" if gone and len(gone) == len(olds) else ""
        wanted = "next" if any(goal > last for goal in goals) else wanted
        wanted = "now" if any(first <= goal <= last for goal in goals) else wanted
        assert state == wanted
        assert is_new == any(first <= turn[one.source] <= last for one in olds)
        if not state:
            assert what == "", "nothing to come is told"
        elif len(olds) == 1:
            assert_shows(what, handed_on(trace, turn, olds[0]))
        else:
            assert what is None


def handed_on(trace, turn, edge):
    grads = trace.steps[turn[edge.source]].grad_inputs
    return grads[edge.position] if edge.position < len(grads) else None


def assert_shows(what, gradient):
    """Check that a text, or a tensor as read, shows a gradient."""
    if gradient is None:
        assert what is None
    elif isinstance(what, str):
        assert what == text_of(gradient.values)
    else:
        assert_tensor(what, gradient)


def text_of(values):
    """Return numbers as text; one alone without the brackets of its shape."""
    alone = values
    while isinstance(alone, tuple) and len(alone) == 1:
        (alone,) = alone
    return short_number(alone) if not isinstance(alone, tuple) else listed(values)


def listed(values):
    if isinstance(values, tuple):
        return "[" + ", ".join(map(listed, values)) + "]"
    return short_number(values)


def assert_tensor(tensor, gradient):
    """Check that the squares or bars of a tensor say what its numbers say."""
    kind, shape, norm, _, columns, numbers = tensor
    assert shape == equations.shape(gradient.shape)
    assert bool(norm) == (gradient.norm is not None)
    if gradient.tile is not None:
        flat = [value for row in gradient.tile for value in row]
        assert (kind, columns, len(numbers)) == (1, len(gradient.tile[0]), len(flat))
        most = max([abs(one) for one in flat if abs(one) < float("inf")], default=0)
        for value, size in zip(flat, numbers, strict=True):
            if value != value:
                assert size == 99
            elif abs(value) == float("inf"):
                assert size == (98 if value > 0 else -98)
            else:
                assert (size > 0, size < 0) == (value > 0, value < 0)
                assert value == 0 or abs(abs(size) - STEPS * (abs(value) / most) ** 0.5) <= 1
    elif gradient.bins is not None:
        assert (kind, columns, len(numbers)) == (2, 15, 15)
        order = sorted(range(15), key=gradient.bins.__getitem__)
        assert is_in_order([numbers[place] for place in order]), "more values, a higher bar"
    else:
        assert kind == 0
