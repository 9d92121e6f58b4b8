"""Say what is wrong with where a layout put boxes, curves and labels."""

import math
from collections import Counter

NEAR = (
    3  # px: how far an end of a curve may be from its box, and two boxes may reach into each other
)
BESIDE, MANY = (
    20,
    4,
)  # px: how far Graphviz moves an end of one of many parallel edges; pictures draw such as one


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
