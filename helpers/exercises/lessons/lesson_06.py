"""Exercises of lesson 06, accumulation: what is in `.grad`, who holds it, and the case in portions."""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.programs import slope
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import both, each_has, fails, right_in, shows
from helpers.exercises.watched_inputs import afterwards, noted, readable
from helpers.moons import moons

_CALLS = """
x = torch.tensor({x}, requires_grad=True)
({a} + {b}).backward()
({c}).backward()
p = x.grad.item()
x.grad.zero_()
({d}).backward()
({e}).backward()
q = x.grad.item()
answer = [p, q]
"""


def _other_calls(random: Random) -> Data:
    """Draw a number, and terms in it, of which at most one of each two calls has a power."""
    terms = [f"{factor} * x" for factor in random.sample(range(2, 15), 5)]
    for at in (random.randrange(3), random.randrange(3, 5)):
        terms[at] = random.choice(("x**2", "x**3", "x * x"))
    return dict(zip("xabcde", [float(random.randint(2, 5)), *terms], strict=True))


CALLS = Exercise(
    id="06.1",
    right="Two paths and two calls were added the same way, and after `zero_()` the adding began anew.",
    principle="`backward()` adds to what `.grad` holds, and `zero_()` writes zeros over it.",
    quantities=Quantities(
        program=_CALLS.format_map,
        data={"x": 2.0, "a": "3 * x", "b": "5 * x", "c": "10 * x", "d": "x**2", "e": "2 * x"},
        draw=_other_calls,
        places=(
            Place(
                "`p`",
                "the sum of what the first two calls send, each along all of its paths",
                {
                    "what the second call alone sends, `({c}).backward()`": "slope(c, 'x')",
                    "what the first call alone sends, `({a} +"
                    " {b}).backward()`": "slope(f'{a} + {b}', 'x')",
                    "what both calls send without one of the two paths of the first": (
                        "slope(f'{a} + {c}', 'x'), slope(f'{b} + {c}', 'x')"
                    ),
                    "what one path of the first call sends": "slope(a, 'x'), slope(b, 'x')",
                    "what the values of `{a} + {b}` and `{c}` add up to, not their gradients": (
                        "value(f'{a} + {b} + {c}')"
                    ),
                },
            ),
            Place(
                "`q`",
                "the sum of what the last two calls send, beginning at zero",
                {
                    "what the values of `{d}` and `{e}` add up to, not their"
                    " gradients": "value(f'{d} + {e}')",
                    "what you get if nothing had been emptied": (
                        "slope(f'{a} + {b} + {c} + {d} + {e}', 'x'), slope(f'{c} + {d} + {e}',"
                        " 'x'), slope(f'{a} + {b} + {d} + {e}', 'x')"
                    ),
                    "what `({d}).backward()` alone sends": "slope(d, 'x')",
                    "what `({e}).backward()` alone sends": "slope(e, 'x')",
                },
            ),
        ),
        own={
            "You let each call write over the one before. `backward()` adds to what `.grad`"
            " holds.": (lambda d, seen: same(seen, (slope(d["c"], d, "x"), slope(d["e"], d, "x")))),
            "Your `p` is 0. It was read before `zero_()` ran, and `item()` gave a plain number,"
            " which no later line changes.": lambda _, seen: seen[0] == 0,
            "0 is in `x.grad` right after `zero_()`. Two more calls come before `q` is read, and"
            " each adds its gradient.": lambda _, seen: seen[1] == 0,
            "`zero_()` does not take the tensor in `.grad` away. It writes zeros to it, and then"
            " two more calls add theirs.": lambda _, seen: seen[1] is None,
        },
    ),
    asked="What are `p` and `q`? Give a list of two numbers.",
    hints=(
        "Write down what each of the four `backward()` calls sends to `x`; the first call has two paths.",
        "`p` is the sum of what calls 1 and 2 sent; `q` is that of calls 3 and 4 alone.",
    ),
)

