"""The player's data, style and pages in plain Python: complete, small, and text stays text.
tests/browser has the rest.
"""

import json
import re
import zlib
from dataclasses import replace
from functools import partial

import nbformat
import pytest
import torch
from big_models import encoder
from checked_film import check_film
from made_up_film import chain, chain_trace, end, folded, folded_trace, lab, meant, restless, steps
from reading_film import class_of, read
from refresh import executed, stored_text
from torch import nn
from traitlets import TraitError

from autograd_graphs.data import Program, Span
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.display_list import Drawing, Mark
from autograd_graphs.drawing.palette import LIGHT, STYLE, attributes
from autograd_graphs.drawing.svg import IN_LAB
from autograd_graphs.playing import encode_backward, encode_lab
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.film import Button, Change, LabFilm, LabState, Stack, Transition
from autograd_graphs.playing.lab_still import columns, opening, still
from autograd_graphs.playing.player import FILM, SCRIPT, Player, as_json, head, page, slot_of
from autograd_graphs.playing.player import STYLE as SHEET
from autograd_graphs.playing.stylesheet import PLAIN, css_class, stylesheet
from autograd_graphs.recording.trace import Trace
from autograd_graphs.stepping import AGAIN
from helpers import labs as course_labs
from helpers import module_calls, record, show, step_through

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\n\x00\ud800{x}%s"
SCENES = (drawing(chain(1)), drawing(chain(2)))
# bytes, of what a page carries once for all its players: what there is now, and 2 %. It may shrink.
MOST_SCRIPT, MOST_STYLE, MOST_COMPRESSED = 62_900, 21_700, 25_400


STACK = Stack("x.grad", 10, 200, 66, 14, 56)


def small(*states, scenes=SCENES, **more):
    """Return a lab of some states and of no action, if none is given."""
    given = {"code": (), "buttons": (), "text": "", "alt": ""} | more
    return LabFilm(scenes=scenes, states=states, **given)


def test_what_the_last_action_of_the_start_raised_is_said_first():
    made = replace(lab(), start=(0, 1, 0), first=3)
    assert opening(made) == "RuntimeError: both are on. both are on. both are on."
    assert made.refusal == "RuntimeError: both are on\nnothing is left to switch"
    assert made.refusal in read(as_json(made)).data["lines"]
    assert replace(made, start=(0, 1)).refusal == ""
    assert replace(made, start=(0, 1, 0), first=0).refusal == made.refusal


FILMS = {
    **{name: getattr(course_labs, name).film for name in course_labs.__all__},
    **{f"restless {seed}": partial(restless, seed) for seed in range(3)},
}


@pytest.mark.slow
@pytest.mark.parametrize("make", FILMS.values(), ids=FILMS)
def test_a_lab_comes_back_out_of_its_data(make):
    made = make()
    found = read(as_json(made))
    assert Player(made).frame == made.first == end(made, made.start)
    assert [meant(made, number) for number in range(len(made.states))] == found.seen
    for state, ways in zip(made.states, found.ways, strict=True):
        assert [(way.to, way.error) for way in state.transitions] == ways
    shown = [css_class(mark.role, mark.state) for mark in still(made).marks]
    first = [classes for classes, _ in meant(made, made.first)]
    assert shown[: len(first)] == first


def test_blocks_are_what_each_action_added():
    made = course_labs.accumulation.film("two losses")
    assert columns(made, 0) == [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]
    assert columns(course_labs.accumulation.film("zeroed"), 0) == [(0.0,)] * 3


@pytest.mark.slow
@pytest.mark.parametrize("make", [chain_trace, lambda nr: folded_trace(nr + 6)])
@pytest.mark.parametrize("size", [0, 1, 4, 30])
def test_a_film_of_steps_comes_back_out_of_its_data(make, size):
    check_film(make(size))


@pytest.mark.slow
def test_the_film_of_twelve_layers_is_small():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(16, 8), encoder(), nn.Linear(8, 16))
    with module_calls(model) as calls:
        loss = model(torch.arange(10).reshape(2, 5)).square().sum()
    made = film(record(loss, names=calls))
    assert len(made.scenes) > 12
    assert len(as_json(made).encode()) <= 400_000


def hostile_trace():
    x, y = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    return record((x * y).sum(), names={HOSTILE: x, "n" * 300: y})


