"""Hold the exercises of lesson 02: who requires grad, which dtypes may, how much of a gradient is left,
what freezing a layer does, and which copies notice that a weight has moved.
"""

from collections.abc import Callable
from random import Random
from weakref import WeakKeyDictionary

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Letters, Lines
from helpers.exercises.programs import slope, value
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import letters
from helpers.exercises.recognise import always, fails, first_wrong, right_in, wrong_in
from helpers.exercises.watched_inputs import afterwards, noted, readable

_clone, _detach, _equal = torch.Tensor.clone, torch.Tensor.detach, torch.equal


_WENT_IN = "Which tensors went into it, and what were their flags when its line ran?"
_INDEX = "What does it give: a float that can change by a little, or an index or a bool?"
_STEPS = "Go through its line from left to right: whose flag is up after each step?"
_MODE = "Was grad mode on or off while its line ran, and does that matter here?"
FLAGS = Lines(
    read="“Must all inputs agree?”, “Half a gradient” and “Lab: what is recorded?”",
    begins=(
        "x = torch.ones(2)\ny = x * 2\nx.requires_grad_()",
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\nx = x.detach()",
        "y = torch.ones(2)\nx = torch.zeros(2, requires_grad=True)",
        "x = torch.ones(2)\ny = x.clone().requires_grad_()",
    ),
    lines={
        "@ = y + 1": _WENT_IN,
        "@ = x + y": _WENT_IN,
        "@ = (x + y).argmax()": _INDEX,
        "@ = x.detach() + 1": _STEPS,
        "@ = x.detach() + y": _STEPS,
        "with torch.no_grad():\n    @ = x * y": _MODE,
        "@ = x > y": _INDEX,
        "@ = x[0] * 3": _WENT_IN,
        "@ = (x * y).long()": "What dtype does it give, and can that require grad?",
        "@ = (x - y).double()": "What dtype does it give, and can that require grad?",
        "@ = (y * x).detach().requires_grad_()": _STEPS,
        "with torch.no_grad():\n    @ = torch.ones(2, requires_grad=True)": _MODE,
        "@ = torch.tensor(x.tolist()) * y": _STEPS,
        "@ = x.data - 1": _STEPS,
    },
    right="made.requires_grad",
)


WHO = Exercise(
    id="02.1",
    reader=letters("abcdef"),
    right="Each operation looked at grad mode and at its own inputs when it ran. An index is plain,"
    " and so is what `detach()` returns.",
    letters=Letters(
        read=FLAGS.read,
        about=(
            ("a", _WENT_IN),
            ("b", _WENT_IN),
            ("c", _INDEX),
            ("d", _STEPS),
            ("e", "Two tensors went into it. Ask each for its flag."),
            ("f", _MODE),
        ),
    ),
    asked="Which of `a` to `f` require grad? Give a list of letters.",
    vary=FLAGS.vary,
    hints=(
        "Write down for each line: which tensors go in, and does one of them require grad at that moment?",
        "Then look at what comes out: a float may require grad, an index may not, and `detach()` never does.",
    ),
    solution="""
x = torch.ones(2)
y = x * 2
x.requires_grad_()
a = y + 1
b = x + y
c = b.argmax()
d = b.detach() + 1
e = d + x
with torch.no_grad():
    f = b * 2
results = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
answer = [name for name, result in results.items() if result.requires_grad]
""",
)


def _look(result: object, counts: torch.Tensor) -> object:
    if not isinstance(result, torch.Tensor):
        return ["not a tensor", readable(result), "none", "none", afterwards()]
    dtype = "floats" if result.is_floating_point() else "no floats"
    if result.is_complex():
        result, dtype = _real(result), "floats"
    return [
        "a tensor",
        readable(result),
        dtype,
        "requires grad" if result.requires_grad else "does not require grad",
        afterwards(),
    ]


def _real(result: torch.Tensor) -> torch.Tensor:
    """Take the real part of complex numbers that have no other; anything else stays as it is."""
    with torch.enable_grad():
        has_no_other = not result.is_meta and not result.imag.any()
        return result.real if has_no_other else result


