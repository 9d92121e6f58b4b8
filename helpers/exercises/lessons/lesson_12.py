"""Exercises of lesson 12, functions of your own: what a backward returns, a straight-through gradient,
what leads back to a result, a line to blame, a swish to keep, and the case.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import both, each_has, like, raised, right_in, shows, wrong_in
from helpers.exercises.watched_inputs import afterwards, leaf, noted, readable, tensors_in

# Bound here: a student may have put others in their place.
_grad, _arange, _vmap = torch.autograd.grad, torch.arange, torch.func.vmap

_FACTOR = "What arrives, and which factor belongs to `a`?"
_COUNT = "How many values come back, and how many arguments has the forward?"
_PLACE = "Which argument does the first value belong to?"
_PRODUCT = """class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
a, b = torch.tensor({}, requires_grad=True), torch.tensor({}, requires_grad=True)
arrives = {}"""
RETURNS = Lines(
    read="ideas 1 and 4",
    begins=(
        _PRODUCT.format(2.0, 5.0, 3.0),
        _PRODUCT.format(3.0, 7.0, 2.0),
        _PRODUCT.format(4.0, 10.0, 5.0),
        _PRODUCT.format(7.0, 3.0, 10.0),
    ),
    lines={
        "return grad * b, grad * a": _FACTOR,
        "return b, a": _FACTOR,
        "return grad * b": _COUNT,
        "return grad * b, None": _COUNT,
        "return grad * a, grad * b": _PLACE,
        "return grad * b, grad * a, None": _COUNT,
        "return b * grad, a": _PLACE,
        "return None, grad * b": _PLACE,
        "return b, grad * a": _FACTOR,
        "return grad * b, grad": _PLACE,
        "return grad, grad": _FACTOR,
        "return grad + b, grad + a": _FACTOR,
        "return (grad * b).detach(), None": _COUNT,
        "return grad * a * b, None": _FACTOR,
    },
    trial="""
{begin}


def backward(ctx, grad):
    a, b = ctx.saved_tensors
    return eval(line.removeprefix("return "))


Product.backward = staticmethod(backward)
try:
    (arrives * Product.apply(a, b)).backward()
except RuntimeError:
    continue
if a.grad == arrives * b:
    answer.append(letter)
