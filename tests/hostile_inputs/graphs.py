"""Graphs that are freed, edited, checkpointed, hooked, wide, deep, cyclic, or made by the user's
own functions.
"""

from __future__ import annotations

import torch
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from helpers import module_calls
from hostile_inputs.case import NO_GRAPH, RAN, collection, ran
from hostile_inputs.subclasses import TRAPS

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


@case("#1 ExpBackward0 (2,)   ○ result (freed)")
def half_freed(look):
    shared = leaf().exp()
    gone, loss = shared.sin().sum(), shared.cos().sum()
    gone.backward()
    look(loss + gone)


@case("IndexPutBackward0 (2,)   ○ indices (freed)")
def a_freed_list_of_saved_tensors(look):
    loss = (
        torch.stack([leaf(), leaf()]).prod(0).index_put([torch.tensor([0])], torch.ones(())).sum()
    )
    loss.backward()
    look(loss)


@case("OwnBackward (2,)   ○ saved_tensors (freed)")
def a_freed_custom_function(look):
    own = function(forward=lambda ctx, x: ctx.save_for_backward(x) or x * 2)
    loss = own.apply(leaf()).sum()
    loss.backward()
    look(loss)


@case("ExpBackward0 (2,)   ○ result (freed)")
def a_backward_that_failed_on_its_way(look):
    own = function(backward=ran("backward"))
    loss = own.apply(leaf().exp()).exp().sum()
    try:
        loss.backward()
    except AssertionError:
        look(loss)


@case("ExpBackward0 → thing (2,)   ▲ result = thing (saved at v0, now v1)")
def edited_in_place(look):
    thing = leaf().exp()
    loss = thing.sum()
    with torch.no_grad():
        thing.add_(1)
    look(loss, space={"thing": thing})


@case(
    "MulBackward0 (1,)   ◇ self = row (view of an edited tensor, now v1)   ◇ other = row (view of an edited "
    "tensor, now v1)"
)
def a_view_of_an_edited_tensor(look):
    base = leaf() * 1
    row = base[:1]
    loss = (row * row).sum()
    base.mul_(3)
    look(loss, space={"row": row, "base": base})


@case("CopySlices → thing (2,)")
def copy_slices(look):
    base = leaf() * 1
    base[:1] = leaf(5.0)
    look(base)


@case("CopySlices → thing (2,)")
def copy_slices_of_copy_slices(look):
    base = leaf() * 1
    for _ in range(50):
        base[:1].mul_(2)
    look(base)


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def checkpointed(look):
    look(checkpoint(lambda x: (x * x).exp(), leaf(), use_reentrant=False))


@case("CheckpointFunctionBackward → thing (2,)   ● saved_tensors[0] (2,)")
def checkpointed_the_old_way(look):
    look(checkpoint(lambda x: (x * x).exp(), leaf(), use_reentrant=True))


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def checkpointed_twice_over(look):
    def inner(x):
        return checkpoint(torch.exp, x * x, use_reentrant=False)

    look(checkpoint(inner, leaf(), use_reentrant=False))


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def a_checkpoint_that_would_fail(look):
    runs = []

    def once(x):
        runs.append(1)
        assert len(runs) == 1, "the forward ran again"
        return x.exp()

    look(checkpoint(once, leaf(), use_reentrant=False))


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def an_unpack_hook_that_raises(look):
    with saved_tensors_hooks(lambda t: t, ran("unpack")):
        thing = leaf().exp()
    look(thing)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def a_pack_hook_that_raises(look):
    try:
        with saved_tensors_hooks(ran("pack"), lambda t: t):
            leaf().exp()
    except AssertionError:
        RAN.clear()
    look(leaf().exp())


@case("ExpBackward0 → thing (2,)   ◆ result (packed by a hook)")
def a_pack_hook_that_makes_something_hostile(look):
    Hostile = type("Hostile", (), TRAPS)
    with saved_tensors_hooks(lambda t: Hostile(), ran("unpack")):
        thing = leaf().exp()
    look(thing)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def a_look_while_hooks_are_on(look):
    thing = leaf().exp()
    with saved_tensors_hooks(ran("pack"), ran("unpack")):
        look(thing)


@case("MulBackward0 → thing (2,)   ◆ self (packed by a hook)   ◆ other (packed by a hook)")
def saved_on_the_cpu(look):
    with save_on_cpu():
        thing = leaf() * leaf()
    look(thing)


@case("ExpBackward0 → thing (2,)   ● result = thing")
def saved_tensors_hooks_forbidden(look):
    thing = leaf().exp()
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
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


@case("MulBackward0 → thing (2,)   ● other = 2")
def hostile_metadata_on_a_node(look):
    thing = leaf() * 2
    thing.grad_fn.metadata["<b>"] = type("Hostile", (), TRAPS)()
    look(thing)


