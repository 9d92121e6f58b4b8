"""Exercises of lesson 14, hooks and debugging: whose hook changes a gradient, two ways of clipping, where a
NaN arises, a guard that one keeps, and the case.
"""

import itertools
from collections.abc import Callable
from functools import partial
from math import isfinite
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import as_tuple, same
from helpers.exercises.recognise import shows, wrong_in
from helpers.exercises.watched_inputs import (
    NO_TENSOR,
    NOT_A_TENSOR,
    SEVERAL,
    leaf,
    no_loss,
    readable,
)

# Bound here: a student may have put others in their place.
_grad, _tensor, _full = torch.autograd.grad, torch.tensor, torch.full_like

_RETURNS = "What does this function return: a gradient, or nothing?"
_PATH = "Does backward pass the tensor that the hook is on?"
_TIME = "Is the hook there when backward comes?"
_BEGIN = "seen = []\nw = torch.tensor({}, requires_grad=True)\nh = w * {}\ny = h**2"
HOOKS = Lines(
    read="idea 1, and the reason behind the lab",
    begins=(_BEGIN.format(2.0, 3), _BEGIN.format(3.0, 2), _BEGIN.format(5.0, 2)),
    lines={
        "h.register_hook(lambda g: g * 2)": _RETURNS,
        "h.register_hook(lambda g: seen.append(g))": _RETURNS,
        "h.detach().requires_grad_().register_hook(lambda g: g * 2)": _PATH,
        "w.register_hook(lambda g: -g)": _RETURNS,
        "y.backward(); h.register_hook(lambda g: g * 2)": _TIME,
        "h.register_hook(lambda g: g * 2).remove()": _TIME,
        "y.register_hook(lambda g: g * 3)": _PATH,
        "w.register_post_accumulate_grad_hook(lambda w: seen.append(w.grad))": (
            "Does this hook write into `w.grad`, or only look?"
        ),
        "h.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))": _RETURNS,
        "(w * 7).register_hook(lambda g: g * 2)": _PATH,
        "h.retain_grad()": "Does it change a gradient, or keep one?",
        "h.register_hook(lambda g: g * 2); h = w * 7": "Which tensor was `y` made of?",
        "w.register_hook(lambda g: None)": _RETURNS,
    },
    trial="""
{begin}
exec(line)
if w.grad is None:
    y.backward()
found = w.grad.item()
{begin}
y.backward()
if w.grad.item() != found:
    answer.append(letter)
""",
)

CHANGED = Exercise(
    id="14.1",
    right="With these, a hook that was there in time, at a place that backward passes, returned another gradient.",
    asked="Before each letter all tensors are new. Its line runs, and then `y.backward()`, unless the line has called"
    " it. With which lines is `w.grad` another number than without them? Give a list of letters.",
    **HOOKS.first("abcdef"),
    hints=(
        "Ask three things of each hook: is it on the right tensor, is it there in time, and what does it return?",
        "A hook that returns nothing, and edits nothing in place, changes nothing. `append` returns nothing. A tensor from"
        " `detach()` is another tensor, and `y` was not made of it.",
    ),
)


_LOSSES = (
    "(weights[0] * {a} + weights[1] * {b}).backward()\n",
    "for one, x in zip(weights, ({a}, {b})):\n    (one * x).backward()\n",
    "(weights[1] * {b}).backward()\n(weights[0] * {a}).backward()\n",
    "x, y = {a}, {b}\n(x * weights[0] + y * weights[1]).backward()\n",
)


def _clipping(data: Data) -> str:
    return (
        "weights = [torch.tensor(1.0, requires_grad=True) for _ in range(2)]\n"
        f"{data['loss'].format_map(data)}"
        f"torch.nn.utils.clip_grad_norm_(weights, {data['norm']})\n"
        "first = [one.grad.item() for one in weights]\n"
        f"torch.nn.utils.clip_grad_value_(weights, {data['cut']})\n"
        "second = [one.grad.item() for one in weights]\nanswer = first + second\n"
    )


