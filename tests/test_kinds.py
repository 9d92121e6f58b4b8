"""Drawings, lines to find, orders and explanations: what is computed of them is what torch does, and
any input gets a sentence. Questions are made here; those of the lessons are read in two tests.
"""

import json
import sys
from random import Random

import nbformat
import pytest
import torch
from computed import store_what_came
from drawn_cards import CannotBeDrawn, drawing
from made_up_lesson import lesson as stored
from refresh import NOTEBOOKS

from autograd_graphs import show, snapshot
from helpers import draw, explain, find_line, mended, order, predict, run_order
from helpers.predicting import ran
from helpers.predicting.from_notebook import KINDS, CannotBeAsked, questions_in
from helpers.predicting.graph_cards import same_graph
from helpers.predicting.kinds import kind_of
from helpers.predicting.prediction import answer_of, ask, asked_of, typed
from helpers.predicting.program_outcomes import Outcome, in_this_order, outcome
from helpers.predicting.program_outcomes import ran as ran_in
from helpers.predicting.questions import every
from helpers.progress_file import kept

LESSON = NOTEBOOKS / "07_retain_graph.ipynb"
NEW = [one for one in every().values() if one.kind in KINDS]
STRANGE = [..., b"1", -1, 0, 99, 1.5, "", "9z", "AA", "A", "ZZ", [1], {"a": 1}, "ee", "x" * 5000]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    monkeypatch.setattr(ran, "_waiting", {})


def drawn(seed):
    """Run a random small program; return its graph and the names that it was made among."""
    random, known = Random(seed), ["a", "b", "c"]
    lines = [f"{name} = torch.tensor(2.0, requires_grad={name != 'c'})" for name in known]
    for made in ("x", "y", "z"):
        lines.append(
            f"{made} = {random.choice(known)} {random.choice('+*/')} {random.choice(known)}"
        )
        known.append(made)
    names = {"torch": torch, "show": show}
    assert ran_in("\n".join([*lines, "picture = show(z)"]), names) == ("", 0)
    return names.pop("picture").graph, names


@pytest.mark.parametrize("seed", range(12))
def test_the_edges_of_a_drawing_are_those_of_torch(seed):
    graph, names = drawn(seed)
    if not graph.nodes:
        pytest.skip("nothing to draw")
    made = drawing(graph, names)
    titles = {card["id"]: card["title"] for card in made["shown"]["cards"]}
    edges = sorted(made["told"]["edges"].split())
    live = [(one.source, one.target) for one in graph.edges if one.target is not None]
    assert len(edges) == len(live)
    told = sorted(titles[a] + titles[b] for a, b in edges)
    look = [
        node.name if node.is_leaf else node.operation.partition("Back")[0] for node in graph.nodes
    ]
    assert told == sorted(look[a] + look[b] for a, b in live)
    assert same_graph(graph, made["shown"], made["told"])
    pairs = {a + b for a in titles for b in titles if a != b}
    assert set(made["told"]["reasons"]) == pairs - set(edges), (
        "each pair without an edge has its why"
    )
    places = [tuple(place) for place in made["told"]["places"].values()]
    assert len(set(places)) == len(places)
    hold_reasons(made["shown"]["cards"], made["told"])


@pytest.mark.parametrize(
    "asked", [one for one in NEW if one.kind == "draw"], ids=lambda one: one.id
)
def test_why_there_is_no_edge_agrees_with_the_graph_that_a_lesson_draws(asked):
    hold_reasons(asked.shown["cards"], asked.told)


def test_only_is_said_of_the_one_way_there_is():
    x = torch.tensor(3.0, requires_grad=True)
    p = x**2
    q = p * x
    told = drawing(snapshot(p + q), {"p": p, "q": q, "x": x})["told"]["reasons"]
    assert told["AD"].startswith("`Add` takes several steps to `x`, for example through ")
    told = drawing(snapshot(p.exp()), {"p": p, "x": x})["told"]["reasons"]
    assert told["AC"] == "`Exp` reaches `x` only through `Pow`. An edge is one step."


def hold_reasons(cards, told):
    """Hold what is said of each pair without an edge against the edges."""
    edges = told["edges"].split()
    for pair, words in told["reasons"].items():
        one, other = (next(card for card in cards if card["id"] == letter) for letter in pair)
        assert pair not in edges
        assert is_true(words, one, other, cards, edges), f"{pair}: {words}"


