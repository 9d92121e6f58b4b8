"""Nobody is shut out: axe, the keyboard alone, what a screen reader is told, little room, the
reader's own colours.
"""

from functools import cache

import pytest
from axe import grave, grave_in_both_themes
from driver import photograph, press, watched
from made_up_film import steps
from player_films import film_of, slot
from player_page import go_through

from autograd_graphs.playing.player import head
from helpers import labs, show

pytestmark = pytest.mark.browser
NAMES = ("steps", "accumulation", "explorer", "leaves", "lifecycle")
SIZES = {"wide": (1280, 720), "narrow": (320, 640)}


@cache
def film_called(name):
    """Return the film of a lab, or "steps": of a backward; each is made once, when it is asked for."""
    return steps(8) if name == "steps" else getattr(labs, name).film()


def document(*bodies, title="A page"):
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    theme = '<meta name="color-scheme" content="light dark">'
    body = "\n".join(bodies)
    return f'<!doctype html><html lang="en">{meta}{theme}<title>{title}</title>{head()}<main><h1>{title}</h1>{body}</main>'


@pytest.fixture
def opened(chromium, tmp_path):
    """Return a function that opens bodies in one page, with options for the browser's context."""
    watches = []

    def start(*bodies, size="wide", **options):
        path = tmp_path / f"{len(watches)}.html"
        path.write_text(document(*bodies), encoding="utf-8")
        width, height = SIZES[size]
        watches.append(watched(chromium, viewport={"width": width, "height": height}, **options))
        shown = watches[-1].__enter__().page
        shown.add_init_script("addEventListener('error', (event) => console.error(event.message))")
        shown.goto(path.as_uri())
        shown.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return shown

    yield start
    for one in watches:
        one.__exit__(None, None, None)


def drawn():
    """Return a picture of a graph with names, saved tensors and a leaf that wants no gradient."""
    import torch

    a, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    return show(a * b + torch.log(a) * 5, names={"a": a, "b": b})


@pytest.mark.parametrize(("theme", "size"), [("light", "wide"), ("dark", "narrow")])
def test_axe_finds_nothing_grave_in_players_and_pictures(opened, theme, size):
    shown = opened(
        drawn()._repr_mimebundle_()[0]["text/html"],
        *[slot(film_called(name)) for name in NAMES],
        color_scheme=theme,
        size=size,
    )
    assert shown.locator(".player").count() == len(NAMES)
    assert grave(shown) == []
    shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert grave(shown) == []


FOCUSED = (
    "document.activeElement.className.split(' ')[0] || document.activeElement.tagName.toLowerCase()"
)


def stops(shown, key, count):
    """Return where the focus stands after each of so many presses."""
    found = []
    for _ in range(count):
        press(shown, key)
        found.append(shown.evaluate(FOCUSED))
    return found


WALK = {
    "wide": ["back", "next", "play", "guess", "range"],
    "narrow": ["range", "back", "next", "play", "guess"],  # the bar stands below
}
BAR = ["undo", "reset", "earlier", "later"]


@pytest.mark.parametrize("size", SIZES)
def test_tab_goes_through_everything_in_the_order_in_which_it_stands(opened, size):
    shown = opened(slot(film_called("steps")), slot(film_called("explorer")), size=size)
    lab = film_called("explorer")
    buttons = [*["goal"] * len(lab.goals), *["action"] * len(lab.buttons), *BAR]
    scrolls = shown.evaluate("document.querySelector('.player-lab .player-pane').tabIndex === 0")
    assert scrolls == (size != "wide")
    expected = [
        *(
            "player",
            *(f"player-{name}" for name in WALK[size]),
            "summary",
        ),
        *(
            "player",
            *["player-pane"] * scrolls,
            *(f"player-{name}" for name in buttons),
            "summary",
        ),
    ]
    assert stops(shown, "Tab", len(expected) + 1) == [*expected, "body"]
    assert stops(shown, "Shift+Tab", len(expected)) == expected[::-1]


