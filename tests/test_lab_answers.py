"""What the lessons answer about their labs holds on the lab's map: the keys that an answer tells to
press are pressed, and what it says is seen at their end. That the map is what plain torch does is
tried for each of these keys here, and everywhere in tests/test_labs.py.
"""

import ast
import random
import re
from itertools import permutations

import pytest
import torch
from lab_answers import (
    LABS,
    Prompt,
    answers,
    around,
    at,
    fewest,
    lines,
    named,
    saved,
    solutions,
    walk,
)
from torch._dynamo.utils import clear_compilation_metrics, get_compilation_metrics

from autograd_graphs.text import short_numbers
from helpers import labs
from helpers.labs.jacobian_table import OPEN
from helpers.labs.shelf_bench import calm

WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
ORDINALS = ["no", "first", "second", "third", "fourth", "fifth"]
every_lab = pytest.mark.parametrize("lesson", LABS)


def solved(lesson, keys, is_seen):
    """Assert that keys lead where they shall and that fewer do not; return how many, as a word."""
    presses = len(keys.split())
    assert is_seen(*walk(lesson, keys))
    assert fewest(lesson, is_seen) == presses
    return WORDS[presses]


def numbers(state, name):
    """Return the numbers that a state shows under a name, None where it shows no tensor."""
    value = re.match(r"\[.*?\]|[-\d.]+|None|not bound", state.value(name))[0]
    return None if value == "not bound" else ast.literal_eval(value)


@every_lab
def test_no_answer_stands_before_its_lab(lesson):
    asked = around(lesson)[0].source
    for answer in answers(lesson).values():
        assert answer.keys
        assert not any(words in asked for words in (answer.bold, *map("`{}`".format, answer.keys)))


@pytest.mark.parametrize("lesson", [lesson for lesson in LABS if lesson != "04"])
def test_the_map_ends_where_plain_torch_does(lesson):
    """Press the keys of every answer, and those that lead to every named state."""
    told = [keys for answer in answers(lesson).values() for keys in answer.keys]
    for keys in [*told, *named(lesson)]:
        (state, error), live = walk(lesson, keys), at(lesson, keys)
        assert error == live.error
        for name in LABS[lesson].world.names:
            is_bound = name.partition(".")[0] in live.names
            assert is_bound == (state.value(name) != "not bound")
            if is_bound:
                shown = live.numbers(name)
                assert numbers(state, name) == (shown and ast.literal_eval(short_numbers(shown)))


@every_lab
def test_no_button_is_dead_on_the_way_to_an_answer_or_there(lesson):
    """Each answer is the shortest, as the tests below say; a slide presses a few keys more."""
    slide = around(lesson)[0].metadata.course["slide"]
    pressed = slide["presses"].split(" r ")
    for keys in [*pressed, *[one for each in answers(lesson).values() for one in each.keys]]:
        row = keys.split()
        for count in range(len(row) + 1):
            state, _ = walk(lesson, " ".join(row[:count]))
            for action in lines(lesson).values():
                assert state.after(action.name).to is not None, f"{row[:count]}: {action.code}"


# Lesson 02: flags, grad mode, kinds of operation


def recorded(state, error=""):
    """Return which of the five tensors require grad."""
    return "".join([n for n in "xyzab" if state.value(n, "requires_grad") == "True"])


def test_02_1_b_without_a_takes_one_press_and_a_without_b_two():
    answer = answers("02")[1]
    only_b, only_a = (
        solved(
            "02", keys, lambda state, error, name=name: set("ab") & set(recorded(state)) == {name}
        )
        for name, keys in zip("ba", answer.keys, strict=True)
    )
    assert answer.bold == f"`b` without `a`: {only_b} press; `a` without `b` takes {only_a}."
    assert at("02", answer.keys[1])["b"].dtype == torch.bool


def test_02_2_one_flag_can_be_up_while_nothing_is_recorded():
    answer = answers("02")[2]
    alone = {
        recorded(state)
        for state in LABS["02"].map().states
        if state.fact("grad mode") == "on" and not state.graph.operations
    }
    most = max(alone, key=len)
    assert alone == {"", most}
    assert answer.bold == f"{WORDS[len(most)].capitalize()}: that of `{most}`."
    (keys,) = answer.keys
    assert recorded(walk("02", keys)[0]) == most


