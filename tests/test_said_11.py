"""What lesson 11 says of steps and loops, run in plain torch: it still stands there, and torch bears it
out.
"""

from functools import partial

import pytest
import torch
from said import said
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


def scalar(value):
    return torch.tensor(value, requires_grad=True)


def stands(*quoted):
    """Hold that each (cell, words) stands in the lesson."""
    for cell, words in quoted:
        assert words in said("11", cell), f"{cell}: {words}"


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
    stands(
        ("case-then", "the next error comes."),
        ("case-then", "There are four faults, and two of them never raise one."),
        ("case-then", "A fifth line does no harm yet"),
        ("case", "`SGD` subtracts the gradient times `lr`"),
    )
    assert EDITED in fault_of(True, True, True, True, True)
    assert TWICE in fault_of(True, False, True, True, True), "the next one speaks up"
    alone = [fault_of(*[place == at for place in range(5)]) for at in range(5)]
    assert [bool(error) for error in alone] == [True, True, False, False, False]
    assert fault_of(False, False, False, False, False) == ""
    w = scalar(1.0)
    (3 * w).backward()
    SGD([w], lr=0.5).step()
    assert w == 1 - 0.5 * 3


# Idea 1


def test_each_order_was_run_and_the_digits_tell():
    told = question("11.o1").told
    of = {letters: told["outcomes"][number] for letters, number in told["of"].items()}
    good = {letters for letters, one in of.items() if one["isGood"]}
    assert {"abcd", "adbc", "dabc"} <= good
    assert all("d" in letters and "c" in letters for letters in good)
    stands(
        ("o1-because", "may stand anywhere but between `backward()` and `step()`"),
        ("loop-53", "may stand anywhere but between `backward()` and `step()`"),
        ("o1-because", "`backward()` adds to `.grad`, and `step()` leaves it there."),
        ("o1-notes", "123 means three, two, one"),
        ("o1-notes", "(11: each step uses the batch before. The loss falls all the same.)"),
    )
    four = [letters for letters in of if sorted(letters) == list("abcd")]
    for letters in (one for one in four if one.index("a") < one.index("b") < one.index("c")):
        between = letters.index("b") < letters.index("d") < letters.index("c")
        assert of[letters]["isGood"] != between
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


@pytest.mark.parametrize(("kind", "moves"), [(SGD, False), (ADAMW, True)])
def test_zeros_are_not_none_to_an_optimizer(kind, moves):
    stands(
        ("o1-notes", "(`AdamW` shrinks a weight whose `.grad` is 0, and skips one without.)"),
        ("lab-notes", "The optimizer passes over a weight whose `.grad` is None."),
    )
    for to_none in (False, True):
        w = scalar(1.0)
        optimizer = kind([w], lr=0.1)
        (w * 3).backward()
        optimizer.zero_grad(set_to_none=to_none)
        assert (w.grad is None) == to_none
        optimizer.step()
        assert (w.item() < 1) == (moves and not to_none)


def test_portions_that_share_a_step_share_a_zero_grad():
    stands(("o1-because", "if several portions share a step, call it once per step"))
    ends = []
    for each_portion in (False, True):
        w = scalar(0.0)
        for batch in (1.0, 10.0):
            if each_portion:
                w.grad = None
            (w * batch).backward()
        ends.append(w.grad.item())
    assert ends == [11, 10]


def test_the_lab_turns_as_its_fold_says():
    stands(
        ("lab-because", "Forward builds, `backward()` fills and frees, `step()` writes"),
        ("lab-because", "Each turn goes half of the way."),
        ("lab-because", "Each step finds the same gradient: 2.5, 4, 5.5."),
        ("lab-because", "The turn freed the graph, but the gradient is still there."),
    )
    at = [
        labs.loop.map().walk(("forward", "zero_grad", "backward", "step") * turns)
        for turns in (1, 2)
    ]
    assert [labs.loop.map().states[way.to].value("w") for way in at] == ["2.5", "3.25"]
    assert (4 - 2.5, 4 - 3.25) == ((4 - 1) / 2, (4 - 2.5) / 2)
    again = labs.loop.map().walk(("forward", "zero_grad", "backward", "step", "backward"))
    assert TWICE in again.error