""",
)

ENDS = Exercise(
    id="12.1",
    right="`a` gets the first value that comes back, as it is. So that has to be what arrives, times `b`.",
    asked="The backward of `Product` begins with `a, b = ctx.saved_tensors` and ends on one of these lines."
    " After which of them is `a.grad` right, whatever arrives, and without an error? Give a list of letters.",
    **RETURNS.first("abcdef"),
    hints=(
        "The slope of `a * b` for `a` is `b`. What has to be multiplied by it, and who does that?",
        "Count the values of each line, and look at the first one. A None too many does no harm.",
    ),
)


_SLOPES = {
    "(y * y).sum()": lambda y: 2 * y,
    "(y**3).sum()": lambda y: 3 * y**2,
    "(20 * y - y * y).sum()": lambda y: 20 - 2 * y,
    "(y * y).sum() / 4": lambda y: y / 2,
}


def _nearest(data: Data) -> str:
    return f"""class Nearest(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad

x = torch.tensor({data["x"]}, requires_grad=True)
y = Nearest.apply(x * {data["k"]})
loss = {data["loss"]}
loss.backward()
answer = x.grad.tolist()
"""


def _at(place: int, factor: bool = True, rounded: bool = True) -> Callable[[Data], float]:
    """Return what computes one gradient, or what it would be without the factor or the rounding."""

    def gradient(data: Data) -> float:
        value = data["x"][place] * data["k"]
        arrives = _SLOPES[data["loss"]](float(round(value)) if rounded else value)
        return arrives * data["k"] if factor else arrives

    return gradient


def _other_numbers(random: Random) -> Data:
    """Draw two numbers whose products end in no half: torch rounds a half to the even side."""
    k = random.randint(2, 5)
    tenths = random.sample([number for number in range(11, 60) if number * k % 10 != 5], 2)
    return {"x": [number / 10 for number in tenths], "k": k, "loss": random.choice(list(_SLOPES))}


def _place(at: int) -> Place:
    return Place(
        f"`x.grad[{at}]`",
        "what arrives at `Nearest`, computed from the rounded `y`, times the {k} before it",
        {
            "the true slope of rounding": 0.0,
            "what leaves `Nearest`, and the product in front of it is missing": _at(
                at, factor=False
            ),
            "what a `y` without rounding would give": _at(at, rounded=False),
        },
    )


THROUGH = Exercise(
    id="12.2",
    right="The forward rounds, and the backward goes through as if nothing had been rounded.",
    principle="the loss sees rounded numbers, and its gradient passes through `Nearest` unchanged.",
    quantities=Quantities(
        program=_nearest,
        data={"x": [1.3, 2.4], "k": 2, "loss": "(y * y).sum()"},
        draw=_other_numbers,
        places=(_place(0), _place(1)),
    ),
    asked="What is `x.grad`? Give two numbers.",
    hints=(
        "Begin at the loss: which `y` does it see, and which gradient arrives at `Nearest`?",
        "What arrives leaves `Nearest` unchanged. Then comes the product in front of it.",
    ),
)


_INPUT = "Is this the result, or what went in?"
_HOLDER = "Does what is kept lead to the result, or only hold something about it?"
_GUARDED = "Does torch keep a result that it was given this way as a reference to itself?"
_BEGIN = """x = torch.ones(3, requires_grad=True)
operation = torch.{}  # in the forward: y = operation(x), then the line, then return y"""
KEPT = Lines(
    read="idea 2",
    begins=tuple(map(_BEGIN.format, ("exp", "sigmoid", "tanh", "sqrt"))),
    lines={
        "ctx.x = x": _INPUT,
        "ctx.y = y": _INPUT,
        "ctx.save_for_backward(y)": _GUARDED,
        "ctx.kept = [x, y]": _HOLDER,
        "ctx.shape = y.shape": _HOLDER,
        "ctx.positive = y > 1": _HOLDER,
        'ctx.kept = {"result": y}': _HOLDER,
        "ctx.total = y.sum()": _HOLDER,
        "ctx.copy = y.clone()": _INPUT,
        "ctx.save_for_backward(x, y)": _GUARDED,
        "ctx.x, ctx.y = x, y": _INPUT,
        "ctx.later = lambda: y * 2": _HOLDER,
        "ctx.number = y.sum().item()": _HOLDER,
        "ctx.plain = y.detach()": _INPUT,
    },
    trial="""
import gc, weakref
{begin}


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = operation(x)
        exec(line, {"ctx": ctx, "x": x, "y": y})
        return y


gc.disable()
y = Own.apply(x)
result = weakref.ref(y)
del y
if result() is not None:
    answer.append(letter)
gc.enable()
""",
)

CIRCLES = Exercise(
    id="12.3",
    right="In these the result leads to its node, and an attribute of the node leads back: a circle.",
    asked="Each line stands in a forward. Then `del y` takes the last name of the result away. After which"
    " lines does the result stay in memory, until Python's garbage collector comes by? Give a list of letters.",
    **KEPT.first("abcdef"),
    hints=(
        "The result leads to its node by `grad_fn`. From which of these attributes can you get back to it?",
        "`save_for_backward` knows how to keep a result without a circle. A number, a shape, a copy"
        " or a comparison does not lead anywhere.",
    ),
)


BACKWARDS = Faults("""
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, q):
        ctx.save_for_backward(p, q)
        return p * q
    @staticmethod
    def backward(ctx, grad):
        p, q = ctx.saved_tensors
        return grad * q, grad * p
p = torch.tensor({a}.0, requires_grad=True)
q = torch.tensor({b}.0, requires_grad=True)
({c} * Product.apply(p, q)).backward()
print(p.grad.item(), q.grad.item())
look at: [p.grad.item(), q.grad.item()]
9: return grad * q, grad * q
9: return q, p
8: p = q = ctx.saved_tensors[0]
4: ctx.save_for_backward(p)

class Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**k
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.k * x ** (ctx.k - 1), None
x = torch.tensor({a}.0, requires_grad=True)
({b} * Power.apply(x, 3)).backward()
print(x.grad.item())
look at: x.grad.item()
5: ctx.k = k - 1
5: ctx.k = x
10: return ctx.k * x ** (ctx.k - 1), None
10: return grad * ctx.k * x ** (ctx.k - 1)
10: return None, grad * ctx.k * x ** (ctx.k - 1)
""")

LINE = Exercise(
    id="12.4",
    right="With this line put right, what is printed is what the formula says.",
    principle="compute on paper what should be printed, and follow each number back to the line that keeps it.",
    asked="The forward of this function is right, and the gradients are not. Which line is to blame? Give its number.",
    hints=(
        "What should be printed? Compute it without torch, and compare it with what this program prints.",
        "Follow each saved value: in which order is it put away, in which order is it taken out,"
        " and for whom is it returned?",
    ),
    **BACKWARDS.first(a=2, b=5, c=3, d=7),
)


def _with_itself(answer: Callable) -> Callable:
    return lambda *inputs: [answer(*inputs), answer]


_TORCHS = "a node of torch"
_RAISES = (
    "Your backward raises an error. Call it in a cell of your own, `answer(…).sum().backward()`,"
    " and read what it says."
)


def _kept(result: torch.Tensor) -> object:
    """Return how many tensors the node of a result saved, those in attributes beside them; in words
    if the node is one of torch's.
    """
    node = result.grad_fn
    if not hasattr(type(node), "_forward_cls"):
        return _TORCHS
    saved = len(node.saved_tensors)
    return saved and saved + len(tensors_in(vars(node)))


def _slopes(result: torch.Tensor, x: torch.Tensor) -> list[object]:
    """Return the gradients of a weighted sum, and of theirs; "raises" where there is none."""
    weights = _arange(1.0, 1.0 + len(x))
    first = guarded(lambda: _grad((result * weights).sum(), x, create_graph=True)[0])
    if isinstance(first, Failed):
        return ["raises", "raises"]
    second = guarded(lambda: _grad(first.sum(), x)[0])
    return [readable(first), "raises" if isinstance(second, Failed) else readable(second)]


def _swish_seen(returned: list, x: torch.Tensor) -> list[object]:
    result, answer = returned
    if not isinstance(result, torch.Tensor) or len(result) != len(x):
        return ["not a tensor like `x`", "", "", "", ""]
    mapped = guarded(lambda: _vmap(answer)(x.detach()))
    batched = "raises" if isinstance(mapped, Failed) else "runs"
    kept = _kept(result)
    return [readable(result), *_slopes(result, x), kept, batched]


def _leaves(*lists: tuple) -> tuple:
    return tuple(partial(leaf, *values) for values in lists)


def _other_leaves(random: Random) -> tuple:
    values = [random.randint(-30, 30) / 10 for _ in range(6)]
    return _leaves(values[:2], (values[2:4], values[4:]))


_SWISH = """
class Swish(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * torch.sigmoid(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * (s + x * s * (1 - s))


def answer(x):
    return Swish.apply(x)
"""

BUILD = Exercise(
    id="12.5",
    reader=function(
        *_leaves((1.0, -2.0), ((0.5, 3.0), (-1.0, 2.0))),
        observe=_swish_seen,
        around=_with_itself,
        parts=("values", "first derivative", "second derivative", "saved tensors", "vmap"),
    ),
    right="Your swish saves one tensor instead of two, and can be differentiated twice. Keep it.",
    principle="save `x` alone, and compute in backward, with torch operations, what the slope needs.",
    known={
        "The last node of your result is one of torch's. Write a class that inherits from"
        " `torch.autograd.Function`, and return what its `apply` returns.": shows(_TORCHS),
        _RAISES: each_has(1, "raises"),
        "Your backward returns the slope alone. The gradient that arrives is not always 1: multiply"
        " by it.": like(_SWISH.replace("grad * (s + x * s * (1 - s))", "s + x * s * (1 - s)"), 1),
        "Your backward hands back the slope of the sigmoid. Swish is a product: both factors depend"
        " on `x`.": like(_SWISH.replace("(s + x * s * (1 - s))", "s * (1 - s)"), 1),
        "Your node saves two tensors or more. `s` can be computed again from `x` when it is"
        " needed.": lambda seen, _: any(
            isinstance(case, tuple) and case[3] in (2, 3, 4) for case in seen
        ),
        "Your node has nothing in `saved_tensors`. An attribute is not guarded: use"
        " `ctx.save_for_backward`.": each_has(3, 0),
        "The first derivative is right, and the second one is missing or wrong. Something in your"
        " backward leaves the graph, or was computed in the"
        " forward.": both(right_in(1), wrong_in(2)),
        "All is right but `vmap`. It wants the forward without `ctx`, a `setup_context`, and"
        " `generate_vmap_rule = True`.": right_in(0, 1, 2, 3),
    },
    hints=(
        "Three static methods: `forward(x)`, `setup_context(ctx, inputs, output)`, `backward(ctx, grad)`.",
        "`ctx.save_for_backward(*inputs)` in `setup_context`. In `backward`, compute `s ="
        " torch.sigmoid(x)` again, and return `grad * (s + x * s * (1 - s))`.",
    ),
    solution=_SWISH,
    cases=_other_leaves,
)


_FEW, _NEW = "too few gradients", "computed from the new numbers"
_AS_ALONE, _MIXED = "as alone", "another one"


def _sent(result: torch.Tensor, x: torch.Tensor) -> object:
    gradient = guarded(lambda: _grad(result, x)[0])
    if isinstance(gradient, Failed):
        return _FEW if raised((gradient,), "incorrect number of gradients") else "raises"
    return readable(gradient)


def _weighed(result: torch.Tensor, x: torch.Tensor) -> object:
    return _sent((result * _arange(2.0, 2.0 + len(x))).sum(), x)


def _gate_seen(returned: list, x: torch.Tensor, slope: float) -> list[object]:
    result, answer = returned
    kept = afterwards()
    if not isinstance(result, torch.Tensor) or len(result) != len(x):
        return ["not a tensor like `x`", "", "", "", "", "", kept]
    node = _TORCHS if _kept(result) == _TORCHS else "a node of yours"
    gradient, values = _weighed(result, x), x.tolist()
    alone = guarded(_once_more, answer, values, slope, False)
    after = guarded(_once_more, answer, values, slope, True)
    held = isinstance(after, Failed) or after in ("raises", alone)
    two = guarded(_before_another, answer, values, slope)
    shared = guarded(_shared, answer, values, slope)
    return [
        readable(result),
        gradient,
        node,
        "held" if held else _NEW,
        _AS_ALONE if same(two, alone) else _MIXED,
        shared,
        kept,
    ]


def _once_more(answer: Callable, values: list[float], slope: float, edited: bool) -> object:
    """Return the gradient of another run, perhaps with an edit of `x` before its backward."""
    x = leaf(*values)
    result = answer(x, slope)
    if edited:
        x.detach().neg_()
    return _weighed(result, x)


def _before_another(answer: Callable, values: list[float], slope: float) -> object:
    """Return the gradient of a gate, after a second one ran with other numbers."""
    x = leaf(*values)
    result = answer(x, slope)
    answer(x.detach().neg().requires_grad_(), slope + 1)
    return _weighed(result, x)


def _shared(answer: Callable, values: list[float], slope: float) -> object:
    """Return the gradient where a sum sends one number, all elements of it in the same memory, along
    two paths.
    """
    x = leaf(*values)
    return _sent((answer(x, slope) + x).sum(), x)


_GATES = (
    ((-1.0, 2.0), 0.1),
    ((3.0, -2.0, -5.0), 1.5),
    ((-4.0, 1.0), 0.0),
    ((2.0, -1.0), -0.5),
)


def _gates(*pairs: tuple) -> tuple:
    return tuple(partial(_gate_inputs, *pair) for pair in pairs)


def _gate_inputs(values: tuple, slope: float) -> tuple:
    return noted(leaf(*values), slope)


def _other_gates(random: Random) -> tuple:
    sizes = [random.randint(1, 9) for _ in range(4)]
    slopes = [random.randint(1, 9) / 10 + more for more in (0, 1, 0, -1)]
    return _gates(
        *(((-1.0 * size, size + 0.5), slope) for size, slope in zip(sizes, slopes, strict=True))
    )


CASE = Exercise(
    id="12.6",
    reader=function(
        *_gates(*_GATES),
        observe=_gate_seen,
        around=_with_itself,
        parts=(
            "values",
            "gradient",
            "the node",
            "after an edit",
            "with a second gate, the gradient is",
            "gradient from a sum",
            "`x`",
        ),
    ),
    right="The gate multiplies what arrives, and no edit of `x` makes it wrong unnoticed. Put it into the case.",
    principle="what leaves a node is what arrives, times the slope at the `x` of the forward.",
    known={
        "Your function has two arguments, but your backward hands back one gradient. Write None"
        " where there is none.": shows(_FEW),
        "The last node of your result is one of torch's. Mend the class, and return what its"
        " `apply` returns.": shows(_TORCHS),
        _RAISES: each_has(1, "raises"),
        "You keep something in the class or in a name outside it, but all gates share that. When a"
        " second gate runs, the first one has lost its own. Each call has a `ctx`: keep it"
        " there.": shows(_MIXED),
    },
    hints=(
        "Three changes: multiply by what arrives, keep `x` where it is guarded, and count the arguments.",
        "`ctx.save_for_backward(x)`, `ctx.slope = slope`, and the end is `return torch.where(x > 0,"
        " grad, ctx.slope * grad), None`.",
    ),
    reference="""
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)  # what's saved has to be guarded against edits
~       ctx.save_for_backward(x.data)  # `x` was edited before backward, and your gate used the new numbers without
~           # a word. What would have guarded it?
~       ctx.save_for_backward(x, slope)  # `slope` is a number, which `save_for_backward` refuses. A
~           # number can't change behind your back, so it may be an attribute.
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)  # the forward itself was right, so leave it as it is

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad, ctx.slope * grad), None  # each element of what arrives is multiplied by its own slope
~       return torch.where(x > 0, 1.0, ctx.slope), None  # Your backward returns the bare slope, as in the case, so
~           # whatever arrives is lost. In `check`, 2 and 3 arrive.
~       return torch.where(x > 0, grad, 0.0), None  # The gradient is right for positive numbers only.
~           # What is the slope where `x` is not positive?
~       grad[x <= 0] *= ctx.slope; return grad, None  # You write into the gradient that arrives. It isn't yours,
~           # because others may share its memory. Compute a new tensor.


def answer(x, slope):
    return Gate.apply(x, slope)
""",
    cases=_other_gates,
)

EXERCISES = (ENDS, THROUGH, CIRCLES, LINE, BUILD, CASE)