def test_02_3_flags_raised_while_grad_mode_is_off_are_there_when_it_is_on():
    answer = answers("02")[3]
    before, after = (recorded(walk("02", keys)[0]) for keys in answer.keys)
    assert after == "xyzab"
    *early, last = map("`{}`".format, before)
    assert answer.bold == (
        f"Before the last press, only {', '.join(early)} and {last}; after it, all five."
    )
    first, last = (keys.split() for keys in answer.keys)
    assert last == [*first, "4"]
    assert "set_grad_enabled" in lines("02")["4"].code
    assert first[0] == "4"


# Lesson 03: leaves


def leaf_behind(live):
    """Return the gradient of the leaf behind w."""
    node = live["w"].grad_fn
    while not hasattr(node, "variable"):
        node = node.next_functions[0][0]
    return short_numbers(node.variable.grad.tolist())


def has_grad(is_leaf):
    return lambda state, error: (
        state.value("w", "is_leaf") == str(is_leaf)
        and (numbers(state, "w"), numbers(state, "w.grad")) == ([2, 3], [4, 6])
    )


def test_03_1_three_presses_for_the_leaf_and_four_for_the_non_leaf():
    answer = answers("03")[1]
    leaf, other = (
        solved("03", keys, has_grad(is_leaf))
        for keys, is_leaf in zip(answer.keys, (True, False), strict=True)
    )
    assert answer.bold == f"{leaf.capitalize()} presses for the leaf, {other} for the non-leaf."
    assert leaf_behind(at("03", answer.keys[1])) == "[0.4, 0.6]"


def test_03_2_a_cast_leaves_a_leaf_that_was_cast_before_its_flag_went_up():
    answer = answers("03")[2]

    def is_seen(state, error):
        return (state.value("w", "is_leaf"), state.value("w", "requires_grad")) == ("True", "True")

    found = [
        keys for count in (1, 2, 3) for keys in solutions("03", count, is_seen) if "3" in keys[-1]
    ]
    (keys,) = answer.keys
    assert found == [keys]
    assert answer.bold == "The cast itself, then the flag."
    assert ".to(" in lines("03")[keys[0]].code
    assert lines("03")[keys[2]].code == "w.requires_grad_()"


# Lesson 04: what nodes save


def live_nodes():
    """Run the five programs in plain torch: return (program, name of what it made, node)."""
    found = []
    for number, action in enumerate(lines("04").values(), 1):
        names = {"torch": torch, "leaf": lambda values: torch.tensor(values, requires_grad=True)}
        exec(action.code, names)
        made = {one.grad_fn: name for name, one in names.items() if getattr(one, "grad_fn", None)}
        waits = [[one for one in names.values() if isinstance(one, torch.Tensor)][-1].grad_fn]
        for node in waits:  # the list grows as we go
            found.append((number, made.get(node, ""), node))
            children = [child for child, _ in node.next_functions if child]
            waits += [one for one in children if not hasattr(one, "variable") and one not in waits]
    return found


def test_04_1_one_product_saves_a_constant_and_one_what_log_made():
    answer = answers("04")[1]
    kept = {name: saved(node) for _, name, node in live_nodes() if node.name() == "MulBackward0"}
    assert len(kept) == 3
    (single,) = [name for name, found in kept.items() if len(found) == 1]
    (other,) = [name for name, found in kept.items() if any(t.grad_fn for t in found.values())]
    assert (
        answer.bold == f"The node of `{single}` keeps only the 2. The node of `{other}` keeps `t`."
    )
    assert kept[single]["other"] == 2
    assert kept[other]["other"].grad_fn.name() == "LogBackward0"


def test_04_2_two_programs_save_nothing_that_leaf_made():
    answer = answers("04")[2]
    with_leaf = {
        number
        for number, _, node in live_nodes()
        for one in saved(node).values()
        if one.is_leaf and one.requires_grad
    }
    without = [ORDINALS[number] for number in range(1, 6) if number not in with_leaf]
    assert answer.bold == f"In the {' and the '.join(without)}."
    told = [walk("04", keys)[0].fact("saves") for keys in ("2 →", "5 →", "5 → →")]
    assert told == ["● other = 2", "● result = q", "● result = p"]


