"""12, a Function of a stranger: its `ctx` is the node."""

# given
COUNT = "function {} returned an incorrect number of gradients (expected {}, got {})"


def validate_outputs(node, grads):
    wanted = node.next_functions
    if len(grads) != len(wanted):
        raise RuntimeError(COUNT.format(node.name(), len(wanted), len(grads)))
    pairs = zip(wanted, grads)
    return [
        Value(torch.zeros(to.shape)) if to and grad is None else grad for (to, _), grad in pairs
    ]


# yours
class Function(Node):
    def name(self):
        return f"{type(self).__name__}Backward"

    def save_for_backward(self, *values):
        self.saved = save(values)

    @property
    def saved_tensors(self):
        return tuple(unpack(self))

    @classmethod
    def apply(cls, *inputs):
        ctx = cls([as_value(thing) for thing in inputs])
        with no_grad():
            result = cls.forward(ctx, *inputs)
        if any(result is thing for thing in inputs):
            result = detach(result)
        if grad_mode and any(child is not None for child, _ in ctx.next_functions):
            result.requires_grad, result.grad_fn, ctx.shape = True, ctx, result.data.shape
        return result


def evaluate(node, grad, retain_graph=False):
    grads = type(node).backward(node, grad)  # this way a static method gets its ctx
    if node.saved and not retain_graph:
        node.saved = None
    return validate_outputs(node, grads if isinstance(grads, tuple) else (grads,))
