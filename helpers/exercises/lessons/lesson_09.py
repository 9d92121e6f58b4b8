"""Exercises of lesson 09, in-place edits and versions: count writes, say what breaks, edit safely,
detect.
"""

from collections.abc import Callable
from functools import partial

import torch

from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, numbers
from helpers.exercises.tensors import leaf
from helpers.exercises.values import same


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
            example=[1, 1, 2, 0],
            when=(1, 1, 2, 0),
            message="Read from the back, these are the right numbers. The order counts: `a` first, then `b`, `c`"
            " and `d`.",
        ),
        Misconception(
            example=[2, 2, 1, 1],
            when=lambda seen: len(seen) == 4 and seen[0] == 2,
            message="2 is what the counter of that tensor shows which `a` named before the last line. Does this line"
            " write into that tensor, or give the name to another one?",
        ),
        Misconception(
            example="0 1 1 1",
            when=lambda seen: len(seen) == 4 and seen[1] in (0, 1),
            message="You counted too few writes for `b`. It looks into the memory of the old `a`, and a view shares the"
            " counter: which lines write through the one or the other?",
        ),
        Misconception(
            example=torch.tensor([0.0, 3.0, 1.0, 3.0]),
            when=lambda seen: len(seen) == 4 and seen[3] in (2, 3),
            message="You counted too many writes for `d`. `.data` shares the memory of `a` and not the counter, as"
            " `detach()` would: which line writes through `d` itself?",
        ),
        Misconception(
            example=[0, 2, 1, 0],
            when=lambda seen: len(seen) == 4 and seen[3] == 0,
            message="You let `d` count nothing. `.data` shares no counter with `a`, and has one of its own: which line"
            " wrote through `d`?",
        ),
        Misconception(
            example=[0, 2, 3, 1],
            when=lambda seen: len(seen) == 4 and seen[2] != 1,
            message="Look at `c` again. A clone has memory of its own: it starts anew and counts only its own edits.",
        ),
        Misconception(
            example=[1, 2, 1, 1],
            when=lambda seen: len(seen) == 4 and seen[0] != 0,
            message="Look at `a` again. The last line makes a tensor and gives it this name: with which number does the"
            " counter of a new tensor begin, and does any line write into it?",
        ),
        Misconception(
            example=[0, 3, 1, 1],
            when=lambda seen: len(seen) == 4 and seen[1] == 3,
            message="You counted too many writes for `b`. Which lines write through `b` or the old `a`? Neither an edit"
            " through `.data` nor `a + 1` ticks their counter.",
        ),
    ),
    principle="a counter goes with the tensor and not with its name, and shared memory does not always mean a"
    " shared counter.",
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
        "f": (torch.exp, on_input),
    }
    return [name for name, (operation, edit) in programs.items() if _breaks(operation, edit)]


