"""Exercises of lesson 08, ways out of the graph: tomorrow's estimate, the switch of an engine, and who records."""

import copy
from collections.abc import Callable
from functools import partial
from random import Random
from types import SimpleNamespace

import torch
from torch import nn

from helpers.engine.checks import SWITCHED, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Letters, Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import letters, same
from helpers.exercises.recognise import at, fails_first, shows, wrong_in
from helpers.exercises.watched_inputs import NO_TENSOR, NOT_A_TENSOR, readable

# as they are now, whatever becomes of torch's own names for them
_no_grad, _is_grad_enabled = torch.no_grad, torch.is_grad_enabled
_set_grad_enabled, _grad = torch.set_grad_enabled, torch.autograd.grad


_PROGRAM = """
x = torch.tensor([2.0, 3.0], requires_grad=True)
a = x.detach() * 2
b = a + x
with torch.no_grad():
    c = b * 2
    with torch.enable_grad():
        d = c * x
e = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.ReLU()).eval()(x)
f = x.detach().requires_grad_()
g = torch.tensor(x.tolist())
made = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g}
answer = [name for name, tensor in made.items() if tensor.requires_grad]
"""


_INPUTS = "Which tensors went into it, and does one of them require grad?"
_MODE = "Which grad mode is on when this line runs, and what goes into it?"
_KNOWN = "What does this call hand out, and what does it know of the history?"
_FLAG = "Who decides about the flag of a leaf?"
_EVAL = "What does `eval()` reach: modules, autograd, or both?"
WAYS = Lines(
    read="the parts on the switch and on name tags: what each way out reaches, and how far",
    begins=(
        "x = torch.tensor([2.0, 3.0], requires_grad=True)\nk = x.detach()",
        "x = torch.ones(2, requires_grad=True)\nk = x * 2",
        "k = torch.tensor([2.0, 3.0])\nx = torch.nn.Parameter(torch.ones(2))",
        "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    k = x + 1",
    ),
    lines={
        "@ = x.detach() * 2": _INPUTS,
        "@ = k + x": _INPUTS,
        "with torch.no_grad():\n    @ = k * x": _MODE,
        "with torch.no_grad(), torch.enable_grad():\n    @ = k * x": _MODE,
        "@ = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.ReLU()).eval()(x)": _EVAL,
        "@ = k.detach().requires_grad_()": _FLAG,
        "@ = torch.tensor(x.tolist())": _KNOWN,
        "@ = k * 3": _INPUTS,
        "with torch.inference_mode():\n    @ = x * 2": _MODE,
        "with torch.inference_mode(), torch.enable_grad():\n    @ = x * 2": _MODE,
        "with torch.no_grad():\n    @ = torch.zeros(2, requires_grad=True)": _FLAG,
        "@ = x.data + k": _KNOWN,
        "@ = torch.no_grad()(torch.exp)(x)": _MODE,
        "@ = torch.nn.Linear(2, 1).eval()(k.detach())": _EVAL,
    },
    right="made.requires_grad",
)


RECORDED = Exercise(
    id="08.1",
    reader=letters("abcdefg"),
    right="Each operation asked two things when it ran: is grad mode on, and does one of my inputs"
    " require grad? The flag of a leaf is what you set it to.",
    asked="Which of `a` to `f` require grad? Give a list of names.",
    vary=WAYS.vary,
    letters=Letters(
        read=WAYS.read,
        about=(
            ("a", "Which tensors went into this product, and does one of them require grad?"),
            ("b", "Two tensors go into this sum: what does the flag of each say?"),
            ("c", "Which grad mode is on when this product runs?"),
            ("d", "Which grad mode is on when this product runs, and what goes into it?"),
            ("e", _EVAL),
            ("f", "Who decides about the flag of a leaf?"),
            ("g", "What does `tolist()` hand out, and what does `torch.tensor` know of it?"),
        ),
    ),
    hints=(
        "Ask two questions of an operation: which mode is on when it runs, and does an input require grad?",
        "Of `no_grad()` and `enable_grad()` the innermost decides (an `inference_mode()` around them they can't undo), and `eval()`"
        " doesn't touch the mode. A leaf's flag is what you set it to.",
    ),
    solution=_PROGRAM,
)


