"""Exercises of lesson 19, your own autograd: the order of a spreadsheet, and the engine's last four stages."""

from collections import Counter
from collections.abc import Callable
from random import Random

from helpers.engine.checks import TENSORS, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, written
from helpers.exercises.recognise import at, fails_first, says

MOST_CALLS = 5_000  # of `compute`, for one sheet


class Sheet:
    """Note which cells are computed, and which of them too early; a function `compute`."""

    def __init__(self, uses: dict, typed: str) -> None:
        self.uses, self.stale = uses, _stale(uses, typed)
        self.waiting = set(self.stale)
        self.asked: list = []
        self.early: list = []

    def __call__(self, cell: str) -> None:
        if len(self.asked) == MOST_CALLS:
            raise RuntimeError(f"compute was called {MOST_CALLS:,} times, so I stopped it")
        if self.waiting.intersection(self.uses.get(cell, ())):
            self.early.append(cell)
        self.waiting.discard(cell)
        self.asked.append(cell)


def _stale(uses: dict, typed: str) -> set:
    """Return the cells that depend on one, directly or not."""
    users = _users(uses)
    found, reached = set(), [typed]
    for one in reached:
        new = [cell for cell in users.get(one, ()) if cell not in found]
        found.update(new)
        reached += dict.fromkeys(new)
    return found


def _users(uses: dict) -> dict:
    users: dict = {}
    for cell, used in uses.items():
        for one in used:
            users.setdefault(one, []).append(cell)
    return users


def _sheet(uses: dict, typed: str, text: str = "") -> Callable:
    def case() -> tuple:
        given = {cell: list(used) for cell, used in uses.items()}  # theirs to change
        return given, typed, Sheet(uses, typed)

    return written(text or f"answer({uses}, {typed!r}, compute)")(case)


def _noted(_: object, uses: dict, typed: str, sheet: Sheet) -> list:
    asked = Counter(sheet.asked)
    missed = [cell for cell in sheet.stale if cell not in asked]
    twice = [cell for cell, times in asked.items() if times > 1]
    needless = [cell for cell in asked if cell not in sheet.stale]
    return [
        ", ".join(sorted(set(map(str, part)))[:3]) or "none"
        for part in (missed, sheet.early, twice, needless)
    ]


_DEEP = {f"c{number}": [f"c{number - 1}"] for number in range(1_000, 0, -1)}
_SHEETS = (
    _sheet({"total": ["net", "tax"], "tax": ["net"]}, "net"),
    _sheet({"total": ["tax", "net"], "tax": ["net"]}, "net"),
    _sheet({"a": ["x"], "b": ["a", "x"], "c": ["x", "b"], "d": ["y"]}, "x"),
    _sheet({"sum": ["x", "double", "x"], "double": ["x", "x"]}, "x"),
    _sheet({"c": ["a", "b"], "a": ["x"], "b": ["y"]}, "x"),
    _sheet({"a": ["y"]}, "x"),
    _sheet({"a": ["x"], "b": ["a", "x"]}, "a"),
    _sheet(
        _DEEP, "c0", 'answer({"c1000": ["c999"], …, "c2": ["c1"], "c1": ["c0"]}, "c0", compute)'
    ),
)


def _other_sheets(random: Random) -> tuple:
    """Draw sheets in which each cell uses up to three of those before it, listed in any order."""
    sheets = []
    for _ in _SHEETS:
        names = random.sample("abcdefghijk", 8)
        rows = [
            (name, random.choices(names[:at], k=random.choice((1, 2, 3))))
            for at, name in enumerate(names)
            if at
        ]
        random.shuffle(rows)
        sheets.append(_sheet(dict(rows), random.choice(names[:2])))
    return tuple(sheets)


SPREADSHEET = Exercise(
    id="19.1",
    reader=function(
        *_SHEETS,
        observe=_noted,
        promises=("not computed", "too early", "more than once", "without need"),
    ),
    known={
        "Your function goes down one level for each cell, and Python gives up at about a thousand. Keep a list of"
        " what is still to do, as your walk does.": fails_first("recursion"),
        "Your function doesn't come to an end: it computes the same cells over and over.": fails_first(
            "so I stopped it"
        ),
        "You computed a cell before something it uses was up to date. It has to wait for the last of these.": at(
            range(100), [1]
        ),
        "You left out a cell that has to be computed anew. Go on from each cell to those that use it, and don't wait"
        " for a cell that isn't going to change.": at(range(100), [0]),
    },
    right="Each cell waited for everything it uses. It's the walk of your engine, only that it runs the other way.",
    principle="a cell may only be computed when everything it uses is up to date, so count how much that is.",
    hints=(
        "First find out for each cell who uses it.",
        "Then go once through everything that depends on `typed`, and count for each cell how many of the"
        " cells it uses are going to change.",
        "Then keep a list of what is up to date. Take one, count down for each of its users, and whoever reaches"
        " 0 is computed, and goes into the list.",
    ),
    cases=_other_sheets,
    reference="""
def answer(uses, typed, compute):
    users = {}
    for cell, used in uses.items():
        for one in used:
            users.setdefault(one, []).append(cell)
    waiting, reached = {}, [typed]
    for one in reached:
        for cell in users.get(one, ()):
            if cell not in waiting:
                reached.append(cell)
            waiting[cell] = waiting.get(cell, 0) + 1  # count how many of the cells it uses are going to change
    ready = [typed]
    while ready:
        one = ready.pop()
        for cell in users.get(one, ()):
            waiting[cell] -= 1
            if waiting[cell] == 0:  # a cell is computed when the last of these is up to date
~           if waiting[cell] >= 0:  # You compute a cell each time something it uses has changed. Wait for the last.
                compute(cell)
                ready.append(cell)
""",
)


