"""The player in a page from a file, in a real browser: keys, mouse, guessing, themes, small
windows. No kernel.
"""

import random
from dataclasses import replace

import pytest
from driver import watched
from made_up_film import explorer, lab, meant, restless, restless_views, steps, unfolding

from helpers.drawing.palette import DARK, LIGHT
from helpers.playing.film import Film, Frame
from helpers.playing.player import SCRIPT, as_json, page

pytestmark = pytest.mark.browser
LONG = "a sentence with so many words that it takes several lines where there is little room, " * 3
BOXES = """() => [".player", ".player-words", ".player-stage", ".player-bar", ".player-play", ".player-range"]
    .flatMap((name) => { const box = document.querySelector(name).getBoundingClientRect();
                         return [box.x, box.y, box.width, box.height]; })"""


@pytest.fixture
def play(chromium, tmp_path):
    """Return a function that opens the page of a film, with options for the browser's context."""
    opened = []

    def start(film, html=page, **options):
        path = tmp_path / f"{len(opened)}.html"
        path.write_text(html(film), encoding="utf-8")
        opened.append(watched(chromium, **options))
        shown = opened[-1].__enter__().page
        shown.clock.install()
        shown.goto(path.as_uri())
        shown.clock.run_for(100)
        shown.focus(".player")
        return shown

    yield start
    for one in opened:
        one.__exit__(None, None, None)


def words(shown):
    return shown.inner_text(".player-sentence")


def count(shown):
    return shown.inner_text(".player-count")


def numbers(shown):
    """Return the gradients that are seen on edges."""
    return shown.locator("text.m-label:not(.player-hidden)").all_text_contents()


def press(shown, *keys):
    for key in keys:
        shown.keyboard.press(key)


def click(shown, name):
    shown.click(f".player-{name}")


def test_the_keys_step_forwards_and_back(play):
    shown = play(steps(3))
    assert (words(shown), numbers(shown), count(shown)) == (
        "before the first of 4 steps",
        [],
        "1 / 5",
    )
    press(shown, "ArrowRight", "ArrowRight")
    assert words(shown) == "step 2 of 4: 2.0 arrives, 4.0 is handed on"
    assert numbers(shown) == ["2.0", "4.0"]
    assert shown.locator("rect.m-operation.s-now").get_attribute("data-of") == "node 1"
    assert shown.locator("rect.m-operation.s-done").get_attribute("data-of") == "node 0"
    press(shown, "ArrowLeft")
    assert (numbers(shown), count(shown)) == (["2.0"], "2 / 5")
    press(shown, "End", "ArrowRight")
    assert (numbers(shown), count(shown)) == (["2.0", "4.0", "8.0"], "5 / 5")
    press(shown, "Home", "ArrowLeft")
    assert (numbers(shown), count(shown)) == ([], "1 / 5")
    assert shown.locator(".s-now, .s-done:not(.player-hidden)").count() == 0


SEEN = """() => [...document.querySelectorAll("svg [class^='m-']:not(tspan)")].map((node) =>
    [node.getAttribute("class").replace(" player-hidden", ""), node.textContent,
     getComputedStyle(node).display === "none"])"""


@pytest.mark.parametrize("seed", range(3))
def test_every_frame_shows_what_was_meant_from_wherever_one_comes(play, seed):
    film = restless(seed)
    shown = play(film)
    visits = random.Random(seed).choices(range(len(film.frames)), k=25)
    for number in [*range(len(film.frames)), *visits]:
        shown.locator(".player-range").fill(str(number))
        assert shown.evaluate(SEEN) == [list(mark) for mark in meant(film, number)], number


def test_the_mouse_does_the_same(play):
    shown = play(steps(3))
    click(shown, "next")
    click(shown, "next")
    click(shown, "previous")
    assert (numbers(shown), count(shown)) == (["2.0"], "2 / 5")
    click(shown, "last")
    assert count(shown) == "5 / 5"
    assert shown.get_attribute(".player-next", "aria-disabled") == "true"
    click(shown, "first")
    assert count(shown) == "1 / 5"
    assert shown.get_attribute(".player-previous", "aria-disabled") == "true"
    shown.locator(".player-range").fill("3")
    assert (numbers(shown), count(shown)) == (["2.0", "4.0", "8.0"], "4 / 5")
    assert shown.get_attribute(".player-range", "aria-valuetext") == "4 / 5"


