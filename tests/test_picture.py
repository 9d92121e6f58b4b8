"""`show`: what is drawn, in which forms, and that nothing in it can run, overlap or differ from run
to run.
"""

import base64
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html import unescape

import pytest
import torch
from hypothesis import given, settings
from programs import programs

from autograd_graphs.drawing.diagram import drawing, make_cards
from autograd_graphs.drawing.for_player import Reserve, player_picture
from autograd_graphs.drawing.hover import WORDS
from autograd_graphs.drawing.palette import DARK, LIGHT
from autograd_graphs.drawing.svg import HOVER, IN_LAB
from autograd_graphs.playing.stylesheet import css_class
from helpers import record, show

SVG = "{http://www.w3.org/2000/svg}"


def example():
    a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = t * c
    return u + v, show(u + v, names={"a": a, "b": b})


def words(picture):
    return ["".join(text.itertext()) for text in ET.fromstring(picture.svg).iter(f"{SVG}text")]


def test_a_picture_shows_cards_tags_leaves_saved_tensors_and_a_legend():
    seen = words(example()[1])
    assert set(seen) >= {"AddBackward0", "u", "a = 2.0", ".grad", "None", "self = a", "saved"}
    assert "freed" not in seen
    assert "backward function" in seen


def test_the_mime_bundle_is_a_named_inert_image_and_the_tree():
    _, picture = example()
    bundle, _ = picture._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    alt, data, tree = re.fullmatch(
        r'<div class="parts"><img alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">'
        r"(?:<i [^<]+</i>)+</div><details><summary>The graph as text</summary><pre>([^<]+)</pre></details>",
        bundle["text/html"].removeprefix(HOVER).replace(IN_LAB, ""),
    ).groups()
    assert base64.b64decode(data).decode() == picture.svg
    assert unescape(tree) == picture.text
    assert bundle["text/plain"] == picture.text == repr(picture) == str(picture.graph)
    assert alt == "Backward graph of this tensor: 4 operations, 4 leaves. Leaves: a, b, c, d."


def test_a_mouse_is_told_what_is_under_it():
    _, picture = example()
    found = re.findall(
        r'<i title="([^"]+)" style="left:([\d.]+)%', picture._repr_mimebundle_()[0]["text/html"]
    )
    said = [unescape(words) for words, _ in found]
    assert said.count(WORDS["operation"]) == 4
    assert said.count(WORDS["leaf"]) == said.count(WORDS["slot"]) == 4
    assert said.count(WORDS["held"]) == len(re.findall(r"●", picture.text))
    assert all(0 <= float(left) < 100 for _, left in found)
    tinted = show(record(example()[0]), color="grad").places
    assert tinted.count(WORDS["freed"]) == said.count(WORDS["held"])


def test_saving_goes_by_the_ending(tmp_path):
    _, picture = example()
    assert picture.save(tmp_path / "e.svg").read_text(encoding="utf-8") == picture.svg
    assert picture.save(str(tmp_path / "e.dot")).read_text(encoding="utf-8") == picture.dot
    assert picture.save(tmp_path / "e.txt").read_text(encoding="utf-8") == picture.text + "\n"
    assert picture.save(tmp_path / "E.SVG").read_text(encoding="utf-8") == picture.svg
    player = picture.explore()
    assert player.save(tmp_path / "e.HTML").read_text(encoding="utf-8") == player.page
    with pytest.raises(ValueError, match=r"as 'e\.svg'\. Use the ending \.html"):
        player.save(tmp_path / "e.svg")
    with pytest.raises(ValueError, match=r"Use an ending from \.svg, \.txt, \.dot"):
        picture.save(tmp_path / "e.png")


def test_a_saved_tensor_that_was_edited_says_so_and_a_freed_one_is_struck_out():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    with torch.no_grad():
        y.add_(1)
    assert "result = y (saved at v0, now v1)" in words(show(y * 2))
    w = x.sin().sum()
    w.backward()
    assert "text-decoration:line-through" in show(w).svg


def overlaps(one, other):
    (x, y, w, h), (u, v, p, q) = one, other
    return x < u + p - 1 and u < x + w - 1 and y < v + q - 1 and v < y + h - 1


@pytest.mark.slow
@given(programs())
@settings(deadline=None, max_examples=60)
def test_cards_never_overlap_and_all_stays_inside_with_and_without_capsules(program):
    graph = show(program.run()[-1]).graph
    played = player_picture(
        graph, Reserve(dict.fromkeys(range(len(graph.edges)), (60, 24)), {}, {})
    )
    for line in played.lines:
        if line.capsule:
            x, y, wide, high = line.capsule
            assert min(x, y) >= 0
            assert x + wide <= played.width
            assert y + high <= played.height
    stay_apart(drawing(graph), len(make_cards(graph).cards))
    stay_apart(played, sum(card.kind != "none" for card in make_cards(graph).cards))


def stay_apart(drawn, count):
    """Check that so many cards at least are drawn, inside, and none over another."""
    cards = [
        m.at[:4]
        for m in drawn.marks
        if m.shape == "rect" and m.role in ("operation", "leaf", "none")
    ]
    assert len(cards) >= count
    for nr, one in enumerate(cards[:count]):
        assert one[0] >= 0
        assert one[0] + one[2] <= drawn.width
        assert one[1] + one[3] <= drawn.height
        assert not any(overlaps(one, other) for other in cards[:nr])


