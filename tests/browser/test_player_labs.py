"""A lab in a page from a file, in a real browser: what was run, what is seen, what is refused, keys
and mouse, room and motion. The labs of the course, no kernel.
"""

import json

import pytest
from driver import photograph, press
from made_up_film import meant, restless
from player_page import FAULTS, PLACES, START

from autograd_graphs.playing.player import NOTEBOOK, SCRIPT, as_json, page_of
from helpers import labs
from helpers.labs.engine.lab import with_buttons

pytestmark = pytest.mark.browser
ENDED = "no press left: undo or reset"
NO_ZERO = "AttributeError: 'NoneType' object has no attribute 'zero_'"
CHANGED_NOTHING = "∅ no error, and nothing you can see has changed"


@pytest.fixture
def play(open_page):
    """Return a function that opens the page of a film, with the keys in it."""
    return lambda film, *size, **media: open_page(page_of(film, "", "A lab"), *size, **media)


def accumulation():
    return as_json(labs.accumulation.film())


def texts(shown, selector):
    return shown.eval_on_selector_all(selector, "(all) => all.map((one) => one.textContent)")


def title(shown):
    return shown.text_content(".player-title")


def said(shown):
    return shown.text_content(".player-live").strip()


def disabled(shown):
    """Return the keys of the actions that cannot be run."""
    return "".join(texts(shown, ".player-action[aria-disabled=true] kbd"))


def outcome(shown):
    return shown.text_content(".player-outcome") if shown.locator(".player-outcome").count() else ""


def test_the_code_pane_is_the_trail_of_what_was_run(play):
    shown = play(accumulation())
    x, one, two, zero = "x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)", *[action.strip() for action in ("x.sum().backward()", "(x * x).sum().backward()", "x.grad.zero_()")]  # fmt: skip
    assert texts(shown, ".player-code div") == [x, " ", " ", " "]
    assert texts(shown, ".player-code mark") == []
    press(shown, "1", "2")
    assert texts(shown, ".player-code div") == [x, one, two, " "]
    assert texts(shown, ".player-code mark") == [two], "the newest stands out"
    press(shown, "3", "1")
    assert texts(shown, ".player-code div") == [x, f"… {two}", zero, one]
    press(shown, "u", "u")
    assert texts(shown, ".player-code div") == [x, one, two, " "]
    press(shown, "r")
    assert texts(shown, ".player-code div") == [x, " ", " ", " "]


def test_a_line_that_was_refused_carries_a_sign_and_all_goes_on(play):
    shown = play(accumulation())
    press(shown, "3")
    assert texts(shown, ".player-code .player-error mark") == ["✗ x.grad.zero_()"]
    kind, _, message = NO_ZERO.partition(": ")
    assert outcome(shown).strip() == f"✗ {kind}: {message}"
    assert shown.locator(".player-outcome summary").count() == 0, "that is all of the message"
    assert said(shown) == f"✗ {NO_ZERO}"
    assert disabled(shown) == ""
    warn = "(one) => getComputedStyle(one).color"
    calm = shown.eval_on_selector(".player-title", warn)
    assert shown.locator(".player-say").count() == 0, "the error stands where the sentence stood"
    for what in (".player-outcome", ".player-code mark"):
        assert shown.eval_on_selector(what, warn) != calm, what
    press(shown, "1")
    assert outcome(shown) == ""
    assert title(shown) == "x.grad: [1, 1, 1]"
    assert texts(shown, ".player-code div")[1:] == ["✗ x.grad.zero_()", "x.sum().backward()", " "]
    press(shown, "u")
    assert outcome(shown).startswith("✗ AttributeError"), "back at what was refused"
    press(shown, "u", "u")
    assert outcome(shown) == ""


FOCUSED = "document.querySelector('.player').contains(document.activeElement)"


