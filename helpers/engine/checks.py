"""Say on which programs each stage is tried: fixed ones, the smallest that show a mistake, and random
ones. What is right is what PyTorch does.
"""

from collections.abc import Callable
from random import Random

from helpers.engine.cells import Cell
from helpers.engine.programs import (
    OPERATIONS,
    alike,
    drawn,
    in_orders,
    of_tensors,
    on_torch,
    several_calls,
    with_cuts,
    with_duals,
    with_edits,
    with_flags,
    with_functions,
    with_hooks,
)

SEED, MANY = 4, 40  # of the random programs that the lesson tries
X, Y, W = (
    f"{name} = Value({data}, requires_grad=True)"
    for name, data in [("x", "3.0"), ("y", "5.0"), ("w", "2.0")]
)

GRAPH = ("z.data", "z.requires_grad", "the graph", "the shape in the node", "the photographs")
GRADIENTS = (
    "gradients",
    "the most times that a node ran",
    "nodes that never ran",
    "gradients that require grad",
)
TALLIES = ("gradients", "what `g` holds")
EDITED = ("gradients, or the error", "versions")
FREED = ("gradients, or the error", "photographs are left in z")
CALLED = (
    "gradients, or the error",
    "the node of `z`",
    "the shape in the node",
    "what `seen` holds",
)
RECORDED = ("gradients, or the error", "what `g` holds", "gradients that require grad")
HOOKED = ("gradients, or the error", "what `saw` holds")
DUAL = (
    "the tangent of `z`",
    "what `t` holds",
    "gradients, or the error",
    "tangents of the gradients",
    "the tangent of `z` has none of its own",
)
SWITCHED = ("z requires grad", "z has a node", "gradients, or the error", "what `seen` holds")

