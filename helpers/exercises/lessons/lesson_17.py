"""Exercises of lesson 17, gradients as functions: a buoy that shouts, the loudest points, passes, each point's
own gradient, products with the Hessian, a function with an if, and an engine with forward mode.
"""

from collections.abc import Callable
from math import isnan
from random import Random

import torch
from torch import nn
from torch.func import grad, vmap

from helpers.engine.checks import DUAL, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.programs import names_of
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import at, both, fails, right_in, shows
from helpers.exercises.watched_inputs import afterwards, noted, readable

# Bound here: a student may have put others in their place.
_grad, _vmap, _tensor = grad, vmap, torch.tensor


def _buoys(seed: int, count: int, most: float, model: str, shouts: int, grads: bool) -> Callable:
    """Return a case of 17.6: a model, a loss, some points of which one is far too large, heights and a length."""
    before = "model(points).sum().backward()" if grads else "model.zero_grad()"
    code = f"""torch.manual_seed({seed})
model = {model}
loss = nn.functional.mse_loss
points, heights = torch.randn({count}, 2), torch.randn({count}, 1)
points[{shouts}] *= 100
{before}
most = {most}"""
    return made_by(code, "model", "loss", "points", "heights", "most")


_LINE = "nn.Linear(2, 1)"
_NET = "nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))"


def _votes(returned: object, model: nn.Module, *_: object) -> list[object]:
    named = list(model.named_parameters())
    weights = [readable(w) for _, w in named]
    return [[readable(w.grad) for _, w in named], weights]


def _other_buoys(random: Random) -> tuple:
    def drawn(model: str, grads: bool) -> Callable:
        count, most = random.randint(4, 7), random.choice((0.5, 1.0, 2.0))
        return _buoys(random.randint(3, 99), count, most, model, random.randrange(4), grads)

    return drawn(_LINE, False), drawn(_NET, True)


BUOY = Exercise(
    id="17.6",
    reader=function(
        _buoys(1, 5, 1.0, _LINE, 2, False),
        _buoys(3, 6, 2.0, _NET, 3, True),
        observe=_votes,
        parts=("gradients", "weights"),
    ),
    right="Now the buoy that shouts has one vote, like every other. Its own gradient counts for no more than `most`.",
    principle="the mean is taken of gradients that have been shortened already, so a single one can't outvote the"
    " others.",
    known={
        "The weights aren't what they were. Only fill each `.grad`, and leave the step to the optimizer.": (
            lambda seen, right: any(
                isinstance(case, tuple) and case[1] != wanted[1]
                for case, wanted in zip(seen, right, strict=True)
            )
        ),
    },
    hints=(
        "She shortens the mean, but by then one buoy has made it. What should be shortened instead?",
        "`vmap(grad(one), in_dims=(None, 0, 0))(weights, points, heights)`, where `one` is the loss of a single"
        " point and calls the model through `functional_call`. You get a dict: each parameter's gradients, a"
        " row for each point.",
        "A point's length is the root of the sum of all its squares, over all parameters. Multiply its gradients by"
        " `(most / length).clamp(max=1)`, then take the mean over the points.",
    ),
    reference="""
from torch.func import functional_call, grad, vmap


def answer(model, loss, points, heights, most):
~   model.zero_grad()
~   loss(model(points), heights).backward()
~   torch.nn.utils.clip_grad_norm_(model.parameters(), most)
~   return  # You shorten the mean of all gradients. One of them has made it what it is, and shortening doesn't turn it.
~   model.zero_grad()
~   loss(model(points), heights).backward()
~   torch.nn.utils.clip_grad_value_(model.parameters(), most)
~   return  # You clip the numbers of the mean, and one buoy has made it what it is. Each point has to be shortened
~       # before the mean is taken, and as a whole.
~   model.zero_grad()
~   for point, height in zip(points, heights):
~       loss(model(point[None]), height[None]).backward()
~       torch.nn.utils.clip_grad_norm_(model.parameters(), most)
~   return  # You clip what is in `.grad` after each point, but by then it's the sum with all points before it.
~   loss(model(points), heights).backward()
~   torch.nn.utils.clip_grad_norm_(model.parameters(), most)
~   return  # That's her program: it shortens the mean, and it adds to what was in `.grad` before.
    def one(weights, point, height):
        score = functional_call(model, weights, (point[None],))  # a model takes a batch, so a point goes in as a batch of one
~       score = model(point[None])  # `one` doesn't use the weights that it's given, so its slope with respect to
~           # them is zero. Call the model through `functional_call`.
        return loss(score, height[None])

    weights = {name: w.detach() for name, w in model.named_parameters()}
    own = vmap(grad(one), in_dims=(None, 0, 0))(weights, points, heights)  # every point gets its own gradient
    rows = {name: g.reshape(len(points), -1) for name, g in own.items()}
    lengths = torch.cat(list(rows.values()), 1).norm(dim=1)  # a length counts all the parameters together
~   lengths = torch.cat(list(rows.values()), 1).norm().expand(len(points))  # You took one length for
~       # all points together. Each point has its own.
    factors = (most / lengths).clamp(max=1)  # only a gradient that's too long is shortened
~   factors = most / lengths  # You make every gradient as long as `most`, so those that were short have been stretched.
~   factors = (most / lengths).clamp(min=1)  # It's the wrong way round: the short gradients are stretched, and
~       # the long ones stay as they are.
    for name, w in model.named_parameters():  # every parameter gets its part
~       factors = (most / rows[name].norm(dim=1)).clamp(max=1)  # Each parameter got a length of its own, so a point
~           # votes once for each. A gradient's length counts all the parameters together.
        w.grad = (factors[:, None] * rows[name]).mean(0).view_as(w)  # the mean of what has been shortened
~       w.grad = rows[name].clamp(-most, most).mean(0).view_as(w)  # You clipped each number by itself, which bends the
~           # direction. Shorten a gradient as a whole.
~       w.grad = (factors[:, None] * rows[name]).sum(0).view_as(w)  # You took the sum of all points, not their mean.
~       shortened = (factors[:, None] * rows[name]).mean(0).view_as(w)
~       w.grad = shortened if w.grad is None else w.grad + shortened  # What was in `.grad` before should go, but you
~           # added to it.
""",
    cases=_other_buoys,
)