def is_true(words, one, other, cards, edges):
    """Tell whether a sentence on two cards holds; a sentence of no known form does not."""
    titles = {card["id"]: card["title"] for card in cards}
    ways, back = (
        [[titles[letter] for letter in way[1:-1]] for way in walks(*ends, edges)]
        for ends in ((one["id"], other["id"]), (other["id"], one["id"]))
    )
    lone = [card for card in (one, other) if card["id"] not in "".join(edges)]
    between = words.partition("through `")[2].partition("`")[0]
    if between:
        through = [between in way for way in ways]
        return any(through) and all(through) == ("only through" in words)
    if "not the other way round" in words:
        return bool(back)
    if "isn't an input of" in words:
        return not ways and not back and not lone
    if "is a leaf" in words:
        return one["kind"] == "leaf" and not any(edge[0] == one["id"] for edge in edges)
    of = [card for card in lone if f"`{card['title']}`" in words]
    if "no operation left" in words:
        others = [card for card in cards if card["title"] == of[0]["title"] and card != of[0]]
        return ("another" in words) == any(card["id"] in "".join(edges) for card in others)
    if "requires grad, but no path" in words or "so it has no node" in words:
        return of[0]["rest"] == ("plain" if "no node" in words else "requires grad")
    return False


def walks(start, end, edges):
    """Return every way along the edges from one letter to another."""
    if start == end:
        return [start]
    return [start + way for edge in edges if edge[0] == start for way in walks(edge[1], end, edges)]


def test_a_graph_that_changed_is_not_the_one_that_was_drawn():
    x = torch.tensor([1.0], requires_grad=True)
    made = drawing(snapshot((x**2).sum()), {"x": x})
    assert not same_graph(snapshot((x**2).exp().sum()), made["shown"], made["told"])


def test_no_card_says_that_a_leaf_has_a_second_name():
    x = torch.tensor(2.0, requires_grad=True)
    same = x
    graph = snapshot(x * same)
    made = drawing(graph, {"x": x, "same": same})
    assert [card["title"] for card in made["shown"]["cards"]] == ["Mul", "x"]
    assert same_graph(graph, made["shown"], made["told"])


def test_the_live_graph_is_told_apart_from_the_stored_one(monkeypatch):
    asked = every()["07.d1"]
    monkeypatch.setattr(ran, "_cells", {asked.run})
    monkeypatch.setattr(ran, "_running", [asked.cell])
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    monkeypatch.setattr(ran, "_graphs", {asked.run: show((x**2).sum()).graph})
    assert "a different graph" in draw("07.d1", "AB").problem
    h = x**2
    loss = (h * h).sum()
    monkeypatch.setattr(ran, "_graphs", {asked.run: show(loss).graph})
    assert draw("07.d1").problem == ""


def test_a_program_leaves_everything_as_it_was():
    state, trace = torch.random.get_rng_state(), sys.gettrace()
    made = outcome("torch.rand(3)\ntorch.set_grad_enabled(False)\nprint(1, 'a')\nx = y")
    assert made == Outcome(("1 a",), "NameError: name 'y' is not defined", 4)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.is_grad_enabled()
    assert sys.gettrace() is trace


@pytest.mark.parametrize(
    ("program", "words", "line"),
    [
        ("while True:\n    pass", "does not end", 2),
        ("x = 1\ny = (", "SyntaxError", 2),
        ("def f():\n    return 1 / 0\nf()", "ZeroDivisionError", 2),
        ("import sys\nx = torch.ones(1, requires_grad=True)\nx.exp().sum().backward()", "", 0),
    ],
)
def test_a_program_that_fails_says_where(program, words, line):
    made = outcome(program)
    assert words in made.error
    assert made.line in (line, line - 1 if "while" in program else line)


def test_what_a_question_tells_to_type_is_a_guess_that_it_takes():
    for asked in every().values():
        made = eval(typed(asked))
        assert made.choice or asked.kind == "explain"  # whose example is only a beginning


@pytest.mark.parametrize("asked", NEW, ids=lambda one: one.id)
def test_any_input_is_read_or_gets_a_sentence(asked, capsys):
    for given in STRANGE:
        made = ask(asked.kind, asked.id, given)
        assert made is not None
        told = capsys.readouterr().out
        assert made.choice or "you gave" in told
        assert not made.choice or kind_of(asked).read(asked, made.choice) == made.choice
        if made.choice:
            break
    assert len(kept()["predictions"]) <= 1


@pytest.mark.parametrize("asked", NEW, ids=lambda one: one.id)
def test_what_is_right_is_told_so_and_not_before(asked):
    right = asked.right or "The graphs of all three steps are there."
    assert kind_of(asked).read(asked, right) == right
    assert kind_of(asked).is_right(asked, right)
    assert asked.takeaway in kind_of(asked).reply(asked, right) or asked.kind == "explain"
    before = json.dumps(asked_of(asked))
    for told in (asked.takeaway, *map(str, asked.told.get("tells", [])), asked.told.get("good")):
        assert not told or json.dumps(told)[1:-1] not in before
    assert set(answer_of(asked)) >= set(asked.told)


