"""What lesson 11 claims of steps and loops beyond its own cells, run in torch."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from helpers import labs, snapshot
from helpers.claims import refusal
from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.questions import question

SGD, ADAMW = torch.optim.SGD, torch.optim.AdamW
FUSED = (SGD, torch.optim.Adam, ADAMW, torch.optim.Adagrad)
EDITED, TWICE = "modified by an inplace operation", "a second time"


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
    w = scalar(0.0)
    for batch in (1.0, 10.0):
        w.grad = None
        (w * batch).backward()
    assert w.grad == 10, "11 is wanted"


def test_the_lab_turns_as_its_fold_says():
    world = labs.loop.map()
    turn = ("forward", "zero_grad", "backward", "step")
    ways = turn, turn * 2, (*turn, "step"), (*turn, "step", "step")
    ends = [world.states[world.walk(way).to].value("w") for way in ways]
    assert ends == ["2.5", "3.25", "4", "5.5"]
    assert TWICE in world.walk((*turn, "backward")).error


# Idea 2


def test_a_step_leaves_no_card():
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
    assert second_gradient(fused=True) == (32, 16, 4)
    with pytest.raises(RuntimeError, match=EDITED):
        second_gradient()


@pytest.mark.parametrize("kind", FUSED)
def test_a_fused_step_moves_the_weight_and_ticks_nothing(kind):
    for fused in (True, False):
        w = scalar(1.0)
        w.backward()
        kind([w], lr=0.1, fused=fused).step()
        assert w.item() != 1
        assert (w._version == 0) == fused


def test_with_a_forward_a_round_a_fused_step_does_what_a_plain_one_does():
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
    answer = run(find("11.3").solution.replace("range(4)", "range(100)"))
    for seed in range(4):
        torch.manual_seed(seed)
        (points, moon), model = moons(), nn.Linear(2, 1)
        answer(model, points, moon)
        assert (model(points).round() == moon).sum() == 89


def test_backward_returns_none_and_a_second_one_on_one_graph_is_refused():
    assert torch.ones(2, requires_grad=True).mul(0.1).sum().backward() is None
    loss = (scalar(3.0) ** 2).sum()
    loss.backward()
    assert TWICE in refusal(loss.backward)


def test_clamp_returns_a_new_tensor_an_edit_does_not_and_data_hides_a_write_from_a_graph():
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
