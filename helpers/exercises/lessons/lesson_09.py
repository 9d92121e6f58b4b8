"""Exercises of lesson 09, in-place edits and versions: count writes, say what breaks, edit a copy of a
leaf, and the case.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import both, like, raised, right_in, shows, wrong_in
from helpers.exercises.watched_inputs import leaf, readable

# Bound here: a student may have put others in their place.
_grad, _arange = torch.autograd.grad, torch.arange


_LINES = {
    "a": ("a[0] = 5.0", "a.fill_(2.0)", "a *= 2"),
    "b": ("b += 1", "b.zero_()", "b.mul_(3)"),
    "c": ("c.mul_(3)", "c[1] = 4.0", "c -= 1"),
    "d": ("d -= 1", "d.add_(2)", "d[2] = 1.0"),
}
_FIRST_LINES = [lines[0] for lines in _LINES.values()]


def _program(data: Data) -> str:
    begin = f"a = torch.zeros(4)\nb, c, d = {data['view']}, {data['copy']}, a.data\n"
    writes = "".join(f"{line}\n" for line in data["lines"])
    return f"{begin}{writes}{data['last']}\nanswer = [tensor._version for tensor in (a, b, c, d)]\n"


def _data(lines: list[str], view: str, copy: str, last: str) -> Data:
    writes = [line[0] for line in lines]
    return {"lines": lines, "writes": writes, "view": view, "copy": copy, "last": last}


def _through(*names: str, more: int = 0) -> Callable[[Data], int]:
    """Return what counts the writes through these names, `a` before the last line."""
    return lambda data: sum(map(data["writes"].count, names)) + more


def _alone(data: Data) -> tuple[int, ...]:
    return 0, _through("a")(data), _through("b")(data)


def _other_writes(random: Random) -> Data:
    names = []
    for name in _LINES:
        names += [name] * random.randint(1, 3)
    lines = [random.choice(_LINES[name]) for name in random.sample(names, len(names))]
    view = random.choice(("a[:2]", "a.view(2, 2)", "a[1:]"))
    copy, last = random.choice(("a.clone()", "a + 0")), random.choice(("a = a + 1", "a = a * 2"))
    return _data(lines, view, copy, last)


VERSIONS = Exercise(
    id="09.1",
    right="Each counter counts the writes that went through it, and the last line made a tensor with a new one.",
    principle="a counter goes with the tensor and not with its name, and shared memory does not"
    " always mean a shared counter.",
    quantities=Quantities(
        program=_program,
        data=_data(_FIRST_LINES, "a[:2]", "a.clone()", "a = a + 1"),
        draw=_other_writes,
        places=(
            Place(
                "`a`",
                "the counter of the new tensor, to which the last line gives this name",
                {
                    "the counter of the old `a`": _through("a", "b"),
                    "the counter of the old `a`, and one for the last line": _through(
                        "a", "b", more=1
                    ),
                    "one write, and nothing writes into the tensor that the last line makes": 1,
                },
            ),
            Place(
                "`b`",
                "the writes through `b` and through the old `a`",
                {
                    "too few, because `b` and the old `a` share one counter": _alone,
                    "too many, because it does not count what comes through `.data`": (
                        _through("a", "b", "d")
                    ),
                },
            ),
            Place(
                "`c`",
                "the writes through `c`",
                {
                    "where a copy begins, before the write into it": 0,
                    "as if a copy shared the counter of `a`": _through("a", "b", "c"),
                },
            ),
            Place(
                "`d`",
                "the writes through `d`",
                {
                    "where `.data` begins, before the write through it": 0,
                    "all writes into this memory": _through("a", "b", "d"),
                    "what the old `a` counts, as `detach()` would": _through("a", "b"),
                },
            ),
        ),
    ),
    asked="What is the `_version` of `a`, `b`, `c` and `d` at the end? Give four numbers.",
    hints=(
        "Draw the pieces of memory, and an arrow from each name. Which names share a counter?",
        "A view shares memory and counter, `.data` shares the memory alone, a copy shares neither."
        " `a = …` gives the name to a new tensor.",
    ),
)


_SINE = "What does the derivative of the sine need, and is that what is edited?"
_RESULT = "Does the node keep what went in, or what came out, and which is edited?"
_NO_VALUE = "Does this derivative need a value at all?"
_BEFORE = "Is the edit before the node keeps something, or after that?"
_NO_GRAD = "What does `no_grad` keep off: the record, the count, or both?"
_BEGIN = "x = torch.tensor([1.0, 2.0], requires_grad=True)\nh = {}"
EDITS = Lines(
    read="idea 2, and the last picture of idea 4",
    begins=tuple(map(_BEGIN.format, ("x * 3", "x + 1", "x.clone()", "x - 0.5"))),
    lines={
        "y = h.sin(); y.mul_(2)": _SINE,
        "y = h.sin(); h.mul_(2)": _SINE,
        "y = h.sigmoid(); y.mul_(2)": _RESULT,
        "y = h + 1; h.mul_(2)": _NO_VALUE,
        "y = h * h\nwith torch.no_grad():\n    h.mul_(2)": _NO_GRAD,
        "y = h.exp(); h.mul_(2)": _RESULT,
        "y = h.exp(); y.add_(1)": _RESULT,
        "y = h.tanh(); h.zero_()": _RESULT,
        "h.mul_(2); y = h.sin()": _BEFORE,
        "y = h**2; y.sub_(1)": _RESULT,
        "y = h * 5; h.add_(1)": _NO_VALUE,
        "y = h.sigmoid()\nwith torch.no_grad():\n    y.mul_(2)": _NO_GRAD,
        "y = h.sqrt(); y.mul_(2)": _RESULT,
        "y = h.cos(); h[0] = 1.0": "Does an edit of one element count?",
    },
    trial="""
{begin}
exec(line)
try:
    y.sum().backward()
