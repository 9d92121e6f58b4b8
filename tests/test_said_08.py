"""What lesson 08 says in prose, notes, recap and exercise 08.4, run in torch.

Reads the notebook and the exercise.
"""

from itertools import product

import pytest
import torch
from said import said
from torch import nn

from helpers.exercises import exercise as registry
from helpers.untrusted.plain import NotRead


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def exercise(name):
    return next(each for each in registry.exercises(name[:2]) if each.id == name)


def solved(name):
    """Return the `answer` that the exercise's solution defines."""
    namespace = {"torch": torch}
    exec(exercise(name).solution, namespace)
    return namespace["answer"]


def path_of(steps):
    """Return a path from a weight to a loss; each step cuts the graph, brings a new weight, or does
    neither.
    """
    path = {"w": leaf()}
    for name, step in steps.items():
        (before,) = list(path.values())[-1:]
        path[name] = {"cut": before.detach(), "weight": before * leaf(), "plain": before * 2}[step]
    return path | {"loss": path[name].sum()}


def test_the_walk_back_along_a_path_names_the_step_without_which_the_loss_had_a_graph():
    assert "a path: each tensor was made from the one before it" in said("08", "dng-49")
    assert "from each tensor to what it was made from" in said("08", "dng-51")
    assert "what was made from it lost the graph" in exercise("08.4").right
    for chosen in product(("cut", "weight", "plain"), repeat=4):
        steps = dict(zip("abcd", chosen, strict=True))
        path = path_of(steps)
        lost = solved("08.4")(path)
        if path["loss"].requires_grad:
            assert lost is None, steps
            continue
        mended = steps | {name: "plain" for name in "abcd" if name > lost}
        assert not path_of(mended)["loss"].requires_grad, (
            f"{steps}: {lost} is named, and a later step was to blame"
        )
        assert path_of(mended | {lost: "plain"})["loss"].requires_grad, (
            f"{steps}: {lost} is not to blame"
        )


def test_the_order_of_lines_cannot_tell_where_a_graph_was_lost():
    assert "follow what was *made from* what, not the lines" in said("08", "dng-35")
    assert "`target` would be accused" in said("08", "dng-38")
    w = leaf()
    h = w * 2
    first = {"w": w, "h": h, "target": torch.zeros(2), "p": h.detach()}
    other = {"w": w, "h": h, "target": h.detach(), "p": torch.zeros(2)}
    for lines in (first, other):
        lines["loss"] = (lines["p"] - lines["target"]).sum()
    flags = [[tensor.requires_grad for tensor in lines.values()] for lines in (first, other)]
    assert (
        flags[0] == flags[1]
    )  # lost at p, lost at target: no rule about flags in the order of lines tells them apart
    assert solved("08.4")(first) == "target"


def test_six_flags_find_the_place_on_a_path_of_forty():
    assert "a path of forty tensors" in said("08", "dng-38")
    assert "Six at most" in said("08", "dng-38")
    asked = []
    for lost in range(1, 40):
        recorded, missing, flags = 0, 39, 0
        while missing - recorded > 1:
            middle, flags = (recorded + missing) // 2, flags + 1
            recorded, missing = (middle, missing) if middle < lost else (recorded, middle)
        assert missing == lost
        asked.append(flags)
    assert max(asked) == 6


def test_in_eval_dropout_returns_its_input_and_relu_computes():
    assert "In eval mode `Dropout` returns its input itself" in said("08", "dng-29")
    x, model = leaf(), nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()
    assert nn.Dropout(0.5).eval()(x) is x
    assert model(x).grad_fn.name() == "ReluBackward0"
    with torch.no_grad():
        assert not model(x).requires_grad


def test_exercise_08_1_asks_a_layer_that_computes_in_eval():
    line = "nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()(x)"
    assert f"e = {line}" in said("08", "dng-43")
    assert f"e = {line}" in exercise("08.1").solution.replace("torch.nn.", "nn.")
    assert "The products, the sum and the ReLU asked" in exercise("08.1").right
    x = leaf()
    e = eval(line, {"nn": nn, "x": x})
    assert e.grad_fn is not None
    assert e is not x


