"""What lesson 05 says in its prose and its exercises, run in plain torch."""

import pytest
import torch
from said import said, source
from torch.autograd.functional import jacobian

from helpers.clinic.catalogue import book
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question

PULLED_BACK, STARTS, DIVISION, ROWS, _, CASE = registry.exercises("05")


def distances(points, centre):
    return ((points - centre) ** 2).sum(1).sqrt()


def test_one_step_with_the_gradient_of_the_case_loses_the_centre():
    assert "Take one step with this gradient, and the centre is NaN for ever." in said(
        "05", "case-then"
    )
    assert "there is no NaN in the data, and none of these lines divides by zero" in said(
        "05", "case-then"
    )
    points, _ = moons(40)
    centre = points[0].clone().requires_grad_()
    assert points.isfinite().all()
    distances(points, centre).mean().backward()
    with torch.no_grad():
        centre -= 0.1 * centre.grad
    assert centre.isnan().all()
    assert distances(points, centre).isnan().all()
    one = points[0].clone().requires_grad_()
    distances(points[1:], one).mean().backward()
    assert one.grad.isfinite().all(), "the point that is the centre, and no other, brings the NaN"


def implicit(shape, dtype):
    """Return what `backward()` without a gradient does at an output of this shape and dtype."""
    output = 2 * torch.ones(shape, dtype=dtype, requires_grad=True)
    try:
        output.backward()
    except RuntimeError as error:
        return "real scalar" if "real scalar outputs" in str(error) else "scalar"
    return "runs"


def test_torch_puts_in_a_1_for_one_real_element_of_any_shape():
    assert "if the output is a single real number, torch starts with a 1 on its own" in (
        said("05", "cell-26")
    )
    assert "needs a `v` of its shape. A loss needs nothing." in said("05", "cell-51")
    reals = (torch.float16, torch.float32, torch.float64)
    assert {implicit(shape, dtype) for shape in ((), (1,), (1, 1)) for dtype in reals} == {"runs"}
    assert {implicit(shape, torch.complex64) for shape in ((), (1,), (1, 1))} == {"real scalar"}
    assert {implicit(shape, torch.float32) for shape in ((2,), (1, 2), (0,))} == {"scalar"}


def test_the_texts_of_05_2_say_so_too():
    texts = [STARTS.right, *STARTS.hints, *(idea.message for idea in STARTS.misconceptions)]
    assert not [
        text for text in texts if "a single number only" in text or "only where one number" in text
    ]
    assert sum("one real element" in text for text in texts) == 2
    assert "one real element needs nothing handed in" in STARTS.right


def three(x):
    """Three numbers of two."""
    return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])


def test_a_second_backward_needs_the_saved_tensors_once_more():
    assert "Backward frees what was saved. Pass `retain_graph=True` (lesson 07)" in said(
        "05", "cell-49"
    )
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = three(x)
    torch.autograd.grad(y, x, torch.eye(3)[0])
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x, torch.eye(3)[1])


def test_grad_leaves_the_grad_of_leaves_alone():
    assert "returns the gradient of `y` by `x`, and leaves `x.grad` alone" in said("05", "e1")
    x, other = (torch.ones(2, requires_grad=True) for _ in range(2))
    x.grad = torch.tensor([7.0, 7.0])
    torch.autograd.grad((x * other).sum(), (x, other))
    assert x.grad.tolist() == [7, 7]
    assert other.grad is None


