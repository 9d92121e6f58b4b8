"""The player's data and style in plain Python: complete, small, and text stays text. tests/browser
has the rest.
"""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_film import chain, lab, meant, restless_views, steps, unfolding
from refresh import executed, stored_text
from traitlets import TraitError

from helpers.drawing.diagram import drawing
from helpers.drawing.display_list import Drawing, Mark, geometry
from helpers.drawing.palette import DARK, LIGHT, STYLE, attributes
from helpers.drawing.svg import IN_LAB, Sheet
from helpers.playing import encode as packing
from helpers.playing.encode import payload
from helpers.playing.film import Change, Film, Frame, Unfolding, still
from helpers.playing.player import FILM, SCRIPT, Player, as_json, head, page, player, slot
from helpers.playing.player import STYLE as SHEET
from helpers.playing.stylesheet import PLAIN, stylesheet

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\n\x00\ud800"


def played(data, number):
    """Return what frame `number` shows, read from the data as the script reads it: (class, words,
    hidden) per mark.
    """
    worn = {}
    for _, _, patch, *_ in data["frames"][: number + 1]:
        worn |= zip(patch[::2], patch[1::2], strict=True)
    return [
        mark_played(data, mark, worn.get(at, -1))
        for at, mark in enumerate(data["scenes"][data["frames"][number][1]])
    ]


def mark_played(data, mark, look):
    _, name, _, _, runs = data["marks"][mark]
    worn_name, worn_runs, hidden = data["looks"][look] if look >= 0 else (name, None, 0)
    words = worn_runs if worn_runs is not None else runs
    return data["classes"][worn_name], "".join(words[::2]), bool(hidden)


SCENES = (drawing(chain(1)), drawing(chain(2), {0: "4.0", 1: "8.0"}))


@st.composite
def films(draw):
    """Draw films that go to and fro between two scenes, with any changes."""
    frames, states = [], st.sampled_from(["", "now", "done"])
    for scene in draw(st.lists(st.integers(0, 1), min_size=1, max_size=6)):
        places = draw(st.sets(st.integers(0, len(SCENES[scene].marks) - 1), max_size=5))
        changes = [
            Change(
                at,
                draw(states) if SCENES[scene].marks[at].role in STYLE else "",
                runs,
                draw(st.booleans()),
            )
            for at in places
            for runs in [draw(st.sampled_from([None, (("5.0", ""),), (("6.0", "grad"),)]))]
            if runs is None or SCENES[scene].marks[at].runs
        ]
        frames.append(Frame("a frame", scene, tuple(changes)))
    return Film(SCENES, tuple(frames), "text", "alt")


@settings(deadline=None, max_examples=60)
@given(films())
def test_what_is_played_is_what_was_meant(film):
    data = json.loads(as_json(film))
    for number in range(len(film.frames)):
        assert played(data, number) == meant(film, number)


