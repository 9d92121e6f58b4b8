"""07, free: the photographs go as soon as a node has used them."""

# given
from functools import partial

TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)


# yours
def unpack(node):
    if node.saved is None:
        raise RuntimeError(TWICE)
    return [Value(value.data) for value in node.saved]


def evaluate(node, grad, retain_graph=False):
    grads = node.backward(grad)
    if node.saved and not retain_graph:
        node.saved = None
    return grads


def backward(value, gradient=None, retain_graph=False):
    run = partial(evaluate, retain_graph=retain_graph)
    run_backward(edge(value)[0], first_gradient(value, gradient), run)
