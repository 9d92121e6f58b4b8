"""Judge a map by replaying it: what two ways to one state show, and what every action makes of
them, must be equal.

Looks at tensors with plain torch, not with `sameness`, so that a mistake there shows up here.
"""

from functools import cache

import torch

from helpers.labs.engine.explore import describe, graphs, inside, replay


def seen(world, path):
    """Return what the last action of a path raised, and all that can be seen after it: what the map
    shows, and what torch says of each tensor.

    Of names that a world declares unversioned the version is left out, of unread ones all but what
    is shown.
    """
    with inside():
        live, error = replay(world, path)
        shown = describe(live) | graphs(live)
        tensors = {}
        for name, one in live.variables().items():
            if isinstance(one, torch.Tensor) and name not in live.unread:
                tensors[name] = one
                if one.is_leaf and one.grad is not None:
                    tensors[f"{name}.grad"] = one.grad
        calm = live.unversioned
        facts = [(name, told(one, name in calm)) for name, one in sorted(tensors.items())]
        places = [one.data_ptr() for _, one in sorted(tensors.items())]
        return error, shown, facts, [[a == b for b in places] for a in places]


def told(one, is_calm):
    version = None if is_calm or one.is_inference() else one._version
    # as text, in which a NaN is equal to a NaN
    return (
        str(one.tolist()),
        str(one.dtype),
        version,
        one.requires_grad,
        one.is_leaf,
        one.retains_grad,
    )


def merges(found):
    """Return every other way that ends in a known state of a map: (path, number of that state)."""
    ways = []
    for state in found.states:
        for action, outcome in state.outcomes:
            path = (*state.path, action)
            if outcome.to is not None and found.states[outcome.to].path != path:
                ways.append((path, outcome.to))
    return ways


def check_merges(world, found, most=10_000):
    """Assert that every two ways to one state are alike, at once and one action further; of more
    than `most` ways, so many, spread evenly.
    """
    known = cache(lambda path: seen(world, path))
    merged = merges(found)
    for path, number in merged[:: 1 + len(merged) // most]:
        first = found.states[number].path
        assert seen(world, path)[1:] == known(first)[1:], (
            f"{path} and {first} are one state on the map, and differ"
        )
        for action in world.actions:
            further = seen(world, (*path, action.name))
            assert further == known((*first, action.name)), (
                f"{path} and {first} differ after {action.name}"
            )
