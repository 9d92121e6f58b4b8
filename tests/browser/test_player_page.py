"""The player of steps in a page from a file, in a real browser: keys, mouse, focus, guesses,
motion, large graphs, and as a widget. No kernel.
"""

import pytest
from driver import press, rgb, watched
from player_films import HOSTILE, film_of, slot, trace_of
from player_page import START

from autograd_graphs.drawing.palette import DARK, LIGHT
from autograd_graphs.playing.animate import explored
from autograd_graphs.playing.player import NOTEBOOK, SCRIPT, as_json, head, page

pytestmark = pytest.mark.browser
AWAY = "Click into the player, then press →"
GUESSES = "() => { window.guesses = []; document.addEventListener('player-guess', ({ detail }) => window.guesses.push(detail)); }"


@pytest.fixture
def play(open_page):
    """Return a function that opens the page of a film, or of several, in the one window."""

    def start(*films, reduced_motion="no-preference", **options):
        html = page(films[0])
        if len(films) > 1:
            html = f"<!doctype html><meta charset=utf-8>{head()}{''.join(map(slot, films))}"
        return open_page(html, reduced_motion=reduced_motion, **options)

    return start


def step(shown, *keys):
    """Press keys as slowly as a person."""
    for key in keys:
        shown.clock.run_for(1000)
        shown.keyboard.press(key)


def text(shown, name):
    return shown.text_content(f".player-{name}")


def count(shown):
    return text(shown, "count")


def main(shown):
    return text(shown, "next")


def focused(shown):
    return shown.evaluate(
        "document.activeElement.className.split(' ')[0] || document.activeElement.tagName"
    )


