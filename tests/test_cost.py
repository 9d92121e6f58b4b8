"""What a computation costs: calls that compute something, multiplications, bytes."""

import pytest
import torch
from torch import nn
from torch.func import grad, vmap

from helpers.cost import both_ways, cost, costs, growth, rows_or_columns


def test_views_are_no_calls_and_a_product_counts_its_multiplications():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    assert cost(lambda: a @ b).calls == 1
    assert cost(lambda: a @ b).products == 2 * 3 * 4
    assert cost(lambda: a.T.reshape(6)[:2].detach()).products == 0
    assert cost(lambda: a.T[:2].detach()).calls == 0
    assert cost(lambda: (a * 2).sin()).calls == 2


def test_the_bytes_are_those_in_use_at_a_time_and_the_result_counts():
    x = torch.ones(1000)
    assert cost(lambda: x.sin()).most_bytes == 4_000
    assert cost(lambda: x.sin().cos()).most_bytes == 8_000
    assert cost(lambda: x).most_bytes == 0


@pytest.mark.parametrize(("size", "back_is_cheaper"), [((20, 1), True), ((1, 20), False)])
def test_the_cheaper_way_has_fewer_walks_and_both_ways_agree(size, back_is_cheaper):
    by_rows, by_columns = both_ways(*size)
    assert torch.allclose(by_rows(), by_columns(), atol=1e-5)
    assert (cost(by_rows).products < cost(by_columns).products) == back_is_cheaper


def test_vmap_saves_calls_and_no_multiplication():
    layer = nn.Linear(5, 5).requires_grad_(False)
    x = torch.ones(10, 5)
    each = grad(lambda t: layer(t).square().sum())
    loop, batch = cost(lambda: [each(t) for t in x]), cost(lambda: vmap(each)(x))
    assert loop.products == batch.products
    assert loop.calls > 5 * batch.calls


def test_a_table_lines_up_what_was_counted():
    lines = repr(costs(one_sine=lambda: torch.ones(1000).sin())).split("\n")
    assert lines[0].split() == ["calls", "multiplications", "most", "bytes"]
    assert lines[1].split() == ["one", "sine", "2", "0", "8.0", "kB"]
    assert len(repr(rows_or_columns()).split("\n")) == 4


def test_a_walk_back_needs_room_for_each_sine():
    assert growth(grad, 10, 20) == [1.0, 2.0]
    assert growth(lambda f: f, 10, 20) == [1.0, 1.0]
