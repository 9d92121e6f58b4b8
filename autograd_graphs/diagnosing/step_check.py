"""Check the health of one training step: which parameters the loss reaches, what their gradients
are, what the optimizer holds, and which lines of the learner's explain it.

It changes nothing: gradients are computed beside `.grad`, and no hook of a parameter or a module
runs. Where computing them would run one, they are left out, and that is said.
"""

from __future__ import annotations

import math
from types import FrameType
from typing import Any

import torch

from autograd_graphs.diagnosing import captured, step_gradients, step_loss, step_model
from autograd_graphs.diagnosing.facts import Finding
from autograd_graphs.diagnosing.training_step import TrainingStep
from autograd_graphs.looking.torch_private import quietly

OF_GRAPH = (
    step_gradients.cut_off,
    step_gradients.raised,
    step_gradients.not_finite,
    step_gradients.zeros,
    step_gradients.large,
    step_loss.broadcast,
    step_loss.mean_twice,
    step_loss.normalized_twice,
    step_loss.target_with_graph,
    step_model.stepped_copy,
    step_model.went_round,
)
OF_STATE = (
    step_model.plain_attributes,
    step_model.not_held,
    step_model.strange_flags,
    step_gradients.unused,
    step_model.modes,
    captured.traced_modes,
    step_model.hooked,
)


def findings(step: TrainingStep) -> list[Finding]:
    """Return what is wrong with a step; of a loss without a graph only that."""
    results: list[Finding] = []
    if step.loss is not None:
        results += step_loss.no_tensor(step)
        results += step_loss.no_graph(step)
        if results:
            return results
        for check in OF_GRAPH:
            results += check(step)
    for check in OF_STATE:
        results += check(step)
    return results


def summary(step: TrainingStep) -> list[str]:
    figures = []
    asked = len(step.asked)
    frozen = len(step.parameters) - asked
    if torch.is_tensor(step.loss) and step.parameters:
        own = asked - len(step.unreached)
        said = f"The loss reaches {own} of {asked} parameters that ask for a gradient"
        if frozen:
            said += f"; {frozen} are frozen"
        figures.append(f"{said}.")
    norms = list(map(step_gradients.norm, step.gradients.known.values()))
    if norms and all(map(math.isfinite, norms)):
        figures.append(f"The norms of their gradients: {min(norms):.3g} to {max(norms):.3g}.")
    return list(filter(None, [*figures, step.gradients.problem]))


def examined(model: Any, loss: Any, optimizer: Any, frame: FrameType) -> tuple[list, list[str]]:
    step = TrainingStep(model, loss, optimizer, frame)
    if torch.is_tensor(loss):
        _ = step.gradients  # computed with grad mode as it is
    with quietly():
        return findings(step), summary(step)
