"""Look at a hostile thing with `snapshot` and `show`, and see that nothing but the answer came of
it.
"""

from __future__ import annotations

import time
import warnings
import weakref

from autograd_graphs.data import Graph
from autograd_graphs.large.fold import fold
from helpers import show, snapshot
from hostile_inputs.case import RAN, Case
from hostile_inputs.inert import demand_inert
from hostile_inputs.world import is_tensor, world

LONGEST = 3.0  # seconds of a quiet processor for a look: a busy machine does not count
QUIET = 0.1  # seconds that such a processor takes for `slowness`'s sum
# The clock is the point here: a look must end soon, whatever it is that takes its time. However
# busy the machine is, no more than so many times `LONGEST` is forgiven: else there were no limit.
SLOWEST = 5.0
CELL = "picture = show(*__things, **__given)\ntext = __told(snapshot(*__things, names=__given.get('names')))"


class Look:
    """Look, or with `really=False` do not."""

    def __init__(self, really: bool = True) -> None:
        self.really, self.told, self.alive = really, [], []

    def __call__(self, *things: object, space: dict | None = None, **given: object) -> None:
        """Look at `things` from a cell with the variables `space`."""
        self.alive += [weakref.ref(one) for one in things if is_tensor(one)]
        if self.really:
            self.told.append(
                watched(things, {"thing": things[0]} if space is None and things else space, given)
            )

    def left(self) -> list[bool]:
        """Say of each tensor that was looked at whether it is still alive."""
        return [one() is not None for one in self.alive]


def outcome(case: Case) -> object:
    """Run a case with a look and without one; return what it told, text or error."""
    kept = []
    for really in (False, True):
        look = Look(really)
        case.run(look)
        kept.append(look.left())
    assert kept[0] == kept[1], "a look kept a tensor alive, or let one go"
    (told,) = set(look.told)
    return told


def watched(things: tuple, space: dict | None, given: dict) -> str:
    """Look from a cell of its own and compare the world before and after."""
    before, calls = world(things), len(RAN)
    cell = {
        "__name__": "__main__",
        "show": show,
        "snapshot": snapshot,
        "__told": told,
        "__things": things,
        "__given": given,
    }
    cell.update(space or {})
    raised_by = ""
    began = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(CELL, cell)
        except (TypeError, ValueError) as error:
            cell["text"] = f"{type(error).__name__}: {error}"
            raised_by = innermost(error)
    took = time.thread_time() - began
    assert RAN[calls:] == [], "a look ran the user's code"
    changed = [pair for pair in zip(before, world(things), strict=True) if pair[0] != pair[1]]
    assert changed == [], "a look changed something"
    assert took <= LONGEST or took <= LONGEST * slowness(), f"two looks took {took:.1f} s"
    assert raised_by in ("", "autograd_graphs"), "an error of torch or Python, not of ours"
    if picture := cell.get("picture"):
        assert picture.text == cell["text"]
        demand_inert(picture)
    return cell["text"]


def slowness() -> float:
    """Return how many times slower the processor is now than a quiet one; 1 to `SLOWEST`."""
    began = time.thread_time()
    sum(number * number for number in range(1_000_000))
    return min(max(1.0, (time.thread_time() - began) / QUIET), SLOWEST)


def told(graph: Graph) -> str:
    """Return what `show` tells of a graph."""
    return str(fold(graph))


def innermost(error: BaseException) -> str:
    """Return the package whose code raised an error."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_globals["__name__"].partition(".")[0]


def lines(text: str) -> list[str]:
    """Return the lines of a text tree without its indentation."""
    return [line.lstrip("│├└─ ") for line in text.splitlines()]