except RuntimeError:
    answer.append(letter)
""",
)


BROKEN = Exercise(
    id="09.2",
    right="In these the edit hit the very tensor that the node had saved.",
    asked="Each letter starts with a new `h`, and `x` requires grad. With which of them does"
    " `y.sum().backward()` raise? Give a list of letters.",
    **EDITS.first("abcdef"),
    hints=(
        "For each line: does the node keep the input, the result or nothing? Is that the tensor that is edited?",
        "`show(y)` before the backward: a triangle stands where the version of a saved tensor has moved.",
    ),
)


_ITSELF, _OTHER = "`x` itself", "not one tensor"
_VALUES = (
    (1.0, -2.0, 3.0),
    (-5.0, -1.0, 2.0, 10.0),
    (0.5, -0.5, 0.25, -0.25, 1000.0, -1000.0),
    (0.25, 4.0),
)


def _seen(returned: object, x: torch.Tensor) -> list[object]:
    if not isinstance(returned, torch.Tensor):
        return [_OTHER, readable(x), "none"]
    if returned is x and min(x.tolist()) < 0:
        return [_ITSELF, readable(x), "none"]
    gradient = guarded(_weighed, returned, x)
    return [readable(returned), readable(x), "none" if isinstance(gradient, Failed) else gradient]


def _weighed(returned: torch.Tensor, x: torch.Tensor) -> object:
    """Return the gradient with weights 1, 2, 3 … in the sum, divided by these weights again: a plain
    sum could not tell a gradient that is clamped, or handed to another element, from the right one.
    """
    weights = _arange(1.0, 1.0 + len(returned))
    return readable(_grad((returned * weights).sum(), x)[0] / weights)


def _other_zeros(seen: tuple, right: tuple) -> bool:
    """Tell whether other elements than the negative ones became 0 in some case."""
    for case, wanted in zip(seen, right, strict=True):
        if not isinstance(case, tuple) or not isinstance(case[0], tuple):
            continue
        if [now == 0 for now in case[0]] != [now == 0 for now in wanted[0]]:
            return True
    return False


def _other_values(random: Random) -> tuple:
    """Draw values of both signs, some near 0 and some far from it; the last ones are all positive."""
    near, far = random.randint(1, 7) / 8, 100.0 * random.randint(3, 20)
    mixed = [float(number) for number in random.sample(range(1, 12), 3)]
    lists = [1.0, -mixed[0], 3.0], [-mixed[1], -1.0, 2.0, mixed[2]]
    lists = *lists, [near, -near, 0.25, -0.25, far, -far], [near, mixed[0]]
    return tuple(partial(leaf, *values) for values in lists)


MASKED = Exercise(
    id="09.3",
    reader=function(
        *(partial(leaf, *values) for values in _VALUES),
        observe=_seen,
        parts=("values", "`x` afterwards", "gradient"),
    ),
    right="The leaf kept its values, and its negative elements get no gradient.",
    principle="an edit that is recorded changes the gradient with the values, and a leaf that"
    " requires grad takes no such edit.",
    known={
        "Your function changed the values of `x`. `no_grad`, `detach()`, `.data` and NumPy get you"
        " past the error. None of them makes a copy.": wrong_in(1),
        "No gradient reaches `x` from what you return. Make the copy in a way that is recorded, and"
        " leave the flag of `x` up.": shows("none"),
        "Not exactly the negative elements became 0. Print what your function returns for some that"
        " are close to 0 and some that are far from it, on both sides.": _other_zeros,
        "The values are right but the gradient is not, and nothing warned you. Was the line"
        " recorded that made elements 0? To them no gradient belongs, and to the others all of it,"
        " unchanged.": both(right_in(0), wrong_in(2)),
    },
    hints=(
        "A copy that stays in the graph may be edited. Which of `detach()`, `.data` and `clone()` makes one?",
        "Begin with `y = x.clone()`. Then write into `y`, outside of any `no_grad()`, and return it.",
    ),
    reference="""