_HOLDERS = """
x = torch.tensor(2.0, requires_grad=True)
({a} * x).backward()
g = x.grad
h = {copy}
({b} * x).backward()
{drop}
({c} * x).backward()
k = x.grad
{empty}
answer = [g, h, k]
"""
_ALL_THREE = "what all three calls send; between the second and the third `.grad` was emptied"
_THIRD = "what the third call sends, into a tensor that did not exist before"
_TWO = "what the first two calls send"


_COPIES = "x.grad.clone()", "x.grad + 0", "x.grad.detach().clone()"
_DROPS = "x.grad = None", "x.grad = torch.tensor(0.0)", "del x.grad"
_EMPTIES = "x.grad.zero_()", "x.grad.mul_(0)", "x.grad.detach().zero_()"


def _other_factors(random: Random) -> Data:
    lines = map(random.choice, (_COPIES, _DROPS, _EMPTIES))
    data = dict(zip("abc", random.sample(range(2, 15), 3), strict=True))
    return data | dict(zip(("copy", "drop", "empty"), lines, strict=True))


HOLDERS = Exercise(
    id="06.2",
    right="Backward or the last line went on writing to the tensors that `g` and `k` name, and `h` is a copy.",
    asked="What do `g`, `h` and `k` hold at the end? Give a list of three numbers.",
    principle="a name stands for a tensor, so a write to that tensor shows under each of its names,"
    " and under no copy's.",
    quantities=Quantities(
        program=_HOLDERS.format_map,
        data={"a": 3, "b": 3, "c": 5, "copy": _COPIES[0], "drop": _DROPS[0], "empty": _EMPTIES[0]},
        draw=_other_factors,
        places=(
            Place(
                "`g`",
                "what the calls before `{drop}` write to the tensor that `g` names",
                {
                    "what was there when `g` got its name": "a",
                    "what the last line writes, but it writes to another tensor": 0,
                    _THIRD: "c",
                    _ALL_THREE: "a + b + c",
                    "what the first and the third call send": "a + c",
                },
            ),
            Place(
                "`h`",
                "what `x.grad` held when `{copy}` made a tensor that no later line knows",
                {
                    "no tensor, but `{copy}` made one": None,
                    _TWO: "a + b",
                    "what the last line writes, but it writes to another tensor": 0,
                    _THIRD: "c",
                    _ALL_THREE: "a + b + c",
                },
            ),
            Place(
                "`k`",
                "what the last line leaves in the tensor that `k` names",
                {
                    "what was there before the last line": "c",
                    _ALL_THREE: "a + b + c",
                    _TWO: "a + b",
                    "what the first call sends": "a",
                },
            ),
        ),
        own={
            "You noted three numbers at three moments. `g` and `k` are names of tensors, and what"
            " is written to such a tensor later shows under its name.": lambda d, seen: same(
                seen, (d["a"], d["a"], d["c"])
            ),
            "The line before the third call only takes the name away: what `g` holds is still"
            " there.": (lambda _, seen: seen[0] is None),
            "The last line takes no tensor away. It writes a zero into the one that `k` names.": (
                lambda _, seen: seen[2] is None
            ),
        },
    ),
    hints=(
        "Draw a box for each tensor that ever was in `x.grad`, and one for the clone. Which name leads to which box?",
        "The second `backward()` adds in place. The line after it lets go of a box, and the last"
        " line empties the box that is there.",
    ),
)


def _portions(sizes: tuple[int, ...], old: float | None) -> tuple:
    """Make the model of the case, which counts the gradients that arrive, and the moons in portions;
    `old` is in its gradients.
    """
    model = nn.utils.skip_init(nn.Linear, 2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.5, -1.0]]))
        model.bias.fill_(0.25)
    for weight in model.parameters():
        weight.grad = None if old is None else torch.full_like(weight, old)
    model.arrived = arrived = []
    model.weight.register_hook(lambda gradient: arrived.append(1))
    points, moon = moons(sum(sizes))
    return model, list(zip(points.split(sizes), moon.split(sizes), strict=True))


def _case(sizes: tuple[int, ...], old: float | None = None) -> Callable:
    rest = "" if old is None else f", {old} in each of its gradients"
    text = f"an nn.Linear(2, 1){rest}, and the moons in portions of {', '.join(map(str, sizes))}"
    return written(text)(partial(_portions, sizes, old))


