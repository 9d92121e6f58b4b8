"""Write torch's formulas as people do: a small writer of plain Python expressions.

An expression is ours (`FORMS`) or torch's own formula. It is simplified with the numbers that are
known, such as an exponent or `alpha`; what remains is what is computed, and what is written, so
that a text cannot say anything else than what was verified.
"""

from __future__ import annotations

import ast
import copy
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType
from typing import Any

from autograd_graphs.recording.form_functions import FUNCTIONS, MOVES, UNSURE, WORDS
from autograd_graphs.recording.forms import FORMS, ROUGH
from autograd_graphs.text import short_number

Known = tuple[tuple[str, str, Any], ...]  # name, name of its type, value: 1 is not 1.0, nor True
Text = tuple[str, int]  # with how tightly it holds together
LOOSE, SUM, PRODUCT, SIGNED, POWER, ATOM = range(6)
GLOBALS = {"__builtins__": {}, **FUNCTIONS, "M_PI": math.pi, "M_LN2": math.log(2)}
_OWN_NAMES = {"M_PI": "π", "M_LN2": "ln(2)", "grad": "g"}
# As torch writes them.
_LOGARITHMS = {0.6931471805599453: "ln(2)", 2.3025850929940456: "ln(10)"}
_POWERS = {2: "²", 3: "³"}
_FORMS = [(re.compile(pattern), form) for pattern, form in FORMS]
_ROUGH = [(re.compile(pattern), plain) for pattern, plain in ROUGH]


@dataclass(frozen=True)
class HumanForm:
    """Hold what one input is handed on: to compute, and as a text with {name} where a tensor
    stands.

    `factor` is what the gradient is multiplied by, where there is one such thing, and `rounded` the
    same with its numbers as they are written; `moved` says where the elements went, where nothing
    is computed at all. `is_sure` where it gives what torch hands on wherever it is finite, but for
    rounding.
    """

    whole: CodeType
    text: str
    names: frozenset[str]
    sign: str = ""
    factor: CodeType | None = None
    rounded: CodeType | None = None
    symbol: str = ""
    moved: str = ""
    is_sure: bool = True


@lru_cache(maxsize=4_096)
def expression(line: str) -> tuple[ast.expr, frozenset[str]] | None:
    """Return what a line "input: formula" comes to, and its names; None where nobody knows."""
    for pattern, plain in _ROUGH:
        line = pattern.sub(plain, line)
    source = line.partition(": ")[2]
    for pattern, form in _FORMS:
        if match := pattern.fullmatch(line):
            source = match.expand(form)
            break
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return tree, frozenset(names)


@lru_cache(maxsize=4_096)
def human_form(line: str, known: Known) -> HumanForm | None:
    """Write a line with the numbers that are known; None where it cannot be written."""
    found = expression(line)
    if found is None:
        return None
    tree = Simplifier({name: value for name, _, value in known}).visit(copy.deepcopy(found[0]))
    try:
        return with_factor(tree, written(tree)[0])
    except Unwritable:
        return None


class Branch(ast.NodeTransformer):
    """Take one way at every "a if b else c"."""

    def __init__(self, is_first: bool) -> None:
        self.is_first = is_first

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self.visit(node.body if self.is_first else node.orelse)


def is_writable(line: str) -> bool:
    """Say whether a line can be written whatever the numbers are, which are not known here."""
    found = expression(line)
    if found is None:
        return False
    try:
        for is_first in (True, False):
            written(Simplifier({}).visit(Branch(is_first).visit(copy.deepcopy(found[0]))))
    except (Unwritable, ArithmeticError):
        return False
    return True


def with_factor(tree: ast.expr, text: str) -> HumanForm:
    """Find by what the gradient is multiplied, if by anything."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    is_sure = names.isdisjoint(UNSURE)
    form = HumanForm(code(tree), text, frozenset(names - set(GLOBALS)), is_sure=is_sure)
    if is_grad(tree):
        return changed(form, "×", ast.Constant(1))
    if is_call(tree) and tree.func.id in MOVES and is_grad(tree.args[0]):
        return changed(form, "×", ast.Constant(1), text.removeprefix("g, "))
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        if is_grad(tree.left) and not has_grad(tree.right):
            return changed(form, "@", tree.right)
        if is_grad(tree.right) and not has_grad(tree.left):
            return changed(form, "@left", tree.left)
        return form
    factor = without_grad(tree)
    if factor is None:
        return form
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult) and is_grad(tree.left):
        form = replace(form, text=f"g × {within(tree.right, PRODUCT)}")
    return changed(form, "×", Simplifier({}).visit(copy.deepcopy(factor)))


def changed(form: HumanForm, sign: str, factor: ast.expr, moved: str = "") -> HumanForm:
    symbol, _ = written(factor)
    rounded = code(Rounder().visit(copy.deepcopy(factor)))
    return replace(
        form, sign=sign, factor=code(factor), rounded=rounded, symbol=symbol, moved=moved
    )


class Rounder(ast.NodeTransformer):
    """Put in the place of each number the one that is written for it."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not float or node.value in _LOGARITHMS:
            return node
        return ast.Constant(float(short_number(node.value)))