@case("ExpBackward0 → y (2,)   ● result = y")
def looked_at_from_a_tensor_hook(look):
    x = leaf()
    y = x.exp()
    y.register_hook(lambda grad: look(y, grad, space={"y": y}))
    y.sum().backward()


@case("ExpBackward0 (2,)   ◆ result (packed by a hook)")
def looked_at_from_an_unpack_hook(look):
    held = []

    def unpack(packed):
        look(held[0], space={})
        return packed

    with saved_tensors_hooks(lambda t: t.detach(), unpack):
        held.append(leaf().exp().sum())
    held[0].backward()
    held.clear()


@case("AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)")
def looked_at_from_a_custom_backward(look):
    def backward(ctx, grad):
        look(*ctx.saved_tensors, space={})
        return grad

    own = function(forward=lambda ctx, x: ctx.save_for_backward(x) or x * 2, backward=backward)
    own.apply(leaf()).sum().backward()


@case("MulBackward0 → thing (2,)   ● other = 3")
def looked_at_from_a_custom_forward(look):
    def forward(ctx, x):
        look(x)
        return x * 2

    function(forward=forward).apply(leaf() * 3)


@case("PowBackward0 (2,)   ○ self (freed)")
def a_backward_inside_of_a_backward(look):
    def backward(ctx, grad):
        with torch.enable_grad():
            inner = (leaf() ** 2).sum()
            inner.backward()
            look(inner, space={})
        return grad

    function(backward=backward).apply(leaf()).sum().backward()


@case("<script>alert(1)</script>Backward → thing (2,)")
def a_function_named_by_markup(look):
    look(function("<script>alert(1)</script>").apply(leaf()))


@case("N" * 199 + "… → thing (2,)")
def a_function_named_by_20_000_characters(look):
    look(function("N" * 20_000).apply(leaf()))


@case("a\\nb\\x1b[31m\\u202eBackward → thing (2,)")
def a_function_named_by_control_characters(look):
    look(function("a\nb\x1b[31m\u202e").apply(leaf()))


@case("Backward → thing (2,)")
def a_function_with_no_name(look):
    look(function("").apply(leaf()))


@case('x"]; a -> b [label=<<b>evil</b>>] \\NBackward → thing (2,)')
def a_function_named_by_dot(look):
    look(function('x"]; a -> b [label=<<b>evil</b>>] \\N').apply(leaf()))


@case("AccumulateGradBackward → thing (2,)")
def a_function_that_says_it_is_accumulate_grad(look):
    look(function("AccumulateGrad", variable=ran("variable")).apply(leaf()))


@case("OwnBackward → thing (2,)   ● saved_tensors[0] (2,)")
def a_ctx_with_attributes_of_a_node(look):
    def forward(ctx, x):
        for name in (
            "name",
            "variable",
            "register_hook",
            "_raw_saved_self",
            "_saved_self",
            "_sequence_nr",
        ):
            setattr(ctx, name, ran(name))
        ctx.save_for_backward(x)
        return x * 2

    look(function(forward=forward).apply(leaf()))


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


@case("Own → thing (2,)")
def a_backward_class_with_a_hostile_metaclass(look):
    own = function()
    Meta = type(
        "Meta",
        (type,),
        {
            "__eq__": ran("Meta.__eq__"),
            "__hash__": ran("Meta.__hash__"),
            "__getattribute__": ran("Meta.__getattribute__"),
        },
    )
    own._backward_cls = type.__new__(
        Meta, "Own", (torch.autograd.function.BackwardCFunction,), {"_forward_cls": own}
    )
    look(own.apply(leaf()))


@case("Error → thing (2,)")
def once_differentiable_used_twice(look):
    own = function(backward=torch.autograd.function.once_differentiable(lambda ctx, g: g * 2))
    x = leaf()
    (grad,) = torch.autograd.grad((own.apply(x) ** 2).sum(), x, create_graph=True)
    look(grad)


@case("OwnBackward → thing (2,)   ● saved_tensors[0] (2,)")
def a_function_that_saves_itself(look):
    def forward(ctx, x):
        ctx.own = x * 2
        ctx.save_for_backward(ctx.own)
        return ctx.own

    look(function(forward=forward).apply(leaf()))


@case("OwnBackward → thing (2,)")
def a_function_that_saves_nothing_in_particular(look):
    look(function(forward=lambda ctx, x: ctx.save_for_backward(None, None) or x * 2).apply(leaf()))


@case("AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)")
def a_function_that_saves_a_thousand_tensors(look):
    own = function(
        forward=lambda ctx, x: ctx.save_for_backward(*[x * k for k in range(1_000)]) or x * 2
    )
    look(own.apply(leaf()))


@case("[output 0] OwnBackward → thing [0] (2,)")
def a_function_with_dirty_and_marked_outputs(look):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(y)
        return x.add_(1), y

    look(*function(forward=forward).apply(leaf() * 1, torch.ones(2, dtype=torch.int64)))


