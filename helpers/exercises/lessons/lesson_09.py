"""Exercises of lesson 09, in-place edits and versions: the case in any network, dates on photographs,
count writes, say what breaks, and edit a copy of a leaf.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.engine.checks import EDITED as EDITED_IN_PLACE
from helpers.engine.checks import cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import agree, at, both, fails, raised, right_in, shows, wrong_in
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
    principle="a counter belongs to the tensor, not to its name, and shared memory doesn't"
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
                    "where a copy starts, before anything is written into it": 0,
                    "as if a copy shared the counter of `a`": _through("a", "b", "c"),
                },
            ),
            Place(
                "`d`",
                "the writes through `d`",
                {
                    "where `.data` starts, before anything is written through it": 0,
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
_BEFORE = "Does the edit come before the node saves something, or after?"
_NO_GRAD = "What does `no_grad` prevent: the recording, the counting, or both?"
_BEGIN = "x = torch.tensor([1.0, 2.0], requires_grad=True)\nh = {}"
EDITS = Lines(
    read="“Which edit does harm?”, and where the triangles stand",
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
        "y = h.cos(); h[0] = 1.0": "Is the edit of a single element counted?",
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
    right="In these lines the edit painted over the very tensor that the node had photographed.",
    asked="Each letter starts with a new `h`, and `x` requires grad. For which of them does"
    " `y.sum().backward()` fail? Give a list of letters.",
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
    principle="a recorded edit changes the gradient along with the values, and a leaf that"
    " requires grad won't take one.",
    known={
        "Your function changed the values of `x`. `no_grad`, `detach()`, `.data` and NumPy get you"
        " past the error, but none of them makes a copy.": wrong_in(1),
        "No gradient reaches `x` from what you return. Make the copy in a way that is recorded, and"
        " leave the flag of `x` up.": shows("none"),
        "The elements that became 0 aren't exactly the negative ones. Print what your function returns for"
        " some that are close to 0 and some that are far from it, on both sides.": _other_zeros,
        "The values are right but the gradient isn't, and nothing warned you. Was the line that made"
        " elements 0 recorded? They should get no gradient, and the others should get all of it,"
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
        "You put the model into eval mode. That switches the dropout off, but the case wants to"
        " train. Only change `inplace`.": shows("eval()"),
        "The model of the case is right now, but another one isn't. Go through the layers of"
        " whatever model you're given, and look at each one together with the one before it.": lambda seen, right: (
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
~       if isinstance(before, (nn.Tanh, nn.Sigmoid)) and hasattr(layer, "inplace"):  # You look for a Tanh and a Sigmoid,
~           # and both do save their results. One more kind of layer does so, too.
~       if isinstance(before, nn.Tanh) and hasattr(layer, "inplace"):  # You only look at what comes after a Tanh.
~           # Which other layers save their results?
~       if hasattr(layer, "inplace"):  # Backward runs now, but you switched off every in-place edit, and some of
~           # them did no harm and saved memory. What did the layer before each of them save?
            layer.inplace = False
""",
    cases=_other_models,
)

_AT = "is at version {}; expected version {} instead"
_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."