def _other_counts(random: Random) -> tuple:
    row, pairs = random.sample(range(1, 30), 4), random.sample(range(40), 4)
    other = _counts(random.randint(2, 90), dtype=torch.int32)
    return _counts(*row), other, _counts(pairs[:2], pairs[2:])


def _counts(*numbers: object, dtype: torch.dtype = torch.int64) -> Callable[[], tuple]:
    return lambda: noted(torch.tensor(numbers, dtype=dtype))


COUNTS = Exercise(
    id="02.2",
    reader=function(
        _counts(1, 2, 3),
        _counts(5, dtype=torch.int32),
        _counts((0, 7), (2, 1)),
        observe=_look,
        parts=("what came back", "its values", "its dtype", "its flag", "counts afterwards"),
    ),
    right="First a dtype that has gradients, then the flag.",
    known={
        "You raised the flag on a tensor of integers, and PyTorch refused. Between one integer and"
        " the next there is nothing for a gradient to describe. Another step has to come first, and"
        " you go on with what it returns.": fails("can require gradients"),
        "What you return isn't a tensor. Only a tensor has a flag: a Python list or number"
        " has none, and the flag itself is a bool.": always("not a tensor"),
        "What you return is right, but the tensor that came in has changed. The counter goes on"
        " using it, so hand back a tensor of your own.": right_in(*range(4)),
        "What you return requires grad, but in some case its values or its shape aren't those that"
        " came in. I call your function with different counts from those in the"
        " example.": always("requires grad"),
    },
    hints=(
        "Two things have to happen to the tensor. Which of them must come first?",
        "`counts.double()` makes a tensor of floats; a method that ends in an underscore sets the flag.",
    ),
    reference="""
def answer(counts):
    numbers = counts.double()  # integers can't require grad, and doubles hold whole numbers exactly up to 2**53
    return numbers.requires_grad_()
~   return numbers  # What you return is a float tensor and could require grad, but it doesn't. None of these sets
~       # the flag: a cast, a comparison, a misspelt attribute, `detach()`, a sum under `no_grad`.
~   return counts  # You return integers. Integer tensors can't require grad, and PyTorch won't turn them into
~       # floats for you. If you cast back to integers, the flag is lost as well.
""",
    cases=_other_counts,
    principle="the flag goes up only on a tensor whose dtype can have a gradient.",
)


def _run(**changed: str) -> str:
    """Write the four lines, with what one of the people changed; a block has a line of its own."""
    lines = {"first": "h = first(x)", "middle": "h = middle(h)", "last": "y = last(h)"}
    text = "; ".join((lines | {"end": "y.sum().backward()"} | changed).values())
    return text.replace("; \n", "\n").replace("\n; ", "\n").strip()


_AFTER = "After the middle layer: does `h` require grad? Which of its inputs asked?"
_MODE_THEN = "After the middle layer: does `h` require grad? What was grad mode then?"
_KNOWS = "What does the middle layer's input still know of where it came from?"
_LAST = "Does the last layer's result require grad? Which of its inputs asked?"
_FIRST = "Was the product with `first.weight` recorded?"
_LATER = "What was recorded before the flags came down, and what is still there?"
_LAYERS = "first, middle, last = (torch.nn.Linear(1, 1) for _ in range(3))\nx = {}"
PEOPLE = Lines(
    read="“A frozen network, drawn” and “Half a gradient”",
    begins=tuple(
        map(_LAYERS.format, ("torch.ones(1, 1)", "torch.ones(4, 1)", "torch.zeros(2, 1) + 0.5"))
    ),
    lines={
        _run(first="middle.requires_grad_(False); h = first(x)"): _AFTER,
        _run(middle="\nwith torch.no_grad(): h = middle(h)\n"): _MODE_THEN,
        _run(middle="h = middle(h.detach())"): _KNOWS,
        _run(first="last.requires_grad_(False); h = first(x)"): _LAST,
        _run(first="\nwith torch.no_grad(): h = first(x)\n"): _FIRST,
        _run(end="middle.requires_grad_(False); y.sum().backward()"): _LATER,
        _run(middle="h = middle(h.data)"): _KNOWS,
        _run(last="y = last(h.detach())"): (
            "What does the last layer's input still know of where it came from?"
        ),
        _run(middle="h = middle(h) + h.detach()"): _AFTER,
        _run(middle="\nwith torch.no_grad(): g = middle(h)\nh = g + h"): _MODE_THEN,
        _run(first="first.bias.requires_grad_(False); h = first(x)"): _FIRST,
        _run(first="first.weight.requires_grad_(False); h = first(x)"): _FIRST,
        _run(end="last.requires_grad_(False); y.sum().backward()"): _LATER,
        _run(first="first.eval(); h = first(x)"): "What does `eval()` change in a Linear?",
    },
    trial="""
{begin}
exec(line)
if first.weight.grad is not None:
    answer.append(letter)
""",
)