BROKEN = Exercise(
    id="09.2",
    reader=letters("abcdef"),
    truth=_broken,
    right="In these the edit hit the very tensor that the node had saved.",
    letters=Letters(
        read="idea 2, and what idea 3 says of `no_grad`",
        about=(
            ("a", "What does the derivative of the sine need, and is that what is edited?"),
            ("b", "Which tensor does the node of the sine keep, and which one is edited?"),
            ("c", "Does the node of the sigmoid keep what went in, or what came out?"),
            ("d", "Does the derivative of `h + 1` need a value at all?"),
            ("e", "What does `no_grad` keep off: the record, the count, or both?"),
            ("f", "What does the derivative of `exp` need, and is that what is edited?"),
        ),
    ),
    misconceptions=(),
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
    "f": (torch.exp, lambda h, y: h.mul_(2)),
}
answer = [name for name, program in programs.items() if breaks(*program)]
""",
)


_PARTS = ("values", "x afterwards", "gradient")
_MOST = 10_000  # elements that are looked at
# Bound here: a student may have put others in their place.
_relu, _grad, _arange, _allclose = torch.relu, torch.autograd.grad, torch.arange, torch.allclose
_backward = torch.autograd.backward


def _as_seen(returned: object, x: torch.Tensor) -> object:
    """See the values returned, those of `x` afterwards, and the gradient from the one to the other,
    or a word.
    """
    if returned is None:
        return None
    if not is_a(returned, torch.Tensor):
        return "not one tensor"
    try:
        with torch._C.DisableTorchFunctionSubclass():
            if returned.numel() > _MOST:
                return "a very large tensor"
            return [returned.detach(), x.detach(), _gradient_seen(returned, x)]
    except Exception:
        return "a tensor that cannot be looked at"


def _gradient_seen(returned: torch.Tensor, x: torch.Tensor) -> object:
    """Return the gradient from what was returned to `x`, or a word where there is none.

    The elements weigh 1, 2, 3 … in the sum that is differentiated, and the gradient is divided by
    these weights again. A plain sum could not tell a gradient that is clamped, or handed to another
    element, from the right one.
    """
    if not x.requires_grad:
        return "x requires grad no more"
    if not returned.requires_grad:
        return "no graph"
    if returned is x and bool((x < 0).any()):
        return "x itself"
    weights = _arange(1.0, 1.0 + returned.numel(), device=returned.device).view(returned.shape)
    try:
        (gradient,) = _grad((returned * weights).sum(), x, allow_unused=True)
    except Exception:
        return "autograd refuses"
    if gradient is None:
        return "none"
    return gradient / weights if gradient.shape == weights.shape else gradient


def _three(outcome: object) -> tuple:
    """Return what `_as_seen` saw of a tensor; three times None for anything else."""
    return outcome if is_a(outcome, tuple) and len(outcome) == 3 else (None, None, None)


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


def _spoils(seen: tuple, old: tuple) -> bool:
    """Tell whether the values are right and what reached `x` is numbers, but others."""
    values, _, gradient = _three(seen)
    wrong = is_a(gradient, tuple) and not same(gradient, _ones_where_positive(old))
    return wrong and same(values, _zeroed(old))


def _loses_positive(seen: tuple, old: tuple) -> bool:
    """Tell whether the negative elements came out as 0, and positive ones too."""
    values = _three(seen)[0]
    if not is_a(values, tuple) or len(values) != len(old):
        return False
    zeros = {before for before, after in zip(old, values, strict=True) if after == 0}
    return zeros >= {one for one in old if one < 0} and max(zeros, default=0) > 0


def _leaves_negative(seen: tuple, old: tuple) -> bool:
    """Tell whether some negative element did not come out as 0, in a result of the right shape."""
    values = _three(seen)[0]
    if not is_a(values, tuple) or len(values) != len(old):
        return False
    return any(before < 0 and after != 0 for before, after in zip(old, values, strict=True))


def _other_shape(seen: tuple, old: tuple) -> bool:
    values = _three(seen)[0]
    return values is not None and not (is_a(values, tuple) and len(values) == len(old))


def _any(of_case: Callable[[tuple, tuple], bool]) -> Callable[[tuple], bool]:
    return lambda seen: any(of_case(*pair) for pair in zip(seen, CASES, strict=True))


MASKED = Exercise(
    id="09.3",
    reader=function(*(partial(leaf, *values) for values in CASES), observe=_as_seen, parts=_PARTS),
    truth=lambda: _relu,
    right="The leaf kept its values, and its negative elements get no gradient.",
    misconceptions=(
        Misconception(
            example="def answer(x):\n    x[x < 0] = 0.0\n    return x",
            when=lambda seen: raised(seen, "is being used in an in-place operation"),
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
            example="def answer(x):\n    return [max(0.0, one) for one in x]",
            when=lambda seen: "not one tensor" in seen,
            message="What your function returns is not one tensor. `backward()` needs one, of the shape of `x`: edit"
            " a copy of `x`, and return that.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.clone()\n    y[y < 0] = 0.0\n    return x",
            when=lambda seen: any(_three(one)[2] == "x itself" for one in seen),
            message="Your function hands `x` itself back, with the values that it came with. Did an edit take place,"
            " and in a tensor that you return?",
        ),
        Misconception(
            example="def answer(x):\n    y = x.clone()\n    y[y < 0] = 0.0\n    x.requires_grad_(False)\n"
            "    return y",
            when=lambda seen: any(_three(one)[2] == "x requires grad no more" for one in seen),
            message="Your function lowered the flag of `x`: no gradient can come to it any more. Leave `x` as it is.",
        ),
        Misconception(
            example="def answer(x):\n    y = x.detach().clone()\n    y[y < 0] = 0.0\n    return y",
            when=lambda seen: any(_three(one)[2] in ("none", "no graph") for one in seen),
            message="No gradient can reach `x` from what you return: it does not hang in the graph of `x`. Make the"
            " copy in a way that is recorded.",
        ),
        Misconception(
            example="def answer(x):\n    return x[x >= 0]",
            when=_any(_other_shape),
            message="What your function returns has another shape than `x`. The negative elements stay in their places,"
            " as 0.",
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
            when=_any(_spoils),
            message="The values are right and the gradient is not: what comes to an element that was kept must reach"
            " `x` unchanged, and nothing that comes to another one.",
        ),
        Misconception(
            example="def answer(x):\n    return torch.nn.functional.leaky_relu(x)",
            when=_any(_leaves_negative),
            message="A negative element came out as something else than 0. Print what your function returns for some"
            " that are close to 0 and some that are far from it, such as `[-0.001, -2.0, -1000.0]`.",
        ),
    ),
    principle="an edit that is recorded changes the gradient with the values, and a leaf that requires grad takes no"
    " such edit.",
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


def _first_only(x: torch.Tensor) -> None:
    x.data[0] += 1


def _last_only(x: torch.Tensor) -> None:
    x.data[-1] += 1


def _turned_round(x: torch.Tensor) -> None:
    x.data.copy_(x.data.flip(0))


def _nudged(x: torch.Tensor) -> None:
    x.data *= 1.05


def _rewritten(x: torch.Tensor) -> None:
    x.data.copy_(torch.tensor([1.0, 2.0, 3.0]))


_EDITS = (
    (_square, _counted),
    (_square, _uncounted),
    (_double, _counted),
    (_double, _uncounted),
    (torch.sin, _through_numpy),
    (torch.exp, _uncounted),
    (_square, _copied),
    (torch.sin, _copied),
    (_square, _first_only),
    (_square, _last_only),
    (_square, _turned_round),
    (_square, _nudged),
    (_square, _rewritten),
)
_SOME = (_first_only, _last_only, _turned_round)  # these leave a part of the gradient right
_WORDS = ("error", "right", "wrong")


_TYPED = {
    _square: "lambda x: x**2",
    _double: "lambda x: x * 2",
    torch.sin: "torch.sin",
    torch.exp: "torch.exp",
    _counted: "torch.no_grad()(lambda x: x.add_(1))",
    _uncounted: "lambda x: x.data.add_(1)",
    _through_numpy: "lambda x: x.detach().numpy().__imul__(3)",
    _copied: "lambda x: x.clone().add_(1)",
    _first_only: "lambda x: x.data[0].add_(1)",
    _last_only: "lambda x: x.data[-1].add_(1)",
    _turned_round: "lambda x: x.data.copy_(x.data.flip(0))",
    _nudged: "lambda x: x.data.mul_(1.05)",
    _rewritten: "lambda x: x.data.copy_(torch.tensor([1.0, 2.0, 3.0]))",
}


def _pair(f: Callable, edit: Callable) -> Callable:
    return written(f"f, edit = {_TYPED[f]}, {_TYPED[edit]}")(lambda: (f, edit))


def _verdict(f: Callable, edit: Callable, at: str = "before", first: bool = False) -> str:
    """Judge the gradient as 09.4 asks; or at the values `after` the edit, or with the edit `first`,
    as some do.
    """
    x = leaf(1.0, 2.0, 3.0)
    before = x.detach().clone()
    if first:
        edit(x)
    loss = f(x).sum()
    if not first:
        edit(x)
    try:
        _backward(loss)
    except RuntimeError:
        return "error"
    fresh = (before if at == "before" else x.detach().clone()).requires_grad_()
    (right,) = _grad(f(fresh).sum(), fresh)
    return "right" if _allclose(x.grad, right) else "wrong"


def _by_version(f: Callable, edit: Callable) -> str:
    x = leaf(1.0, 2.0, 3.0)
    edit(x)
    return "error" if x._version else "right"


def _by_values(f: Callable, edit: Callable) -> str:
    if _verdict(f, edit) == "error":
        return "error"
    x = leaf(1.0, 2.0, 3.0)
    edit(x)
    return "right" if x.tolist() == [1, 2, 3] else "wrong"


def _by_error(f: Callable, edit: Callable) -> str:
    return "error" if _verdict(f, edit) == "error" else "right"


def _by_square(f: Callable, edit: Callable) -> str:
    return (
        _verdict(f, edit) if f is _square else "error" if _by_error(f, edit) == "error" else "wrong"
    )


def _by_sum(f: Callable, edit: Callable) -> str:
    x, before = leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)
    loss = f(x).sum()
    edit(x)
    try:
        _backward(loss)
    except RuntimeError:
        return "error"
    (right,) = _grad(f(before).sum(), before)
    return "right" if _allclose(x.grad + right, right) else "wrong"


def _turned(f: Callable, edit: Callable) -> str:
    return {"right": "wrong", "wrong": "right"}.get(_verdict(f, edit), "error")


def _missed(seen: tuple, edits: tuple, word: str) -> bool:
    """Tell whether `seen` is right but for some of these edits, of which it says `word`."""
    pairs = zip(_EDITS, seen, strict=True)
    wrong = [(edit, said) for (f, edit), said in pairs if said != _verdict(f, edit)]
    return bool(wrong) and all(edit in edits and said == word for edit, said in wrong)


def _word_as_seen(returned: object, f: Callable, edit: Callable) -> object:
    """See a word without its case, and the spaces, quotes and dots around it."""
    return str.lower(str.strip(returned, " \n'\".!")) if is_a(returned, str) else returned


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
    reader=function(*(_pair(f, edit) for f, edit in _EDITS), observe=_word_as_seen),
    truth=lambda: _verdict,
    right="It compares gradients, and with values that no edit could reach: the silent ones are found.",
    misconceptions=(
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
            example=_code(judge=_FRESH.format("x.detach()").replace(".sum()", "")),
            when=lambda seen: raised(seen, "implicitly created only for scalar outputs"),
            message="A line of yours asks for the gradient of several numbers at once. Torch begins with a 1 by itself"
            " at a single number only: what makes one of `f(…)`?",
        ),
        Misconception(
            example=_code(
                judge=_FRESH.format("x").replace(".clone().requires_grad_()", ".detach()")
            ),
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="Outside your `try` a gradient is asked of something that has no graph. Does the copy that you"
            " compare with require grad?",
        ),
        Misconception(
            example=_code(judge=_FRESH.format("x.detach()")).replace("loss.backward()", "loss"),
            when=lambda seen: raised(seen, "NoneType"),
            message="A line of yours meets None where a tensor belongs. `x.grad` is None until a `backward()` has brought"
            " a gradient to `x`: has one, on the way that leads to that line?",
        ),
        Misconception(
            example=_code(after="loss = loss.detach()"),
            when=lambda seen: set(seen) == {"error"},
            message="Your function says `error` of every edit, even of one that changed nothing: what your `try`"
            " catches is an error of your own. Call `backward()` once without it, and read.",
        ),
        Misconception(
            example="def answer(f, edit):\n    return 'right'",
            when=lambda seen: len(set(seen)) == 1 and seen[0] in _WORDS,
            message="Your function says one word of every edit. Is `edit(x)` called, after the forward pass and before"
            " `backward()`? And does the word depend on what came?",
        ),
        Misconception(
            example=_code(judge=_FRESH.format("x.detach()")),
            when=same_as(lambda: lambda f, edit: _verdict(f, edit, at="after")),
            message="You compared with a fresh forward at the values of now. The edit is in them, so the check repeats"
            " the mistake. When, and how, must the values be copied?",
        ),
        Misconception(
            example=_code(
                before="before = x.detach().clone()\n    edit(x)", judge=_FRESH.format("before")
            ).replace("sum()\n    edit(x)", "sum()"),
            when=same_as(lambda: lambda f, edit: _verdict(f, edit, first=True)),
            message="No edit makes `backward()` raise for you, so none comes in between: the forward pass has to be"
            " over when `edit(x)` is called.",
        ),
        Misconception(
            example=_code(),
            when=same_as(lambda: _by_error),
            message="Your function calls no gradient wrong, and some of them are. Is there a comparison, and is its"
            " other side a tensor of its own, which no edit and no other `backward()` can reach?",
        ),
        Misconception(
            example=_code(
                before="f(x).sum().backward()\n    good = x.grad.clone()",
                judge='return "right" if torch.allclose(x.grad, good) else "wrong"',
            ),
            when=same_as(lambda: _by_sum),
            message="Two gradients came to the same `x`, and what you compare is their sum. `backward()` adds to a"
            " `.grad` that is there.",
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
            when=same_as(lambda: _by_square),
            message="You call a good gradient wrong for one of the functions. Not every `f` is a square: let torch"
            " differentiate `f` itself at the old values.",
        ),
        Misconception(
            example=_code(
                before="before = x.detach().clone()",
                judge=_FRESH.format("before")
                .replace('"right" if', '"wrong" if')
                .replace('else "wrong"', 'else "right"'),
            ),
            when=same_as(lambda: _turned),
            message="You hand back `right` and `wrong` the other way round. The errors you found.",
        ),
        Misconception(
            example=_code(
                before="before = x.detach().clone()",
                judge=_FRESH.format("before").replace(
                    "torch.allclose(x.grad, right)", "(x.grad == right).any()"
                ),
            ),
            when=lambda seen: _missed(seen, _SOME, "right"),
            message="You let a gradient pass that is right in a part of its elements, or in their sum. An edit may hit"
            " one element alone, or let two change places.",
        ),
        Misconception(
            example=_code(
                before="before = x.detach().clone()",
                judge=_FRESH.format("before").replace("right)", "right, 0.5)"),
            ),
            when=lambda seen: _missed(seen, (*_SOME, _nudged), "right"),
            message="Your comparison is too generous: among what you let pass is a gradient that is off by a"
            " twentieth.",
        ),
        Misconception(
            example=_code(
                before="before = x.detach().clone()", judge=_FRESH.format("before")
            ).replace("3.0]", "4.0]"),
            when=lambda seen: _missed(seen, (_rewritten,), "wrong"),
            message="One of the edits writes 1, 2, 3 into `x`, and you call the gradient after it wrong. With which"
            " numbers does your `x` begin?",
        ),
        Misconception(
            example=_code(judge="return True"),
            when=lambda seen: any(not is_a(word, Failed) and word not in _WORDS for word in seen),
            message="Your function hands back something else than one of the three words, on one of its ways at least."
            " They are `error`, `right` and `wrong`, as texts.",
        ),
    ),
    principle="a counted edit of a saved tensor makes `backward()` raise where versions are compared; whether any other"
    " did harm shows when the whole gradient is compared with one made from the values before it.",
    hints=(
        "Three things: a copy of the values before the forward pass, a `try` around `backward()`, a comparison.",
        "Idea 3 compares with `2 * copied`, for a square alone; here let torch differentiate `f` at a copy.",
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