def _given(model: nn.Module, x: torch.Tensor, is_grad_on: bool = True) -> tuple:
    """Let a model know how it was given, and what it makes of `x` in eval mode."""
    with _no_grad():
        expected = readable(copy.deepcopy(model).eval()(x))
    given = {"numbers": _numbers(model), "flags": _flags(model), "training": model.training}
    model.given = SimpleNamespace(**given, expected=expected, is_grad_on=is_grad_on)
    return model, x


def _numbers(model: nn.Module) -> tuple:
    return tuple((name, readable(tensor)) for name, tensor in model.state_dict().items())


def _flags(model: nn.Module) -> dict[str, bool]:
    return {name: parameter.requires_grad for name, parameter in model.named_parameters()}


def _dropping(size: int, slope: float, mode: str = "") -> Callable:
    code = f"model = nn.Sequential(nn.Dropout(0.5), nn.PReLU(init={slope})){mode}\nx = -torch.ones({size})"
    return made_by(code, "model", "x", then=_given)


_FROZEN = made_by(
    "model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5),"
    " nn.BatchNorm1d(3))\nmodel[0].weight.requires_grad_(False)\nx = torch.eye(3)",
    *("model", "x"),
    then=_given,
)
_OFF_BEFORE = written("with grad mode off: a Linear and a Dropout in train(); torch.ones(1, 2)")(
    made_by(
        "model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))\nx = torch.ones(1, 2)",
        *("model", "x"),
        then=partial(_given, is_grad_on=False),
    )
)
MODELS = (_dropping(100, 0.4), _dropping(100, 0.4, ".eval()"), _FROZEN, _OFF_BEFORE)


def _other_models(random: Random) -> tuple:
    """Draw sizes and slopes; the model with a frozen weight and the one under no_grad stay as they are."""
    drawn = [(random.randint(60, 140), random.randint(2, 9) / 10) for _ in range(2)]
    return _dropping(*drawn[0]), _dropping(*drawn[1], ".eval()"), _FROZEN, _OFF_BEFORE


def _watched(answer: Callable) -> Callable:
    """Let a function begin in the grad mode of its case, and note the one that it leaves."""

    def run(model: nn.Module, x: torch.Tensor) -> object:
        _set_grad_enabled(model.given.is_grad_on)
        returned = answer(model, x)
        model.given.is_grad_on_after = _is_grad_enabled()
        return returned

    return run


def _as_seen(returned: object, model: nn.Module, x: torch.Tensor) -> list[str]:
    given, is_tensor = model.given, isinstance(returned, torch.Tensor)
    with torch._C.DisableTorchFunctionSubclass():
        recorded = is_tensor and returned.requires_grad
        inference = is_tensor and returned.is_inference()
    grad_modes = given.is_grad_on, given.is_grad_on_after
    return [
        _result(returned, given.expected),
        "requires grad" if recorded else "no graph",
        "an inference tensor" if inference else "fit for a graph",
        {(True, False): "left off", (False, True): "left on"}.get(grad_modes, "as before"),
        _mode(model, given.training),
        "as they were" if _flags(model) == given.flags else "not as they were",
        "as they were" if same(_numbers(model), given.numbers) else "numbers changed",
    ]


def _result(returned: object, expected: tuple) -> str:
    if not isinstance(returned, torch.Tensor):
        return "no tensor"
    values = readable(returned)
    if same(values, expected):
        return "as in eval mode"
    is_dropped = isinstance(values, tuple) and 0 < values.count(0) < len(values)
    return "with dropout" if is_dropped else "other numbers"


def _mode(model: nn.Module, training: bool) -> str:
    modes = {module.training for module in model.modules()}
    if modes == {training}:
        return "as before"
    if len(modes) > 1:
        return "mixed"
    return "eval() left" if training else "train() left"