def test_hostile_text_stays_text():
    marks = (Mark("text", "note", (1, 1), runs=((HOSTILE, ""),)),)
    changes = (Change(0, runs=((HOSTILE, ""),)),)
    state = LabState(
        HOSTILE, HOSTILE, 0, changes, text=HOSTILE, transitions=(Transition(0, HOSTILE),)
    )
    named = small(
        replace(state, totals=((1.0,),)),
        scenes=(Drawing(9, 9, marks, HOSTILE, HOSTILE),),
        code=(HOSTILE,),
        buttons=(Button(HOSTILE, HOSTILE, (1.0,), HOSTILE),),
        text=HOSTILE,
        alt=HOSTILE,
        start=(0,),
        stacks=(replace(STACK, name=HOSTILE),),
        legend=(("saved", "held", HOSTILE),),
    )
    with_names = film(hostile_trace(), HOSTILE)
    odd = replace(with_names, program=(HOSTILE,), remarks=(HOSTILE,), text=HOSTILE)
    for made in (named, with_names, odd, steps(1, name=HOSTILE)):
        for text in (as_json(made), slot_of(as_json(made), made.text), page(made)):
            assert not re.search("[\u202e\x00\ud800]", text)
            text.encode()
        assert "<img" not in page(made)
        assert slot_of(as_json(made), made.text).count("</script>") == 1
        read(as_json(made))


def test_script_and_style_are_small_and_reach_for_nothing():
    assert len(SCRIPT.encode()) <= MOST_SCRIPT
    assert len(SHEET.encode()) <= MOST_STYLE
    assert len(zlib.compress((SCRIPT + SHEET).encode(), 9)) <= MOST_COMPRESSED
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|createContextual|DOMParser|srcdoc"
        r"|\beval\b|Function\(|setTimeout\(\"|\bimport\b|fetch|XMLHttp|WebSocket|EventSource"
        r"|sendBeacon|Worker|postMessage|localStorage|\bopen\(\"|location|cookie|</script"
    )
    assert not re.findall(forbidden, SCRIPT)
    assert not re.search(r"url\(|@import|expression|</style", SHEET)
    assert re.findall(r"\w+://[^\"]*", SCRIPT + SHEET) == ["http://www.w3.org/2000/svg"]


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


@pytest.mark.parametrize("make", [lambda: steps(4), folded, lambda: film(hostile_trace())])
def test_every_mark_of_a_film_has_a_look(make):
    for scene in make().scenes:
        for mark in scene.picture.marks:
            assert class_of(mark.role, mark.state) == css_class(mark.role, mark.state)
            for _, role in mark.runs:
                assert not role or f"run {role}" in STYLE


def test_the_text_of_the_widget_is_that_of_the_film():
    made = steps(2)
    shown = Player(made)
    bundle, _ = shown._repr_mimebundle_()
    assert repr(shown) == bundle["text/plain"] == made.text == str(chain_trace(2))
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle[FILM] == as_json(made)
    assert not shown.guessing


@pytest.mark.parametrize("make", [lambda: steps(3), folded, lab])
def test_the_frame_can_be_set_from_python_and_only_to_one_that_is_there(make):
    made = make()
    count = len(read(as_json(made)).frames)
    shown = Player(made, frame=2)
    assert shown.frame == 2
    shown.frame = count - 1
    for wrong in (count, -1):
        with pytest.raises(TraitError, match=f"There is no frame {wrong}. This film has {count}, "):
            shown.frame = wrong
    assert shown.frame == count - 1


def test_a_page_forbids_the_network_and_reads_without_a_script():
    made = steps(1)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page(made))[1]
    assert policy.split("; ") == [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
    ]
    assert f"<noscript><pre>{made.text}</pre></noscript>" in page(made)
    assert page(made) == page(steps(1))
    assert "<!doctype" not in head() + slot_of(as_json(made), made.text)


def test_saved_pages_are_inert_and_play(tmp_path):
    x = torch.tensor([1.0], requires_grad=True)
    for shown in (hostile_trace(), show(x * 2, names={HOSTILE: x})):
        path = shown.save(tmp_path / "saved.html")
        text = path.read_text(encoding="utf-8")
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
        assert [kind for kind, _ in scripts] == [' type="module"', ' type="application/json"']
        assert scripts[0][1].strip() == f"{SCRIPT}\nplayAll(document);".strip()
        assert read(scripts[1][1]).frames
        rest = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
        tags = {tag.split()[0] for tag in re.findall(r"</?([^>]*)>", rest)}
        assert tags == {"!doctype", "html", "meta", "title", "div", "noscript", "pre"}
        attributes = {
            name for tag in re.findall(r"<[^>]*>", rest) for name in re.findall(r' ([\w-]+)="', tag)
        }
        assert attributes == {"lang", "charset", "http-equiv", "content", "name", "class"}
        assert not re.search("[\u202e\x00\ud800]", text)
        assert len(re.findall("<title>", text)) == 1


