"""`watching` and `watch` beside plain torch: same numbers, each mistake with its line, no false one.

Loops are written to a file and run from there, so that their lines can be named. STEP stands for the
four usual lines.
"""

import re
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.optim import optimizer as hooks_of_torch

from autograd_graphs.monitoring.loop_card import card_of
from helpers import watch, watching

ROOT = Path(__file__).parents[1]
SETUP = """
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
mse = nn.functional.mse_loss
"""
STEP = r"\1opt.zero_grad()\n\1loss = \2\n\1loss.backward()\n\1opt.step()"


@pytest.fixture(autouse=True)
def looks_in_time(monkeypatch):
    """Looks at graphs are made when they are due, however slow the machine is."""
    monkeypatch.setattr("autograd_graphs.monitoring.live_graphs.SHARE", 1_000)


@pytest.fixture
def run(tmp_path, capsys):
    """Run a loop, watched with what is named; returns its variables, the watcher and its text."""

    def one(loop, given="model, opt", setup="", is_watched=True):
        loop = re.sub(
            "STEP$", "STEP(mse(model(x), y))", textwrap.dedent(loop).strip("\n"), flags=re.M
        )
        loop = re.sub(r"( *)STEP\((.*)\)$", STEP, loop, flags=re.M)
        head = f"with watching({given}) as seen:\n" if is_watched else "if True:\n"
        source = SETUP + textwrap.dedent(setup) + head + textwrap.indent(loop, "    ")
        file = tmp_path / "My_Loop.py"
        file.write_text(source, encoding="utf-8")
        space = {"torch": torch, "nn": nn, "watching": watching, "watch": watch, "__name__": "loop"}
        exec(compile(source, str(file), "exec"), space)
        return SimpleNamespace(**space, text=" ".join(capsys.readouterr().out.split()))

    return one


