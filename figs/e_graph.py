"""Draw figs/e_graph.svg, the picture in the README: e = a·b + log(d)·c, from the live graph."""

from pathlib import Path

import torch

from helpers import show


def draw() -> str:
    """Return the picture as SVG text."""
    a, b, c, d = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 5.0, 10.0))
    u = a * b
    t = torch.log(d)
    v = t * c
    e = u + v
    return show(e, alt="The backward graph of e = u + v with u = a·b, v = t·c and t = log d.").svg


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
