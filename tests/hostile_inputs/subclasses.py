"""Tensors of the user's own classes, things that claim to be tensors, and things that are none."""

from __future__ import annotations

import torch

from hostile_inputs.case import collection, ran, refused

CASES, case = collection()
DUNDERS = """
repr str format bool len iter getitem eq ne lt hash contains call float int index add radd mul array reduce_ex
instancecheck subclasscheck dir sizeof getattr del_ deepcopy bytes
"""
TRAPS = {f"__{name}__": ran(f"__{name}__") for name in DUNDERS.split()}


PROPERTIES = {
    name: property(ran(name))
    for name in (
        "shape",
        "dtype",
        "grad",
        "grad_fn",
        "requires_grad",
        "is_leaf",
        "_version",
        "data",
    )
}


def of_class(cls, value=2.0):
    """Return a leaf of a class, made without running any of its code."""
    leaf = torch.Tensor._make_subclass(cls, torch.tensor([value]), True)
    with torch._C.DisableTorchFunction():
        return leaf, torch.Tensor.mul(leaf, 2)


def subclass(called="Hostile", meta=None, **body):
    meta = meta or type(torch.Tensor)
    return meta.__new__(meta, called, (torch.Tensor,), body)


@case("MulBackward0 → thing (1,)   ● other = 2")
def torch_function_that_raises(look):
    look(of_class(subclass(__torch_function__=classmethod(ran("__torch_function__"))))[1])


@case("MulBackward0 → result (1,)   ● other = 2")
def every_method_and_property_raises(look):
    leaf, result = of_class(subclass(**TRAPS, **PROPERTIES))
    look(result, leaf, space={"result": result, "leaf": leaf})


class Wrapper(torch.Tensor):
    """Be a tensor without memory, whose every operation is the user's code."""

    @staticmethod
    def __new__(cls, **how):
        return torch.Tensor._make_wrapper_subclass(
            cls, (2, 3), dtype=torch.float32, requires_grad=True, **how
        )

    __torch_dispatch__ = classmethod(ran("__torch_dispatch__"))


@case("AccumulateGrad (leaf thing (2, 3), .grad None)")
def torch_dispatch_that_raises(look):
    look(Wrapper())


class Doubling(torch.Tensor):
    """Wrap a tensor, and run each operation on it for real."""

    @staticmethod
    def __new__(cls, inner):
        flags = {"dtype": inner.dtype, "requires_grad": inner.requires_grad}
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, **flags)
        made.inner = inner.detach()
        return made

    silent = True

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.silent or ran("__torch_dispatch__")()
        plain = [one.inner if type(one) is cls else one for one in args]
        return cls(func(*plain, **(kwargs or {})))


@case("ExpBackward0 → thing (2,)   ● result = thing")
def a_saved_tensor_of_a_class_with_torch_dispatch(look):
    thing = Doubling(torch.ones(2, requires_grad=True)).exp()
    Doubling.silent = False
    try:
        look(thing)
    finally:
        Doubling.silent = True


@case(refused("Claim"))
def a_class_that_claims_to_be_a_tensor(look):
    look(type("Claim", (), {"__class__": property(lambda self: ran("__class__")())})())


@case(refused("Hostile"))
def an_object_whose_every_method_raises(look):
    look(type("Hostile", (), dict(TRAPS) | {"__getattribute__": ran("__getattribute__")})())


@case("TypeError: Nothing was given. Pass the tensor whose graph you want, for example the loss.")
def nothing(look):
    look()


@case(refused("generator"))
def an_endless_generator(look):
    look(torch.ones(1) for _ in iter(int, 1))
