"""Watch one real backward through hooks, and turn it into a `Trace`.

What it computes, torch computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from autograd_graphs.looking.refusals import PLAINLY, short
from autograd_graphs.looking.snapshot import (
    Given,
    demand_mapping,
    demand_tensor,
    names_in_reach,
)
from autograd_graphs.looking.source import program_of
from autograd_graphs.looking.torch_formulas import demand_formulas
from autograd_graphs.looking.values import is_value
from autograd_graphs.looking.variable_names import caller
from autograd_graphs.recording.backward_log import Gradients, Log
from autograd_graphs.recording.recorded import remember
from autograd_graphs.recording.trace import Trace
from autograd_graphs.recording.values import record_value
from autograd_graphs.text import first_line


def record(
    loss: torch.Tensor | Sequence[torch.Tensor],
    *,
    names: Given | None = None,
    gradient: torch.Tensor | Gradients | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: torch.Tensor | Sequence[torch.Tensor] | None = None,
) -> Trace:
    """Run the one real backward from `loss`, or from several roots, and return its steps as plain
    data.

    Every argument but `names` goes to `torch.autograd.backward` as it is. At most 2,000 nodes are
    watched. A gradient of more than 4 elements is told by shape, norm, least and greatest value;
    over a million, by shape. `show(loss, color="grad")` finds the trace as long as the loss lives.
    What torch raises is raised; the steps before it are in the exception's `trace`. Three common
    errors are raised in plainer words. In a notebook no frame of this package is shown. A value of
    an engine of one's own goes back by its own `backward`, given what is given here. Raises
    TypeError for anything that is not a tensor, and ImportError where PyYAML is missing, before
    anything is run.
    """
    how = {"gradient": gradient, "inputs": inputs}
    how |= {"retain_graph": retain_graph, "create_graph": create_graph}
    roots = tuple(loss) if isinstance(loss, (list, tuple)) else (loss,)
    for thing in roots:
        demand_tensor(thing)
    if any(map(is_value, roots)):
        return record_value(roots, demand_mapping(names), how)
    demand_formulas()
    log = Log(roots, names_in_reach(caller(), names), gradient)
    program = program_of(caller(), log.graph, log.walk.met)
    try:
        try:
            log.watch()
            torch.autograd.backward(roots, gradient, retain_graph, create_graph, inputs=inputs)
        finally:
            log.let_go()
    except BaseException as error:
        said = first_line(error)
        trace = replace(log.trace(said), program=program)
        short(error, trace=trace)
        remember(roots, trace, how)
        if type(error) is not RuntimeError or not (message := plainly(said, log)):
            raise
        # No local name: a frame that holds its own error leaks.
        raise short(RuntimeError(message), trace=trace, **{PLAINLY: True}) from None
    trace = replace(log.trace(), program=program)
    remember(roots, trace, how)
    return trace


def plainly(said: str, log: Log) -> str:
    """Say three common errors in our form; or "".

    The graph has to show that they are meant: a hook may raise torch's words about another one.
    """
    roots = log.graph.roots
    freed = freed_in(log)
    names = ", ".join(root.tensor.name or "this tensor" for root in roots)
    if "backward through the graph a second time" in said and freed:
        return (
            f"backward() has already been through a part of the graph of {names}: {freed} freed. "
            "Run the forward pass again and give its new result, or pass retain_graph=True to "
            "the earlier call."
        )
    if "grad can be implicitly created only for scalar outputs" in said and log.task is None:
        shapes = ", ".join(str(root.tensor.shape) for root in roots)
        return (
            f"The loss has shape {shapes}, but by itself backward() only starts from a single "
            "number. "
            "Pass gradient=v as well, with v of that shape, or give loss.sum()."
        )
    if "does not require grad and does not have a grad_fn" in said and (
        why := [root.reason for root in roots if root.node is None]
    ):
        return (
            f"This tensor has no graph: {'; '.join(why)}. "
            "Nothing leads back from it. Give a loss that was made from a tensor with "
            "requires_grad=True."
        )
    return ""


def freed_in(log: Log) -> str:
    """Say what is freed: what the first operation that is met had saved; "" where nothing is."""
    for node in log.graph.nodes:
        if any(saved.state == "freed" for saved in node.saved):
            return f"what {node.operation} had saved is"
    return "saved tensors in it are" if log.graph.left_out else ""
