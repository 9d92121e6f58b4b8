"""Exercises of lesson 13, the gradient of a gradient: forces that can be trained on, an engine that goes
back twice, which gradient has a graph, a product with the Hessian, a step that is differentiated, a line,
and a product to keep.
"""

from collections.abc import Callable
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.engine.checks import RECORDED, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.lessons.watching import Mode
from helpers.exercises.letters import Lines
from helpers.exercises.programs import run, slope
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import at, both, fails, like, right_in, shows
from helpers.exercises.watched_inputs import (
    NO_TENSOR,
    NOT_A_TENSOR,
    SEVERAL,
    afterwards,
    no_loss,
    noted,
    readable,
    tensors_in,
)

# Bound here: a student may have put others in their place.
_grad, _tensor = torch.autograd.grad, torch.tensor

_ASKED = "Who computes the gradient here, and was that recorded?"
_AFTER = "What does the last step do to the graph that was there?"
_FLAG = "If you set a flag afterwards, does a history come with it?"
_BEGIN = "x = torch.tensor({}, requires_grad=True)\n\n\ndef f(x):\n    return {}\n\n\ny = f(x)"
GRAPHS = Lines(
    read="“Where a gradient comes from”, and ask each `g` for its `grad_fn`",
    begins=(
        _BEGIN.format([1.0, 2.0], "(x**3).sum()"),
        _BEGIN.format([2.0, 5.0], "x.exp().sum()"),
        _BEGIN.format([1.0, 3.0], "x.prod() ** 2"),
        _BEGIN.format([0.5, 2.0], "x.sin().sum()"),
    ),
    lines={
        "(g,) = torch.autograd.grad(y, x, create_graph=True)": _ASKED,
        "(g,) = torch.autograd.grad(y, x, retain_graph=True)": _ASKED,
        "y.backward(); g = x.grad": _ASKED,
        "g = torch.func.grad(f)(x)": _ASKED,
        "(g,) = torch.autograd.grad(y, x); g.requires_grad_()": _FLAG,
        "g = torch.autograd.functional.jacobian(f, x, create_graph=True)": _ASKED,
        "(g,) = torch.autograd.grad(y, x, create_graph=True); g = g.detach()": _AFTER,
        "(g,) = torch.autograd.grad(y, x, create_graph=True); g = g * 2": _AFTER,
        "g = torch.autograd.functional.jacobian(f, x)": _ASKED,
        "(g,) = torch.autograd.grad(y, x, create_graph=True); g = g.data": _AFTER,
        "(g,) = torch.autograd.grad(y * 2, x, create_graph=True)": _ASKED,
        "g = torch.func.jacrev(f)(x)": _ASKED,
        "y.backward(retain_graph=True); g = x.grad.clone()": _ASKED,
    },
    trial="""
{begin}
try:
    exec(line)
    torch.autograd.grad(g.sum(), x)
    answer.append(letter)
except RuntimeError:
    pass
x.grad = None
""",
)

AGAIN = Exercise(
    id="13.1",
    right="In these, the gradient was recorded while it was computed, and it wasn't cut off afterwards.",
    asked="Each line computes a gradient `g`, and each starts from a fresh `y`. After which of them does"
    " `torch.autograd.grad(g.sum(), x)` return a second derivative? Give their letters.",
    **GRAPHS.first("abcdef"),
    hints=(
        "Ask each `g` for its `grad_fn`: does it lead back to `x`?",
        "`retain_graph` keeps an old graph. `create_graph` makes a new one, and so does"
        " `torch.func`, if `x` requires grad.",
    ),
)


_FUNCTIONS = (
    "x[0] ** 2 * x[1]",
    "x[0] * x[1] ** 2",
    "x[0] ** 3 + x[0] * x[1]",
    "(x[0] + x[1]) ** 3",
)


