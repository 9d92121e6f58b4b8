"""13, second derivatives: backward is recorded, and a photograph keeps its history."""

# given


# yours
def unpack(node):
    if node.saved is None:
        raise RuntimeError(TWICE)
    for value, date in node.saved:
        if value._version != date:
            raise RuntimeError(MODIFIED.format(value._version, date))
    return [value for value, _ in node.saved]  # themselves, with their history


def accumulate_grad(leaf, grad):
    if grad_mode:
        leaf.grad = grad + (0.0 if leaf.grad is None else leaf.grad)  # recorded
    elif leaf.grad is None:
        leaf.grad = Value(grad.data.clone())
    else:
        leaf.grad.add_(grad)


def backward(value, gradient=None, retain_graph=None, create_graph=False):
    if retain_graph is None:
        retain_graph = create_graph
    run = partial(evaluate, retain_graph=retain_graph)
    with set_grad_enabled(create_graph):
        run_backward(edge(value)[0], first_gradient(value, gradient), run)
