"""Exercises of lesson 09, in-place edits and versions: count writes, say what breaks, edit safely,
detect.
"""

from collections.abc import Callable
from functools import partial

import torch

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised
from helpers.exercises.readers import names, numbers
from helpers.exercises.tensors import leaf
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import Failed


def _versions() -> list[int]:
    a = torch.zeros(4)
    b, c, d = a[:2], a.clone(), a.data
    a[0] = 5.0
    b += 1
    c.mul_(3)
    d -= 1
    a = a + 1
    return [tensor._version for tensor in (a, b, c, d)]


VERSIONS = Exercise(
    id="09.1",
    reader=numbers(),
    truth=_versions,
    right="Each counter counts the writes that went through it, and the last line made a tensor with a new one.",
    misconceptions=(
        Misconception(
            example=[3, 2, 1, 1],
            when=lambda seen: len(seen) == 4 and seen[0] not in (None, 0.0, 1.0),
            message="You asked the old tensor for `a`. Look at the last line once more: does it write into the tensor"
            " that `a` names, or give the name to another one?",
        ),
        Misconception(
            example="0 1 1 1",
            when=lambda seen: len(seen) == 4 and seen[1] == 1,
            message="You let every name count for itself. `b` looks into the memory of the old `a`, and a view shares"
            " the counter: it saw what was written there before it was edited itself.",
        ),
        Misconception(
            example=torch.tensor([0.0, 3.0, 1.0, 3.0]),
            when=lambda seen: len(seen) == 4 and (seen[1] == 3 or seen[3] in (2, 3)),
            message="You let `.data` count together with `a`, as `detach()` would. It shares the memory, not the"
            " counter: that is why its edits stay unseen.",
        ),
        Misconception(
            example=[0, 2, 1, 0],
            when=lambda seen: len(seen) == 4 and seen[3] == 0,
            message="You let `d` count nothing, since `.data` did not see the edits of `a`. It has a counter of its"
            " own: which line wrote through `d`?",
        ),
        Misconception(
            example=[0, 2, 3, 1],
            when=lambda seen: len(seen) == 4 and seen[2] != 1,
            message="Look at `c` again. A clone has memory of its own: it starts anew and counts only its own edits.",
        ),
        Misconception(
            example=[1, 2, 1, 1],
            when=lambda seen: len(seen) == 4 and seen[0] == 1,
            message="You counted the last line as a write. `a + 1` writes into no tensor that was there before.",
        ),
    ),
    hints=(
        "Draw the pieces of memory, and an arrow from each name. Which names share a counter?",
        "A view shares memory and counter, `.data` the memory alone, a clone neither; `a = a + 1` makes a new tensor.",
    ),
    solution="""
a = torch.zeros(4)
b, c, d = a[:2], a.clone(), a.data
a[0] = 5.0
b += 1
c.mul_(3)
d -= 1
a = a + 1
answer = [tensor._version for tensor in (a, b, c, d)]
""",
)


def _breaks(operation: Callable, edit: Callable) -> bool:
    h = torch.tensor([1.0, 2.0], requires_grad=True) * 3
    y = operation(h)
    edit(h, y)
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


def _broken() -> list[str]:
    on_input, on_result = lambda h, y: h.mul_(2), lambda h, y: y.mul_(2)
    programs = {
        "a": (torch.sin, on_result),
        "b": (torch.sin, on_input),
        "c": (torch.sigmoid, on_result),
        "d": (lambda h: h + 1, on_input),
        "e": (lambda h: h * h, torch.no_grad()(on_input)),
    }
    return [name for name, (operation, edit) in programs.items() if _breaks(operation, edit)]