def _product(data: Data) -> str:
    return f"""x = torch.tensor({data["x"]}, requires_grad=True)
y = {data["f"]}
(g,) = torch.autograd.grad(y, x, create_graph=True)
v = torch.tensor({data["v"]})
(h,) = torch.autograd.grad(g @ v, x)
answer = h.tolist()
"""


def _derivatives(data: Data) -> tuple[list[float], list[list[float]]]:
    x = _tensor(data["x"], requires_grad=True)
    (gradient,) = _grad(eval(data["f"], {"x": x}), x, create_graph=True)
    rows = [_grad(element, x, retain_graph=True)[0].tolist() for element in gradient]
    return gradient.tolist(), rows


def _found(order: int, at: int, weighted: bool = False) -> Callable[[Data], float]:
    """Return what computes a first derivative, or a number on the diagonal, perhaps times that of `v`."""

    def number(data: Data) -> float:
        gradient, rows = _derivatives(data)
        derivative = gradient[at] if order == 1 else rows[at][at]
        return derivative * data["v"][at] if weighted else derivative

    return number


def _other_product(random: Random) -> Data:
    x = [float(number) for number in random.sample(range(2, 8), 2)]
    v = [float(number) for number in random.sample(range(2, 12), 2)]
    return {"x": x, "v": v, "f": random.choice(_FUNCTIONS)}


def _place(at: int) -> Place:
    return Place(
        f"`h[{at}]`",
        f"row {at} of the Hessian times `v`",
        {
            "the first derivative": _found(1, at),
            "what one number of that row gives, but the row has two": _found(2, at, True),
        },
        {"the first derivative times a number of `v`": _found(1, at, True)},
    )


HESSIAN = Exercise(
    id="13.2",
    right="The slope of `g @ v` is the Hessian times `v`, and the Hessian was never written down.",
    principle="`v` is constant, so the slope of `g @ v` is the slope of each number in `g`, times its number in `v`,"
    " all added up.",
    quantities=Quantities(
        program=_product,
        data={"x": [3.0, 5.0], "v": [1.0, 2.0], "f": "x[0] ** 2 * x[1]"},
        draw=_other_product,
        places=(_place(0), _place(1)),
    ),
    asked="What is `h`? Give two numbers.",
    hints=(
        "Write the two numbers of `g` as formulas of `x[0]` and `x[1]`. Then write `g @ v` as a formula.",
        "Differentiate that formula with respect to `x[0]`, then with respect to `x[1]`.",
    ),
)


_INNER = "(w - 6) ** 2", "w**2 + 4 * w", "w**3", "w**4 / 4"


def _step(data: Data) -> str:
    return f"""w = torch.tensor({data["w"]}, requires_grad=True)
inner = {data["inner"]}
(g,) = torch.autograd.grad(inner, w, create_graph=True)
fast = w - {data["rate"]} * g
outer = (fast - {data["goal"]}) ** 2
outer.backward()
answer = w.grad
"""


def _at_fast(data: Data) -> float:
    fast = data["w"] - data["rate"] * slope(data["inner"], data, "w")
    return 2 * (fast - data["goal"])


def _other_step(random: Random) -> Data:
    drawn = {"w": float(random.randint(2, 5)), "rate": random.choice((0.25, 0.125, 0.5))}
    return drawn | {"goal": random.randint(7, 11), "inner": random.choice(_INNER)}


