"""04, record: values, nodes, and what each node saves."""

# given
import torch


class Value:
    """Numbers in a plain torch tensor, and where they came from."""

    def __init__(self, data, requires_grad=False):
        self.data = torch.as_tensor(data)
        self.requires_grad = requires_grad
        self.grad = self.grad_fn = self.grad_accumulator = None
        self.edits = [0]  # lesson 09 counts here

    def __add__(self, other):
        return add(self, as_value(other, self.data.dtype))

    def __mul__(self, other):
        return mul(self, as_value(other, self.data.dtype))

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self):
        made_by = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn else ""
        return f"Value({self.data.tolist()}{made_by})"


def as_value(thing, dtype=None):
    if isinstance(thing, Value):
        return thing
    return Value(torch.as_tensor(thing, dtype=dtype))  # else 0.3 is rounded to float32


class Node:
    """What one operation leaves behind: where gradients go next, and its photographs."""

    def __init__(self, inputs=(), saved=(), shape=()):
        self.next_functions = tuple(edge(value) for value in inputs)
        self.saved, self.shape = save(saved), shape

    def name(self):
        return type(self).__name__


class AddBackward0(Node):
    pass


class MulBackward0(Node):
    pass


class AccumulateGrad(Node):
    """The end of every path: it writes into the `.grad` of one leaf."""

    def __init__(self, variable):
        super().__init__(shape=variable.data.shape)
        self.variable = variable

    def backward(self, grad):
        accumulate_grad(self.variable, grad)  # lesson 05 begins it, lesson 06 gets it right
        return ()


def save(values):
    return tuple(values)


# yours
def edge(value):
    if value.grad_fn is not None:
        return value.grad_fn, 0
    if not value.requires_grad:
        return None, 0
    if value.grad_accumulator is None:
        value.grad_accumulator = AccumulateGrad(value)
    return value.grad_accumulator, 0


def recorded(data, kind, inputs, saved=()):
    result = Value(data)
    if any(value.requires_grad for value in inputs):
        result.requires_grad = True
        result.grad_fn = kind(inputs, saved, data.shape)
    return result


def add(a, b):
    return recorded(a.data + b.data, AddBackward0, (a, b))


def mul(a, b):
    return recorded(a.data * b.data, MulBackward0, (a, b), saved=(a, b))