EDITED = Faults("""
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

w = torch.tensor({a}.0, requires_grad=True)
b = torch.tensor({b}.0, requires_grad=True)
y = w**2 + b
y += 1
loss = y * {c}
with torch.no_grad():
    b -= 0.1
loss.backward()
print(w.grad)
look at: w.grad
7: w.data -= 0.1
7: w -= 0.1
7: w.detach().sub_(0.1)
3: y = w.mul_(1) + b
3: y = w.add_(b)

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
    id="09.9",
    right="That line edits a tensor that backward still needs. The other edits do no harm.",
    asked="One of the edits in this program makes backward fail or give a wrong gradient. In which"
    " line? Give its number.",
    principle="for each edit, look for a node that had saved that very tensor before.",
    hints=(
        "Which lines write into memory that is already there? Which nodes had saved that memory before?",
        "A sum saves nothing. A square saves what went in, a sigmoid and a tanh what came out.",
    ),
    **EDITED.first(a=2, b=3, c=5, d=7),
)


def _miscounts(seen: tuple, right: tuple) -> bool:
    """Tell whether the counter is wrong after one write, or only after three."""
    if at([1], [1])(seen, right):
        return True
    return at([3], [0, 1])(seen, right) and seen[3][1] != right[3][1]


def _refuses(seen: tuple, right: tuple) -> bool:
    """Tell whether an edit that does harm is refused, in other words or with other numbers."""
    return at([2, 3], [0])(seen, right) and all(isinstance(seen[nr][0], str) for nr in (2, 3))


def _overlooked(seen: tuple, right: tuple) -> bool:
    """Tell whether the first case that went wrong went through, when PyTorch refuses it."""
    pairs = zip(seen, right, strict=True)
    came, wanted = next(pair for pair in pairs if not same(*pair))
    if not isinstance(came, tuple) or not isinstance(came[0], tuple):
        return False
    return isinstance(wanted[0], str) and "is at version" in wanted[0]


DATES = Exercise(
    id="09.8",
    stage="09",
    reader=function(*cases("09"), promises=EDITED_IN_PLACE),
    truth=lambda: on_torch,
    solution=yours("09"),
    cases=lambda random: cases("09", random),
    right="Your photographs carry dates, and after an edit your engine refuses where PyTorch does. It is"
    " fooled where PyTorch is fooled: look at what `x.data.add_(1.0)` does.",
    principle="a photograph is the tensor itself with a date, and before it is used, the date is compared"
    " with the counter.",
    known={
        "Nothing was edited here. Does `unpack` still return Values, one for each photograph, now that"
        " each comes with a date? And does your node of lesson 05 ask `unpack`, or look into `saved`"
        " itself?": lambda seen, right: not same(seen[0], right[0]),
        "`_version` only reads the counter. Write to `value.edits[0]`.": fails("has no setter"),
        "A write has to move the counter: `value.edits[0] += 1`.": at([1], [1], "x 0, h 0, z 0"),
        "Your counter doesn't say how many writes there were. Each of them moves it up by one.": (
            _miscounts
        ),
        "`h` has a `grad_fn`, so it's no leaf, and anyone may edit it. Refuse only where there is none.": at(
            [1], [0], _LEAF
        ),
        "What your node keeps is a Value of its own, whose counter begins at 0 and never sees an edit. A"
        " photograph is the value itself, and beside it the date.": at([1], [0], _AT.format(0, 1)),
        "`h` was edited *before* its photograph was taken, and that does no harm. The date is what the"
        " counter says at that moment.": at([1], [0], _AT.format(1, 0)),
        "You refuse this edit, as you should, but the two numbers in your message are wrong. First comes the"
        " version now, then the date on the photograph.": lambda seen, right: (
            _refuses(seen, right) and "is at version" in seen[3][0]
        ),
        "You refuse this edit, as you should, but not in the words of `MODIFIED.format(now, then)`.": (
            _refuses
        ),
        "Your photograph is a copy, so the 24 is right. But PyTorch keeps the tensor itself, which costs no"
        " memory, and refuses once it has been edited.": at([2], [0], (24.0,)),
        "`h` was edited after its photograph was taken, and you used the photograph all the same. Compare"
        " its date with what the counter says now.": at([2, 3], [0]),
        "This tensor is in no photograph, so the edit does no harm, but your engine refuses.": at(
            [4], [0]
        ),
        "A plain `add_` on a leaf that requires grad has to be refused, as in PyTorch.": at(
            [5], [0]
        ),
        "You refuse this edit, but by then you had counted it. Look before you write.": at(
            [5], [1]
        ),
        "Under `no_grad()` a leaf may be edited: that's how an optimizer takes its step. Ask for `grad_mode`"
        " before you refuse.": at([6], [0], _LEAF),
        "Under `no_grad()` a write isn't recorded, but it counts all the same: `value.edits[0] += 1`.": at(
            [6], [1]
        ),
        "Under `no_grad()` the sum has neither flag nor history, but `x` still asks for a gradient. Leave its"
        " flag alone.": at([6], [0]),
        "`d` is `x.detach()`, a constant to backward, so the gradient is 4. What `detach` returns is a second"
        " Value without history.": at([8], [0], (8.0,)),
        "`d` shares its memory with `x`, so it has to see the edit. That takes two things: `add_` writes *into*"
        " `value.data`, with `copy_`, instead of giving `value` a new tensor, and `detach` hands on the"
        " tensor itself.": at([8], [0]),
        "What `detach` returns shares the counter of the original, and `d` and `x` should say the same"
        " version. Hand over the list `edits` itself, and count in that list: `value.edits[0] += 1`.": at(
            [8], [1]
        ),
        "`x.detach()` is a leaf, but it doesn't require grad, so it may be edited. Refuse only a leaf that"
        " does.": at([9], [0], _LEAF),
        "The edit went through `x.detach()`, and backward didn't notice. What `detach` returns has to share"
        " the list `edits`.": at([9], [0, 1]),
        "`x.data` is a plain tensor, and a write through it goes past the counter, in PyTorch as well. Count in"
        " `edits`: the tensor inside has a counter of its own, which sees more than yours should.": at(
            [10], [0]
        ),
        "The sum was recorded, so from then on `h` belongs to the new node. Hand it the `grad_fn` of the"
        " sum, or no gradient reaches `y`.": at([11], [0]),
        "Under `no_grad()` the sum has no history. But `h` has one of its own, and should keep it.": at(
            [12], [0]
        ),
        "`h` was a plain Value, but `x` was added to it. Now it requires grad, as the sum does.": at(
            [13], [0]
        ),
        "`add_` returns the value that it has edited.": fails(
            "'NoneType' object", cases=slice(14, 15)
        ),
        "Here `z` and `h` should be one and the same Value. Return `value`, not the sum.": at(
            [14], [1]
        ),
        "The photographs are gone after a backward, and `unpack` has to say so, as it did in lesson"
        " 07.": lambda seen, right: (
            agree(seen[:15], right[:15], 0, 1) and not same(seen[15], right[15])
        ),
        "Here an edited photograph was used all the same. A node may have two of them: compare each one with its"
        " date.": lambda seen, right: (
            agree(seen[:16], right[:16], 0, 1) and _overlooked(seen, right)
        ),
    },
    hints=(
        "A date is `value._version`, at the moment when the photograph is taken. So `save` returns a list"
        " of pairs.",
        "In `unpack`, first look whether the photographs are still there. Then go through the pairs and"
        " compare each date with `value._version`. What you return are Values without history, as before.",
        "`result = value + other` gives you the numbers and the history of the sum. Copy the numbers with"
        " `value.data.copy_(result.data)`, count the write, and if `result.requires_grad`, hand the flag"
        " and the `grad_fn` to `value`.",
        "Two Values share a counter if their `edits` is the same list.",
    ),
)

EXERCISES = (CASE, DATES, VERSIONS, BROKEN, MASKED, EDIT)