INNER_STEP = Exercise(
    id="13.3",
    right="The step depends on `w` twice: directly, and through the gradient that it uses.",
    principle="`fast` is a formula of `w`. Put the formula of `g` into it, and differentiate that.",
    quantities=Quantities(
        program=_step,
        data={"w": 2.0, "rate": 0.125, "goal": 7, "inner": "w**2 + 4 * w"},
        draw=_other_step,
        places=(
            Place(
                "`w.grad`",
                "the slope at `fast`, times the slope of the whole step with respect to `w`",
                {
                    "the slope at `fast` alone, as if the step didn't depend on `w`": _at_fast,
                    "the part that comes through `g` alone": lambda d: (
                        run(_step(d)).item() - _at_fast(d)
                    ),
                    "the part that comes through `g` alone, without its minus sign": lambda d: (
                        _at_fast(d) - run(_step(d)).item()
                    ),
                    "what a step with a plus would give, but this one has a minus": lambda d: (
                        2 * _at_fast(d) - run(_step(d)).item()
                    ),
                    "what a loss without the step would give": "2 * (w - goal)",
                },
            ),
        ),
    ),
    asked="What is `w.grad`?",
    hints=(
        "Write `g` as a formula of `w`, and put it into `fast`. What is the slope of `fast` with respect to `w`?",
        "The chain rule: 2 · (fast − goal), times the slope of `fast`, which is 1 minus rate times"
        " the slope of `g`.",
    ),
)


SECOND = Faults("""
x = torch.tensor({a}.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
penalty = slope**2
loss = {b} * y + penalty
loss.backward()
print(x.grad.item())
look at: x.grad.item()
4: penalty = slope.detach() ** 2
4: penalty = slope.item() ** 2
3: (slope,) = torch.autograd.grad(y, x, retain_graph=True)
5: loss = {b} * y + penalty.data

w = torch.tensor({a}.0, requires_grad=True)
inner = (w - {b}) ** 2
(g,) = torch.autograd.grad(inner, w, create_graph=True)
fast = w - 0.25 * g
outer = (fast - 10) ** 2
outer.backward()
print(w.grad.item())
look at: w.grad.item()
3: (g,) = torch.autograd.grad(inner, w)
4: fast = w - 0.25 * g.detach()
4: fast = w - 0.25 * g.data
5: outer = (fast.detach() - w) ** 2

x = torch.tensor({a}.0, requires_grad=True)
first = torch.func.grad(lambda x: x**3)
second = torch.func.grad(first)
curved = second(x) * {b}
curved.backward()
print(x.grad.item())
look at: x.grad.item()
4: curved = second(x.detach()) * {b}
4: curved = first(x) * {b}
3: second = torch.func.grad(lambda x: first(x).detach() * x)
""")

LINE = Exercise(
    id="13.4",
    right="With this line put right, the gradient has all of its parts.",
    principle="go back from what's printed, and ask at each line whether the history goes on.",
    asked="One line of this program loses part of the gradient, or all of it. Which line would you change?"
    " Give its number.",
    hints=(
        "Which tensors ought to have a `grad_fn`? Ask for it after each line.",
        "Look for a line that hands on the number but leaves its history behind.",
    ),
    **SECOND.first(a=2, b=5, c=3, d=7),
)


_CUBES, _MIXED = "(x**3).sum()", "x.prod() + (x**2).sum()"
_STRAIGHT, _SQUARED = "(3 * x).sum()", "(x @ x @ x).sum()"
_LAYER = "(x * w).sum()"
_WEIGHT = "w = torch.tensor(3., requires_grad=True)"


def _product_case(f: str, x: list, v: list) -> Callable:
    weight = f"{_WEIGHT}; " if f == _LAYER else ""

    given = f"x, v = torch.tensor({x}, requires_grad=True), torch.tensor({v}); x.grad = v"

    @written(f"{weight}f = lambda x: {f}; {given}")
    def case() -> tuple:
        w = _tensor(3.0, requires_grad=True)
        leaf = _tensor(x, requires_grad=True)
        leaf.arrived = []

        def counted(given: torch.Tensor) -> torch.Tensor:
            own = given.view_as(given)  # a copy of x, such as `hessian` makes, is watched as well
            if own.requires_grad:
                own.register_hook(lambda gradient: leaf.arrived.append(1))
            return eval(f, {"x": own, "w": w})

        leaf.grad = _tensor(v)
        return noted(counted, leaf, _tensor(v))

    return case


