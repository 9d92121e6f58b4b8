"""Films of real backwards for tests of the player: small and large, sound and sick, each made once,
from a program as in a cell.
"""

from functools import cache

from source_programs import run

from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import as_json, slot_of

LONG = "the_weight_of_the_first_of_all_the_layers_that_this_model_has_ever_had"
HOSTILE = "<img src=x onerror=alert(1)></script><b>"
LEAVES = "import torch\nfrom torch import nn\n{} = (torch.tensor(value, requires_grad=True) for value in {})"
MODEL = """import torch
from torch import nn
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
x = torch.randn(2, 5, 8)"""
PROGRAMS = {
    "square": (LEAVES.format("a, b, c", (2.0, 3.0, 4.0)), "e = (a*b + c) ** 2\ntrace = record(e)"),
    "sine": (
        LEAVES.format("x, w", (1.0, 0.5)),
        "t = w * x\ny = torch.sin(t)\nloss = y * y\ntrace = record(loss)",
    ),
    "mlp": (
        "import torch\nfrom torch import nn\nmodel = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))",
        "x, goal = torch.randn(5, 3), torch.randn(5, 1)",
        "prediction = model(x)\nloss = nn.functional.mse_loss(prediction, goal)\ntrace = record(loss)",
    ),
    "layers": (MODEL, "loss = model(x).pow(2).mean()\ntrace = record(loss)"),
    # a leaf that holds a gradient already, and is used twice
    "accumulating": (
        LEAVES.format("w, x", (3.0, 2.0)),
        "(w * x).backward()",
        "y = w * x + w\ntrace = record(y)",
    ),
    "hooked": (
        LEAVES.format("a, b", (2.0, 3.0)),
        "u = a * b\nhandle = u.register_hook(lambda grad: grad * 10)",
        "loss = u.sin() * a\ntrace = record(loss)",
    ),
    "four": (
        "import torch\np, q, r, s = (torch.randn(2, 6, requires_grad=True) for _ in range(4))",
        "y = torch.cat([p, q, r, s])\nloss = (y * y).sum()\ntrace = record(loss)",
    ),
    "long": (
        LEAVES.format("a, b", ([2.0, 1.0], [3.0, 1.0])),
        f"y = a * b\nloss = y.exp().sum()\ntrace = record(loss, names={{{LONG + '_a'!r}: a, {HOSTILE + 'b' * 280!r}: b, {LONG * 4!r}: y}})",
    ),
    # 0 / 0 arises in the middle
    "sick": (
        LEAVES.format("x, w", ([0.0, 4.0], [1.0, 0.0])),
        "root = torch.sqrt(x * 0)\nloss = (root * w).sum()\ntrace = record(loss)",
    ),
}


@cache
def trace_of(name):
    return run(PROGRAMS[name])["trace"]


@cache
def film_of(name):
    return film(trace_of(name))


def slot(film):
    """Return the place of a player as a published page has it."""
    return slot_of(as_json(film), film.text)