def test_what_is_folded_opens_by_the_keyboard(opened):
    shown = opened(slot(film_called("steps")))
    shown.evaluate(HEAR)
    shown.focus(".player-told summary")
    press(shown, "Enter")
    assert shown.locator(".player-told[open]").count() == 1
    press(shown, "ArrowRight", "g", " ")
    assert shown.locator(".player-told[open]").count() == 0
    assert shown.inner_text(".player-count") == "9 steps"
    assert shown.evaluate("window.heard") == []
    shown.focus(".player")
    press(shown, "ArrowRight")
    shown.focus(".player-formula summary")
    press(shown, "Enter")
    formulas = shown.locator(".player-formula code")
    assert all(one.is_visible() for one in formulas.all())
    assert formulas.count()
    press(shown, "Enter")
    assert not any(one.is_visible() for one in formulas.all())


HEAR = "window.heard = []; document.addEventListener('keydown', (event) => window.heard.push(event.key))"


def test_escape_gives_the_keys_back(opened):
    section = f'<section tabindex="-1">{slot(film_called("steps"))}{slot(film_called("leaves"))}</section>'
    shown = opened(section, slot(film_called("leaves")), size="narrow")
    shown.evaluate(HEAR)
    for target in ("", "-next", "-range", "-told summary", "-action"):
        shown.focus(f".player{target}")
        press(shown, "Escape", "ArrowRight")
        assert shown.evaluate(FOCUSED) == "section", target
        assert shown.evaluate("window.heard.splice(0)") == ["ArrowRight"], "Escape was the player's"
        assert shown.inner_text(".player-count") == "9 steps"
    shown.locator(".player-action").last.focus()
    press(shown, "Escape")
    assert shown.evaluate(FOCUSED) == "body"


LISTEN = """() => { window.said = [];
    const watch = new MutationObserver((list) => list.forEach(({ target }) => {
        const text = (target.closest ? target : target.parentElement).closest("[aria-live]")?.textContent;
        if (text) window.said.push(text); }));
    watch.observe(document.body, { childList: true, characterData: true, subtree: true }); }"""


def said(shown):
    return shown.evaluate("window.said.splice(0)")


@pytest.mark.parametrize("name", ["square", "mlp"])
def test_each_step_is_said_once_with_its_arithmetic(opened, name):
    film = film_of(name)
    shown = opened(slot(film))
    shown.evaluate(LISTEN)
    shown.focus(".player")
    for at in range(1, film.steps + 2):
        press(shown, "ArrowRight")
        (words,) = said(shown)
        moment = film.moments[at]
        assert moment.title in words
        assert moment.sentence in words
        for row in moment.rows:
            for cell in row:
                shown_as = cell.what if isinstance(cell.what, str) else "tensor "
                assert shown_as in words[words.index(moment.sentence) + len(moment.sentence) :]
    press(shown, "End", "ArrowRight", "Enter", "x", "7")
    assert said(shown) == [], "what does nothing says nothing"
    shown.focus(".player-range")
    press(shown, "ArrowLeft", "ArrowRight")
    assert len(said(shown)) == 2


def test_a_question_is_said_then_the_answer_and_the_verdict(opened):
    film = film_of("square")
    shown = opened(slot(film))
    shown.focus(".player")
    press(shown, "g")
    shown.evaluate(LISTEN)
    press(shown, "ArrowRight")
    assert said(shown) == [film.moments[1].question]
    press(shown, *"20", "Enter")
    verdict, *_, answer = said(shown)
    assert verdict.strip() == "✓ 20"
    assert film.moments[1].sentence in answer


def test_a_lab_says_what_it_shows_and_what_was_refused(opened):
    lab, film = labs.lifecycle, film_called("lifecycle")
    shown = opened(slot(film))
    shown.evaluate(LISTEN)
    shown.focus(".player")
    press(shown, "u", "r", "1", "2", "2")
    nothing, start, built, freed, refused = said(shown)
    assert (nothing, start) == ("there is nothing to undo", "this is the start")
    for words, path in ((built, ("forward",)), (freed, ("forward", "backward"))):
        state = lab.map().states[lab.map().walk(path).to]
        assert words == f"{state.title} {state.sentence}"
    kind, _, message = lab.error("second backward").partition(": ")
    assert refused.startswith(f"✗ {kind}: {message[:30]}")