BROKEN = Exercise(
    id="09.2",
    reader=names(),
    truth=_broken,
    right="In these the edit hit the very tensor that the node had saved.",
    misconceptions=(
        Misconception(
            example=["a", "b", "c", "d", "e"],
            when=["a", "b", "c", "d", "e"],
            message="You think that every edit in place breaks the gradient. Only what a node saved can be spoilt.",
        ),
        Misconception(
            example=[],
            when=[],
            message="You think that none does, since torch records an edit like any operation. It does record it;"
            " what had been saved before is overwritten all the same.",
        ),
        Misconception(
            example="a, b",
            when=lambda seen: "a" in seen,
            message="You counted `a`. Which value does the derivative of the sine need, the one before or after?",
        ),
        Misconception(
            example=["b", "c", "d", "e"],
            when=lambda seen: "d" in seen,
            message="You counted `d`. The derivative of `h + 1` is 1, whatever `h` is: ask what that node has saved.",
        ),
        Misconception(
            example=["b", "c"],
            when=lambda seen: "e" not in seen and seen <= set("bc"),
            message="You let `no_grad` protect `e`. It keeps an edit off the record, and the version counts it all"
            " the same.",
        ),
        Misconception(
            example=["b", "e"],
            when=["b", "e"],
            message="You think that nodes save inputs. Some make their derivative from the result.",
        ),
        Misconception(
            example=["c", "e"],
            when=["c", "e"],
            message="You let `b` pass. Which value does the derivative of the sine need, and what was done to it?",
        ),
    ),
    hints=(
        "For each line: does the node keep the input, the result or nothing? Is that the one which is edited?",
        "`show(y)` before the backward: a triangle stands where the version of a saved tensor has moved.",
    ),
    solution="""
def breaks(operation, edit):
    h = torch.tensor([1.0, 2.0], requires_grad=True) * 3
    y = operation(h)
    edit(h, y)
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


@torch.no_grad()
def silently(h, y):
    h.mul_(2)


programs = {
    "a": (torch.sin, lambda h, y: y.mul_(2)),
    "b": (torch.sin, lambda h, y: h.mul_(2)),
    "c": (torch.sigmoid, lambda h, y: y.mul_(2)),
    "d": (lambda h: h + 1, lambda h, y: h.mul_(2)),
    "e": (lambda h: h * h, silently),
}
answer = [name for name, program in programs.items() if breaks(*program)]
""",
)


def _as_seen(returned: object, x: torch.Tensor) -> object:
    """See the values returned, those of `x` afterwards, and the gradient from the one to the other,
    or a word.

    The elements weigh 1, 2, 3 … in the sum that is differentiated, and the gradient is divided by
    these weights again. A plain sum could not tell a gradient that is clamped, or handed to another
    element, from the right one.
    """
    if returned is None:
        return None
    if not isinstance(returned, torch.Tensor):
        return "not one tensor"
    if not returned.requires_grad:
        return [returned, x.detach(), "no graph"]
    weights = torch.arange(1.0, 1.0 + returned.numel()).view(returned.shape)
    (gradient,) = torch.autograd.grad((returned * weights).sum(), x, allow_unused=True)
    even = gradient is None or returned.shape != x.shape
    return [returned.detach(), x.detach(), gradient if even else gradient / weights]


def _three(outcome: object) -> tuple:
    """Return what `_as_seen` saw of a tensor; three times None for anything else."""
    return outcome if is_a(outcome, tuple) else (None, None, None)


CASES = tuple(
    tuple(torch.tensor(row).tolist())
    for row in (
        (1.0, -2.0, 3.0),
        (-5.0, -1.0, 2.0, 10.0),
        (0.5, -0.5, 0.001, -0.001, 1000.0, -1000.0),
        (0.25, 4.0),
    )
)


def _passes_all(seen: tuple, old: tuple) -> bool:
    values, _, gradient = _three(seen)
    return (
        values == _zeroed(old)
        and gradient == (1.0,) * len(old)
        and gradient != _ones_where_positive(old)
    )


def _zeroed(old: tuple) -> tuple:
    return tuple(max(one, 0.0) for one in old)


def _ones_where_positive(old: tuple) -> tuple:
    return tuple(float(one > 0) for one in old)


def _loses_positive(seen: tuple, old: tuple) -> bool:
    """Tell whether the negative elements came out as 0, and positive ones too."""
    values = _three(seen)[0]
    if not is_a(values, tuple) or len(values) != len(old):
        return False
    zeros = {before for before, after in zip(old, values, strict=True) if after == 0}
    return zeros >= {one for one in old if one < 0} and max(zeros, default=0) > 0


def _any(of_case: Callable[[tuple, tuple], bool]) -> Callable[[tuple], bool]:
    return lambda seen: any(of_case(*pair) for pair in zip(seen, CASES, strict=True))


