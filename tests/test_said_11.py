"""What lesson 11 says of steps and loops beyond its own cells: it still stands there, and torch bears it
out.
"""

from functools import partial

import pytest
import torch
from said import refusal, stands
from torch import nn
from torch.nn.functional import mse_loss

from helpers import labs, snapshot
from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.questions import question

SGD, ADAMW = torch.optim.SGD, torch.optim.AdamW
FUSED = (SGD, torch.optim.Adam, ADAMW, torch.optim.Adagrad)
EDITED, TWICE = "modified by an inplace operation", "a second time"
says = partial(stands, "11")


def scalar(value):
    return torch.tensor(value, requires_grad=True)


# The case


def fault_of(pred, percent, zero, data, keep):
    """Run the case with some of its faults and its .data; return its error, "" without one."""
    torch.manual_seed(0)
    (points, moon), model = moons(), nn.Linear(2, 1)
    optimizer, log, first = SGD(model.parameters(), lr=0.1), [], model(points)
    try:
        for _ in range(4):
            guess = first if pred else model(points)
            loss = mse_loss(guess, moon)
            shown = guess.mul_(100) if percent else guess * 100
            if not zero:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            (model.weight.data if data else model.weight.detach()).clamp_(-1, 1)
            log.append([loss, shown.mean()] if keep else [loss.item(), shown.mean().item()])
    except RuntimeError as error:
        return str(error)
    return ""


def test_the_case_has_four_faults_and_two_of_them_raise():
    says("case-then", "There are four faults, and two of them never raise one.")
    says("case-then", "the next error comes.", "A fifth line does no harm yet")
    says("case", "`SGD` subtracts the gradient times `lr`")
    assert TWICE in fault_of(True, False, True, True, True), "the next one speaks up"
    alone = [fault_of(*[place == at for place in range(5)]) for at in range(5)]
    assert [bool(error) for error in alone] == [True, True, False, False, False]
    assert fault_of(False, False, False, False, False) == ""
    w = scalar(1.0)
    (3 * w).backward()
    SGD([w], lr=0.5).step()
    assert w == 1 - 0.5 * 3


# Idea 1


def test_zero_grad_may_stand_anywhere_but_between_backward_and_step():
    says("o1-because", "may stand anywhere but between `backward()` and `step()`")
    says("loop-53", "may stand anywhere but between `backward()` and `step()`")
    says("o1-because", "`backward()` adds to `.grad`, and `step()` leaves it there.")
    says("o1-notes", "123 means three, two, one")
    says("o1-notes", "(11: each step uses the batch before. The loss falls all the same.)")
    told = question("11.o1").told
    of = {letters: told["outcomes"][number] for letters, number in told["of"].items()}
    for letters in ("abcd", "abdc", "adbc", "dabc"):
        assert of[letters]["isGood"] == (letters != "abdc")
    assert "to 123" in of["abc"]["facts"][0]
    assert "to 11" in of["acdb"]["facts"][0]
    w, losses = scalar(0.0), []
    optimizer = SGD([w], lr=0.1)
    for _ in range(9):
        losses.append((w - 4) ** 2)
        optimizer.step()
        optimizer.zero_grad()
        losses[-1].backward()
    assert losses[-1] < losses[0] / 4


def test_portions_that_share_a_step_share_a_zero_grad():
    says("o1-because", "if several portions share a step, call it once per step")
    w = scalar(0.0)
    for batch in (1.0, 10.0):
        w.grad = None
        (w * batch).backward()
    assert w.grad == 10, "11 is wanted"
    says("11.2", "takes what comes until somebody lets go of it")


def test_the_lab_turns_as_its_fold_says():
    says("lab-because", "Forward builds, `backward()` fills and frees, `step()` writes")
    says("lab-because", "Each turn goes half of the way.")
    says("lab-because", "Each step finds the same gradient: 2.5, 4, 5.5.")
    says("lab-because", "The turn freed the graph, but the gradient is still there.")
    world = labs.loop.map()
    turn = ("forward", "zero_grad", "backward", "step")
    ways = turn, turn * 2, (*turn, "step"), (*turn, "step", "step")
    ends = [world.states[world.walk(way).to].value("w") for way in ways]
    assert ends == ["2.5", "3.25", "4", "5.5"]
    assert TWICE in world.walk((*turn, "backward")).error


# Idea 2