_CASES = _case((4, 4, 4)), _case((5, 5, 2), 100.0), _case((6, 1), -7.0)


def _other_cases(random: Random) -> tuple:
    """Draw equal portions, some with a smaller one at the end, and two that differ much."""
    size, large = random.randint(3, 6), random.randint(5, 9)
    old = float(random.randint(5, 200))
    uneven = _case((large, large, random.randint(1, large - 2)), old)
    return _case((size,) * 3), uneven, _case((large, 1), -float(random.randint(2, 20)))


def _left(returned: object, model: nn.Linear, portions: list) -> object:
    weights = [readable(model.weight), readable(model.bias)]
    kept = weights == [((0.5, -1.0),), (0.25,)] and model.weight.requires_grad
    grads = [readable(model.weight.grad), readable(model.bias.grad)]
    return [*grads, len(model.arrived), "as they were" if kept else "changed"]


CASE = Exercise(
    id="06.5",
    reader=function(
        *_CASES,
        observe=_left,
        parts=("`model.weight.grad`", "`model.bias.grad`", "calls that arrived", "the weights"),
    ),
    right="Each point counts the same, whatever its portion. Now say why the loss exploded.",
    principle="`backward()` adds the gradient of what you call it on, so you decide how much a"
    " portion counts when you scale its loss.",
    known={
        "You changed the weights themselves. Only their gradients are asked for, and the optimizer"
        " makes the step later.": shows("changed"),
        "No call of `backward()` reached the weight. Call it on a loss of the model, once for each"
        " portion.": each_has(2, 0),
        "The gradients are right, but you ran backward once for all points together. Then the graph"
        " keeps what it saved for all of them until that call. With one call for each portion it"
        " keeps only a portion's.": both(each_has(2, 1), right_in(0, 1)),
        "`zero_()` needs a tensor to write to, and in one of the cases `.grad` is still None. Use"
        " `model.zero_grad()`, which works in"
        " both.": fails("'NoneType' object has no attribute 'zero_'"),
    },
    hints=(
        "How much would each portion count in the mean over all points? And what was in `.grad` before you began?",
        "Call `model.zero_grad()`, count all points, and go back from `loss * len(part) / count` for each portion.",
    ),
    reference="""
def answer(model, portions):
    count = sum(len(part) for part, _ in portions)
    model.zero_grad()                      # nothing from an earlier step may get into the sum
    for part, which in portions:
        errors = (model(part) - which) ** 2
        (errors.sum() / count).backward()  # each point counts the same, whichever portion it's in
~       errors.mean().backward()  # You added the portions' means in full, as the program at the top does. In the
~           # mean over all points, a portion counts for its share of the points.
~       (errors.mean() / len(portions)).backward()  # You divided by the number of portions. That's right only while
~           # they're all the same size. Here they aren't, so a point in a small portion counts too much.
~       errors.sum().backward()  # Each point counts the same, which is good. But this is the gradient of a sum over
~           # all points, while the loss is their mean.
""",
    cases=_other_cases,
)

_EMPTY = "Does this line leave a tensor in `w.grad`, or nothing?"
_REFILLED = "Something comes after the emptying: does that write into `w.grad`?"
_ELSEWHERE = "Where do the gradients of this call go?"
_SGD = "sgd = torch.optim.SGD([w], lr=0.1, weight_decay={})\n({}).backward()"
_BEGIN = f"w = torch.ones(1, requires_grad=True)\n{_SGD}"
LEFT = Lines(
    read="idea 2: what SGD does with a zero, and with None",
    begins=(
        _BEGIN.format(1.0, "3 * w"),
        _BEGIN.format(0.5, "w**2"),
        _BEGIN.format(2.0, "w.exp()"),
        _BEGIN.format(0.1, "5 - w"),
    ),
    lines={
        "w.grad.zero_()": _EMPTY,
        "w.grad = None": _EMPTY,
        "sgd.zero_grad(); (0 * w).backward()": _REFILLED,
        "sgd.zero_grad()": _EMPTY,
        "sgd.zero_grad(); torch.autograd.grad(w, w)": _ELSEWHERE,
        "sgd.zero_grad(set_to_none=False)": _EMPTY,
        "del w.grad": _EMPTY,
        "w.grad.mul_(0)": _EMPTY,
        "w.grad = torch.zeros(1)": _EMPTY,
        "w.grad = None; w.grad = torch.zeros(1)": _REFILLED,
        "g = w.grad; w.grad = None": _EMPTY,
        "torch.autograd.grad(w, w)": _ELSEWHERE,
        "w.grad = None; (w - w).backward()": _REFILLED,
        "g = w.grad; g.zero_()": _EMPTY,
    },
    trial="""
{begin}
before = w.item()
exec(line)
sgd.step()
if w.item() == before:
    answer.append(letter)
""",
)