def _clipped_place(at: int, name: str) -> Place:
    return Place(
        f"`first[{at}]`",
        "the gradient times the limit, divided by the norm of both",
        {
            "the gradient as it came": name,
            "the gradient cut off at the limit of the norm": f"min({name}, norm)",
            "the gradient divided by the norm, without the limit": f"{name} / length",
        },
    )


def _cut_place(at: int, name: str) -> Place:
    scaled = f"{name} * norm / length"
    return Place(
        f"`second[{at}]`",
        "what the first clipping left, cut off at the second limit",
        {"what a second clipping by norm would leave": f"{name} * cut / length"},
        {
            "what the first clipping left, and this is over the limit": scaled,
            "the limit, and what the first clipping left is smaller": "cut",
        },
    )


def _other_clipping(random: Random) -> Data:
    """Draw two gradients of unlike size, a limit of the norm that acts, and a cut between both."""
    short, long, norm = random.choice(((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25)))
    times, small = random.randint(2, 4), random.choice((0.5, 1, 1.5))
    pair = random.sample((short, long), 2)
    between = (short + long) / 2 * small
    limits = {"norm": norm * small, "cut": between, "loss": random.choice(_LOSSES)}
    return {"a": pair[0] * times, "b": pair[1] * times, "length": norm * times} | limits


CLIPPING = Exercise(
    id="14.2",
    right="The first clipping shortens both alike. The second one cuts only what is over its limit,"
    " and turns the direction.",
    principle="clipping by norm multiplies all gradients by one factor, and clipping by value cuts each by itself.",
    quantities=Quantities(
        program=_clipping,
        data={"a": 6, "b": 8, "length": 10, "norm": 5.0, "cut": 3.5, "loss": _LOSSES[0]},
        draw=_other_clipping,
        places=(
            _clipped_place(0, "a"),
            _clipped_place(1, "b"),
            _cut_place(0, "a"),
            _cut_place(1, "b"),
        ),
    ),
    asked="What do the two lists hold? Give four numbers, `first` and then `second`.",
    hints=(
        "How long is the vector of both gradients? Clipping by norm makes it as long as its limit.",
        "The factor is the limit divided by the norm, the same for both. The second clipping begins"
        " with what the first one left.",
    ),
)


_SLOPE = "Is a slope infinite at 0, and does backward multiply it by a 0?"
_FORWARD = "Is a number of the forward pass already infinite or NaN?"
_SAFE = "Which number does the operation get in place of 0?"
NANS = Lines(
    read="idea 3, and part 6 of lesson 05",
    begins=tuple(f"x = torch.tensor([0.0, {x}], requires_grad=True)" for x in (4.0, 9.0, 1.0, 2.0)),
    lines={
        "y = torch.where(x > 0, x.log(), 0.0)": _SLOPE,
        "y = torch.where(x > 0, x, 1.0).log()": _SAFE,
        "y = x.sqrt()": _SLOPE,
        "y = x.sqrt() * x": _SLOPE,
        "y = (x**2).sqrt()": _SLOPE,
        "y = (x + 1e-8).sqrt() * x": _SAFE,
        "y = x / x": _FORWARD,
        "y = x * x.log()": _FORWARD,
        "y = x.clamp(min=1e-6).log()": _SAFE,
        "y = x.abs().sqrt() + x": _SLOPE,
        "y = (x - 1).exp()": _FORWARD,
        "y = torch.where(x > 0, x.sqrt(), x)": _SLOPE,
    },
    trial="""
{begin}
exec(line)
y.sum().backward()
if x.grad.isnan().any():
    answer.append(letter)
""",
)

NAN = Exercise(
    id="14.3",
    right="After these, 0 was divided by 0, or an infinity met a 0. An infinity alone is no NaN.",
    asked="Each letter has a new `x` and makes a new `y`, and then `y.sum().backward()` runs. After"
    " which lines is there a NaN in `x.grad`? Give a list of letters.",
    **NANS.first("abcdef"),
    hints=(
        "Take the element 0 alone. Go back from `y`: by which slopes is the 1 multiplied?",
        "The slopes of `sqrt` and of `log` are infinite at 0. `inf` is not NaN, and 0 · `inf` is.",
    ),
)


