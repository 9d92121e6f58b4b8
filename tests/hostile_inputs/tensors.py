"""Every kind of tensor that torch can make on a CPU."""

from __future__ import annotations

import warnings

import numpy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from hostile_inputs.case import NO_GRAPH, OF_INFERENCE, collection, no_graph_of

CASES, case = collection()


def wanting(tensor):
    return tensor.requires_grad_()


def coo(**flags):
    return torch.sparse_coo_tensor(
        [[0, 1], [2, 0]], [3.0, 4.0], (2, 3), check_invariants=True, **flags
    )


@case(NO_GRAPH)
def sparse_coo(look):
    look(coo())


@case("AccumulateGrad (leaf thing (2, 3), .grad None)")
def sparse_coo_leaf(look):
    look(coo(requires_grad=True))


@case("AccumulateGrad (leaf thing (2,), .grad None)")
def sparse_coo_not_coalesced(look):
    look(wanting(torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,), check_invariants=True)))


@case("ToDenseBackward0 → thing (2, 3)   ● self (2, 3)")
def sparse_coo_made_dense(look):
    look(coo(requires_grad=True).to_dense())


@case("AccumulateGrad (leaf thing (4, 3), .grad None)")
def sparse_hybrid(look):
    look(
        wanting(torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3), (4, 3), check_invariants=True))
    )


@case("SparseAddmmBackward0 → thing (2, 2)   ● mat1 (2, 3)   ● mat2 (3, 2)")
def sparse_product(look):
    look(torch.sparse.mm(coo(requires_grad=True), torch.ones(3, 2, requires_grad=True)))


@case("AccumulateGrad (leaf thing (4, 4), .grad None)")
def sparse_csr(look):
    look(wanting(torch.eye(4).to_sparse_csr()))


@case("AccumulateGrad (leaf thing (4, 4), .grad None)")
def sparse_csc(look):
    look(wanting(torch.eye(4).to_sparse_csc()))


@case("AccumulateGrad (leaf thing (4, 4), .grad None)")
def sparse_bsr(look):
    look(wanting(torch.eye(4).to_sparse_bsr((2, 2))))


@case("AccumulateGrad (leaf thing (4, 4), .grad None)")
def sparse_bsc(look):
    look(wanting(torch.eye(4).to_sparse_bsc((2, 2))))


@case("AccumulateGrad (leaf thing (5, 2), .grad (5, 2))")
def a_sparse_gradient(look):
    table = torch.nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1, 3])).sum().backward()
    look(table.weight)


@case("AccumulateGrad (leaf thing (n/a), .grad None)")
def nested_strided(look):
    look(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True))


@case("ToPaddedTensorBackward0 → thing (2, 3)   ● self (n/a)")
def nested_strided_graph(look):
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
    look(torch.nested.to_padded_tensor(nested * 2, 0.0))


@case("AccumulateGrad (leaf thing (n/a), .grad None)")
def nested_jagged(look):
    look(
        torch.nested.nested_tensor(
            [torch.ones(2), torch.ones(3)], layout=torch.jagged, requires_grad=True
        )
    )


@case("MulBackward0 → thing (n/a)   ● other = 2")
def nested_jagged_graph(look):
    parts = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    look(torch.nested.as_nested_tensor(parts, layout=torch.jagged) * 2)


@case(no_graph_of("qint8"))
def quantized_per_tensor(look):
    look(torch.quantize_per_tensor(torch.ones(2), 0.5, 1, torch.qint8))


@case(no_graph_of("quint8"))
def quantized_per_channel(look):
    look(
        torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.quint8)
    )


@case("FakeQuantizePerTensorAffineCachemaskBackward0 → thing (2,)   ● mask (2,) bool")
def fake_quantized(look):
    look(torch.fake_quantize_per_tensor_affine(torch.ones(2, requires_grad=True), 0.5, 1, 0, 255))


@case("AccumulateGrad (leaf thing (2,) meta, .grad None)")
def meta(look):
    look(torch.ones(2, device="meta", requires_grad=True))


@case("SumBackward0 → thing meta")
def meta_graph_of_a_huge_tensor(look):
    look((torch.empty(10**9, 10**6, device="meta", requires_grad=True) * 2).sum())


@case("AccumulateGrad (leaf thing (2,) n/a, .grad None)")
def fake(look):
    with FakeTensorMode():
        thing = torch.ones(2, requires_grad=True)
    look(thing)