def loops(text):
    """Return what stands under each line that begins with "# "."""
    parts = re.split(r"^# (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


GOOD = """
# plain
for _ in range(9):
    STEP
# zero_grad last, a logged number, a detached list, evaluation between rounds
history, total = [], 0.0
for _ in range(9):
    model.train()
    loss = mse(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    history.append(loss.detach())
    total += loss.item()
    model.eval()
    with torch.no_grad():
        best = mse(model(x), y)
# accumulation over four portions
for _ in range(9):
    opt.zero_grad()
    losses = []
    for part, wanted in zip(x.chunk(4), y.chunk(4)):
        loss = mse(model(part), wanted) / 4
        loss.backward()
        losses.append(loss)
    opt.step()
# several tasks, whose losses are a sum
for _ in range(9):
    opt.zero_grad()
    for part, wanted in zip(x.chunk(4), y.chunk(4)):
        mse(model(part), wanted).backward()
    opt.step()
# means of several batches, divided afterwards
for number in range(12):
    mse(model(x), y).backward()
    if number % 4 == 3:
        for p in model.parameters():
            p.grad /= 4
        opt.step()
        opt.zero_grad()
# gradients set to zero, clipping and a scheduler
plan = torch.optim.lr_scheduler.StepLR(opt, 3)
for _ in range(9):
    opt.zero_grad(set_to_none=False)
    mse(model(x), y).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    opt.step()
    plan.step()
# a closure
opt = torch.optim.LBFGS(model.parameters(), max_iter=4)
def closure():
    opt.zero_grad()
    loss = mse(model(x), y)
    loss.backward()
    return loss
for _ in range(9):
    opt.step(closure)
# a scaler that skips steps
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=2)
for _ in range(9):
    opt.zero_grad()
    scaler.scale(mse(model(x), y) * 100).backward()
    scaler.step(opt)
    scaler.update()
# two optimizers
critic = nn.Linear(1, 1)
other = torch.optim.Adam(critic.parameters())
for _ in range(9):
    other.zero_grad()
    (critic(model(x).detach()).mean() - critic(y).mean()).backward()
    other.step()
    STEP((-critic(model(x)).mean()))
# two losses first, then two steps
critic = nn.Linear(4, 1)
other = torch.optim.Adam(critic.parameters())
for number in range(9):
    value = critic(x)
    for _ in range(number):
        value = value + 0
    critic_loss = mse(value, y)
    actor_loss = (model(x) * value.detach()).mean()
    other.zero_grad()
    critic_loss.backward()
    other.step()
    STEP(actor_loss)
    total = critic_loss + actor_loss
# an optimizer of its own in each round
for _ in range(9):
    inner = nn.Linear(4, 1)
    own = torch.optim.SGD(inner.parameters(), lr=0.1)
    for _ in range(2):
        own.zero_grad()
        mse(inner(x), y).backward()
        own.step()
    STEP(mse(model(x), inner(x).detach()))
# one graph, two losses
for _ in range(9):
    opt.zero_grad()
    out = model(x)
    mse(out, y).backward(retain_graph=True)
    out.abs().mean().backward()
    opt.step()
# by hand, under no_grad
for _ in range(9):
    mse(model(x), y).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad
            p.grad = None
# by hand, through .data
for _ in range(9):
    model.zero_grad()
    mse(model(x), y).backward()
    for p in model.parameters():
        p.data -= 0.01 * p.grad
# functional
weights = {name: p.detach().clone() for name, p in model.named_parameters()}
for _ in range(9):
    for w in weights.values():
        w.requires_grad_()
    loss = mse(torch.func.functional_call(model, weights, (x,)), y)
    grads = torch.autograd.grad(loss, list(weights.values()))
    weights = {k: (w - 0.01 * g).detach() for (k, w), g in zip(weights.items(), grads)}
# a recurrent state, detached
state = torch.zeros(16, 1)
for _ in range(9):
    state = model(x) + 0.5 * state.detach()
    STEP(mse(state, y))
# a part that is frozen, a hook that is removed
model[0].requires_grad_(False)
opt = torch.optim.AdamW(model[2].parameters())
for _ in range(9):
    handle = model[1].register_forward_hook(lambda *given: None)
    STEP
    handle.remove()
# gradients that are mended before the step, and minus infinity in a mask
mask = torch.zeros(16, 1)
mask[3] = -torch.inf
for _ in range(9):
    opt.zero_grad()
    loss = mse(model(x) * (model(x) + mask).softmax(0), y)
    (loss + (model[2].bias * 0).abs().sqrt().sum()).backward()
    for p in model.parameters():
        p.grad.nan_to_num_()
    opt.step()
# a scaler, and gradients that are clipped after unscale_ and halved before it
scaler = torch.amp.GradScaler("cpu")
for _ in range(9):
    opt.zero_grad()
    scaler.scale(mse(model(x), y)).backward()
    for p in model.parameters():
        p.grad /= 2
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
# a sharpness-aware step: up by hand, then down
for number in range(18):
    opt.zero_grad()
    mse(model(x), y).backward()
    if number % 2:
        opt.step()
    else:
        with torch.no_grad():
            for p in model.parameters():
                p += 0.01 * p.grad
# gradients of each loss apart, and their mean
for _ in range(9):
    out, apart = model(x), []
    for loss in (mse(out, y), out.abs().mean()):
        opt.zero_grad()
        loss.backward(retain_graph=True)
        apart.append([p.grad for p in model.parameters()])
    for p, *grads in zip(model.parameters(), *apart):
        p.grad = sum(grads) / 2
    opt.step()
# a batch that is left out now and then
for number in range(9):
    opt.zero_grad()
    mse(model(x), y).backward()
    if number % 4 != 2:
        opt.step()
# a part without an optimizer that is moved by hand
del opt.param_groups[0]["params"][:2]
for _ in range(9):
    STEP
    with torch.no_grad():
        for p in model[0].parameters():
            p -= 0.01 * p.grad
            p.grad = None
# a part that holds gradients from before, and another model
model[0].weight.grad = torch.ones(8, 4)
model[0].requires_grad_(False)
old = nn.Linear(4, 1)
old(x).sum().backward()
del opt.param_groups[0]["params"][:2]
for _ in range(9):
    STEP
# weights of another precision, whose gradients are copied
model.double()
masters = [p.detach().float().requires_grad_() for p in model.parameters()]
opt = torch.optim.SGD(masters, lr=0.01)
x, y = x.double(), y.double()
for _ in range(9):
    model.zero_grad()
    mse(model(x), y).backward()
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.float()
    opt.step()
    with torch.no_grad():
        for master, p in zip(masters, model.parameters()):
            p.copy_(master)
# a compiled model
fast = torch.compile(model, backend="aot_eager")
for _ in range(9):
    STEP(mse(fast(x), y))
# a loader with workers
pairs = torch.utils.data.TensorDataset(x, y)
for _ in range(2):
    for part, wanted in torch.utils.data.DataLoader(pairs, 4, num_workers=1):
        STEP(mse(model(part), wanted))
"""


@pytest.mark.parametrize("style", loops(GOOD))
def test_a_loop_without_a_mistake_is_not_accused(run, style):
    is_functional = style == "functional" or "by hand" in style
    ran = run(loops(GOOD)[style], "model" if is_functional else "model, opt")
    assert [str(one) for one in ran.seen.mistakes] == []
    assert "I stopped" not in ran.text
    if style not in ("functional", "by hand, through .data"):
        assert len(ran.seen.rounds) >= 1


@pytest.mark.parametrize("style", ["two optimizers", "by hand, through .data"])
def test_what_is_not_given_is_found(run, style):
    ran = run(loops(GOOD)[style], "")
    assert ran.seen.mistakes == []
    assert "4 of 4 parameters" in ran.text or "no step that I could see" in ran.text


BAD = """
# not emptied | loss.backward() | rounds 2–9
for _ in range(9):
    loss = mse(model(x), y)
    loss.backward()
    opt.step()
# not emptied, of a compiled model | loss.backward() | rounds 2–9
fast = torch.compile(model, backend="aot_eager")
for _ in range(9):
    loss = mse(fast(x), y)
    loss.backward()
    opt.step()
# not emptied, a closure | loss.backward() | rounds 1–9
opt = torch.optim.LBFGS(model.parameters(), max_iter=3)
def closure():
    loss = mse(model(x), y)
    loss.backward()
    return loss
for _ in range(9):
    opt.step(closure)
    opt.zero_grad()
# emptied | opt.step() | rounds 1–9
for _ in range(9):
    mse(model(x), y).backward()
    opt.zero_grad(set_to_none=False)
    opt.step()
# no step | loss.backward() | rounds 1–9
for _ in range(9):
    loss = mse(model(x), y)
    loss.backward()
# no backward, after one | opt.step() | rounds 2–9
mse(model(x), y).backward()
for _ in range(9):
    loss = mse(model(x), y)
    opt.step()
# no backward | opt.step() | rounds 1–9
for _ in range(9):
    opt.zero_grad()
    loss = mse(model(x), y)
    opt.step()
# unreached | opt.step() | rounds 1–9
weight = torch.ones(1, requires_grad=True)
for _ in range(9):
    STEP(mse(model(x).detach() * weight, y))
# twice | loss.backward() | rounds 1–9
for _ in range(9):
    opt.zero_grad()
    loss = mse(model(x), y)
    loss.backward(retain_graph=True)
    print(end="")
    loss.backward()
    opt.step()
# kept, a list | losses.append(loss) | seen from round 4 on
losses = []
for _ in range(9):
    STEP
    losses.append(loss)
# kept, a sum | total = total + loss | seen from round 4 on
total = 0
for _ in range(9):
    STEP
    total = total + loss
# kept, in one entry of a dict | history["spread"].append(out.std()) | seen from round 4 on
history = {"loss": [], "spread": []}
for _ in range(9):
    out = model(x)
    STEP(mse(out, y))
    history["loss"].append(loss.item())
    history["spread"].append(out.std())
# kept, in a dict that begins at 0 | sums["train"] += loss | seen from round 4 on
from collections import defaultdict
sums = defaultdict(float)
for _ in range(9):
    STEP
    sums["train"] += loss
# kept, out of sight | | seen from round 4 on
log = type("Log", (), {"__slots__": ("kept",)})()
log.kept = []
for _ in range(9):
    STEP
    log.kept.append(loss)
# reaches back | loss.backward(retain_graph=True) | seen from round 3 on
opt = torch.optim.Adam(model.parameters(), fused=True)
state = torch.zeros(16, 1)
for _ in range(9):
    state = model(x) + 0.5 * state
    loss = mse(state, y)
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
# hooks | model[1].register_forward_hook(lambda *given: None) | seen from round 3 on
model[2].register_forward_hook(lambda *given: None)
for _ in range(9):
    model[1].register_forward_hook(lambda *given: None)
    STEP
# others | | seen from round 2 on
model[2] = nn.Linear(8, 1)
for _ in range(9):
    STEP
# eval | | seen from round 2 on
model.append(nn.Dropout(0.5))
model.eval()
for _ in range(9):
    STEP
# retained | loss.backward(retain_graph=True) | rounds 3–9
for _ in range(9):
    opt.zero_grad()
    loss = mse(model(x), y)
    loss.backward(retain_graph=True)
    opt.step()
# kept, in a meter | meter.sum = meter.sum + loss | seen from round 4 on
class Meter:
    sum = 0
Meter.__module__ = "__main__"
meter = Meter()
for _ in range(9):
    STEP
    meter.sum = meter.sum + loss
# kept, in the model | model.total += loss | seen from round 4 on
model.total = 0
for _ in range(9):
    STEP
    model.total += loss
# kept, in a deque of another function | self.window.append(loss) | seen from round 4 on
from collections import deque
class Trainer:
    def __init__(self):
        self.window = deque(maxlen=100)
    def fit(self):
        for _ in range(9):
            opt.zero_grad()
            loss = mse(model(x), y)
            loss.backward()
            opt.step()
            self.window.append(loss)
Trainer.__module__ = "__main__"
trainer = Trainer()
trainer.fit()
# kept, for the last three rounds | losses.append(loss) | seen from round 3 on
losses = []
for _ in range(3):
    STEP
    losses.append(loss)
# lost | loss.backward() | rounds 1–3
for number in range(12):
    opt.zero_grad()
    loss = mse(model(x), y) / 4
    loss.backward()
    if number % 4 == 3:
        opt.step()
# not divided | loss.backward() | rounds 1–3
for number in range(12):
    loss = mse(model(x), y)
    loss.backward()
    if number % 4 == 3:
        opt.step()
        opt.zero_grad()
# clipped scaled | nn.utils.clip_grad_norm_(model.parameters(), 1.0) | rounds 1–9
scaler = torch.amp.GradScaler("cpu")
for _ in range(9):
    opt.zero_grad()
    scaler.scale(mse(model(x), y)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
# clipped scaled, by a fused optimizer | nn.utils.clip_grad_norm_(model.parameters(), 1.0) | rounds 2–9
opt = torch.optim.AdamW(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cpu")
for _ in range(9):
    opt.zero_grad()
    scaler.scale(mse(model(x), y)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
# not held | | rounds 1–9
del opt.param_groups[0]["params"][:2]
for _ in range(9):
    STEP
# zero, a dead relu | | rounds 1–9
model[0].bias.data.fill_(-100)
for _ in range(9):
    STEP
# zero, a bias that cancels | | rounds 1–9
for _ in range(9):
    STEP((model(x[:8]).mean() - model(x[8:]).mean()))
# never reached | | rounds 1–9
for _ in range(9):
    STEP(model[0](x).square().mean())
# loss not finite | logs = (scale * model(x).sigmoid()).log() | round 4
for scale in (1, 1, 1, 0, 0):
    opt.zero_grad()
    logs = (scale * model(x).sigmoid()).log()
    loss = mse(logs, y)
    loss.backward()
    opt.step()
# loss not finite, the data | loss.backward() | round 3
for number in range(9):
    x[number] = torch.nan if number == 2 else 1.0
    STEP
# loss not finite, it has grown | loss.backward() | round 4
opt = torch.optim.SGD(model.parameters(), lr=1e3)
for _ in range(19):
    STEP
# gradient not finite | loss.backward() | round 2
for factor in (1, 0, 0):
    STEP(((factor * model(x)).square()).sqrt().mean())
# weight not finite | opt.step() | round 2
for number in range(4):
    opt.param_groups[0]["lr"] = 3e38 if number == 1 else 1e-4
    STEP((100 * mse(model(x), y)))
# weight not finite, by hand | | round 1
for _ in range(4):
    (100 * mse(model(x), y)).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 3e38 * p.grad
            p.grad = None
# began not finite | | round 1
model[0].bias.data[2] = torch.nan
for _ in range(4):
    STEP
"""  # the kind, what its line says, the rounds, and the loop


@pytest.mark.parametrize("mistake", loops(BAD))
def test_a_mistake_is_named_with_its_line_and_its_rounds(run, mistake):
    kind, line, rounds = map(str.strip, mistake.split("|"))
    kind = kind.partition(",")[0]
    ran = run(loops(BAD)[mistake], "model" if "by hand" in mistake else "model, opt")
    found = [one for one in ran.seen.mistakes if one.kind == kind]
    assert len(found) == 1, ran.text
    assert (found[0].line.text if found[0].line else "") == line
    assert found[0].rounds == rounds
    assert " ".join(str(found[0]).split()) in ran.text
    assert {one.kind for one in ran.seen.mistakes} == {kind}, ran.text
    notes = ("retained", "not divided", "never reached", "not held", "zero")
    assert (card_of(ran.seen.notes).look == "partly") == (kind in notes)
    if kind == "emptied":
        assert "(line 10 of My_Loop.py, opt.zero_grad(set_to_none=False))" in ran.text


OPTIMIZERS = [
    "SGD(weights, lr=0.05, momentum=0.9)",
    "Adam(weights, lr=0.05)",
    "AdamW(weights, lr=0.05, fused=True)",
    "LBFGS(weights, lr=0.1, max_iter=3)",
]
RANDOM = """
losses = []
def closure():
    if chance.random() < 0.8:
        opt.zero_grad(set_to_none=chance.random() < 0.5)
    for _ in range(chance.randint(1, 3)):
        loss = mse(model(x), y)
        loss.backward(retain_graph=chance.random() < 0.3)
    losses.append(loss)
    return loss
for _ in range(12):
    if "LBFGS" in type(opt).__name__:
        opt.step(closure)
    else:
        closure()
        opt.step()
after = [*weights, *(p.grad for p in weights), *losses, torch.rand(3)]
after += [torch.tensor(p._version) for p in weights]
"""


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda text: text.partition("(")[0])
@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_the_same_to_the_bit(run, optimizer, seed):
    before = f"""
        import random
        chance = random.Random({seed})
        model.insert(1, nn.Dropout(0.3))
        weights = list(model.parameters())
        opt = torch.optim.{optimizer}
    """
    plain = run(RANDOM, setup=before, is_watched=False)
    ran = run(RANDOM, setup=before)
    assert all(torch.equal(*pair) for pair in zip(plain.after, ran.after, strict=True))
    assert "I stopped" not in ran.text
    assert ("no version counter, so I can't tell" in ran.text) == ("fused" in optimizer)


