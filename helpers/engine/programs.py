"""Run one program on PyTorch and on an engine of a student's own, by the same lines, and look at what
came: the graph and what it saved, or the gradients, and how often each node ran.

A program names its leaves x, y and w, and its result z.
"""

import contextlib
import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from random import Random

import torch
from torch.autograd import forward_ad

from autograd_graphs.guard import limited

# May run for one program on a student's engine; a right one that looks at all pairs needs most of it.
MOST_LINES = 100_000
LARGEST = 1e6  # of what a random program computes
SMALL = 30  # of what one on tensors computes: an exponential of it is large enough
LEAVES = ("x", "y", "w")
DUALS = {"x": "u", "y": "v", "w": "s"}  # what a leaf is called with a tangent beside it
NAMES = "abcdefghijklm"
SWITCHES = ("no_grad", "enable_grad", "set_grad_enabled")
NAMED = ("zero_grad", "Function", "make_dual", "unpack_dual")
# What programs call besides their operations, on `Function` of PyTorch or of an engine.
FUNCTIONS = """
seen = []


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3.0 * x * x


class Nearest(Function):
    @staticmethod
    def forward(ctx, x):
        return Value(x.data.round().tolist())

    @staticmethod
    def backward(ctx, grad):
        return grad


class Product(Function):
    @staticmethod
    def forward(ctx, a, b, k):
        ctx.save_for_backward(a, b)
        ctx.k = k
        return a * b * float(k)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors[0], ctx.saved_tensors[1]
        return grad * b * ctx.k, grad * a * ctx.k, None


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


class Nosy(Cube):
    @staticmethod
    def forward(ctx, x):
        seen.append((x * x).requires_grad)
        return x * x


class Silent(Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return (None,)


class Forgot(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, grad):
        return grad
"""
# What a line of a program on tensors may compute; a stage of 19 has its own and those before it.
OPERATIONS = {
    "shapes": ("{} + {}", "{} * {}", "{} - {}", "1.5 - {}", "-{}", "{}.sum()", "{}.mean()"),
    "matrices": ("{} @ {}", "{} @ {}.T", "{}.T @ {}", "{}.T"),
    "curves": ("{}.exp()", "{}.tanh()", "(-{}).exp()"),
    "powers": (
        "{} ** 3.0",
        "{} / ({} * {} + 1.0)",
        "({} * {} + 0.5).log()",
        "2.0 / ({}.exp() + 1.0)",
    ),
}
SHAPES = ((), (3,), (2, 1), (2, 3), (3, 3))
VERSIONS = re.compile(r"is at version \d+; expected version \d+")


def on_torch(program: str, look: str) -> object:
    """Return what is seen of a program in PyTorch."""
    names = {"Value": _tensor, "zero_grad": _zero_grad, "Function": torch.autograd.Function}
    names |= {name: getattr(torch, name) for name in SWITCHES}
    names |= {"make_dual": _make_dual, "unpack_dual": forward_ad.unpack_dual}
    return _run(names, program, look, _TORCH)


def on_engine(engine: dict, program: str, look: str) -> object:
    """Return what is seen of a program on an engine."""

    def value(data: object, **flags: bool) -> object:
        return engine["Value"](_tensor(data), **flags)

    names = {name: engine.get(name) for name in (*NAMED, *SWITCHES)}
    if "grad_mode" in engine:
        engine["grad_mode"] = True  # whatever a wrong switch left behind
    with limited(MOST_LINES):
        return _run({"Value": value, **names}, program, look, engine)


_TORCH: dict = {}  # stands where an engine's names would