RECORD = (
    f"{X}\n{Y}\nz = x + y",
    f"{X}\n{Y}\nz = x * y",
    f"{X}\nz = x * x",
    f"{X}\ny = Value(5.0)\nz = y * x",
    "x = Value(3.0)\ny = Value(5.0)\nz = x * y",
    "x = Value([3.0, 1.0], requires_grad=True)\nz = x + x",
    f"{X}\nz = 2 * x + 1",
    f"{X}\nh = x * x\nz = h * h + h",
    f"{X}\ny = Value([3.0, 1.0])\nz = x * y",
)
BACKWARD = (
    f"{X}\n{Y}\nz = x + y\nz.backward()",
    f"{X}\n{Y}\nz = x * y\nz.backward()",
    f"{X}\n{Y}\n{W}\nz = x * y * w\nz.backward()",
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\ny = Value(5.0)\nz = x * y + 1\nz.backward()",
    f"{X}\nh = x * x\nz = h * h + h\nz.backward()",
    f"{X}\nh = x * x\nz = h + h * h\nz.backward()",
    "x = Value(1.0, requires_grad=True)\nz = x\nfor _ in range(40):\n    z = z + z\nz.backward()",
    "x = Value([3.0, 1.0], requires_grad=True)\nz = x * x\nz.backward(Value([1.0, 10.0]))",
    f"{X}\nh = x + x\nz = h + h\nz.backward()\nx.grad = None\nz.backward()",  # nothing is saved
)
ONCE = "z = 2 * x\nz.backward()"
ACCUMULATE = (
    f"{X}\n{Y}\nz = x + y\nz.backward()\nz = x + y\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz = x * x\nz.backward()",
    f"{X}\n{ONCE}\ng = x.grad\n{ONCE}",
    f"{X}\n{ONCE}\nzero_grad(x)",
    f"{X}\n{ONCE}\ng = x.grad\nzero_grad(x, set_to_none=False)",
    f"{X}\n{Y}\n{ONCE}\nzero_grad(x, y, set_to_none=False)",
    f"{X}\n{ONCE}\ng = x.grad\nzero_grad(x)\n{ONCE}",
    f"{X}\n{ONCE}\ng = x.grad\nzero_grad(x, set_to_none=False)\n{ONCE}",
    f"{X}\n{Y}\nz = x + y\nz.backward()\nzero_grad(x, y)",
)
FLAG = "retain_graph=True"
FREE = (
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz.backward()",
    f"{X}\n{Y}\nz = x + y\nz.backward()\nz.backward()",
    f"{X}\nz = x * x\nz.backward({FLAG})",
    f"{X}\nz = x * x\nz.backward({FLAG})\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz.backward({FLAG})",
    f"{X}\nz = x * x\nz.backward({FLAG})\nz.backward()\nz.backward()",
    f"{X}\nh = x * x\nz = h + x\nz.backward()\nz.backward()",
    f"{X}\nh = x * x\nz = h + h\nk = 2 * h\nk.backward({FLAG})\nz.backward()",
    f"{X}\nh = x * x\nz = h + h\nk = 2 * h\nk.backward()\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz = x * x\nz.backward()",
)
OFF, ON = "with no_grad():\n    ", "with enable_grad():\n        "
SWITCH = (
    f"{X}\n{OFF}z = x * x",
    f"{X}\n{OFF}h = x * x\nz = h * x\nz.backward()",
    f"{OFF}{X}\nz = x * x\nz.backward()",
    f"{X}\n{OFF}{ON}z = x * x\nz.backward()",
    f"{X}\n{OFF}with no_grad():\n        h = x * x\n    z = x * h",
    f"{X}\n{OFF}{ON}h = x * x\n    z = x * h",
    f"{X}\nwith set_grad_enabled(True):\n    z = x * x\nz.backward()",
    f"{X}\ntry:\n    {OFF}    1 / 0\nexcept ZeroDivisionError:\n    z = x * x\nz.backward()",
    f"{X}\nz = x * x.detach()\nz.backward()",
    f"{X}\nd = x.detach()\nz = x * x\nz.backward()",
    f"{X}\nh = x * x\nd = h.detach()\nz = h + d\nz.backward()",
    f"{X}\nz = x.detach()\nseen = z.data.data_ptr() == x.data.data_ptr()",
    f"{X}\nz = x.detach()\nseen = type(z) is type(x)",
)
DATE = (
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\nh = x + x\nh.add_(1.0)\nz = h * h\nz.backward()",
    f"{X}\nh = x + x\nz = h * h\nh.add_(1.0)\nz.backward()",
    f"{X}\nh = x + x\nh.add_(1.0)\nz = h * h\nh.add_(1.0)\nh.add_(1.0)\nz.backward()",
    f"{X}\nh = x + x\nz = h + h\nh.add_(1.0)\nz.backward()",
    f"{X}\nz = x * x\nx.add_(1.0)\nz.backward()",
    f"{X}\n{OFF}x.add_(1.0)\nz = x * x\nz.backward()",
    f"{X}\nz = x * x\n{OFF}x.add_(1.0)\nz.backward()",
    f"{X}\nd = x.detach()\n{OFF}x.add_(1.0)\nz = x * d\nz.backward()",
    f"{X}\nz = x * x\nx.detach().add_(1.0)\nz.backward()",
    f"{X}\nz = x * x\nx.data.add_(1.0)\nz.backward()",
    f"{X}\n{Y}\nh = x * x\nh.add_(y)\nz = h + h\nz.backward()",
    f"{X}\nh = x * x\n{OFF}h.add_(1.0)\nz = h + h\nz.backward()",
    f"{X}\nh = Value(5.0)\nh.add_(x)\nz = h * h\nz.backward()",
    f"{X}\nh = x + x\nz = h.add_(1.0)\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz.backward()",
    f"{X}\n{Y}\nz = x * y\n{OFF}y.add_(1.0)\nz.backward()",
)
HX = "h = x * x"
STRANGERS = (
    f"{X}\nz = Cube.apply(x)\nz.backward()",
    f"{X}\n{HX}\nz = 2 * Cube.apply(h)\nz.backward()",
    "x = Value([3.0, 1.0], requires_grad=True)\nz = Cube.apply(x)\nz.backward(Value([1.0, 10.0]))",
    f"{X}\nh = 0.9 * x\nz = h * Nearest.apply(h)\nz.backward()",
    f"{X}\n{Y}\nz = Product.apply(x, y, 2.0)\nz.backward()",
    f"{X}\ny = Value(5.0)\nz = Product.apply(y, x, 2.0)\nz.backward()",
    f"{X}\ny = Value([3.0, 1.0])\nz = Product.apply(x, y, 2.0)",
    f"{X}\n{Y}\nz = Cube.apply(x) + Cube.apply(y)\nz.backward()",
    "x = Value(3.0)\nz = Cube.apply(x)",
    f"{X}\n{OFF}z = Cube.apply(x)",
    f"{X}\nz = Nosy.apply(x)",
    f"{X}\n{OFF}k = Cube.apply(x)\n    h = x * x\nz = h * x\nz.backward()",
    f"{X}\nh = Cube.apply(x)\nz = h * x\nz.backward()",
    f"{X}\n{HX}\nz = Same.apply(h) + h\nz.backward()",
    f"{X}\nz = Same.apply(x) * x\nz.backward()",
    f"{X}\n{Y}\nz = Forgot.apply(x, y)\nz.backward()",
    f"{X}\nz = Cube.apply(x)\nz.backward()\nz.backward()",
    f"{X}\nz = Cube.apply(x)\nz.backward({FLAG})\nz.backward()",
    f"{X}\nh = x + x\nz = Cube.apply(h)\nh.add_(1.0)\nz.backward()",
    f"{X}\nz = Silent.apply(x) + x\nz.backward()",
    f"{X}\nz = Same.apply(x)\nseen.append(z.data.data_ptr() == x.data.data_ptr())",
)
CREATE, NEXT = "create_graph=True", "g = x.grad\nzero_grad(x)"
REFUSED = "try:\n    k.backward()\nexcept RuntimeError:\n    g = None"
AGAIN = (
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz = x * x * x\nz.backward()",
    f"{X}\n{W}\nz = x + x\nz.backward(w, {CREATE})",  # sums photograph nothing
    f"{X}\nz = x * x\nz.backward({CREATE})",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\n{NEXT}\ng.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{X}\n{Y}\nz = x * x * y\nz.backward({CREATE})\ng = x.grad\nzero_grad(x, y)\ng.backward()",
    f"{X}\nz = x * x\nz.backward({CREATE})\nz.backward()",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\ng = x.grad\nz.backward({CREATE})",
    f"{X}\n{Y}\nz = x + y\nz.backward({CREATE})\nz.backward()",
    f"{X}\n{Y}\nz = x + y\nz.backward()\nz.backward()",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\ng = x.grad\ng.backward()",
    f"{X}\nz = x * x * x\nz.backward({FLAG})\n{NEXT}\ng.backward()",
    f"{X}\nz = x * x * x\nz.backward({CREATE}, retain_graph=False)\n{NEXT}\ng.backward()",
    f"{X}\nz = x * x\nz.backward()\nz.backward()",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\n{OFF}x.add_(1.0)\n{NEXT}\ng.backward()",
    f"{X}\nz = x * x\n{OFF}z.backward({CREATE})",
    f"{X}\nz = x * x * x\nz.backward({CREATE})\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{X}\nz = 2 * x\nz.backward({CREATE})\ng = x.grad\nz.backward({CREATE})",
    f"{X}\nz = x * x\nz.backward()\ntry:\n    z.backward()\nexcept RuntimeError:\n    z = x * x\nz.backward()",
    # in PyTorch, too, but there the gradient has other versions
    f"{X}\nz = x * x\nz.backward({CREATE})\ng = x.grad\nk = g * g\nz.backward({FLAG})\n{REFUSED}",
)

