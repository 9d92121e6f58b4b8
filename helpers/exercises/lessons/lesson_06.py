"""Exercises of lesson 06, accumulation: what is in `.grad`, who holds it, equal portions or not, a
loop repaired.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch

from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.readers import numbers
from helpers.exercises.tensors import counted, readable
from helpers.exercises.values import same

_no_grad = torch.no_grad  # as it is now, whatever becomes of torch's own name for it

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


def _value(data: Data, terms: str) -> float:
    """Return the value of the sum of these terms, such as "ab" for the first two."""
    return sum(eval(data[term], {"x": data["x"]}) for term in terms)


def _sent(data: Data, terms: str) -> float:
    """Return the gradient that the sum of these terms sends to `x`."""
    x = torch.tensor(data["x"], requires_grad=True)
    _value(data | {"x": x}, terms).backward()
    return x.grad.item()


def _one_path_left_out(data: Data) -> tuple[float, ...]:
    return _sent(data, "ac"), _sent(data, "bc")


def _one_path_alone(data: Data) -> tuple[float, ...]:
    return _sent(data, "a"), _sent(data, "b")


def _written_over(data: Data, seen: tuple) -> bool:
    return same(seen, (_sent(data, "c"), _sent(data, "e")))


def _went_on(data: Data, seen: tuple) -> bool:
    """Tell whether `q` is `p` and what one or both of the last two calls send."""
    p, q = seen
    starts = [_sent(data, terms) for terms in ("ab", "c", "abc")]
    steps = [_sent(data, terms) for terms in ("d", "e", "de")]
    if q is None or not any(same(p, start) for start in starts):
        return False
    return any(same(q - p, step) for step in steps)


def _other_calls(random: Random) -> Data:
    """Draw a number, the factors of the first calls, and which of the last two has a power."""
    a, b, c, e = random.sample(range(2, 15), 4)
    last = [f"x**{random.choice((2, 3))}", f"{e} * x"]
    random.shuffle(last)
    x = float(random.randint(2, 5))
    return dict(zip("xabcde", [x, f"{a} * x", f"{b} * x", f"{c} * x", *last], strict=True))


CALLED = Quantities(
    program=_CALLS.format_map,
    data={"x": 2.0, "a": "3 * x", "b": "5 * x", "c": "10 * x", "d": "x**2", "e": "2 * x"},
    draw=_other_calls,
    places=(
        Place(
            "`p`",
            "the sum of what the first two calls send, each along all of its paths",
            {
                "what the second call alone sends, `({c}).backward()`": lambda d: _sent(d, "c"),
                "what the first call alone sends, `({a} + {b}).backward()`": lambda d: _sent(
                    d, "ab"
                ),
                "what both calls send without one of the two paths of the first": _one_path_left_out,
                "what one path of the first call sends": _one_path_alone,
                "what the values of `{a} + {b}` and `{c}` add up to, not their gradients": lambda d: (
                    _value(d, "abc")
                ),
            },
        ),
        Place(
            "`q`",
            "the sum of what the last two calls send, beginning at zero",
            {
                "what the values of `{d}` and `{e}` add up to, not their gradients": lambda d: (
                    _value(d, "de")
                ),
                "what `({d}).backward()` alone sends": lambda d: _sent(d, "d"),
                "what `({e}).backward()` alone sends": lambda d: _sent(d, "e"),
            },
        ),
    ),
    own={
        "You let each call write over the one before. `backward()` adds to what `.grad` holds.": (
            _written_over
        ),
        "You went on adding as if nothing had been emptied. Look at the line between the two halves.": (
            _went_on
        ),
        "Your `p` is 0. It was read before `zero_()` ran, and `item()` gave a plain number, which no later"
        " line changes.": lambda _, seen: seen[0] == 0,
        "0 is in `x.grad` right after `zero_()`. Two more calls come before `q` is read, and each adds its"
        " gradient.": lambda _, seen: seen[1] == 0,
        "`zero_()` does not take the tensor in `.grad` away, it writes zeros to it; and after it two more"
        " calls add theirs.": lambda _, seen: seen[1] is None,
    },
)

CALLS = Exercise(
    id="06.1",
    reader=numbers(),
    truth=CALLED.truth,
    right="Two paths and two calls were added the same way, and after `zero_()` the adding began anew.",
    principle="`backward()` adds to what stands in `.grad`, and `zero_()` writes zeros over it.",
    quantities=CALLED,
    hints=(
        "Write down what each of the four `backward()` calls sends to `x`; the first call has two paths.",
        "`p` is the sum of what calls 1 and 2 sent; `q` is that of calls 3 and 4 alone.",
    ),
    solution=CALLED.code,
)

_HOLDERS = """
x = torch.tensor(2.0, requires_grad=True)
(3 * x).backward()
g = x.grad
h = x.grad.clone()
(3 * x).backward()
x.grad = None
(5 * x).backward()
k = x.grad
x.grad.zero_()
answer = [g, h, k]
"""


def _holders() -> list[torch.Tensor]:
    x = torch.tensor(2.0, requires_grad=True)
    (3 * x).backward()
    g, h = x.grad, x.grad.clone()
    (3 * x).backward()
    x.grad = None
    (5 * x).backward()
    k = x.grad
    x.grad.zero_()
    return [g, h, k]


HOLDERS = Exercise(
    id="06.2",
    reader=numbers(),
    truth=_holders,
    right="`g` and `k` are names of tensors that backward or `zero_()` went on writing to; `h` is a copy.",
    principle="a name stands for a tensor, so a write to that tensor shows under each of its names, and under no"
    " copy's.",
    misconceptions=(
        Misconception(
            example=[3, 3, 5],
            when=(3, 3, 5),
            message="You treat all three as notes of a number. `g` and `k` are names for tensors, and what is written"
            " to such a tensor later shows under its name.",
        ),
        Misconception(
            example=[0, 3, 6],
            when=(0, 3, 6),
            message="The order counts: `g` first, then `h`, then `k`.",
        ),
        Misconception(
            example=[6, 6, 0],
            when=lambda seen: len(seen) == 3 and seen[1] in (None, 0, 5, 6, 8, 11),
            message="`h` is no name for the tensor in `x.grad`: `clone()` made one of its own, and no line after that"
            " knows it.",
        ),
        Misconception(
            example=[None, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] is None,
            message="You think that `x.grad = None` empties the tensor. It only takes the name away: what `g` holds"
            " is still there.",
        ),
        Misconception(
            example=[0, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] in (0, 5, 8, 11),
            message="After `x.grad = None` the next call puts a new tensor there. Which of the lines after it still"
            " write to the old one, which `g` names?",
        ),
        Misconception(
            example=[3, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] == 3,
            message="Does the second `backward()` write to the tensor that `g` names, or make a new one?",
        ),
        Misconception(
            example=[6, 3, None],
            when=lambda seen: len(seen) == 3 and seen[:2] == (6, 3) and seen[2] is None,
            message="You are right about `g` and `h`. `k` names a tensor, and `zero_()` takes no tensor away: it writes"
            " to it.",
        ),
        Misconception(
            example=[6, 3, 5],
            when=lambda seen: len(seen) == 3 and seen[:2] == (6, 3),
            message="You are right about `g` and `h`. For `k` read the last line again: on which tensor does it work"
            " in place?",
        ),
        Misconception(
            example=[4, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[1:] == (3, 0),
            message="You are right about `h` and `k`. Which calls wrote to the tensor that `g` names, and what did each"
            " send?",
        ),
    ),
    hints=(
        "Draw boxes: one for each tensor that ever was in `x.grad`, and one for the clone. Who names which?",
        "The second `backward()` adds in place; `= None` lets go of a box; `zero_()` empties the box that is there.",
    ),
    solution=_HOLDERS,
)


def _given(old: float | None, weight: float, *portions: list[float]) -> tuple:
    """Make a weight that notes each gradient that comes to it, and samples in portions; `old` is in
    its `.grad`.
    """
    w = counted(weight)
    w.grad = None if old is None else torch.tensor(old)
    w.start, w.samples = weight, [torch.tensor(portion) for portion in portions]
    w.copies = [part.clone() for part in w.samples]
    return w, list(w.samples)


def _equal() -> tuple:
    return _given(None, 3.0, [1.0, 2.0], [3.0, 4.0])


def _half() -> tuple:
    """Make the samples of `_equal` and half its weight."""
    return _given(None, 1.5, [1.0, 2.0], [3.0, 4.0])


@written(
    "w = torch.tensor(3.0, requires_grad=True), w.grad = torch.tensor(100.0), and"
    " [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0]), torch.tensor([10.0])]"
)
def _unequal() -> tuple:
    return _given(100.0, 3.0, [1.0, 2.0, 3.0], [4.0, 5.0], [10.0])


@written(
    "w = torch.tensor(-0.5, requires_grad=True), w.grad = torch.tensor(-7.0), and"
    " [torch.tensor([2.0, -4.0, 1.0, 3.0]), torch.tensor([6.0])]"
)
def _small_last() -> tuple:
    return _given(-7.0, -0.5, [2.0, -4.0, 1.0, 3.0], [6.0])


def _scaled(scale: Callable, is_emptied: bool = True) -> Callable:
    """Return a function that walks back from `scale(sum, size, all, number)` of each portion: its
    sum of squares, its size, how many samples there are in all, and how many portions.
    """

    def answer(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
        weight.grad = None if is_emptied else weight.grad
        count = sum(len(part) for part in portions)
        for part in portions:
            squares = ((weight * part) ** 2).sum()
            scale(squares, len(part), count, len(portions)).backward()

    return answer


_in_portions = _scaled(lambda squares, size, count, number: squares / count)
_summed_up = _scaled(lambda squares, size, count, number: squares / size)
_undivided = _scaled(lambda squares, size, count, number: squares)
_by_number = _scaled(lambda squares, size, count, number: squares / size / number)
_sum_by_number = _scaled(lambda squares, size, count, number: squares / number)
_mean_by_size = _scaled(lambda squares, size, count, number: squares / size / size)
_mean_by_count = _scaled(lambda squares, size, count, number: squares / size / count)
_multiplied = _scaled(lambda squares, size, count, number: squares * count)
_on_top = _scaled(lambda squares, size, count, number: squares / count, False)
_naive = _scaled(lambda squares, size, count, number: squares / size, False)
_all_on_top = _scaled(lambda squares, size, count, number: squares, False)
_by_number_on_top = _scaled(lambda squares, size, count, number: squares / size / number, False)


def _last_only(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    for part in portions:
        weight.grad = None
        (((weight * part) ** 2).sum() / sum(map(len, portions))).backward()


def _left(returned: object, weight: torch.Tensor, portions: object) -> object:
    """See what is in `.grad`, how many gradients came, and what became of the inputs; what the
    function returns does not matter, nor what becomes of the list itself.
    """
    is_kept = readable(weight) == weight.start and weight.requires_grad
    samples = zip(weight.samples, weight.copies, strict=True)
    are_kept = all(
        readable(part) == readable(copy) and not part.requires_grad for part, copy in samples
    )
    return [
        readable(weight.grad),
        len(weight.arrived),
        "as it was" if is_kept else "changed",
        "as they were" if are_kept else "changed",
    ]


def _every(test: Callable) -> Callable:
    """Match a reading each of whose cases was seen, and passes the test."""
    return lambda seen: all(isinstance(case, tuple) and test(*case) for case in seen)


def _some(test: Callable) -> Callable:
    """Match a reading some case of which was seen, and passes the test."""
    return lambda seen: any(isinstance(case, tuple) and test(*case) for case in seen)


def _rightly(case: Callable) -> object:
    """Return what is in `.grad` at the end when a case is done right."""
    weight, portions = case()
    _in_portions(weight, portions)
    return readable(weight.grad)


def _grads(seen: tuple) -> list:
    return [case[0] if isinstance(case, tuple) else case for case in seen]


def _does_not_double(seen: tuple) -> bool:
    """Tell whether twice the weight, with the same samples, gave something else than twice the
    gradient.
    """
    once, twice = seen[_CASES.index(_half)], seen[_CASES.index(_equal)]
    if not all(isinstance(case, tuple) and isinstance(case[0], float) for case in (once, twice)):
        return False
    return once[1] == twice[1] == 2 and not same(twice[0], 2 * once[0])


def _are_right(seen: tuple) -> bool:
    return same(tuple(_grads(seen)), tuple(map(_rightly, _CASES)))


_BATCH = """
def answer(w, portions):
    w.grad = None
    (((w * torch.cat(portions)) ** 2).mean()).backward()