def _tensor(data: object, requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def _make_dual(value: torch.Tensor, tangent: object) -> torch.Tensor:
    given = isinstance(tangent, torch.Tensor)
    return forward_ad.make_dual(value, tangent if given else _tensor(tangent))


def _zero_grad(*leaves: torch.Tensor, set_to_none: bool = True) -> None:
    torch.optim.SGD(leaves, lr=0.1).zero_grad(set_to_none)


def _run(names: dict, program: str, look: str, engine: dict) -> object:
    looks = {
        "graph": _see_graph,
        "backward": _see_backward,
        "tallies": _see_tallies,
        "calls": _see_calls,
        "switch": _see_switch,
        "edits": _see_edits,
        "functions": _see_functions,
        "orders": _see_orders,
        "hooks": _see_hooks,
        "duals": _see_duals,
        **dict.fromkeys(OPERATIONS, _see_tensors),
    }
    return looks[look](names, program, engine)


def _see_graph(names: dict, program: str, engine: dict) -> list:
    exec(program, names)
    return _graph(names, engine is _TORCH)


def _see_backward(names: dict, program: str, engine: dict) -> list:
    forward, _, last = program.rpartition("\n")
    exec(forward, names)
    with _counted(names["z"].grad_fn, engine) as calls:
        exec(last, names)
    return [
        [grad if grad is None else _numbers(grad) for grad in _grads(names)],
        max(calls.values(), default=0),
        len([node for node in _nodes(names["z"].grad_fn) if node not in calls]),
        len([grad for grad in _grads(names) if getattr(grad, "requires_grad", False)]),
    ]


def _see_tallies(names: dict, program: str, engine: dict) -> list:
    exec(program, names)
    kind = _kind(engine)
    return [[_held(grad, kind) for grad in _grads(names)], _held(names.get("g"), kind)]


def _see_calls(names: dict, program: str, engine: dict) -> list:
    return [_came(names, program), _photographs_left(names["z"].grad_fn, engine is _TORCH)]


def _see_switch(names: dict, program: str, engine: dict) -> list:
    came, z = _came(names, program), names.get("z")
    made = z is not None and bool(z.requires_grad), z is not None and z.grad_fn is not None
    return [*made, came, names.get("seen")]


def _see_edits(names: dict, program: str, engine: dict) -> list:
    return [_came_or_refused(names, program), _versions(names)]


def _see_functions(names: dict, program: str, engine: dict) -> list:
    exec(FUNCTIONS, names)
    came = _came_or_refused(names, program)
    return [came, *_last_node(names.get("z"), engine is _TORCH), names["seen"]]


def _see_orders(names: dict, program: str, engine: dict) -> list:
    came = _came_or_refused(names, program)
    return [came, _held(names.get("g"), _kind(engine)), _recorded(names)]


def _see_tensors(names: dict, program: str, engine: dict) -> list:
    exec(FUNCTIONS, names)
    return _see_orders(names, program, engine)


def _see_hooks(names: dict, program: str, engine: dict) -> list:
    saw = names["saw"] = defaultdict(list)
    return [_came(names, program), _saw(saw)]


def _see_duals(names: dict, program: str, engine: dict) -> list:
    kind = _kind(engine)
    with forward_ad.dual_level() if engine is _TORCH else contextlib.nullcontext():
        came = _came(names, program)
        tangent = _tangent(names.get("z"))
        # without the flag PyTorch keeps the tangent of a gradient in some cases, and in others it doesn't
        grads = _grads(names) if "create_graph" in program else []
        return [
            _held(tangent, kind),
            _held(names.get("t"), kind),
            came if isinstance(came, str) else list(map(_none_for_zeros, came)),
            [_held(_tangent(grad), kind) for grad in grads],
            _tangent(tangent) is None,
        ]


def _none_for_zeros(numbers: object) -> object:
    """Return None for zeros: that is what PyTorch has for the gradient of a tangent that was missing."""
    return numbers if torch.tensor(numbers or 0.0).any() else None


def _tangent(value: object) -> object:
    """Return the tangent of a value, or None."""
    if isinstance(value, torch.Tensor):
        return forward_ad.unpack_dual(value).tangent
    return getattr(value, "tangent", None)


def _kind(engine: dict) -> type:
    return torch.Tensor if engine is _TORCH else engine["Value"]


def _came_or_refused(names: dict, program: str) -> object:
    came = _came(names, program)
    return _refused(came) if isinstance(came, str) else came


def _came(names: dict, program: str) -> object:
    """Return the gradients, or the words in which a call is refused: which of the others have come by
    then depends on the order, and nobody should rely on it.
    """
    try:
        with warnings.catch_warnings():
            # PyTorch's, about a gradient and its leaf that hold each other
            warnings.simplefilter("ignore")
            exec(program, names)
    except RuntimeError as error:
        return str(error) or type(error).__name__
    return [grad if grad is None else _numbers(grad) for grad in _grads(names)]


def _refused(words: str) -> str:
    """Return what an error says of an edit; PyTorch's also names a tensor, and gives a hint."""
    dates = VERSIONS.search(words)
    return f"{dates[0]} instead" if dates else words


def _versions(names: dict) -> str:
    """Return the versions of a program's values, after their names."""
    mine = (*LEAVES, *NAMES, "z")
    return ", ".join(f"{name} {names[name]._version}" for name in mine if name in names)


def _last_node(z: object, is_torch: bool) -> list:
    """Return the name of the node of a result, if there is one, and the shape that it knows."""
    node = None if z is None else z.grad_fn
    if node is None:
        return [None, None]
    return [node.name(), tuple(z.shape if is_torch else node.shape)]


def _saw(noted: dict) -> str:
    """Return what hooks have noted, under the names that they note it by."""
    rows = []
    for name, notes in sorted(noted.items()):
        numbers = [str(note if note is None else _numbers(note)) for note in notes]
        rows += [f"{name} {', '.join(numbers)}"] if numbers else []
    return "; ".join(rows)


def _photographs_left(node: object, is_torch: bool) -> bool:
    if not is_torch:
        return bool(node.saved)
    try:
        return any(value is not None for value in _saved_by_torch(node))
    except RuntimeError:
        return False


def _grads(names: dict) -> list:
    return [names[name].grad for name in LEAVES if name in names]


def _held(value: object, kind: type) -> object:
    """Return the numbers of a tally, or what it is instead of one."""
    if value is None:
        return None
    return _numbers(value) if isinstance(value, kind) else f"a {type(value).__name__}, no Value"


def _recorded(names: dict) -> list:
    """Return which gradients have a graph. PyTorch's go afterwards: each holds its leaf, and that holds it."""
    recorded = [grad is not None and bool(grad.requires_grad) for grad in _grads(names)]
    for name in LEAVES:
        if name in names:
            names[name].grad = None
    return recorded


def _numbers(value: object) -> object:
    # the copy, since zeros without memory come of a tangent that was missing
    return (value.detach().clone() if isinstance(value, torch.Tensor) else value.data).tolist()


def _graph(names: dict, is_torch: bool) -> list:
    """Return the number, whether it requires grad, its graph in words, and what its node knows."""
    z = names["z"]
    node, shape, saved = z.grad_fn, None, None
    if node is not None:
        shape = tuple(z.shape if is_torch else node.shape)
        if all(child for child, _ in node.next_functions):  # else PyTorch saves less than we do
            saved = _saved_by_torch(node) if is_torch else map(_undated, node.saved)
            saved = [_name(value, names) for value in saved]
    return [_numbers(z), bool(z.requires_grad), _in_words(node, names, []), shape, saved]


def _undated(saved: object) -> object:
    """Return the value of a photograph, which has a date from lesson 09 on."""
    return saved[0] if isinstance(saved, tuple) else saved


def _saved_by_torch(node: object) -> list:
    fields = ("_saved_self", "_saved_other")
    return [getattr(node, field) for field in fields if hasattr(node, field)]


def _name(value: object, names: dict) -> str:
    """Return the name by which a program knows a value, or the tensor in one."""
    for name, known in names.items():
        if known is value:
            return name
        if getattr(known, "data", None) is value:
            return f"{name}.data"
    return "something else"


def _in_words(node: object, names: dict, met: list) -> str:
    """Write a graph as one text: each node with those that it leads to. One that was met before is
    "the same", with its number in the order in which they are met.
    """
    if node is None:
        return "None"
    label = node.name().rpartition("::")[2]
    if hasattr(node, "variable"):
        label += f" of {_name(node.variable, names)}"
    if node in met:
        number = "" if hasattr(node, "variable") else f" (node {met.index(node) + 1})"
        return f"the same {label}{number}"
    met.append(node)
    nodes = [
        _in_words(child, names, met) + f" [{nr}]" * bool(nr) for child, nr in node.next_functions
    ]
    return f"{label}({', '.join(nodes)})" if nodes else label


@contextlib.contextmanager
def _counted(root: object, engine: dict) -> Iterator[Counter]:
    """Count how often each node runs: in PyTorch by hooks, in an engine by its `evaluate`."""
    calls: Counter = Counter()
    if engine is _TORCH:
        handles = [node.register_hook(_counting(calls, node)) for node in _nodes(root)]
        yield calls
        for handle in handles:
            handle.remove()
        return
    real = engine["evaluate"]

    def watched(node: object, *args: object, **options: object) -> object:
        calls[node] += 1
        return real(node, *args, **options)

    engine["evaluate"] = watched
    try:
        yield calls
    finally:
        engine["evaluate"] = real


def _counting(calls: Counter, node: object) -> Callable:
    def count(*_: object) -> None:
        calls[node] += 1

    return count


def _nodes(root: object) -> list:
    """Return the nodes below and with this one."""
    found = [root] if root is not None else []
    for node in found:
        found += {child for child, _ in node.next_functions if child and child not in found}
    return found


def alike(one: object, other: object) -> bool:
    """Tell whether two looks show the same, but for the last digits of numbers."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def drawn(random: Random, lines: int, backward: bool) -> str:
    """Draw a program of so many lines, whose numbers stay whole and small enough to read."""
    while True:
        program = _drawn(random, lines, backward)
        z = _result(program)
        if z.abs().max() < LARGEST and (z.requires_grad or not backward):
            return program


BETWEEN = (
    "",
    "g = x.grad",
    "zero_grad(x)",
    "g = x.grad\nzero_grad(x)",
    "g = x.grad\nzero_grad(x, set_to_none=False)",
)


def several_calls(random: Random, program: str) -> str:
    """Run all but the leaves of a program two or three times, and now and then empty `.grad` or name it."""
    rows = program.splitlines()
    first = next(nr for nr, row in enumerate(rows) if "= Value(" not in row)
    again = rows[first:]
    for _ in range(random.choice((1, 1, 2))):
        rows += [*random.choice(BETWEEN).splitlines(), *again]
    return "\n".join(rows)


def with_flags(random: Random, program: str) -> str:
    """Go back two or three times over one graph, with the flag on some of the calls."""
    before, _, call = program.rpartition("\n")
    flagged = _flagged(call, "retain_graph=True")
    calls = [random.choice((call, flagged, flagged)) for _ in range(random.choice((1, 1, 2)))]
    return "\n".join([before, *calls, call])


def in_orders(random: Random, program: str) -> str:
    """Go backward two or three times, from the second on through the gradient that the last call left."""
    before, _, call = program.rpartition("\n")
    recorded = _flagged(call, "create_graph=True")
    rows = [before, "z = z * x * x", recorded]
    for _ in range(random.choice((0, 0, 1))):
        rows += ["g = x.grad", *random.choice(([], ["zero_grad(x)"])), f"g{recorded[1:]}"]
    return "\n".join([*rows, "g = x.grad", *random.choice(([], ["zero_grad(x)"])), f"g{call[1:]}"])


def with_cuts(random: Random, program: str) -> str:
    """Switch recording off for some lines of a program, and detach some of what they use."""
    *rows, call = program.splitlines()
    cut = []
    for row in rows:
        if "= Value(" not in row and random.random() < 0.2:
            row = re.sub(r"([a-z])$", r"\1.detach()", row)
        off = random.random() < 0.3
        cut += ["with no_grad():", f"    {row}"] if off else [row]
    return "\n".join([*cut, call])


CALLS = (
    "{} = Product.apply({}, {}, 2.0)",
    "{} = Nearest.apply({}) + {}",
    "{} = Same.apply({}) * {}",
)


def with_functions(random: Random, program: str) -> str:
    """Call functions of strangers in some lines of a program."""

    def called(found: re.Match) -> str:
        return random.choice(CALLS).format(*found.groups()) if random.random() < 0.4 else found[0]

    return re.sub(r"(?m)^([a-z]) = ([a-z]) [+*] ([a-z])$", called, program)


EDITS = (
    "{}.add_(1.0)",
    "with no_grad():\n    {}.add_(1.0)",
    "{}.detach().add_(1.0)",
    "{}.data.add_(1.0)",
)


def with_edits(random: Random, program: str) -> str:
    """Write edits in place between the lines of a program without constants: of these PyTorch
    photographs less than an engine of ours.
    """
    program = re.sub(r"(?m)(= Value\([^=]*)\)$", r"\1, requires_grad=True)", program)
    *rows, call = re.sub(r"(?m) [23]$", " x", program).splitlines()
    edited, known = [], []
    for row in rows:
        edited.append(row)
        known.append(row[0])
        if len(known) > 1 and random.random() < 0.25:
            edited += random.choice(EDITS).format(random.choice(known)).splitlines()
    return "\n".join([*edited, call])


def of_tensors(random: Random, look: str, lines: int) -> str:
    """Draw a program on tensors of several shapes, and go back through it once or twice."""
    kinds = tuple(OPERATIONS)[: tuple(OPERATIONS).index(look) + 1]
    names: dict = {"Value": _tensor}
    rows = [_leaf(random, name, names) for name in LEAVES[: random.choice((2, 3))]]
    for name in [*NAMES[: lines - 1], "z"]:
        known = [row[0] for row in rows]
        rows.append(_computed(random, f"{name} = ", kinds, known, names))
    rows.append("z = (z * x).mean()")
    if random.random() < 0.4:
        return "\n".join([*rows, "z.backward()"])
    again = random.choice(("zero_grad(x, y)", "y.grad = None", ""))
    rows += ["z.backward(create_graph=True)", "g = x.grad", again, "k = (g * g).sum()"]
    return "\n".join([*filter(None, rows), "k.backward()"])


def _leaf(random: Random, name: str, names: dict) -> str:
    """Return the line that makes a leaf, and run it."""
    shape = random.choice(SHAPES)
    data = [random.randrange(-6, 7) / 4 for _ in range(torch.Size(shape).numel())]
    row = f"{name} = Value({torch.tensor(data).view(shape).tolist()}, requires_grad=True)"
    exec(row, names)
    return row


def _computed(random: Random, start: str, kinds: tuple, known: list[str], names: dict) -> str:
    """Return a line that fits the shapes and keeps the numbers small, and run it."""
    while True:
        operation = random.choice(OPERATIONS[random.choice(kinds)])
        used = [_recent(random, known) for _ in range(operation.count("{}"))]
        if ("@" in operation or ".T" in operation) and any(names[one].dim() != 2 for one in used):
            continue  # an engine's matrices have two dimensions
        row = start + operation.format(*used)
        with contextlib.suppress(RuntimeError):
            exec(row, names)
            if names[row[0]].abs().max() < SMALL:
                return row


HOOKS = (
    '{0}.register_hook(saw["{0}"].append)',
    "{0}.register_hook(lambda g: g * 2)",
    "{0}.register_hook(lambda g: g + 1)",
    "handle = {0}.register_hook(lambda g: g * 3)\nhandle.remove()",
)
ON_A_LEAF = '{0}.register_post_accumulate_grad_hook(lambda leaf: saw["{0}"].append(leaf.grad))'
ON_A_NODE = '{0}.grad_fn.register_hook(lambda grads, arrived: saw["{0}"].append(arrived[0]))'


def with_hooks(random: Random, program: str) -> str:
    """Put hooks between the lines of a program in which everything requires grad."""
    *rows, call = re.sub(
        r"(?m)(= Value\([^=]*)\)$", r"\1, requires_grad=True)", program
    ).splitlines()
    hooked = []
    for row in rows:
        hooked.append(row)
        kinds = (*HOOKS, ON_A_LEAF if "= Value(" in row else ON_A_NODE)
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            hooked += random.choice(kinds).format(row[0]).splitlines()
    return "\n".join([*hooked, call])


def with_duals(random: Random, program: str) -> str:
    """Put tangents beside some leaves of a program, which it then uses instead of them here and there."""
    program = with_cuts(random, program) if random.random() < 0.4 else program
    *rows, call = program.splitlines()
    begins = 1 + max(nr for nr, row in enumerate(rows) if "= Value(" in row)
    leaves = [row.strip()[0] for row in rows[:begins] if "= Value(" in row]
    known = {name: DUALS[name] for name in leaves if name == "x" or random.random() < 0.5}
    mixed = rows[:begins]
    for name, dual in known.items():
        numbers = [random.choice((-2.0, -0.25, 0.5, 1.0, 3.0)) for _ in range(2)]
        tangent = f"Value({numbers})" if "[" in call else numbers[0]
        mixed.append(f"{dual} = make_dual({name}, {tangent})")
    for row in rows[begins:]:
        left, mark, right = row.partition(" = ")
        used = [known.get(w, w) if random.random() < 0.8 else w for w in re.split(r"\b", right)]
        mixed.append(f"{left}{mark}{''.join(used)}")
    ends = [call, _flagged(call, "create_graph=True")]
    if "no_grad" not in program:  # there a tangent of PyTorch's may lose a history that ours keeps
        back = f"    t{call[1:]}"
        ends.append(f"p, t = unpack_dual(z)\nif t is not None and t.requires_grad:\n{back}")
    return "\n".join([*mixed, random.choice(ends)])


def _flagged(call: str, flag: str) -> str:
    """Return a call of backward with one more argument."""
    return call.replace("backward()", f"backward({flag})").replace("]))", f"]), {flag})")


def _result(program: str) -> torch.Tensor:
    names: dict = {"Value": _tensor}
    exec(program.partition("\nz.backward")[0], names)
    return names["z"]


def _drawn(random: Random, lines: int, backward: bool) -> str:
    is_vector = random.random() < 0.25
    rows = []
    for nr, name in enumerate(LEAVES[: random.choice((1, 2, 2, 3))]):
        numbers = [random.choice((-3, -2, -1, 1, 2, 3, 4, 5)) for _ in range(2)]
        data = list(map(float, numbers)) if is_vector else float(numbers[0])
        flag = ", requires_grad=True" if nr == 0 or random.random() < 0.6 else ""
        rows.append(f"{name} = Value({data}{flag})")
    known = [row[0] for row in rows]
    for name in [*NAMES[: lines - 1], "z"]:
        left, right = _recent(random, known), _recent(random, known)
        if random.random() < 0.12:
            right = random.choice(("2", "3"))
        rows.append(f"{name} = {left} {random.choice('+*')} {right}")
        known.append(name)
    if backward:
        rows.append("z.backward(Value([1.0, 10.0]))" if is_vector else "z.backward()")
    return "\n".join(rows)


def _recent(random: Random, known: list[str]) -> str:
    """Draw one of the names, mostly one of the last."""
    back = min(int(random.expovariate(0.6)), len(known) - 1)
    return known[-1 - back]
