"""Graphs that are freed, edited, checkpointed, hooked, wide, deep, cyclic, or made by the user's
own functions.
"""

from __future__ import annotations

import torch
from torch.autograd.graph import saved_tensors_hooks

from hostile_inputs.case import collection, ran

CASES, case = collection()


def leaf(*values):
    return torch.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def function(name="Own", forward=lambda ctx, x: x * 2, backward=lambda ctx, g: g, bases=(), **body):
    """Return a custom autograd.Function of any name."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward), **body}
    return type(torch.autograd.Function)(name, (*bases, torch.autograd.Function), body)


@case("ExpBackward0 (2,)   ○ result (freed)")
def freed(look):
    loss = leaf().exp().sum()
    loss.backward()
    look(loss)


@case("ExpBackward0 → thing (2,)   ▲ result = thing (saved at v0, now v1)")
def edited_in_place(look):
    thing = leaf().exp()
    loss = thing.sum()
    with torch.no_grad():
        thing.add_(1)
    look(loss, space={"thing": thing})


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def an_unpack_hook_that_raises(look):
    with saved_tensors_hooks(lambda t: t, ran("unpack")):
        thing = leaf().exp()
    look(thing)


@case("MulBackward0 (2,)   ● self = x   ● other = y")
def hooks_that_raise_on_tensors_and_nodes(look):
    x, y = leaf(), leaf() * 2
    x.register_hook(ran("hook"))
    x.register_post_accumulate_grad_hook(ran("post"))
    y.register_hook(ran("hook"))
    y.grad_fn.register_hook(ran("node"))
    y.grad_fn.register_prehook(ran("prehook"))
    look(x * y, space={"x": x, "y": y})


@case("ExpBackward0 → y (2,)   ● result = y")
def looked_at_from_a_tensor_hook(look):
    x = leaf()
    y = x.exp()
    y.register_hook(lambda grad: look(y, grad, space={"y": y}))
    y.sum().backward()


@case("OwnBackward → thing (2,)   ● saved_tensors[0] (2,)")
def a_backward_class_whose_every_property_raises(look):
    own = function(forward=lambda ctx, x: ctx.save_for_backward(x) or x * 2)
    thing = own.apply(leaf())
    for name in (
        "next_functions",
        "_raw_saved_tensors",
        "saved_tensors",
        "metadata",
        "_input_metadata",
        "variable",
    ):
        setattr(own._backward_cls, name, property(ran(name)))
    for name in ("name", "_sequence_nr", "__getattribute__", "__repr__", "__eq__", "__hash__"):
        setattr(own._backward_cls, name, ran(name))
    look(thing)


@case("AccumulateGrad (leaf unnamed = [1.0], .grad None)", alone=True)
def two_to_the_sixty_paths(look):
    thing = leaf(1.0)
    for _ in range(60):
        thing = thing + thing
    look(thing)


@case("… 15,194 more lines", alone=True)
def twenty_thousand_edges_to_one_leaf(look):
    x = leaf(1.0)
    look(torch.stack([x] * 20_000).sum())


@case("#1 AccumulateGrad (leaf thing = [1.0, 2.0], .grad [3.0, 12.0])")
def cyclic_through_grad(look):
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    look(x, x.grad)


@case("#1 AccumulateGrad (leaf x = [1.0, 1.0, 1.0], .grad None)")
def a_leaf_replaced_through_data(look):
    x = leaf()
    thing = x * x
    x.data = torch.ones(3)
    look(thing, space={"x": x})