def test_04_3_five_operations_save_nothing():
    answer = answers("04")[3]
    empty = [node.name() for _, _, node in live_nodes() if not saved(node)]
    assert answer.bold == f"{WORDS[len(empty)].capitalize()} keep nothing."
    sums = ["SumBackward0", "AddBackward0"]
    assert empty == [*sums, "TraceBackward0", "PermuteBackward0", "NegBackward0"]


# Lesson 06: what x.grad held

ONES = [1, 1, 1]


def test_06_1_a_name_for_none_names_no_tensor():
    answer = answers("06")[1]
    (keys,) = answer.keys
    nothing = at("06", keys)
    assert answer.bold == f"`{nothing['g']}`."
    assert walk("06", keys)[0].value("g") == "None"
    assert nothing.numbers("x.grad") == [1, 1, 1]


def test_06_2_equal_numbers_in_two_tensors_take_four_presses():
    answer = answers("06")[2]
    two, one_more, without = answer.keys
    count = solved(
        "06",
        two,
        lambda state, error: (
            state.box("g") != state.box("x.grad")
            and numbers(state, "g") == numbers(state, "x.grad") == ONES
        ),
    )
    last = [key for key in lines("06") if ends_apart(walk("06", f"{two} {key}")[0])]
    assert last == [one_more]
    assert lines("06")[one_more].code == "x.grad.zero_()"
    assert answer.bold == f"{count.capitalize()} presses, and `zero_()` is the fifth."
    assert len(f"{two} {one_more}".split()) == 5
    assert numbers(walk("06", without)[0], "g") == [0, 0, 0]


def ends_apart(state):
    return (numbers(state, "x.grad"), numbers(state, "g")) == ([0, 0, 0], ONES)


# Lesson 07: the life of a graph


def holds(keys):
    """Return (nodes alive, bytes that they hold), the same on the map and in torch."""
    state, live = walk("07", keys)[0], at("07", keys)
    told = int(state.fact("nodes alive")), int(state.fact("bytes they hold"))
    assert told == (len(live.marks), live.bytes())
    return told


def test_07_1_three_presses_free_three_different_things():
    answer = answers("07")[1]
    nodes, size = holds("1")
    frees = {}
    for keys in answer.keys:
        left, held = holds(keys)
        frees[lines("07")[keys[-1]].code] = (left < nodes, held < size)
    assert frees == {
        "loss.backward()": (False, True),
        "del loss": (True, True),
        "del h": (False, False),
    }
    assert answer.bold == (
        "`loss.backward()` frees saved tensors alone, `del loss` frees both, `del h` frees neither."
    )
    assert [holds(keys) for keys in answer.keys] == [(3, 0), (1, 12), (3, 24)]
    assert walk("07", answer.keys[2])[0].fact("held without a name") == "12 bytes"
    assert holds("1 1") == (3, 24), "a note says so"


def test_07_2_twice_the_gradient_of_one_forward_takes_three_presses():
    answer = answers("07")[2]
    keys, refused = answer.keys
    twice = [8, 64, 216]
    assert f"`{twice}`" in around("07")[0].source

    def is_seen(state, error):
        return numbers(state, "x.grad") == twice

    count = solved("07", keys, is_seen)
    found = solutions("07", 3, is_seen)
    assert keys in found
    assert {one.split()[1] for one in found} == {"3"}
    assert lines("07")["3"].code == "loss.backward(retain_graph=True)"
    assert answer.bold == f"{count.capitalize()} presses, and the flag comes first."
    state, error = walk("07", refused)
    assert "a second time" in error
    assert numbers(state, "x.grad") == [4, 32, 108]


def test_07_3_a_gradient_without_a_node_takes_four_presses():
    answer = answers("07")[3]

    def is_seen(state, error):
        return state.value("x.grad") != "None" and state.fact("nodes alive") == "0"

    (count,) = {solved("07", keys, is_seen) for keys in answer.keys}
    found = solutions("07", 4, is_seen)
    for keys in found:
        assert keys.index("5") > min(keys.find(key) for key in "23" if key in keys)
    assert set(found) > set(answer.keys), "so the answer says 'for example'"
    assert "For example" in answer.reason
    assert answer.bold == f"{count.capitalize()} presses, and `del loss` comes after `backward()`."


# Lesson 08: who records

WAYS = "123456"
EDITED = "modified by an inplace operation"