SAW, NODE = 'h.register_hook(saw["h"].append)', "h.grad_fn.register_hook(lambda grads, arrived: {})"
NINETEEN = f"{X}\nh = x * x\n{{}}\nz = h * h + h\nz.backward()"
TWELVE = f"{W}\nh = 3 * w\n{{}}\nz = h * h\nz.backward()"
TENFOLD, ONE_MORE = "h.register_hook(lambda g: g * 10)", "h.register_hook(lambda g: g + 1)"
ON_LEAF = 'x.register_post_accumulate_grad_hook(lambda leaf: saw["x"].append(leaf.grad))'
FAILED = 'try:\n    z.backward()\nexcept ZeroDivisionError:\n    saw["h"].append(None)'
NOTED = NODE.format('saw["h"].extend([*arrived, *grads])')
LISTEN = (
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\nz = x * x\nz.backward()\nz.backward()",
    f"{X}\nz = x * x\nz.backward({FLAG})\nz.backward()",
    NINETEEN.format(SAW),
    NINETEEN.format("x.register_hook(lambda g: g * 0.5)"),
    TWELVE.format(f"{SAW}\n{TENFOLD}\n{SAW}"),
    TWELVE.format(f"{TENFOLD}\n{ONE_MORE}"),
    TWELVE.format(f"handle = {TENFOLD}\nhandle.remove()"),
    TWELVE.format(f"handle = {TENFOLD}\n{ONE_MORE}\nhandle.remove()"),
    NINETEEN.format(ON_LEAF),
    NINETEEN.format(NOTED),
    NINETEEN.format(f"h.register_hook(lambda g: g * 2)\n{NOTED}"),
    NINETEEN.format(NODE.format("(grads[0] * 2, grads[1])")),
    NINETEEN.format(f"{NODE.format('(grads[0] * 2, grads[1])')}\n{NOTED}"),
    NINETEEN.format(SAW).replace("z.backward()", f"z.backward({FLAG})\nz.backward()"),
    f"{X}\nz = x * x\nz.register_hook(lambda g: g * 3)\nz.backward()",
    NINETEEN.format(ON_LEAF).replace("z.backward()", f"z.backward({FLAG})\nz.backward()"),
    TWELVE.format("h.register_hook(lambda g: 1 / 0)").replace("z.backward()", FAILED),
    f"{W}\nh = w * w\n{TENFOLD}\nz = h * h\nz.backward({CREATE})\ng = w.grad\nzero_grad(w)\ng.backward()",
)
U, V = "u = make_dual(x, 1.0)", "v = make_dual(y, 10.0)"
TAKEN, CUBED = "p, t = unpack_dual({})", f"{X}\n{U}\nz = u * u * u"
PUSH = (
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\n{U}\nz = u * 2",
    f"{X}\n{U}\nz = u + 2",
    f"{X}\n{Y}\n{U}\nz = u * y",
    f"{X}\n{Y}\n{U}\nz = y * u",
    f"{X}\n{U}\nz = x * x",
    f"{X}\n{Y}\n{U}\n{V}\nz = u + v",
    f"{X}\n{U}\nz = u * u",
    f"{X}\n{Y}\n{U}\n{V}\nz = u * v",
    f"{X}\n{U}\nh = u + u\nz = h * u",
    f"{CUBED}\nz.backward()",
    f"{X}\n{U}\n{TAKEN.format('u')}\nz = p * p + u\nz.backward()",
    f"{X}\n{TAKEN.format('x')}\nz = p * p",
    f"x = Value(3.0)\n{U}\nz = u * u",
    f"{X}\n{U}\n{OFF}h = u * 2\nz = h * u",
    f"{X}\n{U}\nz = u * u.detach()",
    f"{X}\nh = x * x\nu = make_dual(h, 1.0)\nz = u * x\nz.backward()",
    f"{CUBED}\n{TAKEN.format('z')}\nt.backward()",
    f"{CUBED}\nz.backward({CREATE})",
    "x = Value([3.0, 1.0], requires_grad=True)\nu = make_dual(x, Value([1.0, 10.0]))\nz = u * u * u",
)