OPERATIONS = {
    "square": lambda x: x**2,
    "sine": torch.sin,
    "running sums": lambda x: x.cumsum(0),
    "softmax": lambda x: x.softmax(0),
    "turned round": lambda x: x.flip(0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_node_of_an_operation_returns_v_times_j(name):
    assert "**A node multiplies what arrives by its slope, and hands the product on.**" in said(
        "05", "q1-because"
    )
    v, x = torch.tensor([1.0, 10.0, -3.0]), torch.tensor([2.0, 3.0, 0.5], requires_grad=True)
    returned = OPERATIONS[name](x).grad_fn(v)
    assert torch.allclose(returned, v @ jacobian(OPERATIONS[name], x))


def test_in_a_matrix_product_each_output_depends_on_many_inputs():
    assert "here every element has its own slope. In a matrix product each output depends on" in (
        said("05", "q1-because")
    )
    assert "by its slope, or by its Jacobian, and hands the product on" in said("05", "cell-51")
    x, W = torch.tensor([2.0, 3.0, 0.5]), torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    square, product = jacobian(lambda x: x**2, x), jacobian(lambda x: W @ x, x)
    assert torch.equal(square, torch.diag(2 * x))
    assert (product != 0).sum(dim=1).tolist() == [3, 3]


def gradient(function, at):
    x = torch.tensor(at, requires_grad=True)
    function(x).sum().backward()
    return x.grad


def test_v_is_handed_in_after_the_wrong_one_was_refused():
    assert "`x.grad` is 1 · row 0 of `W` + 10 · row 1." in said("05", "rows-then")
    names = {"torch": torch}
    exec("\n".join(source("05", "cell-24").splitlines()[:-1]), names)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        exec(source("05", "cell-24").splitlines()[-1], names)
    exec(source("05", "cell-25"), names)
    assert names["x"].grad.tolist() == [1, 30, 2]
    x = torch.ones(3, requires_grad=True)
    (names["W"] @ x).backward(gradient=torch.tensor([0.0, 1.0]))
    assert torch.equal(x.grad, names["W"][1]), "as the note says"


def test_sine_and_square_use_the_one_tensor_that_each_saved():
    assert "Each node uses only what arrives and what it has saved." in said("05", "cell-13")
    assert "sin(2) is 0.9093, cos(2) is −0.4161" in said("05", "cell-09")
    x = torch.tensor(2.0, requires_grad=True)
    s = torch.sin(x)
    y = s**2
    assert [round(one.item(), 4) for one in (s, torch.cos(x))] == [0.9093, -0.4161]
    for node, kept in ((y.grad_fn, s), (s.grad_fn, x)):
        names = [name for name in dir(node) if name.startswith("_saved_")]
        tensors = [one for name in names if torch.is_tensor(one := getattr(node, name))]
        assert len(tensors) == 1
        assert torch.equal(tensors[0], kept)
    y.backward()
    assert "the slope of sin(x)**2 is sin(2 * x)" in said("05", "cell-10")
    assert x.grad.item() == pytest.approx(torch.sin(2 * x).item()) == pytest.approx(-0.756802)


def test_the_slope_vanishes_where_the_sine_or_the_cosine_does():
    assert "Where the sine or the cosine is." in said("05", "cell-14")
    at = torch.linspace(-7, 7, 10_001, dtype=torch.float64, requires_grad=True)
    (slopes,) = torch.autograd.grad((torch.sin(at) ** 2).sum(), at)
    nearest = torch.minimum(torch.sin(at).abs(), torch.cos(at).abs())
    assert ((slopes.abs() < 1e-3) == (nearest < 5e-4)).all()


def test_what_a_node_called_by_hand_returns_is_recorded_if_it_uses_x():
    assert "What the node returns is recorded if its calculation uses `x`." in said(
        "05", "q1-notes"
    )
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    returned = (x**2).grad_fn(torch.zeros(2))
    assert returned.tolist() == [0, 0], "linear in what arrives"
    assert returned.grad_fn is not None
    total, *_ = (x + 1).grad_fn(torch.ones(2))
    assert total.grad_fn is None, "it hands on what arrives, and x plays no part"


def turns_of_the_leaf(build):
    """Return x.grad, and how often it is the turn of the node of the leaf x = 3."""
    x, turns = torch.tensor(3.0, requires_grad=True), []
    y = build(x)
    torch.autograd.graph.get_gradient_edge(x).node.register_hook(lambda *_: turns.append(1))
    y.backward()
    return x.grad.item(), len(turns)


def test_where_paths_meet_gradients_are_added_and_a_node_has_one_turn():
    assert "**Where paths meet, gradients are added.**" in said("05", "d1-because")
    assert "three paths lead from the loss to `x`" in said("05", "d1-because")
    assert turns_of_the_leaf(lambda x: x**2 + x**2 * x) == (33, 1)
    assert 1 * 6 + 1 * 3 * 6 + 1 * 9 == 33, "the three paths: by p, by q and p, by q"
    assert "162 is 1 · 6 · 3 · 9" in said("05", "q4-notes")
    assert 1 * 6 * 3 * 9 == 162


def test_a_node_waits_only_for_paths_from_where_backward_is_called():
    assert "a node waits only for paths that begin where you call `backward()`" in said(
        "05", "d1-because"
    )
    x = torch.tensor(3.0, requires_grad=True)
    p = x**2
    q = p * x
    p.backward(retain_graph=True)
    assert x.grad == 6, "q was not waited for"
    assert q.grad_fn is not None


def slope_at_0(function):
    x = torch.zeros(2, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


def test_abs_and_norm_hand_on_0_where_they_are_0_and_others_do_not():
    assert "`abs` hands on 0 at 0" in said("05", "f1-because")
    assert "since vector_norm hands on 0 where the distance is 0" in CASE.solution
    assert slope_at_0(torch.abs) == slope_at_0(torch.linalg.vector_norm) == [0, 0]
    assert "(`log` at 0, and `x**0.5` at 0.)" in said("05", "f1-notes")
    for function in (torch.sqrt, torch.log, lambda x: x**0.5):
        assert slope_at_0(function) == [float("inf")] * 2


def test_a_root_is_made_safe_before_it_and_not_after():
    told = question("05.f1").told
    lines = question("05.f1").shown["lines"]
    assert "nan" in outcome("\n".join(lines)).words
    assert "nan" not in outcome("\n".join(lines).replace(lines[1], told["mend"]["2"])).words
    for line in ("half * (x > 0)", "half.masked_fill(x <= 0, 0.0)"):
        assert "nan" in outcome("\n".join(lines).replace(lines[4], f"safe = {line}")).words


def test_the_lab_of_the_root_says_what_comes():
    because = said("05", "lab-because")
    for words in (
        "1. inf and 0.125.",
        "2. nan and 1.",
        "3. 500,000 and 0.125, and then 0 and 1 reach `x`",
    ):
        assert words in because
    for small, handed_on, arrived in (
        (0.0, [float("inf"), 0.125], None),
        (1e-12, [500_000, 0.125], [0, 1]),
    ):
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        squares, seen = x**2 + small, []
        squares.register_hook(lambda gradient, seen=seen: seen.append(gradient.tolist()))
        squares.sqrt().sum().backward()
        assert seen[0] == pytest.approx(handed_on)
        assert x.grad.tolist() == arrived if arrived else x.grad.isnan().tolist() == [True, False]
    assert "the root itself is a millionth, not 0" in because
    assert torch.tensor(1e-12).sqrt().item() == pytest.approx(1e-6)


def test_infinity_minus_infinity_where_two_paths_meet_is_nan():
    text = said("05", "lab-because")
    assert "**Here, a NaN is born where an infinity meets a 0, in either order.**" in text
    assert "infinity minus infinity, where two paths meet, gives a NaN too" in text
    x = torch.tensor(0.0, requires_grad=True)
    one, two = x.sqrt(), x.sqrt()
    arrived = torch.autograd.grad(one, x, retain_graph=True) + torch.autograd.grad(
        -two, x, retain_graph=True
    )
    assert [one.item() for one in arrived] == [float("inf"), float("-inf")]
    (one - two).backward()
    assert x.grad.isnan()


def test_the_first_round_of_a_loop_is_reached_last():
    assert "(From the first round: backward reaches it last.)" in said("05", "q4-notes")
    w, h, turns = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0), []
    for number in range(3):
        h = w * h
        h.grad_fn.register_hook(lambda *_, number=number: turns.append(number))
    h.backward()
    assert turns == [2, 1, 0]


def test_in_the_case_all_points_share_one_centre_and_in_the_lab_one_number_is_lost():
    assert "(Yes, here. In the case all points share one centre.)" in said("05", "cell-20")
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    (x**2).sqrt().sum().backward()
    assert x.grad.isnan().tolist() == [True, False]
    names = {"torch": torch, "step_through": lambda loss: loss.backward()}
    exec(source("05", "lab-try"), names)
    assert names["x"].grad.tolist() == [0, 1]


def test_the_place_of_the_case_has_the_smallest_average_distance():
    assert "the place with the smallest average distance to forty points" in said("05", "case")
    assert len(moons(40)[0]) == 40


def test_ones_are_for_the_sum_and_halves_for_the_mean():
    assert "Ones are right for a sum, halves for a mean of two." in said("05", "cell-27")
    for reduce, v in ((torch.sum, [1.0, 1.0]), (torch.mean, [0.5, 0.5])):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (wanted,) = torch.autograd.grad(reduce(x**2), x)
        assert torch.equal(torch.autograd.grad(x**2, x, torch.tensor(v))[0], wanted)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 2), (2, 1), (2, 2)], ids=str)