def test_the_scrubber_has_the_same_keys(play):
    shown = play(steps(3))
    shown.focus(".player-range")
    press(shown, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert count(shown) == "2 / 5"
    press(shown, "End")
    assert count(shown) == "5 / 5"


def test_play_goes_to_the_end_and_can_be_paused(play):
    shown = play(steps(3))
    press(shown, " ")
    assert shown.inner_text(".player-play") == "Pause"
    shown.clock.run_for(3200)
    assert count(shown) == "3 / 5"
    press(shown, " ")
    shown.clock.run_for(9000)
    assert (count(shown), shown.inner_text(".player-play")) == ("3 / 5", "Play")
    click(shown, "play")
    shown.clock.run_for(9000)
    assert (count(shown), shown.inner_text(".player-play")) == ("5 / 5", "Play")
    press(shown, " ")
    assert count(shown) == "1 / 5", "at the end, play begins again"


def test_a_step_by_hand_stops_the_playing(play):
    shown = play(steps(3))
    press(shown, " ", "ArrowRight")
    shown.clock.run_for(9000)
    assert count(shown) == "2 / 5"


def test_guessing_is_off_until_asked_for(play):
    shown = play(steps(3))
    press(shown, "ArrowRight")
    assert shown.get_attribute(".player-guess", "aria-pressed") == "false"
    assert shown.get_attribute(".player-reveal", "aria-disabled") == "true"
    assert "?" not in numbers(shown)


KEYS = [("press", key) for key in (" ", "Enter", "ArrowRight")]
CLICKS = [("click", place) for place in (".player-reveal", ".player-next", "text.s-next", "svg")]


@pytest.mark.parametrize(("how", "what"), KEYS + CLICKS)
def test_a_new_number_is_a_question_mark_until_a_key_or_a_click(play, how, what):
    shown = play(steps(3))
    press(shown, "g", "ArrowRight", "ArrowRight", "ArrowRight")
    assert (words(shown), numbers(shown)) == ("step 2 of 4: what is handed on?", ["2.0", "?"])
    press(shown, what) if how == "press" else shown.click(what, position={"x": 3, "y": 3})
    assert (words(shown), numbers(shown)) == (
        "step 2 of 4: 2.0 arrives, 4.0 is handed on",
        ["2.0", "4.0"],
    )
    assert count(shown) == "3 / 5"


def test_after_the_mouse_the_space_bar_reveals(play):
    shown = play(steps(3))
    click(shown, "guess")
    press(shown, "ArrowRight")
    assert numbers(shown) == ["?"]
    press(shown, " ")
    assert numbers(shown) == ["2.0"]
    click(shown, "guess")
    press(shown, "ArrowLeft", "ArrowRight")
    assert numbers(shown) == ["2.0"]


def test_play_in_guess_mode_asks_and_tells(play):
    shown = play(steps(3))
    press(shown, "g", " ")
    assert shown.inner_text(".player-play") == "Play", "in guess mode the space bar reveals"
    click(shown, "play")
    shown.clock.run_for(1600)
    assert numbers(shown) == ["?"]
    shown.clock.run_for(1500)
    assert numbers(shown) == ["2.0"]
    shown.clock.run_for(30_000)
    assert (count(shown), shown.inner_text(".player-play")) == ("5 / 5", "Play")


def test_a_button_with_the_focus_obeys_the_space_bar(play):
    shown = play(steps(3))
    shown.focus(".player-next")
    press(shown, " ", "Enter")
    assert (count(shown), shown.inner_text(".player-play")) == ("3 / 5", "Play")


def test_a_click_on_a_node_goes_to_its_step_and_cycles_through_several(play):
    film = steps(3)
    shown = play(replace(film, frames=(*film.frames, *film.frames[1:3])))
    shown.click("rect.m-operation[data-of='node 1']")
    assert count(shown) == "3 / 7"
    shown.click("rect.m-operation[data-of='node 1']")
    assert count(shown) == "7 / 7"
    shown.click("text[data-of='node 1']")
    assert count(shown) == "3 / 7"
    shown.click("text=saved")
    assert count(shown) == "3 / 7"


def test_a_lab_walks_its_map(play):
    shown = play(lab())
    assert shown.locator(".player-play, .player-range, .player-next, .player-guess").count() == 0
    buttons = shown.locator(".player-action")
    assert buttons.all_inner_texts() == ["Switch a on", "Switch b on"]
    buttons.nth(0).click()
    assert words(shown) == "a is on"
    assert shown.locator("rect.m-operation").count() == 3, "two nodes and the legend"
    assert buttons.nth(0).get_attribute("aria-disabled") == "true"
    buttons.nth(0).click(force=True)
    assert words(shown) == "a is on", "a button that says no does nothing"
    press(shown, "2")
    assert words(shown) == "both are on: nothing is left to do"
    press(shown, "u")
    assert words(shown) == "a is on"
    click(shown, "reset")
    assert words(shown) == "nothing is on"
    assert shown.get_attribute(".player-reset", "aria-disabled") == "true"
    click(shown, "undo")
    assert words(shown) == "a is on"
    press(shown, "u", "u", "u", "1", "1", "r")
    assert words(shown) == "nothing is on"


def test_a_lab_of_nodes_is_walked_by_arrows_and_by_clicks(play):
    shown = play(explorer())
    assert words(shown) == "program 0: choose a node"
    press(shown, "ArrowRight", "ArrowRight", "ArrowRight")
    assert words(shown) == "program 0, node 1", "the arrows stay in the program that is seen"
    shown.click("rect[data-of='node 0']")
    assert words(shown) == "program 0, node 0"
    press(shown, "1")
    assert words(shown) == "program 1: choose a node"
    shown.click("rect[data-of='node 1']")
    assert words(shown) == "program 1, node 1"
    press(shown, "u", "u")
    assert words(shown) == "program 0, node 0"


def test_other_keys_stay_inside_and_those_of_the_page_pass(play):
    shown = play(steps(3))
    shown.evaluate(
        "window.heard = []; document.addEventListener('keydown', (event) => window.heard.push(event.key))"
    )
    press(
        shown,
        "x",
        "d",
        "d",
        "ArrowRight",
        "ArrowUp",
        "Enter",
        "Shift+Enter",
        "Control+s",
        "Tab",
        "Escape",
    )
    heard = shown.evaluate("window.heard")
    assert [key for key in heard if key not in ("Shift", "Control")] == ["Enter", "s", "Tab"]
    shown.evaluate("document.activeElement.blur()")
    press(shown, "ArrowRight")
    assert count(shown) == "2 / 5", "keys act only where the player has the focus"


def test_a_step_is_announced_once(play):
    shown = play(steps(3))
    assert shown.get_attribute(".player-sentence", "aria-live") == "polite"
    shown.evaluate("""() => { window.said = 0;
        const watch = new MutationObserver((list) => { window.said += list.length; });
        const what = { childList: true, characterData: true, subtree: true };
        watch.observe(document.querySelector(".player-words"), what); }""")
    press(shown, "ArrowRight", "ArrowRight", "ArrowRight")
    assert shown.evaluate("window.said") == 3


def test_everything_has_a_name(play):
    shown = play(steps(3))
    film = steps(3)
    assert shown.get_by_role("img", name=film.alt).count() == 1
    assert shown.get_by_role("group", name="Player").count() == 1
    assert shown.get_by_role("slider", name="Position").count() == 1
    for name in ("First", "Back", "Play", "Next", "Last", "Guess", "Reveal"):
        assert shown.get_by_role("button", name=name, exact=True).count() == 1
    assert (
        shown.locator("[aria-hidden=true]").all_inner_texts()
        == [""] * shown.locator(".player-sizer").count()
    )


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (640, 360), (320, 500)])
def test_nothing_jumps(play, width, height):
    film = steps(3)
    film = replace(film, frames=(*film.frames, Frame(LONG), Frame("short")))
    shown = play(film, viewport={"width": width, "height": height})
    boxes = shown.evaluate(BOXES)
    for key in ["ArrowRight"] * 6 + ["g"] + ["ArrowLeft"] * 6 + [" "]:
        press(shown, key)
        assert shown.evaluate(BOXES) == boxes, (key, words(shown))