VALIDATE = Exercise(
    id="08.3",
    reader=function(
        *MODELS,
        observe=_as_seen,
        parts=("result", "graph", "later use", "grad mode", "model's mode", "flags", "numbers"),
        around=_watched,
    ),
    right="You set two switches for one call, and put back the one that doesn't put itself back.",
    principle="`eval()` sets a flag in modules and `no_grad()` the mode of autograd, but neither sets the other.",
    known={
        "You changed flags of parameters that had been set on purpose. A validation shouldn't change"
        " anything there.": shows("not as they were"),
        "Your result still has zeros in it that dropout put there. A Dropout looks at a flag of its own,"
        " `training`, and `eval()` sets that flag in each module inside. Grad mode and `detach()`"
        " don't reach it.": shows("with dropout"),
        "You leave the model with different numbers in it. A validation should only read the parameters."
        " And a BatchNorm moves its statistics at each call in train mode, so Dropout isn't the only"
        " module with two modes.": shows("numbers changed"),
        "Your result requires grad, so a later loss would be recorded through it. `eval()` doesn't"
        " reach autograd.": shows("requires grad"),
    },
    hints=(
        "There are two switches, one for dropout and one for autograd. And make a note of how the first one was set when you came.",
        "`model.training` tells you the mode, and `model.train(mode)` sets it. Put the call into a `no_grad` block.",
    ),
    reference="""
def answer(model, x):
    mode = model.training
    model.eval()  # every module inside has to be in eval mode
    with torch.no_grad():  # nothing should be recorded while the model runs
        y = model(x)
~       with torch.inference_mode(): y = model(x)  # Your result is an inference tensor. A later loss that
~           # multiplies it by something that requires grad would fail. There's another block that records nothing
~           # either, but makes ordinary tensors.
    model.train(mode)  # the model goes back to the mode it came in
~   pass  # A model that was being trained goes on without its dropout, because it's still in eval mode.
~   model.train()  # A model that came in eval mode is in train mode now.
~   model.train(not mode)  # You set the other mode at the end. The model should go back to the one it came in.
~   model.training = mode  # You set the flag of the outermost module alone, but `eval()` had set it in every module
~       # inside as well. So does `model.train(…)`.
~   model.train(mode); torch.set_grad_enabled(False)  # Grad mode is still off when your function is over, so
~       # whatever runs next isn't recorded. A `with` block would end by itself.
~   model.train(mode); torch.set_grad_enabled(True)  # Grad mode is on when your function is over, although it was
~       # off in one of the cases. A `with` block puts back what was there.
    return y
~   return y.mean()  # The numbers you return aren't the model's. Return what it computes from `x`, and leave that as it is.
~   return y.tolist()  # Your function doesn't return a tensor. Return what the model computes.
""",
    cases=_other_models,
)


def _learnt(returned: object, v: torch.Tensor, *_: torch.Tensor) -> list[object]:
    filled = readable(v.grad)
    after = ["learns" if v.requires_grad else "frozen", filled]
    if not isinstance(returned, torch.Tensor):
        return [NOT_A_TENSOR, "no graph", *after]
    try:
        (gradient,) = _grad(returned, v, allow_unused=True)
    except RuntimeError:
        gradient = "no graph"
    return [readable(returned), readable(gradient), *after]


def _days(v: list, now: list, later: list, reward: list) -> Callable:
    code = (
        f"v = torch.tensor({v}, requires_grad=True)\nnow = torch.tensor({now})\nlater ="
        f" torch.tensor({later})\nreward = torch.tensor({reward})"
    )
    return made_by(code, "v", "now", "later", "reward")


def _other_days(random: Random) -> tuple:
    """Draw three days and one."""

    def some(count: int, width: int) -> list[list[float]]:
        drawn = [random.choice((-1, 1)) * random.randint(2, 12) / 10 for _ in range(count * width)]
        return [drawn[at : at + width] for at in range(0, len(drawn), width)]

    return tuple(_days(some(2, 1), some(days, 2), some(days, 2), some(days, 1)) for days in (3, 1))


