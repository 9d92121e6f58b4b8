"""`show(loss, color="grad")`: each card is filled by the norm of what arrived, says it in words, and
marks what is wrong with it; torch is the judge of the norms.
"""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import big_models
import pytest
import torch
from hypothesis import given, settings
from programs import programs
from test_palette import contrast
from torch import nn

from autograd_graphs.drawing.cards import MOST_USES
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.palette import DARK, HEAT, HEAT_DARK, LEVELS, LIGHT, attributes
from autograd_graphs.large.fold import fold, fold_and_tell
from autograd_graphs.recording import gradient_health
from autograd_graphs.tinting import Tinting
from helpers import module_calls, record, show

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def number(value, **more):
    return torch.tensor(value, requires_grad=True, **more)


def mlp():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    )
    return model, model(torch.randn(4, 8)).pow(2).mean()


def chain(length, factor):
    h = t = number([1.0, 2.0])
    for _ in range(length):
        t = t * factor
    return h, t.sum()


def words(picture):
    return ["".join(text.itertext()) for text in ET.fromstring(picture.svg).iter(f"{SVG}text")]


def marks_by_node(trace, unfold=()):
    """Return the marks of each card as it is drawn, by its number."""
    graph, members = fold_and_tell(trace.after, unfold)
    drawn = drawing(graph, tints=Tinting(trace).tints(members))
    found = {}
    for mark in drawn.marks:
        if mark.owner is not None and mark.owner.kind == "node":
            found.setdefault(mark.owner.number, []).append(mark)
    return found


def said(marks):
    return [text for mark in marks for text, _ in mark.runs]


@given(programs())
@settings(deadline=None, max_examples=60)
def test_colouring_is_silent_and_each_tinted_card_has_a_word(program):
    loss = program.run()[-1].sum()
    if not loss.requires_grad:
        return
    try:
        trace = record(loss)
    except RuntimeError:
        return
    before = repr(trace)
    state = torch.get_rng_state()
    picture = show(loss, color="grad")
    assert repr(trace) == before
    assert torch.equal(torch.get_rng_state(), state)
    assert picture.svg == show(trace, color="grad").svg
    ran = {step.node for step in trace.steps}
    for node, marks in marks_by_node(trace, True).items():
        bodies = [mark for mark in marks if mark.part == "body"]
        told = [
            word for word in said(marks) if re.match(r"norm |first |NaN|inf|zero|nothing", word)
        ]
        assert bool(told) == (node in ran)
        assert all(mark.state.startswith("tint") == (node in ran) for mark in bodies)


def log_of_zero():
    p, q = number([1.0, 0.0]), torch.tensor([1.0, 0.0])
    logs = torch.log(p)
    return (logs * q).sum()


def root_of_zero():
    v = number([1.0, 0.0])
    return torch.sqrt(v).sum()


@pytest.mark.parametrize(
    ("loss", "kind", "operation"),
    [(log_of_zero, "NaN", "LogBackward0 (logs)"), (root_of_zero, "inf", "SqrtBackward0")],
)
def test_the_first_nan_or_inf_is_marked_where_it_is_made(loss, kind, operation):
    loss = loss()
    trace = record(loss)
    nr = gradient_health.first(trace).step
    first = trace.graph.nodes[trace.steps[nr].node]
    assert operation.startswith(first.operation)
    picture = show(trace, color="grad")
    if kind == "inf":
        assert f"The first {kind} arises at {operation}." in picture.alt
        assert f"The first {kind} arises at {operation}." in words(picture)
    else:
        assert re.search(r"The first NaN arises at LogBackward0", picture.alt)
    assert words(picture).count(f"first {kind}") == 1
    assert words(picture).count(kind) == 1, "the leaf, where it arrives"
    assert sum(f"first {kind} here" in line for line in picture.text.splitlines()) == 1
    assert sum(f"grad {kind}" in line for line in picture.text.splitlines()) == 1
    marks = marks_by_node(trace)[trace.steps[nr].node]
    assert {"badge", "badgesign", "badgeword"} <= {mark.role for mark in marks}
    assert next(mark for mark in marks if mark.part == "body").state.endswith("first")
    assert any(word.startswith("norm ") for word in said(marks)), "finite is what arrived there"