MIDDLE = Exercise(
    id="02.3",
    right="A frozen layer after one that learns is recorded, and it hands the gradient on. Under"
    " `no_grad()` nothing is recorded.",
    asked="Three layers have all their flags up, and `x` is plain. Six people each run one of"
    " these, with new layers. Who finds a gradient in `first.weight`? Give a list of letters.",
    **PEOPLE.first("abcdef"),
    hints=(
        "For each of them ask whether `h.requires_grad` is True after each layer.",
        "Build one in a cell of your own and look at `show(y)`: does a path lead from y to first.weight?",
    ),
)

_HALF = """
z = torch.tensor({z}.0, requires_grad=True)
{c}
loss = {loss}
loss.backward()
answer = z.grad.item()
"""
_CS = (
    "with torch.no_grad():\n    c = z * {k}",
    "c = z.detach() * {k}",
    "c = (z * {k}).detach()",
    "c = torch.tensor(z.item() * {k})",
    "with torch.no_grad():\n    k = {k}\nc = z * k",
)


def _left(z: int, k: int, c: str, loss: str) -> Data:
    """Return a program in which `c` was recorded or not, and the two gradients that this makes."""
    data = {"z": z, "k": k, "c": c.format(k=k), "loss": loss}
    whole = slope(loss.replace("c", f"(z * {k})"), {"z": float(z)}, "z")
    numbers = {"z": float(z), "c": z * k}
    return data | {
        "whole": whole,
        "cut": slope(loss, numbers, "z"),
        "value_of": value(loss, numbers),
    }


def _other_left(random: Random) -> Data:
    z, k = random.sample(range(2, 10), 2)
    loss = random.choice(("c * z", "z * c + z", "c * z**2", "(c + z) ** 2"))
    return _left(z, k, random.choice(_CS), loss)


LEFT = Exercise(
    id="02.5",
    right="To backward, whatever wasn't recorded is a constant. The rest of the gradient comes as usual.",
    asked="Which number is in `z.grad` at the end?",
    principle="look at the line that makes `c`: was the product recorded, and does its result lead back to `z`?",
    quantities=Quantities(
        program=_HALF.format_map,
        data=_left(5, 2, _CS[1], "c * z**2"),
        draw=_other_left,
        places=(
            Place(
                "`z.grad`",
                "what comes back along each path that was recorded",
                {"what comes back through `c` alone": "whole - cut"},
                loose={
                    "the gradient by calculus, as if all of it was recorded": "whole",
                    "what you get if `c` counts as a constant, but here it was recorded": "cut",
                    "the value of `loss`, not a gradient": "value_of",
                    "the value of `c`": "z * k",
                },
            ),
        ),
    ),
    hints=(
        "Does `c` require grad? Ask it in a cell of your own.",
        "If it doesn't, write its value as a number into the line of `loss`, and take the gradient with respect to `z`.",
    ),
)


_before: WeakKeyDictionary = WeakKeyDictionary()  # of each model: its parameters, and their values


def _kept(model: nn.Module, *more: str) -> tuple:
    """Keep what the parameters of a model are before a student's code sees it."""
    named = model.named_parameters()
    _before[model] = [(name, parameter, _clone(_detach(parameter))) for name, parameter in named]
    return model, *more


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factors