"""
_BY_HAND = """
def answer(w, portions):
    w.grad = (2 * w * (torch.cat(portions) ** 2).mean()).detach()
"""
_BY_SAMPLE = """
def answer(w, portions):
    w.grad = None
    samples = torch.cat(portions)
    for d in samples:
        ((w * d) ** 2 / len(samples)).backward()
"""
_CASES = (_equal, _unequal, _small_last, _half)


def _loop(line: str, before: str = "w.grad = None") -> str:
    """Return the source of an answer whose loop does one thing."""
    count = "count = sum(len(part) for part in portions)"
    return (
        f"def answer(w, portions):\n    {count}\n    {before}\n"
        f"    for part in portions:\n        {line}"
    )


PORTIONS = Exercise(
    id="06.3",
    reader=function(
        *_CASES,
        observe=_left,
        parts=("`w.grad`", "gradients that came", "`w` itself", "the samples"),
    ),
    truth=lambda: _in_portions,
    right="Each sample counted once with the same weight, so the sum is the gradient of the mean over all.",
    principle="`backward()` adds what a loss sends, so how much a portion counts is up to how you scale its loss.",
    misconceptions=(
        Misconception(
            example=_loop("part.mul_(w.detach()); ((part * w) ** 2).sum().div(count).backward()"),
            when=_some(lambda grad, walks, weight, samples: samples == "changed"),
            message="Your function leaves the samples themselves changed, their numbers or their flags. Whoever reads"
            " them next, in another epoch, finds that: compute a new tensor instead.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).sum() / count).backward()")
            + "\n    with torch.no_grad():\n        w -= 0.1 * w.grad",
            when=_some(lambda grad, walks, weight, samples: weight == "changed"),
            message="Your function leaves `w` itself changed, its number or its flag. Only `w.grad` is asked for; the"
            " step is somebody else's.",
        ),
        Misconception(
            example=_BY_HAND,
            when=lambda seen: _every(lambda grad, walks, *_: walks == 0)(seen) and _are_right(seen),
            message="`w.grad` holds the right number, but no gradient came to the `w` that went in. Give each portion"
            " a `backward()` of its own, which adds to `w.grad` by itself.",
        ),
        Misconception(
            example="def answer(w, portions):\n    return sum(((w * part) ** 2).mean() for part in portions)",
            when=_every(lambda grad, walks, *_: walks == 0),
            message="No gradient arrived at the `w` that went in. Call `backward()` on a loss that is made of it, once"
            " for each portion.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).sum() / count).backward(); w.grad.zero_()"),
            when=_every(lambda grad, walks, *_: walks > 1 and grad in (None, 0.0)),
            message="Gradients arrived, and were taken away again: at the end `w.grad` is empty. Empty it once, before"
            " the first portion.",
        ),
        Misconception(
            example=_BATCH,
            when=lambda seen: _every(lambda grad, walks, *_: walks == 1)(seen) and _are_right(seen),
            message="You called `backward()` once for everything. Until then the graph keeps what it saved for all the"
            " samples. Call it once for each portion, and only one portion's is kept.",
        ),
        Misconception(
            example=_loop("loss = ((w * part) ** 2).sum() / count") + "\n    loss.backward()",
            when=_every(lambda grad, walks, *_: walks == 1),
            message="Only one gradient came to `w`, and there are several portions. Does `backward()` stand inside the"
            " loop, and does the loop come to its end?",
        ),
        Misconception(
            example=_BY_SAMPLE,
            when=lambda seen: (
                [case[1] for case in seen if isinstance(case, tuple)] == [4, 6, 5, 4]
                and _are_right(seen)
            ),
            message="Your `w.grad` is right, and you walked once for each sample. The samples of a portion can share"
            " one `backward()`.",
        ),
        Misconception(
            example=_loop("((w * part) ** 2).mean().backward()"),
            when=same_as(lambda: _summed_up),
            message="You added the means of the portions, each in full. In the mean over all a portion counts for its"
            " share of the samples: scale its loss before `backward()`.",
        ),
        Misconception(
            example=_loop("((w * part) ** 2).mean().backward()", "pass"),
            when=same_as(lambda: _naive),
            message="Two things are missing. What an earlier step left in `w.grad` is still in your sum; and you added"
            " the means of the portions in full, where each counts for its share of the samples.",
        ),
        Misconception(
            example=_loop("((w * part) ** 2).sum().backward()"),
            when=same_as(lambda: _undivided),
            message="Each sample counts the same: good. You have the gradient of a sum over all samples, though, and"
            " the loss is their mean.",
        ),
        Misconception(
            example=_loop("((w * part) ** 2).sum().backward()", "pass"),
            when=same_as(lambda: _all_on_top),
            message="Two things are missing. What an earlier step left in `w.grad` is still in your sum; and yours is"
            " the gradient of a sum over all samples, where the loss is their mean.",
        ),
        Misconception(
            example="def answer(w, portions):\n    w.grad.zero_()\n    for part in portions:\n"
            "        ((w * part) ** 2).mean().backward()",
            when=lambda seen: raised(seen, "'NoneType' object has no attribute 'zero_'"),
            message="`zero_()` needs a tensor to write to. In the first of my cases `w.grad` is still None: empty it in"
            " the way that always works.",
        ),
        Misconception(
            example=_loop("((w * part) ** 2).mean().backward()", "w.zero_grad()"),
            when=lambda seen: raised(seen, "'Tensor' object has no attribute 'zero_grad'"),
            message="A tensor has no `zero_grad()`: modules and optimizers have. Empty the `.grad` of a tensor by hand.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2) / count).backward()"),
            when=lambda seen: raised(seen, "implicitly created only for scalar outputs"),
            message="You called `backward()` on a tensor of several numbers. A loss is one number: make one of the"
            " squares of the portion first.",
        ),
        Misconception(
            example=_loop("with torch.no_grad(): ((w * part) ** 2).sum().backward()"),
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="A loss was not recorded, so `backward()` has nothing to walk: grad mode was off, or it was made of"
            " something else than `w`.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).mean() / len(portions)).backward()"),
            when=same_as(lambda: _by_number),
            message="You divided by the number of portions. That is right while they are equal; where they differ, a"
            " sample in a small portion counts too much.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).mean() / len(portions)).backward()", "pass"),
            when=same_as(lambda: _by_number_on_top),
            message="Two things are missing. What an earlier step left in `w.grad` is still in your sum; and where"
            " portions differ in size, a sample in a small one counts too much.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).sum() / len(portions)).backward()"),
            when=same_as(lambda: _sum_by_number),
            message="You divided a sum over samples by the number of portions. A mean divides by how many samples"
            " there are.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).mean() / len(part)).backward()"),
            when=same_as(lambda: _mean_by_size),
            message="`mean()` has divided by the size of the portion, and you divide by it once more.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).mean() / count).backward()"),
            when=same_as(lambda: _mean_by_count),
            message="`mean()` has divided by the size of the portion, and you divide by the number of all samples"
            " besides. One of the two is too much.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).sum() * count).backward()"),
            when=same_as(lambda: _multiplied),
            message="You multiplied by the number of samples. A mean is a sum that is divided by it.",
        ),
        Misconception(
            example=_loop("(((w * part) ** 2).sum() / count).backward()", "pass"),
            when=same_as(lambda: _on_top),
            message="Your scaling is right. But what was in `w.grad` before is in it at the end as well, added to your"
            " gradients. It belongs to an earlier step.",
        ),
        Misconception(
            example=_loop("w.grad = None; (((w * part) ** 2).sum() / count).backward()"),
            when=same_as(lambda: _last_only),
            message="You empty `w.grad` in every round, so only the last portion is left. Empty it once, before"
            " the first.",
        ),
        Misconception(
            example=_loop("((w * part).sum() / count).backward()"),
            when=_does_not_double,
            message="Twice the weight is twice the gradient, where the loss is made of `(w * d)**2`, and with yours it is"
            " not. Look at the loss itself: the product of each sample, its square, then the sum or the mean.",
        ),
    ),
    hints=(
        "Empty `w.grad` once, then loop. The mean of a portion is its sum divided by `len(part)`; what should the"
        " sum be divided by?",
        "Count all samples first: `count = sum(len(part) for part in portions)`. Then one `backward()` for each"
        " portion, on its sum divided by `count`.",
    ),
    solution="""