def test_a_leaf_that_is_drawn_once_per_use_has_its_badge_at_each():
    x = torch.tensor(4.0, requires_grad=True)
    y = x
    for _ in range(MOST_USES + 1):
        y = y * x
    y = y.exp()
    record(y)
    picture = show(y, color="grad").svg
    badges = picture.count(">inf<")
    assert picture.count(f"same leaf, {MOST_USES + 2} uses") == MOST_USES + 2
    assert badges > MOST_USES + 2, "and of the operations"


def test_a_hook_that_makes_an_inf_is_told():
    x = number([1.0, 2.0])
    y = x.sin()
    y.register_hook(lambda grad: grad * math.inf)
    trace = record(y.sum())
    assert gradient_health.first(trace) == gradient_health.First(1, "inf", "arrived")
    (told,) = [word for word in words(show(trace, color="grad")) if "a hook or a sum" in word]
    assert told.startswith("The first inf arrives at SinBackward0")


def test_a_grad_that_overflows_when_it_is_summed_up_is_the_first():
    x = number([1.0])
    x.grad = torch.full((1,), 3e38)
    trace = record((x * 3e38).sum())
    assert trace.graph.nodes[trace.steps[gradient_health.first(trace).step].node].is_leaf
    again = number([1.0])
    again.grad = torch.full((1,), math.nan)
    assert gradient_health.first(record(again * 2)) is None, (
        "an old NaN in .grad is none of this backward"
    )


def test_dead_gradients_are_zero_in_words_and_by_a_dashed_rim():
    w = number([-1.0, -2.0])
    loss = (w * 2).relu().sum()
    trace = record(loss)
    picture = show(loss, color="grad")
    assert words(picture).count("zero") == 2
    assert "Zero at 2 nodes." in picture.alt
    assert sum("grad zero" in line for line in picture.text.splitlines()) == 2
    for marks in marks_by_node(trace).values():
        body = next(mark for mark in marks if mark.part == "body")
        is_zero = "zero" in said(marks)
        assert is_zero == (body.state == "tint0zero")
        assert is_zero == ("stroke-dasharray" in attributes(body.role, body.state))