@case("MulBackward0 → thing (2,)   ● other (2,)")
def a_saved_tensor_of_an_inference(look):
    with torch.inference_mode():
        thing = torch.ones(2)
    look(leaf() * thing.clone())


@case("SparseAddmmBackward0 → thing (2, 1)   ● mat1 (2, 2)")
def a_saved_sparse_tensor(look):
    look(torch.sparse.mm(torch.eye(2).to_sparse(), leaf()[:, None]))


@case("AccumulateGrad (leaf unnamed = [1.0], .grad None)", alone=True)
def two_to_the_sixty_paths(look):
    thing = leaf(1.0)
    for _ in range(60):
        thing = thing + thing
    look(thing)


@case("#1 [output 0] UnbindBackward0 → thing [0]")
def a_thousand_outputs(look):
    look(*torch.ones(1_000, requires_grad=True).exp().unbind()[:3])


@case(
    "Cut here: the 2,000 nodes nearest to the root are shown; 20,000 inputs lead further. It has at "
    "least 20,003 nodes; how many is not known.",
    alone=True,
)
def twenty_thousand_wide(look):
    x = leaf(1.0)
    look(torch.stack([x * k for k in range(20_000)]).sum())


@case("… 15,194 more lines", alone=True)
def twenty_thousand_edges_to_one_leaf(look):
    x = leaf(1.0)
    look(torch.stack([x] * 20_000).sum())


@case(
    "Cut here: the 5 nodes nearest to the root are shown; at least 2 inputs lead further. It has at "
    "least 7 nodes; how many is not known.",
    alone=True,
)
def half_a_million_edges(look):
    thing = leaf(1.0)
    for _ in range(25):
        thing = torch.stack([thing] * 20_000)[0]
    look(thing)


@case(
    "Cut here: the 6 nodes nearest to the root are shown; at least 3 inputs lead further. It has at "
    "least 8 nodes; how many is not known.",
    alone=True,
)
def a_million_edges_to_one_leaf(look):
    x = torch.zeros(0, requires_grad=True)
    wide = torch.cat([x] * 40_000)
    for _ in range(25):
        wide = wide + torch.cat([x] * 40_000)
    look(wide)


@case("AccumulateGrad (leaf unnamed = [1.0], .grad None)")
def a_thousand_roots(look):
    x = leaf(1.0)
    look(*[x * k for k in range(1_000)])


@case(NO_GRAPH)
def a_thousand_roots_without_graph(look):
    look(*[torch.ones(1)] * 1_000)


@case("#1 MulBackward0 → thing, shown above")
def the_same_root_twice(look):
    thing = leaf() * 2
    look(thing, thing)


@case("… 4 more lines")
def a_thousand_leaves_with_long_names(look):
    leaves = {f"{nr:05}" + '"' * 200: leaf(float(nr)) for nr in range(1_000)}
    look(torch.stack(list(leaves.values())).sum(), names=leaves)


@case("AccumulateGrad (leaf unnamed = [1.0], .grad None)")
def a_thousand_operations_with_long_names(look):
    x, space = leaf(1.0), {}
    for nr in range(1_000):
        x = space[f"{nr:05}" + "<" * 195] = space[f"{nr:05}" + "&" * 195] = (x * x).sin()
    look(x, names=space)


@case("#1 AccumulateGrad (leaf thing = [1.0, 2.0], .grad [3.0, 12.0])")
def cyclic_through_grad(look):
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    look(x, x.grad)


@case("PowBackward0 (1,)   ● self (1,)")
def third_derivatives(look):
    x = grad = leaf(2.0)
    grad = x**5
    for _ in range(3):
        (grad,) = torch.autograd.grad(grad.sum(), x, create_graph=True)
    look(grad)


@case("MulBackward0 → thing (2,)   ● other = 2")
def a_leaf_that_nobody_holds(look):
    look(torch.ones(2, requires_grad=True) * 2)


@case("#1 AccumulateGrad (leaf x = [1.0, 2.0], .grad None, requires_grad=False)")
def a_leaf_frozen_since(look):
    x = leaf()
    thing = x * x
    x.requires_grad_(False)
    look(thing, space={"x": x})


@case("#1 AccumulateGrad (leaf x = [1.0, 1.0, 1.0], .grad None)")
def a_leaf_replaced_through_data(look):
    x = leaf()
    thing = x * x
    x.data = torch.ones(3)
    look(thing, space={"x": x})


@case(NO_GRAPH)
def detached_in_place(look):
    thing = leaf() * 2
    look(thing.detach_())


@case("cell × 50 (1, 2), 15 operations each, holds 2.8 kB   ● 698 saved tensors")
def an_unrolled_cell_with_shared_weights(look):
    cell, x = torch.nn.LSTMCell(2, 2), torch.ones(1, 2)
    h = (torch.zeros(1, 2), torch.zeros(1, 2))
    with module_calls(cell) as calls:
        for _ in range(50):
            h = cell(x, h)
    look(h[0].sum(), names=calls)