def global_traces():
    hooks = hooks_of_torch._global_optimizer_pre_hooks, hooks_of_torch._global_optimizer_post_hooks
    return torch.autograd.backward, torch.autograd.grad, list(map(len, hooks))


def test_nothing_is_left_behind(run):
    def traces(ran):
        parts = [*ran.model.modules(), *ran.model.parameters(), ran.loss.grad_fn, ran.opt]
        hooks = [(name, getattr(one, name)) for one in parts for name in dir(one) if "hook" in name]
        kept = [(name, len(one or ())) for name, one in hooks if not callable(one)]
        return kept, sorted(vars(ran.opt)), ran.loss.grad_fn.metadata

    before = global_traces()
    plain = traces(run(loops(GOOD)["plain"], is_watched=False))
    assert traces(run(loops(GOOD)["plain"])) == plain
    assert global_traces() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_loop_that_is_stopped_shows_what_was_seen_and_passes_the_error_on(run, capsys, error):
    before = global_traces()
    loop = f"""
        for number in range(100):
            mse(model(x), y).backward()
            opt.step()
            if number == 5:
                raise {error.__name__}
    """
    with pytest.raises(error):
        run(loop)
    text = capsys.readouterr().out
    assert f"The loop ended with {error.__name__}." in text
    assert "rounds 2–6" in text
    assert global_traces() == before