def _crowd(seed: int, count: int, k: int, model: str, mode: str = "train") -> Callable:
    """Return a case of 17.5: a model that counts its calls, a loss, points of different sizes, labels and k."""
    code = f"""torch.manual_seed({seed})
model = {model}.{mode}()
loss = nn.functional.binary_cross_entropy_with_logits
points, labels = torch.randn({count}, 2), (torch.rand({count}, 1) > 0.5).float()
points[1] *= 40
points[2] /= 40
loss(model(points), labels).backward()
k = {k}"""

    @written(made_by(code).written)
    def case() -> tuple:
        made = names_of(code)
        model = made["model"]
        model.calls = 0

        def counts(*_: object) -> None:
            model.calls += 1

        model.register_forward_pre_hook(counts)
        return noted(model, made["loss"], made["points"], made["labels"], made["k"])

    return case


_ONCE = "once"
_RELU = "nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1))"
_DROPS = "nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1))"


def _loud(returned: object, model: nn.Module, *_: object) -> list[object]:
    calls = _ONCE if model.calls == 1 else f"{model.calls} times"
    return [readable(returned), calls, afterwards()]


def _other_crowds(random: Random) -> tuple:
    def drawn(model: str, mode: str = "train") -> Callable:
        return _crowd(
            random.randint(5, 99), random.randint(8, 12), random.randint(2, 4), model, mode
        )

    return drawn(_RELU), drawn(_DROPS, "eval")


