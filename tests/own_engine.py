"""The engine that students have built after lesson 09; a test changes it in a module of its own."""

from collections import Counter
from contextlib import contextmanager
from functools import partial

import torch


class Value:
    """Numbers in a torch tensor, and where they came from. The tensor itself never requires grad."""

    def __init__(self, data, requires_grad=False):
        self.data = torch.as_tensor(data)
        self.requires_grad = requires_grad
        self.grad = self.grad_fn = self.grad_accumulator = None
        self.edits = [0]

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
    return Value(torch.as_tensor(thing, dtype=dtype))  # a bare 0.3 would be rounded to float32


class Node:
    """What one operation leaves behind: where gradients go next, and its photographs."""

    def __init__(self, inputs=(), saved=(), shape=()):
        self.next_functions = tuple(edge(value) for value in inputs)
        self.saved, self.shape = save(saved), shape

    def name(self):
        return type(self).__name__


class AddBackward0(Node):
    def backward(self, grad):
        return grad, grad


class MulBackward0(Node):
    def backward(self, grad):
        a, b = unpack(self)
        return grad * b, grad * a


class AccumulateGrad(Node):
    """The end of every path: it writes into the `.grad` of one leaf."""

    def __init__(self, variable):
        super().__init__(shape=variable.data.shape)
        self.variable = variable

    def backward(self, grad):
        accumulate_grad(self.variable, grad)
        return ()


def save(values):
    return [(value, value._version) for value in values]


def edge(value):
    if value.grad_fn is not None:
        return value.grad_fn, 0
    if not value.requires_grad:
        return None, 0
    if value.grad_accumulator is None:
        value.grad_accumulator = AccumulateGrad(value)
    return value.grad_accumulator, 0


def record(data, kind, inputs, saved=()):
    result = Value(data)
    if grad_mode and any(value.requires_grad for value in inputs):
        result.requires_grad = True
        result.grad_fn = kind(inputs, saved, data.shape)
    return result


def add(a, b):
    return record(a.data + b.data, AddBackward0, (a, b))


def mul(a, b):
    return record(a.data * b.data, MulBackward0, (a, b), saved=(a, b))


def unpack(node):
    if node.saved is None:
        raise RuntimeError(TWICE)
    for value, version in node.saved:
        if value._version != version:
            raise RuntimeError(MODIFIED.format(value._version, version))
    return [Value(value.data) for value, _ in node.saved]


def evaluate(node, grad, retain_graph=False):
    grads = node.backward(grad)
    if node.saved and not retain_graph:
        node.saved = None
    return grads


def accumulate_grad(leaf, grad):
    if leaf.grad is None:
        leaf.grad = Value(grad.data.clone())  # a sheet of its own: others may hold this gradient
    else:
        leaf.grad.data += grad.data


def first_gradient(value, gradient):
    """Return what backward starts with: a 1 by itself, where the value is a single number."""
    if not value.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None and value.data.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if gradient is None:
        return Value(torch.ones_like(value.data))
    return as_value(gradient, value.data.dtype)


def backward(value, gradient=None, retain_graph=False):
    run = partial(evaluate, retain_graph=retain_graph)
    run_backward(edge(value)[0], first_gradient(value, gradient), run)


Value.backward = lambda self, *args, **kwargs: backward(self, *args, **kwargs)


def parents(node):
    return [child for child, _ in node.next_functions if child is not None]


def run_backward(root, grad, evaluate):
    reached = [root]
    for node in reached:  # the list grows while we walk
        reached += [child for child in dict.fromkeys(parents(node)) if child not in reached]
    waiting = Counter(child for node in reached for child in parents(node))
    arrived, ready = {root: grad}, [root]
    while ready:
        node = ready.pop()
        for (child, _), grad in zip(
            node.next_functions, evaluate(node, arrived.pop(node)), strict=True
        ):
            if child is not None:
                arrived[child] = arrived[child] + grad if child in arrived else grad
                waiting[child] -= 1
                ready += [child] * (waiting[child] == 0)


def zero_grad(*leaves, set_to_none=True):
    for leaf in leaves:
        if set_to_none:
            leaf.grad = None
        elif leaf.grad is not None:
            leaf.grad.data.zero_()


TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)

grad_mode = True


def no_grad():
    return set_grad_enabled(False)


def enable_grad():
    return set_grad_enabled(True)


@contextmanager
def set_grad_enabled(mode):
    global grad_mode
    before, grad_mode = grad_mode, mode
    try:
        yield
    finally:
        grad_mode = before


def detach(value):
    copy = Value(value.data)
    copy.edits = value.edits  # one tensor, one date
    return copy


Value.detach = detach


MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: it is at version {}; expected version {} instead."
)

ON_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
Value._version = property(lambda self: self.edits[0])


def add_(value, other):
    if grad_mode and value.requires_grad and value.grad_fn is None:
        raise RuntimeError(ON_A_LEAF)
    result = value + other
    value.data.copy_(result.data)  # in place: whoever shares it sees it
    value.edits[0] += 1
    if result.requires_grad:
        value.requires_grad, value.grad_fn = True, result.grad_fn
    return value


Value.add_, Value.detach = add_, detach