# Idea 2


def test_a_step_leaves_no_card():
    stands(
        ("d1-because", "writes new numbers into the same leaf, and leaves no card"),
        ("d1-because", "It runs as under `no_grad()`, so nothing is recorded."),
        ("d1-because", "the graph of a round leads to the weights, and no further"),
        (
            "d1-because",
            "with `differentiable=True` recording stays on, and a step into a leaf is refused",
        ),
        ("d1-notes", "(It makes a new tensor. The optimizer goes on holding the old one.)"),
    )
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
    """Return what stands in w and out after a step, the gradient of out**2 before and after it, and
    of a fresh forward.
    """
    w = scalar(2.0)
    out = w**2
    (before,) = torch.autograd.grad(out**2, w, retain_graph=True)
    out.backward(retain_graph=True)
    SGD([w], lr=0.25, **options).step()
    (after,) = torch.autograd.grad(out**2, w)
    (fresh,) = torch.autograd.grad((w**2) ** 2, w)
    return out.item(), w.item(), before.item(), after.item(), fresh.item()


def test_a_fused_step_takes_the_alarm_away_and_leaves_the_fault():
    stands(
        ("e1", "call `(out**2).backward()`. Torch complains about a version."),
        ("e1-because", "With or without `fused=True`, the fault is there."),
        ("e1-because", "16 is 2 · 4 · 2 · 1, from the old `out` and the new `w`"),
        ("e1-because", "Before the step, the gradient was 32, and a new forward gives 4."),
    )
    assert second_gradient(fused=True) == (4, 1, 32, 16, 4)
    with pytest.raises(RuntimeError, match=EDITED):
        second_gradient()


@pytest.mark.parametrize("kind", FUSED)
def test_a_fused_step_moves_the_weight_and_ticks_nothing(kind):
    stands(("e1-notes", "A fused step moves a weight, and does not move its counter."))
    assert "A fused step does not move the version counter." in question("11.e1").told["points"]
    assert "plain SGD's among them, and `.grad` is another tensor" in find("11.1").principle
    for fused in (True, False):
        w = scalar(1.0)
        w.backward()
        assert w._version == 0
        kind([w], lr=0.1, fused=fused).step()
        assert w.item() != 1
        assert (w._version == 0) == fused


def test_with_a_forward_a_round_a_fused_step_does_what_a_plain_one_does():
    stands(("e1-because", "if every round has its own forward, nothing is used across a step"))
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


