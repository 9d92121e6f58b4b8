"""Exercises of lesson 08, ways out of the graph: who records, a validation, and the case of the lesson."""

import copy
from collections.abc import Callable
from functools import partial
from random import Random
from types import SimpleNamespace

import torch
from torch import nn

from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Letters, Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import letters, same
from helpers.exercises.recognise import fails, like, shows, wrong_in
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
    read="ideas 1 and 3: what each way out reaches, and how far",
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
    " require grad? The flag of a leaf is what somebody set.",
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
        "Here the innermost block decides about the mode, and `eval()` does not touch it. You may set the flag of a leaf.",
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
    right="You set two switches for one call, and set back the one that does not set itself back.",
    principle="`eval()` sets a flag of modules, `no_grad()` the mode of autograd, and neither sets the other.",
    known={
        "You changed flags of parameters that had been set on purpose. A validation has nothing to"
        " change there.": shows("not as they were"),
        "Your result still has zeros in it that chance put there. A Dropout reads its own flag"
        " `training`: `eval()` sets that in each module inside; grad mode and `detach()` do not"
        " reach it.": shows("with dropout"),
        "You leave the model with other numbers. A validation only reads the parameters. And a"
        " BatchNorm moves its statistics at each call in train mode: Dropout is not the only module"
        " with two modes.": shows("numbers changed"),
        "Your result requires grad, so a later loss would be recorded through it. `eval()` does not"
        " reach autograd.": shows("requires grad"),
    },
    hints=(
        "There are two switches, one for dropout and one for autograd. Remember how you found the first one.",
        "`model.training` says the mode, and `model.train(mode)` sets it. Put the call into a `no_grad` block.",
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
~   pass  # Your result is right. But a model that was being trained goes on without its dropout.
~   model.train()  # Your result is right. But a model that came in eval mode is in train mode now.
~   model.train(not mode)  # Your result is right, but you set the other mode at the end. The model should go back
~       # to the one it came in.
~   model.train(mode); torch.set_grad_enabled(False)  # Grad mode is still off when your function is over, so
~       # whatever runs next isn't recorded. A `with` block would end by itself.
~   model.train(mode); torch.set_grad_enabled(True)  # Grad mode is on when your function is over, although it was
~       # off in one of the cases. A `with` block puts back what was there.
    return y
~   return y.tolist()  # Your function doesn't return a tensor. Return what the model computes.
""",
    cases=_other_models,
)


def _learnt(returned: object, points: torch.Tensor, w: torch.Tensor) -> list[object]:
    filled = readable(w.grad)
    after = ["learns" if w.requires_grad else "frozen", filled]
    if not isinstance(returned, torch.Tensor):
        return [NOT_A_TENSOR, "no graph", *after]
    try:
        (gradient,) = _grad(returned, w, allow_unused=True)
    except RuntimeError:
        gradient = "no graph"
    return [readable(returned), readable(gradient), *after]


def _guesses(points: list, w: list) -> Callable:
    code = f"points = torch.tensor({points})\nw = torch.tensor({w}, requires_grad=True)"
    return made_by(code, "points", "w")


def _other_guesses(random: Random) -> tuple:
    """Draw three points and one, none of them at the border."""

    def some(count: int, width: int) -> list[list[float]]:
        drawn = [random.choice((-1, 1)) * random.randint(2, 12) / 10 for _ in range(count * width)]
        return [drawn[at : at + width] for at in range(0, len(drawn), width)]

    return _guesses(some(3, 2), some(2, 1)), _guesses(some(1, 2), some(2, 1))


CASE = Exercise(
    id="08.5",
    cases=_other_guesses,
    reader=function(
        _guesses([[0.9, 0.3], [-0.5, 0.8], [1.4, -0.4]], [[0.6], [-0.4]]),
        _guesses([[0.2, -1.0]], [[-0.7], [0.5]]),
        observe=_learnt,
        parts=("the loss", "its gradient", "afterwards `w`", "`w.grad`"),
    ),
    right="The guess learns, and the target stays where it is. In the case the classifier gets surer now: 76 points are right, and not 56.",
    principle="`detach()` keeps the number, so the loss stays the same. What it cuts off gets no gradient.",
    known={
        "You switched off the flag of `w`, but it has to learn in the next step as well.": shows(
            "frozen"
        ),
        "Your function fills `w.grad`. It only has to return the loss. The loop of the case calls"
        " `backward()`.": wrong_in(3),
        NO_TENSOR: shows(NOT_A_TENSOR),
        "Your loss is a different number from that of `broken`. Cutting off a target changes no"
        " number.": wrong_in(0),
    },
    hints=(
        "Two paths lead from the loss to `w`. Which of them should backward not take?",
        "Keep the number in `target`, and leave its history behind.",
    ),
    reference="""
def answer(points, w):
    guess = torch.sigmoid(points @ w)
    target = torch.sigmoid(3 * points @ w).detach()  # the target shouldn't move, so it needs no history
~   target = torch.sigmoid(3 * points @ w)  # The loss is right, but your target still learns, because this gradient
~       # comes through the target as well.
~   target = torch.sigmoid(3 * points @ w); guess = guess.detach()  # You detached the guess instead. Now the target
~       # learns and the guess stays put, so they still meet at 0.5.
~   with torch.inference_mode(): target = torch.sigmoid(3 * points @ w)
~   return torch.nn.functional.mse_loss(guess, target)  # Autograd can't save a tensor that was made in
~       # `inference_mode()`. Cut the target off in a way that leaves you an ordinary tensor.
    return ((guess - target) ** 2).mean()
~   return (guess - target) ** 2  # You return one number for each point. The loss is their mean.
~   return ((guess - target) ** 2).mean().detach()  # Nothing leads from your loss back to `w`. Cut off only the
~       # target: the guess needs its history.
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


def _arrives(*terms: str, cut: bool = True) -> Callable[[Data], float]:
    """Return what gives the gradient that some of the terms send to `x`, with and without the cuts."""

    def gradient(data: Data) -> float:
        x = torch.tensor(data["x"], requires_grad=True)
        k = eval(data["live"], {"x": x})
        texts = [data[term] for term in terms]
        if cut:
            k = k.detach()
        else:
            texts = [text.replace(".detach()", "") for text in texts]
        made = [eval(text, {"x": x, "k": k}) for text in texts]
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
    right="You took what was cut off for a constant, with its number, and went along all the other paths.",
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
                    "what you get if nothing were cut off": _arrives("a", "b", cut=False),
                    "what `a` alone sends": _arrives("a"),
                    "what `b` alone sends": _arrives("b"),
                    "the value of `a + b`, and not a gradient": _value_of,
                    "what you get if no path led to `x`": 0,
                },
            ),
        ),
    ),
    hints=(
        "Write a number in the place of everything that is cut off. Which paths lead to `x` then?",
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
    right="That line cuts a path off, and the numbers of the forward stay the same.",
    asked="Backward should go along every path from the loss to a parameter, but one line cuts a"
    " path off. Which line? Give its number.",
    principle="go back from the loss, name by name. Which line knows a number and leaves its history behind?",
    hints=(
        "Go back from the loss, name by name. What is computed there without being recorded?",
        "A log may hold plain numbers. What the loss is computed from has to be recorded, all of it.",
    ),
    **PATHS.first(a=2, b=3, c=5, d=7),
)