def test_a_drawing_is_told_what_differs():
    asked = every()["07.d1"]
    assert not kind_of(asked).is_right(asked, "AB BD CA")
    assert "Mul → Pow is missing" in kind_of(asked).reply(asked, "AB BD CA")
    assert "Sum → x doesn't belong there" in kind_of(asked).reply(asked, "AB AB BD CA CD")
    turned = " ".join(edge[::-1] for edge in asked.right.split())
    assert kind_of(asked).is_right(asked, kind_of(asked).read(asked, turned)), (
        "who follows the numbers has found each edge"
    )


def test_a_line_is_told_what_stands_behind_it():
    asked = every()["07.f1"]
    assert (
        kind_of(asked)
        .reply(asked, "8")
        .startswith("You said line 8, but it's line 4. Line 8: This is where")
    )
    assert kind_of(asked).read(asked, "4c") == "4c"
    assert kind_of(asked).read(asked, 4) == "4"
    assert kind_of(asked).read(asked, "4z") == ""


def test_the_wrong_call_names_the_right_one(capsys):
    for call, name, other in ((predict, "07.d1", "draw"), (order, "07.q1", "predict")):
        assert call(name) is None
        assert f'{other}("{name}")' in capsys.readouterr().out.replace("\n", " ")


def test_a_changed_program_is_told_so(capsys):
    find_line("07.f1", "x = 1")
    assert "you've changed this program" in capsys.readouterr().out


def test_a_reply_to_an_order_ends_in_one_full_stop():
    for asked in [one for one in NEW if one.kind == "order"]:
        firsts = {number: letters for letters, number in asked.told["of"].items()}
        for letters in firsts.values():
            said = kind_of(asked).reply(asked, letters)
            assert ".." not in said.replace("...", ""), said


def test_what_settles_a_round_runs_it(capsys):
    mended("07.f1")
    out = capsys.readouterr().out
    assert "c = b + b  # <- mended" in out
    assert out.endswith("(no error)\n")
    run_order("07.o1")
    assert capsys.readouterr().out.startswith("One that works:")
    order("07.o1", "abce")
    run_order("07.o1")
    out = capsys.readouterr().out
    assert out.startswith("Your order:")
    assert "RuntimeError" in out
    assert "w.grad is 32.0" in out
    for call in (mended, run_order):
        call("07.q1")
        assert "There's no" in capsys.readouterr().out


def test_an_explanation_is_kept_and_nobody_grades_it(capsys):
    made = explain("07.e1", "Because `total` leads to all of them.")
    assert kept()["predictions"]["07.e1"]["first"] == made.choice
    explain("07.e1", "too short")
    assert "at least 16 letters" in capsys.readouterr().out


def test_every_stored_order_does_what_is_said_of_it():
    for asked in [one for one in NEW if one.kind == "order"]:
        for letters in list(asked.told["of"])[::40]:
            program = f"{asked.told['before']}\n{in_this_order(asked.shown, letters)}"
            came = outcome(program, asked.told["after"])
            facts = asked.told["outcomes"][asked.told["of"][letters]]["facts"]
            assert [*came.printed, *filter(None, [came.error])] == facts


def changed(name, **course):
    """Return lesson 07 with something else in what its author wrote of one question."""
    made = nbformat.read(LESSON, as_version=4)
    for cell in made.cells:
        if cell.metadata.course.get("id") == name:
            cell.metadata.course.update(course)
    return stored(made)


@pytest.mark.parametrize(
    ("name", "course", "words"),
    [
        ("07.f1", {"mend": "c = b * b"}, "does not mend the program"),
        ("07.o1", {"says": [["^nothing", "Never."]]}, "No sentence for the order"),
        ("07.o1", {"says": [["^nothing", "Never."], [".", "All."]]}, "no order does what is asked"),
    ],
)
def test_what_an_author_left_out_is_said(name, course, words):
    with pytest.raises(CannotBeAsked, match=words):
        refreshed(changed(name, **course))


def refreshed(lesson):
    """Return the questions of a lesson after `make refresh`."""
    store_what_came(lesson, lesson.node)
    return questions_in(lesson.node.cells)


def test_a_graph_that_nobody_could_draw_is_refused():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(CannotBeDrawn, match="Two cards say Exp"):
        drawing(snapshot(x.exp() + x.exp()), {"x": x})
    long = x
    for _ in range(12):
        long = long.exp()
    with pytest.raises(CannotBeDrawn, match="cards, over"):
        drawing(snapshot(long), {"x": x})
