"""The lab of lesson 16: a shelf of compiled graphs, the locks on each, and which graph a call gets."""

from __future__ import annotations

from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World
from helpers.labs.shelf_bench import SETUP, Call, Done, Locks, Made, done
from helpers.labs.shelf_picture import INSIDE, ROOM, shelves

FED, LIN = "what you feed it", "what you do to lin"
FIRST = Made(Locks(4, True, True), has_hook=False)


class Shelf(World):
    """A compiled function, the graphs that its calls have made, and what the last call got.

    `_calls` are those that made a graph. The weights of `lin` are no part of the state: no lock looks at their
    numbers, and what is shown compares y with eager's.
    """

    setup = SETUP
    actions = (
        Action("others", "y = fast(torch.rand(4, 3))", "calls it with other numbers", FED),
        Action("seven", "y = fast(torch.ones(7, 3))", "calls it with seven rows", FED),
        Action("one", "y = fast(x[:1])", "calls it with one row", FED),
        Action("no_grad", "with torch.no_grad(): y = fast(x)", "calls it in a block", FED),
        Action("eval", "lin.eval(); y = fast(x)", "changes the mode, then calls it", LIN),
        Action("train", "lin.train(); y = fast(x)", "changes the mode, then calls it", LIN),
        Action(
            "step",
            "with torch.no_grad(): lin.weight += 1\ny = fast(x)",
            "edits the weights as a step does, then calls it",
            LIN,
        ),
        Action(
            "hook",
            "hook = hook or lin.register_forward_hook(tenfold); y = fast(x)",
            "hangs a hook on lin if there's none, then calls it",
            LIN,
        ),
    )

    def reset(self) -> None:
        self.bound.clear()
        self.is_training, self.has_hook = True, False
        self.shelf: tuple[Made, ...] = (FIRST,)
        self.last = Done(1, FIRST, FIRST.locks, 1.0)
        self._calls: tuple[Call, ...] = ()

    def run(self, action: Action) -> None:
        if action.name in ("eval", "train"):
            self.is_training = action.name == "train"
        if action.name == "hook":
            self.has_hook = True
        call = Call(action.code, self.is_training, self.has_hook)
        self.last = done(self._calls, call)
        if self.last.made:
            self._calls += (call,)
            self.shelf += (self.last.made,)

    def compared(self) -> dict[str, object]:
        return {"calls": str(self._calls), "lin": (self.is_training, self.has_hook)}

    def facts(self) -> tuple[Row, ...]:
        rows = []
        for nr in range(ROOM):
            text = words(self.shelf[nr], self.misfits(nr)) if nr < len(self.shelf) else "none"
            rows.append(Row(f"graph {nr + 1}", text))
        mode = "train mode" if self.is_training else "eval mode"
        hook = "the hook is on" if self.has_hook else "no hook"
        how = ", new" if self.last.made else ""
        ran = f"graph {self.last.ran}{how}" if self.last.ran else "none"
        rows += [Row("ran", ran), Row("eager's y", eager(self.last)), Row("lin", f"{mode}, {hook}")]
        return tuple(rows)

    def misfits(self, nr: int) -> list[str]:
        """Return the locks of a graph that kept the last call out; none where an older or the same graph ran."""
        if self.last.made and nr + 1 < self.last.ran:
            return unfit(self.shelf[nr].locks, self.last.had)
        return []

    def title(self) -> str:
        if not self.last.ran:
            return "no graph ran"
        if self.last.times != 1:
            return f"graph {self.last.ran}, silently wrong"
        return f"graph {self.last.ran}, {'new' if self.last.made else 'reused'}"

    def say(self) -> str:
        if not self.last.ran:
            return f"On each graph a lock stays shut, and there's only room for {ROOM}. So f ran in eager mode."
        if self.last.times != 1:
            return (
                "All of its locks open. But it was made without the hook, and no lock asks for one."
            )
        if not self.last.made:
            return "All of its locks open, and the numbers are eager's."
        older = []
        for nr in range(self.last.ran - 1):
            older.append(f"graph {nr + 1} wants {' and '.join(self.misfits(nr))}")
        if not older:
            return "It was made in the first call, and each lock is something it relies on."
        said = ", ".join(older)
        return f"{said[0].upper()}{said[1:]}."


def words(graph: Made, misfits: list[str]) -> str:
    """Return the locks of a graph; ✗ is at those that kept the last call out."""
    locks = [f"✗ {lock}" if lock in misfits else lock for lock in told(graph.locks)]
    if graph.has_hook:
        locks.append(INSIDE)
    return ", ".join(locks)


def told(locks: Locks) -> list[str]:
    """Return what each lock wants."""
    rows = {None: "2+ rows", 1: "1 row"}.get(locks.rows, f"{locks.rows} rows")
    mode = "train mode" if locks.is_training else "eval mode"
    return [rows, mode, f"grad mode {'on' if locks.grad_mode else 'off'}"]


def unfit(locks: Locks, had: Locks) -> list[str]:
    """Return the locks that a call doesn't fit."""
    kept_out = []
    for wanted, given, word in zip(locks, had, told(locks), strict=True):
        if wanted != given and not (wanted is None and given > 1):
            kept_out.append(word)
    return kept_out


def eager(last: Done) -> str:
    return "the same" if last.times == 1 else f"{last.times:g} times as large"


def is_mended(state: State) -> bool:
    """Say whether a graph was reused that has the hook and takes a plain call in train mode."""
    ran, on = state.fact("ran"), "train mode, the hook is on"
    if state.fact("lin") != on or ran.endswith("new") or not ran.startswith("graph"):
        return False
    plain = ("rows", "train mode", "grad mode on", INSIDE)
    return all(word in state.fact(ran) for word in plain)


shelf = Lab(
    "shelf",
    Shelf,
    7,
    "Lab: a shelf with room for three compiled graphs, the locks on each, and which graph the last call got, with its"
    " numbers beside eager's.",
    {
        "reused": "others",
        "general": "seven",
        "back to four": "seven others",
        "one row": "seven others one",
        "eval and back": "eval train",
        "late hook": "hook",
        "hook and eval": "hook eval",
        "mended": "hook seven others",
        "full": "seven one eval",
    },
    [
        Question(
            "Each button alone: how many reuse graph 1, how many make another, which is silently wrong?",
            [action.name for action in Shelf.actions],
        ),
        Question(
            "*seven*, *others*, *one*: which graph runs each time?",
            ["seven", "seven others", "seven others one"],
        ),
        Question(
            "*hook* first: how few presses until *others* is right again?",
            [lambda state, _: is_mended(state)],
        ),
    ],
    shelves,
)