def _pair(layers: str, new: float, old: float, decay: float, half: bool = False) -> Callable:
    kind = f"{layers}.half()" if half else layers

    @written(f"model = {kind}, each number {new}; average = {layers}, each {old}; decay = {decay}")
    def case() -> tuple[nn.Module, nn.Module, float]:
        average, model = eval(layers, {"nn": nn}), eval(kind, {"nn": nn})
        for module, value in ((average, old), (model, new)):
            for tensor in module.state_dict().values():
                tensor.fill_(value)
        held = list(average.parameters())  # so that no id comes again
        average.given = _identities(average), [weight.dtype for weight in held], held
        model.given = _numbers(model), model.training
        return average, model, decay

    return case


def _identities(module: nn.Module) -> list[tuple[int, int, bool]]:
    return [(id(weight), weight.data_ptr(), weight.requires_grad) for weight in module.parameters()]


def _noting_the_mode(answer: Callable) -> Callable:
    """Let a model know the grad mode that a function leaves."""

    def run(average: nn.Module, model: nn.Module, decay: float) -> None:
        answer(average, model, decay)
        model.is_grad_on_after = _is_grad_enabled()

    return run


def _averaged(returned: object, average: nn.Module, model: nn.Module, decay: float) -> list[object]:
    identities, dtypes, _ = average.given
    weights = list(average.parameters())
    is_same = _identities(average) == identities and dtypes == [tensor.dtype for tensor in weights]
    return [
        [readable(tensor) for tensor in weights],
        [readable(tensor) for tensor in average.buffers()],
        "the same, with their flags" if is_same else "others, or with other flags",
        "as it was" if same((_numbers(model), model.training), model.given) else "changed",
        "on" if model.is_grad_on_after else "off",
    ]