PROGRAMS = Faults("""
w = torch.tensor([{a}.0, {b}.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
for x in ({c}.0, {d}.0):
    optimizer.zero_grad()
    (w * x).sum().backward()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    optimizer.step()
print(w)
look at: w.tolist()
6: torch.nn.utils.clip_grad_norm_([w.detach()], 1.0)
6: torch.nn.utils.clip_grad_norm_([w * 1], 1.0)

w = torch.tensor({a}.0, requires_grad=True)
for x in ({b}.0, {c}.0):
    h = w * x
    h.register_hook(lambda g: g * {d})
    h.backward()
print(w.grad)
look at: w.grad.item()
4: (h * 1).register_hook(lambda g: g * {d})
4: h.detach().requires_grad_().register_hook(lambda g: g * {d})

p = torch.tensor([0.0, 1.0, {a}.0], requires_grad=True)
safe = torch.where(p > 0, p, 1.0)
logs = safe.log()
terms = torch.where(p > 0, p * logs, 0.0)
loss = (terms * {b}).sum()
loss.backward()
print(p.grad)
look at: p.grad
3: logs = p.log()
2: safe = torch.where(p > 0, p, 0.0)

x = torch.tensor([{a}.0, {b}.0], requires_grad=True)
gap = x - torch.tensor([{a}.0, {c}.0])
square = gap**2
size = (square + 1e-8).sqrt()
loss = size.sum() * {d}
loss.backward()
print(x.grad)
look at: x.grad
4: size = square.sqrt()
4: size = square.sqrt() + 1e-8
""")

LINE = Exercise(
    id="14.4",
    right="That line makes what its author wanted to avoid, and nothing raises.",
    asked="With one line of this program a gradient becomes NaN, or a hook or a clipping has no"
    " effect. Which line? Give its number.",
    principle="with a hook or a clipping, ask which tensor it is given. With a NaN, ask which line made the infinity.",
    hints=(
        "Is there a hook, or a clipping? Does backward pass the tensor that it is given?",
        "Is there a root or a logarithm? Look at the number that it gets, and not at the line that picks the result.",
    ),
    **PROGRAMS.first(a=2, b=3, c=5, d=7),
)


_NO_STOP = "no function to stop it"
_BAD = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _guarded_model(sizes: str, bad: dict[str, str], frozen: str = "", stale: str = "") -> Callable:
    """Return a case: a model, where to report to, which gradients turn bad, and what is frozen or has a
    NaN in its `.grad` from before. There `report` returns zeros, which nobody may take for a gradient.
    """
    layers = list(itertools.pairwise(map(int, sizes.split())))
    text = ", ".join(f"nn.Linear({inputs}, {outputs})" for inputs, outputs in layers)

    @written(f"model = nn.Sequential({text})" + (f"; {frozen} is frozen" if frozen else ""))
    def make() -> tuple:
        model = nn.Sequential(*(nn.Linear(inputs, outputs) for inputs, outputs in layers))
        parameters = dict(model.named_parameters())
        if frozen:
            parameters[frozen].requires_grad_(False)
        if stale:
            parameters[stale].grad = _full(parameters[stale], float("nan"))
        reported, others = [], []

        def report(name: str) -> object:
            reported.append(name)
            known = isinstance(name, str) and name in parameters
            return torch.zeros_like(parameters[name]) if stale and known else None

        parameters["0.bias"].register_hook(lambda gradient: others.append(1))
        model.told = partial(_gather, model, reported, bad, others, _modes(model))
        return model, report

    return make