ROBOT = Exercise(
    id="08.9",
    cases=_other_days,
    reader=function(
        _days(
            [[0.6], [-0.4]],
            [[0.9, 0.3], [-0.5, 0.8], [1.4, -0.4]],
            [[0.2, 1.1], [0.7, -0.6], [-0.3, 0.5]],
            [[1.0], [0.0], [-0.5]],
        ),
        _days([[-0.7], [0.5]], [[0.2, -1.0]], [[0.8, 0.4]], [[0.3]]),
        observe=_learnt,
        parts=("the loss", "its gradient", "afterwards `v`", "`v.grad`"),
    ),
    right="Today's estimate is pulled towards the target, and tomorrow's isn't pulled at all. In"
    " reinforcement learning this is called a semi-gradient, and it's how value networks are usually trained.",
    principle="`detach()` keeps the number, so the loss stays the same. What it cuts off gets no gradient.",
    known={
        "You switched off the flag of `v`, but it has to learn in the next step as well.": shows(
            "frozen"
        ),
        "Your function fills `v.grad`. It only has to return the loss, and the training loop calls"
        " `backward()`.": wrong_in(3),
        NO_TENSOR: shows(NOT_A_TENSOR),
        "Your loss is a different number from that of `broken`. Cutting off tomorrow doesn't"
        " change any number.": wrong_in(0),
    },
    hints=(
        "Two paths lead from the loss to `v`. Which of them should backward not take?",
        "Keep the number in `tomorrow`, and leave its history out.",
    ),
    reference="""
def answer(v, now, later, reward):
    today = now @ v
    tomorrow = (later @ v).detach()  # tomorrow's estimate shouldn't be pulled, so it needs no history
~   tomorrow = later @ v  # The loss is right, but tomorrow is still pulled, because this gradient comes through
~       # both estimates.
~   tomorrow = later @ v; today = today.detach()  # You detached today instead. Now it's tomorrow that's pulled
~       # towards today.
    return ((today - (reward + 0.9 * tomorrow)) ** 2).mean()
~   return (today - (reward + 0.9 * tomorrow)) ** 2  # You return one number for each day. The loss is their mean.
~   return ((today - (reward + 0.9 * tomorrow)) ** 2).mean().detach()  # Nothing leads from your loss back to `v`.
~       # Cut off only tomorrow, because today needs its history.
""",
)

_CUT = {  # how `k` is made: what it would be if nothing were cut off
    "k = x.detach()": "x",
    "with torch.no_grad():\n    k = x**2": "x**2",
    "k = (x * {n}).detach()": "x * {n}",
    "k = torch.tensor(x.item())": "x",
    "k = x.data**2": "x**2",
}
_FIRST = "k * x", "x**2 + k", "(k - x) ** 2", "k**2 + {n} * x", "x**2 * k"
_SECOND = "{m} * x", "x * x.detach()", "x**2", "x.detach() * k + {m} * x"


def _arrives(*terms: str, k: bool = True, others: bool = True) -> Callable[[Data], float]:
    """Return what gives the gradient that some of the terms send to `x`, with and without the cut that
    makes `k`, and the other cuts.
    """

    def gradient(data: Data) -> float:
        x = torch.tensor(data["x"], requires_grad=True)
        constant = eval(data["live"], {"x": x})
        texts = [data[term] for term in terms]
        if k:
            constant = constant.detach()
        if not others:
            texts = [text.replace(".detach()", "") for text in texts]
        made = [eval(text, {"x": x, "k": constant}) for text in texts]
        return _grad(sum(made) + 0 * x, x)[0].item()

    return gradient


def _value_of(data: Data) -> float:
    x = torch.tensor(data["x"])
    return sum(
        eval(data[term], {"x": x, "k": eval(data["live"], {"x": x})}) for term in "ab"
    ).item()