def unpacked(data):
    """Return the data of views with whole frames, as the script unpacks them."""
    frames, views = data["frames"], data["views"]
    span = len(frames) // len(views)
    for at in range(span, len(frames)):
        row = frames[at] or [[], frames[at - 1][3], []]
        frames[at] = [
            frames[at % span][0],
            at // span,
            *row,
            frames[at % span][5],
            [],
            views[at // span][2],
        ]
    return data


@pytest.mark.parametrize("seed", range(20))
def test_what_is_played_of_views_is_what_was_meant(seed):
    film = restless_views(seed)
    data, span = unpacked(json.loads(as_json(film))), len(film.frames) // 2
    for number, frame in enumerate(film.frames):
        view = data | {"frames": data["frames"][number // span * span :]}
        assert played(view, number % span) == meant(film, number)
        sentence, scene, _, focus, cover, question, moves, text = data["frames"][number]
        assert (data["lines"][sentence], scene, data["owners"][focus]) == (
            frame.sentence,
            frame.scene,
            str(frame.focus or ""),
        )
        assert (cover[::2], data["lines"][question], moves) == (
            list(frame.guess),
            frame.question or (packing.ASK if cover else ""),
            [],
        )
        told = "\n".join(data["lines"][line] for line in data["texts"][text])
        assert told == film.scenes[frame.scene].text


def test_words_travel_once_and_what_does_not_change_costs_nothing():
    film = unfolding()
    data = payload(film)
    assert as_json(film).count("step 2") == 2, "in one frame, and to keep room for it"
    assert data["frames"][6] == 0, "as the frame before it"
    assert data["frames"][4] != 0, "a view begins anew"
    owner = data["owners"].index("node 0")
    assert data["views"][0][3] == {0: [0, 4, 2, 8, 3, 0], owner: [0, 4, 2, 8, 3, 0]}
    assert [view[0] for view in data["views"]] == [0, 0, 4]
    assert [view[1][2:] for view in data["views"]] == [
        (scene.width, scene.height) for scene in film.scenes
    ]


def test_a_view_begins_anew_even_where_it_looks_like_the_one_before():
    film = unfolding()
    changes = (Change(5, "now"),)
    frames = tuple(Frame("one", nr, changes) for nr in (0, 1))
    film = Film(
        film.scenes[2:] * 2, frames, "", "", views=(Unfolding(0, (("", ((0, 1),)),)), Unfolding(0))
    )
    first, (patch, *_) = payload(film)["frames"]
    assert first[2] == patch == [5, patch[1]]


def test_a_film_without_views_says_nothing_of_them():
    data = payload(steps(2))
    assert not {"views", "o", "f"} & {*data, *data["keys"]}
    assert set(data["words"]) == set(packing.WORDS)


def test_views_that_do_not_fit_their_frames_are_refused():
    film = unfolding()
    with pytest.raises(ValueError, match="3 views, 3 scenes and 11 frames"):
        player(replace(film, frames=film.frames[:-1]))
    with pytest.raises(ValueError, match="3 views, 2 scenes"):
        player(replace(film, scenes=film.scenes[:2]))
    for views in ((Unfolding(3),), (Unfolding(0, (("", ((0, 3),)),)),)):
        with pytest.raises(ValueError, match="View 2 leads to view 3, and there are 3"):
            player(replace(film, views=film.views[:2] + views))


def test_the_data_survives_json():
    for film in (steps(3), lab(), unfolding()):
        assert json.loads(as_json(film)) == json.loads(json.dumps(payload(film)))
        assert "\n" not in as_json(film)


def test_frames_travel_once_and_as_patches():
    size = {length: len(as_json(steps(length)).encode()) for length in (100, 400)}
    assert size[100] < 80_000
    assert size[400] < 5 * size[100], "each frame costs what changes, not what there is"
    same = Film(SCENES[:1] * 9, tuple(Frame("a", nr) for nr in range(9)), "", "")
    assert len(payload(same)["marks"]) == len(set(SCENES[0].marks)), (
        "equal marks of several scenes travel once"
    )


def test_a_frame_tells_its_picture_as_text_and_equal_lines_travel_once():
    film = Film(SCENES, (Frame("a"), Frame("b", 1), Frame("c", text="one\ntwo")), "", "")
    data = payload(film)
    told = [
        "\n".join(data["lines"][line] for line in data["texts"][frame[7]])
        for frame in data["frames"]
    ]
    assert told == [SCENES[0].text, SCENES[1].text, "one\ntwo"]
    assert len(data["lines"]) == len(set(data["lines"]))


def test_a_picture_with_a_part_aside_comes_in_two():
    whole = Drawing(90, 40, (), "", "")
    assert payload(Film((whole,), (Frame("a"),), "", ""))["parts"] == [(0, 0, 90, 40)]
    parted = Drawing(90, 40, (), "", "", (30, 20))
    assert payload(Film((parted,), (Frame("a"),), "", ""))["parts"] == [
        (0, 0, 30, 20),
        (30, 0, 60, 40),
    ]


def test_geometry_is_that_of_the_static_picture():
    for mark in SCENES[1].marks:
        tag, *names = packing.SHAPES[mark.shape]
        ours = {name: str(value) for name, value in zip(names, geometry(mark), strict=True)}
        static = ET.fromstring(Sheet().element(mark))
        found = {name: static.get(name) for name in names}
        assert (static.tag, found) == (tag, ours)


def test_what_is_to_be_guessed_is_a_question_mark():
    marks = (
        Mark("text", "label", (1, 1), runs=(("5.0", ""),)),
        Mark("text", "middle", (1, 1), runs=(("2", "grad"),), part="grad"),
    )
    scene = Drawing(9, 9, (*marks, Mark("rect", "capsule", (1, 1, 1, 1, 1)), marks[0]), "", "")
    film = Film(
        (scene,), (Frame("5.0 arrives", changes=(Change(3, "now"),), guess=(0, 1, 2, 3)),), "", ""
    )
    data = payload(film)
    cover, question = data["frames"][0][4:6]
    shown = [
        mark_played(data, data["scenes"][0][at], look)
        for at, look in zip(cover[::2], cover[1::2], strict=True)
    ]
    words = [("m-label", "?", False), ("m-middle", "?", False), ("m-capsule", "", True)]
    assert shown == [*words, ("m-label s-now", "?", False)]
    assert data["lines"][question] == packing.ASK


def test_buttons_are_those_that_the_film_can_use():
    def names(film):
        return [[name for name, *_ in row] for row in payload(film)["rows"]]

    walk = ["first", "previous", "play", "next", "last"]
    assert names(steps(2)) == [[*walk, "guess", "reveal"]]
    assert names(unfolding()) == [[*walk, "unfold", "fold", "guess", "reveal"]]
    assert names(lab()) == [["action 0", "action 1"], ["undo", "reset"]]
    assert names(Film(SCENES, (Frame("one"),), "", "")) == [walk]


def test_hostile_text_stays_text():
    film = steps(1, name=HOSTILE)
    scene = Drawing(
        9, 9, (*film.scenes[0].marks, Mark("text", "note", (1, 1), runs=((HOSTILE, ""),))), "", ""
    )
    film = Film(
        (scene,), (Frame(HOSTILE, question=HOSTILE),), HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),)
    )
    for text in (json.dumps(payload(film), ensure_ascii=False), slot(film), page(film)):
        assert not re.search("[\u202e\x00\ud800]", text)
        text.encode()
    assert "<img" not in page(film)
    assert slot(film).count("</script>") == 1


def test_script_and_style_are_small_and_reach_for_nothing():
    assert len((SCRIPT + SHEET).encode()) < 32_000
    forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|\bimport\b|fetch|XMLHttp"
    assert not re.search(forbidden + r"|WebSocket|sendBeacon|</script", SCRIPT)
    assert not re.search(r"url\(|@import|expression|</style", SHEET)
    assert re.findall(r"\w+://[^\"]*", SCRIPT + SHEET) == ["http://www.w3.org/2000/svg"]


def test_the_script_knows_no_colour_and_no_word():
    assert not re.search(r"#[0-9a-fA-F]{3}|rgb|hsl|\b(fill|stroke|font)\b", SCRIPT)
    data = payload(steps(1))
    words = {words for row in data["rows"] for _, words, _ in row} | set(data["words"].values())
    assert not [word for word in words if f'"{word}"' in SCRIPT]
    shapes = {name for shape in packing.SHAPES.values() for name in shape}
    assert not [
        name for name in shapes - {"path", "text", "width", "height"} if f'"{name}"' in SCRIPT
    ]


def cascaded(key):
    """Return the properties that our CSS gives to a role and state, in words of the palette."""
    role, _, state = key.replace("run ", "run-", 1).partition(" ")
    found = {}
    for selector in filter(None, (f".m-{role}", state and f".m-{role}.s-{state}")):
        for names, body in re.findall(r"^([^@{\n]+)\{(.*)\}$", stylesheet(), re.M):
            if selector in names.split(","):
                found |= dict(one.split(":") for one in body.split(";"))
    return {name: value for name, value in found.items() if value != PLAIN[name]}


@pytest.mark.parametrize("key", [key for key in STYLE if not key.startswith("torchviz")])
def test_the_stylesheet_says_what_the_palette_says(key):
    role, state = (
        (key, "") if key.startswith("run ") else (key.partition(" ")[0], key.partition(" ")[2])
    )
    wanted = attributes(role, state, {name: f"var(--player-{name})" for name in LIGHT})
    assert {name: value.removesuffix("px") for name, value in cascaded(key).items()} == wanted


def brightness(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "faint", "warn", "done", "now"])
@pytest.mark.parametrize("paper", ["ground", "card", "doneground", "nowground"])
def test_words_are_readable_in_both_themes(palette, ink, paper):
    low, high = sorted((brightness(palette[ink]), brightness(palette[paper])))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_role_without_a_look_is_refused():
    scene = Drawing(9, 9, (Mark("rect", "sparkle", (0, 0, 1, 1, 0)),), "", "")
    with pytest.raises(KeyError, match="Nothing is drawn as 'sparkle'"):
        player(Film((scene,), (Frame("one"),), "", ""))


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (Frame("", 2), "is of scene 2, and there are 2"),
        (Frame("", changes=(Change(999),)), "has no mark 999, its scene has"),
        (Frame("", guess=(-1,)), "has no mark -1"),
        (Frame("", changes=(Change(1), Change(1))), "changes mark 1 twice"),
        (Frame("", moves=(("c", 0),)), "moves by 'c', which is no action"),
        (Frame("", moves=(("a", 7),)), "leads to frame 7"),
    ],
)
def test_a_frame_that_refers_to_nothing_is_named(frame, what):
    film = Film(SCENES, (Frame(""), frame), "", "", (("a", "A"),))
    with pytest.raises(ValueError, match="Frame 1 " + re.escape(what)):
        player(film)


