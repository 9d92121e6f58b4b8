"""What the text of lesson 01 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import numpy as np
import pytest
import torch
from said import said
from torch.autograd import Variable

from helpers.exercises import exercise as registry
from helpers.exercises.verdict import judge


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
    assert "The product `plain` was not: no input asked for a gradient." in said("01", "v2t-12")
    assert "only what a *recorded* operation returned or wrote into" in said("01", "v2t-50")
    assert make(leaf()).grad_fn is None


def test_a_recorded_operation_gives_a_grad_fn_to_what_it_returned_or_wrote_into():
    x, written = leaf(), torch.zeros(3)
    written[:1] = x.sum()
    assert type((x + x).grad_fn).__name__ == "AddBackward0"
    assert type(written.grad_fn).__name__ == "CopySlices"


def test_not_every_node_has_a_name_with_a_number():
    text = said("01", "v2t-12")
    assert "today's say `AddBackward0`" in text
    assert "end in a number" not in text
    assert node_names(leaf() + leaf()) == ["AccumulateGrad", "AccumulateGrad", "AddBackward0"]


def test_the_sum_by_index_holds_two_additions_and_three_selections():
    assert "two additions and three selections stand where `sum` stood" in said("01", "v2t-16")
    z = leaf() + leaf(4.0, 5.0, 6.0)
    of_sum, of_indices = node_names(z.sum()), node_names(z[0] + z[1] + z[2])
    of_sum.remove("SumBackward0")
    assert of_indices == sorted(of_sum + 2 * ["AddBackward0"] + 3 * ["SelectBackward0"])


def test_walking_back_from_the_loss_the_step_after_the_first_that_requires_grad_lost_the_graph():
    text = said("01", "v2t-20")
    assert "until a tensor *does* require grad. The step after it lost the graph." in text
    z = leaf() * 2
    b = Variable(z)
    loss = b.sum()
    back = [
        ("sum", loss),
        ("Variable", b),
        ("times", z),
    ]  # each step with what it gave, from the end
    first = next(at for at, (_, tensor) in enumerate(back) if tensor.requires_grad)
    assert back[first - 1][0] == "Variable"
    assert (
        not loss.requires_grad
    )  # so the first that does not would be the loss, which is not to blame


def double(x):
    return (x * 2).sum()


def counted(function=double):
    """Return `function`, compiled, and the list of graphs that were captured for it."""
    captured = []

    def capture(module, inputs):
        captured.append(module.graph)
        return module.forward

    torch._dynamo.reset()
    return torch.compile(function, backend=capture), captured


@pytest.mark.slow
def test_a_graph_is_captured_in_the_first_call_and_again_when_a_call_does_not_fit():
    assert "in the first call; again when a later call does not fit what was captured" in said(
        "01", "v2t-50"
    )
    fast, captured = counted()
    seen = []
    for x in (
        leaf(),
        leaf(4.0, 5.0, 6.0),
        leaf(1.0, 2.0),
        leaf().detach(),
        leaf().detach().double(),
    ):
        fast(x)
        seen.append(len(captured))
    with torch.no_grad():
        fast(leaf())
    assert [*seen, len(captured)] == [1, 1, 2, 3, 4, 5]


@pytest.mark.slow
def test_autograd_records_a_call_unless_the_backend_captures_the_backward_too():
    text = said("01", "v2t-41")
    assert (
        "Autograd recorded each call itself, because our backend runs the list as it stands."
        in text
    )
    captured_too = "A backend such as `aot_eager` captures the backward too: one node, `CompiledFunctionBackward`"
    assert captured_too in text
    assert "unless the backend captures it too" in said("01", "v2t-42")
    fast, _ = counted()
    assert node_names(fast(leaf())) == ["AccumulateGrad", "MulBackward0", "SumBackward0"]
    whole = torch.compile(double, backend="aot_eager")
    assert node_names(whole(leaf())) == ["AccumulateGrad", "CompiledFunctionBackward"]


@pytest.mark.slow
def test_another_branch_is_captured_once_more():
    assert "It captures once more." in said("01", "v2t-42")
    fast, captured = counted(lambda x, flag: (x * 2).sum() if flag else (x + 1).sum())
    fast(leaf(), True)
    fast(leaf(), False)
    assert len(captured) == 2


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


def ticks_and_raises(forward):
    """Return whether an edit ticks the counter of x, and whether backward then raises."""
    x = leaf()
    loss = forward(x).sum()
    x.detach().add_(1)
    try:
        loss.backward()
    except RuntimeError:
        return x._version == 1, True
    return x._version == 1, False


def test_01_2_a_tick_is_noticed_because_the_power_saved_x():
    assert (
        "The power saved `x`, and backward compares version counters" in registry.find("01.2").right
    )
    assert ticks_and_raises(lambda x: x**2) == (True, True)
    assert ticks_and_raises(lambda x: x * 3) == (True, False)


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
    assert "You kept an index from 2017. Today a loss has no dimension to index" in told(report)


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


def test_01_2_about_names_no_answer_and_an_add_without_underscore_writes_nowhere():
    x = leaf()
    assert x.detach().add(1).tolist() == [2.0, 3.0, 4.0]
    assert (x.tolist(), x._version) == ([1.0, 2.0, 3.0], 0)


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


def test_01_3_what_data_hands_out_has_a_counter_of_its_own():
    assert "What it hands out has a counter of its own" in message("01.3", "`.data` left")
    w = leaf()
    handed_out = w.data
    handed_out.add_(1)
    assert (handed_out._version, w._version) == (1, 0)
    w.detach().numpy()[:] = 7
    assert (w.tolist(), w._version) == ([7.0, 7.0, 7.0], 0)


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