def answer(x):
    y = x.clone()  # a copy may be edited, and this one stays in the graph
~   y = x  # Your function edits the leaf itself, or a view of it, and PyTorch refuses that line. First make a
~       # tensor you're allowed to edit.
~   y = x.view(-1)  # Your function edits the leaf itself, or a view of it, and PyTorch refuses that line. First
~       # make a tensor you're allowed to edit.
    y[y < 0] = 0.0
    return y
~   return x  # Your function returns `x` itself, with the values it came with. Return the tensor you edited.
~   return y.tolist()  # What your function returns isn't a tensor. `backward()` needs one with the shape of `x`, so
~       # edit a copy of `x` and return that.
~   return y.sum()  # You return a sum. Return the tensor itself, with the shape of `x`.
~   return y[x >= 0]  # What your function returns has a different shape from `x`. The negative elements should stay
~       # in place, as 0.
~   return y[None]  # What your function returns has a different shape from `x`. The negative elements should stay
~       # in place, as 0.
""",
    cases=_other_values,
)


def _stack(layers: str) -> Callable[[], nn.Sequential]:
    """Return what makes a model of these layers, an `!` behind those that edit in place."""
    made = {"Linear": "(3, 3)", "ReLU!": "(inplace=True)", "Dropout!": "(0.2, inplace=True)"}
    calls = [f"nn.{layer.strip('!')}{made.get(layer, '()')}" for layer in layers.split()]
    text = f"nn.Sequential({', '.join(calls)})"
    return written(f"model = {text}")(lambda: eval(text, {"nn": nn}))


_MODELS = (
    _stack("Linear ReLU! Linear Tanh Dropout! Linear"),
    _stack("Linear ReLU Dropout! Linear Sigmoid ReLU! Linear"),
    _stack("Linear ReLU! Linear"),
    _stack("Linear ReLU! Dropout! Linear Dropout! Linear"),
)


def _other_models(random: Random) -> tuple:
    """Draw three models after that of the case, with edits that do harm, with none, and with both."""
    harmful = random.sample(
        ("Tanh Dropout!", "Sigmoid ReLU!", "ReLU Dropout!", "ReLU! Dropout!"), 3
    )
    harmless = random.sample(("ReLU!", "Dropout!", "Tanh", "Linear ReLU!"), 2)
    texts = [f"Linear {harmless[0]} Linear {harmful[0]} Linear", f"Linear {harmless[1]} Linear"]
    texts.append(f"Linear {harmful[1]} Linear {harmless[1]} Linear {harmful[2]} Linear")
    return _MODELS[0], *map(_stack, texts)


def _switches(returned: object, model: nn.Sequential) -> list[object]:
    switches = [bool(getattr(layer, "inplace", False)) for layer in model]
    ran = guarded(lambda: model(torch.ones(2, 3)).sum().backward())
    backward = "raises" if isinstance(ran, Failed) else "runs"
    return [switches, backward, "train()" if model.training else "eval()"]


CASE = Exercise(
    id="09.5",
    reader=function(
        *_MODELS, observe=_switches, parts=("`inplace`, layer by layer", "backward", "mode")
    ),
    right="Backward runs, and every edit that does no harm still saves memory. Now say why the ReLU"
    " of the case is harmless.",
    principle="an edit does harm where the layer before it has saved its result.",
    known={
        "You put the model into eval mode. That switches the dropout off, and the case wants to"
        " train. Only change `inplace`.": shows("eval()"),
        "The model of the case is right now, but another one isn't. Go through the layers of"
        " whatever model comes, and look at each one with the one before it.": lambda seen, right: (
            raised(seen, "out of range", "IndexError") or seen[0] == right[0]
        ),
        "In one of the models `backward()` still fails. Which layer writes over a result that the"
        " layer before it has saved?": shows("raises"),
        "Backward runs everywhere, but you switched off an edit that does no harm. What does the"
        " layer before it save: what goes in, or what comes out?": shows("runs"),
    },
    hints=(
        "Which layer comes before each one that edits, and does its node save what comes out?",
        "The nodes of `nn.ReLU`, `nn.Tanh` and `nn.Sigmoid` save their results. Go through pairs of"
        " neighbours: `zip(model, model[1:])`.",
    ),
    reference="""
