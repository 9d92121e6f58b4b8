"""06, accumulate: `.grad` is a tally, and nobody wipes it for you."""

# given


# yours
def accumulate_grad(leaf, grad):
    if leaf.grad is None:
        leaf.grad = Value(grad.data.clone())  # a sheet of its own: others may hold this gradient
    else:
        leaf.grad.data += grad.data


def zero_grad(*leaves, set_to_none=True):
    for leaf in leaves:
        if set_to_none:
            leaf.grad = None
        elif leaf.grad is not None:
            leaf.grad.data.zero_()
