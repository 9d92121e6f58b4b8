"""The data of a graph, and its text: what is printed is the contract."""

import torch

from autograd_graphs.data import tree
from helpers import snapshot


def example():
    a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = t * c
    e = u + v
    return e, snapshot(e)


BEFORE = """\
AddBackward0 → e
├─ MulBackward0 → u   ● self = a   ● other = b
│  ├─ AccumulateGrad (leaf a = 2.0, .grad None)
│  └─ AccumulateGrad (leaf b = 3.0, .grad None)
└─ MulBackward0 → v   ● self = t   ● other = c
   ├─ LogBackward0 → t   ● self = d
   │  └─ AccumulateGrad (leaf d = 10.0, .grad None)
   └─ AccumulateGrad (leaf c = 5.0, .grad None)"""


def test_the_tree_is_what_a_student_reads():
    assert str(example()[1]) == BEFORE


def test_after_backward_saved_tensors_are_freed_and_gradients_are_there():
    e, _ = example()
    e.backward()
    text = str(snapshot(e))
    assert text.count("(freed)") == 5
    assert "●" not in text
    assert "AddBackward0 → e\n" in text


def test_a_shared_node_is_spelled_out_once_and_referred_to():
    x = torch.tensor(3.0, requires_grad=True)
    y = x.exp()
    z = y * y
    assert str(snapshot(z)) == (
        "MulBackward0 → z   ● self = y   ● other = y\n"
        "├─ #1 ExpBackward0 → y   ● result = y\n"
        "│  └─ AccumulateGrad (leaf x = 3.0, .grad None)\n"
        "└─ #1 ExpBackward0 → y, shown above"
    )


def test_a_deep_graph_continues_at_the_left_margin():
    x = torch.tensor(1.0, requires_grad=True)
    for _ in range(60):
        x = x.sin()
    lines = tree(snapshot(x)).splitlines()
    assert max(map(len, lines)) < 150
    assert lines.count("…") == 2
    assert (
        sum("SinBackward0" in line for line in lines) == 60 + 2
    )  # two are shown where the tree continues
    assert lines[-1].strip().startswith("└─ AccumulateGrad")