def tree(shown):
    """Return what Chromium's accessibility tree holds."""
    nodes = shown.context.new_cdp_session(shown).send("Accessibility.getFullAXTree")["nodes"]
    return [(one["role"]["value"], told(one)) for one in nodes if not one["ignored"]]


def told(node):
    """Return a node's name, and a button's description behind it."""
    name, more = (node.get(part, {}).get("value", "") for part in ("name", "description"))
    return f"{name} {more}".strip() if node["role"]["value"] == "button" else name


def joined(words):
    """Return words without the blanks between them: a name has more where its line may break."""
    return "".join(words.split())


def heard(shown):
    return "".join(name for role, name in tree(shown) if role == "StaticText")


def test_a_picture_is_an_image_with_a_name_and_can_be_read_as_a_tree(opened):
    picture = drawn()
    shown = opened(picture._repr_mimebundle_()[0]["text/html"])
    assert ("image", picture.alt) in tree(shown)
    assert ("DisclosureTriangle", "The graph as text") in tree(shown)
    assert picture.text not in heard(shown)
    shown.focus("summary")
    press(shown, "Enter")
    assert picture.text in heard(shown)
    assert picture.text.count("└─") == 4
    assert shown.locator("summary").bounding_box()["height"] <= 22


@pytest.mark.parametrize("name", ["steps", "leaves"])
def test_a_player_is_a_group_of_named_things_and_tells_its_frame_as_text(opened, name):
    film = film_called(name)
    shown = opened(slot(film))
    found = tree(shown)
    assert {("group", "Player"), ("image", film.alt)} <= set(found)
    assert [one for one in found if one[0] in ("image", "button", "slider") and not one[1]] == []
    assert [role for role, _ in found].count("image") == 1
    labels = film.buttons if name != "steps" else ()
    labels = [one for one in labels if one.group in (labels[0].group, "")]  # the others are hidden
    actions = [joined(one.name + one.does + one.words) for one in labels]
    buttons = [joined(words) for role, words in found if role == "button"]
    assert [words for words in buttons if words in actions] == actions
    shown.focus(".player-told summary")
    press(shown, "Enter")
    shown.wait_for_function("document.querySelector('.player-told pre').textContent")
    shown.focus(".player")
    if actions:
        key, way = next(one for one in enumerate(film.states[0].transitions, 1) if one[1].to > 0)
        press(shown, str(key))
        expected = film.states[way.to].text
    else:
        press(shown, "ArrowRight")
        expected = film.scenes[0].text
        for moment in film.moments:
            assert moment.sentence in heard(shown)
    assert expected in heard(shown)


LOOKS = """(names) => names.map((name) => {
    const look = getComputedStyle(document.querySelector(name));
    const what = ["stroke", "strokeWidth", "strokeDasharray", "fill", "borderTopStyle", "borderTopColor", "color"];
    return what.map((one) => look[one]).join(" "); })"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_forced_colours_all_states_differ(opened, scheme):
    shown = opened(slot(film_called("steps")), forced_colors="active", color_scheme=scheme)
    shown.focus(".player")
    press(shown, *["ArrowRight"] * 3)
    photograph(shown, f"accessibility/forced-colours-{scheme}", full_page=True)
    for names in (
        [
            f".player-node{state} > .m-operation"
            for state in (".is-now", ".is-done", ":not([class*=is-])")
        ],
        [f".player-wire.is-{state} .player-capsule rect" for state in ("next", "done", "now")],
        [".player-next", ".player-play"],
        [".player-node .m-saved.s-held", ".player-node .m-saved.s-freed"],
    ):
        assert len(set(shown.evaluate(LOOKS, names))) == len(names), names
    ring = shown.evaluate("getComputedStyle(document.querySelector('.player')).outlineColor")
    assert ring not in shown.evaluate(
        "getComputedStyle(document.querySelector('.player')).backgroundColor"
    )
    press(shown, "g")
    assert len(set(shown.evaluate(LOOKS, [".player-guess", ".player-play"]))) == 2


@pytest.mark.thorough
def test_axe_finds_nothing_grave_at_any_stop_in_any_theme(opened):
    shown = opened(slot(film_of("mlp")), reduced_motion="reduce")
    for stop in go_through(shown):
        if not stop.endswith("guessing"):
            assert grave_in_both_themes(shown, ".player-room") == [], stop
