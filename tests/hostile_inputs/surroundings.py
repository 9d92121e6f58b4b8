"""Looks from odd places: under modes and transforms, from other threads, with odd frames around
them.
"""

from __future__ import annotations

import threading

import torch
from torch.overrides import TorchFunctionMode

from helpers import show, snapshot
from hostile_inputs.case import NO_GRAPH, RAN, collection, ran

CASES, case = collection()


def leaf(*values):
    return torch.tensor(list(values) or [1.0, 2.0], requires_grad=True)


class Space(dict):
    """Be a namespace that writes down every method of it that is called, but for those that Python
    itself calls.
    """

    items = keys = values = get = __iter__ = __len__ = ran("a method of the namespace")


class FunctionMode(TorchFunctionMode):
    """Write down every torch function that is called once `armed`."""

    armed = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if self.armed:
            ran("a mode's __torch_function__")()
        return func(*args, **(kwargs or {}))


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_a_torch_function_mode(look):
    with FunctionMode() as mode:
        thing = leaf().exp()
        mode.armed = True
        look(thing)
        mode.armed = False


@case(NO_GRAPH)
def a_vmap_wrapper_that_leaked(look):
    leaked = []
    torch.func.vmap(lambda x: leaked.append(x * 2) or x)(leaf())
    look(leaked[0])


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)")
def the_globals_are_a_dict_of_the_users(look):
    if look.really:
        RAN.clear()
        exec("snapshot(thing)", Space(__name__="__main__", snapshot=snapshot, thing=leaf()))
        assert RAN == []
    look(leaf())


@case("AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)")
def a_variable_whose_name_is_a_hostile_text(look):
    Late = type("Late", (str,), {})
    space = {Late("w"): leaf()}
    Late.__str__ = Late.__repr__ = Late.__format__ = ran("a method of the name")
    look(leaf(), space=space)


@case("AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)", alone=True)
def eight_threads_look_at_once(look):
    thing = leaf()
    for _ in range(50):
        thing = (thing * thing).sin()
    if look.really:
        told, expected = [], show(thing).text
        threads = [
            threading.Thread(target=lambda: told.extend(show(thing).text for _ in range(10)))
            for _ in range(8)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert told == [expected] * 80
        assert torch.is_grad_enabled()
    look(thing)


def while_backward_runs(look, build):
    """Look again and again while another thread goes backward; every look must end in a picture.

    There are eight backwards, or fewer once there were four hundred looks: each look keeps the other
    thread from Python's lock, so that a backward takes as long as all looks in it.
    """
    looks = 0
    for _ in range(8 if look.really else 0):
        loss = build()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        while thread.is_alive():
            assert show(loss).text
            looks += 1
        thread.join()
        if looks > 400:
            break
    look(leaf())


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)", alone=True)
def a_backward_runs_meanwhile(look):
    def build():
        thing = torch.ones(200, 200, requires_grad=True)
        for _ in range(200):
            thing = (thing * thing).sin()
        return thing.sum()

    while_backward_runs(look, build)


@case(
    "Cut here: the 2,000 nodes nearest to the root are shown; 1 input leads further. It has at least "
    "25,000 nodes; how many is not known.",
    alone=True,
)
def a_hundred_thousand_deep(look):
    thing = leaf(1.0)
    for _ in range(100_000):
        thing = thing.sin()
    look(thing)


@case("CompiledFunctionBackward → thing   ● saved_tensors[0] (2,)", alone=True)
def a_graph_of_torch_compile(look):
    look(torch.compile(lambda x: (x * x).sin().sum(), backend="aot_eager")(leaf()))
