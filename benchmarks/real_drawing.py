"""The same race as `drawing`, on real models: each drawing in a process of its own."""

from __future__ import annotations

from benchmarks import drawing
from benchmarks.measure import Row
from benchmarks.real_models import are_installed

ROUNDS = 3  # a process that imports transformers takes its time
RACED = ("resnet50", "vgg11", "swin_t", "gpt2", "bert", "t5", "llama, 32 layers", "fcn_resnet50")


def rows(rounds: int) -> list[Row]:
    """Return the times of every contender at every model, and the ratios to torchviz."""
    if not are_installed():
        return [Row("real_drawing", "real models", "", words="their packages are not installed")]
    return drawing.rows(drawing.measure(min(rounds, ROUNDS), RACED))