def test_v_is_neither_cut_nor_stretched(shape):
    assert "torch cuts nothing here. The shapes have to agree." in said("05", "cell-26")
    y = torch.ones(2, 3) @ torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        y.backward(torch.ones(shape))
    y.backward(torch.ones_like(y))


def test_an_element_that_is_taken_first_and_used_counts():
    assert "if you compute `y` from `first`, it works" in said("05", "cell-36")
    assert "With `allow_unused=True` you get None here" in said("05", "cell-37")
    x = torch.ones(3, requires_grad=True)
    first = x[0]
    assert torch.autograd.grad(first**2, first) == (2,)
    (unused,) = torch.autograd.grad((x**2).sum(), x[0], allow_unused=True)
    assert unused is None
    assert "It shares memory with `x`, and it is a new tensor all the same." in said(
        "05", "cell-37"
    )
    assert x[0].data_ptr() == x.data_ptr()
    assert "then take its first element" in question("05.e1").told["points"][2]
    assert torch.autograd.grad((x**2).sum(), x)[0][0] == 2


def test_the_engine_of_05_3_is_caught_by_a_quotient():
    assert "One of the two is wrong: move `b` a little, and you see it." in said("05", "cell-47")
    a, b, h = 3.0, 2.0, 1e-6
    for_b = (a / (b + h) - a / b) / h
    assert abs(1 / a - for_b) > 1
    assert -a / b**2 == pytest.approx(for_b, rel=1e-5)
    assert 1 / b == pytest.approx(((a + h) / b - a / b) / h, rel=1e-5)


