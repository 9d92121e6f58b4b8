"""What the clinic says beside its cells, run in plain torch."""

import copy
from functools import partial

import numpy
import pytest
import torch
from said import source, stands
from torch import nn

from autograd_graphs.diagnosing.catalogue import book

says = partial(stands, "clinic")


def run_case(name, *parts):
    """Run cells of a case in a namespace of their own; return its names."""
    names = {"torch": torch, "nn": nn, "copy": copy}
    with torch.random.fork_rng():
        for part in parts:
            exec(source("clinic", f"{name}-{part}"), names)
    return names


def test_clip_grad_value_passes_over_what_has_no_gradient():
    says("clip-because", "`nn.utils.clip_grad_value_` does that for you.")
    used, unused = nn.Linear(1, 1), nn.Linear(1, 1)
    (9 * used(torch.ones(1, 1))).sum().backward()
    nn.utils.clip_grad_value_([*used.parameters(), *unused.parameters()], 1.0)
    assert used.weight.grad.item() == 1
    assert unused.weight.grad is None


def test_a_model_can_be_moved_to_float64():
    says("numpy-because", "You could also move the model, with `net.double()`.")
    assert nn.Linear(2, 1).double()(torch.ones(1, 2).double()).dtype is torch.float64
    says("numpy-because", "**NumPy makes float64 unless told otherwise")
    assert numpy.ones(2).dtype == "float64"
    assert torch.from_numpy(numpy.ones(2, "float32") * 2).dtype is torch.float32


def test_a_plain_list_hides_its_layers_from_all_three():
    says(
        "blocks-because",
        "Neither the optimizer nor `.to(device)` nor a saved `state_dict` has them",
    )
    model = nn.Module()
    model.blocks = [nn.Linear(1, 1)]
    assert not list(model.parameters())
    assert not model.state_dict()
    model.to("meta")
    assert model.blocks[0].weight.device.type == "cpu"


def test_the_detached_fake_leaves_no_gradient_in_the_generator():
    says("fake-because", "Detaching also keeps the critic's loss from leaving gradients in `G`.")
    generator, critic = nn.Linear(1, 1), nn.Linear(1, 1)
    critic(generator(torch.ones(1, 1)).detach()).sum().backward()
    assert generator.weight.grad is None


def test_the_target_nearly_cancels_the_gradient():
    says("target-because", "With a factor of 0.9 the two almost cancel for the bias.")
    names = run_case("target", "broken")
    assert torch.allclose(names["grad"], 0.1 * names["by_hand"], atol=1e-6)
    net, sent = nn.Linear(4, 1), []
    now, later = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    for target in (1 + 0.9 * net(later), 1 + 0.9 * net(later).detach()):
        loss = nn.functional.mse_loss(net(now), target)
        sent.append(torch.autograd.grad(loss, [net.bias, net.weight], retain_graph=True))
    (bias, weight), (right_bias, right_weight) = sent
    assert torch.allclose(bias, 0.1 * right_bias, atol=1e-6)
    assert not torch.allclose(weight, 0.1 * right_weight, atol=0.1), "only the bias nearly cancels"


def test_the_table_teaches_the_mean_price_and_mse_loss_warns():
    says("column-because", "the mean price for all", "`mse_loss` warns you here.")
    names = run_case("column", "broken")
    assert names["guess"].mean().item() == pytest.approx(names["price"].mean().item(), abs=1e-3)
    with pytest.warns(UserWarning, match="Using a target size"):
        nn.functional.mse_loss(names["guess"], names["price"])


def test_entr_is_right_at_0_and_its_slope_is_not_finite():
    says("entropy-because", "`torch.special.entr(p)` gives the right loss too")
    p = torch.tensor([0.0, 1.0], requires_grad=True)
    total = torch.special.entr(p).sum()
    total.backward()
    assert total.item() == 0
    assert p.grad[0].isinf()


def test_one_minus_the_cosine_has_a_finite_slope():
    says(
        "angle-because",
        "`1 - cosine` has the same best answer, and a slope that is finite everywhere.",
    )
    names = run_case("angle", "broken")
    (grad,) = torch.autograd.grad((1 - names["cosine"]).mean(), names["vectors"].weight)
    assert grad.isfinite().all()


def test_a_smaller_learning_rate_helps_where_the_inputs_are_large():
    says("rate-because", "A smaller learning rate helps as well.")
    cell = source("clinic", "rate-broken")
    assert "lr=0.1" in cell
    names = {"torch": torch, "nn": nn}
    with torch.random.fork_rng():
        exec(cell.replace("lr=0.1", "lr=1e-4"), names)
    assert names["loss"].item() < 1


def test_an_ensemble_may_be_summed_under_no_grad():
    says(
        "ensemble-because",
        "**A new tensor made under `inference_mode()` can be edited only there.**",
    )
    says("ensemble-because", "or use `no_grad()` everywhere")
    with torch.no_grad():
        total = nn.Linear(1, 1)(torch.ones(1, 1))
    with torch.no_grad():
        total += nn.Linear(1, 1)(torch.ones(1, 1))
    assert not total.requires_grad


def test_handles_of_hooks_take_them_away():
    says("hook-because", "1 + 2 + 3 + 4", "call `remove()`")
    names = run_case("hook", "broken")
    assert len(names["kept"]) == 1 + 2 + 3 + 4


def test_a_slope_from_forward_passes_gradcheck_and_not_gradgradcheck():
    says("slope-because", "`gradgradcheck` tells you, and `gradcheck` does not.")
    square = run_case("slope", "broken")["Square"].apply
    x = torch.tensor(3.0, requires_grad=True, dtype=torch.float64)
    assert torch.autograd.gradcheck(square, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradgradcheck(square, x)


def test_an_own_backward_without_grad_is_found_by_gradcheck_in_float64():
    says("factor-because", "`gradcheck` finds that, if you give it `float64`.")
    cube = run_case("factor", "broken")["Cube"].apply
    x = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="backward not multiplied by grad_output"):
        torch.autograd.gradcheck(cube, x)


def test_the_symptoms_lead_to_cases_that_are_there():
    cases = [one.case for one in book().symptoms if one.case]
    assert len(cases) > 20
    assert all(source("clinic", f"case-{case}") for case in cases)