def test_08_1_two_ways_record_y_and_two_share_the_memory_of_x():
    answer = answers("08")[1]
    states = {way: walk("08", way)[0] for way in WAYS}
    recorded = [way for way in WAYS if states[way].value("y", "grad_fn") != "None"]
    same = [way for way in WAYS if states[way].value("y", "storage") == "that of x"]
    assert (list(answer.keys[:2]), list(answer.keys[2:])) == (recorded, same)
    live = {way: at("08", way) for way in WAYS}
    assert same == [way for way in WAYS if live[way]["y"].data_ptr() == live[way]["x"].data_ptr()]
    assert answer.bold == "Two record it, and two share memory."


def test_08_2_only_a_tensor_from_inference_mode_may_not_be_used():
    answer = answers("08")[2]
    refused = {key: [way for way in WAYS if walk("08", f"{way} {key}")[1]] for key in "78"}
    outside, inside = answer.keys
    assert refused == {"7": [], "8": [outside[0]]}
    assert (outside[-1], inside[-1], inside[0]) == ("8", "7", outside[0])
    assert "inference_mode" in lines("08")[outside[0]].code
    assert answer.bold == "It refuses only the one outside the block."


# Lesson 09: edits and versions


def outcome(key):
    """Return what becomes of one edit before backward."""
    if walk("09", key)[1]:
        return "at once"
    state, error = walk("09", f"{key} 9")
    if error:
        return "in backward"
    is_right = numbers(state, "x.grad") == [2, 4, 6]
    assert is_right == (state.title == "x.grad is right")
    return "right" if is_right else "wrong"


def test_09_1_seven_edits_and_what_becomes_of_them():
    answer = answers("09")[1]
    found = {key: outcome(key) for key in "2345678"}
    counts = [
        WORDS[list(found.values()).count(one)]
        for one in ("at once", "in backward", "wrong", "right")
    ]
    assert answer.bold == (
        f"{counts[0].capitalize()} at once, {counts[1]} in `backward()`, "
        f"and {counts[2]} leave a wrong gradient."
    )
    told = [found[keys[0]] for keys in answer.keys]
    assert told == ["at once", *["in backward"] * 3, "wrong", "wrong", "right"]


def test_09_2_the_old_numbers_do_not_help():
    answer = answers("09")[2]

    def is_seen(state, error):
        is_refused = EDITED in error and state.value("x.grad") == "None"
        return is_refused and "have changed" not in state.sentence

    (count,) = {solved("09", keys, is_seen) for keys in answer.keys}
    assert answer.bold == f"{count.capitalize()} presses."
    assert lines("09")[answer.keys[1][0]].code == "x.data.add_(1)"
    assert [at("09", keys)["x"]._version for keys in answer.keys] == [2, 1]
    assert "the counter is at 2" in answer.reason


def test_09_3_a_gradient_can_be_wrong_and_the_same_one_right():
    answer = answers("09")[3]
    wrong, right, after = answer.keys
    told = [4, 6, 8]

    def counted(keys, title):
        return solved(
            "09",
            keys,
            lambda state, error: state.title == title and numbers(state, "x.grad") == told,
        )

    first, last = counted(wrong, "x.grad is wrong"), counted(right, "x.grad is right")
    assert (
        answer.bold == f"{first.capitalize()} presses for the wrong one, {last} for the right one."
    )
    assert EDITED in walk("09", after[:3])[1]
    state = walk("09", after)[0]
    assert (state.title, numbers(state, "x.grad")) == ("x.grad is right", told)
    assert walk("09", "5 7 9")[0].title == "x.grad is wrong", "the note says so"
    assert walk("09", "5 7")[1], "the note says so"


# Lesson 11: the ring


def test_11_1_each_turn_goes_half_of_the_way():
    answer = answers("11")[1]
    (turn,) = answer.keys
    ends = [at("11", " ".join([turn] * turns)).numbers("w") for turns in (1, 2)]
    assert answer.bold == f"{ends[0]}, and then {ends[1]}."
    assert [4 - end for end in ends] == [1.5, 0.75]


def test_11_2_five_presses_take_w_beyond_4():
    answer = answers("11")[2]
    (keys,) = answer.keys
    count = solved("11", keys, lambda state, error: float(state.value("w")) > 4)
    assert answer.bold == f"{count.capitalize()} presses."
    steps = [at("11", " ".join(keys.split()[:count])).numbers("w") for count in (3, 4, 5)]
    assert "2.5, 4, 5.5" in answer.reason
    assert steps == [2.5, 4, 5.5]