STAYS = Exercise(
    id="06.6",
    right="After these lines `w.grad` is None, and SGD skips `w`. A zero is a gradient, and the weight decays.",
    asked="*One* of the lines runs, and then `sgd.step()`. With which of them does `w` stay where"
    " it is? Give a list of letters.",
    hints=(
        "For each line ask what is in `w.grad` when the step comes: a tensor, or None?",
        "SGD adds the decay to any gradient that is there, and to a zero as well.",
    ),
    **LEFT.first("abcdef"),
)

LINES = Faults("""
w = torch.tensor({a}.0, requires_grad=True)
({b} * w).backward()
first = w.grad.clone()
({c} * w).backward()
both = w.grad.item()
print(first.item() + {c}, both)
look at: [first.item() + {c}, both]
3: first = w.grad
3: first = w.grad.detach()
4: torch.autograd.grad({c} * w, w)

d = torch.tensor([{a}.0, {b}.0, {c}.0])
w = torch.tensor(1.0, requires_grad=True)
for part in d.split(2):
    loss = ((w * part) ** 2).mean()
    share = loss * len(part) / len(d)
    share.backward()
whole = ((w * d) ** 2).mean()
(wanted,) = torch.autograd.grad(whole, w)
print(w.grad.item(), wanted.item())
look at: round(w.grad.item() - wanted.item(), 3)
5: share = loss / len(part)
5: share = loss / 2
6: loss.backward()

d = torch.tensor([{a}.0, {b}.0, {c}.0, {d}.0])
w = torch.tensor(1.0, requires_grad=True)
sgd = torch.optim.SGD([w], lr=0.1)
for step in range(2):
    sgd.zero_grad()
    for part in d.split(2):
        loss = (w * part).mean() / 2
        loss.backward()
print(w.grad.item(), d.mean().item())
look at: round(w.grad.item() - d.mean().item(), 3)
5: sgd.zero_grad
5: w.zero_grad = None
8: torch.autograd.grad(loss, w)

w, log = torch.tensor(1.0, requires_grad=True), []
for factor in ({a}, {b}, {c}):
    w.grad = None
    (factor * w).backward()
    log.append(w.grad)
print(sum(log).item(), {a} + {b} + {c})
look at: sum(log).item()
3: w.grad is None
3: w.requires_grad_()
5: log.append(factor * w.grad)
""")

LINE = Exercise(
    id="06.7",
    right="With that line mended, both numbers are the same.",
    asked="The two numbers that this program prints should be the same. Which line would you"
    " change? Give its number.",
    principle="go through the calls of `backward()` one by one, and write down which tensor is in"
    " `.grad`, and what is in it.",
    hints=(
        "What should be in `.grad` after each call of `backward()`, and what is there?",
        "Ask three things: is `.grad` really emptied, is a number copied or only named, and how"
        " much does each mean count?",
    ),
    **LINES.first(a=2, b=3, c=5, d=7),
)


def _models(a: int, b: int) -> tuple:
    codes = (
        f"model = nn.Linear(2, 1)\nmodel.weight.grad = torch.tensor([[3.0, 4.0]])\n"
        f"model.bias.grad = torch.tensor([{a}.0])",
        "model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))\n"
        f"model[0].requires_grad_(False)\nmodel[1][0].weight.grad = torch.tensor([[-{b}.0]])",
        f"model = nn.Linear(2, 1)\nmodel.weight.grad = torch.zeros(1, 2)\n"
        f"model.bias.grad = torch.tensor([{b}.0])",
        "one = nn.Linear(1, 1, bias=False)\nmodel = nn.Sequential(one, nn.Tanh(), one)\n"
        f"one.weight.grad = torch.tensor([[{a}.0]])",
        "model = nn.Linear(4, 1).half()\n"
        f"model.weight.grad = torch.full((1, 4), {a + 30}000.0, dtype=torch.half)",
        "model = nn.Sequential()",
    )
    return tuple(made_by(code, "model", then=noted) for code in codes)


