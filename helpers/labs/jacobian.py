"""The lab of lesson 17: a Jacobian that is filled by rows, by columns and by sums of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograd_graphs.data import counted
from autograd_graphs.text import short_number
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World
from helpers.labs.jacobian_table import (
    COLUMNS,
    OPEN,
    ROWS,
    SIDE,
    SUMS,
    Place,
    Weights,
    equations,
    proven,
    tables,
)

PRESS, FUNCTION = "presses", "function"
ALL, EVEN, ODD = (1.0,) * SIDE, (1.0, 0.0) * 2 + (1.0,), (0.0, 1.0) * 2 + (0.0,)
ADDED = {  # what a sum adds up, and how often
    "all rows": (ROWS, ALL),
    "all columns": (COLUMNS, ALL),
    "even columns": (COLUMNS, EVEN),
    "odd columns": (COLUMNS, ODD),
}
EVERY = [(row, column) for row in range(SIDE) for column in range(SIDE)]
PLACES = {  # where a derivative isn't zero, whatever x is
    "arrow": tuple([(row, column) for row, column in EVERY if row == column or 0 in (row, column)]),
    "band": tuple([(row, column) for row, column in EVERY if column - row in (0, 1)]),
}


def added(name: str, code: str) -> Action:
    """Return the action that asks for a sum."""
    kind = ADDED[name][0]
    by = "vjp" if kind == ROWS else "jvp"
    return Action(name.replace(" ", "_"), code, f"their sum, by {by}", PRESS, called=name)


class Fill(World):
    """A function of five numbers whose zeros are known, and presses that each return five numbers.

    A press that is made on a full table, or once more, proves nothing new: it isn't counted.
    """

    setup = (
        "from torch.func import jvp, vjp",
        "x, one = torch.arange(1., 6.), torch.eye(5)",
        "def arrow(x): return torch.cat([(x * x).sum()[None], x[0] * x[1:]])",
        "def band(x): return x * torch.cat([x[1:], torch.ones(1)])",
        "def push(v): return jvp(f, (x,), (v,))[1]",
        "f, i, j = arrow, 0, 0; y, pull = vjp(f, x)",
    )
    actions = (
        Action("row", "got = pull(one[i])[0]; i = (i + 1) % 5", "the next one, by vjp", PRESS),
        added("all rows", "got = pull(one.sum(0))[0]"),
        Action("column", "got = push(one[j]); j = (j + 1) % 5", "the next one, by jvp", PRESS),
        added("all columns", "got = push(one.sum(0))"),
        added("even columns", "got = push(one[::2].sum(0))"),
        added("odd columns", "got = push(one[1::2].sum(0))"),
        Action(
            "arrow", "f = arrow; y, pull = vjp(f, x)", "an empty table for it", FUNCTION, anew=True
        ),
        Action(
            "band", "f = band; y, pull = vjp(f, x)", "an empty table for it", FUNCTION, anew=True
        ),
    )
    tools = ("jvp", "vjp", "arrow", "band", "pull", "push", "f")
    unread = ("got",)

    def reset(self) -> None:
        super().reset()
        self.function = "arrow"
        self.sums: tuple[str, ...] = ()
        self._pressed: list[tuple[str, Weights]] = []
        self._got: list[float] = []
        self._known: dict[Place, float] = {}

    def run(self, action: Action) -> None:
        row, column, is_new = self.i, self.j, not self.is_full() and action.called not in self.sums
        super().run(action)
        if action.group == FUNCTION:
            self.function = action.name
        elif is_new:
            self.keep(action, {"row": (ROWS, row), "column": (COLUMNS, column)})

    def keep(self, action: Action, single: Mapping[str, tuple[str, int]]) -> None:
        """Keep what a press returned, and of what: of a sum, or of the single row or column by its number."""
        if action.name in single:
            kind, nr = single[action.name]
            weights = tuple(self.one[nr].tolist())
        else:
            kind, weights = ADDED[action.called]
            self.sums = tuple(sorted((*self.sums, action.called)))
        self._pressed.append((kind, weights))
        self._got += self.got.tolist()
        self._known = proven(self.places(), self._pressed, self._got)

    def places(self) -> tuple[Place, ...]:
        return PLACES[self.function]

    def is_full(self) -> bool:
        return len(self._known) == len(self.places())

    def compared(self) -> dict[str, object]:
        """Return all that can matter later: in a full table only that it is full."""
        if self.is_full():
            return {"function": self.function, "presses": len(self._pressed)}
        return super().compared()

    def facts(self) -> tuple[Row, ...]:
        """Return the table, and what is known of sums as long as it isn't full."""
        rows = []
        for row in range(SIDE):
            texts = [self.text_at((row, column)) for column in range(SIDE)]
            rows.append(Row(f"row {row}", " ".join(texts)))
        alone = [f"row {nr}" for nr in range(self.i)] + [f"col {nr}" for nr in range(self.j)]
        is_full = self.is_full()
        rows.append(Row("alone", "" if is_full else ", ".join(alone)))
        for name in SUMS:
            rows.append(Row(name, "" if is_full else self.returned(name)))
        return (*rows, Row("presses", str(len(self._pressed))))

    def text_at(self, place: Place) -> str:
        if place not in self.places():
            return "0"
        return short_number(self._known[place]) if place in self._known else OPEN

    def returned(self, name: str) -> str:
        """Return the numbers of a sum, or nothing where it wasn't asked for."""
        if name not in self.sums:
            return ""
        first = SIDE * self._pressed.index(ADDED[name])
        return " ".join(map(short_number, self._got[first : first + SIDE]))

    def chosen(self) -> tuple[str, ...]:
        return (self.function,)

    def title(self) -> str:
        known, total = len(self._known), len(self.places())
        if known < total:
            return f"{known} of {total} numbers known"
        return f"full after {counted(len(self._pressed), 'press', 'presses')}"

    def say(self) -> str:
        known, total = len(self._known), len(self.places())
        presses = counted(len(self._pressed), "press", "presses")
        if known == total:
            return f"It took {presses} for {total} numbers, and each press returns {SIDE}."
        if not self._pressed:
            return f"The zeros are known from the program. The other {total} numbers aren't."
        words = (
            f"{presses} so far, and {counted(total - known, 'number is', 'numbers are')} missing."
        )
        return words + " Of some, only a sum is known." * self.has_open_sums()

    def has_open_sums(self) -> bool:
        """Say whether a press returned a sum of which parts are missing."""
        for kind, weights in self._pressed:
            for times in equations(self.places(), kind, weights):
                pairs = zip(self.places(), times, strict=True)
                if any(often and place not in self._known for place, often in pairs):
                    return True
        return False


def is_full(function: str) -> Callable[[State, str], bool]:
    """Return what says of a state whether the table of a function is full there."""
    return lambda state, _: state.chosen == (function,) and state.title.startswith("full")


jacobian = Lab(
    "jacobian",
    Fill,
    6,
    "Lab: a Jacobian with five rows and columns. A press returns a row, a column or a sum of them; what follows"
    " from that is filled in.",
    {
        "by rows": "row row row row row",
        "sums alone": "all_rows all_columns",
        "one row, one column": "row column",
        "band": "band",
        "band, one sum": "band all_rows",
    },
    [
        Question("Fill the table with *row* alone: how many presses?", ["row row row row row"]),
        Question("Fill it with whatever you like: how few presses?", [is_full("arrow")]),
        Question("*band*: how few presses after it, and with 1,000 rows?", [is_full("band")]),
    ],
    tables,
)