def test_11_3_after_a_turn_a_second_backward_raises_and_a_second_step_moves_w():
    answer = answers("11")[3]
    turn, step = answer.keys[0].rsplit(" ", 1)
    errors = [key for key in "1234" if at("11", f"{turn} {key}").error]
    assert errors == ["3"]
    ends = {key: at("11", f"{turn} {key}").numbers("w") for key in "1234"}
    assert [key for key, end in ends.items() if end != ends["1"]] == [step]
    assert ends[step] == 4
    still = [
        rest for rest in permutations("234") if at("11", " ".join(("1", *rest))).numbers("w") == 1
    ]
    assert len(still) == 4, "as the notes say"


# Lesson 14: hooks


def test_14_hooks_run_in_order_and_go_away_with_their_tensor():
    first, second = (answers("14")[nr] for nr in (1, 2))
    ends = [numbers(walk("14", keys)[0], "w.grad") for keys in first.keys]
    assert first.bold == f"{ends[0]}, and {ends[1]} in the other order."
    assert (ends[0] / 3, ends[1] / 3) == (121, 130), "what its reason says"
    (keys,) = second.keys
    assert second.bold == f"{numbers(walk('14', keys)[0], 'w.grad')}."
    assert numbers(walk("14", keys[:3])[0], "w.grad") == 360
    assert walk("14", keys)[0].sentence.startswith("No hook is set")
    for row in first.keys:
        assert (
            f"the arrow reads {at_h(row)}" in first.reason
            or f"it reads {at_h(row)}" in first.reason
        )
    assert at_h("1 2 6") == "12 → 120 → 121"
    assert at_h("1 2") == "tenfold → one_more", "they wait there"


def at_h(keys):
    """Return what the lab of lesson 14 writes on the arrow to h."""
    state = walk("14", keys)[0]
    (nr,) = [
        nr
        for nr, edge in enumerate(state.graph.edges)
        if edge.target is not None and state.graph.nodes[edge.target].name == "h"
    ]
    return dict(state.words)[nr]


def test_14_what_is_written_on_the_arrows_is_what_reached_the_nodes():
    for keys in ("6", "1 6", "1 2 6", "2 1 6", "2 1 2 6", "1 6 5 6", "4 1 6"):
        prompt = Prompt("14")
        *before, last = keys.split()
        for key in before:
            prompt.press(key)
        arrived = []
        prompt.names["h"].grad_fn.register_prehook(
            lambda grads, seen=arrived: seen.append(grads[0])
        )
        prompt.press(last)
        assert at_h(keys).split(" → ")[-1] == f"{arrived[0].item():g}"
        assert at_h(keys).split(" → ")[0] == "12"


def test_14_3_a_hook_behind_a_leaf_acts_on_the_sum_and_stays():
    answer = answers("14")[3]
    (keys,) = answer.keys
    count = solved("14", keys, lambda state, error: numbers(state, "w.grad") == 27)
    assert answer.bold == f"{count.capitalize()} presses."
    assert numbers(walk("14", keys[:3])[0], "w.grad") == 18
    assert numbers(walk("14", "3 1 6")[0], "h.grad") == 120, "as the notes say"
    assert numbers(walk("14", "4 4 6")[0], "w.grad") == 9, "as the notes say"


def test_14_sure_says_of_each_z_what_torch_says_and_asks_for_the_first_nan():
    found = {}
    for state in labs.sure.map().states[1:]:
        (name,) = state.path
        z = torch.tensor(float(name[1:]), requires_grad=True)
        p = z.sigmoid()
        q = 1 - p
        (-(p.log() + 0 * q.log())).backward()
        assert state.title == f"z.grad is {z.grad.item():.3g}"
        assert f"q is {q.item():.3g}" in state.sentence
        on_q = dict(state.words)[
            [edge.source for edge in state.graph.edges].index(at_node(state, "q"))
        ]
        assert float(on_q) == pytest.approx(0) if q else on_q == "nan"
        found[name] = z.grad.isnan().item()
    (answer,) = labs.sure.questions[0].answers
    assert answer == min([name for name in found if found[name]], key=lambda name: int(name[1:]))
    assert len(found) == len(labs.sure.world.actions)