def code(tree: ast.expr) -> CodeType:
    return compile(ast.fix_missing_locations(ast.Expression(tree)), "<form>", "eval")


def is_call(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)


def is_grad(tree: ast.expr) -> bool:
    """Say whether a tree is what arrives, at most with its lost dimensions back."""
    if is_call(tree) and tree.func.id == "kept":
        return is_grad(tree.args[0])
    return isinstance(tree, ast.Name) and tree.id == "grad"


def has_grad(tree: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "grad" for node in ast.walk(tree))


def without_grad(tree: ast.expr) -> ast.expr | None:
    """Return what the gradient is multiplied by: the product with 1 in its place."""
    if is_grad(tree):
        return ast.Constant(1)
    if isinstance(tree, ast.UnaryOp) and has_grad(tree):
        inner = without_grad(tree.operand)
        return inner and ast.UnaryOp(tree.op, inner)
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Mult | ast.Div):
        return None
    left, right = tree.left, tree.right
    if has_grad(left) and not has_grad(right):
        left = without_grad(left)
    elif has_grad(right) and not has_grad(left) and isinstance(tree.op, ast.Mult):
        right = without_grad(right)
    else:
        return None
    return left and right and ast.BinOp(left, tree.op, right)


# Simplifying

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
}


class Simplifier(ast.NodeTransformer):
    """Put known numbers in, and leave out what then makes no difference."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = {"true": True, "false": False, "inf": math.inf, **known}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.known[node.id]) if node.id in self.known else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        if not isinstance(test, ast.Constant):
            return self.generic_visit(node)
        return self.visit(node.body if test.value else node.orelse)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.Is):  # "is None"
            return ast.Constant(is_none(left))
        compare = _COMPARED.get(type(node.ops[0]))
        if compare and isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return ast.Constant(compare(left.value, right.value))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.USub):
            return node
        if is_number(node.operand):
            return ast.Constant(-node.operand.value)
        if isinstance(node.operand, ast.UnaryOp):
            return node.operand.operand
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write a method as an operator or a function: a.div(b) is a / b, a.cos() is cos(a)."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            if node.func.id == "maybe_multiply":
                return self.visit_BinOp(ast.BinOp(node.args[0], ast.Mult(), node.args[1]))
            return node
        if not isinstance(node.func, ast.Attribute):
            return node
        return self.of_method(node.func.value, node.func.attr, node.args, node)

    def of_method(
        self, owner: ast.expr, name: str, arguments: list[ast.expr], node: ast.Call
    ) -> ast.expr:
        if name in _BINARY and len(arguments) == 1:
            return self.visit_BinOp(ast.BinOp(owner, _BINARY[name](), arguments[0]))
        if name == "ger":
            return ast.Call(ast.Name("outer", ast.Load()), [owner, *arguments], [])
        if arguments:
            return node
        if name == "neg":
            return self.visit_UnaryOp(ast.UnaryOp(ast.USub(), owner))
        if name == "rsqrt":
            root = ast.Call(ast.Name("sqrt", ast.Load()), [owner], [])
            return ast.BinOp(ast.Constant(1), ast.Div(), root)
        if name in FUNCTIONS:
            return ast.Call(ast.Name(name, ast.Load()), [owner], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left, right, op = node.left, node.right, type(node.op)
        if is_number(left) and is_number(right) and op in _ARITHMETIC:
            value = folded(op, left.value, right.value)
            return node if value is None else ast.Constant(value)
        if op in (ast.Mult, ast.Div, ast.Pow) and is_one(right):
            return left
        if op is ast.Pow and is_number(right) and right.value == 0:
            return ast.Constant(1)
        if op is ast.Mult:
            return product(left, right, node)
        return node


def folded(op: type, left: Any, right: Any) -> Any:
    """Compute with two known numbers; a fraction stays one, as in "1 / 6"."""
    if op is ast.Div and (left % right if right else True):
        return None
    return left // right if op is ast.Div else _ARITHMETIC[op](left, right)


def product(left: ast.expr, right: ast.expr, node: ast.BinOp) -> ast.expr:
    """Write a product without a 1, a square as a square, and a number beside a matrix."""
    if is_one(left):
        return right
    if is_number(left) and left.value == -1:
        return ast.UnaryOp(ast.USub(), right)
    if is_number(right) and right.value == -1 and isinstance(left, ast.UnaryOp):
        return left.operand
    if ast.dump(left) == ast.dump(right):
        return ast.BinOp(left, ast.Pow(), ast.Constant(2))
    if isinstance(left, ast.UnaryOp) and ast.dump(left.operand) == ast.dump(right):
        return ast.UnaryOp(ast.USub(), ast.BinOp(right, ast.Pow(), ast.Constant(2)))
    is_scaled = isinstance(left, ast.BinOp) and isinstance(left.op, ast.MatMult)
    if is_scaled and not has_grad(right):
        if is_grad(left.left):
            return ast.BinOp(left.left, ast.MatMult(), ast.BinOp(right, ast.Mult(), left.right))
        return ast.BinOp(ast.BinOp(right, ast.Mult(), left.left), ast.MatMult(), left.right)
    return node


def is_none(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is None


def is_number(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and isinstance(tree.value, int | float)


def is_one(tree: ast.expr) -> bool:
    return is_number(tree) and tree.value == 1


# Writing


class Unwritable(Exception):
    """Tell that an expression holds something that we have no words for."""


_SIGNS: dict[type, tuple[str, int]] = {
    ast.Add: (" + ", SUM),
    ast.Sub: (" - ", SUM),
    ast.Mult: (" · ", PRODUCT),
    ast.Div: (" / ", PRODUCT),
    ast.MatMult: (" @ ", PRODUCT),
    ast.BitAnd: (" and ", LOOSE),
    ast.BitOr: (" or ", LOOSE),
    ast.Gt: (" > ", LOOSE),
    ast.Lt: (" < ", LOOSE),
    ast.GtE: (" ≥ ", LOOSE),
    ast.LtE: (" ≤ ", LOOSE),
    ast.Eq: (" = ", LOOSE),
}
_BINARY = {"div": ast.Div, "mul": ast.Mult, "pow": ast.Pow, "bmm": ast.MatMult, "mv": ast.MatMult}


def written(tree: ast.expr) -> Text:
    """Write a tree as people do."""
    writer = _WRITERS.get(type(tree))
    if writer is None:
        raise Unwritable(ast.dump(tree))
    return writer(tree)


def within(tree: ast.expr, least: int) -> str:
    """Write a part of a larger text, in parentheses where it would fall apart."""
    text, hold = written(tree)
    return text if hold >= least else f"({text})"


def of_name(tree: ast.Name) -> Text:
    if tree.id in _OWN_NAMES:
        return _OWN_NAMES[tree.id], ATOM
    return f"{{{tree.id}}}", ATOM


def of_constant(tree: ast.Constant) -> Text:
    value = tree.value
    if value in _LOGARITHMS:
        return _LOGARITHMS[value], ATOM
    if isinstance(value, bool | tuple | str) or value is None:
        return str(value), ATOM
    text = short_number(value)
    return text, SIGNED if text.startswith("-") else ATOM


def of_sign(tree: ast.UnaryOp) -> Text:
    if not isinstance(tree.op, ast.USub):
        raise Unwritable(ast.dump(tree))
    return f"-{within(tree.operand, PRODUCT)}", SIGNED


def of_operator(tree: ast.BinOp) -> Text:
    if isinstance(tree.op, ast.Pow):
        return of_power(tree)
    if type(tree.op) not in _SIGNS:
        raise Unwritable(ast.dump(tree))
    sign, hold = _SIGNS[type(tree.op)]
    left = within(tree.left, hold)
    is_strict = isinstance(tree.op, ast.Sub | ast.Div | ast.MatMult)
    right = within(tree.right, hold + 1 if is_strict else hold)
    return f"{left}{sign}{right}", hold


def of_power(tree: ast.BinOp) -> Text:
    base = within(tree.left, ATOM)
    if is_number(tree.right) and tree.right.value in _POWERS:
        return base + _POWERS[tree.right.value], POWER
    return f"{base}^{within(tree.right, ATOM)}", POWER


def of_comparison(tree: ast.Compare) -> Text:
    if type(tree.ops[0]) not in _SIGNS:
        raise Unwritable(ast.dump(tree))
    sign, hold = _SIGNS[type(tree.ops[0])]
    return f"{within(tree.left, SUM)}{sign}{within(tree.comparators[0], SUM)}", hold


def of_call(tree: ast.Call) -> Text:
    """Write a call of one of our functions in its own words."""
    if not is_call(tree) or tree.func.id not in WORDS:
        raise Unwritable(ast.dump(tree))
    words = WORDS[tree.func.id]
    if words == "{0}":
        return written(tree.args[0])
    arguments = [written(argument) for argument in tree.args]
    text = filled(words, arguments)
    if re.fullmatch(r"\w*\(.*\)", text) and balanced(text):
        return text, ATOM
    return text, ATOM if re.fullmatch(r"\w+|\|[^|]*\|", text) else LOOSE


def filled(words: str, arguments: list[Text]) -> str:
    """Put arguments into words; "{0!}" stands where a sum would need parentheses."""

    def put(match: re.Match[str]) -> str:
        text, hold = arguments[int(match[1])]
        return f"({text})" if match[2] and hold <= PRODUCT else text

    return re.sub(r"\{(\d)(!?)\}", put, words)


def balanced(text: str) -> bool:
    """Say whether the parenthesis that a text ends with was opened by its first."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return place == len(text) - 1
    return True


def of_attribute(tree: ast.Attribute) -> Text:
    if tree.attr != "mT":
        raise Unwritable(ast.dump(tree))
    return f"{within(tree.value, ATOM)}ᵀ", ATOM


_WRITERS: dict[type, Callable[[Any], Text]] = {
    ast.Name: of_name,
    ast.Constant: of_constant,
    ast.UnaryOp: of_sign,
    ast.BinOp: of_operator,
    ast.Compare: of_comparison,
    ast.Call: of_call,
    ast.Attribute: of_attribute,
}