def _logged(returned: object, model: nn.Module) -> list[object]:
    if not isinstance(returned, dict):
        return ["no dict", readable(returned), "", afterwards()]
    pairs = [(str(readable(key)), readable(value)) for key, value in dict.items(returned)]
    pairs.sort(key=lambda pair: pair[0])
    has_tensors = any(isinstance(value, torch.Tensor) for value in dict.values(returned))
    kind = "tensors" if has_tensors else "numbers"
    return [[name for name, _ in pairs], pairs, kind, afterwards()]


def _other_names(seen: tuple, right: tuple) -> bool:
    pairs = zip(seen, right, strict=True)
    return any(
        isinstance(case, tuple) and case[0] not in ("no dict", true[0]) for case, true in pairs
    )


def _norms(seen: tuple, right: tuple) -> list[tuple]:
    """Return name, norm that came and right norm, of all cases that have the right names."""
    norms = []
    for case, wanted in zip(seen, right, strict=True):
        if isinstance(case, tuple) and case[0] == wanted[0]:
            pairs = zip(case[1], wanted[1], strict=True)
            norms += [(mine[0], mine[1], true[1]) for mine, true in pairs]
    return norms


def _zero_for_none(seen: tuple, right: tuple) -> bool:
    return any(true is None and mine == 0 for _, mine, true in _norms(seen, right))


def _overflows(seen: tuple, right: tuple) -> bool:
    return any(mine == float("inf") for _, mine, _ in _norms(seen, right))


def _adds_norms(seen: tuple, right: tuple) -> bool:
    """Tell whether only the norm of all together is wrong somewhere."""
    wrong = {name for name, mine, true in _norms(seen, right) if not same(mine, true)}
    return wrong == {"all"}


LOGGER = Exercise(
    id="06.8",
    reader=function(
        *_models(12, 7),
        observe=_logged,
        promises=("the names", "the norms", "they are", "the model's gradients"),
    ),
    right="That is a gradient logger: one line in your loop, and you see which layer gets no"
    " gradient, and which too much.",
    principle="each parameter has a line, with a number or with None, and looking at a gradient leaves it as it was.",
    known={
        "You changed what is in the model's `.grad`. A logger only looks, and the optimizer comes"
        " after it.": shows("changed"),
        "Somewhere `.grad` is None, and None has no norm. Ask for it before you compute.": fails(
            "NoneType"
        ),
        "You leave a parameter out, or name one twice. Every parameter has a line under the name"
        " that `named_parameters()` gives it, and `all` comes with them.": _other_names,
        "You wrote 0 where no gradient came. SGD treats a zero and None differently, so the log"
        " should say which it was: None.": _zero_for_none,
        "No finite float16 is above 65504, so your norm became `inf`. Take the gradient"
        " as float32 first: `.float()`.": _overflows,
        "Each norm is right, but `all` isn't. It is the root of the sum of the *squared* norms,"
        " and 0 if no gradient came.": _adds_norms,
    },
    hints=(
        "Go through `model.named_parameters()`. What do you write when `parameter.grad` is None?",
        "The number is `parameter.grad.float().norm().item()`. Add up the squares of these, for `all`.",
    ),
    solution="""
def answer(model):
    norms, squares = {}, 0.0
    for name, parameter in model.named_parameters():
        norms[name] = None
        if parameter.grad is not None:
            norms[name] = parameter.grad.float().norm().item()
            squares += norms[name] ** 2
    norms["all"] = squares**0.5
    return norms
""",
    cases=lambda random: _models(random.randint(1, 20), random.randint(2, 9)),
)

EXERCISES = (CALLS, HOLDERS, STAYS, LINE, LOGGER, CASE)