@pytest.mark.parametrize(("by", "size"), [("key", (390, 800)), ("mouse", (960, 600))])
def test_the_whole_message_keeps_the_keys_and_covers_no_button(play, by, size):
    shown = play(as_json(labs.leaves.film()), size)
    press(shown, *"24677")
    turn = {
        "mouse": lambda: shown.click(".player-outcome summary"),
        "key": lambda: press(shown, "Enter"),
    }[by]
    for _ in range(2):
        if by == "key":
            shown.focus(".player-outcome summary")
        turn()
        assert shown.is_visible(".player-outcome code")
        assert shown.evaluate(FOCUSED)
        covered = """(() => { const box = (one) => one.getBoundingClientRect(), all = (what) => [...document.querySelectorAll(what)].map(box);
            const [message] = all(".player-formula > div"), [player] = all(".player");
            const over = all(".player-action, .player-bar, .player-outcome summary").filter((one) => one.top < message.bottom && message.top < one.bottom && one.left < message.right && message.left < one.right);
            return [over.length, message.left >= player.left && message.right <= player.right && message.top >= player.top && message.bottom <= player.bottom]; })()"""
        assert shown.evaluate(covered) == [0, True]
        photograph(shown, f"labs/message-{size[0]}")
        press(shown, "Escape")
        assert not shown.is_visible(".player-outcome code")
        assert shown.evaluate(FOCUSED), "Esc closes the message first"
    turn()
    press(shown, *"uuu")
    assert len([one for one in texts(shown, ".player-code div") if one.strip()]) == 3
    assert shown.evaluate(FOCUSED)
    press(shown, "Escape")
    assert not shown.evaluate(FOCUSED)


MOVED = "it failed, but something has changed all the same"


def test_a_line_that_was_refused_and_yet_did_something_says_so(play):
    shown = lab(play, "leaves", "2 4 6 7 7")
    assert texts(shown, ".player-outcome")[1:] == [MOVED]
    assert said(shown).startswith("✗ ")
    assert said(shown).endswith(MOVED)
    assert shown.locator(".is-fresh").count()
    press(shown, "u")
    assert MOVED not in shown.inner_text(".player")


def test_what_ran_and_changed_nothing_is_said_so(play):
    shown = play(accumulation())
    press(shown, "4")
    assert outcome(shown) == CHANGED_NOTHING
    assert said(shown) == CHANGED_NOTHING
    assert texts(shown, ".player-code mark") == ["x.grad = None"], "it was run all the same"
    assert shown.locator(".player-outcome.player-error").count() == 0
    press(shown, "u")
    assert outcome(shown) == ""
    assert shown.get_attribute(".player-undo", "aria-disabled") == "true"


def test_where_the_map_ends_an_action_says_so(play):
    shown = play(accumulation())
    assert texts(shown, ".player-rest") == ["5 presses left"]
    press(shown, *"1" * (labs.accumulation.depth - 1))
    assert texts(shown, ".player-rest") == ["1 press left"]
    assert disabled(shown) == ""
    press(shown, "1")
    assert disabled(shown) == "12345"
    assert texts(shown, ".player-rest") == ["0 presses left"]
    before = texts(shown, ".player-code div")
    press(shown, "2")
    assert said(shown) == f"(x * x).sum().backward(): {ENDED}"
    shown.locator(".player-action").nth(4).click(force=True)
    assert said(shown) == f"g = x.grad: {ENDED}"
    assert texts(shown, ".player-code div") == before
    press(shown, "u")
    assert disabled(shown) == ""


def blocks(shown):
    """Return the blocks of each column from the ground, the sums over them, and what is new."""
    columns = """() => { const found = {}, at = (one) => Math.round(one.getBBox().x + one.getBBox().width / 2);
        for (const one of document.querySelectorAll(".player-blocks > g")) (found[at(one)] ??= []).push(one.textContent);
        return Object.entries(found).sort(([one], [other]) => one - other).map(([, all]) => all.join(" ")); }"""
    return (
        shown.evaluate(columns),
        texts(shown, ".player-sum"),
        texts(shown, ".player-blocks > g:has(.s-now)"),
    )


def row(shown):
    """Return the arithmetic that is seen; where it says nothing it keeps its room."""
    seen = "(one) => one.checkVisibility({ visibilityProperty: true })"
    is_seen = shown.eval_on_selector(".player-row", seen)
    words = " ".join(texts(shown, ".player-eq b"))
    assert is_seen == bool(words)
    return words


def test_gradients_are_blocks_on_one_another(play):
    shown = play(accumulation())
    assert blocks(shown) == ([], [], [])
    assert row(shown) == ""
    press(shown, "1")
    assert blocks(shown) == (["1", "1", "1"], ["1", "1", "1"], ["1", "1", "1"])
    assert row(shown) == "None + [1, 1, 1] = [1, 1, 1]"
    press(shown, "1", "2")
    stacked = ["1 + 1 + 1", "1 + 1 + 2", "1 + 1 + 3"]
    assert blocks(shown) == (stacked, ["3", "4", "5"], ["+ 1", "+ 2", "+ 3"])
    assert row(shown) == "[2, 2, 2] + [1, 2, 3] = [3, 4, 5]"
    assert texts(shown, ".player-eq small") == ["before", "arrives", "x.grad"]
    press(shown, "5")
    assert blocks(shown) == (stacked, ["3", "4", "5"], []), "a name adds nothing, and moves nothing"
    assert row(shown) == "", "no action that adds"
    press(shown, "u", "3", "2")
    assert blocks(shown) == (["1", "2", "3"], ["1", "2", "3"], ["1", "2", "3"])
    assert row(shown) == "[0, 0, 0] + [1, 2, 3] = [1, 2, 3]"