def _send(model: nn.Module, values: dict[str, float]) -> None:
    """Send each parameter a gradient that holds one number, 2.0 where none is named; what is not finite
    is in one place of it, and of a weight in its last two.
    """
    total = 0
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        value = values.get(name, 2.0)
        sent = _full(parameter, value if isfinite(value) else 2.0)
        sent.view(-1)[-parameter.dim() :] = value
        total = total + (parameter * sent).sum()
    total.backward()


def _modes(model: nn.Module) -> list[bool]:
    modes = [module.training for module in model.modules()]
    return modes + [parameter.requires_grad for parameter in model.parameters()]


def _grads(model: nn.Module) -> tuple:
    return tuple(readable(parameter.grad) for parameter in model.parameters())


def _gather(
    model: nn.Module, reported: list, bad: dict, others: list, modes: list, stop: Callable
) -> list[object]:
    seen = []
    values = {name: _BAD[kind] for name, kind in bad.items()}
    for sent in ({"0.bias": 2e38}, values, values):  # first all are finite, and their sum is not
        reported.clear()
        failed = guarded(_send, model, sent)
        seen.append(sorted(map(str, reported)) if failed is None else f"{_STOPPED} {failed}")
    gradients = _grads(model)
    stop()
    kept = same(_grads(model), gradients) and _modes(model) == modes
    reported.clear()
    others.clear()
    guarded(_send, model, values)
    left = -1  # the hook that was there before
    for parameter in model.parameters():
        for hooks in (parameter._backward_hooks, parameter._post_accumulate_grad_hooks):
            left += len(hooks or ())
    return [*seen, gradients, len(reported), left, "as it was" if kept and others else "changed"]


def _reports(returned: object, model: nn.Module, report: Callable) -> list[object]:
    if not callable(returned):
        return [_NO_STOP, [], [], [], 0, 0, ""]
    return model.told(returned)


_STOPPED = "backward raised"


def _hook_failed(seen: tuple, right: tuple) -> bool:
    told = [part for case in seen if isinstance(case, tuple) for part in case[:2]]
    return any(isinstance(part, str) and part.startswith(_STOPPED) for part in told)


_GUARDED = (
    _guarded_model("2 2 1", {"0.weight": "nan"}),
    _guarded_model("2 3 1", {"1.weight": "inf", "0.bias": "nan"}, frozen="0.weight"),
    _guarded_model("2 2 2 1", {"1.bias": "-inf", "2.weight": "nan"}, stale="0.bias"),
)


def _other_guarded(random: Random) -> tuple:
    """Draw which gradients turn bad; one parameter is frozen, and one has a stale NaN."""
    first, second, third = random.sample(("0.weight", "1.bias", "1.weight", "2.bias"), 3)
    kinds = [random.choice(("nan", "inf", "-inf")) for _ in range(2)]
    return (
        _guarded_model("2 2 2 1", {first: "nan", second: "inf"}),
        _guarded_model("2 3 2 1", {second: kinds[0]}, frozen=third),
        _guarded_model("2 2 3 1", {first: kinds[1], third: "nan"}, stale="0.bias"),
    )