@case("AccumulateGrad (leaf unnamed (2,) n/a, .grad None)")
def fake_while_its_mode_is_on(look):
    with FakeTensorMode():
        look((torch.ones(2, requires_grad=True) * 2).sum())


@case("MulBackward0 → thing (n/a)   ● other = 2")
def fake_with_symbolic_sizes(look):
    shapes = ShapeEnv()
    with FakeTensorMode(shape_env=shapes):
        look(torch.empty(shapes.create_unbacked_symint(), 4, requires_grad=True) * 2)
    assert shapes.guards == [], "a look fixed a size that was free"


@case("AccumulateGrad (leaf thing (2,), .grad None)")
def masked(look):
    look(torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False]), requires_grad=True))


@case("ConstructorBackward → thing")
def masked_graph(look):
    look(
        torch.masked.masked_tensor(
            torch.ones(2), torch.tensor([True, False]), requires_grad=True
        ).sum()
    )


@case("AccumulateGrad (leaf thing = [1.0+2.0j, nan-1.0j], .grad None)")
def complex_leaf(look):
    look(torch.tensor([1 + 2j, float("nan") - 1j], requires_grad=True))


@case("AccumulateGrad (leaf thing = [0.0+0.0j, 0.0+0.0j], .grad None)")
def complex_half(look):
    look(torch.zeros(2, dtype=torch.complex32).requires_grad_())


@case("ConjBackward0 → thing (1,) complex64")
def conjugate_view(look):
    look(torch.tensor([1 + 2j], requires_grad=True).conj())


@case("SelectBackward0 → thing (1,)")
def negative_view(look):
    look(torch.tensor([1 + 2j], requires_grad=True).conj().imag)


@case("AccumulateGrad (leaf thing = [1.0-2.0j], .grad None)")
def conjugate_leaf(look):
    look(torch.tensor([1 + 2j]).conj().requires_grad_())


@case("AccumulateGrad (leaf thing = [0.1001], .grad None)")
def bfloat16(look):
    look(torch.tensor([0.1], dtype=torch.bfloat16, requires_grad=True))


@case("AccumulateGrad (leaf thing = [1.0, 1.0], .grad None)")
def float8_e4m3fn(look):
    look(torch.ones(2).to(torch.float8_e4m3fn).requires_grad_())


@case("ToCopyBackward0 → thing (2,) float8_e5m2")
def float8_e5m2(look):
    look(torch.ones(2, requires_grad=True).to(torch.float8_e5m2))


@case("AccumulateGrad (leaf thing = [1.0, 1.0], .grad None)")
def float8_e8m0fnu(look):
    look(torch.ones(2).to(torch.float8_e8m0fnu).requires_grad_())


@case(NO_GRAPH)
def float4_packed(look):
    look(torch.zeros(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2))


@case(no_graph_of("bits8"))
def bits8(look):
    look(torch.zeros(2, dtype=torch.uint8).view(torch.bits8))


@case(no_graph_of("uint64"))
def uint64(look):
    look(torch.tensor([2**64 - 1], dtype=torch.uint64))


@case(no_graph_of("bool"))
def boolean(look):
    look(torch.tensor([True]))


@case(OF_INFERENCE)
def inference(look):
    with torch.inference_mode():
        thing = torch.ones(2)
    look(thing)


@case(OF_INFERENCE)
def a_view_of_an_inference_tensor(look):
    with torch.inference_mode():
        thing = torch.ones(2)
    look(thing.view(2))


@case("AccumulateGrad (leaf thing = -inf, .grad None)")
def no_dimension(look):
    look(torch.tensor(float("-inf"), requires_grad=True))


@case("AccumulateGrad (leaf thing = [], .grad None)")
def no_element(look):
    look(torch.empty(0, requires_grad=True))


@case("AccumulateGrad (leaf thing = [], .grad None)")
def no_element_and_a_huge_size(look):
    look(torch.empty(0, 2**62, requires_grad=True))


@case("AccumulateGrad (leaf thing (n/a), .grad None)")
def sixty_four_dimensions(look):
    look(torch.ones([1] * 64, requires_grad=True))


@case("AccumulateGrad (leaf thing (n/a), .grad None)")
def a_thousand_dimensions(look):
    look(torch.ones([1] * 1000, requires_grad=True))


@case("ExpandBackward0 → thing (1000000000,)")
def expanded_to_a_billion(look):
    look(torch.ones(1, requires_grad=True).expand(10**9))


@case("AccumulateGrad (leaf thing (1000000000,), .grad None)")
def a_leaf_of_a_billion_in_one_place(look):
    look(torch.ones(1).expand(10**9).requires_grad_())


