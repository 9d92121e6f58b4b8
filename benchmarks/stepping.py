"""What looking costs: `record` beside a bare `backward`, `show` and `step_through`."""

from __future__ import annotations

from autograd_graphs import record, show, step_through
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import as_json
from benchmarks.measure import Row, ms, ratios
from benchmarks.models import MODELS, make

LARGEST = 400  # kB of a film
LONGEST = 2_000  # ms from the call to the widget


def rows(rounds: int) -> list[Row]:
    """Return the times of each model; the first round warms up and does not count."""
    found = []
    for name in MODELS:
        case = make(name)
        times = [one_round(case) for _ in range(rounds + 1)][1:]
        bare, recorded, stepped, drawn = zip(*times, strict=True)
        kilobytes = len(as_json(film(record(case.loss()))).encode()) / 1000
        found += [
            Row(name, "backward alone", bare),
            Row(name, "record", recorded),
            Row(name, "record / backward", ratios(bare, recorded), "times"),
            Row(name, "show, call to SVG", drawn),
            Row(name, "step_through, call to widget", stepped, most_wanted=LONGEST),
            Row(name, "film", (kilobytes,), "kB", most_wanted=LARGEST),
        ]
    return found


def one_round(case) -> tuple[float, ...]:
    """Return the milliseconds of a bare backward, of a recorded one, a player and a picture."""
    losses = []
    for _ in range(4):
        case.model.zero_grad()
        losses.append(case.loss())
    bare = ms(losses[0].backward)
    recorded = ms(lambda: record(losses[1]))
    stepped = ms(lambda: step_through(losses[2]))
    drawn = ms(lambda: show(losses[3]).svg)
    return bare, recorded, stepped, drawn
