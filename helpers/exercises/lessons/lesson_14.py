"""Exercises of lesson 14, hooks and debugging: the case in other clothes, an engine with hooks, whose hook
changes a gradient, two ways of clipping, where a NaN is born, and a guard that you keep.
"""

import itertools
from collections.abc import Callable
from functools import partial
from math import isfinite
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.engine.checks import HOOKED, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import as_tuple, same
from helpers.exercises.recognise import at, fails, fails_first, first_wrong, shows, wrong_in
from helpers.exercises.watched_inputs import (
    NO_TENSOR,
    NOT_A_TENSOR,
    no_loss,
    readable,
)

# Bound here: a student may have put others in their place.
_grad, _tensor, _full = torch.autograd.grad, torch.tensor, torch.full_like

_RETURNS = "What does this function return: a gradient, or nothing?"
_PATH = "Does backward come past the tensor that the hook is on?"
_TIME = "Is the hook there when backward comes by?"
_BEGIN = "seen = []\nw = torch.tensor({}, requires_grad=True)\nh = w * {}\ny = h**2"
HOOKS = Lines(
    read="“Can you trust a witness?”, and the answers below the lab",
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
        "h.register_hook(lambda g: g * 2); h = w * 7": "Which tensor was `y` computed from?",
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
    right="In these lines, a hook that was there in time, at a place where backward comes past, returned a different"
    " gradient.",
    asked="Each line starts from fresh tensors. It runs, and then `y.backward()` is called, unless the line has called"
    " it already. Which lines change `w.grad`? Give a list of letters.",
    **HOOKS.first("abcdef"),
    hints=(
        "Ask three things of each hook: is it on the right tensor, is it there in time, and what does it return?",
        "A hook that returns None and edits nothing in place leaves the gradient alone, and `append` returns None. What"
        " `detach()` returns is a different tensor, and `y` wasn't computed from it.",
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
    right="The first clipping shortens both by the same factor. The second cuts off only what's over its limit,"
    " and that changes the direction.",
    principle="clipping by norm multiplies all gradients by one factor, and clipping by value cuts each one on its own.",
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
        "The factor is the limit divided by the norm, the same for both. The second clipping starts"
        " from what the first one left.",
    ),
)