def _pairs(new: float, old: float, decay: float) -> tuple:
    """Return cases: two layers, buffers, a layer used twice, a frozen one, half precision, none."""
    texts = (
        "nn.Sequential(nn.Linear(2, 1), nn.PReLU())",
        "nn.BatchNorm1d(2)",
        "nn.Sequential(*2 * [nn.Linear(1, 1)])",
        "nn.Linear(1, 2).requires_grad_(False)",
        "nn.Linear(2, 1)",
        "nn.Sequential()",
    )
    return tuple(_pair(text, new, old, decay, text == texts[4]) for text in texts)


_MIXED = """
def answer(average, model, decay):
    with torch.no_grad():
        for old, new in zip(average.parameters(), model.parameters()):
            old.mul_({of_old}).add_(new, alpha={of_new})
        for old, new in zip(average.buffers(), model.buffers()):
            old.copy_(new)
"""
_BY_NAME = """
def answer(average, model, decay):
    for old, new in zip(average.state_dict().values(), model.state_dict().values()):
        old.copy_(decay * old + (1 - decay) * new)
"""

AVERAGE = Exercise(
    id="08.8",
    reader=function(
        *_pairs(8.0, 2.0, 0.75),
        observe=_averaged,
        promises=(
            "parameters of the average",
            "its buffers",
            "its parameters are",
            "the model afterwards",
            "grad mode afterwards",
        ),
        around=_noting_the_mode,
    ),
    right="That is an exponential moving average. Call it after each step, and validate with the average.",
    principle="write into the tensors of the average, once into each, and record nothing.",
    known={
        "You wrote into a leaf while autograd was recording. The average has no use for a graph:"
        " which block records"
        " nothing?": fails("a leaf Variable that requires grad", "a view of a leaf"),
        "One buffer counts batches, in whole numbers, and no average of these fits into it. Copy"
        " the buffers.": fails("can't be cast"),
        "You changed the model. It goes on learning, and only the average follows it.": shows(
            "changed"
        ),
        "Grad mode is still off when your function is over, so the next step is not recorded. A"
        " `with` block would end by itself.": shows("off"),
        "You swapped the shares. `decay` is the share of what the average held before.": like(
            _MIXED.format(of_old="1 - decay", of_new="decay"), 0
        ),
        "You mixed a layer twice that the model uses twice. `state_dict()` names its weight twice,"
        " and `parameters()` gives it once.": like(_BY_NAME, 0),
        "The average has new tensors now, or new memory, or different flags. Anything that holds"
        " the old ones won't notice, so write into the tensors that are there.": shows(
            "others, or with other flags"
        ),
    },
    hints=(
        "Go through `zip(average.parameters(), model.parameters())`, in a block that records nothing.",
        "`old.mul_(decay).add_(new, alpha=1 - decay)` writes in place. For buffers, `old.copy_(new)`.",
    ),
    solution=_MIXED.format(of_old="decay", of_new="1 - decay"),
    cases=lambda random: _pairs(
        float(random.randint(5, 9)), float(random.randint(1, 4)), random.choice((0.5, 0.625, 0.875))
    ),
)

EXERCISES = (RECORDED, VALIDATE, CUTS, PATH, AVERAGE, CASE)