def test_of_a_loop_that_an_error_ended_it_is_not_said_that_there_was_no_mistake(run, capsys):
    with pytest.raises(ValueError, match="late"):
        run("for _ in range(3):\n    STEP\nraise ValueError('late')")
    assert "I found no mistake before it ended." in capsys.readouterr().out


def test_a_fault_of_ours_ends_the_notes_and_not_the_loop(run, monkeypatch):
    monkeypatch.setattr("autograd_graphs.monitoring.live_graphs.alive", lambda tensors: 1 / 0)
    plain = run(loops(GOOD)["plain"], is_watched=False)
    ran = run(loops(GOOD)["plain"])
    assert "I stopped taking notes (ZeroDivisionError)" in ran.text
    assert torch.equal(plain.model[0].weight, ran.model[0].weight)


def test_figures_tell_what_moved_and_what_is_alive(run):
    ran = run("losses = []\nfor _ in range(9):\n    STEP\n    losses.append(loss)")
    last = ran.seen.rounds[-1]
    assert (last.number, last.parameters, last.with_gradient) == (9, 4, 4)
    assert last.by_step == {id(one) for one in ran.model.parameters()}
    assert last.was_emptied
    (_, first, size), (number, later, _) = ran.seen.notes.alive
    assert (number, later) == (8, 8 * (first - 4) + 4), "eight graphs share four leaves"
    assert size == 896


