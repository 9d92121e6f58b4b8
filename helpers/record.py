"""Watch one real backward through hooks, and turn it into a `Trace`. What it computes, torch computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from helpers import peek
from helpers.log import Gradients, Log
from helpers.names import caller, find_names
from helpers.snapshot import demand_mapping, demand_tensor
from helpers.trace import Trace


def record(
    loss: torch.Tensor | Sequence[torch.Tensor],
    *,
    names: Mapping[str, torch.Tensor] | None = None,
    gradient: torch.Tensor | Gradients | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: torch.Tensor | Sequence[torch.Tensor] | None = None,
) -> Trace:
    """Run the one real backward from `loss`, or from several roots, and return its steps as plain data.

    Every argument but `names` goes to `torch.autograd.backward` as it is. At most 2,000 nodes are watched. A
    gradient of more than 4 elements is told by shape, norm, least and greatest value; over a million, by shape.
    What torch raises is raised; the steps before it are in the exception's `trace`. Three common errors are
    raised in plainer words, from torch's own. Raises TypeError for anything that is not a tensor.
    """
    roots = tuple(loss) if type(loss) in (list, tuple) else (loss,)
    for thing in roots:
        demand_tensor(thing)
    found = find_names(caller(), demand_mapping(names))
    log = Log(roots, found, gradient)
    try:
        with log.watching():
            torch.autograd.backward(roots, gradient, retain_graph or create_graph, create_graph, inputs=inputs)
    except BaseException as error:
        error.trace = log.trace(error)
        if not (message := plainly(error, roots)):
            raise
        raise stopped(message, error.trace) from error  # no local name: a frame that holds its own error leaks
    return log.trace()


def stopped(message: str, trace: Trace) -> RuntimeError:
    """Make the error that tells a common mistake plainly, with the steps before it."""
    error = RuntimeError(message)
    error.trace = trace
    return error


def plainly(error: BaseException, roots: Sequence[torch.Tensor]) -> str:
    """Say three common errors in our form; an empty text for any other."""
    message = str(error) if type(error) is RuntimeError else ""
    if "backward through the graph a second time" in message:
        return (
            "This graph's saved tensors were freed by an earlier backward(). "
            "Call record() or step_through() before it, or pass retain_graph=True to it."
        )
    if "grad can be implicitly created only for scalar outputs" in message:
        shapes = ", ".join(str(peek.shape(root)) for root in roots)
        return (
            f"The loss has shape {shapes}, and backward() starts by itself only from a single number. "
            "Pass record(loss, gradient=v) with v of that shape, or record(loss.sum())."
        )
    if "does not require grad and does not have a grad_fn" in message:
        return (
            f"This tensor has no graph: {'; '.join(peek.why_no_graph(root) for root in roots)}. "
            "Nothing leads back from it. Record a loss that was made from a tensor with requires_grad=True."
        )
    return ""