@pytest.mark.parametrize("scale", [1, 2])
def test_in_a_small_window_nothing_is_lost(play, scale):
    shown = play(steps(8), viewport={"width": 320, "height": 640}, device_scale_factor=scale)
    inside = shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert inside, "the page is not wider than the window"
    for box in shown.locator("button, .player-range, .player-count, .player-sentence").all():
        place = box.bounding_box()
        assert 0 <= place["x"] <= place["x"] + place["width"] <= 320
    shown.hover(".player-stage")
    shown.mouse.wheel(9999, 9999)
    shown.wait_for_function("""() => { const stage = document.querySelector(".player-stage");
        const [inner, outer] = [stage.firstChild.getBoundingClientRect(), stage.getBoundingClientRect()];
        return inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1; }""")


def test_the_node_of_the_step_is_brought_into_sight(play):
    shown = play(steps(40))
    press(shown, *["ArrowRight"] * 30)
    card, stage = (shown.locator(one).bounding_box() for one in ("rect.s-now", ".player-stage"))
    assert stage["y"] <= card["y"]
    assert card["y"] + card["height"] <= stage["y"] + stage["height"]
    press(shown, "Home", "ArrowRight")
    assert shown.locator("rect.s-now").bounding_box()["y"] >= stage["y"]