def _cut_off(x: float, way: str, a: str, b: str, n: int, m: int) -> Data:
    texts = {"way": way, "live": _CUT[way], "a": a, "b": b}
    return {"x": x} | {name: text.format(n=n, m=m) for name, text in texts.items()}


def _other_cuts(random: Random) -> Data:
    way, a, b = map(random.choice, (list(_CUT), _FIRST, _SECOND))
    return _cut_off(float(random.randint(2, 6)), way, a, b, *random.sample(range(2, 10), 2))


CUTS = Exercise(
    id="08.6",
    right="You treated what was cut off as a constant, kept its number, and went along all the other paths.",
    asked="What is in `x.grad` at the end? Give a number.",
    principle="what is cut off counts as a constant: its number is in the slope, and no path leads through it.",
    quantities=Quantities(
        program=(
            "x = torch.tensor({x}, requires_grad=True)\n{way}\na = {a}\nb = {b}\n(a +"
            " b).backward()\nanswer = x.grad.item()"
        ).format_map,
        data=_cut_off(3.0, "with torch.no_grad():\n    k = x**2", "k * x", "x * x.detach()", 2, 5),
        draw=_other_cuts,
        places=(
            Place(
                "`x.grad`",
                "what comes along the paths that were recorded, with each constant as a number",
                {
                    "what you'd get if nothing were cut off": _arrives(
                        "a", "b", k=False, others=False
                    ),
                    "what you'd get if only `k` were cut off": _arrives("a", "b", others=False),
                    "what you'd get if `k` weren't cut off": _arrives("a", "b", k=False),
                    "what `a` alone sends": _arrives("a"),
                    "what `b` alone sends": _arrives("b"),
                    "the value of `a + b`, not a gradient": _value_of,
                    "what you'd get if no path led to `x`": 0,
                },
            ),
        ),
    ),
    hints=(
        "Write a number in place of everything that's cut off. Which paths lead to `x` then?",
        "Take the slopes of `a` and `b` with these constants, and add them.",
    ),
)

PATHS = Faults("""
w = torch.tensor({a}.0, requires_grad=True)
with torch.no_grad():
    before = w * {b}
h = w * {b}
loss = (h - {c}) ** 2 + h
loss.backward()
print(before.item(), w.grad.item())
look at: w.grad.item()
5: loss = (h.detach() - {c}) ** 2 + h
5: loss = (h.data - {c}) ** 2 + h
4: h = w.data * {b}
4: h = w.detach() * {b}

w = torch.tensor({a}.0, requires_grad=True)
h = w * {b}
log = [h.item()]
loss = h**2 + {c} * w
loss.backward()
print(log, w.grad.item())
look at: w.grad.item()
4: loss = h.detach() * h + {c} * w
4: loss = h.data**2 + {c} * w
2: h = w.detach() * {b}
2: h = w.item() * torch.tensor({b}.0)

points = torch.tensor([{a}.0, {b}.0])
w = torch.tensor([1.0, {c}.0], requires_grad=True)
errors = points * w - {d}
loss = errors.abs().max() + errors.pow(2).mean()
loss.backward()
print(w.grad)
look at: w.grad
3: errors = points * torch.tensor(w.tolist()) - {d}
4: loss = errors.abs().max().item() + errors.pow(2).mean()
4: loss = errors.max() + errors.detach().pow(2).mean()

model = torch.nn.Linear(2, 1)
x = torch.tensor([[{a}.0, {b}.0]])
model.eval()
with torch.no_grad():
    shown = model(x).item()
model.train()
y = model(x)
loss = (y - {c}).pow(2).mean() + y.mean()
loss.backward()
print(shown, model.bias.grad)
look at: model.bias.grad
6: torch.set_grad_enabled(False)
6: model.requires_grad_(False)
7: y = torch.no_grad()(model)(x)
7: y = model(x).clone().detach()
""")

