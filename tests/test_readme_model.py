"""What the README says about one's own model, run as it stands there."""

import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from helpers.graph import BY_PARAMETERS

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


def test_boxes_are_module_calls_and_the_loss_stands_outside(ran):
    whole, opened, every, played = (eval(call.partition("  #")[0], ran) for call in CALLS)
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
    assert "layers.4 … 11 × 8" in opened.text
    assert len(every.graph.nodes) > 900
    assert int(re.search(r"Cut here: the (\d+) nodes", every.svg)[1]) <= 400
    assert "step 2 of" in played.text


def test_without_calls_boxes_are_guessed_and_it_says_so(ran):
    assert BY_PARAMETERS in eval("show(loss)", ran).text
    assert BY_PARAMETERS not in eval("show(loss, names=calls)", ran).text


def test_looking_changes_no_value_no_gradient_and_no_random_number(ran):
    model, show, loss = ran["model"], ran["show"], ran["loss"]
    before = torch.get_rng_state(), [(p.clone(), p.grad, p._version) for p in model.parameters()]
    show(loss, names=ran["calls"])
    assert torch.get_rng_state().equal(before[0])
    for parameter, (value, grad, version) in zip(model.parameters(), before[1], strict=True):
        assert parameter.equal(value)
        assert (parameter.grad, parameter._version) == (grad, version)
