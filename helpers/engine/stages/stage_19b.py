"""19b, matrices: a product of matrices goes back through two others."""

# given
Value.__matmul__ = lambda self, other: Matmul.apply(self, other)
Value.T = property(lambda self: Transpose.apply(self))


# yours
class Matmul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return Value(a.data @ b.data)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad @ b.T, a.T @ grad


class Transpose(Function):
    @staticmethod
    def forward(ctx, x):
        return Value(x.data.T)

    @staticmethod
    def backward(ctx, grad):
        return grad.T
