"""Judge a map by replaying it: what two ways to one state show, and what every action makes of
them, must be equal.

Looks at tensors with plain torch, not with `sameness`, so that a mistake there shows up here.
"""

from functools import cache

import torch

from helpers.labs.engine.explore import compared, describe, inside, replay


def seen(world, path):
    """Return all that can be seen after a path: what the map would show, and what torch says of
    each tensor.
    """
    with inside():
        live, error = replay(world, path)
        shown = describe(live, error)
        tensors = {
            name: one for name, one in compared(live).items() if isinstance(one, torch.Tensor)
        }
        tensors |= {
            f"{name}.grad": one.grad
            for name, one in tensors.items()
            if one.is_leaf and one.grad is not None
        }
        facts = [(name, told(one)) for name, one in sorted(tensors.items())]
        places = [one.data_ptr() for _, one in sorted(tensors.items())]
        offered = () if error else tuple(name for name, _ in live.actions if live.offers(name))
        return shown, facts, [[a == b for b in places] for a in places], offered


def told(one):
    version = None if one.is_inference() else one._version
    return one.tolist(), str(one.dtype), version, one.requires_grad, one.is_leaf, one.retains_grad


def check_merges(world, found):
    """Assert that every two ways to one state are alike, at once and one action further."""
    known = cache(lambda path: seen(world, path))
    for path, number in found.merged():
        first = found.states[number].path
        here = known(first)
        assert seen(world, path) == here, f"{path} and {first} are one state on the map, and differ"
        for action in here[3]:
            further = seen(world, (*path, action))
            assert further == known((*first, action)), f"{path} and {first} differ after {action}"