def test_inference_mode_false_records_inside_of_inference_mode_and_enable_grad_does_not():
    assert "not an `inference_mode`: that takes `inference_mode(False)`" in said("08", "dng-25")
    x = leaf()
    recorded = []
    for inner in (torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode(False)):
        with torch.inference_mode(), inner:
            recorded.append((x * 2).requires_grad)
    assert recorded == [False, False, True]


def test_numpy_refuses_while_grad_mode_is_on():
    assert "`numpy()` refuses while grad mode is on" in said("08", "dng-37")
    x = leaf()
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
    with torch.no_grad():
        x.numpy()[0] = 5.0
    assert x.tolist() == [5.0, 2.0]


def test_a_product_saves_the_factors_that_it_needs():
    assert "`*` saves the factors that it needs" in said("08", "dng-19")
    x, w = torch.ones(2), leaf()
    node = (w * x).grad_fn
    assert node._saved_self is None  # for a gradient of x, which nobody asked for
    assert node._saved_other.equal(x)


def test_exercise_08_1_takes_letters_apart_and_refuses_other_words():
    read = exercise("08.1").reader.read
    assert read("bdef") == read(["b", "d", "e", "f"]) == {"b", "d", "e", "f"}
    assert read("none") == set()
    with pytest.raises(NotRead):
        read("all")


def test_the_principle_of_08_2_what_made_a_detached_tensor_does_not_count():
    assert "its number counts, what made it does not" in exercise("08.2").principle
    x = leaf()
    (x.exp().detach() * x).sum().backward()
    assert x.grad.allclose(x.exp())


def test_the_principle_of_08_3_neither_switch_sets_the_other():
    assert "neither sets the other" in exercise("08.3").principle
    model = nn.Linear(2, 2)
    for training in (True, False):
        for mode in (True, False):
            with torch.set_grad_enabled(mode):
                model.train(training)
                assert torch.is_grad_enabled() == mode
            assert model.training == training


def test_exercise_08_3_says_what_reaches_dropout_and_what_a_batchnorm_moves():
    texts = " ".join(idea.message for idea in exercise("08.3").misconceptions)
    assert "the flag of the outer module alone, grad mode and `detach()` do not reach it" in texts
    assert "Calling `eval()` sets that in each module inside" in texts
    assert "it moves them at each call in train mode" in texts
    drop, norm = nn.Dropout(0.5), nn.BatchNorm1d(2)
    outer = nn.Sequential(nn.Sequential(drop))
    outer.training = False
    with torch.no_grad():
        assert (outer(torch.ones(1000)).detach() == 0).any()
        outer.eval()
        assert not drop.training
        assert (outer(torch.ones(1000)) == 1).all()
        norm(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert norm.running_mean.tolist() != [0, 0]
    moved = norm.running_mean.clone()
    norm.eval()(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert norm.running_mean.equal(moved)


def test_exercise_08_3_says_when_an_inference_tensor_is_refused():
    texts = " ".join(idea.message for idea in exercise("08.3").misconceptions)
    assert "multiplies it by something that requires grad would raise" in texts
    assert "Another block records nothing either, and makes ordinary tensors" in texts
    with torch.inference_mode():
        result = torch.ones(2)
    result * torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        result * leaf()
    with torch.no_grad():
        ordinary = leaf() * 2
    assert not ordinary.is_inference()
    assert (ordinary * leaf()).requires_grad


def test_the_principle_of_08_4_is_what_the_flags_of_a_path_show():
    assert "went in, and one that does not came out" in exercise("08.4").principle
    assert "Only the flags of weights were set by hand, before they were used" in said(
        "08", "dng-49"
    )
    w = leaf()
    inside, outside = w * 2, (w * 2).detach()
    assert inside.grad_fn.next_functions[0][0] is not None
    assert outside.grad_fn is None
    late = w.detach() * 2  # without the sentence above, a late flag would deceive
    loss = late.sum()
    late.requires_grad_()
    assert solved("08.4")({"w": w, "late": late, "loss": loss}) == "loss"