def at_node(state, name):
    """Return the number of the node that made what has this name."""
    return [node.name for node in state.graph.nodes].index(name)


# Lesson 17: a Jacobian in the fewest presses


def is_full(function):
    return lambda state, error: state.chosen == (function,) and OPEN not in str(state.facts)


def test_17_1_and_2_five_rows_or_three_presses_fill_the_arrow():
    rows, fewest_of_all = answers("17")[1], answers("17")[2]
    full = is_full("arrow")
    (keys,) = rows.keys
    assert rows.bold == f"{WORDS[len(keys.split())].capitalize()} presses."
    assert [full(*walk("17", keys[:long])) for long in (7, 9)] == [False, True]
    (count,) = {solved("17", keys, full) for keys in fewest_of_all.keys}
    assert fewest_of_all.bold == f"{count.capitalize()} presses."
    two = walk("17", fewest_of_all.keys[1][:3])[0]
    assert two.title == "0 of 13 numbers known", "the reason says so"
    found = [key for key in lines("17") if full(*walk("17", f"2 4 {key}"))]
    assert found == ["1", "3"], "the notes say so"


def test_17_3_two_presses_fill_the_band():
    answer = answers("17")[3]
    (keys,) = answer.keys
    solved("17", keys, is_full("band"))
    presses = WORDS[len(keys.split()) - 1]
    assert answer.bold == f"{presses.capitalize()} presses, and {presses} for 1,000 rows as well."
    ways = {
        "".join(sorted(keys[2:])) for keys in solutions("17", 3, is_full("band")) if keys[0] == "8"
    }
    assert {way.strip() for way in ways} == {"24", "45", "46", "56"}, "the notes say so"


def test_17_each_cell_holds_what_jacrev_says_and_an_open_one_could_hold_another():
    functions, whole = at("17", "7").names, {}
    for name in ("arrow", "band"):
        whole[name] = torch.func.jacrev(functions[name])(functions["x"])
    for state in labs.jacobian.map().states:
        (function,) = state.chosen
        jacobian = whole[function]
        places = jacobian.nonzero().tolist()
        cells = [state.fact(f"row {row}").split()[column] for row, column in places]
        assert all(
            cell in (OPEN, f"{jacobian[row, column]:g}")
            for cell, (row, column) in zip(cells, places, strict=True)
        )
        assert [cell == OPEN for cell in cells] == open_after(state.path, places)
        for name, kind in (("all rows", 0), ("all columns", 1)):
            told = f"{jacobian.sum(kind).int().tolist()}"[1:-1].replace(",", "")
            assert state.fact(name) in ("", told)


def open_after(path, places):
    """Say of each place whether two tables that differ there return the same, whatever the path asks."""
    back = []
    for place in places:
        table = torch.zeros(5, 5, dtype=torch.float64)
        table[tuple(place)] = 1
        back.append(torch.cat([torch.zeros(1), *returned(table, path)]))
    _, sizes, ways = torch.linalg.svd(torch.stack(back, 1))
    free = ways[int((sizes > 1e-9).sum()) :]
    return (free.abs() > 1e-9).any(0).tolist()


def returned(table, path):
    """Return what each press on a path returns of a table."""
    rows, columns, found = iter(table), iter(table.T), []
    for press in path:
        asked = {
            "row": lambda: next(rows),
            "column": lambda: next(columns),
            "all_rows": lambda: table.sum(0),
            "all_columns": lambda: table.sum(1),
            "even_columns": lambda: table[:, [0, 2, 4]].sum(1),
            "odd_columns": lambda: table[:, [1, 3]].sum(1),
        }
        if press in asked:
            found.append(asked[press]())
    return found


# Lesson 18: who waits for whom


def ran(state, rank):
    """Return the lines that a rank has run, each with what came of it; the last may say that it waits."""
    return state.fact(f"rank {rank}").split("; ")


