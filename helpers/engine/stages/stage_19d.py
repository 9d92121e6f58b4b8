"""19d, powers: a logarithm, and a power, which is what division is made of."""

# given
Value.__pow__ = lambda self, power: Pow.apply(self, power)
Value.__truediv__ = lambda self, other: self * as_value(other, self.data.dtype) ** -1.0
Value.__rtruediv__ = lambda self, other: self**-1.0 * other
Value.log = lambda self: Log.apply(self)


# yours
class Pow(Function):
    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        ctx.power = power
        return Value(x.data**power)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x ** (ctx.power - 1.0) * ctx.power, None


class Log(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Value(x.data.log())

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / x