GUARD = Exercise(
    id="14.5",
    reader=function(
        *_GUARDED,
        observe=_reports,
        promises=(
            "reports where all is finite",
            "reports where it is not",
            "reports of the same once more",
            "the gradients",
            "reports after `stop()`",
            "hooks of yours that are left",
            "the model and hooks of others",
        ),
    ),
    right="It names what is not finite, touches nothing, and leaves without a trace. Keep it for your own models.",
    principle="a hook on a parameter sees what one call brings, and stays until its handle removes it.",
    known={
        "Your function returns nothing that can be called. Let it return a function that takes the"
        " hooks off again.": shows(_NO_STOP),
        "Backward stopped with an error, which the case below shows. Does your hook raise"
        " it?": _hook_failed,
        "The gradients aren't what they'd be without your guard. A hook that only looks returns"
        " nothing, not even what `report` returns. And it leaves `.grad` and every flag"
        " alone.": wrong_in(3),
    },
    hints=(
        "Which hook is given the gradient of one call, before it is added to `.grad`? Which parameters can have one?",
        "`handle = one.register_hook(…)`, for each `name, one` of `model.named_parameters()` that"
        " requires grad. Ask `gradient.isfinite().all()`. Collect the handles.",
    ),
    reference="""
def answer(model, report):
    def watch(name):
        def hook(gradient):
            if not gradient.isfinite().all():  # every number counts, and an infinity is as bad as a NaN
~           if gradient.isnan().any():  # You don't report an infinity. `isnan` sees only the NaNs.
~           if not gradient.sum().isfinite():  # You look at a sum or a norm. For large numbers it can be infinite
~               # although each of them is finite.
~           if not gradient.isfinite().any():  # You don't look at every number in the gradient. One that isn't
~               # finite is enough, wherever it is.
~           for number in gradient.flatten()[~gradient.isfinite().flatten()]:  # You report once for each bad
~               # element. One report per gradient is enough.
~           if not gradient.isfinite().all() and not vars(hook).setdefault(name, False) and not vars(hook).update({name: True}):
~               # You report only the first bad gradient of a parameter. We want a report every time there is one.
                report(name)
        return hook

    handles = []
    for name, one in model.named_parameters():
~   for name, one in ():  # Nothing is reported at all. Is the hook on the parameters?
        if one.requires_grad:  # a frozen parameter can't take a hook
            handles.append(one.register_hook(watch(name)))
~           handles.append(one.register_hook(lambda gradient: watch(name)(gradient)))  # Every report has the name
~               # of the last parameter. Your hook looks the name up when it runs, but by then the loop has ended.
~               # Give each hook a name of its own, as in `lambda g, name=name: …`.
~           handles.append(one.register_post_accumulate_grad_hook(lambda one, see=watch(name): see(one.grad)))
~               # A NaN that was already in `.grad` is reported as well, because your hook looks at the sum. Which
~               # kind of hook sees only what this one backward sends?

    def stop():
~       nonlocal report; report = print; return  # Your hooks fall silent, but they're still there. Each
~           # registration returns a handle, so keep them all and call `remove()` on each.
        for handle in handles:
            handle.remove()  # none of your hooks may be left after `stop()`
~           handle.remove(); model.zero_grad()  # `stop()` should only take its hooks off, but yours also empties
~               # `.grad`, which isn't yours to touch.
~           [one._backward_hooks.clear() for one in model.parameters() if one._backward_hooks]  # Your `stop()`
~               # takes off other people's hooks, too. Keep your handles, and call `remove()` on each.

    return stop
""",
    cases=_other_guarded,
)


def _sure(logits: tuple[float, ...], moon: tuple[float, ...]) -> Callable:
    @written(
        f"logits = torch.tensor({list(logits)})[:, None]; moon = torch.tensor({list(moon)})[:, None]"
    )
    def make() -> tuple:
        return leaf(*logits)[:, None], _tensor(moon)[:, None]

    return make


def _loss_seen(returned: object, logits: torch.Tensor, moon: torch.Tensor) -> list[object]:
    gradient = no_loss(returned)
    if not gradient:
        sent = guarded(lambda: readable(_grad(returned, logits)[0].flatten()))
        gradient = "none" if isinstance(sent, Failed) else sent
    return [readable(returned), gradient]


def _not_finite(part: int) -> Callable[[tuple, tuple], bool]:
    def is_seen(seen: tuple, right: tuple) -> bool:
        values = []
        for case in seen:
            if isinstance(case, tuple):
                values += as_tuple(case[part])
        return any(isinstance(value, float) and not isfinite(value) for value in values)

    return is_seen


_SURE = (
    _sure((0.0, 1.0, -2.0), (1.0, 0.0, 0.0)),
    _sure((20.0, -20.0, 3.0), (1.0, 0.0, 1.0)),
    _sure((2000.0, -3000.0, 0.5, -1.0), (0.0, 1.0, 1.0, 0.0)),
)


