"""09, versions: a date on every photograph, and a look at it before it is used."""

# given
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: it is at version {}; expected version {} instead."
)
ON_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
Value._version = property(lambda self: self.edits[0])
Value.add_ = lambda self, other: add_(self, as_value(other, self.data.dtype))


# yours
def save(values):
    return [(value, value._version) for value in values]


def unpack(node):
    if node.saved is None:
        raise RuntimeError(TWICE)
    for value, date in node.saved:
        if value._version != date:
            raise RuntimeError(MODIFIED.format(value._version, date))
    return [Value(value.data) for value, _ in node.saved]


def add_(value, other):
    if grad_mode and value.requires_grad and value.grad_fn is None:
        raise RuntimeError(ON_A_LEAF)
    result = value + other
    value.data.copy_(result.data)  # in place: whoever shares it sees it
    value.edits[0] += 1
    if result.requires_grad:
        value.requires_grad, value.grad_fn = True, result.grad_fn
    return value


def detach(value):
    second = Value(value.data)
    second.edits = value.edits  # one tensor, one date
    return second
