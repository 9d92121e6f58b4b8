"""Hold the table of causes: for a message, what finds in the facts which tensor and which line of the
learner's it tells of. findings.toml has the words.

A cause that the facts do not show is not told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from autograd_graphs.diagnosing import (
    captured,
    freed_graphs,
    inplace_edits,
    lost_graphs,
    missing_gradients,
    nans,
    own_functions,
    tensor_kinds,
)
from autograd_graphs.diagnosing.facts import Facts, Finding, finding

Rule = Callable[[Facts, Any], Finding | None]  # it gets the match of its message


def at_this_line(facts: Facts, _: Any, kind: str) -> Finding:
    """Tell a cause that the message alone shows."""
    return finding(kind, [facts.spot])


RULES: tuple[tuple[str, Rule], ...] = (
    (r"Trying to backward through the graph a second time", freed_graphs.freed),
    (r"has been modified by an inplace operation", inplace_edits.modified),
    (r"BackwardHookFunction is a view and is being modified inplace", inplace_edits.view_of_hook),
    (
        r"a leaf Variable that requires grad is being used in an in-place operation",
        inplace_edits.module_edits_leaf,
    ),
    (
        r"grad_output\[(\d+)\] has a shape of .*?\(\[(.*?)\]\) and output\[\d+\] has .*?\(\[(.*?)\]\)",
        missing_gradients.shape_of_gradient,
    ),
    (r"Expected to have finished reduction", missing_gradients.left_out),
    (
        r"cannot register a hook on a tensor that doesn't require gradient"
        r"|can't retain_grad on Tensor that has requires_grad=False"
        r"|'(?:float|int|numpy\.\w+|ndarray|list|NoneType)' object has no attribute 'backward'"
        r"|does not require grad and does not have a grad_fn",
        lost_graphs.lost,
    ),
    (r"'NoneType'", missing_gradients.empty_gradient),
    (r"grad can be implicitly created only for scalar outputs", missing_gradients.many_numbers),
    (r"appears to not have been used in the graph", missing_gradients.not_used),
    (r"aot_autograd does not currently support double backward", captured.compiled_twice),
    (
        r"target dtype to be Long|expected scalar type Long but found|not implemented for 'Float'",
        tensor_kinds.class_numbers,
    ),
    (
        r"not implemented for '(?:Long|Half|Int)'|can't be cast|Input type|same dtype"
        r"|[Ee]xpected scalar type|Found dtype|expected .* dtype|should be the same$",
        tensor_kinds.two_types,
    ),
    (
        r"same device|expected device|Expected all tensors|device type|meta tensor",
        tensor_kinds.two_devices,
    ),
    (
        r"returned an (?:invalid gradient|incorrect number of gradients)|expected Variable or None",
        own_functions.own_function,
    ),
    (r"Only Tensors created explicitly by the user", tensor_kinds.deep_copy),
    (r"[Ii]nference tensor", tensor_kinds.inference),
    (
        r"view of a leaf Variable that requires grad|view was created in no_grad mode",
        tensor_kinds.view_of_leaf,
    ),
    (r"Function '(\w+)' returned nan values", nans.anomaly),
    (r"No inf checks were recorded", partial(at_this_line, kind="nothing_to_unscale")),
    (r"Attempted unscale_ but _scale is None", partial(at_this_line, kind="nothing_scaled")),
    (
        r"lr_scheduler\.step\(\)` before `optimizer\.step",
        partial(at_this_line, kind="scheduler_first"),
    ),
    (r"The .grad attribute of a Tensor that is not a leaf", missing_gradients.grad_of_result),
    (
        r"Using a target size \(torch.Size\(\[(.*?)\]\)\).* input size \(torch.Size\(\[(.*?)\]\)\)",
        tensor_kinds.sizes,
    ),
    (r"To copy construct from a tensor", tensor_kinds.copied),
)


def found_in(facts: Facts) -> Finding | None:
    """Return the first finding that the message and the facts allow; none without a line."""
    if facts.spot is None:
        return None
    for pattern, explain in RULES:
        match = re.search(pattern, facts.text)
        diagnosis = match and explain(facts, match)
        if diagnosis:
            return diagnosis
    return None