def colours(shown):
    """Return the colours of the card that is now, of its name and of the sentence."""
    return shown.evaluate("""() => { const look = (name) => getComputedStyle(document.querySelector(name));
        return [look("rect.s-now").stroke, look("rect.s-now").fill, look(".m-title").fill,
                look(".player-sentence").color, look(".player").backgroundColor]; }""")


def rgb(palette, *names):
    return ["rgb({}, {}, {})".format(*bytes.fromhex(palette[name][1:])) for name in names]


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("lab_is", [None, "light", "dark"])
def test_the_theme_is_that_of_jupyterlab_or_else_of_the_system(play, system, lab_is):
    shown = play(steps(1), color_scheme=system)
    press(shown, "ArrowRight")
    if lab_is:
        shown.evaluate(
            "(light) => { document.body.dataset.jpThemeLight = light; }",
            str(lab_is == "light").lower(),
        )
    palette = LIGHT if (lab_is or system) == "light" else DARK
    assert colours(shown) == rgb(palette, "now", "nowground", "ink", "ink", "ground")


def test_colours_that_the_reader_forces_are_kept(play):
    shown = play(steps(1), forced_colors="active", color_scheme="dark")
    press(shown, "ArrowRight")
    now, paper, title, sentence, ground = colours(shown)
    assert title == sentence
    assert paper == ground
    assert len({now, paper, title}) == 3


def test_nothing_moves_by_itself_and_the_focus_is_seen(play):
    shown = play(steps(3), reduced_motion="reduce")
    press(shown, "ArrowRight", "Tab")
    assert shown.evaluate("document.getAnimations().length") == 0
    look = shown.evaluate(
        "(() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; })()"
    )
    assert look == ["solid", "2px"]


def test_hostile_names_are_shown_as_text(play):
    name = "<img src=x onerror=alert(1)></script><b>"
    film = steps(1, name=name)
    shown = play(replace(film, frames=(Frame(name),), alt=name))
    assert words(shown) == name
    assert shown.locator(".player img, .player b").count() == 0
    assert shown.get_attribute("svg", "aria-label") == name


def module(film):
    return '<div id="here"></div>'


START = """async ([script, film, frame, comm]) => {
  class Model {
    constructor(state, live) { Object.assign(this, { state, live, heard: [] }); }
    get comm_live() { return this.live; }
    set comm_live(live) { this.live = live; this.tell("comm_live_update"); }
    tell(name) { for (const [wanted, handler] of [...this.heard]) if (wanted === name) handler(this); }
    get(name) { return this.state[name]; }
    set(name, value) { if (this.state[name] !== value) { this.state[name] = value; this.tell("change:" + name); } }
    on(name, handler) { this.heard.push([name, handler]); }
    off(name, handler) { this.heard = this.heard.filter((one) => one[0] !== name || one[1] !== handler); }
    save_changes() { if (comm === "none") throw "Syncing error: no comm channel"; window.saved = { ...this.state }; }
  }
  const live = comm !== "none" && comm !== "restored";
  window.layout = new Model({}, live);
  window.model = new Model({ film, frame, guessing: false, layout: window.layout }, live);
  window.model.widget_manager = { kernel: comm === "dead" ? null : {} };
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const widget = (await import(url)).default;
  window.stop = widget.render({ model: window.model, el: document.getElementById("here") });
}"""
SAVED = "window.saved && [window.saved.frame, window.saved.guessing]"
COUNTED = "[window.model.comm_live, window.layout.comm_live]"