_MODELS = (
    "nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)",
    "nn.Linear(2, 1), nn.Linear(1, 1)",
    "nn.Linear(2, 3), nn.Linear(3, 3, bias=False), nn.Linear(3, 1)",
    "nn.Linear(2, 3, bias=False), nn.LayerNorm(3), nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1, bias=False)",
    # layers inside its layers, two of them in the last
    "nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU()), nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))",
    "nn.Linear(2, 3), Scale(), nn.Linear(3, 1)",
    "*[nn.Linear(2, 2) for _ in range(11)], nn.Linear(2, 1)",
)


def _model(layers: str) -> Callable[[], tuple]:
    text = f"nn.Sequential({layers})"
    return written(text)(lambda: _kept(eval(text, {"nn": nn, "Scale": Scale})))


def _other_models(random: Random) -> tuple:
    """Draw widths of the same kinds of models, for what a mistake does depends on the layers."""
    in_models = str.maketrans({"2": str(random.choice((2, 4, 5, 6, 7, 8)))})
    many = f"range({random.randint(8, 14)})"
    texts = [text.translate(in_models).replace("range(11)", many) for text in _MODELS]
    return tuple(map(_model, texts))


def _flags(returned: object, model: nn.Sequential) -> list:
    kept = _before[model]
    frozen = [name for name, parameter, _ in kept if not parameter.requires_grad]
    free = [name for name, parameter, _ in kept if parameter.requires_grad]
    return [frozen, free, _otherwise(model)]


def _otherwise(model: nn.Module) -> str:
    """Say what became of a model, its flags apart."""
    now = guarded(lambda: dict(nn.Module.named_parameters(model)))
    kept = _before[model]
    if isinstance(now, Failed) or list(now) != [name for name, _, _ in kept]:
        return "it has other layers"
    if any(now[name] is not parameter for name, parameter, _ in kept):
        return "it has other parameters"
    as_before = guarded(lambda: all(_equal(_detach(tensor), values) for _, tensor, values in kept))
    return "as it was" if as_before is True else "its parameters have other values"


FREEZE = Exercise(
    id="02.4",
    reader=function(
        *map(_model, _MODELS), observe=_flags, parts=("frozen", "free", "the model otherwise")
    ),
    right="Each parameter has a flag, and only those of the last layer are still up. So training leaves the"
    " others as they are, unless an old `.grad` is still there: the optimizer would use it.",
    known={
        "The model is no longer the one that came in: it has other layers, other parameters or"
        " other values. Turn flags off in the model you were given, and replace nothing in"
        " it.": wrong_in(2),
        "Not every layer has a weight and a bias: a ReLU has neither, and the bias of a Linear may"
        " be None. Ask a layer for its `parameters()` and take what there is.": fails(
            "has no attribute 'weight'",
            "has no attribute 'bias'",
            "'NoneType' object has no attribute 'requires_grad",
        ),
        "Every flag of the model that came in is unchanged. Ask of each of your lines which"
        " parameter of this model it changes. An attribute of a module changes none, nor does `eval()`.": lambda seen, _: (
            {case[0] for case in seen if isinstance(case, tuple)} == {()}
        ),
    },
    hints=(
        "`module.requires_grad_(False)` freezes every parameter inside that module.",
        "`model[-1]` is the last layer, `model[:-1]` all the others.",
    ),
    reference="""
def answer(model):
    model[:-1].requires_grad_(False)
~   model.requires_grad_(False)  # You froze the whole model. With a plain input nothing is left that requires grad,
~       # and `backward()` would fail.
~   model[-1].requires_grad_(False)  # You froze the layer that should stay free, and left the others free.
~   model[0].requires_grad_(False)  # You froze only the first layer. A longer model has others between it and the
~       # last one.
~   model[1:].requires_grad_(False)  # You froze every layer but the first. It's the last layer that should stay
~       # free.
~   model[:-2].requires_grad_(False)  # Two layers stayed free. A slice or a `range` already leaves out the index it
~       # ends at.
~   model.parameters()[:-1]  # `parameters()` hands out one parameter after the other, but it isn't a list. Besides,
~       # count layers instead, because they hold different numbers of parameters.
~   for one in list(model.parameters())[:-2]:
~       one.requires_grad_(False)  # You left the last two parameters free, whichever layer they belong to. A Linear
~           # without a bias has one, and a layer that holds others may have four.
~   for name, one in model[:-1].named_parameters():
~       one.requires_grad_("weight" not in name)  # You froze only what is called a weight. But a bias is a
~           # parameter too, with a flag of its own.
~   for layer in model[:-1]:
~       layer.requires_grad_(not isinstance(layer, torch.nn.Linear))  # You froze only the Linear layers at the top
~           # level of the model. A norm has parameters too, and so does a block with layers of its own.
~   for layer in list(model[:-1].modules())[1:]:
~       layer.requires_grad_(not isinstance(layer, torch.nn.Linear))  # You froze only Linear layers, but a norm
~           # before the last layer has parameters too.
""",
    cases=_other_models,
    principle="each parameter carries a flag of its own, and a layer may hold no parameter, some,"
    " or other layers.",
)