def test_a_step_leaves_no_card():
    says("d1-because", "It runs as under `no_grad()`, so nothing is recorded.")
    says("d1-because", "the graph of a round leads to the weights, and no further")
    says("d1-because", "recording stays on, and a step into a leaf is refused")
    says("d1-notes", "(It makes a new tensor. The optimizer goes on holding the old one.)")
    says("optimizer", "writes new numbers into the same weight, outside the graph")
    w = old = scalar(2.0)
    optimizer, seen = SGD([w], lr=0.25), []
    inside = optimizer._init_group
    optimizer._init_group = lambda *given: seen.append(torch.is_grad_enabled()) or inside(*given)
    ((w - 4) ** 2).backward()
    optimizer.step()
    assert seen == [False]
    assert (w.item(), w.is_leaf, w.grad_fn) == (3, True, None)
    second = snapshot((w - 4) ** 2)
    assert [node.operation for node in second.operations] == ["PowBackward0", "SubBackward0"]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        SGD([w], lr=0.25, differentiable=True).step()
    w = w - 0.25 * w.grad
    assert optimizer.param_groups[0]["params"][0] is old is not w


def second_gradient(**options):
    """Return the gradient of out**2 before a step and after it, and of a fresh forward."""
    w = scalar(2.0)
    out = w**2
    (before,) = torch.autograd.grad(out**2, w, retain_graph=True)
    out.backward(retain_graph=True)
    SGD([w], lr=0.25, **options).step()
    (after,) = torch.autograd.grad(out**2, w)
    (fresh,) = torch.autograd.grad((w**2) ** 2, w)
    return before.item(), after.item(), fresh.item()


def test_a_fused_step_takes_the_alarm_away_and_leaves_the_fault():
    says("e1", "call `(out**2).backward()`. Torch complains about a version.")
    says("e1-because", "With or without `fused=True`, the fault is there.")
    says("e1-because", "16 is 2 · 4 · 2 · 1, from the old `out` and the new `w`")
    says("e1-because", "Before the step, the gradient was 32, and a new forward gives 4.")
    assert second_gradient(fused=True) == (32, 16, 4)
    with pytest.raises(RuntimeError, match=EDITED):
        second_gradient()


@pytest.mark.parametrize("kind", FUSED)
def test_a_fused_step_moves_the_weight_and_ticks_nothing(kind):
    says("e1-notes", "A fused step moves a weight, and does not move its counter.")
    says("11.e1", "A fused step does not move the version counter.")
    says("11.1", "plain SGD's among them, and `.grad` is another tensor")
    for fused in (True, False):
        w = scalar(1.0)
        w.backward()
        kind([w], lr=0.1, fused=fused).step()
        assert w.item() != 1
        assert (w._version == 0) == fused


def test_with_a_forward_a_round_a_fused_step_does_what_a_plain_one_does():
    says("e1-because", "if every round has its own forward, nothing is used across a step")
    ends = []
    for fused in (False, True):
        torch.manual_seed(0)
        (x, y), model = moons(), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = SGD(model.parameters(), lr=0.1, fused=fused)
        for _ in range(20):
            optimizer.zero_grad()
            mse_loss(model(x), y).backward()
            optimizer.step()
        ends.append(model[0].weight.detach())
    assert torch.allclose(*ends)


# Idea 3


def test_an_optimizer_holds_tensors_and_no_model():
    says("f1-because", "An optimizer holds tensors, not a model.")
    says("f1-because", "You handed it the parameters before the new layer was there.")
    says("f1-notes", "(The loss still falls a little: the first layer learns.")
    says("11.f1", "its gradient arrives in each round", "require grad from the start")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 3))
    optimizer = SGD(model.parameters(), lr=0.1)
    model[1] = new = nn.Linear(4, 1)
    held = optimizer.param_groups[0]["params"]
    assert [any(p is one for one in held) for p in model.parameters()] == [True, True, False, False]
    assert all(parameter.requires_grad for parameter in new.parameters())
    before, losses, sizes = new.weight.tolist(), [], []
    for _ in range(10):
        optimizer.zero_grad()
        losses.append((model(torch.ones(5, 2)) ** 2).mean())
        losses[-1].backward()
        sizes.append(new.bias.grad.abs().item())
        optimizer.step()
    assert new.weight.tolist() == before
    assert losses[-1] < losses[0]
    assert [one.grad is None for one in held] == [False, False, True, True]
    assert sizes == sorted(sizes), "in the new layer the gradients pile up"