def test_watch_runs_a_function_and_returns_what_it_returns(capsys):
    weight = torch.ones(1, requires_grad=True)
    assert watch(lambda: weight.sum().backward() or 3) == 3
    assert "1 backward() and no step that I could see" in capsys.readouterr().out


def test_means_whose_gradients_were_set_to_zero_in_between_do_not_add_up(run):
    ran = run("""
        for number in range(12):
            opt.zero_grad(set_to_none=False)
            mse(model(x), y).backward()
            if number % 4 == 3:
                opt.step()
    """)
    assert "not divided" not in {one.kind for one in ran.seen.mistakes}


def test_each_optimizer_has_rounds_and_mistakes_of_its_own(run):
    ran = run("""
        other = torch.optim.Adam([torch.ones(1, requires_grad=True)])
        for number in range(9):
            STEP
            if number % 3 == 0:
                other.param_groups[0]["params"][0].sum().backward()
                other.step()
    """)
    assert [str(one).partition(". ")[0].partition(", ")[2] for one in ran.seen.mistakes] == [
        "rounds 2–3 of Adam"
    ]


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (watch, None, "Pass the function that trains, without calling it"),
        (watch, nn.Linear(1, 1), "Pass the function that trains"),
        (watching, [3], "Pass the model and the optimizer"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_a_sentence(call, given, said):
    with pytest.raises(TypeError, match=said):
        call(given)


def test_the_page_about_it_shows_what_its_loop_prints(tmp_path, capsys):
    page = (ROOT / "docs" / "your-own-loop.md").read_text("utf-8")
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", page, re.S)
    space = {"torch": torch, "nn": nn}
    exec(SETUP, space)
    space |= {"optimizer": space["opt"], "cross_entropy": space["mse"]}
    space["loader"] = [(space["x"], space["y"])] * 9
    file = tmp_path / "loop.py"
    file.write_text(code, encoding="utf-8")
    exec(compile(code, str(file), "exec"), space)
    assert capsys.readouterr().out == printed