MASKED = Exercise(
    id="09.3",
    reader=function(*(partial(leaf, *values) for values in CASES), observe=_as_seen),
    truth=lambda: torch.relu,
    right="The leaf kept its values, and what was overwritten in the copy gets no gradient.",
    misconceptions=(
        Misconception(
            example="def answer(x):\n    x[x < 0] = 0.0\n    return x",
            when=lambda seen: raised(seen, "leaf Variable"),
            message="Your function edits the leaf itself, or a view of it. Torch refuses that line; make a tensor that"
            " may be edited first.",
        ),
        Misconception(
            example="def answer(x):\n    with torch.no_grad():\n        x[x < 0] = 0.0\n    return x",
            when=_any(lambda one, old: _three(one)[1] not in (None, old)),
            message="Your function changed the values of `x`. What makes torch let such an edit pass (`no_grad`,"
            " `detach()`, `.data`, NumPy) does not make a copy.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.clone()\n    y[y < 0] = 0.0",
            when=lambda seen: set(seen) == {None},
            message="Your function returns nothing: hand the new tensor back with `return`.",
        ),
        Misconception(
            example="def answer(x):\n    return [max(0.0, one) for one in x]",
            when=lambda seen: "not one tensor" in seen,
            message="What your function returns is not one tensor. `backward()` needs one, of the shape of `x`: edit"
            " a copy of `x`, and return that.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.detach().clone()\n    y[y < 0] = 0.0\n    return y",
            when=lambda seen: any(
                is_a(one, tuple) and one[2] in (None, "no graph") for one in seen
            ),
            message="No gradient can reach `x` from what you return: it does not hang in the graph of `x`. Make the"
            " copy in a way that is recorded.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.clone()\n    y.data[y < 0] = 0.0\n    return y",
            when=_any(_passes_all),
            message="The values are right and the gradient is not: it passes through the negative elements too, for"
            " what made them 0 was kept off the record. Nothing warned you.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.clone()\n    y[y < 1] = 0.0\n    return y",
            when=_any(_loses_positive),
            message="Your function makes elements 0 that are greater than 0. Try it on small ones, such as 0.25, and"
            " on large ones: the negative ones alone were asked for.",
        ),
        Misconception(
            example="def answer(x):\n    y = torch.relu(x)\n    y.register_hook(lambda grad: grad.clamp(max=1))\n"
            "    return y",
            when=_any(
                lambda one, old: (
                    _three(one)[0] == _zeroed(old) and _three(one)[2] != _ones_where_positive(old)
                )
            ),
            message="The values are right and the gradient is not: what comes to an element that was kept must reach"
            " `x` unchanged, and nothing that comes to another one.",
        ),
    ),
    hints=(
        "A copy that stays in the graph may be edited: which of `detach()`, `.data` and `clone()` makes one?",
        "Begin with `y = x.clone()`; then write into `y`, under no `no_grad`, and return it.",
    ),
    solution="""
def answer(x):
    y = x.clone()
    y[y < 0] = 0.0
    return y
""",
)


def _square(x: torch.Tensor) -> torch.Tensor:
    return x**2


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.no_grad()
def _counted(x: torch.Tensor) -> None:
    x += 1


def _uncounted(x: torch.Tensor) -> None:
    x.data += 1


def _through_numpy(x: torch.Tensor) -> None:
    x.detach().numpy()[:] *= 3


def _copied(x: torch.Tensor) -> None:
    x.clone().add_(1)


def _verdict(f: Callable, edit: Callable, at: str = "before") -> str:
    x = leaf(1.0, 2.0, 3.0)
    before = x.detach().clone()
    loss = f(x).sum()
    edit(x)
    try:
        loss.backward()
    except RuntimeError:
        return "error"
    fresh = (before if at == "before" else x.detach().clone()).requires_grad_()
    (right,) = torch.autograd.grad(f(fresh).sum(), fresh)
    return "right" if torch.allclose(x.grad, right) else "wrong"


def _by_version(f: Callable, edit: Callable) -> str:
    x = leaf(1.0, 2.0, 3.0)
    edit(x)
    return "error" if x._version else "right"


def _by_values(f: Callable, edit: Callable) -> str:
    x = leaf(1.0, 2.0, 3.0)
    edit(x)
    return (
        _verdict(f, edit)
        if _verdict(f, edit) == "error"
        else "right"
        if x.tolist() == [1, 2, 3]
        else "wrong"
    )