BUILD = Exercise(
    id="17.5",
    reader=function(
        _crowd(17, 10, 4, _RELU),
        _crowd(41, 9, 3, _DROPS, "eval"),
        observe=_loud,
        promises=(
            "the numbers of the points",
            "the model is called",
            "the model and its data afterwards",
        ),
    ),
    right="Those are the points that pull hardest. Keep this function for the day on which a model learns"
    " something odd, and look at what it finds before you look at anything else.",
    principle="a point's own gradient is that of its own loss, with respect to all parameters. How long is it?",
    known={
        "The numbers are right, but the model is called more than once. `vmap` runs your function a single time"
        " for all points together.": right_in(0, 2),
        "Your function leaves a trace. The weights, each `.grad` and the mode of the model should be what they were"
        " before.": shows("changed"),
    },
    hints=(
        "Write the loss of a single point as a function of the weights: `def one(weights, point, label)`. Inside it,"
        " `functional_call(model, weights, (point[None],))` calls the model with these weights.",
        "`vmap(grad(one), in_dims=(None, 0, 0))(weights, points, labels)` gives a dict with a row for each point."
        " Add up the squares over everything but the points, and `topk(k).indices` tells which are largest.",
    ),
    reference="""
from torch.func import functional_call, grad, vmap


def answer(model, loss, points, labels, k):
~   scores = model(points).detach()
~   return vmap(loss)(scores, labels).topk(k).indices.tolist()  # You sorted by the loss. A point
~       # pulls as hard as its gradient is long, and that also depends on the point itself.
~   return points.norm(dim=1).topk(k).indices.tolist()  # You sorted by the size of the points. A large point that the
~       # model gets right doesn't pull at all.
    def one(weights, point, label):
        score = functional_call(model, weights, (point[None],))  # a model takes a batch, so a point goes in as a batch of one
~       score = model(point[None])  # `one` doesn't use the weights that it's given, so its slope with respect to
~           # them is zero. Call the model through `functional_call`.
        return loss(score, label[None])

    weights = {name: w.detach() for name, w in model.named_parameters()}
~   weights = dict(list(model.named_parameters())[:1])  # You look at the first parameter alone. All of them count.
    own = vmap(grad(one), in_dims=(None, 0, 0))(weights, points, labels)  # every point gets its own gradient
~   own = vmap(grad(one))(weights, points, labels)  # All points share the same weights. Say so with
~       # `in_dims=(None, 0, 0)`.
~   own = {"": vmap(grad(one, argnums=1), in_dims=(None, 0, 0))(weights, points, labels)}  # You asked for the slope with
~       # respect to the points. What pulls is the gradient of the weights.
    rows = [g.reshape(len(points), -1) for g in own.values()]
    lengths = torch.cat(rows, 1).norm(dim=1)  # a length counts all the parameters together
~   lengths = torch.cat(rows, 1).norm()  # That's a single number for all points together, and there should be one
~       # for each.
~   lengths = sum(row.norm(dim=1) for row in rows)  # You took a length for each parameter and added those up. A
~       # gradient's length is the root of the sum of all its squares.
~   lengths = torch.cat(rows, 1).sum(1)  # You added up the numbers of each gradient, and they may cancel. Its length is
~       # the root of the sum of their squares.
~   lengths = torch.cat(rows, 1).abs().amax(1)  # You took the largest number of each gradient. Its length is the
~       # root of the sum of all squares.
    return lengths.topk(k).indices.tolist()  # the longest come first
~   return lengths.topk(k, largest=False).indices.tolist()  # Those are the quietest. You want the longest first.
~   return lengths.topk(k).values.tolist()  # You return the lengths. What is wanted is the numbers of the points.
~   return sorted(lengths.topk(k).indices.tolist())  # The right points, but sorted by their numbers. The loudest comes
~       # first.
""",
    cases=_other_crowds,
)


# Of each function: its code, how many numbers go in, and how many come out or what it has to say.
_FEW_OUT = (
    ("(x**2).sum()", 1),
    ("x.sin().mean()", 1),
    ("torch.stack([x.norm(), x.exp().sum()])", 2),
    ("torch.stack([x.logsumexp(0), x.norm(), (x**3).sum()])", 3),
)
_FEW_IN = (
    ("(x[0] * t + x[1]).sin()", 2),
    ("x[0] * (x[1] * t).exp()", 2),
    ("(x[0] + x[1] * t + x[2] * t**2).exp()", 3),
)
_SQUARE = (
    ("x.sin()", "as few passes as its zeros allow, and each result depends on one number of `x` alone"),
    ("x * x.exp()", "as few passes as its zeros allow, and each result depends on one number of `x` alone"),
    ("x.flip(0) ** 2", "as few passes as its zeros allow, and each result depends on one number of `x` alone"),
    ("x**2 + x.roll(1)", "as few passes as its zeros allow, and only neighbours share a number of `x`"),
)  # fmt: skip


