"""08, no_grad and detach: a switch that every operation looks at, and a second name tag on the same number."""

# given
from contextlib import contextmanager

grad_mode = True  # the switch


def no_grad():
    return set_grad_enabled(False)


def enable_grad():
    return set_grad_enabled(True)


Value.detach = lambda self: detach(self)


# yours
@contextmanager
def set_grad_enabled(mode):
    global grad_mode
    before, grad_mode = grad_mode, mode
    try:
        yield
    finally:
        grad_mode = before


def recorded(data, kind, inputs, saved=()):
    result = Value(data)
    if grad_mode and any(value.requires_grad for value in inputs):
        result.requires_grad = True
        result.grad_fn = kind(inputs, saved, data.shape)
    return result


def detach(value):
    return Value(value.data)
