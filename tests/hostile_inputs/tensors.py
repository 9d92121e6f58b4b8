"""Every kind of tensor that torch can make on a CPU."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from hostile_inputs.case import OF_INFERENCE, collection

CASES, case = collection()


def coo(**flags):
    return torch.sparse_coo_tensor(
        [[0, 1], [2, 0]], [3.0, 4.0], (2, 3), check_invariants=True, **flags
    )


@case("AccumulateGrad (leaf thing (2, 3), .grad None)")
def sparse_coo_leaf(look):
    look(coo(requires_grad=True))


@case("MulBackward0 → thing (n/a)   ● other = 2")
def nested_jagged_graph(look):
    parts = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    look(torch.nested.as_nested_tensor(parts, layout=torch.jagged) * 2)


@case("SumBackward0 → thing meta")
def meta_graph_of_a_huge_tensor(look):
    look((torch.empty(10**9, 10**6, device="meta", requires_grad=True) * 2).sum())


@case("AccumulateGrad (leaf unnamed (2,) n/a, .grad None)")
def fake_while_its_mode_is_on(look):
    with FakeTensorMode():
        look((torch.ones(2, requires_grad=True) * 2).sum())


@case("AccumulateGrad (leaf thing = [1.0+2.0j, nan-1.0j], .grad None)")
def complex_leaf(look):
    look(torch.tensor([1 + 2j, float("nan") - 1j], requires_grad=True))


@case(OF_INFERENCE)
def inference(look):
    with torch.inference_mode():
        thing = torch.ones(2)
    look(thing)


@case("AccumulateGrad (leaf thing = [], .grad None)")
def no_element(look):
    look(torch.empty(0, requires_grad=True))


@case("AccumulateGrad (leaf thing (0,), .grad None)")
def uninitialized_parameter(look):
    look(torch.nn.UninitializedParameter())


@case("AccumulateGrad (leaf thing (2,), .grad None)", alone=True)
def a_leaf_whose_storage_was_freed(look):
    thing = torch.ones(2, requires_grad=True)
    thing.untyped_storage().resize_(0)
    look(thing)


@case("AccumulateGrad (leaf thing (7,), .grad [1.0, 1.0])")
def a_gradient_of_another_shape(look):
    thing = torch.ones(2, requires_grad=True)
    thing.grad = torch.ones(2)
    thing.data = torch.ones(7)
    look(thing)