def with_new_layer():
    """Return a model, its optimizer, and the layer that came after it."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 3))
    optimizer = SGD(model.parameters(), lr=0.1)
    model[1] = nn.Linear(4, 1)
    return model, optimizer, model[1]


def test_an_optimizer_holds_tensors_and_no_model():
    stands(
        ("f1-because", "An optimizer holds tensors, not a model."),
        ("f1-because", "You handed it the parameters before the new layer was there."),
        ("f1-notes", "(The loss still falls a little: the first layer learns."),
    )
    model, optimizer, new = with_new_layer()
    held = optimizer.param_groups[0]["params"]
    assert [any(p is one for one in held) for p in model.parameters()] == [True, True, False, False]
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


def test_the_reasons_of_the_line_that_comes_too_early():
    told = question("11.f1").told
    assert told["reasonTells"]["a"] == "the parameters of a new layer require grad from the start"
    _, _, new = with_new_layer()
    assert all(parameter.requires_grad for parameter in new.parameters())
    assert "its gradient arrives in each round" in told["reasonTells"]["c"]
    assert "the same happens" in told["tells"][5]


def test_loading_writes_into_the_same_tensors_unless_it_assigns():
    stands(("f1-because", "`load_state_dict` writes them into the same tensors, unless you say"))
    layer = nn.Linear(2, 1)
    weight = layer.weight
    layer.load_state_dict(nn.Linear(2, 1).state_dict())
    assert layer.weight is weight
    layer.load_state_dict(nn.Linear(2, 1).state_dict(), assign=True)
    assert layer.weight is not weight


def test_a_module_does_not_look_into_a_plain_list():
    stands(("f1-notes", "`parameters()` does not look inside. `nn.ModuleList` is the remedy."))
    plain, listed = nn.Module(), nn.Module()
    plain.layers, listed.layers = [nn.Linear(2, 2)], nn.ModuleList([nn.Linear(2, 2)])
    assert [len(list(net.parameters())) for net in (plain, listed)] == [0, 2]


# Idea 4


def losses(scale_of, rounds=4, inside=False, **options):
    """Return the losses of a loop with a line above it, or inside, the gradients and the weight."""
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
    return found, gradients, w.item()


def test_a_line_above_the_loop_is_computed_once():
    stands(
        ("q9", "Round 2 raises, and the message offers `retain_graph=True`."),
        ("q9-because", "`w` moves four times by the same gradient"),
        ("q9-because", "Whatever depends on a weight belongs inside"),
        ("q9-because", "For that, `scale` has to be computed anew in each round."),
        ("loop-53", "What depends on a weight belongs inside the loop."),
    )
    losses(torch.exp, rounds=1)
    with pytest.raises(RuntimeError, match=TWICE):
        losses(torch.exp, rounds=2)
    found, gradients, w = losses(torch.exp, retain_graph=True)
    assert (found, gradients) == ([4] * 4, [-4] * 4)
    assert w == pytest.approx(1.6)
    inside = losses(torch.exp, inside=True)[0]
    assert inside[0] > inside[1] > inside[2]


def test_what_the_old_part_saved_decides_what_a_step_does_to_it():
    stands(
        ("q9-because", "It saved its result."),
        ("q9-because", "You would get that error if `exp` had saved `w`."),
        ("q9-notes", "(No. That node saves nothing, so the loss stands still in silence.)"),
        ("q9-notes", "(Round 2 raises: `w` itself was saved, and the step wrote into it.)"),
    )
    scale = scalar(1.0).exp()
    assert scale.grad_fn._saved_result.data_ptr() == scale.data_ptr()
    assert losses(lambda w: w + 1)[0] == [4] * 4
    squared = partial(losses, lambda w: w * w, retain_graph=True)
    squared(rounds=1)
    with pytest.raises(RuntimeError, match=EDITED):
        squared(rounds=2)


# The end


@pytest.mark.parametrize("seed", range(4))
def test_the_repaired_loop_gets_89_points_right(seed):
    stands(("loop-54", "Now your loop gets 89 of the 100 points right"))
    torch.manual_seed(seed)
    (points, moon), model = moons(), nn.Linear(2, 1)
    namespace = {"torch": torch}
    exec(find("11.3").solution.replace("range(4)", "range(100)"), namespace)
    assert len(namespace["answer"](model, points, moon)) == 100
    assert (model(points).round() == moon).sum() == 89


def test_the_answers_of_the_quiz_say_why():
    stands(
        ("quiz-1-because", "Three of the four run without an error."),
        ("quiz-1-because", "It is only a new attribute"),
        ("quiz-1-because", "Each call adds its 2"),
    )
    assert torch.ones(2, requires_grad=True).mul(0.1).sum().backward() is None
    with pytest.raises(RuntimeError, match=TWICE):
        [loss.backward() for loss in [(scalar(3.0) ** 2).sum()] * 2]
    x = torch.ones(2)
    x.required_grad = True
    assert (x.requires_grad, vars(x)) == (False, {"required_grad": True})
    assert "takes what comes until somebody lets go of it" in find("11.2").principle
    y = scalar(3.0)
    (y * 2).backward()
    (y * 2).backward()
    assert y.grad == 4
    y.grad = None
    (y * 2).backward()
    assert y.grad == 2


def test_what_11_3_says_of_clamp_of_an_edit_and_of_going_back_again():
    told = " ".join(idea.message for idea in find("11.3").misconceptions)
    assert "`clamp` without the `_` makes a new tensor" in told
    assert "Going back again computes no new prediction" in told
    assert "On a tensor, `*=` makes nothing new: it edits, like `mul_`" in told
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