PATH = Exercise(
    id="08.7",
    right="That line cuts a path off, although the numbers of the forward stay the same.",
    asked="Backward should go along every path from the loss to a parameter, but one line cuts a"
    " path off. Which line? Give its number.",
    principle="go back from the loss, name by name. Which line takes a number and leaves its history behind?",
    hints=(
        "Go back from the loss, name by name. What is computed there without being recorded?",
        "A log may hold plain numbers. What the loss is computed from has to be recorded, all of it.",
    ),
    **PATHS.first(a=2, b=3, c=5, d=7),
)


SWITCH = Exercise(
    id="08.10",
    stage="08",
    reader=function(*cases("08"), promises=SWITCHED),
    truth=lambda: on_torch,
    solution=yours("08"),
    cases=lambda random: cases("08", random),
    right="Your engine has a switch. It sits in `recorded` and nowhere else, and that's why a leaf made"
    " within `no_grad()` still requires grad: making a leaf isn't an operation, so nothing looks.",
    principle="`recorded` looks at the switch, a block puts back what was there before, and `detach` hands out a"
    " second name tag.",
    known={
        "Python takes `grad_mode` for a local name of your function, so the switch itself doesn't move. Begin with"
        " `global grad_mode`.": fails_first("local variable 'grad_mode'"),
        "What you give to `with` isn't a block. Does `@contextmanager` stand above your function, and is there one"
        " `yield` in it?": fails_first(
            "context manager protocol", "is not an iterator", "__enter__"
        ),
        "There has to be exactly one `yield` on the way through your function: it stands for the block.": (
            lambda seen, right: "generator didn't" in str(seen[0])
        ),
        "What comes out of `no_grad()` still has a node. It shouldn't have been recorded at all, so it has neither the"
        " flag nor a `grad_fn`.": at([0], [1]),
        "Within the block the switch should be what `mode` says, True or False, whatever it was before.": at(
            [3, 6], [0, 1, 2]
        ),
        "Within `no_grad()` your engine still records. The condition in `recorded` has to ask for both: the"
        " switch, and an input that requires grad.": at([0], [0]),
        "After the block your engine doesn't record any more. Below the `yield`, put back what was there"
        " before.": at([1], [0, 1, 2]),
        "You left an inner block, and in the outer one your engine records again. Put back what was there"
        " before, which needn't be True.": at([4], [0, 1]),
        "Your block swallowed an error, so the program never learned of it. Python runs what stands under `finally:`"
        " whatever happens, and then it lets the error go on.": fails_first(
            "name 'z' is not defined"
        ),
        "A block was left, by an error or from within another block, and the switch stayed where it was. Each block has"
        " to remember the old mode by itself, and to put it back under `finally:`, which Python runs"
        " whatever happens.": at([7], [0, 1, 2]),
        "Your detached value still has its history: through `x.detach()` a gradient reached `x`. Make a new"
        " `Value`.": at([8], [2], (6.0,)),
        "Your detached value still leads to the node of `h`, so a second gradient came to `x` that way. A new `Value`"
        " has no `grad_fn`, and this one shouldn't get any.": at([10], [2], (12.0,)),
        "`x.detach()` took the flag or the history away from `x` itself. It should only hand out a second"
        " name tag and leave the first one alone.": at([8, 9, 10], [0, 1, 2]),
        "Your detached value has a copy of the numbers. A second name tag shares the memory: hand `Value` the"
        " very tensor in `value.data`.": at([11], [3]),
        "`detach` should return a `Value`, like any operation. Yours returns the bare tensor.": at(
            [12], [3]
        ),
        "A detached value doesn't require grad, unless you ask it to later.": at([11], [0]),
    },
    hints=(
        "Begin with `recorded`: it's what you wrote in lesson 04, with `grad_mode and` in the condition.",
        "In `set_grad_enabled`, remember the old mode, set the new one, and `yield` within `try:`. Under `finally:`"
        " put the old one back.",
        "A new `Value` has no history and no flag. What numbers do you have to give it, so that it shares the"
        " memory?",
    ),
)

EXERCISES = (ROBOT, SWITCH, RECORDED, CUTS, PATH, VALIDATE)