def fresh(shown, where="node"):
    """Return the words of what is marked as new in the graph, or beside it."""
    words = texts(shown, "text.is-fresh")
    cards = {
        "Mul",
        "Add",
        "ToCopy",
        "Pow",
        "Sum",
        "other",
        "self = x",
        "self = h",
        "other = h",
        "other = 0.1",
    }
    return [word for word in words if (word in cards) == (where == "node")]


CARD = """(words) => { const box = (one) => one.getBoundingClientRect(), found = [...document.querySelectorAll(".player-pane > svg > rect")];
    return [...document.querySelectorAll(".player-pane text")].filter((one) => one.textContent === words).map((text) =>
        found.findLast((one) => one.matches(".m-operation, .m-leaf") && box(one).top <= box(text).top && box(one).bottom >= box(text).bottom
            && box(one).left <= box(text).left && box(one).right >= box(text).right).classList.contains("is-fresh")); }"""
WIRES = "path.m-edge.is-fresh"


def lab(play, name, keys, **media):
    shown = play(as_json(getattr(labs, name).film()), **media)
    press(shown, *keys.split())
    return shown


def cards(shown, words):
    """Return of each card of these words, the upper first, whether it is marked as new."""
    return shown.evaluate(CARD, words)


def test_of_the_graph_the_card_that_came_is_marked_wherever_it_stands(play):
    shown = lab(play, "leaves", "2 3 4")
    assert (cards(shown, "Mul"), cards(shown, "ToCopy")) == ([True], [False])
    assert cards(shown, "unnamed = [20.0, 30.0]") == [False]
    assert "w" in texts(shown, ".m-tagged.is-fresh"), "this card had no name"
    assert shown.locator(WIRES).count() == 2
    press(shown, "4")
    assert (cards(shown, "Mul"), cards(shown, "ToCopy")) == ([True, False], [False])
    assert texts(shown, ".m-tagged.is-fresh") == [], "w stands at such a card as before"
    assert shown.locator(WIRES).count() == 2, "its own"
    assert fresh(shown, "box") == ["[0.2, 0.3] float64", "None"]


@pytest.mark.parametrize("seed", range(3))
def test_every_state_shows_what_was_meant_from_wherever_one_comes(play, seed):
    film = restless(seed)
    shown = play(as_json(film))
    seen = """() => [...document.querySelectorAll(".player-pane [class^='m-']:not(tspan)")].map((node) =>
        [node.getAttribute("class").replace(" is-fresh", ""), node.textContent])"""
    for key in [*"1" * len(film.states), *"uu1r111uu1ru1111uuu1"]:
        press(shown, key)
        at = int(title(shown).removeprefix("state "))
        assert shown.evaluate(seen) == [list(mark) for mark in meant(film, at)], at


def test_nodes_are_gone_through_by_arrows_and_by_clicks(play):
    shown = play(as_json(labs.explorer.film()))
    press(shown, "ArrowLeft")
    assert said(shown) == "this is the first"
    press(shown, *["ArrowRight"] * 5)
    assert title(shown) == "AccumulateGrad", "the arrows stay in the picture that is seen"
    assert "b.grad" in shown.text_content(".player-say")
    program = texts(shown, ".player-code div")
    assert len([line for line in program if "c = a / b" in line]) == 1, "no line was run"
    shown.locator(".player-pane text", has_text="Div").first.click()
    assert title(shown) == "DivBackward0"
    press(shown, "2")
    assert title(shown) == "SumBackward0"
    shown.click(".player-later")
    assert title(shown) == "MulBackward0"
    shown.click(".player-earlier")
    assert title(shown) == "SumBackward0"
    press(shown, "u", "u", "u", "u")
    assert title(shown) == "AccumulateGrad"
    shown.click(".player-pane", position={"x": 3, "y": 3})
    assert title(shown) == "AccumulateGrad", "what is no node leads nowhere"
    assert title(play(as_json(labs.explorer.film("log")))) == "LogBackward0", "it opens at a node"


