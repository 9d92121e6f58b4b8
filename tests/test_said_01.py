"""What the text of lesson 01 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import json
import warnings

import numpy as np
import pytest
import torch
from functorch.compile import default_partition, nop
from said import NOTEBOOKS, said
from torch._dynamo.backends.common import aot_autograd
from torch.autograd import Variable

from helpers import attempt, show
from helpers.exercises import exercise as registry
from helpers.exercises.verdict import judge

MUL = torch.ops.aten.mul.Tensor


def leaf(*values):
    return torch.tensor(values or [1.0, 2.0, 3.0], requires_grad=True)


def node_names(tensor):
    """Return the type names of the nodes behind `tensor`; a node that is reached twice counts once."""
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [below for below, _ in node.next_functions]
    return sorted(type(node).__name__ for node in found)


def under_no_grad(x):
    with torch.no_grad():
        return x * 2


NOT_RECORDED = {
    "typed in": lambda x: x,
    "no input asks": lambda x: torch.ones(3) * 2,
    "detached": lambda x: x.detach(),
    "compared": lambda x: x > 0,
    "no_grad": under_no_grad,
    "Variable": lambda x: Variable(x * 2),
}


@pytest.mark.parametrize("make", NOT_RECORDED.values(), ids=list(NOT_RECORDED))
def test_what_was_not_recorded_has_no_grad_fn(make):
    because = said("01", "v2t-12")
    assert "**A `grad_fn` is written by an operation that was recorded.**" in because
    assert "none of its inputs asked for a gradient, so nothing was recorded" in because
    assert "only what a *recorded* operation returned, or whose memory it wrote into" in said(
        "01", "v2t-50"
    )
    assert make(leaf()).grad_fn is None


def test_a_recorded_operation_gives_a_grad_fn_to_what_it_returned_or_wrote_into():
    x, written = leaf(), torch.zeros(3)
    written[:1] = x.sum()
    assert type((x + x).grad_fn).__name__ == "AddBackward0"
    assert type(written.grad_fn).__name__ == "CopySlices"
    base = torch.ones(3)
    view = base[:1]
    base.mul_(x)  # a write into base, whose memory the view shares
    assert view.grad_fn is not None


def test_not_every_node_has_a_name_with_a_number():
    text = said("01", "v2t-12")
    assert "today's say `AddBackward0`" in text
    assert "end in a number" not in text
    assert node_names(leaf() + leaf()) == ["AccumulateGrad", "AccumulateGrad", "AddBackward0"]


def test_the_sum_by_index_holds_two_additions_and_three_selections():
    assert "Two additions and three selections stand where `sum` stood" in said("01", "v2t-16")
    z = leaf() + leaf(4.0, 5.0, 6.0)
    of_sum, of_indices = node_names(z.sum()), node_names(z[0] + z[1] + z[2])
    of_sum.remove("SumBackward0")
    assert of_indices == sorted(of_sum + 2 * ["AddBackward0"] + 3 * ["SelectBackward0"])
    assert "and so is the gradient" in said("01", "v2t-16")
    (one,), (other,) = (torch.autograd.grad(s, z) for s in (z.sum(), z[0] + z[1] + z[2]))
    assert torch.equal(one, other)


@pytest.mark.parametrize("cut", [Variable, torch.no_grad()(lambda z: z.view(-1))])
@pytest.mark.parametrize("other", [torch.ones(3), leaf()], ids=["alone", "another part"])
def test_the_first_result_without_a_grad_fn_lost_the_graph(cut, other):
    assert "the first result without a `grad_fn` lost the graph." in said("01", "v2t-20")
    weight = leaf()
    z = weight * 2
    b = cut(z)
    loss = (b * other).sum()
    assert next(tensor for tensor in (z, b, loss) if tensor.grad_fn is None) is b
    if loss.requires_grad:
        loss.backward()
    assert weight.grad is None


def test_an_error_comes_of_a_wrapped_part_only_if_no_other_part_has_a_graph():
    assert (
        "Here you got an error. If another part of the loss still has a graph, you get none: a"
        " gradient is simply missing." in said("01", "v2t-20")
    )
    w, v = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="does not require grad"):
        Variable(w * 2).sum().backward()
    (Variable(w * 2) * v).sum().backward()
    assert (w.grad, v.grad.tolist()) == (None, [4.0])


def cell(id):
    """Return the source of a cell of the lesson as it stands."""
    (path,) = NOTEBOOKS.glob("01*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == id)


@pytest.mark.parametrize(("id", "name"), [("v2t-19", "x.grad"), ("q6-run", "w"), ("v2t-36", "w")])
def test_a_cell_that_changes_tensors_gives_the_same_when_it_is_run_again(id, name):
    names = {"torch": torch, "Variable": Variable, "attempt": attempt}
    exec(cell("v2t-10") + "\nw = torch.tensor([3.0, 4.0], requires_grad=True)", names)
    exec(cell(id), names)
    first = eval(name, names).tolist()
    exec(cell(id), names)
    assert eval(name, names).tolist() == first


def double(x):
    return (x * 2).sum()


@pytest.mark.slow
def test_aot_eager_leaves_one_node_and_the_same_gradient():
    text = said("01", "v2t-41")
    assert "**`aot_eager` leaves one node for each part that it captured: here one for the" in text
    assert "recorded a single step, `CompiledFunctionBackward`. The gradients are the same." in text
    x, again = leaf(), leaf()
    loss = torch.compile(double, backend="aot_eager")(x)
    assert node_names(loss) == ["AccumulateGrad", "CompiledFunctionBackward"]
    assert node_names(double(again)) == ["AccumulateGrad", "MulBackward0", "SumBackward0"]
    loss.backward()
    double(again).backward()
    assert torch.equal(x.grad, again.grad)


def double_if_positive(x):
    """Choose by a value, which ends one part of what torch.compile captures and begins another."""
    doubled = x * 2
    if doubled.sum() > 0:
        doubled = doubled * 2
    return doubled.sum()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch looks between the two parts
def test_aot_eager_leaves_a_node_for_each_part_that_it_captured():
    assert "| one node for each part that it captured |" in said("01", "v2t-50")
    loss = torch.compile(double_if_positive, backend="aot_eager")(leaf())
    assert node_names(loss).count("CompiledFunctionBackward") == 2


@pytest.mark.slow
def test_the_first_call_captures_forward_and_backward_and_the_next_one_uses_them_again():
    captured_when = (
        "In the first call `torch.compile` captured the operations, forward and backward"
    )
    assert captured_when in said("01", "v2t-41")
    captured = []

    def divide(joint, *args, **more):
        """See the operations that were captured, forward and backward in one, before they are parted."""
        captured.append(len(joint.graph.find_nodes(op="call_function", target=MUL)))
        return default_partition(joint, *args, **more)

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=nop, bw_compiler=nop, partition_fn=divide)
    fast = torch.compile(double, backend=backend)
    assert captured == []
    fast(leaf())
    assert captured == [
        2
    ]  # times 2 on the way there, times 2 on the way back; nobody went back yet
    fast(leaf()).backward()
    assert captured == [2]


def gradient(w, *factors):
    """Return w.grad of the product of these functions of w."""
    w = torch.tensor(w, requires_grad=True)
    first, second = (factor(w) for factor in factors)
    (first * second).backward()
    return w.grad.item()


def itself(w):
    return w


def test_01_1_the_two_paths_give_two_numbers():
    assert "y = w**2 z = Variable(y) * w" in said("01", "v2t-43")
    assert gradient(5.0, lambda w: Variable(w**2), itself) == 25
    assert gradient(5.0, lambda w: w**2, torch.Tensor.detach) == 50
    assert gradient(5.0, lambda w: w**2, itself) == 75


def test_01_1_the_messages_are_true():
    exercise = registry.find("01.1")
    assert "`Variable(y)` does not hand out `y` itself" in judge(exercise, 75).text
    y = leaf(5.0) ** 2
    assert Variable(y) is not y
    assert "the way through `y` alone, with the other `w` held fixed" in judge(exercise, 50).text
    assert gradient(5.0, lambda w: w**2, lambda w: 5.0) == 50


@pytest.mark.parametrize("answer", [25, "25", torch.tensor(25.0), np.float64(25), 5 * 5])
def test_01_1_the_right_answer_in_many_forms(answer):
    assert judge(registry.find("01.1"), answer).kind == "right"


WRONG = {
    "uncut": (75, "both factors"),
    "as text": ("75", "both factors"),
    "wrong path": (50, "way through `y` alone"),
    "all cut": (0, "more than torch did"),
    "None": (None, "`backward()` did not reach `w`"),
    "value of z": (125, "the value of `z`"),
    "gradient of y": (10, "the gradient of `y`"),
    "an error": ("error", "Nothing raises"),
}


@pytest.mark.parametrize(("answer", "fragment"), WRONG.values(), ids=list(WRONG))
def test_01_1_a_wrong_idea_is_named(answer, fragment):
    verdict = judge(registry.find("01.1"), answer)
    assert verdict.kind == "known"
    assert fragment in verdict.text


@pytest.mark.parametrize(
    "answer", [2, 3, 5, "RuntimeError", "raises", True, 36, float("nan"), "ImportError"]
)
def test_01_1_another_answer_is_refused_without_a_guess_at_its_idea(answer):
    assert judge(registry.find("01.1"), answer).kind == "unknown"


def test_01_1_the_hint_draws_one_edge_from_z_to_w():
    assert "Which edge leads from `z` to `w`?" in registry.find("01.1").hints[0]
    w = torch.tensor(5.0, requires_grad=True)
    z = Variable(w**2) * w
    (below,) = [node for node, _ in z.grad_fn.next_functions if node is not None]
    assert below.variable is w


RESULTS = {
    "a": lambda x, z: z.data * 3,
    "b": lambda x, z: z * z.data,
    "c": lambda x, z: Variable(z) + z[0],
    "d": lambda x, z: Variable(z, requires_grad=True) * 3,
    "e": lambda x, z: Variable(x.data) + z,
    "f": lambda x, z: z.detach() * Variable(x),
}


def outcome(name):
    """Return whether backward() from a result of 01.4 raised, and whether it left a gradient in x."""
    x = leaf()
    result = RESULTS[name](x, x * 2)
    try:
        result.sum().backward()
    except RuntimeError:
        return "raises", x.grad is not None
    return "runs", x.grad is not None


def test_01_4_what_runs_and_what_reaches_x():
    statement = said("01", "v2t-46")
    for code in ("z.data * 3", "z * z.data", "Variable(z) + z[0]", "Variable(x.data) + z"):
        assert f"| `{code}` |" in statement
    assert "(Where the call raises, `x.grad` stays `None`.)" in statement
    assert [name for name in RESULTS if outcome(name) == ("raises", False)] == ["a", "f"]
    assert [name for name in RESULTS if outcome(name) == ("runs", True)] == ["b", "c", "e"]
    assert outcome("d") == ("runs", False)
    assert list(registry.find("01.4").truth()) == ["b", "c", "e"]


def test_01_4_the_hint_tells_them_by_the_leaf_in_the_picture():
    assert "Is the leaf `x` in the picture?" in registry.find("01.4").hints[0]
    x = leaf()
    z = x * 2
    drawn = {}
    for name, make in RESULTS.items():
        result = make(x, z)
        drawn[name] = show(result).text
    assert [name for name, text in drawn.items() if "leaf x " in text] == ["b", "c", "e"]


LOOP = """
def answer(w, x, y):
    losses = []
    for step in range(3):
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        losses.append({report})
    return losses
