"""Random programs of several cells, and which expression really made each node of their graph: told
by a second run, in which every expression reports when it is done.
"""

import ast
import contextlib
import linecache
import random
import warnings

import torch

from autograd_graphs.looking.nodes import ran_as
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.source import LONGEST
from autograd_graphs.looking.torch_private import next_number
from autograd_graphs.recording.record import record
from autograd_graphs.text import visible


class Own(torch.autograd.Function):
    """Double, as an operation that somebody wrote."""

    @staticmethod
    def forward(ctx, p):
        return p * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


NAMES = ["a", "b", "c", "x", "y", "z", "h", "t"]
FUNCTIONS = [
    "torch.sin({})", "torch.exp({})", "F.relu({})", "torch.tanh({})", "abs({})", "torch.neg({})",
    "Own.apply({})",
]  # fmt: skip
METHODS = [
    "{}.sin()", "{}.exp()", "{}.relu()", "{}.abs()", "{}.sum()", "{}.clone()", "{}.float()",
    "{}.T", "{}.square()", "{}.reshape(-1)", "{}.detach()", "{}.double()", "{}.contiguous()",
]  # fmt: skip
BINARY = [
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} @ {}", "{}.add({})", "torch.mul({}, {})",
    "F.mse_loss({}, {})", "torch.maximum({}, {})", "torch.stack([{}, {}]).sum()",
    "mystery({}, {})", "torch.where({} > 0, {}, 1.0)", "criterion({}, {})",
]  # fmt: skip
WITH_NUMBER = [
    "{} + 1", "1 + {}", "2 * {}", "{} * 3", "{} - 1", "1 - {}", "{} / 2", "2 / {}", "{} ** 2",
    "2 ** {}", "-{}", "{}[0]", "{}[0:1]", "{}[None]", "k * {}", "{} * k", "{} ** k", "k - {}",
    "{} * m", "m + {}", "k / {}", "{}[..., 0]", "scale({})", "(lambda t: t * 2)({})",
    "({} if k else a)",
]  # fmt: skip
BLOCKS = [
    "for _ in range(2):\n    {0} = {1}", "if k > 1:\n    {0} = {1}\nelse:\n    {0} = {2}",
    "with torch.no_grad():\n    {0} = {1}",
    "try:\n    {0} = {1}\n    1 / 0\n    {0} = {2}\nexcept ZeroDivisionError:\n    pass",
    "with torch.enable_grad():\n    {0} = {1}",
    "with contextlib.suppress(Exception):\n    {0} = {1}\n    1 / 0\n    {0} = {2}",
    "while k < 0:\n    {0} = {1}", "def rebind():\n    global {0}\n    {0} = {1}", "rebind()",
    "exec('{0} = {1}')", "def hidden(h):\n    h = {1}\n    return h * 2", "{0} = hidden({0})",
    "mutate({0})", "{0} *= 2", "{0} += {1}", "{0} = {0}.relu_()", "{0}.mul_(3)",
    "{0}, {3} = {3}, {0}", "{0}, {3} = {1}, {2}", "{0} = {3} = {1}", "{0} = ({3} := {1}) * 2",
    "k = 3", "k = {3}", "{0} = torch.tensor(2.0, requires_grad=True)",
    "{0} = torch.rand(2, requires_grad=True)", "{0} = (\n    {1}\n    + {2}\n)",
    "{0} = ({1}\n    * 2)", "{0} = [{1} for _ in range(2)][0]", "del {0}\n{0} = {1}",
    "box = [{1}, {2}]\n{0} = box[1]", "{0}: object = {1}", "import torch.nn.functional as F",
    "{0} = 'ü', {1}\n{0} = {0}[1]", "{0} = torch.cat([{1}, {2}])", "{0} = {1}; {3} = {2}",
    "{0} = {1}  # + * sin",
]  # fmt: skip
HEAD = """import contextlib
import torch
import torch.nn.functional as F
from source_programs import Own
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor([1.5, 0.5], requires_grad=True)
c = torch.tensor(3.0, requires_grad=True)
k, m = 2, torch.tensor(0.5)
criterion = torch.nn.MSELoss()
x = a * b
y = x + c
z, h, t = y * 2, torch.sin(x), b
def rebind():
    pass
def hidden(h):
    return h * 2
def mystery(p, q):
    return p * q
def scale(p):
    return p * 3
def mutate(p):
    if not p.is_leaf:
        p.mul_(2)
"""


def expression(chance, depth=0):
    """Return a random expression as text."""
    if depth > 2 or chance.random() < 0.25:
        return chance.choice(NAMES)
    below = [f"({expression(chance, depth + 1)})" for _ in range(2)]
    below = [one[1:-1] if one[1:-1].isidentifier() else one for one in below]
    kind = chance.choice([FUNCTIONS, METHODS, BINARY, WITH_NUMBER])
    return chance.choice(kind).format(*below)


def statement(chance):
    """Return a random statement as text."""
    first, other = chance.sample(NAMES, 2)
    parts = first, expression(chance), expression(chance), other
    if chance.random() < 0.65:
        return f"{first} = {parts[1]}"
    return chance.choice(BLOCKS).format(*parts)