def test_the_mouse_does_what_the_keys_do_and_space_does_not_press_again(play):
    shown = play(accumulation())
    for at, key in enumerate("12345"):
        press(shown, "r", "1", key)
        by_key = (title(shown), texts(shown, ".player-code div"), row(shown), blocks(shown))
        press(shown, "r", "1")
        shown.locator(".player-action").nth(at).click()
        press(shown, " ", "Enter")
        assert by_key == (title(shown), texts(shown, ".player-code div"), row(shown), blocks(shown))
    shown.click(".player-undo")
    shown.click(".player-reset")
    assert title(shown) == "x.grad is None"
    shown.locator(".player-action").first.focus()
    press(shown, " ", "Enter")
    assert row(shown) == "[1, 1, 1] + [1, 1, 1] = [2, 2, 2]", "what Tab has reached they do press"


def test_hostile_words_are_shown_as_text(play):
    evil = "<img src=x onerror=alert(1)>"
    film = json.loads(accumulation())
    film["code"] = [evil]
    film["actions"][0][:2] = [evil, evil]
    film["lines"] = [line and f"{evil}: {line}" for line in film["lines"]]
    shown = play(json.dumps(film))
    press(shown, "1", "4", "3")
    assert shown.locator(".player img").count() == 0
    assert texts(shown, ".player-action code")[0] == evil


def opened_at(window, film, frame, done=()):
    window.goto("about:blank")
    window.set_content('<body><div id="here"></div>')
    window.evaluate(START, [NOTEBOOK + SCRIPT, film, frame, "live", list(done)])
    window.focus(".player")
    return window


def test_it_opens_where_it_was_saved_with_the_shortest_trail_to_there(window):
    shown = opened_at(window, accumulation(), 0)
    press(shown, "1", "2", "4", "u", "5")
    frame = shown.evaluate("window.saved.frame")
    seen = (row(shown), blocks(shown), texts(shown, ".player-code div"))
    shown = opened_at(window, accumulation(), frame)
    assert (row(shown), blocks(shown)) == seen[:2]
    assert texts(shown, ".player-code div") == seen[2]
    press(shown, "u")
    assert title(shown) == "x.grad: [2, 3, 4]"
    shown.evaluate("window.model.set('frame', 0)")
    assert title(shown) == "x.grad is None"
    shown.evaluate("window.model.set('frame', 9999)")
    assert title(shown), "what is not there is the last one that is"


def moving(shown):
    return shown.evaluate(
        "[...document.querySelectorAll('.player-blocks > g')].filter((one) => one.style.transform).length"
    )


def test_a_block_drops_in_and_any_input_finishes_it(play):
    shown = play(accumulation(), reduced_motion="no-preference")
    press(shown, "1")
    shown.clock.run_for(100)
    assert moving(shown) == 3
    shown.clock.run_for(1000)
    assert moving(shown) == 0
    press(shown, "1")
    shown.clock.run_for(100)
    assert moving(shown) == 3, "only the new ones"
    press(shown, "x")
    assert moving(shown) == 0
    shown.clock.run_for(1000)
    press(shown, "2", "2")
    assert moving(shown) == 0, "who hurries sees no motion"


# JupyterLab in a window of 1280×720, its file browser open, leaves a lab the first.
SIZES = (743, 600), (833, 600), (390, 800), (1920, 1000)
PICTURES = 9.6  # px: the least size of a word in the picture of a lab


def walks(lab):
    """Return the keys that walk a lab to each of its named states, and that state."""
    keys = {}
    for nr, action in enumerate(with_buttons(lab.world)):
        keys[action.name] = ["ArrowRight"] * nr if action.group == "turn" else [*"1234567890"[nr]]
    for name in lab.names:
        path = lab.path(name)
        rows = [keys.get(action, ["ArrowRight"]) for action in path]
        yield [key for row in rows for key in row], lab.map().walk(path)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
@pytest.mark.parametrize("name", labs.__all__)
def test_all_of_every_named_state_is_seen_at_once_and_stays_where_it_is(play, name, size):
    lab = getattr(labs, name)
    shown = play(as_json(lab.film()), size)
    places = shown.evaluate(PLACES)
    assert shown.evaluate(FAULTS, PICTURES) == []
    actions = with_buttons(lab.world)
    told = "→" if actions[0].group == "turn" else f"1 to {'1234567890'[len(actions) - 1]}"
    assert texts(shown, ".player-away") == [f"Click into the lab, then press {told}"]
    for keys, way in walks(lab):
        press(shown, "r", *keys)
        photograph(shown, f"labs/{name}-{size[0]}x{size[1]}-{'-'.join(keys)}")
        assert title(shown) == lab.map().states[way.to].title
        if way.error:
            kind, _, message = way.error.partition(": ")
            assert outcome(shown).startswith(f"✗ {kind}: {message[:30]}")
        else:
            assert shown.text_content(".player-say") == lab.map().states[way.to].sentence
        assert shown.evaluate(FAULTS, PICTURES) == [], keys
        assert shown.evaluate(PLACES) == places, keys
        assert not shown.evaluate(CUT_TITLE), keys