def test_loading_writes_into_the_same_tensors_and_a_plain_list_is_not_looked_into():
    says("f1-because", "`load_state_dict` writes them into the same tensors, unless you say")
    says("f1-notes", "`parameters()` does not look inside. `nn.ModuleList` is the remedy.")
    layer = nn.Linear(2, 1)
    weight = layer.weight
    for assign in (False, True):
        layer.load_state_dict(nn.Linear(2, 1).state_dict(), assign=assign)
        assert (layer.weight is not weight) == assign
    plain, listed = nn.Module(), nn.Module()
    plain.layers, listed.layers = [nn.Linear(2, 2)], nn.ModuleList([nn.Linear(2, 2)])
    assert [len(list(net.parameters())) for net in (plain, listed)] == [0, 2]


# Idea 4


def losses(scale_of, rounds=4, inside=False, **options):
    """Return the losses of a loop with a line above it, or inside, and the gradients."""
    w = scalar(0.0)
    optimizer, scale = SGD([w], lr=0.1), scale_of(w)
    found, gradients = [], []
    for _ in range(rounds):
        scale = scale_of(w) if inside else scale
        loss = (scale - 3) ** 2
        optimizer.zero_grad()
        loss.backward(**options)
        optimizer.step()
        found.append(loss.item())
        gradients.append(w.grad.item())
    return found, gradients


def test_a_line_above_the_loop_is_computed_once_and_what_it_saved_decides():
    says("q9", "Round 2 raises, and the message offers `retain_graph=True`.")
    says("q9-because", "`w` moves four times by the same gradient")
    says("q9-because", "Whatever depends on a weight belongs inside", "It saved its result.")
    says("q9-because", "You would get that error if `exp` had saved `w`.")
    says("q9-notes", "(No. That node saves nothing, so the loss stands still in silence.)")
    says("q9-notes", "(Round 2 raises: `w` itself was saved, and the step wrote into it.)")
    assert TWICE in refusal(lambda: losses(torch.exp))
    assert losses(torch.exp, retain_graph=True) == ([4] * 4, [-4] * 4)
    inside, _ = losses(torch.exp, inside=True)
    assert inside[0] > inside[1] > inside[2]
    assert losses(lambda w: w + 1)[0] == [4] * 4
    squared = partial(losses, lambda w: w * w, retain_graph=True)
    squared(rounds=1)
    assert EDITED in refusal(lambda: squared(rounds=2))


# The end


def test_the_repaired_loop_gets_89_points_right():
    says("loop-54", "Now your loop gets 89 of the 100 points right")
    answer = run(find("11.3").solution.replace("range(4)", "range(100)"))
    for seed in range(4):
        torch.manual_seed(seed)
        (points, moon), model = moons(), nn.Linear(2, 1)
        answer(model, points, moon)
        assert (model(points).round() == moon).sum() == 89


def test_the_answers_of_the_quiz_say_why():
    says("quiz-1-because", "Three of the four run without an error.")
    says("quiz-1-because", "It is only a new attribute", "Each call adds its 2")
    assert torch.ones(2, requires_grad=True).mul(0.1).sum().backward() is None
    loss = (scalar(3.0) ** 2).sum()
    loss.backward()
    assert TWICE in refusal(loss.backward)


def test_what_11_3_says_of_clamp_of_an_edit_and_of_going_back_again():
    says("11.3", "`clamp` without the `_` makes a new tensor")
    says("11.3", "Going back again computes no new prediction")
    says("11.3", "On a tensor, `*=` makes nothing new: it edits, like `mul_`")
    says("in-place operation", "changes the tensor that you give it, and makes no new one.")
    edited = held = torch.ones(2)
    edited *= 100
    assert (edited is held, held._version) == (True, 1)
    w = scalar(3.0)
    assert (w.clamp(-1, 1).item(), w.item()) == (1, 3)
    pred = w * 2
    for _ in range(2):
        (gradient,) = torch.autograd.grad(pred**2, w, retain_graph=True)
        assert (pred.item(), gradient.item()) == (6, 24)
        w.data.zero_()


def test_the_example_of_training_that_stops():
    torch.manual_seed(0)
    points, moon = moons()
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        mse_loss(model(points[::2]), moon[::2]).backward()
        optimizer.step()

    def validate():
        return mse_loss(model(points[1::2]), moon[1::2])

    losses = run(find("11.6").solution)(model, step, validate, 5, 200)
    assert len(losses) <= 200
    assert validate().item() == pytest.approx(min(losses))
