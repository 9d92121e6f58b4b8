"""Read the operations that an answer names, in words, signs, code or as nodes: `*`, "multiplication",
"x * y" and MulBackward0 are one.
"""

import ast
import re

import torch

from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from helpers.exercises.readers import Reader
from helpers.exercises.values import items, word

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
    """Read the operations that are named, in any order: "exp", "mul", "add", another of torch's, LEAF
    or SAVED.
    """
    wants = 'a list of the bold words of cards, such as ["pow", "sum"]'
    return Reader(wants, _read)


def _read(answer: object) -> frozenset:
    found = frozenset()
    for text in _texts(answer):
        found |= _named(text)
    return found - {SAVED} if found & _ALL else found  # "mul (self, other)" names an operation


def _texts(answer: object) -> tuple[str, ...]:
    if is_a(answer, dict):
        answer = [key for key, value in dict.items(answer) if _is_something(value)]
    value = plain(answer)
    return items((value,), _text) if is_a(value, str) else items(value, _text)


def _is_something(value: object) -> bool:
    """Tell whether a dict's value says yes: {"exp": ["result"], "add": []} names one operation."""
    try:
        return plain(value) not in (False, None, 0, (), "")
    except NotRead:
        return True


def _text(value: object) -> str:
    if value is None:
        return "none"
    if not is_a(value, str):
        raise NotRead("it holds something that is no name of an operation")
    return _OBJECT.sub(r"\1", value).strip(" \t\n.:").casefold()


def _named(text: str) -> frozenset:
    """Return the operations that one text names: an expression stands for the operation that it
    ends in.
    """
    found = frozenset()
    for part in re.split(r"[;\n]", text):
        try:
            found |= _of(ast.parse(part.strip(" .,"), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found |= _prose(part)
    return found


def _prose(text: str) -> frozenset:
    """Read words that are no code; in "the product of x and y" and "x times y" no leaf is listed."""
    words = re.split(r"[\s,/&|]+", text)
    found = frozenset().union(*map(_word, words))
    return found - {LEAF} if {"of", "times"} & set(words) else found


def _of(node: ast.AST) -> frozenset:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return frozenset().union(*map(_of, node.elts))
    if isinstance(node, ast.BoolOp):
        return frozenset().union(*map(_of, node.values))
    if isinstance(node, ast.BinOp):
        return _of_two(node)
    if isinstance(node, ast.Call):
        return _of(node.func)
    if isinstance(node, ast.Attribute):
        return _word(node.attr)
    if isinstance(node, ast.Name):
        return _word(node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _named(node.value)
    raise NotRead("it holds something that is no name of an operation")


def _of_two(node: ast.BinOp) -> frozenset:
    """Read two names with a sign between them: "exp / mul" lists two operations, "x * y" is one."""
    try:
        sides = _of(node.left), _of(node.right)
    except NotRead:
        sides = ()
    if len(sides) == 2 and all(side and side <= _ALL for side in sides) and _are_words(node):
        return sides[0] | sides[1]
    if isinstance(node.op, ast.Pow | ast.BitXor):
        return frozenset(
            {"exp" if isinstance(node.left, ast.Name) and node.left.id == "e" else "pow"}
        )
    if type(node.op) in _SIGNS:
        return frozenset({_SIGNS[type(node.op)]})
    raise NotRead("it holds something that is no name of an operation")


def _are_words(node: ast.AST) -> bool:
    """Tell whether only names stand here, with signs between them."""
    if isinstance(node, ast.BinOp):
        return _are_words(node.left) and _are_words(node.right)
    return isinstance(node, ast.Name)


def _word(text: str) -> frozenset:
    bare = word(text).rpartition(".")[2] or text.strip()
    bare = re.sub(r"(backward)?\d*$", "", bare).strip("_") or bare
    if bare in _SILENT:
        return frozenset()
    if bare in _WHOLE:
        return _WHOLE[bare]
    if bare in _MEANING:
        return frozenset({_MEANING[bare]})
    if bare in _TORCH:
        return frozenset({bare})
    raise NotRead(f'"{bare[:40]}" names no operation of torch')