def test_the_keys_step_forwards_and_back(play):
    shown = play(film_of("square"))
    assert (count(shown), text(shown, "title")) == ("6 steps", "e.backward()")
    press(shown, "ArrowRight")
    assert (count(shown), text(shown, "title")) == ("step 1 of 6", "PowBackward0")
    press(shown, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert (count(shown), text(shown, "title")) == ("step 2 of 6", "AddBackward0")
    press(shown, "End", "ArrowRight")
    assert (count(shown), text(shown, "title")) == ("the end", "backward() is done")
    press(shown, "Home", "ArrowLeft")
    assert count(shown) == "6 steps"
    assert shown.locator(".is-now, .is-done").count() == 0
    assert shown.locator(".is-next .player-capsule").text_content() == "1", "on its way to the root"


VIEW_BOX = (
    "document.querySelector('.player-pane > svg').getAttribute('viewBox').split(' ').map(Number)"
)


def test_the_keys_that_zoom_and_pan(play):
    shown = play(film_of("square"))
    before = shown.evaluate(VIEW_BOX)
    for key, change in (("+", 1 / 1.25), ("-", 1.25)):
        press(shown, key)
        assert shown.evaluate(VIEW_BOX)[2] == pytest.approx(before[2] * change)
        press(shown, "0")
        assert shown.evaluate(VIEW_BOX) == pytest.approx(before)
    for way, where, by in (("Right", 0, 1), ("Left", 0, -1), ("Down", 1, 1), ("Up", 1, -1)):
        now = shown.evaluate(VIEW_BOX)
        press(shown, f"Shift+Arrow{way}")
        moved = [there - here for here, there in zip(now, shown.evaluate(VIEW_BOX), strict=True)]
        assert moved[where] * by > 40, way
        assert moved[1 - where] == pytest.approx(0), way
    assert shown.evaluate(VIEW_BOX) == pytest.approx(before)
    assert count(shown) == "6 steps", "Shift and an arrow is no step"


def test_the_focus_is_never_taken(play):
    shown = play(film_of("square"), focused=False)
    assert focused(shown) == "BODY", "not on load"
    shown.evaluate(
        "document.body.prepend(Object.assign(document.createElement('input'), { className: 'cell' }))"
    )
    for button in ("play", "guess"):
        shown.click(f".player-{button}")
    shown.focus(".cell")
    for _ in range(20):
        shown.clock.run_for(1900)
        assert focused(shown) == "cell", "not while it plays, nor while it tells what was asked"
    assert count(shown) == "the end"


def test_where_the_keys_go_is_said_in_words_and_seen_as_a_ring(play):
    for theme, colours in (("light", LIGHT), ("dark", DARK)):
        shown = play(film_of("square"), focused=False, color_scheme=theme)
        seen = "(all) => all.filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => one.textContent)"
        ring = "(one) => { const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(one); return [outlineStyle, outlineWidth, outlineColor]; }"
        before = shown.eval_on_selector(".player", ring)
        assert shown.eval_on_selector_all(".player-keys > *", seen) == [AWAY]
        for way in ("tab", "click"):
            if way == "click":
                press(shown, "Escape")
                shown.click(".player-say")
            else:
                press(shown, "Tab")
            assert focused(shown) == "player"
            (said,) = shown.eval_on_selector_all(".player-keys > *", seen)
            assert "".join(said.split()) == "←→stepspaceplaygguessEscleaves"
            style, width, colour = shown.eval_on_selector(".player", ring)
            assert (style, width) == ("solid", "3px")
            assert colour == rgb(colours["leafrim"]) != before[2]
        press(shown, "Tab", "Tab")
        assert shown.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert shown.eval_on_selector(".player", ring)[1] == "3px", (
            "its ring stays while one of its buttons has the focus"
        )
        press(shown, "Escape")
        assert shown.eval_on_selector_all(".player-keys > *", seen) == [AWAY]
        assert shown.eval_on_selector(".player", ring) == before


def test_who_explores_a_graph_reads_of_a_box_that_opens_what_it_was(play):
    shown = play(explored(trace_of("layers").graph, "A graph"))
    box = shown.locator(".player-node[data-opens]").first
    words = box.locator("text").first.text_content().split()[0]
    box.click()
    assert shown.text_content(".player-verdict").startswith(words)


def test_the_mouse_does_the_same(play):
    shown = play(film_of("square"), focused=False)
    for name in ("next", "next", "back"):
        shown.click(f".player-{name}")
    assert count(shown) == "step 1 of 6"
    shown.locator(".player-range").fill("3")
    assert count(shown) == "step 3 of 6"
    shown.locator(".player-range").fill("7")
    assert shown.get_attribute(".player-next", "aria-disabled") == "true"
    shown.click(".player-next", force=True)
    assert count(shown) == "the end"
    shown.locator(".player-range").fill("0")
    assert shown.get_attribute(".player-back", "aria-disabled") == "true"


def node(shown, words):
    return shown.locator(".player-node", has_text=words).first.locator("text").first


def test_a_click_on_a_node_goes_to_its_step_and_a_drag_does_not(play):
    shown = play(film_of("square"))
    node(shown, "Mul").click()
    assert (count(shown), focused(shown)) == ("step 4 of 6", "player")
    box = node(shown, "Add").bounding_box()
    before = shown.evaluate(VIEW_BOX)
    shown.mouse.move(box["x"] + 9, box["y"] + 9)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    shown.mouse.up()
    assert count(shown) == "step 4 of 6"
    assert shown.evaluate(VIEW_BOX)[0] < before[0]


def test_play_goes_to_the_end_and_can_be_paused(play):
    shown = play(film_of("square"))
    press(shown, " ")
    assert text(shown, "play") == "Pause"
    shown.clock.run_for(3700)
    assert count(shown) == "step 2 of 6"
    press(shown, " ")
    shown.clock.run_for(20_000)
    assert (count(shown), text(shown, "play")) == ("step 2 of 6", "Play")
    shown.click(".player-play")
    shown.clock.run_for(20_000)
    assert (count(shown), text(shown, "play")) == ("the end", "Play")
    press(shown, " ")
    assert count(shown) == "6 steps", "at the end, play begins again"


def test_a_step_by_hand_stops_the_playing(play):
    shown = play(film_of("square"))
    for key in ("ArrowRight", "ArrowLeft", "End", "Home"):
        press(shown, "Home", "ArrowRight", " ", key)
        here = count(shown)
        shown.clock.run_for(20_000)
        assert (count(shown), text(shown, "play")) == (here, "Play")


TOLD = """() => { const words = [document.querySelector(".player-room").innerText, document.querySelector(".player-live").textContent, document.querySelector(".player-told pre").textContent];
    for (const one of document.querySelectorAll(".player-room *")) for (const { name, value } of one.attributes) if (/title|aria|label|value|placeholder|alt|data/.test(name)) words.push(value);
    for (const one of document.querySelectorAll(".player text")) if (one.checkVisibility({ visibilityProperty: true })) words.push(one.textContent);
    return words.filter((one) => one !== null); }"""
SECRET = """() => [...document.querySelectorAll(".player-told pre, .player-live, .player-eq, .player-say, .player-title, .player-wire, .player-grad, .player-more, .player-verdict")].map((one) => one.textContent).join(" ")"""


def test_who_guesses_finds_the_answer_nowhere(play):
    shown = play(film_of("square"))
    shown.click(".player-told summary")
    shown.focus(".player")
    press(shown, "g", "ArrowRight")
    assert text(shown, "say") == "1 arrives. What does Pow hand on?"
    assert text(shown, "live") == "1 arrives. What does Pow hand on?"
    assert "20" not in shown.evaluate(SECRET)
    told = " ".join(one for one in shown.evaluate(TOLD))
    assert told.count("20") == told.count("\n20\n") == 1, "among the choices alone"
    assert shown.locator(".player-choice").all_inner_texts().count("20") == 1
    press(shown, "Enter")
    assert "20" in shown.evaluate(SECRET)


@pytest.mark.parametrize(
    ("typed", "verdict", "kind"),
    [
        ("20.1", "✓ 20", "right"),
        ("-20", "✗ not -20, but 20", "wrong"),
        ("x", "✗ not x, but 20", "wrong"),
    ],
)
def test_digits_go_straight_into_the_field_and_are_judged(play, typed, verdict, kind):
    shown = play(film_of("square"))
    shown.evaluate(GUESSES)
    press(shown, "g", "ArrowRight")
    assert focused(shown) == "player"
    if typed[0] == "x":
        shown.focus(".player-field")
    press(shown, *typed)
    assert shown.input_value(".player-field") == typed
    assert (focused(shown), main(shown)) == ("player-field", "Check")
    press(shown, "Enter")
    assert text(shown, "verdict").strip() == verdict
    assert shown.locator(f".player-verdict .player-{kind}").count() == 1
    assert focused(shown) == "player"
    assert shown.evaluate("window.guesses") == [
        {"frame": 1, "guesses": [[typed, "20", kind == "right"]]}
    ]
    press(shown, "ArrowRight")
    assert (count(shown), text(shown, "verdict")) == ("step 2 of 6", "")
    assert len(shown.evaluate("window.guesses")) == 1, "once"


def test_two_fields_are_filled_by_clicks_on_choices(play):
    shown = play(film_of("square"))
    shown.evaluate(GUESSES)
    press(shown, "g", *["ArrowRight", "Enter"] * 3, "ArrowRight")
    assert text(shown, "title") == "MulBackward0"
    choices = shown.locator(".player-choice")
    right = choices.all_inner_texts()
    assert {"60", "40"} < set(right)
    assert right == sorted(right, key=float), "in an order that tells nothing"
    choices.get_by_text("60", exact=True).click()
    choices.get_by_text("60", exact=True).click()
    assert shown.eval_on_selector_all(".player-field", "(all) => all.map((one) => one.value)") == [
        "60",
        "60",
    ]
    assert main(shown) == "Check"
    press(shown, "Enter")
    assert text(shown, "verdict").split("  ")[0].strip().startswith("✓ 60 ✗ not 60, but 40")
    assert shown.evaluate("window.guesses")[0]["guesses"] == [
        ["60", "60", True],
        ["60", "40", False],
    ]


@pytest.mark.parametrize("typed", ["5x1", "[5, 1]"])
def test_of_a_tensor_one_gives_the_shape(play, typed):
    shown = play(film_of("mlp"))
    press(shown, "g", "ArrowRight")
    assert "What shape does MseLoss hand on?" in text(shown, "say")
    shown.fill(".player-field", typed)
    press(shown, "Enter")
    assert text(shown, "verdict").strip() == "✓ 5×1"
    assert shown.locator(".player-handed .player-tile").count() == 1


MOVING = "document.querySelectorAll('.player-moving > *').length"


def test_what_arrives_and_what_is_handed_on_moves_and_then_is_gone(play):
    shown = play(film_of("square"))
    step(shown, "ArrowRight")
    assert shown.evaluate(MOVING) == 2, "the 1 that arrives, the 20 that is handed on"
    where = "(all) => all.map((one) => one.getAttribute('transform')).join()"
    places = set()
    for _ in range(5):
        shown.clock.run_for(60)
        places.add(shown.eval_on_selector_all(".player-moving > *", where))
    assert len(places) == 5
    shown.clock.run_for(400)
    assert shown.evaluate(MOVING) == 0
    assert shown.locator(".is-flying").count() == 0


def test_any_input_finishes_the_motion(play):
    shown = play(film_of("square"))
    for what in ("ArrowLeft", "+", "a", ".player-say", ".player-pane", "g"):
        press(shown, "Home")
        step(shown, "ArrowRight", "ArrowRight")
        assert shown.evaluate(MOVING) > 0
        shown.clock.run_for(50)
        shown.click(what) if what.startswith(".") else press(shown, what)
        assert shown.evaluate(MOVING) == 0, what


def titles(shown):
    return shown.eval_on_selector_all(".player-node", "(all) => all.map((one) => one.textContent)")


def test_one_steps_over_a_folded_part_into_it_and_out_again(play):
    shown = play(film_of("layers"))
    assert main(shown) == "Next ▶"
    press(shown, "ArrowRight", "ArrowRight")
    assert main(shown) == "Step over"
    whole = titles(shown)
    press(shown, "ArrowRight")
    assert text(shown, "say").startswith("Stepped over 55 steps")
    press(shown, "ArrowLeft", "i")
    assert count(shown) != "step 3 of 5"
    assert len(titles(shown)) > len(whole)
    assert shown.locator(".is-now").count() >= 1, "at the same step"
    assert shown.get_attribute(".player-fold", "aria-disabled") == "false"
    press(shown, "f")
    assert (titles(shown), count(shown)) == (whole, "step 3 of 5")
    shown.click(".player-into")
    assert len(titles(shown)) > len(whole)
    shown.click(".player-fold")
    assert titles(shown) == whole
    assert shown.get_attribute(".player-fold", "aria-disabled") == "true"
    press(shown, "f", "o")
    assert len(titles(shown)) > len(whole), "o opens, as it always did"


def test_names_and_operations_are_found_here_and_in_what_is_folded(play):
    shown = play(film_of("layers"))
    whole = titles(shown)
    press(shown, "/")
    assert focused(shown) == "player-finder"
    shown.keyboard.type("pow")
    assert text(shown, "found").startswith("1 of ")
    assert "Pow" in shown.text_content(".is-match")
    assert titles(shown) == whole, "what is here comes first"
    shown.fill(".player-finder", "relu")
    assert shown.locator(".is-match").count() == 1
    assert len(titles(shown)) != len(whole), "what is folded is opened"
    assert in_sight(shown, ".is-match")
    first = shown.text_content(".is-match")
    assert "relu" in first.lower()
    shown.fill(".player-finder", "norm")
    press(shown, "Enter", "Enter")
    assert text(shown, "found").startswith("3 of ")
    assert in_sight(shown, ".is-match")
    shown.fill(".player-finder", "no such thing")
    assert (text(shown, "found"), shown.locator(".is-match").count()) == ("nothing found", 0)
    press(shown, "Escape")
    assert focused(shown) == "player"
    assert not shown.is_visible(".player-finder")


def in_sight(shown, what):
    return shown.evaluate(
        """(what) => { const [a, b] = [what, ".player-pane"].map((one) => document.querySelector(one).getBoundingClientRect());
        return a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1; }""",
        what,
    )


def test_n_goes_to_the_first_nan(play):
    shown = play(film_of("sick"))
    film = film_of("sick")
    assert "n" in shown.eval_on_selector_all(
        ".player-here kbd", "(all) => all.map((one) => one.textContent)"
    )
    press(shown, "n")
    assert count(shown) == f"step {film.trouble + 1} of {film.steps}"
    assert shown.text_content(".player-trouble").startswith("▲ ")
    shown = play(film_of("square"))
    press(shown, "n")
    assert count(shown) == "6 steps", "where all is well it does nothing"


def colours(shown):
    """Return the colours of the card that is now, of its name and of the sentence."""
    return shown.evaluate("""() => { const look = (name) => getComputedStyle(document.querySelector(name));
        return [look("rect.s-now").stroke, look("rect.s-now").fill, look(".player-node text").fill,
                look(".player-say").color, look(".player").backgroundColor]; }""")


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_is_that_of_jupyterlab_or_else_of_the_system(play, system):
    shown = play(film_of("square"), color_scheme=system)
    press(shown, "ArrowRight")
    for lab_is in (None, "light", "dark"):
        if lab_is:
            is_light = str(lab_is == "light").lower()
            shown.evaluate("(light) => { document.body.dataset.jpThemeLight = light; }", is_light)
        palette = LIGHT if (lab_is or system) == "light" else DARK
        names = ("now", "nowground", "ink", "ink", "ground")
        assert colours(shown) == [rgb(palette[name]) for name in names]


def test_hostile_names_are_shown_as_text(play):
    shown = play(film_of("long"))
    for _ in range(6):
        press(shown, "ArrowRight")
        assert shown.locator(".player img, .player script").count() == 0
    press(shown, "ArrowLeft")
    assert HOSTILE in text(shown, "say")


def test_two_players_on_a_page_do_not_disturb_each_other(play):
    shown = play(film_of("square"), film_of("sine"))
    counts = "[...document.querySelectorAll('.player-count')].map((one) => one.textContent)"
    press(shown, "ArrowRight", "ArrowRight")
    assert shown.evaluate(counts) == ["step 2 of 6", "5 steps"]
    shown.locator(".player").nth(1).focus()
    press(shown, "g", "ArrowRight")
    assert shown.evaluate(counts) == ["step 2 of 6", "step 1 of 5"]
    assert shown.locator(".player-guess").evaluate_all(
        "(all) => all.map((one) => one.ariaPressed)"
    ) == ["false", "true"]
    assert shown.locator(".player").first.locator(".player-field").count() == 0


SAVED = "window.saved && [window.saved.frame, window.saved.guessing]"
COUNTED = "[window.model.comm_live, window.layout.comm_live]"


@pytest.fixture
def widget(chromium):
    """Return a function that shows a film as anywidget does."""
    with watched(chromium) as watch:

        def start(film, comm, frame=2):
            watch.page.set_content('<body><div id="here"></div>')
            watch.page.evaluate(START, [NOTEBOOK + SCRIPT, as_json(film), frame, comm])
            return watch.page

        yield start


@pytest.mark.parametrize("comm", ["live", "dead", "restored", "none"])
def test_as_a_widget_it_tells_the_kernel_where_there_is_one(widget, comm):
    shown = widget(film_of("square"), comm)
    assert count(shown) == "step 2 of 6", "it opens where it was left"
    assert focused(shown) == "BODY"
    assert not shown.evaluate("Boolean(window.saved)"), "showing is no change"
    shown.focus(".player")
    press(shown, "ArrowRight", "g")
    assert count(shown) == "step 3 of 6"
    assert shown.evaluate(SAVED) == ([3, True] if comm == "live" else None)
    press(shown, "2", "Enter")
    assert "✗ not 2, but 20" in text(shown, "verdict")
    sent = [{"frame": 3, "guesses": [["2", "20", False]]}]
    assert shown.evaluate("window.model.sent") == ([] if comm == "none" else sent)
    shown.evaluate("window.model.set('frame', 0)")
    assert count(shown) == "6 steps"
    shown.evaluate("window.model.set('frame', 99)")
    assert count(shown) == "the end"


@pytest.mark.parametrize("comm", ["live", "restored"])
def test_without_a_kernel_it_still_counts_as_a_widget_to_be_saved_as_long_as_it_is_seen(
    widget, comm
):
    shown = widget(film_of("square"), comm)
    assert shown.evaluate(COUNTED) == [True, True]
    shown.evaluate("window.model.comm_live = window.layout.comm_live = false")
    assert shown.evaluate(COUNTED) == [True, True]
    shown.focus(".player")
    press(shown, "ArrowRight")
    assert shown.evaluate(SAVED) is None
    shown.evaluate("window.stop()")
    assert shown.evaluate(COUNTED) == [False, False]