_PRODUCTS = (
    _product_case(_CUBES, [1.0, 2.0, 5.0], [1.0, 0.0, 2.0]),
    _product_case(_MIXED, [2.0, 3.0, 5.0, 10.0], [1.0, -1.0, 2.0, 0.5]),
    _product_case(_STRAIGHT, [[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [5.0, 6.0]]),
    _product_case(_SQUARED, [[1.0, 2.0], [3.0, 5.0]], [[1.0, 0.0], [2.0, 1.0]]),
    _product_case(_LAYER, [1.0, 2.0], [3.0, 4.0]),
)


def _other_products(random: Random) -> tuple:
    def drawn(count: int) -> list[float]:
        return [float(random.randint(-9, 9)) or 1.0 for _ in range(count)]

    short, long = random.randint(3, 4), random.randint(3, 5)
    return (
        _product_case(_CUBES, drawn(short), drawn(short)),
        _product_case(_MIXED, drawn(long), drawn(long)),
        _product_case(_STRAIGHT, [drawn(2), drawn(2)], [drawn(2), drawn(2)]),
        _product_case(_SQUARED, [drawn(2), drawn(2)], [drawn(2), drawn(2)]),
        _product_case(_LAYER, drawn(2), drawn(2)),
    )


_ROWS, _TOUCHED = "row by row", "changed"


class _Largest(Mode):
    """Note how many numbers the largest tensor has that is made inside of the block."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for one in tensors_in(made):
            self.numbers = max(self.numbers, one.numel())
        return made


def _with_largest(answer: Callable) -> Callable:
    def run(f: Callable, x: torch.Tensor, v: torch.Tensor) -> object:
        with _Largest() as largest:
            returned = answer(f, x, v)
        x.largest = largest.numbers
        return returned

    return run


def _product_seen(returned: object, f: Callable, x: torch.Tensor, v: torch.Tensor) -> list[object]:
    """Say what was returned, whether the inputs are as they were, and whether the Hessian was computed
    row by row, perhaps in one batch.
    """
    is_whole = x.numel() > 2 and x.largest >= x.numel() ** 2  # as many numbers as a Hessian has
    passes = _ROWS if is_whole or len(x.arrived) > 2 else "at most two passes"
    return [readable(returned), afterwards(), passes]


_HVP = """
def answer(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not g.requires_grad:
        return torch.zeros_like(x)
    slope = (g * v).sum()
    return torch.autograd.grad(slope, x, allow_unused=True, materialize_grads=True)[0]
"""

BUILD = Exercise(
    id="13.5",
    reader=function(
        *_PRODUCTS,
        observe=_product_seen,
        around=_with_largest,
        parts=("values", "`x`, `x.grad` and `v`", "gradients that came to `x`"),
    ),
    right="That's the Hessian times `v`. Two calls of `grad` take two passes, however large `x` is. Keep"
    " it, because some optimizers and tests of curvature are built on it.",
    principle="record the first gradient, weight it with `v`, and differentiate the one number you get.",
    known={
        "Your first gradient has no graph. Who records what backward computes?": lambda seen, _: (
            all(
                isinstance(seen[at], Failed) and "does not require grad" in str(seen[at])
                for at in (0, 1)
            )
        ),
        "The gradient of a linear function doesn't depend on `x`, and this one has no graph at all."
        " Ask `g.requires_grad`, and return zeros in the shape of `x`.": fails(
            "does not require grad", cases=slice(2, 3)
        ),
        "`@` multiplies matrices where `x` is one. What you need is the sum of `g * v`.": fails(
            "can be implicitly created only for scalar outputs", "1D tensors expected"
        ),
        "You returned the first gradient times `v`. The Hessian holds slopes of slopes.": like(
            "def answer(f, x, v):\n    return torch.autograd.grad(f(x), x)[0] * v"
        ),
        "You summed the gradient first and multiplied by `v` afterwards. That's right only where each"
        " slope depends on its own number alone. Weight with `v`, and then sum.": like(
            """
def answer(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not g.requires_grad:
        return torch.zeros_like(x)
    return v * torch.autograd.grad(g.sum(), x, allow_unused=True, materialize_grads=True)[0]
""",
            0,
        ),
        "Where the first gradient doesn't depend on `x`, you return None. The product is zero there, in"
        " the shape of `x`.": lambda seen, _: any(
            isinstance(case, tuple) and case[0] is None for case in seen
        ),
        "Your result is right, but it comes row by row: a row of the Hessian for each number in `x`."
        " Weight the gradient with `v` first, then differentiate once.": both(
            right_in(0), shows(_ROWS)
        ),
        "Your function leaves a trace. `x`, its flag, its `.grad` and `v` should be what they were"
        " before. `torch.autograd.grad` returns a gradient and changes nothing.": shows(_TOUCHED),
        "With weights that require grad, the first gradient of a linear function has a graph, and it"
        " leads to the weights alone. Let `grad` return zeros for an `x` it never reaches:"
        " `allow_unused=True, materialize_grads=True`.": fails(
            "appears to not have been used", cases=slice(4, 5)
        ),
    },
    hints=(
        "Two calls of `torch.autograd.grad`. The first one is recorded.",
        "`(g,) = torch.autograd.grad(f(x), x, create_graph=True)`, then the gradient of `(g *"
        " v).sum()`. If `g` has no graph, the answer is zero. So it is if its graph doesn't lead to `x`:"
        " `allow_unused=True, materialize_grads=True`.",
    ),
    solution=_HVP,
    cases=_other_products,
)


def _forces_case(seed: int, places: list, measured: list) -> Callable:
    """Return a model of energies with weights that follow from a seed, some places, and their forces."""
    code = f"""torch.manual_seed({seed})
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
model(torch.ones(2)).backward()
places = torch.tensor({places})
measured = torch.tensor({measured})"""
    return made_by(code, "model", "places", "measured", then=noted)


_FORCES = (
    _forces_case(1, [[1.0, 2.0], [0.5, -1.0], [0.0, 0.3]], [[1.0, 0.0], [0.5, 0.5], [-1.0, 0.2]]),
    _forces_case(2, [[0.1, 0.2], [-0.5, 0.4]], [[0.3, -0.4], [0.0, 1.0]]),
)


def _other_forces(random: Random) -> tuple:
    def pairs(count: int) -> list:
        return [[random.randint(-20, 20) / 10, random.randint(-20, 20) / 10] for _ in range(count)]

    return tuple(_forces_case(random.randint(3, 99), pairs(n), pairs(n)) for n in (3, 2))


_NO_GRAPH = "no gradient"


def _forces_seen(returned: object, model: nn.Module, *_: torch.Tensor) -> list[object]:
    touched = afterwards()
    weights = [model[0].weight, model[2].weight]
    gradient = no_loss(returned)
    if not gradient:
        sent = guarded(lambda: [readable(tensor) for tensor in _grad(returned, weights)])
        gradient = _NO_GRAPH if isinstance(sent, Failed) else sent
    return [readable(returned), gradient, touched]


FORCES = Exercise(
    id="13.7",
    reader=function(
        *_FORCES,
        observe=_forces_seen,
        parts=("loss", "gradients of weights", "model, places and forces"),
    ),
    right="The forces have a graph now, so the loss reaches the weights, and the network can learn from forces.",
    principle="a loss that has a slope in it needs the graph of that slope.",
    known={
        NO_TENSOR: shows(NOT_A_TENSOR),
        "You return several numbers, one for each place or coordinate. The loss is a single number.": (
            shows(SEVERAL)
        ),
        "Your function leaves a trace. The places, the weights, their flags and each `.grad` should be"
        " what they were before. Work on a copy of the places, and ask with `torch.autograd.grad`.": (
            shows(_TOUCHED)
        ),
        "Your loss sends no gradient to the weights. Either the slope wasn't recorded while it was computed, or"
        " something cut it off afterwards.": shows(_NO_GRAPH),
    },
    hints=(
        "Her loss had no history, and you can't add one afterwards by setting a flag. Where should the"
        " history have come from?",
        "A copy of the places that requires grad, then `torch.autograd.grad(…, create_graph=True)`. The force"
        " is minus that slope.",
    ),
    reference="""
def answer(model, places, measured):
    places = places.detach().clone().requires_grad_()
~   places = places.detach().clone()  # You ask for the slope with respect to `places`, but they don't require grad.
~       # Take a copy that does.
    energy = model(places).sum()  # each place gets its energy from the model itself, with the weights as they are
~   energy = model(places)  # There's an energy for each place, but `grad` starts from one number. Add them up first:
~       # each depends only on its own place.
    (slope,) = torch.autograd.grad(energy, places, create_graph=True)  # the slope needs a graph, so that the loss can reach the weights
~   slope = torch.autograd.grad(energy, places, create_graph=True)  # `torch.autograd.grad` returns a tuple, with one
~       # gradient for each input. Take yours out: `(slope,) = …`.
~   (slope,) = torch.autograd.grad(energy / len(places), places, create_graph=True)  # You asked for the slope of the
~       # mean energy, so each force came out divided by the number of places.
    force = -slope  # a force points downhill, so it is minus the slope
    return (force - measured).square().mean()  # square the differences, then take the mean of all of them
~   return (force - measured).square().sum(1).mean()  # You added up the two squares of each place. The loss is the
~       # mean of all squares.
~   return ((force - measured).detach() * (force - measured)).mean()  # The loss is right, but what it sends to the
~       # weights isn't. Did some part of it leave the graph?
""",
    cases=_other_forces,
)


_ELEMENT = "element 0 of tensors does not require grad and does not have a grad_fn"


def _gone_too_early(seen: tuple, right: tuple) -> bool:
    """Tell whether the first thing to go wrong is that a second derivative finds no photographs."""
    said = seen[4][0] if isinstance(seen[4], tuple) else ""
    return at([4], [0])(seen, right) and isinstance(said, str) and said.startswith("Trying")


AGAIN_AND_AGAIN = Exercise(
    id="13.8",
    stage="13",
    reader=function(*cases("13"), promises=RECORDED),
    truth=lambda: on_torch,
    solution=yours("13"),
    cases=lambda random: cases("13", random),
    right="At 3, x³ gives 27, 18 and 6 on your engine, and it didn't take a single new vjp. They compute"
    " with Values, so they can be recorded like everything else.",
    principle="backward is a computation like any other. Record it when you're asked to, and let its"
    " photographs and its tally keep their history.",
    known={
        "Not even a plain backward gets through. Does `unpack` return Values, one for each photograph, and"
        " without their dates?": lambda seen, _: isinstance(seen[0], Failed),
        "`backward` doesn't know `create_graph` yet. By default it's False, and `retain_graph` is None.": (
            fails("create_graph")
        ),
        "A plain `backward()` leaves a gradient with a graph, which takes up memory although you didn't ask"
        " for it. Put `with set_grad_enabled(create_graph):` around the walk, and the walk itself inside it.": at(
            [0], [2]
        ),
        "After one plain backward your engine doesn't record any more. `with set_grad_enabled(…):` puts"
        " the switch back to where it was.": at([1], [0], _ELEMENT),
        "While recording is off, a second backward adds to the tally that's there, and just once:"
        " `leaf.grad.add_(grad)`.": at([1], [0]),
        "The first gradient that reaches a leaf finds None: there is no tally yet to add to.": (
            fails("NoneType", cases=slice(2, 3))
        ),
        "A sum photographs nothing, so the switch or the tally has cut the gradient's graph. Is the switch"
        " on during the walk? And while it's on, is the tally a recorded sum of Values, and not a copy of"
        " the numbers? (If both are right, look at what you wrote in lesson 05: the walk and the nodes"
        " have to compute with Values, not with their `data`.)": at([2], [2]),
        "This gradient has no graph, although the one of a sum has. So it was computed from a photograph"
        " whose history was torn off. Return the `value` itself, not a new Value of its data. (If you do,"
        " your MulBackward0 of lesson 05 may compute with `data`. Define it once more in this cell, with"
        " Values.)": at([3], [2]),
        "`g` was computed *from* the graph of `z`, so it needs the photographs in there. With"
        " `create_graph=True` they stay, unless you're told otherwise, and `evaluate` has to be told.": (
            _gone_too_early
        ),
        "`g` says that it requires grad, but some of its history is missing. A flag that you set by hand"
        " doesn't bring it back. Return the photographed Values themselves, and let the tally be a recorded"
        " sum.": at([4], [0]),
        "The two calls left 27, but each of them contributes 27. The tally still has to add up, even"
        " while it's being recorded.": at([8], [0], (27.0,)),
        "`g` is the gradient of the first call, and the second call wrote into it. While recording is on,"
        " the tally is a new sum. The switch decides, not what the gradient says of itself.": at(
            [8, 18], [1]
        ),
        "`x` and `y` were handed the same Value, and both kept it as it came, so they share a"
        " tally. `grad + 0.0` is a sheet of its own, and so is `Value(grad.data.clone())`.": at(
            [9, 10], [0]
        ),
        "A plain call that follows a recorded one writes into the tally that's there, with"
        " `leaf.grad.add_(grad)`. You made a new one.": at([7, 11], [1, 2]),
        "`retain_graph=False` was said in so many words, so the photographs go, whatever `create_graph`"
        " says. Only where `retain_graph` is None does `create_graph` decide.": at(
            [13], [0], (18.0,)
        ),
        "The photographs are gone by now, and `unpack` has to say so, as it did in lesson 07.": (
            fails("is not iterable", cases=slice(13, 15))
        ),
        "Your message has its two numbers the wrong way round. First comes the version that's there now,"
        " then the one that was expected.": at(
            [15], [0], "is at version 0; expected version 1 instead"
        ),
        "`x` was edited after its photograph was taken. Before you return a photograph, look at its"
        " date.": at([15], [0]),
        "`create_graph=True` records even under `no_grad()`, as it does in PyTorch. For this walk the flag"
        " decides.": at([16], [2]),
        "Two calls were recorded, but only one of them is in the graph of the tally. Add to what was there"
        " as it is, with its history.": at([17], [0]),
        "A second backward was refused, and since then your engine doesn't record. `with"
        " set_grad_enabled(…):` puts the switch back even if there's an error.": at([19], [0]),
        "`g` had been photographed for `k`. Then a plain backward wrote into it, but nothing counted the"
        " write, so `k` was differentiated with the wrong numbers and without a word."
        " `leaf.grad.add_(grad)` counts it.": at([20], [0]),
    },
    hints=(
        "Three things were in the way: `unpack` tore the photographs off their history, the tally kept only the"
        " numbers, and the photographs that you need again were thrown away as you went.",
        "`unpack` is the one from lesson 09, except for its last line: return each `value` itself.",
        "In `accumulate_grad` look at `grad_mode`. While recording is on, `leaf.grad` becomes a sum of"
        " Values; `grad + 0.0` is one, too.",
        "In `backward` the walk goes into a `with set_grad_enabled(create_graph):`. Before that, if"
        " `retain_graph` is None, it takes over what `create_graph` says.",
    ),
)

EXERCISES = (FORCES, AGAIN_AND_AGAIN, AGAIN, HESSIAN, INNER_STEP, LINE, BUILD)