_BARE = (
    "`forward` has to return a Value, because `apply` writes the history onto it. Yours returns a bare"
    " tensor: put `Value(…)` around it."
)
_AGAIN = (
    "Your `forward` calls itself for ever, because it uses the operation that you're about to write. Compute"
    " with the numbers, `.data`, and put a `Value` around what comes."
)
_LOST = (
    "First derivatives are right, but the second ones miss a part. Compute with the Values that"
    " `ctx.saved_tensors` gives you, and not with their data."
)
_COUNTED = "incorrect number of gradients (expected 2, got 1)"
_TENSOR, _DEEP_DOWN = "'torch._C.TensorBase' objects", "maximum recursion depth"
SHAPES = Exercise(
    id="19.2",
    stage="19a",
    reader=function(*cases("19a"), promises=TENSORS),
    truth=lambda: on_torch,
    solution=yours("19a"),
    cases=lambda random: cases("19a", random),
    known={
        _BARE: fails_first(_TENSOR),
        "`SumTo` gets two inputs, a Value and a shape, so its backward returns two gradients. The second one is"
        " None.": says(f"SumToBackward returned an {_COUNTED}"),
        "The `validate_outputs` of lesson 12 put zeros in the place of None. Yours doesn't any more.": says(
            "NoneType", cases=[14]
        ),
        "Where an edge leads nowhere, `to` is None, and often the gradient is None, too. Leave those as they"
        " are.": fails_first("'NoneType' object has no attribute"),
        "Your `validate_outputs` has to return the gradients, as many as there are edges. For some node it returned"
        " None.": fails_first("'NoneType' object is not iterable"),
        "The shape belongs to one use of `SumTo`, so keep it on `ctx`. On the class the next use overwrites it, and you spread out to the wrong"
        " shape.": says("is not expandable", cases=[10, 11]),
        "A sum was handed one number on the way back, and handed on one number. But it had added up several,"
        " and each of them gets it: `Expand.apply(grad, ctx.wide)`.": at([0], [0]),
        "`x` has three numbers and wants three gradients, but you've added up everything. Add up to the shape of"
        " the node that the gradient goes to, and no further.": at([4, 5], [0], (6, 6)),
        "`y` is one number that was added to each of three, so three gradients come back to it. In"
        " `validate_outputs`, add up a gradient that is wider than what it belongs to.": at(
            [2, 3, 4, 5], [0]
        ),
        "First derivatives are right, but on the way something lost its history. Add up with"
        " `SumTo.apply` and spread out with `Expand.apply`, which are recorded, and not with bare numbers.": at(
            [10, 11], [0, 1, 2]
        ),
        "The `validate_outputs` of lesson 12 refused a wrong number of gradients, in the words of `COUNT`."
        " Yours doesn't any more.": at([13], [0]),
        "A gradient of 1 × 3 has as many numbers as `x`, and yet its shape isn't that of `x`. Compare the shapes,"
        " and not how many numbers there are.": at([15], [0]),
    },
    right="What was spread out on the way there is added up on the way back, and the other way round.",
    principle="where one number went to several places, the gradients that come back from there are added up.",
    hints=(
        "On the way there, `sum_to_size(shape)` adds up whatever is wider than `shape`. On the way back each of the numbers that were added gets the same gradient, so it's spread out again.",
        "`SumTo` has two inputs, the Value and a shape. Its backward returns two gradients, and the second is None.",
        "`validate_outputs` is the one from lesson 12, with one more question for each gradient: does it have the shape that `to` says? If not, `SumTo.apply(grad, to.shape)`.",
    ),
)
MATRICES = Exercise(
    id="19.3",
    stage="19b",
    reader=function(*cases("19b"), promises=TENSORS),
    truth=lambda: on_torch,
    solution=yours("19b"),
    cases=lambda random: cases("19b", random),
    known={
        _BARE: fails_first(_TENSOR),
        _AGAIN: says(_DEEP_DOWN),
        "A product has two factors, so its backward returns two gradients.": says(_COUNTED),
        "What goes in as 2 × 3 comes out as 3 × 2, so its gradient has to be transposed back.": at(
            [1], [0]
        ),
        "The gradients of a product don't fit its factors. Write the shapes beside each other: `grad` has the"
        " rows of `a` and the columns of `b`. What do you have to multiply it with, and from which side, to"
        " get the shape of `a`?": at([2, 3, 4, 5], [0]),
        _LOST: at([6, 7], [0, 1, 2]),
        "A factor was edited after you'd kept it, and your node used the new numbers. Keep both factors with"
        " `ctx.save_for_backward`, which dates them.": at([9, 10], [0]),
    },
    right="Two products of matrices carry the gradient back through one.",
    principle="`grad` has the rows of `a` and the columns of `b`, so the shapes tell you what it can be multiplied with.",
    hints=(
        "Save both factors. For the gradient of `a` you need `b`, and the other way round.",
        "With `a` of 2 × 3 and `b` of 3 × 4, `grad` is 2 × 4. What times what is 2 × 3 again?",
        "`grad @ b.T` and `a.T @ grad`. And what was transposed is transposed back: `grad.T`.",
    ),
)
CURVES = Exercise(
    id="19.4",
    stage="19c",
    reader=function(*cases("19c"), promises=TENSORS),
    truth=lambda: on_torch,
    solution=yours("19c"),
    cases=lambda random: cases("19c", random),
    known={
        _BARE: fails_first(_TENSOR),
        _AGAIN: says(_DEEP_DOWN),
        "`ctx.saved_tensors` is a tuple, even if there's a single Value in it. Take that out:"
        " `(result,) = ctx.saved_tensors`.": fails_first("must be real number, not Value"),
        "Your engine learns powers in the next exercise. Until then, a square is `result * result`.": fails_first(
            "for ** or pow()"
        ),
        "The slope of `exp` is `exp` itself, which is the result that you photographed.": at(
            [0, 2], [0]
        ),
        "The slope of tanh, in terms of its own result, is `1 - result²`.": at([1], [0]),
        "What arrives has to be multiplied with the slope. Yours hands on the slope alone, which is right only"
        " as long as a 1 arrives.": at([3, 4], [0]),
        "First derivatives are right, and second ones aren't, because the history is lost. Save the very Value"
        " that `forward` returns, and in `backward` compute with Values, not with their data.": at(
            [5, 6, 7], [0, 1, 2]
        ),
        "PyTorch photographs the result here, not what went in, so it notices when somebody edits the result"
        " afterwards. Keep it with `ctx.save_for_backward`.": at([8, 9], [0]),
        "Here it's the input that was edited, and PyTorch doesn't mind, since it hasn't photographed it. Yours"
        " has. Save the result, and nothing else.": at([10], [0]),
    },
    right="The slope of each can be computed from its own result, so the result is what they photograph.",
    principle="a node may photograph what comes out instead of what goes in. If it does, an edit of the result is what it notices.",
    hints=(
        "The slope of `exp` is `exp` itself, which you've just computed.",
        "`result = Value(x.data.exp())`, then save `result` and return that same Value.",
        "The slope of tanh is `1.0 - result * result`.",
    ),
)
POWERS = Exercise(
    id="19.5",
    stage="19d",
    reader=function(*cases("19d"), promises=TENSORS),
    truth=lambda: on_torch,
    solution=yours("19d"),
    cases=lambda random: cases("19d", random),
    known={
        _BARE: fails_first(_TENSOR),
        _AGAIN: says(_DEEP_DOWN),
        "`save_for_backward` takes Values, since it notes a date for each. Keep the plain number as an attribute:"
        " `ctx.power = power`.": fails_first("'_version'"),
        "`Pow` gets two inputs, a Value and a plain number, so its backward returns two gradients. The second"
        " one is None.": says(f"PowBackward returned an {_COUNTED}"),
        "The slope of `x ** p` is `p * x ** (p - 1)`.": at([0, 1], [0]),
        "The slope of a logarithm is 1 divided by what went in.": at([2], [0]),
        "What arrives has to be multiplied with the slope. Here a 2 arrives, and yours hands on the slope alone.": at(
            [3, 4], [0]
        ),
        "The way back is right, but the number itself isn't: look at your `forward`.": at(
            [5, 6], [0]
        ),
        _LOST: at(range(10, 13), [0, 1, 2]),
        "What went in was edited after you'd kept it, and your node used the new number. Keep it with"
        " `ctx.save_for_backward`, which dates it.": at([13, 14], [0]),
    },
    right="That's the last operation. Division came for free: `a / b` is `a * b ** -1.0`.",
    principle="whatever you write in terms of operations that know their way back knows its own.",
    hints=(
        "Keep `power` on `ctx` as an attribute. It's a number, so there's no need to save it for backward.",
        "`grad * x ** (ctx.power - 1.0) * ctx.power`, and None for the power.",
        "The slope of `log` at x is 1/x, so `grad / x`; you've been given a `/`.",
    ),
)

EXERCISES = (SPREADSHEET, SHAPES, MATRICES, CURVES, POWERS)