def test_gradients_that_explode_are_told_with_the_rule():
    _, loss = chain(9, 10)
    trace = record(loss)
    norms = [gradient_health.norm_at(step) for step in trace.steps]
    middle = sorted(norms)[(len(norms) - 1) // 2]
    assert gradient_health.exploding(trace) == {
        nr for nr, norm in enumerate(norms) if norm > 1_000 * middle
    }
    assert len(gradient_health.exploding(trace)) == 2
    picture = show(loss, color="grad")
    assert words(picture).count("exploding") == 2
    rule = "norm over 1,000 times the median and over 10 times that at the start"
    assert f"Exploding at 2 nodes: {rule}." in words(picture)
    assert picture.text.count(", exploding") == 2


def test_finite_half_precision_gradients_never_explode_in_a_norm_of_ours():
    for kind in (torch.float16, torch.bfloat16):
        weight = torch.ones(300, 300, dtype=kind, requires_grad=True)
        loss = ((weight * 2).float() * 300).sum()
        trace = record(loss)
        assert gradient_health.norm_at(trace.steps[-1]) == pytest.approx(300 * 600, rel=1e-3)
        assert "Exploding" not in show(loss, color="grad").text


def transformer():
    torch.manual_seed(0)
    model = big_models.encoder()
    with module_calls(model) as calls:
        out = model(torch.randn(2, 3, 8))
    loss = (out * torch.randn(2, 3, 8)).mean()
    return loss, calls


def test_a_folded_part_has_the_range_of_what_is_in_it():
    loss, calls = transformer()
    trace = record(loss, names=calls)
    norms = {step.node: gradient_health.norm_at(step) for step in trace.steps}
    graph, members = fold_and_tell(trace.after)
    assert graph == fold(trace.after)
    assert sorted(node for nodes in members for node in nodes) == list(
        range(len(trace.graph.nodes))
    )
    tints = Tinting(trace).tints(members)
    boxes = [nr for nr, node in enumerate(graph.nodes) if node.folded]
    assert boxes
    for box in boxes:
        inside = sorted(norms[node] for node in members[box])
        assert len(inside) > 1
        low, high = re.fullmatch(r"norm (\S+) to (\S+)", tints.nodes[box].words).groups()
        assert float(low) == pytest.approx(inside[0], rel=1e-3)
        assert float(high) == pytest.approx(inside[-1], rel=1e-3)
        assert tints.nodes[box].level == tints.scale.level(inside[-1])


def test_a_backward_that_stopped_is_shown_as_far_as_it_went():
    x = number([1.0, 0.0])
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        loss = (torch.log(x) * torch.tensor([1.0, 0.0])).sum()
        with pytest.raises(RuntimeError), pytest.warns(UserWarning, match="LogBackward0"):
            record(loss)
    picture = show(loss, color="grad")
    assert any(word.startswith("backward() stopped: ") for word in words(picture))
    with pytest.raises(RuntimeError, match="freed"):
        record(loss)
    assert show(loss, color="grad").svg == picture.svg, "what stopped replaces nothing"


NOT_RECORDED = re.escape(
    "No backward of this loss was recorded. Call record(loss) or step_through(loss) first, or give "
    "its trace: show(trace, color='grad')."
)


def test_without_a_recorded_backward_it_says_what_to_do():
    loss = number(2.0) * 3
    with pytest.raises(ValueError, match=NOT_RECORDED):
        show(loss, color="grad")
    loss.backward()
    with pytest.raises(ValueError, match=NOT_RECORDED):
        show(loss, color="grad")
    with pytest.raises(TypeError, match="Pass the loss that was recorded"):
        show(color="grad")
    with pytest.raises(TypeError, match="Pass a tensor"):
        show("loss", color="grad")


@pytest.mark.parametrize(
    ("color", "given"),
    [
        ("size", "'size'"),
        (True, "bool"),
        ("\x1b[31m" * 99, "…'"),
    ],
)
def test_another_color_is_named_with_the_choices(color, given):
    with pytest.raises(ValueError, match=re.escape(f"{given}. Pass color='grad'")) as raised:
        show(number(2.0) * 3, color=color)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 250


# looks


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("level", range(LEVELS + 1))
@pytest.mark.parametrize("kind", ["operation", "leaf"])
def test_words_are_read_on_every_tint(theme, level, kind):
    ground = attributes(kind, f"tint{level}", theme)["fill"]
    for role, state in (
        ("row", "tint"),
        ("row", "freedtint"),
        ("start", ""),
        ("word", ""),
        ("run", "tint"),
    ):
        assert contrast(attributes(role, state, theme)["fill"], ground) >= 4.5
    assert contrast(attributes("run", "tintsmall", theme)["fill"], ground) >= 4.5
    for sign in ("held", "modified", "edited"):
        assert contrast(attributes("saved", sign, theme)["stroke"], ground) >= 3
    assert contrast(attributes("bar", "tint", theme)["fill"], ground) >= 3
    for kind_of_badge in ("first", "bad", "zero"):
        under = attributes("badge", kind_of_badge, theme)["fill"]
        assert contrast(attributes("badgeword", kind_of_badge, theme)["fill"], under) >= 4.5
        sign = attributes("badgesign", kind_of_badge, theme)
        drawn = sign["stroke"] if sign["fill"] == "none" else sign["fill"]
        assert contrast(drawn, under) >= 3
    rim = attributes(kind, f"tint{level}bad", theme)["stroke"]
    assert contrast(rim, theme["ground"]) >= 3
    assert contrast(rim, ground) >= 3


@pytest.mark.parametrize(("scale", "is_dark"), [(HEAT, False), (HEAT_DARK, True)])
def test_a_stronger_step_stands_out_more_from_the_ground(scale, is_dark):
    ground = (DARK if is_dark else LIGHT)["ground"]
    found = [contrast(one, ground) for one in scale]
    assert found == sorted(found)
    assert all(later / before > 1.08 for before, later in pairwise(found))


def test_rims_differ_by_more_than_colour():
    looks = [attributes("operation", f"tint3{rim}") for rim in ("", "first", "bad", "zero")]
    shapes = {(look.get("stroke-width"), look.get("stroke-dasharray")) for look in looks}
    assert len(shapes) == 4


def test_words_stay_in_their_card():
    for trace in (record(log_of_zero()), record(chain(9, 10)[1]), record(mlp()[1])):
        for marks in marks_by_node(trace).values():
            left, top, wide, high, _ = next(mark for mark in marks if mark.part == "body").at
            for mark in marks:
                if mark.part == "health" and mark.shape == "rect":
                    x, y, w, h, _ = mark.at
                    assert left <= x
                    assert x + w <= left + wide
                    assert top <= y
                    assert y + h <= top + high
            boxes = [mark.at for mark in marks if mark.shape == "rect" and mark.part != "body"]
            for (x, y, w, h, _), (after, below, *_) in pairwise(boxes):
                assert y + h <= below or x + w <= after  # else the later box hides the earlier