def _by_error(f: Callable, edit: Callable) -> str:
    return "error" if _verdict(f, edit) == "error" else "right"


_COMMON = """
def answer(f, edit):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    {before}
    loss = f(x).sum()
    edit(x)
    {after}
    try:
        loss.backward()
    except RuntimeError:
        return "error"
    {judge}
"""
_FRESH = "fresh = {}.clone().requires_grad_()\n    right = torch.autograd.grad(f(fresh).sum(), fresh)[0]\n"
_FRESH += '    return "right" if torch.allclose(x.grad, right) else "wrong"'


def _code(before: str = "", after: str = "", judge: str = 'return "right"') -> str:
    return _COMMON.format(before=before, after=after, judge=judge)


DETECTOR = Exercise(
    id="09.4",
    reader=function(
        lambda: (_square, _counted),
        lambda: (_square, _uncounted),
        lambda: (_double, _counted),
        lambda: (_double, _uncounted),
        lambda: (torch.sin, _through_numpy),
        lambda: (torch.exp, _uncounted),
        lambda: (_square, _copied),
        lambda: (torch.sin, _copied),
        observe=lambda returned, f, edit: (
            returned.strip().lower() if is_a(returned, str) else returned
        ),
    ),
    truth=lambda: _verdict,
    right="It compares gradients, and with values that no edit could reach: the silent ones are found.",
    misconceptions=(
        Misconception(
            example="def answer(f, edit):\n    print('right')",
            when=lambda seen: set(seen) == {None},
            message="Your function returns nothing. Hand one of the three words back with `return`.",
        ),
        Misconception(
            example="""
def answer(f, edit):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    before = x.detach().clone().requires_grad_()
    loss = f(x).sum()
    edit(x)
    loss.backward()
    return "right" if x.grad.equal(torch.autograd.grad(f(before).sum(), before)[0]) else "wrong"
""",
            when=lambda seen: is_a(seen[0], Failed) and "modified by an inplace" in seen[0].text,
            message="The error of `backward()` came through. Catch RuntimeError there, and return the word for it.",
        ),
        Misconception(
            example=_code(judge=_FRESH.format("x.detach()")),
            when=same_as(lambda: lambda f, edit: _verdict(f, edit, at="after")),
            message="You compared with a fresh forward at the values of now. The edit is in them, so the check repeats"
            " the mistake. When, and how, must the values be copied?",
        ),
        Misconception(
            example=_code(),
            when=same_as(lambda: _by_error),
            message="You trust every gradient that came without an error. Compare it with one known to be good.",
        ),
        Misconception(
            example=_code(after='if x._version:\n        return "error"'),
            when=same_as(lambda: _by_version),
            message="You judged by the version of `x`. A counted edit of a tensor that nobody saved is harmless, and an"
            " edit that is not counted may do harm.",
        ),
        Misconception(
            example=_code(judge='return "right" if x.tolist() == [1, 2, 3] else "wrong"'),
            when=same_as(lambda: _by_values),
            message="You asked whether `x` has changed. That alone spoils no gradient: what did the node save? Compare"
            " the gradients themselves.",
        ),
        Misconception(
            example=_code(judge='return "right" if x.grad.tolist() == [2, 4, 6] else "wrong"'),
            when=lambda seen: seen[6] == "right" and seen[1] == seen[-1] == "wrong",
            message="You call a good gradient wrong for one of the functions. Not every `f` is a square: let torch"
            " differentiate `f` itself at the old values.",
        ),
    ),
    hints=(
        "Three things: a copy of the values before the forward pass, a `try` around `backward()`, a comparison.",
        "`assert_grad` of idea 3 holds the comparison; here return a word in place of the assert.",
        "`before = x.detach().clone()` comes first of all. Afterwards compare `x.grad` with the gradient of"
        " `f(before).sum()`, where `before` requires grad.",
    ),
    solution="""
def answer(f, edit):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    before = x.detach().clone().requires_grad_()
    loss = f(x).sum()
    edit(x)
    try:
        loss.backward()
    except RuntimeError:
        return "error"
    (right,) = torch.autograd.grad(f(before).sum(), before)
    return "right" if torch.allclose(x.grad, right) else "wrong"
""",
)

EXERCISES = (VERSIONS, BROKEN, MASKED, DETECTOR)