from torch import nn


def answer(model):
    for before, layer in zip(model, model[1:]):
        if isinstance(before, (nn.ReLU, nn.Tanh, nn.Sigmoid)) and hasattr(layer, "inplace"):
~       if hasattr(layer, "inplace"):  # Backward runs now, but you switched off every edit in place. But some of
~           # them do no harm and save memory. What did the layer before it save?
            layer.inplace = False
""",
    cases=_other_models,
)

EDITED = Faults("""
w = torch.tensor({a}.0, requires_grad=True)
b = torch.tensor({b}.0, requires_grad=True)
y = w**2 + b
loss = y * {c}
with torch.no_grad():
    b -= 0.1
loss.backward()
print(w.grad)
look at: w.grad
6: w.data -= 0.1
6: w -= 0.1
6: w.detach().sub_(0.1)
3: y = w.mul_(1) + b
3: y = w.add_(b)

x = torch.tensor([{a}.0, {b}.0], requires_grad=True)
h = x * {c}
s = h.sigmoid()
s = s * 2
h += 1
loss = s.sum() + h.sum()
loss.backward()
print(x.grad)
look at: x.grad
4: s *= 2
4: s.data.mul_(2)
4: s.mul_(2)

x = torch.tensor([{a}.0, {b}.0, {c}.0], requires_grad=True)
y = x.clone()
y[0] = {d}.0
z = y**2
y = y + 1
loss = z.sum() + y.sum()
loss.backward()
print(x.grad)
look at: x.grad
5: y += 1
5: y.add_(1)
5: y.data[1] = 0.0

