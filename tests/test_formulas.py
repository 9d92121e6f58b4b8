"""Formulas are torch's own: every class of backward function and every input, as torch's generator
sees them.
"""

from importlib.resources import files

import pytest
from torchgen.packaged.autograd.load_derivatives import load_derivatives

from autograd_graphs.recording.torch_formulas import formulas


@pytest.mark.thorough
def test_every_operation_and_input_is_found_as_by_torchs_own_generator():
    packaged = files("torchgen") / "packaged"
    paths = (
        "autograd/derivatives.yaml",
        "ATen/native/native_functions.yaml",
        "ATen/native/tags.yaml",
    )
    infos, _ = load_derivatives(*[str(packaged / path) for path in paths])
    theirs = {
        info.op: [argument.name for argument in info.args_with_derivatives]
        for per_key in infos.values()
        for info in per_key.values()
        if info.op
    }
    assert len(theirs) > 600
    assert {op: list(formulas(op)) for op in theirs} == theirs
