"""Read the operations that an answer names, in words, signs, code or as nodes: `*`, "multiplication",
"x * y" and MulBackward0 are one.
"""

import ast
import re
from types import BuiltinFunctionType

import torch

from autograd_graphs.plain_values import NotRead, plain
from helpers.exercises.reading import Reader, chosen, items, listed, read_word
from helpers.exercises.slips import parts

LEAF, SAVED = "a leaf", "what was saved"
_ALL = frozenset({"exp", "mul", "add"})
_SPOKEN = {
    "exp": "exp exponential exponentiation exponent exponentiate exponentials expo",
    "mul": "* × · mul mult multiply multiplication multiplying multiplicative multiplied times product prod xy",
    "add": "+ add plus addition adding added sum",
    LEAF: "x y z leaf leaves accumulategrad",
    SAVED: "self other result",
}
_MEANING = {name: meaning for meaning, spoken in _SPOKEN.items() for name in spoken.split()}
_WHOLE = {"all": _ALL, "everything": _ALL, "none": frozenset(), "nothing": frozenset()}
_SILENT = {"the", "a", "and", "of", "operation", "operations", "node", "nodes", "card", "cards", ""}
_SIGNS = {ast.Mult: "mul", ast.Add: "add"}
_TORCH = frozenset(vars(torch))
_OBJECT = re.compile(r"<(?:class ')?([\w.]+)[^<>]*>")


def operations() -> Reader:
    """Read operations, in any order: "exp", "mul", "add", another of torch's, LEAF or SAVED."""
    wants = 'a list of the names in bold on the cards, such as ["pow", "sum"]'
    return Reader(wants, _read)


def _read(answer: object) -> frozenset:
    given = parts(listed(chosen(answer)))
    texts = items(plain(list(map(_function_name, given))), _text)
    named = frozenset().union(*map(_named, texts))
    return named - {SAVED} if named & _ALL else named  # "mul (self, other)" names an operation


def _function_name(value: object) -> object:
    """Return the name of a function such as `torch.exp`; anything else as it is."""
    return value.__name__ if isinstance(value, BuiltinFunctionType) else value


def _text(value: object) -> str:
    if value is None:
        return "none"
    if not isinstance(value, str):
        raise NotRead("it holds something that isn't the name of an operation")
    return _OBJECT.sub(r"\1", value).strip(" \t\n.:").casefold()


def _named(text: str) -> frozenset:
    """Return the operations that a text names: an expression names the one that it ends in."""
    named = frozenset()
    for part in re.split(r"[;\n]", text):
        try:
            named |= _of(ast.parse(part.strip(" .,"), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            named |= _prose(part)
    return named


def _prose(text: str) -> frozenset:
    """Read words that are no code; in "the product of x and y" and "x times y" no leaf is listed."""
    words = re.split(r"[\s,/&|]+", text)
    named = frozenset().union(*map(_word, words))
    return named - {LEAF} if {"of", "times"} & set(words) else named


def _of(node: ast.AST) -> frozenset:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return frozenset().union(*map(_of, node.elts))
    if isinstance(node, ast.BoolOp):
        return frozenset().union(*map(_of, node.values))
    if isinstance(node, ast.BinOp):
        return _of_two(node)
    if isinstance(node, ast.Call):
        return _of(node.func)
    if isinstance(node, ast.Attribute | ast.Name):
        return _word(getattr(node, "attr", "") or node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _named(node.value)
    raise NotRead("it holds something that isn't the name of an operation")


def _of_two(node: ast.BinOp) -> frozenset:
    """Read two names with a sign between them: "exp / mul" lists two operations, "x * y" is one."""
    within = [part for part in ast.walk(node) if isinstance(part, ast.expr) and part is not node]
    names = {getattr(part, "id", "") for part in within if not isinstance(part, ast.BinOp)}
    listed = {_MEANING.get(name) for name in names}
    if listed <= _ALL:
        return frozenset(listed)
    if isinstance(node.op, ast.Pow | ast.BitXor):
        return frozenset({"exp" if getattr(node.left, "id", "") == "e" else "pow"})
    if type(node.op) in _SIGNS:
        return frozenset({_SIGNS[type(node.op)]})
    raise NotRead("it holds something that isn't the name of an operation")


def _word(text: str) -> frozenset:
    name = read_word(text).rpartition(".")[2] or text.strip()
    name = re.sub(r"(backward)?\d*$", "", name).strip("_") or name
    if name in _SILENT:
        return frozenset()
    if name in _WHOLE:
        return _WHOLE[name]
    if name in _MEANING:
        return frozenset({_MEANING[name]})
    if name in _TORCH:
        return frozenset({name})
    raise NotRead(f'"{name[:40]}" names no operation of torch')