def cells(chance, count=None):
    """Return the texts of the cells of a random program; the last one records a root."""
    statements = [statement(chance) for _ in range(count or chance.randint(1, 7))]
    borders = sorted(chance.choices(range(len(statements) + 1), k=chance.randint(0, 2)))
    texts, begin = [HEAD], 0
    for border in borders:
        part = statements[begin:border]
        if chance.random() < 0.4:
            part.insert(chance.randint(0, len(part)), "raise RuntimeError")
        texts.append("\n".join(part))
        begin = border
    last = statements[begin:]
    root = chance.choice(
        [
            chance.choice(NAMES),
            expression(chance),
            f"[{chance.choice(NAMES)}, {expression(chance)}]",
        ]
    )
    last += [
        f"trace = record({root}, names=dict(q=a))"
        if chance.random() < 0.1
        else f"trace = record({root})"
    ]
    text = "\n".join(last)
    if chance.random() < 0.3:
        lines = "\n".join(f"    {line}" for line in text.splitlines())
        free = ", ".join(sorted(NAMES))
        text = (
            f"def program({free}, k, m):\n{lines}\n    return trace\ntrace = program({free}, k, m)"
        )
    return [*texts, text]


MADE = ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute, ast.Name


class Reporting(ast.NodeTransformer):
    """Let every expression report when it is done, with its cell's number."""

    def __init__(self):
        self.cell = -1

    def visit(self, node):
        if isinstance(node, ast.AugAssign):
            node.value = self.visit(node.value)
            return [node, self.report_statement(node)]
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "record"
        ):
            self.generic_visit(node)
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            node.args = [self.visit(one) for one in node.args]  # a function's name is no operand
        else:
            self.generic_visit(node)
        if not isinstance(node, MADE) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        where = [self.cell, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
        call = ast.Call(ast.Name("_report", ast.Load()), [node, *map(ast.Constant, where)], [])
        return ast.copy_location(call, node)

    def report_statement(self, node):
        call = ast.Call(
            ast.Name("_report", ast.Load()), [ast.Constant(None), *[ast.Constant(-1)] * 5], []
        )
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def text_at(cell, first, start, last, stop):
    """Return the text of an expression in one line."""
    lines = [line.encode() for line in cell.splitlines()[first - 1 : last]]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    return " ".join(line.decode().strip() for line in lines)


class Reports:
    """Hold which expression made the nodes of which sequence numbers."""

    def __init__(self):
        self.cells, self.owners, self.last = [], {}, next_number()
        self.texts, self.kept = {}, []  # what each tensor, by what made it, was called
        self.graph = None

    def report(self, value, cell, *where):
        now = next_number()
        owner = (self.cells[cell] if cell >= 0 else "", where)
        self.owners.update(dict.fromkeys(range(self.last, now), owner))
        self.last = now
        if torch.is_tensor(value):
            made = value.grad_fn if value.grad_fn is not None else value
            self.kept.append(made)
            self.texts.setdefault(id(made), set()).add(text_at(self.cells[cell], *where))
        return value

    def record(self, loss, **_):
        self.report(None, -1, -1, -1, -1, -1)
        walk = Walk(loss if isinstance(loss, list) else [loss])
        self.graph = {
            nr: (type(one).__name__, self.owners.get(ran_as(one)))
            for nr, one in enumerate(walk.met)
            if not torch.is_tensor(one)
        }
        self.called = {nr: self.texts.get(id(one), set()) for nr, one in enumerate(walk.met)}


def run(texts, record=record, change=None, report=None):
    """Run cells in one namespace, as IPython does, and return it."""
    space = {"__name__": "__main__", "record": record, "In": [""]}
    for number, text in enumerate(texts):
        name = f"<ipython-cell-{number}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        space["In"].append(text)
        tree = ast.parse(text)
        if change is not None:
            report.cells.append(text)
            change.cell, space["_report"] = number, report.report
            tree = ast.fix_missing_locations(change.visit(tree))
        torch.manual_seed(0)
        failing = contextlib.suppress(Exception if number < len(texts) - 1 else ())
        with failing, warnings.catch_warnings(action="ignore"):  # torch gives some once a process
            exec(compile(tree, name, "exec"), space)
    return space


def truth(texts):
    """Return the operation and the maker of every node of a program's graph, (cell's text, place),
    and what each was called.
    """
    reports = Reports()
    run(texts, reports.record, Reporting(), reports)
    return reports.graph, reports.called


def random_cells(seed):
    return cells(random.Random(seed))


def recorded(texts):
    """Return the trace of a program, also of one whose backward fails; None where it has none."""
    try:
        return run(texts)["trace"]
    except Exception as error:
        return getattr(error, "trace", None)


def is_right(line, span, cell, where):
    """Say whether a span is that of an expression at a place in a cell."""
    first, start, last, stop = where
    if first < 0:
        return False
    source = cell.splitlines()[first - 1].rstrip()
    if line.endswith("…"):
        before, line = source.find(line[:-1]), source[source.find(line[:-1]) :]
    if not source.endswith(line) or (span.start < 0) != (first != last):
        return False
    start, stop = (len(source.encode()[:column].decode()) for column in (start, stop))
    before = len(source) - len(line)
    is_inside = span.start <= span.op_start < span.op_stop <= span.stop
    return span.start < 0 or (
        is_inside and (span.start, span.stop) == (start - before, stop - before)
    )


def cut(texts):
    return {visible(text, LONGEST) for text in texts}


def mistakes(trace, makers, called):
    """Yield what a trace's program says wrongly, as (node, what)."""
    program, inputs = trace.program, trace.graph.inputs_by_node()
    for node, span in program.spans:
        line = program.lines[span.line]
        if trace.graph.nodes[node].is_leaf:
            if line[span.start : span.stop] not in called[node]:
                yield node, "leaf"
        elif not is_right(line, span, *makers[node][1]):
            yield node, f"{makers[node]} but {span} in {line!r}"
    for node, operands in program.operands:
        for text, edge in zip(operands.inputs, inputs.get(node, ()), strict=False):
            if text and edge.target is not None and text not in cut(called[edge.target]):
                yield node, f"{text!r} is called {called[edge.target]}"