@case("AddBackward0 → thing")
def a_saved_tensor_of_a_billion_in_one_place(look):
    huge = torch.ones(1, requires_grad=True).expand(10**9)
    look(torch.dot(huge[:1], huge[:1]) + huge.unsqueeze(0).narrow(1, 0, 3).exp().sum())


@case("AsStridedBackward0 → thing (3, 3)")
def overlapping_strides(look):
    look(torch.ones(2, requires_grad=True).as_strided((3, 3), (0, 0)))


@case("AccumulateGrad (leaf thing (0,), .grad None)")
def uninitialized_parameter(look):
    look(torch.nn.UninitializedParameter())


@case(NO_GRAPH)
def uninitialized_buffer(look):
    look(torch.nn.UninitializedBuffer())


@case("AccumulateGrad (leaf module.weight (0,), .grad None)")
def the_parameter_of_a_lazy_module(look):
    module = torch.nn.LazyLinear(2)
    look(module.weight, space={"module": module})


@case(NO_GRAPH)
def a_buffer(look):
    look(torch.nn.Buffer(torch.ones(2)))


@case("AccumulateGrad (leaf thing (2,), .grad None)")
def mkldnn(look):
    look(torch.ones(2).to_mkldnn().requires_grad_())


@case("ToDenseBackward0 → thing (2,)   ● self (2,)")
def mkldnn_graph(look):
    look(torch.ones(2, requires_grad=True).to_mkldnn().to_dense())


@case("AccumulateGrad (leaf thing (2,), .grad None)")
def efficient_zeros(look):
    look(torch._efficientzerotensor(2).requires_grad_())


@case(NO_GRAPH)
def functional(look):
    look(torch._to_functional_tensor(torch.ones(2).requires_grad_()))


@case("AccumulateGrad (leaf thing (2,), .grad None)", alone=True)
def a_leaf_whose_storage_was_freed(look):
    thing = torch.ones(2, requires_grad=True)
    thing.untyped_storage().resize_(0)
    look(thing)


@case("AccumulateGrad (leaf thing (4,), .grad None)", alone=True)
def a_leaf_whose_storage_was_cut_short(look):
    thing = torch.ones(4, requires_grad=True)
    thing.untyped_storage().resize_(4)
    look(thing)


@case("MulBackward0 (2,)   ● other", alone=True)
def a_saved_tensor_whose_storage_was_freed(look):
    scale = torch.tensor(3.0)
    thing = torch.ones(2, requires_grad=True) * scale
    scale.untyped_storage().resize_(0)
    look(thing, space={})


@case("AccumulateGrad (leaf thing = [1.0, 1.0], .grad (2,))", alone=True)
def a_gradient_whose_storage_was_freed(look):
    thing = torch.ones(2, requires_grad=True)
    thing.sum().backward()
    thing.grad.untyped_storage().resize_(0)
    look(thing)


@case("AccumulateGrad (leaf thing = [0.0, 0.0, 0.0], .grad None)")
def a_leaf_set_to_another_storage(look):
    thing = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        thing.set_(torch.zeros(3).untyped_storage(), 0, (3,))
    look(thing)


@case("MulBackward0 → thing (2,)   ● other = 2")
def a_leaf_whose_data_changed_type_and_shape(look):
    thing = torch.ones(2, requires_grad=True)
    result = thing * 2
    thing.data = torch.ones(3, 3, dtype=torch.float64)
    look(result)


@case("AccumulateGrad (leaf thing = [1.0, 1.0], .grad None)")
def memory_of_numpy_that_is_read_only(look):
    array = numpy.ones(2, dtype=numpy.float32)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        look(torch.from_numpy(array).requires_grad_())


@case("AccumulateGrad (leaf thing = [1.0, 1.0], .grad None)")
def shared_memory(look):
    look(torch.ones(2).share_memory_().requires_grad_())


@case("MulBackward0 → thing (2,)   ● self (2,)")
def a_gradient_with_a_graph_of_its_own(look):
    thing = torch.ones(2, requires_grad=True)
    (gradient,) = torch.autograd.grad((thing**3).sum(), thing, create_graph=True)
    look(gradient)


@case("AccumulateGrad (leaf thing (7,), .grad [1.0, 1.0])")
def a_gradient_of_another_shape(look):
    thing = torch.ones(2, requires_grad=True)
    thing.grad = torch.ones(2)
    thing.data = torch.ones(7)
    look(thing)