@pytest.fixture
def widget(chromium):
    """Return a function that shows a film as anywidget does: with a comm that is live, dead,
    restored or none.
    """
    with watched(chromium) as watch:

        def start(film, comm):
            watch.page.set_content('<body><div id="here"></div>')
            watch.page.evaluate(START, [SCRIPT, as_json(film), 2, comm])
            return watch.page

        yield start


@pytest.mark.parametrize("comm", ["live", "dead", "restored", "none"])
def test_as_a_widget_it_tells_the_kernel_where_there_is_one(widget, comm):
    shown = widget(steps(3), comm)
    assert count(shown) == "3 / 5", "it opens where it was left"
    assert not shown.evaluate("Boolean(window.saved)"), "showing is no change"
    shown.focus(".player")
    press(shown, "ArrowRight", "g")
    assert count(shown) == "4 / 5"
    assert shown.evaluate(SAVED) == ([3, True] if comm == "live" else None)
    shown.evaluate("window.model.set('frame', 0)")
    assert count(shown) == "1 / 5"
    shown.evaluate("window.model.set('frame', 99)")
    assert count(shown) == "5 / 5"


@pytest.mark.parametrize("comm", ["live", "restored"])
def test_without_a_kernel_it_still_counts_as_a_widget_to_be_saved_as_long_as_it_is_seen(
    widget, comm
):
    shown = widget(steps(3), comm)
    assert shown.evaluate(COUNTED) == [True, True]
    shown.evaluate("window.model.comm_live = window.layout.comm_live = false")
    assert shown.evaluate(COUNTED) == [True, True]
    shown.focus(".player")
    press(shown, "ArrowRight")
    assert shown.evaluate(SAVED) is None
    shown.evaluate("window.stop()")
    assert shown.evaluate(COUNTED) == [False, False]


def test_a_widget_whose_kernel_lives_is_left_to_it(widget):
    shown = widget(steps(3), "live")
    shown.evaluate("window.stop()")
    assert shown.evaluate(COUNTED) == [True, True]


def test_a_film_of_one_frame_is_a_picture(play):
    film = steps(1)
    shown = play(Film(film.scenes, film.frames[:1], "", ""))
    for key in ("ArrowRight", "ArrowLeft", "Home", "End", " ", "Enter", "g", "5"):
        press(shown, key)
    assert count(shown) == "1 / 1"
    assert set(
        shown.locator("button").evaluate_all("(all) => all.map((one) => one.ariaDisabled)")
    ) == {"true"}


CELL = """() => { const text = (name) => document.querySelector(name).textContent;
    return [text(".player-sentence"), text(".player-count"), document.querySelectorAll("rect.m-operation").length]; }"""


def test_a_folded_box_opens_at_the_same_step_by_click_and_by_key(play):
    shown = play(unfolding())
    press(shown, "ArrowRight")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 2], "one node and the legend"
    shown.click("rect.m-operation[data-of='node 0']")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 3]
    press(shown, "o", "o")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 4]
    press(shown, "f")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 3]
    press(shown, "ArrowRight", "f")
    assert shown.evaluate(CELL) == ["step 2", "3 / 4", 2]
    click(shown, "unfold")
    assert shown.evaluate(CELL) == ["step 2", "3 / 4", 4], (
        "at another step the same box opens another view"
    )
    click(shown, "fold")
    click(shown, "fold")
    assert shown.evaluate(CELL) == ["step 2", "3 / 4", 2]
    assert shown.get_attribute(".player-fold", "aria-disabled") == "true"
    press(shown, "f", "ArrowRight", "o")
    assert shown.evaluate(CELL) == ["step 3", "4 / 4", 2], "nothing opens here"
    assert shown.get_attribute(".player-unfold", "aria-disabled") == "true"
    shown.click("rect.m-operation[data-of='node 0']")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 2], (
        "a box that does not open here leads to its step"
    )