def test_18_1_a_rank_gets_through_three_lines_alone():
    answer = answers("18")[1]
    (keys,) = answer.keys
    some = keys.split()[:-1]
    assert answer.bold.startswith(f"{WORDS[len(some)].capitalize()} lines")
    before, after = walk("18", " ".join(some))[0], walk("18", keys)[0]
    assert before == after
    assert ran(after, 0)[1:] == ["b arrives: 2", "a arrives: 5", "waits for rank 1"]
    assert after.fact("all-reduce") == "1 + …; 2.5 + …"
    full, _ = walk("18", "1 1 1 2 2 2")
    assert full.fact("all-reduce") == "1 + 3 = 4; 2.5 + 7.5 = 10"
    assert "backward ends" not in str(full.facts), "the notes say so"


def has_stepped_alone(name):
    return lambda state, _: (
        state.chosen == (name,) and "sgd.step()" in str(ran(state, 0)) and ran(state, 1) == [""]
    )


def test_18_2_a_rank_steps_alone_around_the_wrapper_and_with_a_spare_layer():
    answer = answers("18")[2]
    for keys, name in zip(answer.keys, ("module", "spare"), strict=True):
        solved("18", keys, has_stepped_alone(name))
        assert f"*{name}*" in answer.bold
        assert ran(walk("18", keys)[0], 0)[3:] == [
            "backward ends: b 2, a 5",
            "sgd.step(): b 4.8, a 1.5",
        ]
    _, error = walk("18", f"{answer.keys[1]} 1")
    assert error.startswith(
        "RuntimeError: Expected to have finished reduction in the prior iteration"
    )
    silent, sent = (walk("18", keys)[0].fact("all-reduce") for keys in answer.keys)
    assert (silent, sent) == ("", "1 + …; 2.5 + …")
    ahead, _ = walk("18", "4 1 1 1 1 1 1")
    assert [ran(ahead, 0)[0], ran(ahead, 0)[-1]] == ["in no_sync(): b 2, a 5", "waits for rank 1"]


def test_18_3_one_more_all_reduce_meets_a_gradient():
    answer = answers("18")[3]
    (keys,) = answer.keys
    solved_in = solved_by_rank_1(keys)
    assert answer.bold == f"{solved_in.capitalize()} presses, and `b.grad` is 13."
    state, _ = walk("18", keys)
    assert ran(state, 1)[3] == "backward ends: b 13, a 8.5"
    further, error = walk("18", f"{keys} 1")
    assert not error
    assert further.title == "rank 0 waits for ever"
    assert further.fact("all-reduce") == "10 + 3 = 13; 1 + 7.5 = 8.5; 2.5 + …"


def solved_by_rank_1(keys):
    """Return in how few presses rank 1 steps where rank 0 reduces its loss, as a word."""
    return solved(
        "18",
        keys,
        lambda state, _: state.chosen == ("extra",) and "sgd.step()" in str(ran(state, 1)),
    )


@pytest.mark.parametrize("lesson", sorted(LABS))
def test_a_slide_presses_what_the_answers_tell_to_press(lesson):
    slide = around(lesson)[0].metadata.course["slide"]
    told = answers(lesson)[int(slide["question"])].keys
    for row in slide["presses"].split(" r "):
        assert row.startswith(told), f"{row} is not among {told}"


@every_lab
def test_a_lab_asks_what_its_lesson_asks_and_the_answers_are_seen_there(lesson):
    goals, told = LABS[lesson].film().goals, answers(lesson)
    assert len(goals) == len(told)
    fewest = [max(end.fewest for end in goal.ends) for goal in goals]
    longest = [max(len(keys.split()) for keys in answer.keys) for answer in told.values()]
    assert all(few <= most for few, most in zip(fewest, longest, strict=True))


# Lesson 16: a compiled function, the locks of its graphs


def compiled_walk(keys):
    """Press keys in plain torch, with a backend that counts; return for each what torch says: how many graphs there
    are, which of them ran (0: none), whether y is eager's, and why no older graph fits.
    """
    made, ran, found = [], [], []

    def backend(graph, inputs):
        made.append(graph)
        number = len(made)
        return lambda *values: (ran.append(number), graph(*values))[1]

    torch._dynamo.reset()
    names = {"torch": torch, "nn": torch.nn, "backend": backend}
    exec("\n".join(labs.shelf.world.setup).replace('"eager"', "backend"), names)
    for key in keys.split():
        ran.clear()
        clear_compilation_metrics()
        code = lines("16")[key].code
        torch.manual_seed(2)
        exec(code, names)
        torch.manual_seed(2)
        eager = eval("f" + code.rpartition("fast")[2], names)
        reasons = [one.recompile_reason or "" for one in get_compilation_metrics()]
        is_right = torch.equal(names["y"], eager)
        found.append((len(made), ran[0] if ran else 0, is_right, "\n".join(reasons)))
    return found