x = torch.tensor([{a}.0, {b}.0], requires_grad=True)
t = (x / {c}).tanh()
t = t - 1
shown = t.detach().clone()
shown[0] = 0.0
loss = (t * t).sum()
loss.backward()
print(shown, x.grad)
look at: x.grad
3: t -= 1
3: t.sub_(1)
3: t.data.sub_(1)
""")

EDIT = Exercise(
    id="09.6",
    right="That line edits a tensor that backward still needs. The other edit does no harm.",
    asked="With one line of this program backward raises, or brings a wrong gradient: an edit does"
    " harm. Which line? Give its number.",
    principle="for each edit, look for the node that saved this very tensor before it.",
    hints=(
        "Which lines write into memory that is already there? Which nodes had saved that memory before?",
        "A sum saves nothing. A square saves what went in, a sigmoid and a tanh what came out.",
    ),
    **EDITED.first(a=2, b=3, c=5, d=7),
)


def _watched(run: Callable, model: nn.Module) -> tuple[nn.Module, Callable]:
    """Return a model and a run that notes how often it was called, and the counters after it."""
    model.seen = []

    def noting() -> object:
        returned = run()
        model.seen.append([tensor._version for tensor in _tensors(model)])
        return returned

    return model, noting


def _tensors(model: nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _writes(factor: int) -> tuple:
    """Return cases: a counted write, an uncounted one, buffers, another tensor, a NaN, a layer used twice,
    two numbers that change places, none.
    """
    layer = "model = nn.Linear(2, 1)\nnn.init.ones_(model.weight)\n"
    twice = "one = nn.Linear(1, 1)\nmodel = nn.Sequential(one, nn.Tanh(), one)\n"
    codes = (
        layer + f"def run():\n    with torch.no_grad():\n        model.weight.mul_({factor})",
        layer + f"run = lambda: model.weight.data.mul_(1 + {factor}e-6)",
        "model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\n"
        f"run = lambda: model({factor} * torch.ones(3, 2))",
        layer + "def run():\n    model.bias = nn.Parameter(model.bias.detach().clone())",
        layer.replace("ones_(model.weight)", "constant_(model.weight, float('nan'))")
        + f"run = lambda: model(torch.ones({factor}, 2))",
        twice + f"run = lambda: one.weight.data.add_({factor}.0)",
        f"model = nn.PReLU(2)\nmodel.weight.data = torch.tensor([1.0, {factor}.0])\n"
        "run = lambda: model.weight.data.copy_(model.weight.flip(0))",
        "model = nn.Sequential()\nrun = lambda: None",
    )
    return tuple(made_by(code, "run", "model", then=_watched) for code in codes)


def _first_names(model: nn.Module) -> dict[str, str]:
    """Return the name that counts for each name: of a tensor that has several, the first."""
    first, names = {}, {}
    for named in (model.named_parameters, model.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names[name] = first.setdefault(id(tensor), name)
    return names


def _found(returned: object, model: nn.Module, run: Callable) -> list[object]:
    pairs = "no dict"
    if isinstance(returned, dict):
        first = _first_names(model)
        items = [(str(readable(key)), str(readable(value))) for key, value in dict.items(returned)]
        pairs = sorted({(first.get(key, key), value) for key, value in items})
    versions = [tensor._version for tensor in _tensors(model)]
    counters = "moved by you" if model.seen and versions != model.seen[-1] else "not moved by you"
    return [pairs, len(model.seen), counters]


_GUARD = """
def answer(model, run):
    def named():
        return {named}

    before = {{name: (one, one._version, one.detach().clone()) for name, one in named()}}
    run()
    found = {{}}
    for name, tensor in named():
        old, version, numbers = before[name]
        if tensor is not old:
            found[name] = "replaced"
        elif tensor._version != version:
            found[name] = "counted"
        elif not {same}:
            found[name] = "uncounted"
    return found
"""
_ALL = "[*model.named_parameters(), *model.named_buffers()]"
_SAME = "((tensor == numbers) | (tensor.isnan() & numbers.isnan())).all()"

GUARD = Exercise(
    id="09.7",
    reader=function(
        *_writes(3),
        observe=_found,
        promises=("it found", "calls of `run`", "the counters"),
    ),
    right="Keep it: around a validation, or a library that you don't trust, it says who writes into your model.",
    principle="keep the tensor, its counter and a copy of its numbers, and compare all three afterwards.",
    known={
        "You moved counters yourself. Looking, or a clone, moves none: write nothing into the"
        " model.": shows("moved by you"),
        "You missed a write through `.data`, which moves no counter. Keep a copy of the numbers,"
        " `t.detach().clone()`, and compare: without `clone()` it is the same"
        " memory.": like(_GUARD.format(named=_ALL, same="True"), 0),
        "You missed a write that changes little. `allclose` takes such numbers for equal.": like(
            _GUARD.format(named=_ALL, same="torch.allclose(tensor, numbers, equal_nan=True)"), 0
        ),
        "You report a NaN that was there before. A NaN is not equal to itself, so check for it"
        " separately.": like(_GUARD.format(named=_ALL, same="torch.equal(tensor, numbers)"), 0),
        "You look at the parameters alone. A BatchNorm writes its statistics into buffers.": like(
            _GUARD.format(named="list(model.named_parameters())", same=_SAME), 0
        ),
    },
    hints=(
        "Before `run()`, keep three things for each name: the tensor, its `_version`, and `t.detach().clone()`.",
        "Afterwards ask in this order: is it the same tensor (`is`), the same version, the same numbers?"
        " Two elements are the same if `a == b`, or if both are NaN: `a.isnan() & b.isnan()`.",
    ),
    solution=_GUARD.format(named=_ALL, same=_SAME),
    cases=lambda random: _writes(random.randint(2, 9)),
)

EXERCISES = (VERSIONS, BROKEN, MASKED, EDIT, GUARD, CASE)
