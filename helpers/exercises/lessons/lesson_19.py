"""Exercises of lesson 19, your own autograd: the order of a spreadsheet, and the engine's last four stages."""

from collections import Counter
from collections.abc import Callable
from random import Random

from helpers.engine.checks import TENSORS, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, written
from helpers.exercises.recognise import at, fails


class Sheet:
    """Note which cells are computed, and which of them too early; a function `compute`."""

    def __init__(self, uses: dict, typed: str) -> None:
        self.uses, self.stale = uses, _stale(uses, typed)
        self.waiting = set(self.stale)
        self.asked: list = []
        self.early: list = []

    def __call__(self, cell: str) -> None:
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
        return dict(uses), typed, Sheet(uses, typed)

    return written(text or f"answer({uses}, {typed!r}, compute)")(case)


def _noted(_: object, uses: dict, typed: str, sheet: Sheet) -> list:
    asked = Counter(sheet.asked)
    missed = [cell for cell in sheet.stale if cell not in asked]
    twice = [cell for cell, times in asked.items() if times > 1]
    needless = [cell for cell in asked if cell not in sheet.stale]
    return [
        ", ".join(sorted(map(str, part))[:3]) for part in (missed, sheet.early, twice, needless)
    ]


_DEEP = {f"c{number + 1}": [f"c{number}"] for number in range(1_000)}
_SHEETS = (
    _sheet({"total": ["net", "tax"], "tax": ["net"]}, "net"),
    _sheet({"total": ["tax", "net"], "tax": ["net"]}, "net"),
    _sheet({"a": ["x"], "b": ["a", "x"], "c": ["x", "b"], "d": ["y"]}, "x"),
    _sheet({"sum": ["x", "double", "x"], "double": ["x", "x"]}, "x"),
    _sheet({"c": ["a", "b"], "a": ["x"], "b": ["y"]}, "x"),
    _sheet({"a": ["y"]}, "x"),
    _sheet(
        _DEEP, "c0", 'answer({"c1": ["c0"], "c2": ["c1"], …, "c1000": ["c999"]}, "c0", compute)'
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
        sheets.append(_sheet(dict(rows), names[0]))
    return tuple(sheets)


SPREADSHEET = Exercise(
    id="19.1",
    reader=function(
        *_SHEETS, observe=_noted, parts=("not computed", "too early", "twice", "without need")
    ),
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


_COUNTED = "incorrect number of gradients"
SHAPES = Exercise(
    id="19.2",
    stage="19a",
    reader=function(*cases("19a"), promises=TENSORS),
    truth=lambda: on_torch,
    solution=yours("19a"),
    cases=lambda random: cases("19a", random),
    known={
        "A sum was handed one number on the way back, and handed on one number. But it had added up several,"
        " and each of them gets it: `Expand.apply(grad, ctx.wide)`.": at([0], [0]),
        "`y` is one number that was added to each of three, so three gradients come back to it. In"
        " `validate_outputs`, add up a gradient that is wider than what it belongs to.": at(
            [2, 3, 4, 5], [0]
        ),
        "First derivatives are right, but on the way something lost its history. Add up with"
        " `SumTo.apply`, which is recorded, and not the bare numbers.": at([10, 11], [0, 1, 2]),
        "The `validate_outputs` of lesson 12 refused a wrong number of gradients, in the words of `COUNT`."
        " Yours doesn't any more.": at([13], [0]),
        "The `validate_outputs` of lesson 12 put zeros in the place of None. Yours doesn't any more.": fails(
            "NoneType", cases=slice(14, 15)
        ),
    },
    right="What was spread out on the way there is added up on the way back, and the other way round.",
    principle="Where one number went to several places, the gradients that come back from there are added up.",
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
        "What goes in as 2 × 3 comes out as 3 × 2, so its gradient has to be turned back, too.": at(
            [1], [0]
        ),
        "The gradients of a product don't fit its factors. Write the shapes beside each other: `grad` has the"
        " rows of `a` and the columns of `b`. What do you have to multiply it with, and from which side, to"
        " get the shape of `a`?": at([2, 3, 4, 5], [0]),
        "First derivatives are right, but the second ones miss a part. Compute with the Values that"
        " `ctx.saved_tensors` gives you, and not with their data.": at([6, 7], [0, 1, 2]),
    },
    right="Two products of matrices carry the gradient back through one.",
    principle="The shapes leave you no choice: `grad @ b.T` is the only product that has the shape of `a`.",
    hints=(
        "Save both factors. For the gradient of `a` you need `b`, and the other way round.",
        "With `a` of 2 × 3 and `b` of 3 × 4, `grad` is 2 × 4. What times what is 2 × 3 again?",
        "`grad @ b.T` and `a.T @ grad`. And what was turned is turned back: `grad.T`.",
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
        "What arrives has to be multiplied with the slope. Yours hands on the slope alone, which is right only"
        " as long as a 1 arrives.": at([4], [0]),
        "The slope of tanh, in terms of its own result, is `1 - result²`.": at([1, 3], [0]),
        "First derivatives are right, and second ones aren't. What you photographed is a copy that nothing"
        " leads to. Save the very Value that `forward` returns.": at([5, 6, 7], [0, 1, 2]),
        "PyTorch photographs the result here, not what went in, so it notices when somebody edits the result"
        " afterwards.": at([8], [0]),
    },
    right="Both have a slope that's made of their own result, so the result is what they photograph.",
    principle="A node may photograph what comes out as well as what goes in. If it does, an edit of the result is what it notices.",
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
        "`Pow` gets two inputs, a Value and a plain number, so its backward returns two gradients. The second"
        " one is None.": at(
            [0, 1], [0], f"function PowBackward returned an {_COUNTED} (expected 2, got 1)"
        ),
        "The slope of `x ** p` is `p * x ** (p - 1)`.": at([0, 1], [0]),
        "The slope of a logarithm is 1 divided by what went in.": at([2], [0]),
        "First derivatives are right, and second ones aren't: compute with the Values in"
        " `ctx.saved_tensors`, so that the way back can be recorded.": at([6, 7, 8], [0, 1, 2]),
    },
    right="That's the last operation. Division came for free: `a / b` is `a * b ** -1.0`.",
    principle="Whatever you write in terms of operations that know their way back knows its own.",
    hints=(
        "Keep `power` on `ctx` as an attribute. It's a number, so there's no need to save it for backward.",
        "`grad * x ** (ctx.power - 1.0) * ctx.power`, and None for the power.",
        "The slope of `log` at x is 1/x, so `grad / x`; you've been given a `/`.",
    ),
)

EXERCISES = (SPREADSHEET, SHAPES, MATRICES, CURVES, POWERS)