def _passes(data: Data) -> str:
    return f"""t = torch.linspace(0, 1, {data["outs"]})


def a(x):  # {data["ins"]} numbers go in
    return {data["a"]}


def b(x):  # {data["few"]} numbers go in, {data["outs"]} come out
    return {data["b"]}


def c(x):  # {data["both"]} numbers go in, and as many come out
    return {data["c"]}


answer = []
for f, count in ((a, {data["ins"]}), (b, {data["few"]}), (c, {data["both"]})):
    table = torch.func.jacrev(f)(torch.rand(count) + 1).reshape(-1, count) != 0
    # rows can share a pass if no column has an entry in two of them, and columns likewise
    answer.append(min(table.sum(0).max().item(), table.sum(1).max().item()))
"""


def _other_passes(random: Random) -> Data:
    a, of_a = random.choice(_FEW_OUT)
    b, few = random.choice(_FEW_IN)
    c, why = random.choice(_SQUARE)
    sizes = random.sample((100, 200, 400, 500, 600, 800), 3)
    return dict(zip(("ins", "outs", "both"), sizes, strict=True)) | {
        "a": a, "of_a": of_a, "b": b, "few": few, "c": c, "why": why,
    }  # fmt: skip


PASSES = Exercise(
    id="17.1",
    right="Rows where few numbers come out, columns where few go in. And if you know where the zeros are, several rows"
    " or columns can share a pass.",
    principle="a backward pass fills a row, a forward pass fills a column, and rows that have no column in common can"
    " share a pass.",
    quantities=Quantities(
        program=_passes,
        data={
            "ins": 1000,
            "outs": 500,
            "both": 300,
            "few": 2,
            "of_a": 1,
            "a": "(x**2).sum()",
            "b": "(x[0] * t + x[1]).sin()",
            "c": "x.sin()",
            "why": _SQUARE[0][1],
        },
        draw=_other_passes,
        places=(
            Place(
                "`a`",
                "a backward pass for each number that comes out",
                {"a forward pass for each number that goes in": "ins"},
            ),
            Place(
                "`b`",
                "a forward pass for each number that goes in",
                {"a backward pass for each number that comes out": "outs"},
                {"a single forward pass, which fills one column": 1},
            ),
            Place(
                "`c`",
                "{why}",
                {"a pass for each row, as if no entry were known to be zero": "both"},
                {"what it takes if each result depends on one number of `x`": 1},
            ),
        ),
    ),
    asked="How many passes does it take at least to fill the Jacobian of `a`, of `b` and of `c`? A pass is one backward"
    " pass or one forward pass, from a vector of your choice, and you know which entries are zero. Give three numbers.",
    hints=(
        "How many rows does each Jacobian have, and how many columns? A backward pass fills a row, a forward pass a"
        " column.",
        "Look at the zeros of `c`. Start a backward pass with ones: what does each number of the result tell you?",
    ),
)


_OWN_LOSSES = (
    "(point @ w - label) ** 2",
    "(point @ w - label).abs()",
    "(point @ w - label) ** 2 / 2",
)
_POINTS = [3.0, 4.0], [5.0, 12.0], [8.0, 15.0], [8.0, 6.0], [24.0, 7.0], [20.0, 21.0]


def _own(data: Data) -> str:
    return f"""from torch.func import grad, vmap

w = torch.tensor({data["w"]})
points = torch.tensor({data["points"]})
labels = torch.tensor({data["labels"]})


def loss(w, point, label):
    return {data["loss"]}


own = vmap(grad(loss), in_dims=(None, 0, 0))(w, points, labels)
lengths = own.norm(dim=1)
answer = lengths.tolist()
"""


def _lengths(data: Data, by: int = 0) -> torch.Tensor:
    """Return the length of each point's own gradient, with respect to the weights or to the point."""
    loss = names_of(_own(data))["loss"]
    given = [_tensor(data[name]) for name in ("w", "points", "labels")]
    return _vmap(_grad(loss, argnums=by), (None, 0, 0))(*given).norm(dim=1)


def _of_the_mean(data: Data) -> float:
    made = names_of(_own(data))
    return made["own"].mean(0).norm().item()


def _without_the_point(at: int) -> Callable[[Data], float]:
    return lambda data: _lengths(data)[at].item() / _tensor(data["points"])[at].norm().item()


