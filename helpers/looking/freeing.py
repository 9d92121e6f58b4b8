"""Let a deep graph that was looked at be freed without deep recursion. Nothing of ours runs then.

Torch frees nodes that Python never saw in a loop. One that Python saw has a Python object, as long
as it lives, and frees its inputs by recursion: about 220 bytes of the stack a level, so that a
chain of 2,500 kills a thread of 512 KiB, and one of 50,000 a thread of 8 MiB. Who holds the end of
such a graph may free it in any thread, long after the look.

Where a graph is deep, some nodes are given a tuple of their inputs, in `node.metadata`. A tuple in
a dict is freed by Python, and Python puts the freeing of such containers off once some fifty of
them are within each other. What a node holds there it reaches anyway, so nothing lives longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import Any

from helpers.graph import Edge
from helpers.looking.torch_private import is_tensor, of_node

SHALLOW = 1_000  # levels that any stack bears
BAND = 16  # levels that are freed by recursion between two nodes that hold their inputs
HELD = "inputs, held so that a deep graph is freed without recursion"


def make_freeable(nodes: Sequence[Any], edges: Sequence[Edge]) -> None:
    """Bound the recursion of freeing a graph: where it is deep, every sixteenth level holds its
    inputs.
    """
    if len(nodes) <= SHALLOW:
        return
    inputs: list[list[int]] = [[] for _ in nodes]
    for edge in edges:
        if edge.target is not None and not is_tensor(nodes[edge.target]):
            inputs[edge.source].append(edge.target)
    if sum(map(bool, inputs)) <= SHALLOW:
        return  # a way can be no longer than there are nodes that lead further
    level = levels(inputs)
    if max(level) <= SHALLOW:
        return
    for number, targets in enumerate(inputs):
        band = level[number] // BAND
        if any(level[target] // BAND > band for target in targets):
            of_node(nodes[number], "metadata")[HELD] = tuple(nodes[target] for target in targets)


def levels(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node how many edges the longest way from a root to it has."""
    readers: dict[int, list[int]] = {number: [] for number in range(len(inputs))}
    for number, targets in enumerate(inputs):
        for target in targets:
            readers[target].append(number)
    level = [0] * len(inputs)
    for number in TopologicalSorter(readers).static_order():
        for reader in readers[number]:
            level[number] = max(level[number], level[reader] + 1)
    return level