CUT_TITLE = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.player-title'))"


def test_where_a_picture_scrolls_the_node_of_the_talk_is_brought_in(play):
    shown = play(as_json(labs.explorer.film()), (390, 800))
    scrolls = "(({ scrollWidth, clientWidth, tabIndex }) => scrollWidth > clientWidth && tabIndex === 0)(document.querySelector('.player-pane'))"
    inside = """(() => { const [one, pane] = [".player-pane .s-now", ".player-pane"].map((name) => document.querySelector(name).getBoundingClientRect());
        return one.left >= pane.left && one.right <= pane.right && one.top >= pane.top && one.bottom <= pane.bottom; })()"""
    press(shown, "3")
    assert shown.evaluate(scrolls)
    for _ in range(8):
        assert shown.evaluate(inside), shown.text_content(".player-say")
        press(shown, "ArrowRight")


def test_a_question_is_ticked_once_all_of_its_answer_was_seen(play):
    shown = play(as_json(labs.versions.film()), (833, 600))
    press(shown, "q", "q", "5", "9")
    assert texts(shown, ".player-goals .is-open")[0].startswith("x.grad is [4, 6, 8]")
    assert texts(shown, ".player-tally") == ["✓ 2, the fewest"]
    assert texts(shown, ".player-chips .is-done") == [], "a right one is missing"
    press(shown, "r", "2", "1", "1", "9")
    assert texts(shown, ".player-tally") == ["✓ 4, fewer will do"]
    assert texts(shown, ".player-chips .is-done") == ["3"]


def test_what_was_pressed_and_ticked_is_there_after_a_reload_and_a_new_run(window):
    lab = labs.versions
    shown = opened_at(window, lab().film, 0)
    press(shown, "5", "9", "r", "8", "6", "9")
    ticked, trail = "✓ 3 presses · seen 2/7", texts(shown, ".player-code div")
    assert texts(shown, ".player-tally") == [ticked], "numpy is not data, which leads to the same"
    kept = shown.evaluate("window.saved")
    for _ in range(2):
        shown = opened_at(window, kept["film"], kept["frame"], kept["done"])
        assert texts(shown, ".player-tally") == [ticked]
        assert texts(shown, ".player-code div") == trail
        player = lab()
        player.frame, player.done = kept["frame"], kept["done"]
        kept = {name: getattr(lab(), name) for name in ("film", "frame", "done")}


def test_a_value_is_turned_by_keys_by_buttons_and_by_its_slider(window):
    shown = opened_at(window, labs.sure().film, None)
    press(shown, *["ArrowRight"] * 8)
    at_16 = title(shown)
    assert at_16 == "z.grad is -1.19e-07"
    assert texts(shown, ".player-tally") == [""], "presses say nothing here"
    shown.click(".player-next")
    assert (title(shown), texts(shown, ".player-tally")) == ("z.grad is nan", ["✓ "])
    assert texts(shown, ".player-code mark") == ["z = torch.tensor(17., requires_grad=True)"]
    assert "nan" in texts(shown, ".player-pane text")
    kept = shown.evaluate("window.saved")
    shown = opened_at(window, kept["film"], kept["frame"], kept["done"])
    assert (title(shown), shown.input_value(".player-range")) == ("z.grad is nan", "9")
    press(shown, "ArrowRight", "ArrowRight")
    assert said(shown) == "this is the last"
    press(shown, "u", "ArrowLeft", "ArrowLeft")
    assert (title(shown), texts(shown, ".player-tally")) == (at_16, [""])
    assert texts(shown, ".player-chips .is-done") == ["1"], "what was seen stays answered"
    shown.fill(".player-range", "0")
    first = title(shown)
    press(shown, "ArrowRight", "r")
    assert first == title(shown) == "z.grad is -0.000335"
    assert "z = 8" in shown.get_attribute(".player-range", "aria-valuetext")


def test_of_more_than_six_buttons_one_group_is_seen_that_of_the_last_press(play):
    shown = play(as_json(labs.versions.film()))
    seen = "(all) => all.filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => one.firstChild.textContent).join('')"
    groups = {
        key: shown.eval_on_selector_all(".player-action", seen)
        for key in "258"
        if press(shown, key) is None
    }
    assert groups == {"2": "23719", "5": "456819", "8": "456819"}
    shown.click(".player-acts .player-chips button >> nth=0")
    assert shown.eval_on_selector_all(".player-action", seen) == groups["2"]
