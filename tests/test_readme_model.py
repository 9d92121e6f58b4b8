"""What the README says about one's own model, run as it stands there."""

import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

SECTION = (
    (Path(__file__).parents[1] / "README.md")
    .read_text(encoding="utf-8")
    .partition("## Your own model")[2]
    .partition("\n## ")[0]
)
CODE = re.search(r"```python\n(.*?)```", SECTION, re.S)[1]
HEAD, *CALLS = re.split(r"\n(?=show|step_through)", CODE)
WORDS, WIDE = 20, 16


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDE, 2, 2 * WIDE, batch_first=True)
        self.embed = nn.Embedding(WORDS, WIDE)
        self.encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
        self.head = nn.Linear(WIDE, WORDS)

    def forward(self, text):
        return self.head(self.encoder(self.embed(text)))


@pytest.fixture
def ran():
    torch.manual_seed(0)
    text = torch.arange(10).reshape(2, 5)
    space = {"model": Transformer(), "text": text, "cross_entropy": cross_entropy}
    exec(HEAD, space)
    return space


@pytest.mark.slow
def test_boxes_are_module_calls_and_the_loss_stands_outside(ran):
    results = [eval(call.partition("  #")[0], ran) for call in CALLS]
    whole, opened, every, explored, played, coloured = results
    lines = whole.text.splitlines()
    assert [line.strip("└─ ").split(" ")[0] for line in lines[:4]] == [
        "NllLossBackward0",
        "LogSoftmaxBackward0",
        "ViewBackward0",
        "head",
    ]
    assert "encoder.layers.0 … 11 × 12 " in whole.text
    assert re.search(r"64 operations, 12 leaves each, holds [\d.]+ kB", whole.text)
    assert "layers.0 … 2 × 3" in opened.text
    assert ">model.encoder.layers.3<" in opened.svg, "the name of the frame"
    assert "layers.4 … 11 × 8" in opened.text
    assert len(every.graph.nodes) > 900
    assert int(re.search(r"Cut here: the (\d+) nodes", every.svg)[1]) <= 400
    assert "encoder.layers.0 … 11 × 12 " in explored.text
    assert "step 2 of" in played.text
    assert "grad norm" in coloured.text