def test_all_else_stays_within_the_view(play):
    shown = play(unfolding())
    press(shown, "o")
    for key, seen in (
        ("End", "4 / 4"),
        ("ArrowRight", "4 / 4"),
        ("Home", "1 / 4"),
        ("ArrowLeft", "1 / 4"),
    ):
        press(shown, key)
        assert shown.evaluate(CELL)[1:] == [seen, 3]
    shown.locator(".player-range").fill("2")
    assert shown.evaluate(CELL) == ["step 2", "3 / 4", 3]
    shown.click("rect.m-operation[data-of='node 0']")
    assert shown.evaluate(CELL) == ["step 3", "4 / 4", 3], "a plain box leads to its step"
    press(shown, " ")
    shown.clock.run_for(20_000)
    assert shown.evaluate(CELL) == ["step 3", "4 / 4", 3], "playing ends with the view"
    press(shown, "g", "Home", "ArrowRight")
    assert shown.evaluate(CELL) == ["which?", "2 / 4", 3]
    press(shown, "Enter")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 3]
    shown.click("summary")
    told = shown.locator(".player-told pre", has_text="MulBackward0").inner_text()
    assert told.count("MulBackward0") == 2, "the text is that of the view"
    assert "step 0" in told
    assert "step 1" not in told, "in guess mode what comes is not told"


def test_only_what_opens_says_so_by_cursor_and_title(play):
    shown = play(unfolding())
    press(shown, "ArrowRight")
    looks = "([name, what]) => getComputedStyle(document.querySelector(name))[what]"
    assert shown.evaluate(looks, ["rect[data-of='node 0']", "cursor"]) == "zoom-in"
    assert shown.evaluate(looks, ["text[data-of='node 0']", "pointerEvents"]) == "none"
    assert (
        shown.locator("rect.m-operation[data-of='node 0'] title").text_content()
        == "Click to unfold"
    )
    assert shown.locator("[data-of='node 1'] title").count() == 0
    press(shown, "o")
    assert shown.evaluate(looks, ["rect[data-of='node 0']", "cursor"]) == "pointer"


def test_without_views_there_are_no_buttons_to_fold(play):
    shown = play(steps(3))
    press(shown, "o", "f")
    assert count(shown) == "1 / 5"
    assert shown.locator(".player-unfold, .player-fold, svg title").count() == 0


@pytest.mark.parametrize("seed", range(2))
def test_every_frame_of_every_view_shows_what_was_meant_from_wherever_one_comes(play, seed):
    film = restless_views(seed)
    shown, span = play(film), len(film.frames) // 2
    dice, view = random.Random(seed), 0
    for number in [*range(span), *dice.choices(range(span), k=30)]:
        shown.locator(".player-range").fill(str(number))
        shown.focus(".player")
        if dice.random() < 0.5:
            press(shown, "f" if view else "o")
            view = 0 if view else int(number < 4)
        seen = [
            [name, words.removesuffix("Click to unfold"), hidden]
            for name, words, hidden in shown.evaluate(SEEN)
        ]
        assert seen == [list(mark) for mark in meant(film, view * span + number)], (view, number)


def test_the_picture_of_a_view_is_as_large_as_it_is(play):
    film = unfolding()
    shown = play(film)
    for scene in film.scenes:
        assert (
            shown.get_attribute(".player-stage svg", "viewBox")
            == f"0 0 {scene.width} {scene.height}"
        )
        press(shown, "o")


@pytest.mark.parametrize("comm", ["live", "none"])
def test_an_opened_view_is_where_it_was_left(widget, comm):
    shown = widget(unfolding(), comm)
    shown.focus(".player")
    press(shown, "o", "ArrowRight")
    assert shown.evaluate(CELL) == ["step 3", "4 / 4", 4]
    assert shown.evaluate(SAVED) == ([11, False] if comm == "live" else None)
    shown.evaluate("window.model.set('frame', 5)")
    assert shown.evaluate(CELL) == ["step 1", "2 / 4", 3]
