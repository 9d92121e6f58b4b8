"""The backward that `torch.compile` captured of a function, as a picture.

Needs no compiler. Empties dynamo's shelf before it captures; leaves `.grad` alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.fx import Graph as FxGraph
from torch.fx import GraphModule
from torch.fx import Node as Step

from autograd_graphs import Picture
from autograd_graphs.data import Edge, Graph, Node, Root, TensorInfo
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.tints import Tint, Tints
from autograd_graphs.picture import picture
from autograd_graphs.text import short_number, visible

ARRIVES, KEPT, AGAIN = "Incoming gradient", "Kept", " (again)"  # what cards say
TINT, LONGEST = 4, 1_000  # of what is computed again, on the scale of gradients; letters of the alt


def show_backward(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Picture:
    """Draw the backward that is captured of a function when `aot_eager` compiles it.

    Each result leads to what it's computed from. "Kept" is what the forward put aside; what it had
    computed before is tinted, and says "(again)". Raises ValueError where the function is captured
    in several pieces, returns no single tensor or takes tensors that are no arguments, such as the
    weights of a module, and where no input requires grad.
    """
    forward, backward = capture(function, *inputs)
    names = list(inspect.signature(function).parameters)
    taken = sum(step.op == "placeholder" for step in forward.nodes)
    if taken > len(names):
        raise ValueError(
            f"The function has {len(names)} arguments, but {taken} tensors go into it, so a "
            "card could have the wrong name. Give each tensor as an argument, weights, too."
        )
    graph = backward_graph(forward, backward, names)
    again = [place for place, node in enumerate(graph.nodes) if AGAIN in node.operation]
    kept = [node.name for node in graph.nodes if node.operation == KEPT]
    alt = (
        f"A captured backward of {graph.size[0]} operations, {len(again)} of them computed again. "
        f"Kept for it: {', '.join(kept) or 'nothing'}."
    )
    tints = Tints({place: Tint(TINT) for place in again})
    drawn = drawing(graph, alt=visible(alt, LONGEST), tints=tints)
    return replace(picture(graph, drawn), folded=graph)


def capture(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> list[FxGraph]:
    """Run a compiled function forward and backward; return the two graphs captured of it."""
    found: list[FxGraph] = []

    def keep(module: GraphModule, given: object) -> Callable:
        found.append(module.graph)
        return make_boxed_func(module.forward)

    cut = min_cut_rematerialization_partition
    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep, partition_fn=cut)
    torch._dynamo.reset()
    result = torch.compile(function, backend=backend)(*inputs)
    if not isinstance(result, torch.Tensor):
        raise ValueError(
            f"The function returned a {type(result).__name__}, but this backward begins at a "
            "single tensor. Return one of them."
        )
    if result.requires_grad:
        tracked = [each for each in inputs if each.requires_grad]
        torch.autograd.grad(result.sum(), tracked, allow_unused=True)
    if len(found) != 2:
        raise ValueError(
            f"{len(found)} graphs were captured, but a picture needs one forward and its backward. "
            "Give a function without a break, and an input that requires grad."
        )
    return found


def backward_graph(forward: FxGraph, backward: FxGraph, names: Sequence[str]) -> Graph:
    """Return a captured backward as plain data, whose roots are the gradients that it returns."""
    *steps, output = backward.nodes
    number = {step: place for place, step in enumerate(steps)}
    edges = [
        Edge(number[step], position, number[source])
        for step in steps
        for position, source in enumerate(step.all_input_nodes)
    ]
    roots = [
        Root(TensorInfo((f"gradient of {name}",)), number[step])
        for name, step in zip(names, output.args[0], strict=False)
        if step is not None
    ]
    nodes = [_card(step, forward, names) for step in steps]
    return _Steps(tuple(nodes), tuple(edges), tuple(roots))


class _Steps(Graph):
    """Hold a captured graph: what was kept and what arrives count as no operation."""

    __slots__ = ()

    @property
    def size(self) -> tuple[int, int]:
        return sum(node.operation not in (ARRIVES, KEPT) for node in self.nodes), 0


def _card(step: Step, forward: FxGraph, names: Sequence[str]) -> Node:
    """Return the card of one step of a captured backward."""
    shape = tuple(step.meta["val"].shape)
    before = {one.name: one for one in forward.nodes}
    if step.name.startswith("tangents"):
        return Node(ARRIVES, (TensorInfo((), shape),))
    if step.op == "placeholder":
        return Node(KEPT, (TensorInfo((_kept(before[step.name], names),), shape),))
    return Node(_operation(step) + AGAIN * (step.name in before), (TensorInfo((), shape),))


def _operation(step: Step) -> str:
    """Return what a step does, and with which number: "Mul 1.01"."""
    name = step.target.__name__.split(".")[0].strip("_").title().replace("_", "")
    return " ".join(
        [name, *[short_number(one) for one in step.args if isinstance(one, float | int)]]
    )


def _kept(step: Step, names: Sequence[str]) -> str:
    """Return what the forward put aside: a parameter, or the result of an operation."""
    while step.op != "placeholder" and _operation(step) == "Detach":
        (step,) = step.all_input_nodes
    if step.op != "placeholder":
        return f"result of {_operation(step)}"
    return names[int(step.name.removeprefix("primals_")) - 1]