_PARTS = (
    ('{"layer1": nn.Linear(2, @), "layer4": nn.Linear(@, 1)}', "layer4"),
    ('{"layer1": nn.Linear(2, @), "layer10": nn.Linear(@, 1)}', "layer1"),
    ('{"stem": nn.ReLU(), "layer4": nn.Sequential(nn.Linear(2, @), nn.BatchNorm1d(@))}', "layer4"),
    ('{"stem": nn.Linear(1, 2), "layer4": nn.Sequential(nn.Linear(2, @), nn.ReLU())}', "layer4.0"),
    ('{"stem": nn.ReLU(), "layer4": nn.Linear(2, @)}', "layer4"),
    ('{"stem": nn.Linear(@, 2), "layer4": nn.Linear(2, 1)}', "layer4"),
    ('{"embed": nn.Embedding(@, 3), "decoder": nn.Linear(3, @)}', "decoder"),
    (
        '{"block": nn.TransformerEncoderLayer(4, 2, @).half(), "head": nn.Linear(4, 1)}',
        "block.self_attn",
    ),
    ('{"layer4": nn.Linear(2, @)}', "layr4"),
)
_THEN = {
    4: ["model.layer4.bias.requires_grad_(False)"],
    5: [
        "for one in model.parameters(): one.grad = torch.ones_like(one)",
        "model.layer4.bias.requires_grad_(False)",
    ],
    6: ["model.decoder.weight = model.embed.weight"],
}
_REFUSED = "an error"


def _parts(width: int) -> tuple:
    cases = []
    for at, (layers, name) in enumerate(_PARTS):
        lines = [f"model = nn.ModuleDict({layers})".replace("@", str(width)), f'name = "{name}"']
        lines += _THEN.get(at, ())
        cases.append(made_by("\n".join(lines), "model", "name", then=_kept))
    return tuple(cases)


def _refusing(answer: Callable) -> Callable:
    """Wrap a function: of a name that there is not, an error is what is wanted."""

    def run(model: nn.Module, name: str) -> object:
        try:
            return answer(model, name)
        except Exception:
            if name == "layr4":
                return _REFUSED
            raise

    return run


def _part_seen(returned: object, model: nn.Module, part: str) -> list:
    every = dict(nn.Module.named_parameters(model, remove_duplicate=False))
    inside = {id(each): name for name, each in every.items() if name.startswith(f"{part}.")}

    def called(name: object) -> object:
        """Return the name under which the part has a parameter that it shares with another."""
        return inside.get(id(every.get(name)), name)

    answered = readable(returned)
    if isinstance(answered, (tuple, frozenset)):
        answered = sorted(map(called, answered), key=str)
    frozen = [called(name) for name, parameter, _ in _before[model] if not parameter.requires_grad]
    filled = [name for name, parameter, _ in _before[model] if parameter.grad is not None]
    return [answered, frozen, filled, _otherwise(model)]


