"""17, forward mode: a tangent beside each value, which every operation takes along."""

# given
from copy import copy

Value.tangent = None  # most values have none


def beside(value, tangent):
    """Return a second name tag on a value, with its number and its history, and this tangent beside it."""
    edge(value)  # a leaf makes its AccumulateGrad, and both will share it
    second = copy(value)
    second.tangent = tangent
    return second


# yours
def make_dual(value, tangent):
    return beside(value, as_value(tangent, value.data.dtype))


def unpack_dual(value):
    return beside(value, None), value.tangent


def push(result, tangent):
    if result.tangent is not None:
        tangent = result.tangent + tangent
    result.tangent = tangent


def add(a, b):
    result = recorded(a.data + b.data, AddBackward0, (a, b))
    for one in (a, b):
        if one.tangent is not None:
            push(result, one.tangent)
    return result


def mul(a, b):
    result = recorded(a.data * b.data, MulBackward0, (a, b), saved=(a, b))
    for one, other in ((a, b), (b, a)):
        if one.tangent is not None:
            push(result, one.tangent * beside(other, None))  # a slope times the plain number
    return result