ROW, COLUMN = (
    "x = Value([1.0, -2.0, 3.0], requires_grad=True)",
    "y = Value([[2.0], [5.0]], requires_grad=True)",
)
GRID = "w = Value([[1.0, 2.0, -1.0], [3.0, 0.5, 2.0]], requires_grad=True)"
TWO, LAST = f"z.backward({CREATE})\ng = x.grad", "k.backward()"
TENSORS = ("gradients, or the error", "what `g` holds", "gradients that require grad")
SPREAD = (
    f"{ROW}\nz = x.sum()\nz.backward()",
    f"{ROW}\nz = (x + x).sum()\nz.backward()",
    f"{ROW}\n{Y}\nz = (x + y).sum()\nz.backward()",
    f"{ROW}\n{Y}\nz = (x * y).sum()\nz.backward()",
    f"{ROW}\n{COLUMN}\nz = (x + y).sum()\nz.backward()",
    f"{ROW}\n{COLUMN}\nz = (x * y).sum()\nz.backward()",
    f"{ROW}\n{COLUMN}\nz = (x * y * x).mean()\nz.backward()",
    f"{ROW}\nz = (1.0 - x).mean()\nz.backward()",
    f"{ROW}\nz = x.sum() * x.sum()\nz.backward()",
    f"{ROW}\nz = (x * x.sum()).sum()\nz.backward()",
    f"{ROW}\n{COLUMN}\nz = (x * x * y).sum()\n{TWO}\nk = (g * g).sum()\n{LAST}",
    f"{ROW}\nz = (x * x.sum()).sum()\n{TWO}\nzero_grad(x)\nk = (g * g).sum()\n{LAST}",
    "x = Value([[2.0]], requires_grad=True)\nz = x * Value([3.0, 4.0])\nz = z.sum()\nz.backward()",
    f"{ROW}\n{Y}\nz = Forgot.apply(x, y)\nz = z.sum()\nz.backward()",
    f"{ROW}\nz = (Silent.apply(x) + x).sum()\nz.backward()",
    f"{ROW}\ny = Value([[2.0, 5.0, 1.0]], requires_grad=True)\nz = (x * y).sum()\nz.backward()",
)
SQUARE = "x = Value([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)"
PRODUCTS = (
    f"{SQUARE}\nz = x.T.sum()\nz.backward()",
    f"{GRID}\nz = (w.T * Value([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum()\nz.backward()",
    f"{SQUARE}\n{GRID}\nz = (x @ w).sum()\nz.backward()",
    f"{SQUARE}\n{COLUMN}\nz = (x @ y).sum()\nz.backward()",
    f"{SQUARE}\nz = (x @ x).sum()\nz.backward()",
    f"{SQUARE}\n{COLUMN}\nz = (y.T @ x @ y).sum()\nz.backward()",
    f"{SQUARE}\nz = (x @ x.T).sum()\n{TWO}\nzero_grad(x)\nk = (g * g).sum()\n{LAST}",
    f"{SQUARE}\n{COLUMN}\nz = (x @ y * y).sum()\n{TWO}\nk = (g * g).sum()\n{LAST}",
    f"{SQUARE}\nz = (Value([[1.0, 2.0]]) @ x + 1).sum()\nz.backward()",
    f"{SQUARE}\n{GRID}\nh = x + x\nz = (h @ w).sum()\nh.add_(1.0)\nz.backward()",
    f"{SQUARE}\n{GRID}\nh = w + w\nz = (x @ h).sum()\nh.add_(1.0)\nz.backward()",
)
BENT = (
    f"{X}\nz = (x * 0.5).exp()\nz.backward()",
    f"{X}\nz = (x * 0.5).tanh()\nz.backward()",
    f"{ROW}\nz = x.exp().sum()\nz.backward()",
    f"{ROW}\nz = (x.tanh() * x.tanh()).sum()\nz.backward()",
    f"{ROW}\nz = (x * 0.5).exp().tanh().sum()\nz.backward()",
    f"{X}\nz = x.exp()\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{X}\nz = (x * 0.25).tanh()\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{ROW}\n{COLUMN}\nz = (x + y).tanh().mean()\n{TWO}\nk = (g * g).sum()\n{LAST}",
    f"{X}\nh = (x * 0.5).exp()\nz = h + x\nh.add_(1.0)\nz.backward()",
    f"{X}\nh = (x * 0.5).tanh()\nz = h + x\nh.add_(1.0)\nz.backward()",
    f"{X}\nh = x + x\nz = h.exp() + h.tanh()\nh.add_(1.0)\nz.backward()",
)
RAISED = (
    f"{X}\nz = x ** 2.0\nz.backward()",
    f"{X}\nz = x ** 3.0\nz.backward()",
    f"{X}\nz = x.log()\nz.backward()",
    f"{X}\nz = 2 * x ** 3.0\nz.backward()",
    f"{X}\nz = 2 * x.log()\nz.backward()",
    f"{X}\nz = x ** 3.0 * x\nz.backward()",
    f"{X}\nz = x.log() * x\nz.backward()",
    f"{X}\n{Y}\nz = x / y\nz.backward()",
    f"{X}\nz = 6.0 / x\nz.backward()",
    f"{ROW}\n{COLUMN}\nz = (x / y).sum()\nz.backward()",
    f"{X}\nz = x ** 3.0\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{X}\nz = x.log()\nz.backward({CREATE})\n{NEXT}\ng.backward()",
    f"{ROW}\nz = (x.exp() + 1.0).log().mean()\n{TWO}\nk = (g * g).sum()\n{LAST}",
    f"{X}\nh = x + x\nz = h ** 3.0\nh.add_(1.0)\nz.backward()",
    f"{X}\nh = x + x\nz = h.log()\nh.add_(1.0)\nz.backward()",
)