def test_what_is_too_much_to_draw_is_cut_with_a_sentence():
    x = torch.ones(1, requires_grad=True)
    for _ in range(1_000):
        x = x.sin()
    picture = show(x, unfold=True)
    assert (
        words(picture)[1]
        == "Cut here: the 399 nodes nearest to the root are shown; 1 input leads further."
    )
    assert "… 1 more" in words(picture)


def bars(drawn, of):
    return [mark for mark in drawn.marks if mark.role == "bar" and mark.owner == of]


def test_two_devices_are_told_by_words_bars_and_the_legend():
    near, far = (
        torch.tensor([2.0, 3.0], requires_grad=True),
        torch.ones(2, device="meta", requires_grad=True),
    )
    loss = (near.to("meta") * far).sum()
    picture = show(loss)
    seen, drawn = words(picture), drawing(picture.graph)
    for word in ("near = [2.0, 3.0]  on cpu", "far  (2,) on meta", "→ (2,) on meta"):
        assert word in seen
    assert seen.count("meta → cpu") == 1, "one edge crosses"
    assert seen[-2:] == ["on cpu", "on meta"], "a line of the legend each"
    for number, node in enumerate(picture.graph.nodes):
        assert len(bars(drawn, ("node", number))) == 1 + (node.outputs[0].device == "meta")
    ways = [mark.state for mark in drawn.marks if mark.role == "edge"]
    assert sorted(ways) == ["on1", "on2", "on2", "on2"]
    assert "Leaves: far on meta, near on cpu." in drawn.alt
    assert all(css_class(mark.role, mark.state) for mark in drawn.marks), "a player can show it"


def rules(sheet):
    """Return {class: {property: value}} of a style sheet."""
    found = {}
    for names, body in re.findall(r"([.\w,]+)\{([^{}]*)\}", sheet):
        for name in names.split(","):
            found.setdefault(name, {}).update(one.split(":") for one in body.split(";"))
    return found


def test_every_mark_has_a_look_in_the_light_and_every_colour_one_in_the_dark():
    _, picture = example()
    root = ET.fromstring(picture.svg)
    sheet = root.find(f"{SVG}style").text
    light, dark = map(rules, sheet.split("@media(prefers-color-scheme:dark)"))
    light.pop("text")
    worn = {f".{one.get('class')}" for one in root.iter() if one.get("class")}
    assert worn == set(light)
    for name, look in light.items():
        seen = {what for what, value in look.items() if value.startswith("#")}
        assert set(dark.get(name, {})) == seen
    first = next(root.iter(f"{SVG}rect"))
    assert (first.get("width"), first.get("height")) == (root.get("width"), root.get("height"))
    assert light[f".{first.get('class')}"]["fill"] == LIGHT["ground"], "a ground of its own"
    assert dark[f".{first.get('class')}"]["fill"] == DARK["ground"]


def test_a_slot_is_dashed_until_it_holds_a_gradient():
    result, before = example()
    result.backward()
    for picture, state in ((before, "none"), (show(result), "full")):
        slots = [mark for mark in drawing(picture.graph).marks if mark.role == "slot"]
        assert [mark.state for mark in slots] == [state] * 4
        assert {mark.part for mark in slots} == {"grad"}


PROGRAM = """
import torch
from helpers import beside_torchviz, show
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([[1.0, 2.0]], requires_grad=True)
y = (w * x.exp()).log().sum() + x[0] * 3
shown = show(y).svg + show(y).text + show(y).dot + beside_torchviz(y).svg
"""


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(capsys):
    run = subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}print(shown, end='')"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    space = {}
    exec(PROGRAM, space)
    assert space["shown"].encode() == run.stdout
    assert not re.search(rb"0x[0-9a-f]{6}", run.stdout)
    svg = run.stdout[: run.stdout.index(b"</svg>")].decode()
    assert not re.search(r' (?:x|y|cx|cy|width|height|d|points)="[^"]*\d\.\d', svg)  # whole pixels


@pytest.mark.parametrize(("count", "is_dense"), [(3, False), (8, True)])
def test_the_slots_of_several_retained_results_stand_in_their_card(count, is_dense):
    x = torch.ones(count, 2, requires_grad=True)
    parts = x.sin().unbind()
    for part in parts:
        part.retain_grad()
    loss = sum(part.sum() for part in parts)
    if is_dense:
        loss = loss.sin().cos().sin().cos().sin().cos()
    for part in parts:
        part.grad = torch.tensor([1.25, -2.25])
    parts[0].grad = None
    named = {f"part{nr}": part for nr, part in enumerate(parts)}
    drawn = drawing(show(loss, names=named).graph)
    owner = next(mark.owner for mark in drawn.marks if mark.part == "grad" and mark.state == "full")
    marks = [mark for mark in drawn.marks if mark.shape == "rect" and mark.owner == owner]
    ((x, y, wide, high, _),) = [mark.at for mark in marks if mark.part == "body"]
    slots = [mark.at[:4] for mark in marks if mark.part == "grad"]
    assert len(slots) == count, "the node that made them all"
    for nr, (left, top, w, h) in enumerate(slots):
        assert x <= left < left + w <= x + wide
        assert y <= top < top + h <= y + high
        assert not any(overlaps(slots[nr], other) for other in slots[:nr])