def on_shelf(state):
    """Return what the map says of the same: graphs, the one that ran, whether y is eager's."""
    graphs = [nr for nr in (1, 2, 3) if state.fact(f"graph {nr}") != "none"]
    ran = int(re.sub(r"\D", "", state.fact("ran")) or 0)
    return len(graphs), ran, state.fact("eager's y") == "the same"


def test_16_long_walks_in_plain_torch_are_walks_on_the_map():
    """Calls that make no graph are not replayed by the lab: here all are."""
    rng = random.Random(1)
    with calm():
        for _ in range(12):
            keys = rng.choices("12345678", k=12)
            for count, told in enumerate(compiled_walk(" ".join(keys)), start=1):
                state, error = walk("16", " ".join(keys[:count]))
                assert (*on_shelf(state), error) == (*told[:3], ""), keys[:count]


LOCKS = {  # what is red in the picture, and what torch itself gives as the reason
    "4 rows": "size mismatch at index 0. expected 4",
    "1 row": "size mismatch at index 0. expected 1",
    "2+ rows": "2 <= x.size()[0]",
    "train mode": "G['lin'].training == True",
    "grad mode on": "GLOBAL_STATE changed: grad_mode",
    "grad mode off": "GLOBAL_STATE changed: grad_mode",
}


def test_16_the_lock_that_does_not_fit_is_the_one_that_torch_names():
    seen = set()
    with calm():
        for one, other in permutations("2345", 2):
            for keys, told in zip(
                (one, f"{one} {other}"), compiled_walk(f"{one} {other}"), strict=True
            ):
                state, _ = walk("16", keys)
                newest = state.fact(f"graph {told[0] - 1}")
                red = [lock for lock in LOCKS if f"✗ {lock}" in newest]
                assert [lock for lock in red if LOCKS[lock] in told[3]], (keys, newest, told[3])
                seen |= set(red)
    assert seen == set(LOCKS)


def test_16_1_numbers_are_no_lock_and_neither_is_a_hook():
    answer = answers("16")[1]
    alone = [on_shelf(walk("16", key)[0]) for key in "12345678"]
    (silent,) = [key for key, one in zip("12345678", alone, strict=True) if not one[2]]
    assert silent == "8"
    reused, made = alone.count((1, 1, True)), alone.count((2, 2, True))
    assert (WORDS[reused].capitalize(), WORDS[made]) == ("Three", "four")
    assert answer.bold == "Three reuse it, four make another, and *hook* is silently wrong."
    assert re.search(r"\*others\*, \*train\* and \*step\* reuse", answer.reason)
    assert [key for key in "167" if on_shelf(walk("16", key)[0]) == (1, 1, True)] == [*"167"]


def test_16_2_the_general_graph_is_asked_first():
    answer = answers("16")[2]
    (keys,) = answer.keys
    ran = [on_shelf(walk("16", keys[:count])[0])[1] for count in (1, 3, 5)]
    assert ran == [2, 2, 3]
    assert answer.bold == "Graph 2, graph 2 again, then graph 3."
    assert "2+ rows" in walk("16", "2")[0].fact("graph 2")


def test_16_3_a_newer_graph_has_the_hook_and_takes_what_the_old_one_took():
    answer = answers("16")[3]
    (keys,) = answer.keys
    assert keys == "8 2 1"
    for row in [f"8 {a}" for a in "1235678"] + [keys]:
        following, _ = walk("16", row if row == keys else f"{row} 1")
        is_mended = on_shelf(following)[2] and "train mode" in following.fact("lin")
        assert is_mended == (row in (keys, "8 2")), row
    assert answer.bold == "Three presses."
    assert [on_shelf(walk("16", row)[0]) for row in ("8 5", "8 5 6")] == [
        (2, 2, True),
        (2, 1, False),
    ]
    assert on_shelf(walk("16", "2 3 5")[0]) == (3, 0, True), "as the notes say"
    assert on_shelf(walk("16", "5 6")[0]) == (2, 1, True), "as the notes say"