PART = Exercise(
    id="02.6",
    reader=function(
        *_parts(3),
        observe=_part_seen,
        promises=("the names you return", "frozen", "those with a `.grad`", "the model otherwise"),
        around=_refusing,
    ),
    cases=lambda random: _parts(random.choice((2, 4, 5, 6, 8))),
    right="Keep it for the next model that you fine-tune: it tells you what it froze, or that you misspelt a name.",
    known={
        "You froze `layer10` as well. Its name begins with `layer1`, but it's a"
        " different part.": first_wrong(1),
        "An old `.grad` is not as it should be. A frozen parameter that has one would still be"
        " moved by an optimizer, and the other parameters need theirs.": first_wrong(5),
        "Two parts share a parameter, and `model.named_parameters()` names it only once, by the"
        " first part. Ask the part itself for its parameters.": first_wrong(6),
        "For a name that the model doesn't have, your function froze nothing and said nothing, so"
        " nobody would notice. Raise an error.": first_wrong(8),
    },
    hints=(
        "`model.get_submodule(name)` returns the part, even one deep inside, and raises an error if there is none.",
        "Go through `part.named_parameters()`. Look at each flag before you lower it, and set `.grad` to None.",
    ),
    reference="""
def freeze(model, name):
    part = model.get_submodule(name)  # a name that the model doesn't have should be an error
    frozen = []
    for inner, parameter in part.named_parameters():
        parameter.grad = None  # an optimizer would go on using an old gradient
        if parameter.requires_grad:
~       if True:  # You named a parameter that was already frozen. The list should say what this call froze.
~       frozen.append(f"{name}.{inner}")
~       if False:  # No parameter was frozen. Each has a flag of its own, and `part.requires_grad = False` only gives
~           # the module a new attribute.
~       parameter.requires_grad_(False)
~       if parameter.requires_grad:  # Your list stays empty. What you freeze belongs in it, so look at each flag
~           # before you set it to False.
            parameter.requires_grad_(False)
~           pass  # Your list is right, but every flag is still True. Each parameter has its own, and assigning to
~               # `part.requires_grad` only gives the module a new attribute.
            frozen.append(f"{name}.{inner}")
~           frozen.append(inner)  # Your names are those inside the part. Put the name of the part before them.
    return frozen


answer = freeze
""",
    principle="ask the part for its parameters. Each one has a flag and a gradient, whatever its name.",
)


_NEW = "Did this line make new numbers, or a new name for those that are there?"
_SAME = "If the dtype is already the one that is asked for, what comes back?"
_LIST = "A list holds plain Python numbers. Who else can change them?"
COPIES = Lines(
    read="“Remember and compare”",
    begins=(
        "layer = torch.nn.Linear(2, 1)",
        "layer = torch.nn.Linear(3, 2)",
        "layer = torch.nn.Linear(1, 4)",
    ),
    lines={
        "before = layer.weight": _NEW,
        "before = layer.weight.clone()": _NEW,
        "before = layer.weight.detach()": _NEW,
        "before = torch.tensor(layer.weight.tolist())": _LIST,
        "before = layer.weight.float()": _SAME,
        "before = layer.weight * 1": _NEW,
        "before = layer.weight.double()": _SAME,
        "before = layer.weight.data": _NEW,
        "before = layer.weight.T.T": "What does a transpose do to the numbers in memory?",
        'before = layer.state_dict()["weight"]': _NEW,
        "before = layer.weight.detach().clone()": _NEW,
        "before = dict(layer.named_parameters())['weight']": _NEW,
    },
    trial="""
{begin}
exec(line)
with torch.no_grad():
    layer.weight += 1
if before.tolist() != layer.weight.tolist():
    answer.append(letter)
""",
)


NOTICE = Exercise(
    id="02.7",
    right="Only new numbers stay as they were: a copy, or the result of a computation. Another name for"
    " the same numbers moves along with them.",
    asked="Six people remember the weight of a layer, then a step of training moves it. Whose `before`"
    " differs from the weight afterwards? Give a list of letters.",
    **COPIES.first("abcdef"),
    hints=(
        "Two tensors can share their numbers. Then whatever changes one changes the other.",
        "`before.data_ptr() == layer.weight.data_ptr()` tells you whether they share them.",
    ),
)


EXERCISES = (WHO, COUNTS, MIDDLE, LEFT, PART, NOTICE, FREEZE)