def test_what_is_no_film_gets_a_sentence():
    with pytest.raises(TypeError, match="This is a list, and a player plays a Film"):
        player([1, 2])
    with pytest.raises(ValueError, match="no frame"):
        page(Film(SCENES, (), "", ""))
    with pytest.raises(ValueError, match=r"starts at frame 5\. It has 1 frames"):
        slot(Film(SCENES, (Frame(""),), "", "", start=5))


def test_the_text_of_the_widget_is_that_of_the_film():
    shown = player(steps(2))
    bundle, _ = shown._repr_mimebundle_()
    assert repr(shown) == bundle["text/plain"] == "a table of 2 steps"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert not shown.guessing


def test_the_frame_can_be_set_from_python_and_only_to_one_that_is_there():
    shown = Player(lab(), frame=2)
    assert shown.frame == 2
    shown.frame = 3
    with pytest.raises(TraitError, match=r"There is no frame 4\. This film has 4, counted from 0"):
        shown.frame = 4
    assert shown.frame == 3


def test_a_page_forbids_the_network_and_reads_without_a_script():
    film = steps(1)
    assert "default-src 'none'" in page(film)
    assert f"<noscript><pre>{film.text}</pre></noscript>" in page(film)
    assert page(film) == page(steps(1))
    assert "<!doctype" not in head() + slot(film)