def test_a_trace_is_played_without_running_anything():
    a = torch.tensor(2.0, requires_grad=True)
    trace = record(a * 3)
    kept = a.grad.clone()
    shown = step_through(trace, alt="what to see")
    assert torch.equal(a.grad, kept)
    assert shown.film == as_json(film(trace, "what to see"))
    assert read(shown.film).alt == "what to see"
    assert isinstance(trace, Trace)


@pytest.mark.parametrize(
    ("make", "how"),
    [
        (lambda a: (a * a + 1) ** 2, {}),
        (lambda a: (a * a + 1) ** 2, {"retain_graph": True}),
        (lambda a: a + a, {}),  # it saves nothing, so torch would let it run again
        (lambda a: [a * 2, a * 3], {}),
    ],
)
def test_a_cell_that_runs_again_plays_what_it_recorded_and_adds_nothing(make, how):
    a = torch.tensor(2.0, requires_grad=True)
    loss = make(a)
    first = step_through(loss, **how)
    kept = a.grad.clone()
    again = step_through(loss, **how)
    assert torch.equal(a.grad, kept)
    assert again.text == f"{AGAIN}\n{first.text}"
    assert json.loads(again.film)["remarks"] == [AGAIN]
    assert json.loads(again.film)["moments"] == json.loads(first.film)["moments"]


ALIVE = {"retain_graph": True}


@pytest.mark.parametrize(
    ("between", "how"),
    [
        (lambda a, loss: loss.backward(**ALIVE), ALIVE),
        (lambda a, loss: a.data.mul_(2), ALIVE),
        (lambda a, loss: None, {}),
        (lambda a, loss: None, {**ALIVE, "gradient": torch.tensor(3.0)}),
    ],
)
def test_what_is_not_the_backward_that_ran_is_run(between, how):
    a = torch.tensor(2.0, requires_grad=True)
    loss = a * a * 1.5
    step_through(loss, **ALIVE)
    between(a, loss)
    before = a.grad.clone() if a.grad is not None else 0
    assert AGAIN not in step_through(loss, **how).text
    assert not torch.equal(a.grad, torch.as_tensor(before))


@pytest.mark.parametrize(
    ("how", "between"), [(ALIVE, lambda loss: loss.backward()), ({}, lambda loss: loss.mul_(2))]
)
def test_a_graph_that_another_backward_freed_or_an_edit_replaced_is_refused(how, between):
    a = torch.tensor(2.0, requires_grad=True)
    loss = a * a * 1.5
    step_through(loss, **how)
    between(loss)
    with pytest.raises(RuntimeError, match="has already been through"):
        step_through(loss, **how)


def test_a_highlight_is_counted_as_the_script_counts():
    a = torch.tensor(2.0, requires_grad=True)
    trace = record(a * 3)
    line = "🦊 = '\u202e\t'; y = a * 3"
    span = Span(0, line.index("a * 3"), len(line), line.index("*"), line.index("*") + 1)
    made = film(replace(trace, program=Program((line,), ((0, span),))))
    found = read(as_json(made))
    (seen,) = found.program
    _, start, stop, left, right = found.moments[1]["mark"]
    in_script = seen.encode("utf-16-le")
    assert in_script[2 * start : 2 * stop].decode("utf-16-le") == "a * 3"
    assert in_script[2 * left : 2 * right].decode("utf-16-le") == "*"
    assert seen.isprintable()


CELL = """from autograd_graphs.playing.film import Button, LabFilm, LabState, Transition
from autograd_graphs.drawing.display_list import Drawing
from autograd_graphs.playing.player import Player
states = LabState("one", "It is on.", transitions=(Transition(1),)), LabState("two", "", transitions=(Transition(-1),), reached_by=(0, 0))
Player(LabFilm((), (Button("go()", ""),), (Drawing(9, 9, (), "", ""),), states, "a table", "alt"))"""


@pytest.mark.notebooks
def test_a_notebook_stores_of_a_player_its_film_a_picture_and_its_text(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    first = stored_text(executed(notebook, tmp_path / "film.ipynb"))
    stored = nbformat.reads(first, as_version=4)
    assert "widgets" not in stored.metadata
    data = stored.cells[0].outputs[0].data
    assert set(data) == {FILM, "text/html", "text/plain"}
    assert "two" in json.loads(data[FILM])["lines"]
    assert data["text/plain"] == "a table"
    picture = f'<p>one. It is on.</p>{IN_LAB}<img alt="alt" src="data:image/svg+xml;base64,'
    assert data["text/html"].startswith(picture)
    assert "addEventListener" not in first


def test_a_film_of_an_earlier_version_is_told_and_not_played():
    backward, of_lab = encode_backward.VERSION, encode_lab.VERSION
    assert f"film.version !== (film.moments ? {backward} : {of_lab})" in SCRIPT
    assert "Run its cell again" in SCRIPT
