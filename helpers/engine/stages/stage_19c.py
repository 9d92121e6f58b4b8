"""19c, curves: two functions whose slope is made of their own result."""

# given
Value.exp = lambda self: Exp.apply(self)
Value.tanh = lambda self: Tanh.apply(self)


# yours
class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = Value(x.data.exp())
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


class Tanh(Function):
    @staticmethod
    def forward(ctx, x):
        result = Value(x.data.tanh())
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * (1.0 - result * result)