_SLOPE = "Is a slope infinite at 0, and does a 0 meet it on the way back?"
_FORWARD = "Is a number of the forward pass already infinite or NaN?"
_SAFE = "Which number does the operation get in place of 0?"
NANS = Lines(
    read="“Which line?”, and the case of lesson 05",
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
    right="In these lines, 0 was divided by 0, or an infinity met a 0. An infinity on its own isn't a NaN.",
    asked="Each line starts from a fresh `x`, and then `y.sum().backward()` runs. After which lines is there a"
    " NaN in `x.grad`? Give a list of letters.",
    **NANS.first("abcdef"),
    hints=(
        "Look at the element 0 alone, and walk back from `y`. Which slopes is the 1 multiplied by?",
        "The slopes of `sqrt` and of `log` are infinite at 0. `inf` isn't NaN, but 0 · `inf` is.",
    ),
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
    kept = same(_grads(model), gradients)
    reported.clear()
    others.clear()
    guarded(_send, model, values)
    left = -1  # the hook that was there before
    for parameter in model.parameters():
        for hooks in (parameter._backward_hooks, parameter._post_accumulate_grad_hooks):
            left += len(hooks or ())
    found = "as it was" if others else "a hook that isn't yours is gone"
    if _modes(model) != modes:
        found = "a flag or a mode has changed"
    return [*seen, gradients, len(reported), left, found if kept else "`stop()` changed `.grad`"]


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
    right="It names what isn't finite, touches nothing, and leaves without a trace. Keep it for your own models.",
    principle="a hook on a parameter sees what one call sends, and stays until its handle removes it.",
    known={
        "What your function returns can't be called. Let it return a function that takes the hooks"
        " off again.": shows(_NO_STOP),
        "Backward stopped with an error, which the case below shows. Does your hook raise"
        " it?": _hook_failed,
        "A frozen parameter can't take a hook. Pass over those that don't require grad.": fails(
            "cannot register a hook"
        ),
        "The gradients aren't what they'd be without your guard. A hook that only looks returns"
        " nothing, not even what `report` returns. And it leaves `.grad` and every flag"
        " alone.": wrong_in(3),
    },
    hints=(
        "Which kind of hook is given the gradient of one call, before it's added to `.grad`? And which parameters can"
        " have one?",
        "`handle = one.register_hook(…)`, for each `name, one` of `model.named_parameters()` that"
        " requires grad. Ask `gradient.isfinite().all()`. Collect the handles.",
    ),
    reference="""
def answer(model, report):
    def watch(name):
        def hook(gradient):
            if not gradient.isfinite().all():  # every number counts, and an infinity is as bad as a NaN
~           if gradient.isnan().any():  # You don't report an infinity. `isnan` sees only the NaNs.
~           if gradient.isinf().any():  # You don't report a NaN. `isinf` sees only the infinities.
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
~   for name, one in ():  # Nothing is reported at all. Is there a hook on each parameter, and does it call
~       # `report`?
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


def _loss_seen(returned: object, z: torch.Tensor, q: torch.Tensor) -> list[object]:
    gradient = no_loss(returned)
    if not gradient:
        sent = guarded(lambda: readable(_grad(returned, z)[0].flatten()))
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


def _rows(z: list[list[float]], q: list[list[float]]) -> Callable:
    code = f"z = torch.tensor({z}, requires_grad=True)\nq = torch.tensor({q})"
    return made_by(code, "z", "q")


_SOFT, _SURE_OF_1 = [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]
_TAUGHT = (
    _rows([[0.0, 1.0, -2.0], [1.5, 0.0, 0.5]], [_SOFT, [0.125, 0.125, 0.75]]),
    _rows([[0.0, 1.0, -2.0], [2.0, 0.0, 1.0]], [_SURE_OF_1, [0.5, 0.0, 0.5]]),
    _rows([[200.0, 0.0, -3.0], [0.5, -2000.0, 0.0]], [_SOFT, _SURE_OF_1]),
)


def _others_taught(random: Random) -> tuple:
    """Draw rows that are unlike in size: a soft teacher, one that is sure, a student that is sure."""
    near = [[random.randint(-30, 30) / 10 for _ in range(3)] for _ in range(4)]
    soft = random.choice(([0.5, 0.375, 0.125], [0.25, 0.25, 0.5], [0.125, 0.625, 0.25]))
    sure = random.choice(([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]))
    far = [float(random.randint(110, 900)), 0.0, -float(random.randint(1, 9))]
    return (
        _rows(near[:2], [soft, _SOFT]),
        _rows(near[2:], [sure, [0.5, 0.0, 0.5]]),
        _rows([far, far[::-1]], [soft, _SURE_OF_1]),
    )


TAUGHT = Exercise(
    id="14.7",
    reader=function(*_TAUGHT, observe=_loss_seen, parts=("the loss", "the gradient of `z`")),
    right="However sure the two of them are, the loss and its gradient are finite. The student's logarithm is"
    " taken before anything is rounded to 0, and the teacher's zeros stay out of the sum.",
    principle="a logarithm must never be given a 0, and where a 0 comes from rounding, compute the logarithm"
    " without the rounding.",
    known={
        NO_TENSOR: shows(NOT_A_TENSOR),
        "The loss is still NaN or infinite for some rows. Which logarithm is given a 0: the teacher's, or"
        " the student's?": _not_finite(0),
        "The loss is a number now, but its gradient isn't. You took care of the result, but the"
        " logarithm itself is still given a 0.": _not_finite(1),
        "It's finite, but no longer the same loss for a student that's sure and wrong. Something caps it,"
        " perhaps a `clamp` or a number that you add. Compute the logarithm without the rounding"
        " instead.": first_wrong(2),
    },
    hints=(
        "There are two logarithms, and each can be given a 0: `q` may *be* 0, and `p` may be rounded to 0."
        " They need different remedies.",
        "`z.log_softmax(1)` is the logarithm of the softmax without the rounding. For the teacher,"
        " `torch.where(q > 0, q, 1.0).log()` is safe. (`nn.functional.kl_div` can do both, if you give it"
        " the right two things.)",
    ),
    reference="""
def answer(z, q):
    log_p = z.log_softmax(1)
~   log_p = z.log_softmax(0)  # Your softmax runs along the columns. The probabilities of one point are in a row: dim 1.
~   log_p = z.softmax(1)  # You used the student's probabilities where their logarithm belongs. (`kl_div` wants
~       # logarithms first, too.)
~   log_p = (z.softmax(1) + 1e-8).log()  # It's finite, but it isn't the same loss any more. What you add
~       # inside the logarithm caps the loss of a student that's sure and wrong.
~   log_p = z.softmax(1).clamp(min=1e-7).log()  # It's finite, but a student that's sure and wrong hardly gets
~       # any gradient, because below its limit `clamp` is flat. It would never learn that row.
    log_q = torch.where(q > 0, q, 1.0).log()  # the teacher's logarithm must never be given a 0
    return (q * (log_q - log_p)).sum(1).mean()
~   return (q * (log_q - log_p)).mean()  # You took the mean over all the numbers. Sum along each row first, then take
~       # the mean over the rows.
~   return (q * (log_q - log_p)).sum(1)  # You return one number for each row. The loss is their mean.
~   return (q * (log_p - log_q)).sum(1).mean()  # You have the two logarithms the wrong way round, so the loss is negative.
~   return (q * (log_q - log_p)).sum()  # This is the sum over the rows. We want their mean.
~   return -(q * log_p).sum(1).mean()  # This is the cross entropy. Its gradient is the same, but the loss isn't, because
~       # the teacher's part is missing.
~   return (log_p.exp() * (log_p - log_q)).sum(1).mean()  # You measured the distance the other way round, from the
~       # student to the teacher. The weights should be the teacher's probabilities.

# Or in one line, since kl_div takes a 0 in q for what it is:
#     return torch.nn.functional.kl_div(z.log_softmax(1), q, reduction="batchmean")
""",
    cases=_others_taught,
)


def _not_passed_on(seen: tuple, right: tuple) -> bool:
    return fails_first("object is not iterable")(seen, right) and isinstance(seen[0], Failed)


HOOKED_ENGINE = Exercise(
    id="14.8",
    stage="14",
    reader=function(*cases("14"), promises=HOOKED),
    truth=lambda: on_torch,
    solution=yours("14"),
    cases=lambda random: cases("14", random),
    right="You can listen in on your own engine, and change what goes by. A hook before a node is called once,"
    " with the whole sum, because a node waits until everything has arrived.",
    principle="a node runs between two lists of hooks, and what a hook returns takes the place of what it was"
    " given.",
    known={
        "`evaluate` has to return what the node hands on, even where there are no hooks at all.": (
            _not_passed_on
        ),
        "Without the flag, a second backward should be refused. Let `run_node` run the node: it also"
        " throws the photographs away.": at([1], [0]),
        "With `retain_graph=True` the photographs should stay. Hand the flag on to `run_node`.": at(
            [2], [0]
        ),
        "Where a hook returns None, what it was given goes on. You took its None for a gradient.": fails(
            "NoneType", cases=slice(3, 4)
        ),
        "A hook before a node is called with the gradient itself, and not with a tuple.": fails(
            "'tuple' object has no attribute", cases=slice(3, 4)
        ),
        "The hook ran twice in one backward. It belongs in the list once, and each pass calls it"
        " once.": at([3, 9], [1], "h 19.0, 19.0", "x 114.0, 114.0"),
        "The hook on `h` saw nothing. Does `register` put it into the list, and do you call the hooks in"
        " `node.before`?": at([3], [1], ""),
        "What this hook returns should go on in place of the gradient. Call the hooks *before* the node"
        " runs, and hand the node what they return.": at([4], [0], (114.0,)),
        "There are three hooks on `h`, and the last one to be registered threw the others out. A new hook"
        " goes to the end of the list.": at([5], [0], (36.0,)),
        "A hook is given what comes out of the hook before it, but yours is given what arrived"
        " in the first place.": at([5], [1], "h 12.0, 12.0"),
        "The third hook on `h` never ran. Every hook in the list has its turn, even if one before it has"
        " returned something, or is the same function.": at([5], [1], "h 12.0"),
        "Hooks run in the order in which they were registered: first times ten, then plus one. Put a new one"
        " at the end of the list.": at([6], [0], (390.0,)),
        "`register` has to return a `Handle`, or you could never take a hook off again.": fails(
            "has no attribute 'remove'", "Handle.remove() missing"
        ),
        "`Handle` wants the list first, and then the hook.": fails(
            "argument of type", cases=slice(7, 9)
        ),
        "This hook was taken off, but it still runs. A `Handle` needs the very list that the hook is"
        " in.": at([7, 8], [0]),
        "The hook on the leaf `x` ran before `.grad` was filled. Hooks *after* a node come below"
        " `run_node`.": at([9], [1], "x None"),
        "A hook that waits until `x.grad` is filled never ran. It's a hook *after* a node: call those"
        " as well, each of them once.": at([9], [1], ""),
        "A hook after a node may return None, too, and then nothing changes. You took its None for a"
        " tuple.": fails("'NoneType'", cases=slice(9, 10)),
        "A hook after a node is given two tuples: what the node hands on, and `(grad,)`.": fails(
            "not iterable", "after * must be an iterable", "argument: 'arrived'", cases=slice(9, 11)
        ),
        "A hook on the node of `h` never ran. Any node can have hooks after it, not only that of a"
        " leaf.": at([10], [1], ""),
        "The two tuples are the wrong way round. First comes what the node hands on, then what it was"
        " given.": at([10], [1], "h 57.0, 57.0, 19.0"),
        "What a node was *given* is what comes out of the hooks before it. Here that's 38, and no longer the 19"
        " that arrived.": at([11], [1]),
        "This hook runs after the node and returns a different tuple. Hand that one on in place of"
        " the first.": at([12], [0]),
        "Two hooks after one node run in the order in which they were registered, and the second one is"
        " given what the first has returned.": at([13], [1]),
        "The hook ran in the first backward, but not in the second. It stays until its handle removes it.": at(
            [14, 16], [1]
        ),
        "The hook failed, and you swallowed its error. Whoever wrote it has to see it.": at(
            [17], [0]
        ),
        "Hooks can be recorded as well, but here their part of the second derivative is missing. Hand a"
        " hook the gradient itself, a Value with its history, and go on with the very Value that it"
        " returns.": at([18], [0]),
    },
    hints=(
        "`register` is two lines: append the hook, and return `Handle(hooks, hook)`.",
        "In `evaluate`, go through `node.before`: `changed = hook(grad)`, and if that isn't None, it's the new"
        " `grad`. Then `grads = run_node(node, grad, retain_graph)`. Then through `node.after` in the same way.",
        "A hook after a node is called with `grads`, which is a tuple already, and with `(grad,)`.",
    ),
)

EXERCISES = (TAUGHT, HOOKED_ENGINE, CHANGED, CLIPPING, NAN, GUARD)