CELL = """from helpers.playing.film import Film, Frame
from helpers.drawing.display_list import Drawing
from helpers.playing.player import player
player(Film((Drawing(9, 9, (), "", ""),), (Frame("one"), Frame("two")), "a table", "alt"))"""


@pytest.mark.notebooks
def test_a_notebook_stores_of_a_player_its_film_a_picture_and_its_text(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL) for _ in range(2)])
    first = stored_text(executed(notebook, tmp_path))
    second = stored_text(executed(nbformat.reads(first, as_version=4), tmp_path))
    assert first == second
    stored = nbformat.reads(first, as_version=4)
    assert "widgets" not in stored.metadata
    data = stored.cells[0].outputs[0].data
    assert set(data) == {FILM, "text/html", "text/plain"}
    assert "two" in json.loads(data[FILM])["lines"]
    assert data["text/plain"] == "a table"
    picture = f'<p>one</p>{IN_LAB}<img alt="alt" src="data:image/svg+xml;base64,'
    assert data["text/html"].startswith(picture)
    assert "addEventListener" not in first


def test_the_picture_of_a_player_is_its_first_frame():
    film = steps(3)
    assert still(replace(film, start=2)).marks != still(film).marks
    shown = still(replace(film, start=2)).marks
    changes = {change.mark: change for change in film.frames[2].changes}
    kept = [
        nr for nr in range(len(film.scenes[0].marks)) if not (nr in changes and changes[nr].hidden)
    ]
    assert len(shown) == len(kept) < len(film.scenes[0].marks)
    for mark, nr in zip(shown, kept, strict=True):
        assert mark.state == (
            changes[nr].state if nr in changes else film.scenes[0].marks[nr].state
        )


def test_a_player_is_known_by_the_name_that_saved_ones_carry():
    assert player(steps(1))._anywidget_id == "helpers.player.Player"
