"""Draw figs/twelve_layers.svg, for the README: a transformer of twelve layers, folded."""

from collections import OrderedDict
from pathlib import Path

import torch
from torch import nn

from helpers import module_calls, show

WORDS, WIDE = 20, 16  # different words, numbers per word


def draw() -> str:
    """Return the picture as SVG text."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDE, nhead=2, dim_feedforward=2 * WIDE, batch_first=True)
    encoder = nn.TransformerEncoder(layer, num_layers=12, enable_nested_tensor=False)
    parts = {"embed": nn.Embedding(WORDS, WIDE), "encoder": encoder, "head": nn.Linear(WIDE, WORDS)}
    model = nn.Sequential(OrderedDict(parts))
    text = torch.arange(10).reshape(2, 5)
    with module_calls(model) as calls:
        scores = model(text)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), text.flatten())
    alt = (
        "The graph of a transformer: its twelve layers are one box, and the loss stands above the "
        "frame of the model."
    )
    return show(loss, names=calls, alt=alt).svg


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
