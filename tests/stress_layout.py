"""Lay out random graphs, each twice, and check every answer; a script: Graphviz may kill the
process that runs it.

`python tests/stress_layout.py 300 0`: how many graphs, and the seed of the first. The last line is
a summary as JSON.
"""

import json
import math
import resource
import sys
import time
from collections import Counter
from itertools import pairwise
from random import Random

from autograd_graphs.drawing.layout import MOST_WORK, place, work

MOST_BOXES = 400
NEAR = (
    3  # px: how far an end of a curve may be from its box, and two boxes may reach into each other
)
BESIDE, MANY = (
    20,
    4,
)  # px: how far Graphviz moves an end of one of many parallel edges; pictures draw such as one


def sparse(random, count):
    """Join any two boxes: many edges lie parallel, many boxes alone."""
    return [random.sample(range(count), 2) for _ in range(random.randrange(2 * count))]


def wide(random, count):
    """Join every box to one of few."""
    few = random.randint(1, 4)
    return [(random.randrange(min(few, box)), box) for box in range(1, count)]


def deep(random, count):
    """Make a chain with skips over up to so many boxes."""
    reach = random.choice((2, 3, 8, 50))
    skips = [(box, min(count - 1, box + random.randint(1, reach))) for box in range(count - 1)]
    return [*pairwise(range(count)), *(pair for pair in skips if random.random() < 0.6)]


def layered(random, count):
    """Join every box of a layer to every one of the next."""
    size = random.randint(1, max(1, count // 2))
    return [(box, goal) for box in range(count) for goal in layer(box // size + 1, size, count)]


def layer(number, size, count):
    return range(min(number * size, count), min((number + 1) * size, count))


def parallel(random, count):
    """Join a few boxes by many edges each."""
    return [pair for pair in pairwise(range(min(count, 8))) for _ in range(random.randint(1, 60))]


def everything(random, count):
    """Join each box to all that follow."""
    return [(box, goal) for box in range(min(count, 25)) for goal in range(box + 1, min(count, 25))]


def unrolled(random, count):
    """Make a chain of which every third box uses the same few leaves, as in a recurrent network."""
    leaves = random.randint(1, 5)
    chain = range(leaves, count)
    return [*pairwise(chain), *((box, random.randrange(leaves)) for box in chain[::3])]


def apart(random, count):
    """Make many small graphs that nothing joins."""
    return [(box, box + 1) for box in range(count - 1) if random.random() < 0.6]


FAMILIES = (sparse, wide, deep, layered, parallel, everything, unrolled, apart)


def graph(seed):
    """Return boxes, edges and labels by a seed: of any size and order, cut to what the cap lets
    through.
    """
    random = Random(seed)
    count = random.choice((1, 2, 3, 5, 10, 20, 30, 60, 100, MOST_BOXES))
    family = FAMILIES[seed % len(FAMILIES)]
    edges = one_way(family(random, count) if count > 1 else [], random, count)
    share = random.choice((0, 0.1, 1))
    within = at_the_cap(count, edges, bool(share))
    labels = {nr: size(random, 200) for nr in range(len(within)) if random.random() < share}
    widest = random.choice((100, 100, 700))
    return [size(random, widest) for _ in range(count)], within, labels


def one_way(edges, random, count):
    """Number the boxes afresh, in any order but so that no edge closes a cycle, and shuffle the
    edges.
    """
    number = list(range(count))
    if random.random() < 0.5:
        random.shuffle(number)
    if random.random() < 0.5:
        random.shuffle(edges)
    return [(number[min(pair)], number[max(pair)]) for pair in edges]


def at_the_cap(count, edges, labelled):
    """Return as many of the first edges as may be laid out."""
    few, many = 0, len(edges)
    while few < many:
        half = (few + many + 1) // 2
        few, many = (
            (half, many) if work(count, edges[:half], labelled) <= MOST_WORK else (few, half - 1)
        )
    return edges[:few]


def size(random, most):
    return random.randint(1, most), random.randint(1, most)


def faults(placed, boxes, edges, labels):
    """Yield what is wrong with an answer, in words."""
    points = [
        *placed.centres,
        *placed.labels.values(),
        *(point for curve in placed.curves for point in curve),
    ]
    if not all(map(math.isfinite, (value for point in points for value in point))):
        yield "a number is not finite"
    if (len(placed.centres), len(placed.curves), set(placed.labels)) != (
        len(boxes),
        len(edges),
        set(labels),
    ):
        yield "a box, a curve or a label is missing"
    near = NEAR + max(placed.width, placed.height) / 10_000  # Graphviz writes five digits
    for centre, box in zip(placed.centres, boxes, strict=True):
        if not all(
            half - near <= at <= most - half + near
            for at, half, most in inside(centre, box, placed)
        ):
            yield f"a box lies outside: {centre}"
    yield from overlaps(placed.centres, boxes, near)
    if any(placed.centres[tail][1] >= placed.centres[head][1] for tail, head in edges):
        yield "an edge leads up"
    times = Counter(edges)
    for curve, ends in zip(placed.curves, edges, strict=True):
        if len(curve) < 4 or len(curve) % 3 != 1:
            yield f"a curve of {len(curve)} points"
        for point, box in zip((curve[0], curve[-1]), ends, strict=True):
            if not touches(
                point, placed.centres[box], boxes[box], near + BESIDE * (times[ends] > MANY)
            ):
                yield f"a curve ends at {point}, its box {boxes[box]} lies at {placed.centres[box]}"


def inside(centre, box, placed):
    """Return (place, half the size, room) across and down."""
    return zip(centre, (box[0] / 2, box[1] / 2), (placed.width, placed.height), strict=True)


def overlaps(centres, boxes, near):
    """Yield each pair of boxes that overlap, from left to right."""
    order = sorted(range(len(boxes)), key=lambda nr: centres[nr][0] - boxes[nr][0] / 2)
    for at, one in enumerate(order):
        for other in order[at + 1 :]:
            if centres[other][0] - boxes[other][0] / 2 > centres[one][0] + boxes[one][0] / 2:
                break
            if all(
                abs(centres[one][k] - centres[other][k])
                < (boxes[one][k] + boxes[other][k]) / 2 - near
                for k in (0, 1)
            ):
                yield f"boxes {one} and {other} overlap"


def touches(point, centre, box, near):
    """Say whether a point lies on the border of a box, or as near as Graphviz comes."""
    gaps = [abs(point[k] - centre[k]) - box[k] / 2 for k in (0, 1)]
    return abs(max(gaps)) <= near


def timed(*graph):
    """Lay out a graph; return the answer, and the processor's seconds."""
    start = time.process_time()
    return place(*graph), time.process_time() - start


def stress(count, first):
    """Lay out so many random graphs; return what was found, for JSON."""
    slowest, wrong = (0.0, 0), []
    for seed in range(first, first + count):
        if seed == first + count // 2:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        one = graph(seed)
        print(f"seed {seed}: {len(one[0])} boxes, {len(one[1])} edges", flush=True)
        placed, seconds = timed(*one)
        slowest = max(slowest, (seconds, seed))
        found = [
            *faults(placed, *one),
            *["another answer the second time"] * (place(*one) != placed),
        ]
        wrong += [f"seed {seed}: {fault}" for fault in found[:1]]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    return {"graphs": count, "wrong": wrong, "slowest": slowest, "memory": grown}


if __name__ == "__main__":
    print(json.dumps(stress(*map(int, sys.argv[1:3]))))
