"""Let a deep graph that was looked at be freed without deep recursion. Nothing of ours runs then.

Torch frees nodes that Python never saw in a loop. One that Python saw has a Python object, as long
as it lives, and frees its inputs by recursion: about 220 bytes of the stack a level, so that a
chain of 2,500 kills a thread of 512 KiB, and one of 50,000 a thread of 8 MiB. Who holds the end of
such a graph may free it in any thread, long after the look.

Where a graph is deep, some nodes are given a tuple of nodes on the longest way ahead of them, in
`node.metadata`, the farthest first. Python frees a tuple from its end: the nearest goes first, and
each finds its input still held by the tuple. So the way is freed in a loop. What a node holds
there it reaches anyway, so nothing lives longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import Any

import torch

from autograd_graphs.data import Edge

SHALLOW = 500  # levels that a stack of 192 KiB bears
STRIDE = 128  # levels from one node that holds the way ahead to the next
HELD = "the way ahead, held so that a deep graph is freed without recursion"


def make_freeable(nodes: Sequence[Any], edges: Sequence[Edge]) -> None:
    """Bound the recursion of freeing a deep graph: every 128th level holds the way ahead."""
    if len(nodes) <= SHALLOW:
        return
    inputs: list[list[int]] = [[] for _ in nodes]
    for edge in edges:
        if edge.target is not None and not torch.is_tensor(nodes[edge.target]):
            inputs[edge.source].append(edge.target)
    if sum(map(bool, inputs)) <= SHALLOW:
        return  # a way can be no longer than there are nodes that lead further
    height = heights(inputs)
    if max(height) <= SHALLOW:
        return
    onward = [max(targets, key=height.__getitem__, default=None) for targets in inputs]
    for number, levels in enumerate(height):
        if levels and levels % STRIDE == 0:
            ahead = [nodes[node] for node in reversed(way_ahead(number, onward))]
            nodes[number].metadata[HELD] = tuple(ahead)


def way_ahead(start: int, onward: Sequence[int | None]) -> list[int]:
    """Return the next 128 nodes on the longest way from one, the nearest first."""
    ahead, node = [], onward[start]
    for _ in range(STRIDE):
        ahead.append(node)
        node = onward[node]
    return ahead


def heights(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node how many edges the longest way from it to an end has."""
    height = [0] * len(inputs)
    for number in TopologicalSorter(dict(enumerate(inputs))).static_order():
        height[number] = max((height[target] + 1 for target in inputs[number]), default=0)
    return height