def _other_sure(random: Random) -> tuple:
    near = [random.randint(-30, 30) / 10 for _ in range(3)]
    far = [float(random.randint(18, 60)), -float(random.randint(1001, 4000))]
    return (
        _sure(tuple(near), (1.0, 0.0, 1.0)),
        _sure((far[0], near[0], -far[0]), (1.0, 1.0, 0.0)),
        _sure((far[1], -far[1], near[1]), (1.0, 0.0, 0.0)),
    )


STABLE = Exercise(
    id="14.6",
    reader=function(*_SURE, observe=_loss_seen, parts=("the loss", "the gradient of the logits")),
    right="No logarithm of 0 any more: the sigmoid and its logarithm are computed in one step. Now"
    " look for the round in which the case rounds `p` to 1.",
    principle="the infinity is made by the logarithm, so it has to get another input or another formula.",
    known={
        NO_TENSOR: shows(NOT_A_TENSOR),
        "You return one number for each point. The loss of the program at the top is their mean.": shows(
            SEVERAL
        ),
        "The loss is still NaN or infinite for some logits. A logarithm of 0 is −∞, and `exp` of a"
        " large number is ∞, whatever you do with it afterwards.": _not_finite(0),
        "The loss is finite, but its gradient isn't. You took care of the result. The logarithm"
        " itself still gets a 0.": _not_finite(1),
    },
    hints=(
        "For which logit is the sigmoid exactly 1 in a float? Then `(1 - p).log()` is −∞.",
        "`nn.functional.logsigmoid(z)` is the logarithm of the sigmoid, without the rounding. And 1 − sigmoid(z) is"
        " sigmoid(−z). There is also a loss that does it all: its name ends in `with_logits`.",
    ),
    reference="""
def answer(logits, moon):
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, moon)
~   p = logits.sigmoid().clamp(1e-7, 1 - 1e-7)
~   return -(moon * p.log() + (1 - moon) * (1 - p).log()).mean()  # It's finite, but a point that's confidently
~       # wrong gets no gradient, because outside its bounds the slope of `clamp` is 0. The model would never learn
~       # that point.
~   p = logits.clamp(-15, 15).sigmoid()
~   return -(moon * p.log() + (1 - moon) * (1 - p).log()).mean()  # It's finite, but a point that's confidently
~       # wrong gets no gradient, because outside its bounds the slope of `clamp` is 0. The model would never learn
~       # that point.
~   p = logits.sigmoid()
~   return -(moon * (p + 1e-8).log() + (1 - moon) * (1 - p + 1e-8).log()).mean()  # It's finite, but the numbers are
~       # no longer those of the program at the top. What you add inside the logarithm caps the loss of a point
~       # that's confidently wrong.
~   p = logits.sigmoid()
~   return -(moon * (p + 1e-7).log() + (1 - moon) * (1 - p + 1e-7).log()).mean()  # It's finite, but the numbers are
~       # no longer those of the program at the top. What you add inside the logarithm caps the loss of a point
~       # that's confidently wrong.
~   return torch.nn.functional.binary_cross_entropy_with_logits(logits.sigmoid(), moon)  # You take the
~       # sigmoid twice. The function with `with_logits` in its name has one inside.
~   return torch.nn.functional.binary_cross_entropy_with_logits(logits, moon, reduction="sum")  # This is the sum
~       # over the points, but the loss of the program at the top is their mean.
~   return torch.nn.functional.binary_cross_entropy_with_logits(moon, logits)  # You passed the moons where
~       # the logits belong. The logits come first.
~   return torch.nn.functional.binary_cross_entropy(logits.sigmoid(), moon)  # `binary_cross_entropy` of a sigmoid
~       # stays finite, but it caps the loss at 100, and a point that's confidently wrong gets no gradient. Is there
~       # a function that takes the logits themselves?
~   return (logits.sigmoid() - moon).square().mean()  # This is the mean squared error, which is a different loss
~       # from that of the program at the top.
""",
    cases=_other_sure,
)

EXERCISES = (CHANGED, CLIPPING, NAN, LINE, GUARD, STABLE)