TRIED = {
    "04": (RECORD, "graph"),
    "05": (BACKWARD, "backward"),
    "06": (ACCUMULATE, "tallies"),
    "07": (FREE, "calls"),
    "08": (SWITCH, "switch"),
    "09": (DATE, "edits"),
    "12": (STRANGERS, "functions"),
    "13": (AGAIN, "orders"),
    "14": (LISTEN, "hooks"),
    "17": (PUSH, "duals"),
    "19a": (SPREAD, "shapes"),
    "19b": (PRODUCTS, "matrices"),
    "19c": (BENT, "curves"),
    "19d": (RAISED, "powers"),
}  # on which programs, and what is looked at


def cases(stage: str, random: Random | None = None) -> tuple[Callable, ...]:
    """Return the cases on which a stage is tried, as a reader of functions wants them."""
    programs, look = TRIED[stage]
    random = random or Random(SEED)
    more = [random_program(look, random, 2 + nr // 5) for nr in range(MANY)]
    return tuple(_case(program, look) for program in (*programs, *more))


def random_program(look: str, random: Random, lines: int) -> str:
    """Draw a program of so many lines for what a stage looks at."""
    if look in OPERATIONS:
        return of_tensors(random, look, (lines + 1) // 2)
    program = drawn(random, lines, look != "graph")
    more = {
        "tallies": several_calls,
        "calls": with_flags,
        "switch": with_cuts,
        "edits": with_edits,
        "functions": with_functions,
        "orders": in_orders,
        "hooks": with_hooks,
        "duals": with_duals,
    }
    return more[look](random, program) if look in more else program


def _case(program: str, look: str) -> Callable:
    def case() -> tuple[str, str]:
        return program, look

    case.written = program.replace("\n    ", " ⏎ ").replace("\n", "; ")  # on one line
    return case


def trouble(cell: Cell) -> str:
    """Say what a stage does differently from PyTorch on the fixed programs; "" where nothing."""
    programs, look = TRIED[cell.stage]
    for program in programs:
        if not alike(cell(program, look), on_torch(program, look)):
            return f"`{program.splitlines()[-1]}` comes out wrong"
    return ""
