"""Looks from odd places: under modes and transforms, from other threads, with odd frames around
them.
"""

from __future__ import annotations

import threading

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import show, snapshot
from hostile_inputs.case import NO_GRAPH, RAN, collection, ran
from hostile_inputs.graphs import function
from hostile_inputs.subclasses import TRAPS

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


class DispatchMode(TorchDispatchMode):
    """Write down every operation that is run once `armed`."""

    armed = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if self.armed:
            ran("a mode's __torch_dispatch__")()
        return func(*args, **(kwargs or {}))


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_a_torch_function_mode(look):
    with FunctionMode() as mode:
        thing = leaf().exp()
        mode.armed = True
        look(thing)
        mode.armed = False


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_a_torch_dispatch_mode(look):
    with DispatchMode() as mode:
        thing = leaf().exp()
        mode.armed = True
        look(thing)
        mode.armed = False


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_inference_mode(look):
    thing = leaf().exp()
    with torch.inference_mode():
        look(thing)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_no_grad(look):
    thing = leaf().exp()
    with torch.no_grad():
        look(thing)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_anomaly_mode(look):
    with torch.autograd.detect_anomaly(check_nan=True):
        look(leaf().exp())


@case("ExpBackward0 → thing (2,) meta   ● result = thing")
def under_a_default_device(look):
    with torch.device("meta"):
        look(leaf().exp())


@case("SumBackward0 → thing bfloat16")
def under_autocast(look):
    with torch.autocast("cpu", torch.bfloat16):
        x = torch.ones(2, 2, requires_grad=True)
        look((x @ x).sum())


@case("ExpBackward0 → thing (2,)   ● result = thing")
def under_deterministic_algorithms(look):
    torch.use_deterministic_algorithms(True)
    try:
        look(leaf().exp())
    finally:
        torch.use_deterministic_algorithms(False)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def a_grad_wrapper_while_it_lives(look):
    torch.func.grad(lambda x: look(x.exp()) or x.exp().sum())(leaf().detach())


@case("MulBackward0 → thing (2,)   ● other int64")
def a_grad_wrapper_that_leaked(look):
    leaked = []
    torch.func.grad(lambda x: leaked.append(x * 2) or x.sum())(leaf().detach())
    look(leaked[0])


@case(NO_GRAPH)
def a_vmap_wrapper_while_it_lives(look):
    torch.func.vmap(lambda x: look(x) or x * 2)(leaf())


@case(NO_GRAPH)
def a_vmap_wrapper_that_leaked(look):
    leaked = []
    torch.func.vmap(lambda x: leaked.append(x * 2) or x)(leaf())
    look(leaked[0])


@case("MulBackward0 → thing (2,)   ● self (2,)   ● other (2,)")
def a_vmap_of_a_grad(look):
    torch.func.vmap(torch.func.grad(lambda x: look(x * x) or (x * x).sum()))(torch.ones(3, 2))


@case(NO_GRAPH)
def a_jvp_wrapper_while_it_lives(look):
    torch.func.jvp(lambda x: look(x * 2) or x * 2, (torch.ones(2),), (torch.ones(2),))


@case(NO_GRAPH)
def a_jvp_wrapper_that_leaked(look):
    leaked = []
    torch.func.jvp(lambda x: leaked.append(x * 2) or x * 2, (torch.ones(2),), (torch.ones(2),))
    look(leaked[0])


@case(NO_GRAPH)
def a_functionalized_tensor(look):
    torch.func.functionalize(lambda x: look(x * 2) or x * 2)(leaf())


@case("MulBackward0 → thing (2,)   ● self (2,)   ● other (2,)")
def a_graph_around_vmap(look):
    look(torch.func.vmap(lambda x: x * x)(leaf()))


@case("AddmmBackward0 (1, 1)   ● mat1 (1, 1)")
def a_functional_call(look):
    model = torch.nn.Linear(1, 1)
    parameters = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    look(
        torch.func.functional_call(model, parameters, torch.ones(1, 1)),
        space={"parameters": parameters},
    )


@case("MulBackward0 → thing (2,)   ● other = 2")
def a_dual_tensor(look):
    with torch.autograd.forward_ad.dual_level():
        look(torch.autograd.forward_ad.make_dual(leaf(), torch.ones(2)) * 2)


@case("AddBackward0 → thing (2,)")
def a_tangent(look):
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), leaf())
        look(torch.autograd.forward_ad.unpack_dual(dual * 2).tangent)


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)")
def the_globals_are_a_dict_of_the_users(look):
    if look.really:
        exec("snapshot(thing)", Space(__name__="__main__", snapshot=snapshot, thing=leaf()))
        assert RAN == []
    look(leaf())


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)")
def the_locals_are_a_mapping_of_the_users(look):
    if look.really:
        exec(
            "snapshot(thing)",
            {"__name__": "__main__", "snapshot": snapshot, "thing": leaf()},
            Space(),
        )
        assert RAN == []
    look(leaf())


@case("AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)")
def the_name_of_the_module_is_a_hostile_object(look):
    look(leaf(), space={"__name__": type("Hostile", (), TRAPS)()})


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


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)", alone=True)
def a_backward_of_custom_functions_runs_meanwhile(look):
    own = function(
        forward=lambda ctx, x: ctx.save_for_backward(x, x * 2, x * 3) or x.sin(),
        backward=lambda ctx, g: g * sum(ctx.saved_tensors).sum(),
    )

    def build():
        thing = torch.ones(50, 50, requires_grad=True)
        for _ in range(200):
            thing = own.apply(thing)
        return thing.sum()

    while_backward_runs(look, build)


@case("AccumulateGrad (leaf thing = [1.0, 2.0], .grad None)", alone=True)
def a_forward_runs_meanwhile(look):
    held = [leaf()]

    def run():
        for _ in range(3_000):
            held[0] = (held[0] * held[0]).sin()

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and look.really:
        assert show(held[0]).text
    thread.join()
    look(leaf())


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


@case(
    "Cut here: the 2,000 nodes nearest to the root are shown; 1 input leads further. It has at least "
    "25,000 nodes; how many is not known.",
    alone=True,
)
def a_hundred_thousand_deep_on_a_small_stack(look):
    def run():
        a_hundred_thousand_deep(look)

    threading.stack_size(512 * 1024)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@case("SumBackward0 → thing", alone=True)
def a_dtensor(look):
    import torch.distributed as dist
    from torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))
    look((distribute_tensor(torch.ones(2, requires_grad=True), mesh, [Replicate()]) * 2).sum())


@case("CompiledFunctionBackward → thing   ● saved_tensors[0] (2,)", alone=True)
def a_graph_of_torch_compile(look):
    look(torch.compile(lambda x: (x * x).sin().sum(), backend="aot_eager")(leaf()))