def answer(w, portions):
    count = sum(len(part) for part in portions)
    w.grad = None
    for part in portions:
        (((w * part) ** 2).sum() / count).backward()
""",
)


_STARTS = (1.0, 5.0, 2.5)


def _trained_for(w: torch.Tensor, rounds: int = 10, is_emptied: bool = True) -> torch.Tensor:
    for _ in range(rounds):
        w.grad = None if is_emptied else w.grad
        ((w - 2) ** 2).backward()
        with _no_grad():
            w -= 0.25 * w.grad
    return w


def _train(w: torch.Tensor) -> torch.Tensor:
    return _trained_for(w)


def _never_emptied(w: torch.Tensor) -> torch.Tensor:
    return _trained_for(w, is_emptied=False)


def _one_round(w: torch.Tensor) -> torch.Tensor:
    return _trained_for(w, rounds=1)


def _trained(returned: object, w: torch.Tensor) -> object:
    """See which tensor came back, how far the weight that came in got, whether it can be trained on,
    and how many gradients came to it (more than ten are ten).
    """
    came = "the weight" if returned is w else "nothing" if returned is None else "no tensor"
    if returned is not w and is_a(returned, torch.Tensor):
        came = "another tensor"
    flag = "requires grad" if w.requires_grad else "does not require grad"
    return [came, readable(w), flag, min(len(w.arrived), 10)]


def _ends(test: Callable) -> Callable:
    """Match a reading where the weight itself came back and, in each case, its start and its end
    pass the test.
    """

    def matches(seen: tuple) -> bool:
        if not all(isinstance(case, tuple) and case[0] == "the weight" for case in seen):
            return False
        return all(test(start, case[1]) for start, case in zip(_STARTS, seen, strict=True))

    return matches


def _is_farther(start: float, end: float) -> bool:
    return not abs(end - 2) <= abs(start - 2)


def _is_nearer(start: float, end: float) -> bool:
    return abs(end - 2) < abs(start - 2) and not same(end, _end(start))


def _end(start: float) -> float:
    return readable(_train(torch.tensor(start, requires_grad=True)))


def _is_trained(seen: tuple) -> bool:
    """Tell whether the weight that came in has the right number at the end of each case."""
    numbers = tuple(case[1] if isinstance(case, tuple) else None for case in seen)
    return same(numbers, tuple(map(_end, _STARTS)))


_RIGHT_LOOP = (
    "    for _ in range(10):\n        w.grad = None\n        ((w - 2) ** 2).backward()\n"
    "        with torch.no_grad():\n            w -= 0.25 * w.grad\n"
)

TRAIN = Exercise(
    id="06.4",
    reader=function(
        *(partial(counted, start) for start in _STARTS),
        observe=_trained,
        parts=("returned", "`w` at the end", "its flag", "gradients that came to it"),
    ),
    truth=lambda: _train,
    right="The leaf itself moved, and each round saw only its own gradient.",
    principle="`=` gives a name to another tensor; only an edit in place changes the one that had it.",
    misconceptions=(
        Misconception(
            example=f"def answer(w):\n{_RIGHT_LOOP}    return w.item()",
            when=_every(lambda came, *_: came == "no tensor"),
            message="Your function hands back something that is no tensor: a number, say, or something that holds the"
            " weight. The weight itself is asked for.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w = w - 0.25 * w.grad\n    return w",
            when=lambda seen: raised(seen, "and 'NoneType'", "'NoneType' and"),
            message="In some round `w.grad` is None when the update reads it: nothing came since it was emptied, or `w`"
            " is no longer the leaf, because a new tensor took its name.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        w.grad.zero_()\n"
            "        ((w - 2) ** 2).backward()\n        with torch.no_grad():\n            w -= 0.25 * w.grad\n"
            "    return w",
            when=lambda seen: raised(seen, "'NoneType' object has no attribute 'zero_'"),
            message="`zero_()` met None. Either no gradient has come yet, or none since `.grad` was set to None, or `w`"
            " is no longer the leaf, because a new tensor took its name.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        with torch.no_grad():\n            w = w - 0.25 * w.grad\n    return w",
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="A loss was not recorded, so `backward()` has nothing to walk: grad mode was off when it was"
            " computed, or the `w` in it did not require grad, as what `w - ...` makes inside `no_grad()` does not.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w -= 0.25 * w.grad\n    return w",
            when=lambda seen: raised(seen, "is being used in an in-place operation"),
            message="You edit the leaf in place while autograd records, and it refuses. An update is no part of the"
            " graph: say so with a block around it.",
        ),
        Misconception(
            example=f"def answer(w):\n{_RIGHT_LOOP}    return w.detach()",
            when=lambda seen: (
                _every(lambda came, number, flag, walks: came == "another tensor" and walks == 10)(
                    seen
                )
                and _is_trained(seen)
            ),
            message="You trained the weight that came in, and then hand back another tensor. Return the weight itself.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w = (w - 0.25 * w.grad).detach().requires_grad_()\n    return w",
            when=_every(lambda came, *_: came == "another tensor"),
            message="The tensor that you return is not the one that came in. Its number may be right, but whoever else"
            " holds the weight, a model or an optimizer, holds another tensor: train the one that came in.",
        ),
        Misconception(
            example="def answer(w):\n    with torch.no_grad():\n        w.copy_(2 + (w - 2) * 0.5**10)\n"
            "    return w",
            when=lambda seen: (
                _is_trained(seen) and _every(lambda came, number, flag, walks: walks < 10)(seen)
            ),
            message="The number is right, but fewer than ten gradients came to `w`. The loop is to be repaired, not"
            " replaced: each round has a `backward()` of its own from a loss made of `w`.",
        ),
        Misconception(
            example="def answer(w):\n    with torch.no_grad():\n        w.fill_(2.0)\n    return w",
            when=_every(lambda came, number, flag, walks: came == "the weight" and walks == 0),
            message="No gradient came to the `w` that went in. The loop is to be repaired, not replaced: each round has"
            " a `backward()` of its own, from a loss made of `w`.",
        ),
        Misconception(
            example=f"def answer(w):\n{_RIGHT_LOOP}    return w.requires_grad_(False)",
            when=_every(lambda came, number, flag, walks: flag == "does not require grad"),
            message="At the end `w` does not require grad any more. It came in with its flag up, and whoever trains it"
            " next needs that.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        with torch.no_grad():\n            w -= 0.25 * w.grad\n    return w",
            when=same_as(lambda: _never_emptied),
            message="The leaf is updated, and it swings about its goal: every round still adds to the gradients of"
            " all rounds before.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        w.grad = None\n        ((w - 2) ** 2).backward()\n"
            "    return w",
            when=_ends(lambda start, end: same(start, end)),
            message="The number in `w` is at the end what it was at the beginning: nothing was written to the tensor"
            " that came in.",
        ),
        Misconception(
            example=f"def answer(w):\n{_RIGHT_LOOP}        return w",
            when=same_as(lambda: _one_round),
            message="Your `w` took one step. Where does `return` stand, inside the loop or after it?",
        ),
        Misconception(
            example="def answer(w):\n" + _RIGHT_LOOP.replace("-=", "+=") + "    return w",
            when=_ends(_is_farther),
            message="At the end `w` is farther from 2 than at the beginning. Look at the sign and the size of the step,"
            " and at the loss: a step goes against the gradient.",
        ),
        Misconception(
            example="def answer(w):\n" + _RIGHT_LOOP.replace("10", "9") + "    return w",
            when=_ends(_is_nearer),
            message="`w` comes nearer to 2, but not to where ten rounds with steps of 0.25 bring it. Count the rounds,"
            " and look at the size of a step and at the loss.",
        ),
    ),
    hints=(
        "There are two faults: one in the line of the update, and one line that is missing.",
        "Update with `w -= ...` inside `with torch.no_grad():`, and set `w.grad = None` once in each round, after the"
        " update or before `backward()`.",
    ),
    solution="""
def answer(w):
    for _ in range(10):
        w.grad = None
        loss = (w - 2) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
    return w
""",
)

EXERCISES = (CALLS, HOLDERS, PORTIONS, TRAIN)