def entry(name):
    return next(term.says for term in book().terms if term.name == name)


def test_the_glossary_says_what_lesson_05_shows():
    assert "Along a path you multiply the slopes. Where paths meet, you add" in entry("chain rule")
    x = torch.tensor(3.0, requires_grad=True)
    torch.sin(x**2).backward()
    assert x.grad.item() == pytest.approx((torch.cos(x**2) * 2 * x).item())
    assert turns_of_the_leaf(lambda x: x**2 + x**3)[0] == 6 + 27
    assert "adds to the `.grad` of each leaf" in entry("`backward()`")
    (2 * x).backward()
    assert x.grad.item() == pytest.approx((torch.cos(x**2) * 2 * x).item() + 2)


def test_a_node_of_an_operation_needs_no_room_for_the_table_of_derivatives():
    assert "This is what a node computes" in entry("vector-Jacobian product")
    assert "The node never writes that matrix down" in entry("vector-Jacobian product")
    x = torch.ones(1_000_000, requires_grad=True)  # the table of these would take 4 terabytes
    for made in (x**2, x.cumsum(0), torch.sin(x), x.softmax(0)):
        assert made.grad_fn(torch.ones_like(x)).shape == x.shape


def test_the_right_option_of_the_first_round_says_what_comes():
    returned = gradient(lambda x: x**2, [2.0, 3.0]) * torch.tensor([1, 10])
    assert question("05.q1").right == "c"
    assert "- (c) `[4., 60.]`" in said("05", "cell-03")
    assert returned.tolist() == [4, 60]


def test_the_principles_of_05_say_what_nodes_and_walks_return():
    assert "a node multiplies what arrives by its slope" in PULLED_BACK.principle
    assert "what arrives, times the slope in that input" in DIVISION.principle
    assert "a backward that begins with `v` brings `v` times the Jacobian" in (ROWS.principle)
    v, a, b = torch.tensor([1.0, -3.0]), torch.tensor([6.0, 5.0]), torch.tensor([2.0, -4.0])
    a.requires_grad_()
    square = (a**2).grad_fn(v)
    assert torch.allclose(square, v * 2 * a)
    step = 1e-3
    for_a, for_b = DIVISION.truth()(v, a, b)
    assert torch.allclose(for_a, v * ((a + step) / b - (a - step) / b) / (2 * step), rtol=1e-2)
    assert torch.allclose(for_b, v * (a / (b + step) - a / (b - step)) / (2 * step), rtol=1e-2)
    for case in ROWS.reader.cases:
        f, x = case()
        y = f(x)
        v = torch.arange(1.0, len(y) + 1)
        rows = torch.autograd.functional.jacobian(f, x)
        assert torch.allclose(torch.autograd.grad(y, x, v)[0], v @ rows)


def test_the_truth_of_05_4_is_the_jacobian_of_torch():
    for case in ROWS.reader.cases:
        f, x = case()
        rows = torch.autograd.functional.jacobian(f, x)
        assert torch.equal(ROWS.truth()(f, x), rows)


def test_a_point_on_the_centre_of_05_5_pulls_in_no_direction():
    assert "Such a point pulls in no direction, so its part is 0." in said("05", "x5")
    for case in CASE.reader.cases:
        points, centre = case()
        (mine,) = torch.autograd.grad(CASE.truth()(points, centre), centre)
        away = [(centre - one).detach() for one in points if not torch.equal(one, centre)]
        assert torch.allclose(mine, sum(one / one.norm() for one in away) / len(points))


def test_the_example_of_a_check_of_gradients():
    said_of_it = said("05", "x6")
    assert "gradient_agrees(lambda x: (x**2).sum(), torch.ones(3)) # True" in said_of_it
    agrees = run(registry.find("05.6").solution)
    assert agrees(lambda x: (x**2).sum(), torch.ones(3)) is True
    assert agrees(lambda x: (x * x.detach()).sum(), torch.ones(3)) is False
    assert "In float32, rounding spoils the measured slope" in said_of_it
    x, h = torch.tensor(9.0), 1e-7
    assert ((x + h) ** 2 - (x - h) ** 2) / (2 * h) == 0  # and the slope is 18