def _length(at: int) -> Place:
    return Place(
        f"`lengths[{at}]`",
        "the length of what this point alone gives",
        {"the length of the mean of all three gradients": _of_the_mean},
        {
            "this point's share in the mean": lambda data: _lengths(data)[at].item() / 3,
            "the slope with respect to the score, without the point": _without_the_point(at),
            "the length of the gradient with respect to the point": lambda data: _lengths(data, 1)[
                at
            ].item(),
            "the length of the point": lambda data: _tensor(data["points"])[at].norm().item(),
            "half of it: the slope of a square has a 2": lambda data: _lengths(data)[at].item() / 2,
            "the square of the length": lambda data: _lengths(data)[at].item() ** 2,
        },
    )


def _other_lengths(random: Random) -> Data:
    w = random.choice(([1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [2.0, -1.0]))
    points = random.sample(_POINTS, 3)
    missed = random.sample((-3.0, -2.0, -1.0, 1.0, 2.0, 3.0), 3)
    labels = [p[0] * w[0] + p[1] * w[1] - r for p, r in zip(points, missed, strict=True)]
    return {"w": w, "points": points, "labels": labels, "loss": random.choice(_OWN_LOSSES)}


OWN = Exercise(
    id="17.2",
    right="Three lengths, one for each point. In the mean you'd have seen only one number, and you couldn't have told"
    " who it came from.",
    principle="one point's gradient is the slope of its loss with respect to its score, times the point.",
    quantities=Quantities(
        program=_own,
        data={
            "w": [1.0, -1.0],
            "points": [[3.0, 4.0], [5.0, 12.0], [8.0, 6.0]],
            "labels": [1.0, -9.0, -1.0],
            "loss": _OWN_LOSSES[0],
        },
        draw=_other_lengths,
        places=(_length(0), _length(1), _length(2)),
    ),
    asked="What is `lengths`? Give three numbers.",
    hints=(
        "Take one point at a time. What is `point @ w - label`, and what is the slope of the loss with respect to that?",
        "Its gradient is that slope times the point, and the points have lengths without a fraction, such as 5 or 13.",
    ),
)


_ORDER = "Is a gradient differentiated here, or the function itself?"
_WEIGHED = "Where does `v` come in?"
_FUNCTIONS_AT = """from torch.func import grad, hessian, jacfwd, jvp, vjp


def f(x):
    return {}


x, v = torch.tensor({}), torch.tensor({})"""
PRODUCTS = Lines(
    read="what `grad`, `jvp` and `vjp` return, and what each of them takes",
    begins=(
        _FUNCTIONS_AT.format("(x**4).sum() + x[0] * x[1] ** 2", [1.0, 2.0], [1.0, 3.0]),
        _FUNCTIONS_AT.format("x.prod() ** 2 + (x**3).sum()", [2.0, 1.0], [1.0, -2.0]),
        _FUNCTIONS_AT.format("(x[0] ** 2 * x[1] + x[1] ** 4)", [1.0, 3.0], [2.0, -1.0]),
        _FUNCTIONS_AT.format("(x[0] - 2 * x[1]) ** 4 + x.prod()", [2.0, 3.0], [1.0, 4.0]),
    ),
    lines={
        "h = jvp(grad(f), (x,), (v,))[1]": _ORDER,
        "h = jvp(f, (x,), (v,))[1]": _ORDER,
        "h = grad(lambda x: grad(f)(x) @ v)(x)": _ORDER,
        "h = grad(f)(x) * v": _ORDER,
        "h = hessian(f)(x).diagonal() * v": "Does each result get all the entries of its row?",
        "h = vjp(grad(f), x)[1](v)[0]": "Does a Hessian look any different with rows and columns exchanged?",
        "h = jvp(grad(f), (x,), (v,))[0]": "`jvp` returns two things. Which of them is this?",
        "h = grad(lambda x: jvp(f, (x,), (v,))[1])(x)": _ORDER,
        "h = jacfwd(grad(f))(x) @ v": _ORDER,
        "h = jvp(grad(f), (v,), (x,))[1]": "At which point, and in which direction?",
        "h = grad(f)(x + v) - grad(f)(x)": "Is that a slope, or a difference?",
        "h = grad(lambda x: grad(f)(x).sum())(x) * v": _WEIGHED,
        "h = grad(lambda x: f(x) * v.sum())(x)": _WEIGHED,
        "h = jvp(lambda x: grad(f)(x) * 2, (x,), (v / 2,))[1]": _WEIGHED,
    },
    trial="""
{begin}
exec(line)
right = hessian(f)(x) @ v
if h.shape == right.shape and torch.allclose(h, right):
    answer.append(letter)
""",
)  # fmt: skip

LETTERS = Exercise(
    id="17.3",
    right="These all differentiate a gradient, and `v` comes in at the right place. Whether you do it forward or"
    " backward makes no difference to the numbers.",
    asked="Which lines compute the Hessian of `f` at `x`, times `v`? Give a list of letters.",
    **PRODUCTS.first("abcdef"),
    hints=(
        "A Hessian is the Jacobian of a gradient. Which lines differentiate a gradient?",
        "`jvp(g, (x,), (v,))` returns `g(x)`, and the Jacobian of `g` times `v`. `vjp` starts from a row, and a Hessian is"
        " symmetric.",
    ),
)


def _several(answer: Callable) -> Callable:
    def run(ts: torch.Tensor) -> list[torch.Tensor]:
        return [_vmap(answer)(ts), _vmap(_grad(answer))(ts)]

    return run


def _points_of(*ts: float) -> Callable:
    return made_by(f"ts = torch.tensor({list(ts)})", "ts")


def _steep_at_zero(seen: tuple, right: tuple) -> bool:
    """Tell whether all values are right, and the slope at 0, of the second case, is far below 0."""
    return right_in(0)(seen, right) and seen[1][1][1] < -10


def _nan_at_zero(seen: tuple, right: tuple) -> bool:
    """Tell whether all values are right, and the slope at 0, of the second case, is no number."""
    return right_in(0)(seen, right) and isnan(seen[1][1][1])


BRANCH = Exercise(
    id="17.4",
    reader=function(
        _points_of(4.0, 1.0, 0.5),
        _points_of(2.0, 0.0, 0.25),
        around=_several,
        parts=("values", "slopes"),
    ),
    right="Both branches are computed for every point, and now both of them can be: the slope that isn't wanted is a"
    " number, so it can be left out.",
    principle="`where` chooses for each point, but only after both branches have been computed, and both go backward.",
    known={
        "There's still an `if`, or an `.item()`. `vmap` runs your function once, for all points together, so there's no single answer to"
        " the question.": fails("data-dependent control flow", ".item()"),
        "The value is right, but its slope at 0 isn't a number. The log of 0 takes part in the way back, even where you"
        " don't use its result, and 0 times infinity is nan. What could the log take there?": _nan_at_zero,
        "The values are right, but at 0 you get the slope of a log close to 0, which is steep. What's wanted there is"
        " 0.": _steep_at_zero,
    },
    hints=(
        "`torch.where(t > 0, …, …)` chooses for each point. Look at the slope at 0, too.",
        "Give the log a number that it can take wherever `t` is 0: `torch.where(t > 0, t, 1.0)`. Then choose once more.",
    ),
    reference="""
def answer(t):
    safe = torch.where(t > 0, t, 1.0)  # the log needs a number that it can take
~   safe = t.clamp(min=1e-9)
~   return t * safe.log()  # The values are right, but the slope at 0 is that of a very small number: about −20. What is
~       # wanted there is 0.
    return torch.where(t > 0, t * safe.log(), 0.0)  # what the log gives for the other points isn't wanted
~   return (t > 0) * (t * t.log())  # The value at 0 isn't a number, because the log is infinite there and 0 times infinity
~       # is nan. `where` leaves it out.
""",
    cases=lambda random: (
        _points_of(*(random.randint(1, 40) / 4 for _ in range(3))),
        _points_of(random.randint(1, 40) / 4, 0.0, random.randint(1, 40) / 4),
    ),
)

_REFUSED = "element 0 of tensors does not require grad and does not have a grad_fn"

PUSHES = Exercise(
    id="17.7",
    stage="17",
    reader=function(*cases("17"), promises=DUAL),
    truth=lambda: on_torch,
    solution=yours("17"),
    cases=lambda random: cases("17", random),
    right="Your engine goes forward now, and it needs no graph for that. And since your vjps compute with"
    " Values, their tangents go backward along with the gradients: that's the Hessian times a vector.",
    principle="a tangent is the slope so far. Each operation multiplies it by a slope of its own, and what"
    " comes from several inputs is added up.",
    known={
        "`mul` has to photograph both factors, as it did in lesson 04.": fails(
            "not enough values to unpack", cases=slice(0, 1)
        ),
        "`add` and `mul` have to return their result.": fails(
            "'NoneType' object has no attribute", cases=slice(0, 1)
        ),
        "Most values have no tangent. Theirs is None, and then there's nothing to push.": fails(
            "not NoneType", cases=slice(0, 3)
        ),
        "`make_dual` has to return the dual.": fails("'NoneType' and 'int'"),
        "A tangent is a Value, like a gradient, and no bare number or tensor. `as_value` makes one.": at(
            [1, 2, 11], [0, 1], "a float, no Value", "a Tensor, no Value"
        ),
        "The result of `u * 2` has no tangent. Does `make_dual` put one beside the value, and does `mul` push"
        " for both of its factors?": at([1], [0], None),
        "A tangent goes through a product times the *other* factor.": at([1], [0], 3.0),
        "The tangent went through `u * 2` as it was. A product multiplies it by a slope.": at(
            [1], [0], 1.0
        ),
        "Nothing came through the sum. In `add`, each input that has a tangent pushes it as it is.": at(
            [2], [0], None
        ),
        "In `y * u` it's the second factor that has the tangent. `mul` has to push for both factors.": at(
            [3, 4], [0], None
        ),
        "Nobody asked for the slope of `x * x`, and yet it has a tangent. `make_dual` leaves the value itself"
        " alone and returns a second name tag: `beside` makes one.": at([5], [0]),
        "Both inputs of the sum have a tangent, and each of them counts. `push` adds to what is there.": at(
            [6], [0], 10.0, 1.0
        ),
        "The tangent isn't always 1. `make_dual` puts beside the value what it was given.": at(
            [6], [0], 2.0
        ),
        "The tangent of `u * u` has a tangent of its own, so each product would compute more of them. Multiply"
        " by the other factor without its tangent: `beside(other, None)`.": at([7], [4]),
        "`push` wrote into the tangent of `u`, because `h` held the same Value. Make a new sum instead.": at(
            [9], [0], 18.0
        ),
        "The tangent may be a Value already. `as_value` leaves that as it is.": both(
            at([19], [0]), shows("Could not infer dtype of Value")
        ),
        "`x` gets no gradient through the dual. A second name tag from `beside` shares the history, and a"
        " leaf's AccumulateGrad, too.": at([10], [2]),
        "`unpack_dual` returns two things: the value without its tangent, and then the tangent.": fails(
            "cannot unpack non-iterable", cases=slice(11, 12)
        ),
        "What `unpack_dual` returns first still has its tangent. `beside(value, None)` has none.": at(
            [11], [0], 7.0
        ),
        "`unpack_dual` took the tangent off `u` itself. It should look and leave the dual alone.": at(
            [11], [0], None
        ),
        "`unpack_dual` returns the value first, and then its tangent.": at([11], [1], 3.0),
        "What `unpack_dual` returns first has lost its history. Only the tangent goes.": at(
            [11], [2]
        ),
        "A value without a tangent has None there, and no zeros.": at([12], [1]),
        "Forward mode doesn't ask whether anything requires grad. A tangent goes along all the same.": at(
            [13], [0]
        ),
        "`no_grad()` switches the recording off, and a tangent isn't recorded. It goes along.": at(
            [14], [0]
        ),
        "Your tangent is right, but it has lost its history, so it can't be differentiated. Compute it from"
        " Values, and multiply by the other factor with its history: `beside(other, None)`.": at(
            [17], [2]
        ),
        "The gradient has no tangent, although the dual has one. Photograph the factors themselves, with their"
        " tangents.": at([18], [3]),
    },
    hints=(
        "`make_dual` and `unpack_dual` are a line each, and both call `beside`.",
        "In `add`, each input that has a tangent pushes it into the result as it is.",
        "In `mul`, each factor that has a tangent pushes it times the *other* factor. Take that one"
        " without its tangent, but with its history: `beside(other, None)`.",
    ),
)

EXERCISES = (BUOY, BUILD, PASSES, OWN, LETTERS, BRANCH, PUSHES)
