"""Exercises of lesson 06, accumulation: what is in `.grad`, who holds it, and chunks that count."""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from helpers.engine.checks import TALLIES, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, written
from helpers.exercises.letters import Lines
from helpers.exercises.programs import slope
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import (
    at,
    both,
    each_has,
    fails,
    fails_first,
    right_in,
    shows,
)
from helpers.exercises.watched_inputs import readable

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
    for place in (random.randrange(3), random.randrange(3, 5)):
        terms[place] = random.choice(("x**2", "x**3", "x * x"))
    return dict(zip("xabcde", [float(random.randint(2, 5)), *terms], strict=True))


CALLS = Exercise(
    id="06.1",
    right="Two paths and two calls were added the same way, and after `zero_()` the adding started over.",
    principle="`backward()` adds to what `.grad` holds, and `zero_()` overwrites it with zeros.",
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
                    "what you'd get if nothing had been emptied": (
                        "slope(f'{a} + {b} + {c} + {d} + {e}', 'x'), slope(f'{c} + {d} + {e}',"
                        " 'x'), slope(f'{a} + {b} + {d} + {e}', 'x')"
                    ),
                    "what `({d}).backward()` alone sends": "slope(d, 'x')",
                    "what `({e}).backward()` alone sends": "slope(e, 'x')",
                },
            ),
        ),
        own={
            "You let each call overwrite the one before, but `backward()` adds to what `.grad`"
            " holds.": (lambda d, seen: same(seen, (slope(d["c"], d, "x"), slope(d["e"], d, "x")))),
            "Your `p` is 0. It was read before `zero_()` ran, and `item()` gave a plain number,"
            " which no later line changes.": lambda _, seen: seen[0] == 0,
            "`x.grad` is 0 right after `zero_()`, but two more calls come before `q` is read, and"
            " each adds its gradient.": lambda _, seen: seen[1] == 0,
            "`zero_()` doesn't take the tensor in `.grad` away. It writes zeros into it, and then"
            " two more calls add theirs.": lambda _, seen: seen[1] is None,
        },
    ),
    asked="What are `p` and `q`? Give a list of two numbers.",
    hints=(
        "Write down what each of the four `backward()` calls sends to `x`; the first call has two paths.",
        "`p` is the sum of what calls 1 and 2 sent. `q` is the sum of what calls 3 and 4 sent, and nothing from before.",
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
_THIRD = "what the third call sends, into a tensor that didn't exist before"
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
    right="Later lines went on writing into the tensors that `g` and `k` name, but `h` is a copy.",
    asked="What do `g`, `h` and `k` hold at the end? Give a list of three numbers.",
    principle="a name stands for a tensor, so what you write into that tensor shows under each of its"
    " names, but not in a copy.",
    quantities=Quantities(
        program=_HOLDERS.format_map,
        data={"a": 3, "b": 3, "c": 5, "copy": _COPIES[0], "drop": _DROPS[0], "empty": _EMPTIES[0]},
        draw=_other_factors,
        places=(
            Place(
                "`g`",
                "what the calls before `{drop}` write into the tensor that `g` names",
                {
                    "what was there when `g` got its name": "a",
                    "what the last line writes, but it writes into a different tensor": 0,
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
                    "what the last line writes, but it writes into a different tensor": 0,
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
            "You noted down three numbers at three moments. But `g` and `k` are names of tensors, so"
            " what's written into one of them later shows under its name.": lambda d, seen: same(
                seen, (d["a"], d["a"], d["c"])
            ),
            "The line before the third call only takes the name away: what `g` holds is still"
            " there.": (lambda _, seen: seen[0] is None),
            "The last line doesn't take a tensor away. It writes a zero into the one that `k` names.": (
                lambda _, seen: seen[2] is None
            ),
        },
    ),
    hints=(
        "Draw a box for each tensor that was ever in `x.grad`, and one for the clone. Which name leads to which box?",
        "The second `backward()` adds in place. The line after it lets go of a box, and the last"
        " line empties the box that's there.",
    ),
)


def _chunks(rows: tuple[tuple[int, ...], ...], old: float | None) -> tuple:
    """Make a model that gives each of four words four scores and counts the gradients that arrive,
    and chunks of words with what should follow; -100 is padding, and `old` is in its gradient.
    """
    model = nn.Embedding(4, 4)
    with torch.no_grad():
        model.weight.copy_(torch.arange(16).reshape(4, 4) % 5 / 4)
    model.weight.grad = None if old is None else torch.full_like(model.weight, old)
    model.arrived = arrived = []
    model.weight.register_hook(lambda gradient: arrived.append(1))
    chunks = [
        (torch.arange(nr, nr + len(row)) % 4, torch.tensor(row)) for nr, row in enumerate(rows)
    ]
    return model, chunks


def _case(*rows: tuple[int, ...], old: float | None = None) -> Callable:
    rest = "" if old is None else f", {old} in its gradient"
    text = f"an nn.Embedding(4, 4){rest}, and the targets {', '.join(map(str, map(list, rows)))}"
    return written(text)(partial(_chunks, rows, old))


PADDING = -100
_CASES = (
    _case((0, 1, 2), (2, 1, 0)),
    _case((0, 1, 2, 1), (2, PADDING, PADDING, PADDING), old=100.0),
    _case((1, 0, 2, 2), (1, 2, PADDING, PADDING), (0, PADDING, PADDING), old=-7.0),
)


def _other_cases(random: Random) -> tuple:
    """Draw chunks without padding, and some with little or much of it."""

    def row(words: int, padding: int) -> tuple[int, ...]:
        return (*(random.randrange(3) for _ in range(words)), *(PADDING,) * padding)

    size, old = random.randint(2, 4), float(random.randint(5, 200))
    uneven = _case(row(size + 2, 0), row(1, size + 1), row(2, size), old=old)
    more = _case(row(3, 1), row(1, size), row(2, 3), old=-float(random.randint(2, 20)))
    return _case(row(size, 0), row(size, 0)), uneven, more


def _left(returned: object, model: nn.Embedding, chunks: list) -> object:
    weight = model.weight.detach()
    kept = (
        torch.equal(weight, torch.arange(16).reshape(4, 4) % 5 / 4) and model.weight.requires_grad
    )
    return [readable(model.weight.grad), len(model.arrived), "as they were" if kept else "changed"]


CASE = Exercise(
    id="06.10",
    reader=function(
        *_CASES,
        observe=_left,
        parts=("`model.weight.grad`", "calls that arrived", "the weights"),
    ),
    right="Each target counts the same, whichever chunk it's in. Now say why a short sentence had too much of"
    " a say.",
    principle="`backward()` adds the gradient of what you call it on, so you decide how much a"
    " chunk counts when you scale its loss.",
    known={
        "You changed the weights themselves. Only their gradients are asked for, and the optimizer"
        " takes the step later.": shows("changed"),
        "No call of `backward()` reached the weight. Call it on a loss of the model, once for each"
        " chunk.": each_has(1, 0),
        "The gradients are right, but you ran backward once for all chunks together. That way, the"
        " photographs of all the chunks are kept until that call. With one call for each chunk, you"
        " never hold more than one chunk's.": both(each_has(1, 1), right_in(0)),
        "`zero_()` needs a tensor to write to, and in one of the cases `.grad` is still None. Use"
        " `model.zero_grad()`, which works either"
        " way.": fails("'NoneType' object has no attribute 'zero_'"),
    },
    hints=(
        "How many targets count in all the chunks together? And what was in `.grad` before you began?",
        '`cross_entropy(..., reduction="sum")` gives you the sum over the targets that count, whatever'
        " their number.",
        "Call `model.zero_grad()`, count the targets that aren't −100 in all the chunks, and for each chunk"
        " call `backward()` on its sum, divided by that count.",
    ),
    reference="""
def answer(model, chunks):
    count = sum(int((targets != -100).sum()) for _, targets in chunks)
    model.zero_grad()                # nothing from an earlier step may get into the sum
    for words, targets in chunks:
        losses = torch.nn.functional.cross_entropy(model(words), targets, reduction="none")
        (losses.sum() / count).backward()  # each target counts the same, whichever chunk it's in
~       mean = torch.nn.functional.cross_entropy(model(words), targets); mean.backward()  # You added the
~           # chunks' means in full. In the mean over all targets, a chunk counts for its share of them.
~       mean = torch.nn.functional.cross_entropy(model(words), targets); (mean / len(chunks)).backward()  # You
~           # divided by the number of chunks, as the program did. But they don't hold equally many targets
~           # that count, so a target in a short sentence counts too much.
~       mean = losses.sum() / (targets != -100).sum(); (mean * len(targets) / sum(len(t) for _, t in chunks)).backward()  # You
~           # weighted each mean by its number of targets, padding included. What counts is the number that the
~           # mean divided by, and `cross_entropy` leaves the padding out.
~       mean = torch.nn.functional.cross_entropy(model(words), targets); (mean / count).backward()  # You divided a
~           # chunk's mean by the number of targets. But a mean has already been divided once, so take the sum.
~       (losses.sum() / len(chunks)).backward()  # You divided the sums by the number of chunks. The mean is over
~           # targets, so divide by how many of them count in all the chunks together.
~       losses.sum().backward()  # Each target counts the same, which is good. But this is the gradient of a sum
~           # over all targets, and the loss is their mean.
~       torch.autograd.grad(losses.sum() / count, list(model.parameters()))  # Afterwards `.grad` is None. Either you used
~           # `torch.autograd.grad`, which hands the gradient to you and leaves `.grad` alone, or you emptied `.grad` after
~           # the calls instead of before them.
~       (losses.sum() / sum(len(t) for _, t in chunks)).backward()  # You divided by the number of all targets, with the
~           # padding. The mean is over those that aren't −100.
""",
    cases=_other_cases,
)

_EMPTY = "Does this line leave a tensor in `w.grad`, or nothing?"
_REFILLED = "Something runs after `w.grad` has been emptied: does it write into `w.grad`?"
_ELSEWHERE = "Where do the gradients of this call go?"
_SGD = "sgd = torch.optim.SGD([w], lr=0.1, weight_decay={})\n({}).backward()"
_BEGIN = f"w = torch.ones(1, requires_grad=True)\n{_SGD}"
LEFT = Lines(
    read="“Two ways to be empty”: what SGD does with a zero, and with None",
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
    asked="*One* of the lines runs, and then `sgd.step()`. After which of them has `w` not moved?"
    " Give a list of letters.",
    hints=(
        "For each line, ask what's in `w.grad` when the step comes: a tensor, or None?",
        "SGD adds the decay to any gradient that's there, even to a zero.",
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
    right="With that line fixed, both numbers are the same.",
    asked="The two numbers that this program prints should be the same. Which line above the last"
    " one would you change? Give its number.",
    principle="go through the calls of `backward()` one by one, and write down which tensor is in"
    " `.grad`, and what is in it.",
    hints=(
        "What should be in `.grad` after each call of `backward()`, and what is there?",
        "Ask three things: is `.grad` really emptied, is a number copied or only named, and how"
        " much does each mean count?",
    ),
    **LINES.first(a=2, b=3, c=5, d=7),
)


TALLY = Exercise(
    id="06.9",
    stage="06",
    reader=function(*cases("06"), promises=TALLIES),
    truth=lambda: on_torch,
    solution=yours("06"),
    cases=lambda random: cases("06", random),
    right="Your leaves keep a tally, as PyTorch's do, and you can wipe it in both ways.",
    principle="the first gradient begins a tally of the leaf's own, each later one is added to"
    " that same tally, and it stays there until `zero_grad` wipes it.",
    known={
        "A Value has no such method. But its numbers are a plain tensor, which has them all:"
        " `grad.data.clone()`, `leaf.grad.data.zero_()`.": fails("'Value' object has no attribute"),
        "Each call replaced what the one before had left. A tally adds up.": at(
            [0], [0], (1.0, 1.0)
        ),
        "A sum hands `x` and `y` the very same `Value`. You kept it as it came, so both leaves"
        " write on the same sheet, and you get 3 and 3. Begin a tally with a copy.": both(
            at([0], [0], (3.0, 3.0)), lambda seen, right: same(seen[1], right[1])
        ),
        "The first gradient counts twice: it begins the tally, and then it's added to it as well.": at(
            [0], [0], (3.0, 3.0)
        ),
        "What `leaf.grad` holds has to be a `Value` again, so that it can be asked for its `.data` like any"
        " other.": lambda seen, right: "no Value" in str(seen),
        "The gradients are right, but your second call made a new tally: `g`, a second name for the first"
        " one, didn't see it grow. In PyTorch it would. `+=` on a `Value` makes a new one, but on its `.data`"
        " it adds in place.": at([2], [1]),
        "By default `zero_grad` lets go of the tally, and `.grad` is None after it. Zeros are written only"
        " with `set_to_none=False`.": at([3], [0]),
        "You made a new tally of zeros. The old one, which `g` names, still holds its number. Write the zeros"
        " into the tally that's there.": at([4], [1]),
        "With `set_to_none=False` the tally stays, and zeros are written into it.": at([4], [0]),
        "No call has reached `y`, so it has no tally. Leave its `.grad` None, as PyTorch does: zeros are written"
        " only into a tally that's there.": at([5], [0], (0.0, 0.0)),
        "`zero_grad(x, y)` should wipe both, and yours stopped after the first one.": at([8], [0]),
        "`zero_grad(x)` gets its leaves one by one, and the `*` in its first line makes a tuple of them. Keep that"
        " `*`.": fails_first("'Value' object is not iterable"),
        "When the first gradient comes, there is no tally yet: `leaf.grad` is None.": fails(
            "'NoneType'", cases=slice(1)
        ),
        "The `.grad` of `y` is still None, since no call has reached it. There's nothing to write zeros into,"
        " so leave it alone.": fails_first("'NoneType'"),
    },
    hints=(
        "There are two cases: is `leaf.grad` None, or is there a tally already?",
        "A copy of a tensor is `grad.data.clone()`, and `Value(...)` makes a value of it. To add in place,"
        " write `leaf.grad.data += grad.data`.",
        "In `zero_grad` go through the leaves. Either `leaf.grad` becomes None, or, if there is a tally,"
        " `leaf.grad.data.zero_()`.",
    ),
)

EXERCISES = (CASE, TALLY, CALLS, HOLDERS, STAYS, LINE)