"""


def told(report):
    space = {"torch": torch}
    exec(LOOP.format(report=report), space)
    return judge(registry.find("01.3"), space["answer"]).text


@pytest.mark.parametrize("report", ["loss.data[0]", "loss[0]"])
def test_01_3_the_index_from_2017_is_named(report):
    assert "You kept an index from 2017. Today this loss has no dimension to index" in told(report)


def test_01_3_an_index_into_an_empty_list_is_not_taken_for_it():
    assert "2017" not in told("losses[7]")


def message(id, words):
    """Return the one message or principle of an exercise that holds these words."""
    exercise = registry.find(id)
    texts = [exercise.principle, *(idea.message for idea in exercise.misconceptions)]
    (text,) = [text for text in texts if words in text]
    return text


def test_01_1_the_other_wrong_numbers_are_what_they_are_called():
    assert "the value of `z`" in message("01.1", "the value of")
    assert "the gradient of `y` with respect to `w`" in message("01.1", "which has two factors")
    assert gradient(5.0, lambda w: w**2, lambda w: 1.0) == 10
    assert 5.0**2 * 5.0 == 125


def test_01_1_what_has_no_way_back_counts_as_a_constant():
    assert "what has no way back counts as a constant" in message("01.1", "constant")
    assert gradient(5.0, lambda w: Variable(w**2), itself) == gradient(5.0, lambda w: 25.0, itself)


def test_01_3_a_new_tensor_has_no_gradient_of_its_own_and_under_no_grad_asks_for_none():
    assert "gives the name `w` to a new tensor, which has no gradient of its own" in message(
        "01.3", "None stood"
    )
    assert "such as `w - …` gives under `no_grad`" in message("01.3", "had no graph")
    w = leaf()
    w.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert (w - 0.1 * w.grad).grad is None
    with torch.no_grad():
        new = w - 0.1 * w.grad
    assert (new.grad, new.requires_grad) == (None, False)


def test_01_3_an_update_through_data_or_numpy_is_not_noticed():
    assert "torch did not notice the update: it went through" in message("01.3", "went through")
    assert "torch did not notice the update: it went past" in message("01.3", "went past")
    w = leaf()
    w.data.add_(1)
    w.detach().numpy()[:] = 7
    assert (w.tolist(), w._version) == ([7.0, 7.0, 7.0], 0)
    with torch.no_grad():
        w += 1
    assert w._version == 1


def test_01_3_variable_hands_out_a_plain_tensor_without_history():
    assert "It hands out a plain tensor without history" in message("01.3", "still called")
    handed_out = Variable(leaf() * 2)
    assert type(handed_out) is torch.Tensor
    assert handed_out.grad_fn is None


def update(w):
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None


def loop(wrap=itself, loss_of=torch.Tensor.item, step=update):
    def answer(w, x, y):
        x, losses = wrap(x), []
        for _ in range(3):
            loss = ((w * x - y) ** 2).mean()
            loss.backward()
            step(w)
            losses.append(loss_of(loss))
        return losses

    return answer


def fused(w):
    torch.optim.SGD([w], lr=0.1, fused=True).step()
    w.grad.zero_()


TODAY = {
    "as it stands": loop(),
    "float": loop(loss_of=float),
    "detach": loop(wrap=torch.Tensor.detach, loss_of=lambda loss: loss.detach().numpy().tolist()),
    "torch.tensor": loop(wrap=lambda x: torch.tensor(x.tolist())),
    "Parameter": loop(wrap=lambda x: torch.nn.Parameter(x, requires_grad=False)),
    "torch's own .data": loop(wrap=lambda x: x.to(torch.nn.Linear(1, 1).double().float().weight)),
    "fused": loop(step=fused),
}
OLD = {
    ".data": loop(loss_of=lambda loss: loss.data.item()),
    "getattr": loop(loss_of=lambda loss: getattr(loss, "da" + "ta").item()),
    "descriptor": loop(loss_of=lambda loss: torch.Tensor.data.__get__(loss).item()),
    "set": loop(step=lambda w: (update(w), setattr(w, "data", w.detach()))),
    "Variable": loop(wrap=Variable),
    "keyword": loop(wrap=lambda x: Variable(x, requires_grad=False)),
    "map": loop(wrap=lambda x: next(map(torch.autograd.Variable, [x]))),
}


@pytest.mark.parametrize("answer", TODAY.values(), ids=list(TODAY))
def test_01_3_code_without_the_old_names_is_never_said_to_use_them(answer):
    assert judge(registry.find("01.3"), answer).kind == "right"


@pytest.mark.parametrize("name", OLD)
def test_01_3_the_old_names_are_found_in_any_spelling(name):
    verdict = judge(registry.find("01.3"), OLD[name])
    wrapped = name in ("Variable", "keyword", "map")
    assert verdict.kind == "known"
    assert ("`Variable` was still called" if wrapped else "there is a `.data` left") in verdict.text


EVERY_TENSOR = {
    "plain": torch.ones(2),
    "integers": torch.tensor([1, 2]),
    "bools": torch.tensor([True]),
    "leaf": leaf(),
    "computed": leaf() * 2,
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "sparse": torch.eye(2).to_sparse(),
    "meta": torch.ones(2, device="meta"),
}


@pytest.mark.parametrize("tensor", EVERY_TENSOR.values(), ids=list(EVERY_TENSOR))
def test_every_tensor_counts_as_a_variable_and_variable_returns_a_new_plain_tensor(tensor):
    text = said("01", "v2t-07")
    assert "calling it returns a plain tensor" in text
    assert (
        "it hands out a new tensor on the same memory, and `isinstance` says yes to every" in text
    )
    assert isinstance(tensor, Variable)
    made = Variable(tensor)
    assert type(made) is torch.Tensor
    assert made is not tensor
    assert (made.requires_grad, made.grad_fn) == (False, None)
    if not tensor.is_sparse:
        assert made.data_ptr() == tensor.data_ptr()


def test_what_is_no_tensor_is_no_variable():
    assert "`isinstance` only asks whether it is a tensor" in said("01", "v2t-07")
    assert not any(isinstance(other, Variable) for other in (1.0, [1.0], np.ones(1), None))


def test_sum_over_a_dimension_has_another_number():
    assert "another variant, another number" in said("01", "v2t-13")
    z = leaf() * 2
    names = [type(s.grad_fn).__name__ for s in (z.sum(), z.sum(dim=0))]
    assert names == ["SumBackward0", "SumBackward1"]


def test_an_edit_of_data_is_an_edit_of_the_weight_which_keeps_its_flag():
    text = said("01", "v2t-24")
    assert "in the same memory" in text
    assert "an edit of `w.data` is an edit of `w`, and the flag of `w` stays" in text
    assert "in the same memory, but autograd takes note of torch's edits" in text
    w = leaf()
    assert w.data_ptr() == w.data.data_ptr() == w.detach().data_ptr()
    assert (w.data.grad_fn, w.data.requires_grad) == (None, False)
    w.data += 1
    assert (w.tolist(), w.requires_grad, w._version) == ([2.0, 3.0, 4.0], True, 0)
    d = w.detach()
    d += 1
    assert (w.tolist(), w.requires_grad, w._version) == ([3.0, 4.0, 5.0], True, 1)
    d.numpy()[:] = 7  # an edit that is not torch's
    assert (w.tolist(), w._version) == ([7.0, 7.0, 7.0], 1)


def test_an_edit_shows_the_shared_memory_only_where_nothing_is_assigned_to_data():
    """`w.data -= …` also sets `w.data`, and would change `w` if `.data` were a copy."""

    class Copied(torch.Tensor):
        @property
        def data(self):
            return torch.Tensor.data.__get__(self).clone()

        @data.setter
        def data(self, value):
            torch.Tensor.data.__set__(self, value)

    w = leaf().detach().as_subclass(Copied)
    w.data -= 1
    assert w.tolist() == [0.0, 1.0, 2.0]
    d = w.data
    d -= 1
    assert w.tolist() == [0.0, 1.0, 2.0]
    assert "d = w.data d -= 0.5 * w.grad" in said("01", "v2t-23")
    assert "that would change `w` even if `.data` were a copy" in said("01", "q5-notes")


def test_lesson_09_shows_the_silent_wrong_gradient_that_lesson_01_speaks_of():
    sent = "Lesson 09 shows why: after an edit through `.data`, a gradient can be wrong without an error."
    assert sent in said("01", "v2t-24")
    x = leaf()
    loss = (x**2).sum()
    x.data += 1
    loss.backward()
    assert x.grad.tolist() == [4.0, 6.0, 8.0]  # at 1, 2, 3 it is 2, 4, 6


def test_an_update_is_refused_while_recording_and_runs_under_no_grad():
    text = said("01", "q6-because")
    assert "While PyTorch records, it refuses `-=` on a *leaf*" in text
    assert "and `w` keeps its flag" in text
    w = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w -= 1
    with torch.no_grad():
        w -= 1
    assert (w.tolist(), w.requires_grad, w.is_leaf) == ([0.0, 1.0, 2.0], True, True)


def test_volatile_warns_and_does_nothing_and_an_unknown_keyword_raises():
    text = said("01", "v2t-33")
    assert "This one is still known, and by itself it only warns." in text
    worded = r"invalid keyword|unexpected keyword"  # up to Python 3.12, and from 3.13 on
    with pytest.raises(TypeError, match=worded):
        Variable(leaf(), mutable=True)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        t = Variable(leaf(), volatile=True)
    assert (leaf() * t).requires_grad
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="can't be volatile"),
    ):
        Variable(
            leaf(), volatile=True, requires_grad=True
        )  # so it does more than warn, not by itself
    assert "`python -W error`" in said("01", "q7-notes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="volatile"):
            Variable(leaf(), volatile=True)


@pytest.mark.parametrize("tensor", [torch.tensor([3.0, 4.0]), leaf() * 2], ids=["data", "computed"])
def test_a_wrapped_weight_and_its_translation_leave_the_flag_of_the_caller_alone(tensor):
    assert "the flag was put on `w`" in said("01", "lab-because")
    flag, history = tensor.requires_grad, tensor.grad_fn
    for w in (Variable(tensor, requires_grad=True), tensor.detach().requires_grad_()):
        assert (w.is_leaf, w.requires_grad, w.data_ptr()) == (True, True, tensor.data_ptr())
        assert (tensor.requires_grad, tensor.grad_fn) == (flag, history)


def test_requires_grad_alone_flags_the_caller_and_makes_no_leaf_of_a_computed_tensor():
    assert "`start.requires_grad_()` would put it on `start`" in said("01", "lab-because")
    text = said("01", "lab-notes")
    assert (
        "on what a recorded operation returned, which has the flag already, it does nothing" in text
    )
    start, computed = torch.ones(2), leaf() * 2
    assert start.requires_grad_() is start
    assert start.requires_grad
    assert (computed.requires_grad_() is computed, computed.is_leaf) == (True, False)


def unused_weight(empty):
    """Return a weight of 1 that two steps with weight decay find with no new gradient."""
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.2, weight_decay=0.5)
    w.grad = torch.ones(1)
    empty(w)
    for _ in range(2):
        optimizer.step()
    return round(w.item(), 4)


def test_a_gradient_of_none_is_not_a_gradient_of_zeros():
    assert "has `w.grad = None` for `w.grad.zero_()`; lesson 06 shows what differs" in said(
        "01", "v2t-35"
    )
    assert unused_weight(lambda w: w.grad.zero_()) == 0.81
    assert unused_weight(lambda w: setattr(w, "grad", None)) == 1.0


def test_the_timeline_has_torchscript_and_stands_after_the_question_that_it_would_answer():
    assert "TorchScript from 2018, torch.compile from 2023" in said("01", "v2t-03")
    figure = (NOTEBOOKS.parent / "figs/timeline.svg").read_text(encoding="utf-8")
    assert "TorchScript: from PyTorch 1.0, December 2018; deprecated today" in figure
    assert "TensorFlow 2: line by line by default; Keras fit() captures" in figure
    worded = r"deprecated|not supported in Python 3.14"  # up to Python 3.13, and from 3.14 on
    with pytest.warns(DeprecationWarning, match=worded):
        captured = torch.jit.trace(lambda x: x * 2, torch.ones(1))
    assert captured(torch.tensor([3.0])).item() == 6.0
    (path,) = NOTEBOOKS.glob("01*.ipynb")
    ids = [cell["id"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert ids.index("v2t-03") > ids.index("v2t-07")


def test_sizes_in_the_brackets_of_an_old_tensor_and_values_in_a_list():
    assert "The numbers in `torch.Tensor(2, 2)` are sizes: two by two." in said("01", "v2t-35")
    assert torch.Tensor(2, 2).shape == (2, 2)
    assert torch.Tensor([2, 2]).tolist() == [2.0, 2.0]


def test_a_computed_tensor_needs_a_grad_fn_for_backward_and_a_leaf_does_not():
    assert "a tensor that was computed needs a `grad_fn` for that" in said("01", "v2t-41")
    x = leaf(2.0)
    x.sum().backward()
    alone = torch.tensor(2.0, requires_grad=True)
    alone.backward()
    assert (alone.grad_fn, alone.grad.item()) == (None, 1.0)
    with pytest.raises(RuntimeError, match="does not have a grad_fn"):
        (x * 2).detach().sum().backward()


def test_in_2017_a_result_was_wrapped_by_way_of_its_data():
    """Version 0.3 refused a Variable in a Variable; `data` is a tensor then and now."""
    assert "| `Variable(z.data)` of a result | `z.detach()` |" in said("01", "v2t-35")
    z = leaf() * 2
    for cut in (Variable(z.data), z.detach()):
        assert (cut.grad_fn, cut.data_ptr()) == (None, z.data_ptr())
