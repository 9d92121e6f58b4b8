"""Answers to 11.2 and 11.3 in other styles than the solution's: what they do counts, not how
they are spelled.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers import check

pytestmark = pytest.mark.usefixtures("unfolded")


def said_of(name, code, capsys):
    namespace = {"torch": torch, "nn": nn, "F": F}
    exec(code, namespace)
    check(name, namespace["answer"])
    return capsys.readouterr().out


DUEL = """
def answer(generator, critic, z):
    oc, og = torch.optim.SGD(critic.parameters(), lr=0.1), torch.optim.SGD(generator.parameters(), lr=0.1)
    {}
"""
DUELS_WRONG = {
    "the old graph, edited through .data": (
        "score = critic(generator(z)).mean(); score.backward(retain_graph=True)\n"
        "    for p in critic.parameters(): p.data -= 0.1 * p.grad\n"
        "    og.zero_grad(); (-score).backward(); og.step()",
        "by a forward of now",
    ),
    "both forwards first, nothing retained": (
        "first, second = critic(generator(z)).mean(), -critic(generator(z)).mean()\n"
        "    first.backward(); oc.step(); og.zero_grad(); second.backward(); og.step()",
        "A step came between a forward and its `backward()`",
    ),
    "one fake for both": (
        "fake = generator(z); critic(fake).mean().backward(); oc.step(); og.zero_grad()\n"
        "    (-critic(fake).mean()).backward(); og.step()",
        "You go back twice through a graph, or a part of one",
    ),
}


@pytest.mark.parametrize("style", DUELS_WRONG)
def test_11_2_refuses_and_names_what_was_seen(style, capsys):
    body, words = DUELS_WRONG[style]
    out = said_of("11.2", DUEL.format(body), capsys)
    assert "✗" in out
    assert words in out


def test_11_2_takes_a_critic_that_saw_a_detached_fake(capsys):
    body = (
        "fake = generator(z); critic(fake.detach()).mean().backward(); oc.step()\n"
        "    (-critic(fake)).mean().backward(); og.step()"
    )
    assert "✓" in said_of("11.2", DUEL.format(body), capsys)


def loop(
    forward="model(points)",
    update="zero, back, step, clip",
    kept="[loss.item(), 100 * pred.mean().item()]",
    **more,
):
    parts = {
        "zero": "optimizer.zero_grad()",
        "back": "loss.backward()",
        "step": "optimizer.step()",
        "clip": "with torch.no_grad(): model.weight.clamp_(-1, 1)",
        "options": "",
        "one write": "with torch.no_grad():\n"
        "            model.weight.copy_((model.weight - 0.1 * model.weight.grad).clamp(-1, 1))\n"
        "            model.bias -= 0.1 * model.bias.grad",
        "asked": "gw, = torch.autograd.grad(loss, model.weight, retain_graph=True)\n"
        "        gb, = torch.autograd.grad(loss, model.bias)\n"
        "        with torch.no_grad(): model.weight -= 0.1 * gw; model.bias -= 0.1 * gb",
    } | more
    lines = [parts[name] for name in update.split(", ")]
    head = f"optimizer, log = torch.optim.SGD(model.parameters(), lr=0.1{parts['options']}), []"
    body = [f"pred = {forward}", "loss = F.mse_loss(pred, moon)", *lines, f"log.append({kept})"]
    inside = "\n        ".join(body)
    return f"def answer(model, points, moon):\n    {head}\n    for _ in range(4):\n        {inside}\n    return log\n"


LOOPS_RIGHT = {
    "plain": loop(),
    "model.forward": loop("model.forward(points)"),
    "F.linear": loop("F.linear(points, model.weight, model.bias)"),
    "by hand": loop("points @ model.weight.T + model.bias"),
    "functional_call": loop(
        "torch.func.functional_call(model, dict(model.named_parameters()), (points,))"
    ),
    "step and clamp in one write": loop(update="zero, back, one write"),
    "autograd.grad, twice": loop(update="asked, clip"),
    "zeroed at the end": loop(update="back, step, clip, zero"),
    "clipped through detach()": loop(clip="model.weight.detach().clamp_(-1, 1)"),
    "clipped in inference mode": loop(
        clip="with torch.inference_mode(): model.weight.clamp_(-1, 1)"
    ),
    "clipped twice": loop(clip="with torch.no_grad(): model.weight.clamp_(max=1).clamp_(min=-1)"),
    "a fused step": loop(options=", fused=True"),
    "a foreach step": loop(options=", foreach=True"),
    "detached tensors": loop(kept="[loss.detach(), 100 * pred.detach().mean()]"),
    "percent in place, after the walk": loop(
        kept="[loss.item(), pred.detach().mul_(100).mean().item()]"
    ),
    "one more forward, never walked": loop(
        update="more, zero, back, step, clip", more="model(points)"
    ),
}
UNCOUNTED = "there are writes into the weight on no counter"
LOOPS_WRONG = {
    "one side only": (
        loop(clip="with torch.no_grad(): model.weight.clamp_(max=1)"),
        "The weights left the range",
    ),
    "the bias as well": (
        loop(clip="with torch.no_grad(): [one.clamp_(-1, 1) for one in model.parameters()]"),
        "You kept the bias in the range as well",
    ),
    "written through .data": (loop(clip="model.weight.data.clamp_(-1, 1)"), UNCOUNTED),
    "put into .data": (loop(clip="model.weight.data = model.weight.data.clamp(-1, 1)"), UNCOUNTED),
    "written by numpy": (
        loop(clip="held = model.weight.detach().numpy(); held.clip(-1, 1, out=held)"),
        UNCOUNTED,
    ),
    "a fused step, and .data": (
        loop(options=", fused=True", clip="model.weight.data.clamp_(-1, 1)"),
        UNCOUNTED,
    ),
    "only the percent keeps its graph": (
        loop(kept="[loss.item(), 100 * pred.mean()]"),
        "Is each entry of the log a number, or a tensor with its graph?",
    ),
    "kept by F.linear": (
        loop("F.linear(points, model.weight, model.bias)", kept="[loss, 100 * pred.mean()]"),
        "nodes of its graphs are still alive",
    ),
    "retained": (
        loop(back="loss.backward(retain_graph=True)"),
        "each backward keeps its saved tensors",
    ),
    "no step": (loop(update="zero, back, clip"), "no parameter follows them"),
    "walked twice in one round": (loop(update="zero, back, back, step, clip"), "You go back twice"),
    "a loss twice as large": (loop(back="(2 * loss).backward()"), "2 went wrong"),
    "never zeroed": (loop(update="back, step, clip"), "is made with a sum"),
}


@pytest.mark.parametrize("style", LOOPS_RIGHT)
def test_11_3_takes_a_loop_that_does_the_right_things(style, capsys):
    assert "✓" in said_of("11.3", LOOPS_RIGHT[style], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("style", LOOPS_WRONG)
def test_11_3_refuses_and_names_what_was_seen(style, capsys):
    code, words = LOOPS_WRONG[style]
    out = said_of("11.3", code, capsys)
    assert "✗" in out
    assert words in out
