"""Exercises of lesson 12, functions of your own: a chip with limits, functions on an engine, what a backward
returns, a straight-through gradient, a line to change, and what leads back to a result.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch

from autograd_graphs.guard import Failed, guarded
from helpers.engine.checks import CALLED, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import at, each_has, fails, fails_first, raised, shows
from helpers.exercises.watched_inputs import afterwards, leaf, noted, readable

# Bound here: a student may have put others in their place.
_grad, _arange = torch.autograd.grad, torch.arange

_FACTOR = "What arrives, and which factor belongs to `a`?"
_COUNT = "How many values come back, and how many arguments does the forward take?"
_PLACE = "Which argument does the first value belong to?"
_PRODUCT = """class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
a, b = torch.tensor({}, requires_grad=True), torch.tensor({}, requires_grad=True)
arrives = {}"""
RETURNS = Lines(
    read="clauses 3 and 5",
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
    right="`a` is handed the first value unchanged, so it has to be what arrives, times `b`.",
    asked="The backward of `Product` begins with `a, b = ctx.saved_tensors` and ends in one of these lines."
    " Which of them give the right `a.grad` for any incoming `grad`, without an error? Give a list of letters.",
    **RETURNS.first("abcdef"),
    hints=(
        "The slope of `a * b` with respect to `a` is `b`. What does it have to be multiplied by, and who does that?",
        "Count the values in each line, and look at the first one. An extra None at the end does no harm.",
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
            "what leaves `Nearest`, without the product before it": _at(at, factor=False),
            "what a `y` without rounding would give": _at(at, rounded=False),
        },
    )


THROUGH = Exercise(
    id="12.2",
    right="The forward rounds, but the backward passes the gradient on as if nothing had been rounded.",
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
        "It leaves `Nearest` unchanged. Then comes the product before it.",
    ),
)


_INPUT = "Is this the result, or what went in?"
_HOLDER = "Does what's kept lead back to the result, or only say something about it?"
_GUARDED = "If you hand PyTorch the result this way, does the node then refer back to it?"
_BEGIN = """x = torch.ones(3, requires_grad=True)
operation = torch.{}  # in the forward: y = operation(x), then the line, then return y"""
KEPT = Lines(
    read="clause 2",
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
    right="In these, the result refers to its node, and an attribute of the node refers back to the result: a circle.",
    asked="Each line is part of a forward. Later `del y` removes the last reference to the result. After which"
    " of them does it stay in memory until Python's garbage collector comes by? Give a list of letters.",
    **KEPT.first("abcdef"),
    hints=(
        "The result refers to its node by `grad_fn`. From which of these attributes can you get back to it?",
        "`save_for_backward` knows how to keep a result without a cycle. A number, a shape, a copy"
        " or a comparison doesn't refer back to it.",
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
    right="With this line put right, the program prints what the formula says.",
    principle="work out on paper what should be printed, and follow each number back to the line that keeps it.",
    asked="The forward of this function is right, but the gradients aren't. Which line would you change? Give its number.",
    hints=(
        "What should be printed? Work it out on paper, and compare it with what this program prints.",
        "Follow each saved value: in which order is it put away, in which order is it taken out,"
        " and which argument is it returned for?",
    ),
    **BACKWARDS.first(a=2, b=5, c=3, d=7),
)


def _with_itself(answer: Callable) -> Callable:
    return lambda *inputs: [answer(*inputs), answer]


_TORCHS, _FEW, _NEW = "a node of PyTorch's", "too few gradients", "computed from the new numbers"
_PLACED = "a gradient for `most`"
_AS_ALONE, _MIXED = "as alone", "a different one"
_RAISES = "Your backward fails. Call it in a cell of your own, `answer(…).sum().backward()`, and read what it says."


def _sent(result: torch.Tensor, w: torch.Tensor) -> object:
    gradient = guarded(lambda: _grad(result, w)[0])
    if isinstance(gradient, Failed):
        if raised((gradient,), "different from None"):
            return _PLACED
        return _FEW if raised((gradient,), "incorrect number of gradients") else "raises"
    return readable(gradient)


def _weighted(result: torch.Tensor, w: torch.Tensor) -> object:
    return _sent((result * _arange(2.0, 2.0 + len(w))).sum(), w)


def _limited_seen(returned: list, w: torch.Tensor, most: float) -> list[object]:
    result, answer = returned
    kept = afterwards()
    if not isinstance(result, torch.Tensor) or len(result) != len(w):
        made = "nothing" if result is None else "not a tensor like `w`"
        return [made, "", "", "", "", "", kept]
    is_own = hasattr(type(result.grad_fn), "_forward_cls")
    gradient, values = _weighted(result, w), w.tolist()
    alone = guarded(_once_more, answer, values, most, False)
    after = guarded(_once_more, answer, values, most, True)
    held = isinstance(after, Failed) or after in ("raises", alone)
    two = guarded(_before_another, answer, values, most)
    return [
        readable(result),
        gradient,
        "a node of yours" if is_own else _TORCHS,
        "held" if held else _NEW,
        _AS_ALONE if same(two, alone) else _MIXED,
        guarded(_shared, answer, values, most),
        kept,
    ]


def _once_more(answer: Callable, values: list[float], most: float, edited: bool) -> object:
    """Return the gradient of another run, perhaps with an edit of `w` before its backward."""
    w = leaf(*values)
    result = answer(w, most)
    if edited:
        w.detach().copy_(_turned(w, most))
    return _weighted(result, w)


def _before_another(answer: Callable, values: list[float], most: float) -> object:
    """Return the gradient of a call, after a second one with other numbers."""
    w = leaf(*values)
    result = answer(w, most)
    answer(_turned(w, most).requires_grad_(), most + 1)
    return _weighted(result, w)


def _turned(w: torch.Tensor, most: float) -> torch.Tensor:
    """Return weights that lie outside where these are inside, and inside where these are outside."""
    inside = w.detach().abs() <= most
    return inside * (2.0 * most + 3.0)


def _shared(answer: Callable, values: list[float], most: float) -> object:
    """Return the gradient where a sum sends one number, all elements of it in the same memory, along
    two paths.
    """
    w = leaf(*values)
    return _sent((answer(w, most) + w).sum(), w)


_CHIPS = (
    ((-1.3, 2.4), 2),
    ((3.8, -2.2, 0.4), 3),
    ((-4.6, 7.2), 4),
    ((0.7, -1.4), 1),
)


def _chips(*pairs: tuple) -> tuple:
    return tuple(partial(_chip, *pair) for pair in pairs)


def _chip(values: tuple, most: int) -> tuple:
    return noted(leaf(*values), most)


def _other_chips(random: Random) -> tuple:
    limits = [random.randint(1, 7) for _ in range(4)]
    return _chips(
        *(((most - 0.7, -most - random.choice((0.3, 0.4, 1.8))), most) for most in limits)
    )


LIMITED = Exercise(
    id="12.7",
    reader=function(
        *_chips(*_CHIPS),
        observe=_limited_seen,
        around=_with_itself,
        parts=(
            "values",
            "gradient",
            "the node",
            "after an edit",
            "with a second call, the gradient is",
            "gradient from a sum",
            "`w`",
        ),
    ),
    right="What arrives gets through inside the range and stops outside it, and no edit of `w` can make that wrong"
    " without a word. Networks for such chips are trained like this: it's called quantization-aware training.",
    principle="what your backward returns is what arrives, times the slope that you chose, at the `w` of the"
    " forward.",
    known={
        "Your function has two arguments, so its backward returns a tuple of two values: the gradient, a"
        " comma, and None for `most`, which has no gradient.": shows(_FEW),
        "The last node of your result is one of PyTorch's. Write a class that inherits from"
        " `torch.autograd.Function`, and return what its `apply` returns.": shows(_TORCHS),
        _RAISES: each_has(1, "raises"),
        "You keep something in the class or in a name outside it, where all calls share it. When a second"
        " call comes along, the first one loses what it kept. Each call has its own `ctx`, so keep it"
        " there.": shows(_MIXED),
    },
    hints=(
        "Three things have to change: what the mask is multiplied by, where `w` is kept, and how many values"
        " come back.",
        "`ctx.save_for_backward(w)` in the forward. The backward ends in"
        " `return grad * (w.abs() <= ctx.most), None`.",
    ),
    reference="""
class Limited(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, most):
        ctx.save_for_backward(w)  # what's saved has to be guarded against edits
~       ctx.save_for_backward(w.data)  # `w` was edited before backward, and your function used the new numbers
~           # without a word. What would have given them a date?
~       ctx.save_for_backward(w, most)  # `most` is a number, which `save_for_backward` refuses. A number can't
~           # change behind your back, so an attribute will do.
        ctx.most = most
        return w.round().clamp(-most, most)  # the forward itself was right, so leave it as it is

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return grad * (w.abs() <= ctx.most), None  # what arrives gets through inside the range, and only there
~       return grad * (w.abs() > ctx.most), None  # Your mask is the wrong way round: it lets through what lies outside.
~       return None, grad * (w.abs() <= ctx.most)  # Your gradient belongs to `w`, so it comes first. None is for `most`,
~           # the second argument.
~       return (w.abs() <= ctx.most).float(), None  # Your backward returns the bare mask, so whatever arrives is
~           # lost. In `check`, 2 and 3 arrive.
~       return grad, None  # Your gradient is right inside the range, but outside it should be 0.
~       grad[w.abs() > ctx.most] = 0; return grad, None  # You write into the gradient that arrives. It isn't yours,
~           # because others may share its memory. Compute a new tensor.
~       grad *= w.abs() <= ctx.most; return grad, None  # You write into the gradient that arrives. It isn't yours,
~           # because others may share its memory. Compute a new tensor.


def answer(w, most):
    return Limited.apply(w, most)
~   return Limited(w, most)  # That makes an object of your class. What you want is what its `apply` returns:
~       # `Limited.apply(w, most)`.
~   return Limited.forward(w, most)  # You called `forward` yourself. Call `apply` instead: it makes the `ctx`, and hands
~       # it to both halves.
""",
    cases=_other_chips,
)


_ELEMENT = "element 0 of tensors does not require grad and does not have a grad_fn"


def _first_words(seen: tuple) -> str:
    """Return what was said in the first case, where the program was refused."""
    return seen[0][0] if isinstance(seen[0], tuple) and isinstance(seen[0][0], str) else ""


def _leads_nowhere(seen: tuple, right: tuple) -> bool:
    return _first_words(seen) == _ELEMENT and seen[0][1] is None


STRANGER = Exercise(
    id="12.8",
    stage="12",
    reader=function(*cases("12"), promises=CALLED),
    truth=lambda: on_torch,
    solution=yours("12"),
    cases=lambda random: cases("12", random),
    right="A stranger's function runs on your engine, and by PyTorch's rules: one node, dated photographs, one"
    " gradient for each argument. And now you know what `ctx` is. It was the node all along.",
    principle="`ctx` is the node of this call. It gets its edges from the inputs and its photographs from"
    " `save_for_backward`, and it's handed to both halves.",
    known={
        "`saved_tensors` is written without parentheses, so it needs `@property` above it.": fails_first(
            "object of type 'method'", "iterable method"
        ),
        "A single Value stands where there should be several things. What you keep has to be what"
        " `save(values)` of lesson 09 gives you, pairs with a date, and `saved_tensors` is a tuple, even if"
        " there's only one in it.": fails_first("non-iterable Value object"),
        "`saved_tensors` has to be a tuple, so that a backward can also ask for"
        " `ctx.saved_tensors[0]`.": fails_first("not subscriptable"),
        "This backward returns None, and a gradient of None got through. Return what `validate_outputs`"
        " gives you: it has put zeros in its place.": fails_first(
            "not NoneType", "dtype of NoneType"
        ),
        "`saved_tensors` hands out pairs, each with a date. A backward wants Values, and `unpack` takes them"
        " out of the pairs once it has compared the dates.": fails_first(
            "not Value", "must be real"
        ),
        "There's nothing in `saved_tensors`. Keep what you save in `self.saved`, where `unpack` and `evaluate` look for it."
        " And the node of the result has to be the very `ctx` that `forward` was"
        " given.": fails_first("not enough values to unpack"),
        "`apply` is called on the class. It needs `@classmethod` above it, and gets the class as"
        " `cls`.": fails_first("'Value' object is not callable"),
        "`Function` has to inherit from `Node`: that's what a `ctx` is.": fails_first(
            "takes no arguments"
        ),
        "You used the class itself as `ctx`. Each call needs an object of its own: `ctx = cls([…])`, with"
        " the inputs in the list.": fails_first("type object '"),
        "`forward` gets the inputs as they came, so a plain number stays a plain number. Only the edges"
        " need a Value.": fails_first("number, not 'Value'"),
        "A `forward` gets its `ctx` first, and then the inputs: `cls.forward(ctx, *inputs)`.": fails_first(
            "forward() missing"
        ),
        "You handed `forward` all inputs in a single tuple. A star takes it apart:"
        " `cls.forward(ctx, *inputs)`.": fails_first("'tuple' object has no attribute"),
        "A static method isn't handed its object automatically, so `ctx` is missing. Call it through the class:"
        " `type(node).backward(node, grad)`.": fails_first("backward() missing 1"),
        "Your own nodes from lesson 05 have ordinary methods, so `node.backward(node, grad)` hands them the node"
        " twice. Called through the class, both kinds fit: `type(node).backward(node, grad)`.": fails_first(
            "takes 2 positional arguments but 3"
        ),
        "A backward with a single gradient returns it bare, without a tuple. Put it into one before you hand it"
        " to `validate_outputs`.": fails_first("has no len()"),
        "Some backwards return a tuple already, such as those of your products. Make one only where there"
        " isn't one yet.": at(
            [0],
            [0],
            "function AccumulateGrad returned an incorrect number of gradients (expected 0, got 1)",
        ),
        "`apply` has to return the result.": fails_first(
            "'NoneType' object has no attribute", "backward() missing 2"
        ),
        "`evaluate` has to return what `validate_outputs` makes of the gradients.": fails(
            "'NoneType' object is not iterable", cases=slice(1)
        ),
        "The photographs are gone before the backward can look at them. Throw them away after it has"
        " run.": lambda seen, right: _first_words(seen).startswith("Trying"),
        "The result has no node. Either your `ctx` leads nowhere, because you didn't hand it the inputs when"
        " you made it, or you asked for `grad_mode` inside the `no_grad()` block, where it's always"
        " off.": _leads_nowhere,
        "The result has its node, but it doesn't say that it requires grad.": at(
            [0], [0], _ELEMENT
        ),
        "The name should be that of the class with `Backward` at the end, as in `CubeBackward`.": at(
            [0], [1]
        ),
        "The node doesn't know the shape of the result. Unless you set it, it's `()`. Give it that of the"
        " result's `data`.": at([2, 6], [2], ()),
        "A plain number among the inputs has no edge of its own. Make a Value of it first, with"
        " `as_value`.": fails_first("has no attribute 'grad_fn'"),
        "There should be a node here, because one of the inputs requires grad. It doesn't matter which"
        " one.": at([4, 5], [0], _ELEMENT),
        "You left the plain number out, but it's an argument as well. It needs a place among the edges:"
        " `(None, 0)`, which it gets once `as_value` has made it a Value.": at([4], [0]),
        "Two calls of the same function got in each other's way. Make a new `ctx` in each"
        " `apply`.": at([7], [0]),
        "The input doesn't want a gradient here, so there should be no node.": at([8], [0, 1]),
        "Recording is switched off here, so there should be no node. Look at `grad_mode`.": at(
            [9], [1]
        ),
        "While the forward runs, nothing should be recorded. Run it under `no_grad()`.": at(
            [10], [3], (True,)
        ),
        "This `forward` returns its input itself, and you wrote your node into it. Now the input has lost its own"
        " history. Hand out a second name tag: `detach(result)`.": at([13, 14], [0, 1]),
        "This backward returns one gradient, but there were two arguments, and your engine doesn't mind. Let"
        " `validate_outputs` count.": at([15], [0]),
        "`saved_tensors` has to ask `unpack`, which complains in PyTorch's words when the photographs are gone or"
        " out of date.": fails_first("'NoneType' object is not iterable"),
        "With `retain_graph=True` the photographs should stay for another call.": at([17], [0]),
        "`h` was edited after `forward` had kept it, and your engine didn't notice. Keep the Values"
        " themselves: a copy has a date of its own.": at([18], [0]),
        "The result is a copy, but PyTorch hands out the same memory. `detach(result)` makes a second name"
        " tag.": at([20], [3]),
        "The second call should be refused: once a node has run, its photographs go, unless `retain_graph`"
        " says otherwise.": at([16], [0]),
    },
    hints=(
        "`ctx = cls([as_value(thing) for thing in inputs])`: a node of your class, with an edge for each"
        " input. That's all a `ctx` is.",
        "Run `cls.forward(ctx, *inputs)` in a `with no_grad():` block. Then check whether the result is one of"
        " the inputs.",
        "A node is needed if `grad_mode` is on and an edge in `ctx.next_functions` leads somewhere. Then set"
        " `requires_grad`, `grad_fn` and `ctx.shape`.",
        "In `evaluate`, `type(node).backward(node, grad)` works for static methods and for ordinary ones.",
    ),
)

EXERCISES = (LIMITED, STRANGER, ENDS, THROUGH, LINE, CIRCLES)
