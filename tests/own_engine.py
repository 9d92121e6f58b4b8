"""What students will have added after lesson 09 to the engine of lesson 05. A test runs it as a stage of
its own, on top of those that lessons have.
"""

from contextlib import contextmanager
from functools import partial


def save(values):
    return [(value, value._version) for value in values]


def recorded(data, kind, inputs, saved=()):
    result = Value(data)
    if grad_mode and any(value.requires_grad for value in inputs):
        result.requires_grad = True
        result.grad_fn = kind(inputs, saved, data.shape)
    return result


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


def backward(value, gradient=None, retain_graph=False):
    run = partial(evaluate, retain_graph=retain_graph)
    run_backward(edge(value)[0], first_gradient(value, gradient), run)


TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: it is at version {}; expected version {} instead."
)
ON_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
grad_mode = True


@contextmanager
def no_grad():
    global grad_mode
    before, grad_mode = grad_mode, False
    try:
        yield
    finally:
        grad_mode = before


def detach(value):
    copy = Value(value.data)
    copy.edits = value.edits  # one tensor, one date
    return copy


def add_(value, other):
    if grad_mode and value.requires_grad and value.grad_fn is None:
        raise RuntimeError(ON_A_LEAF)
    result = value + other
    value.data.copy_(result.data)  # in place: whoever shares it sees it
    value.edits[0] += 1
    if result.requires_grad:
        value.requires_grad, value.grad_fn = True, result.grad_fn
    return value


Value._version = property(lambda self: self.edits[0])
Value.add_, Value.detach = add_, detach
