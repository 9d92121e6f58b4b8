"""Say in one plain sentence what a step does. No torch in here.

A sentence is true of its operation whatever its arguments are; where an argument would change it,
as `alpha` does, it follows from what was verified in this step. Of an operation without a rule
nothing is verified: what a hook on its node changed is not seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograd_graphs.data import Node, stem
from autograd_graphs.recording.trace import CUSTOM, LocalDerivative, Step, defined, nth
from autograd_graphs.text import visible

Locals = Sequence[LocalDerivative | None]

_LONGEST_NAME = 40
_COPIES = " What was broadcast gets the sum over its copies."
_ZERO = "Whatever arrives, this node hands on 0: PyTorch treats the result as a constant here."
_STEPS = "Between its jumps the result is constant, so PyTorch hands on 0."
_CUSTOM = "A Function written in Python: its own backward decides what it hands on."
_REFUTED = "{name} hands on something different from what its rule gives: a hook on this node may have changed it."
_RESHAPED = "A change of shape hands on the same numbers, each back in its place."
_MOVED = "Where elements only moved, each gradient goes back to the place its element came from."
_UNCHANGED = "{name} hands on what arrives, unchanged."
_SLOPE = "{name} hands on what arrives, times its slope at its input."
_READ = "What was read gets the gradient; everything else gets 0."
_READ_OFTEN = "What was read gets the gradient, added up where it was read more than once."
_WRITTEN = "What was overwritten gets 0; what was written in gets the gradient of its places."
_PIECES = "The gradients of the pieces are joined; a piece that wasn't used counts as 0."
_LIMITS = "Inside the limits the input gets the gradient; beyond them it gets 0."
_TO_LIMITS = "Inside the limits the input gets the gradient; beyond one, that limit gets it."
_OVERWRITTEN = "What was overwritten gets 0; the rest gets the gradient, unchanged."
_FILLED = "The value that was written in gets the sum of the gradients of its places"
_TRIANGLE = "What was kept gets the gradient; what was cut to 0 gets 0."
_POOLED = "Each element of a window gets an equal share of the window's gradient."
_CENTRED = "A normalisation takes out of the gradient what would only shift or scale its input."
_BATCH_NORM = (
    "A batch norm takes out of the gradient what would only shift or scale its input; "
    "with stored statistics it only scales it."
)
_SUMMED_UP = "The weight gets the gradient times the normalised input, summed; the bias its sum."

_SLOPED = (
    "Gelu Silu Mish Softplus Elu Celu LogSigmoid Hardswish Hardsigmoid Erf Erfc Erfinv Asin Acos "
    "Atan Sinh Cosh Tan Asinh Acosh Atanh Expm1 Log1P Rsqrt Log2 Log10 Exp2"
)
_SAME_NUMBERS = "View UnsafeView Reshape ReshapeAlias Squeeze Unsqueeze ViewAs"
_JUMPS = "Sign Floor Ceil Round Trunc"

SENTENCES: dict[str, str] = {
    **dict.fromkeys(_SLOPED.split(), _SLOPE),
    **dict.fromkeys(_SAME_NUMBERS.split(), _RESHAPED),
    **dict.fromkeys(["T", "Transpose", "Permute", "Flip", "Roll"], _MOVED),
    **dict.fromkeys(["Clone", "Alias"], _UNCHANGED),
    **dict.fromkeys(["Select", "Slice", "Diagonal", "MaskedSelect", "Trace"], _READ),
    **dict.fromkeys(["Index", "IndexSelect", "Gather", "Take", "Unfold", "AsStrided"], _READ_OFTEN),
    **dict.fromkeys(["Scatter", "IndexCopy"], _WRITTEN),
    **dict.fromkeys(["Split", "SplitWithSizes", "Unbind", "UnsafeSplit"], _PIECES),
    **dict.fromkeys(["Triu", "Tril"], _TRIANGLE),
    **dict.fromkeys(["AvgPool2D", "AdaptiveAvgPool2D"], _POOLED),
    **dict.fromkeys(["Cat", "Stack"], "Each piece gets its own part of the gradient back."),
    **dict.fromkeys(
        ["MaxPool2DWithIndices", "AdaptiveMaxPool2D"],
        "Each window hands its gradient to its largest element: the result is a copy of it.",
    ),
    **dict.fromkeys(
        ["Expand", "Repeat"], "What was copied gets the sum of the gradients of its copies."
    ),
    **dict.fromkeys(_JUMPS.split(), _STEPS),
    **dict.fromkeys(
        ["Max", "Amax"], "Only the largest element gets the gradient; equal ones may share it."
    ),
    **dict.fromkeys(
        ["Min", "Amin"], "Only the smallest element gets the gradient; equal ones may share it."
    ),
    **dict.fromkeys(
        ["Topk", "Sort", "Kthvalue"], "Each gradient goes back to the element that was picked."
    ),
    **dict.fromkeys(
        ["Median", "Nanmedian"],
        "Each gradient goes back to the element that was picked; equal ones may share it.",
    ),
    **dict.fromkeys(
        ["SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"],
        "The loss hands on what arrives, times its slope at each element.",
    ),
    "Threshold": "Where the value passed, the gradient passes; where it was replaced, 0 is handed on.",
    "ScatterAdd": "What was added to gets the gradient; what was added gets the gradient of its places.",
    "Neg": "A minus sign hands on what arrives, with the sign flipped.",
    "Exp": "An exponential hands on what arrives, times its own result.",
    "Log": "A logarithm hands on what arrives, divided by its input.",
    "Sqrt": "A square root hands on what arrives, divided by twice its own result.",
    "Sin": "A sine hands on what arrives, times the cosine of its input.",
    "Cos": "A cosine hands on what arrives, times minus the sine of its input.",
    "Tanh": "A tanh hands on what arrives, times 1 minus the square of its own result.",
    "Sigmoid": "A sigmoid hands on what arrives, times its own result, times 1 minus that.",
    "Reciprocal": "A reciprocal hands on what arrives, times minus the square of its own result.",
    "Relu": "Where relu passed a value it passes the gradient; where it cut to 0 it hands on 0.",
    "LeakyRelu": "Above 0 the gradient passes; elsewhere it is multiplied by the slope of leaky_relu.",
    "Maximum": "Each gradient goes to the larger of the two elements; equal ones get half each.",
    "Minimum": "Each gradient goes to the smaller of the two elements; equal ones get half each.",
    "Where": "Each gradient goes to the side its element was taken from; the other side gets 0.",
    "NativeDropout": "What was kept gets the gradient, scaled as it was; what was dropped gets 0.",
    "ToCopy": "A change of dtype or device hands on what arrives, changed back.",
    "Sum": "Adding up hands the same gradient to every element that was added.",
    "Mean": "A mean hands every element the gradient, divided by how many were averaged.",
    "Prod": "Each factor gets the gradient, times the product of all the others.",
    "Var": "Each element gets the gradient times its distance from the mean, times a shared number.",
    "Std": "Each element gets the gradient times its distance from the mean, times a shared number.",
    "Cumsum": "Each element gets the sum of what arrives from its place on: it was added to all these.",
    "Logsumexp": "Each element gets the gradient, times its softmax.",
    "Softmax": "Each score gets its gradient less their weighted mean, times its own probability.",
    "SafeSoftmax": "Each score gets its gradient less their weighted mean, times its own probability.",
    "LogSoftmax": "Each score gets its gradient, less its probability times the sum of all gradients.",
    "NllLoss": "Only the score of a target class gets a gradient: the loss read nothing else.",
    "NllLoss2D": "Only the score of a target class gets a gradient: the loss read nothing else.",
    "MseLoss": "A squared error hands on what arrives, times twice the difference, over n for a mean.",
    "Embedding": "Only rows that were looked up get a gradient, made of what arrives at their places.",
    "ConstantPadNd": "The padding is dropped; what was inside gets the gradient.",
    "ScaledDotProductFlashAttentionForCpu": "Values get the gradient weighted by the attention; "
    "queries and keys get it through the scores.",
    "UpsampleNearest2D": "What was copied gets the sum of the gradients of its copies.",
    "Hardtanh": _LIMITS,
    "LinalgVectorNorm": "A norm hands each element the gradient, times the norm's slope; "
    "where it has none, PyTorch chooses.",
}
_OF_TORCH: dict[str, str] = {
    "BackwardHookFunctionBackward": "The backward hooks of a module run at this node. Apart from that it hands on "
    "what arrives, unchanged.",
    "CheckpointFunctionBackward": "A checkpoint runs its part of the forward again, goes backward through it, and "
    "hands on what comes out.",
}


def sentence(node: Node, step: Step) -> str:
    """Say what a step does, in one or two plain sentences."""
    if step.leaf:
        return of_leaf(node, step)
    if step.formulas == CUSTOM:
        return _OF_TORCH.get(node.operation, _CUSTOM)
    name = visible(stem(node.operation), _LONGEST_NAME)
    pairs = zip(step.locals, step.grad_inputs, strict=False)
    derivatives = [local for local, gradient in pairs if gradient is not None]
    if not derivatives:
        return with_nothing(name, step)
    if any(local and local.is_refuted for local in derivatives):
        return _REFUTED.replace("{name}", name)
    if all(local and local.kind == "zero" for local in derivatives):
        return _STEPS if name in (*_JUMPS.split(), "Div") else _ZERO
    if any(made.dtype.startswith("complex") for made in node.outputs):
        return fallback(name, derivatives, step)
    said = SENTENCES.get(name, "")
    if name in _BY_LOCALS:
        said = _BY_LOCALS[name](derivatives, step)
    return said.replace("{name}", name) or fallback(name, derivatives, step)


def with_nothing(name: str, step: Step) -> str:
    if not defined(step.grad_outputs):
        return "Nothing arrives, so nothing is handed on."
    return f"What arrives goes no further: {name} hands nothing on here."


def fallback(name: str, derivatives: Locals = (None,), step: Step | None = None) -> str:
    """Say what is true of every operation, and how much is known of this step."""
    if all(local and local.is_unchanged for local in derivatives):
        return f"{name} hands on what arrives, unchanged."
    if all(local and local.sign == "×" and not local.after for local in derivatives):
        each = " each input" if len(derivatives) > 1 else " on"
        return f"{name} hands{each} what arrives, times a factor of its own."
    if all(derivatives):
        return f"{name} makes a gradient in the shape of each input from what arrives."
    words = f"{name} hands on a gradient in the shape of each input"
    if any(derivatives):
        return f"{words}."
    own = "torch's own formula" if step is None or step.formulas else "its own backward"
    return f"{words}, by {own}."


def of_leaf(node: Node, step: Step) -> str:
    """Say where a leaf keeps what arrives, and whether something was there."""
    if not defined(step.grad_outputs):
        return "Nothing arrives here, so .grad doesn't change."
    name = node.name.partition(", ")[0]
    words = f"{name} is a leaf: the gradient stays here, in {name}.grad."
    if not name:
        words = "This is a leaf: the gradient stays here, in its .grad."
    if step.leaf and step.leaf.before is not None:
        words += " It is added to what was there."
    return words


def with_copies(words: str, step: Step) -> str:
    """Add what becomes of a term that was broadcast, where there is one, or one cannot tell."""
    arrived = step.grad_outputs[:1]
    shapes = {gradient.shape for gradient in defined((*arrived, *step.grad_inputs))}
    if len(shapes) != 1 or None in shapes or None in arrived:
        return words + _COPIES
    return words


def alpha(local: LocalDerivative | None) -> str:
    """Name the number by which a second term is taken; where it is not known, say what it may be."""
    return "alpha" if local and local.sign == "×" else "alpha (alpha is 1 unless given)"


def is_scaled_by(local: LocalDerivative | None, scale: float) -> bool:
    """Say whether what arrives is multiplied by this number alone, and that was verified."""
    return local is not None and local.sign == "×" and local.scale == scale


def has(step: Step, position: int) -> bool:
    return nth(step.grad_inputs, position) is not None


def of_sum(derivatives: Locals, step: Step) -> str:
    second = nth(step.locals, 1)
    if has(step, 1) and not is_scaled_by(second, 1):
        words = f"A sum hands its second term the gradient, times {alpha(second)}."
        if has(step, 0):
            words = f"A sum hands both terms the gradient, times {alpha(second)} for the second."
        return with_copies(words, step)
    words = "A sum hands its term the gradient"
    if has(step, 0) and has(step, 1):
        words = "A sum hands the same gradient to both its terms"
    if all(local and local.is_unchanged for local in derivatives):
        return f"{words}, unchanged."
    return with_copies(f"{words}.", step)


def difference(step: Step, whole: int, taken: int) -> str:
    """Say what a difference hands on, whose inputs have these positions."""
    local = nth(step.locals, taken)
    turned = "with the sign flipped" if is_scaled_by(local, -1) else f"times -{alpha(local)}"
    if not has(step, taken):
        words = "A difference hands the gradient to the term it starts from."
    elif not has(step, whole):
        words = f"What a difference takes away gets the gradient, {turned}."
    else:
        words = f"A difference hands on the gradient, {turned} for what it takes away."
    return with_copies(words, step)


def of_product(derivatives: Locals, step: Step) -> str:
    factor = "each factor" if len(derivatives) > 1 else "a factor"
    return with_copies(f"A product hands {factor} the gradient, times the other factor.", step)


def of_clamp(derivatives: Locals, step: Step) -> str:
    """Say what a clamp hands on; limits that are tensors get what lies beyond them."""
    if not has(step, 1) and not has(step, 2):
        return _LIMITS
    if has(step, 0):
        return with_copies(_TO_LIMITS, step)
    return with_copies("A limit gets the gradient of each element that lay beyond it.", step)


def of_fill(derivatives: Locals, step: Step) -> str:
    if not has(step, 1):
        return _OVERWRITTEN
    if has(step, 0):
        return f"{_FILLED}; the rest of the gradient passes."
    return f"{_FILLED}."


def of_absolute(derivatives: Locals, step: Step) -> str:
    kind = (derivatives[0] or LocalDerivative()).kind
    if kind == "sign":
        return "An absolute value hands on what arrives, times the sign of its input."
    if kind == "direction":
        return "An absolute value hands on what arrives, times its input over that absolute value."
    return "An absolute value hands on what arrives, times the direction of its input. For a real number that is its sign."


def of_edit(derivatives: Locals, step: Step) -> str:
    """Say what an edit of a slice hands on: the first input is what it was a slice of."""
    words = "The gradient of the slice that was edited goes through the backward of the edit"
    if has(step, 0):
        return f"{words}; the rest passes unchanged."
    return f"{words}."


def of_quotient(derivatives: Locals, step: Step) -> str:
    if None in derivatives:
        return ""
    if len(derivatives) > 1:
        words = "A quotient n / d hands on the gradient: times 1 / d to n, times -n / d² to d."
    elif step.grad_inputs[0] is not None:
        words = "A quotient hands its numerator the gradient, divided by the denominator."
    else:
        words = "A quotient n / d hands d the gradient, times -n / d²."
    return with_copies(words, step)


def of_power(derivatives: Locals, step: Step) -> str:
    local = derivatives[0]
    if local is None or len(derivatives) > 1 or local.kind != "square":
        return "A power hands on what arrives, times the slope of the power there."
    words = "A square hands on what arrives, times twice its base"
    kept = dict(local.names).get("self", "")
    if "self" in step.used and kept not in ("", "self"):
        return f"{words}: that is why it kept {kept}."
    return f"{words}."


def of_matrices(derivatives: Locals, step: Step) -> str:
    if len(derivatives) > 1:
        return "A matrix product hands each matrix the gradient, times the other one transposed."
    return "A matrix product hands a matrix the gradient, times the other one transposed."


def of_vector(derivatives: Locals, step: Step) -> str:
    """Say what a matrix times a vector hands on: the first input is the matrix."""
    if len(derivatives) > 1:
        return "The vector gets the transposed matrix times the gradient; the matrix gets gradient times vector."
    if step.grad_inputs[0] is None:
        return "The vector gets the transposed matrix, times the gradient."
    return "A matrix gets, at each place, the gradient of its row, times the vector's element."


def of_dot(derivatives: Locals, step: Step) -> str:
    vector = "each vector" if len(derivatives) > 1 else "a vector"
    return f"A dot product hands {vector} the gradient, times the other vector."


def of_linear(derivatives: Locals, step: Step) -> str:
    """Say what a product of matrices plus something hands on; numbers before them may scale it."""
    if any(local is None or local.scale != 1 for local in derivatives):
        return ""
    if step.grad_inputs[0] is None:
        return of_matrices(derivatives, step)
    words = "What was added gets the gradient"
    if step.grad_outputs[0] and step.grad_inputs[0].shape != step.grad_outputs[0].shape:
        words += ", summed over its copies"
    if len(derivatives) > 1:
        words += "; a matrix gets it times the other one, transposed"
    return f"{words}."


def of_convolution(derivatives: Locals, step: Step) -> str:
    """Say what a convolution hands on to its input, weight and bias."""
    parts = [
        "its input the gradient convolved back with the weight",
        "its weight sums of input × gradient",
        "its bias sums of the gradient",
    ]
    if has(step, 0):
        parts[2] = "its bias sums"
    gets = [part for position, part in enumerate(parts) if has(step, position)]
    return f"A convolution hands {', '.join(gets)}."


def of_normalisation(derivatives: Locals, step: Step) -> str:
    """Say what becomes of the input's gradient, and of those of the weight and the bias."""
    if not has(step, 0):
        return _SUMMED_UP
    if has(step, 1) and has(step, 2):
        return f"{_CENTRED} Its weight and bias get sums."
    return _CENTRED


_BY_LOCALS: dict[str, Callable[[Locals, Step], str]] = {
    "Add": of_sum,
    "Sub": lambda derivatives, step: difference(step, 0, 1),
    "Rsub": lambda derivatives, step: difference(step, 1, 0),  # torch.rsub(b, a) is a - b
    "Clamp": of_clamp,
    "ClampMin": of_clamp,
    "ClampMax": of_clamp,
    "MaskedFill": of_fill,
    "Abs": of_absolute,
    "CopySlices": of_edit,
    "Mul": of_product,
    "Div": of_quotient,
    "Pow": of_power,
    "Mm": of_matrices,
    "Bmm": of_matrices,
    "Dot": of_dot,
    "Mv": of_vector,
    "Addmm": of_linear,
    "Baddbmm": of_linear,
    "Convolution": of_convolution,
    # A step does not hold whether a batch norm used the batch's own statistics or stored ones.
    "NativeBatchNorm": lambda derivatives, step: _BATCH_NORM if has(step, 0) else _SUMMED_UP,
    "NativeLayerNorm": of_normalisation,
    "NativeGroupNorm": of_normalisation,
}
