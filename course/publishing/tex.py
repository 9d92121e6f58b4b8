"""Bring TeX, as notebooks hold it, to the part of it that latex2mathml reads.

Macros with arguments hold for the rest of the notebook. Equations are not numbered, and `\\label`
is left out, as in JupyterLab.
"""

from __future__ import annotations

import re

from latex2mathml.commands import MATRICES

ENVIRONMENTS = {
    **{name[1:].removesuffix("*"): name[1:].removesuffix("*") for name in MATRICES},
    **dict.fromkeys(["equation", "displaymath", "math"], ""),
    **dict.fromkeys(["align", "aligned", "flalign", "alignat", "alignedat"], "align*"),
    **dict.fromkeys(["gather", "gathered", "multline"], "displaylines"),
    "eqnarray": "array",
    "dcases": "cases",
}
MOST_MACROS, LONGEST = 1_000, 50_000  # expansions, characters: macros can grow without end
DEFINES = re.compile(
    r"\\(?:(?P<new>newcommand|renewcommand|providecommand)|(?P<def>def)|DeclareMathOperator(?P<star>\*?))"
    r"\*?\s*\{?\s*(?P<name>\\[A-Za-z]+)\s*\}?\s*(?:\[(?P<count>\d)\])?(?P<places>(?:#\d)*)\s*"
)
BRACED = r"\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"
SIGN = re.compile(r"\s*(\\[A-Za-z]+|\\?\S)")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # a written brace is none
COMMAND = re.compile(r"\\[A-Za-z]+")
BEGIN = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}")
COLUMNS = re.compile(r"(\\begin\s*\{aligne?d?at\*?\})\s*\{\d+\}")
OPERATOR = re.compile(r"\\(?:operatorname(\*?)|(mathop))\s*" + BRACED)
SPACE_BELOW = re.compile(r"\\\\\s*(?:\*|\[\s*-?[\d.]+\s*[a-z]{2}\s*\])")
LETTER = re.compile(r"\\mathrm\{(\w)\}")
MIXED = re.compile(r"\\text\{([^{}$]*\$[^{}]*)\}")
UNSHOWN = re.compile(r"\\(?:label\s*\{[^{}]*\}|nonumber\b|notag\b)")
TAG = re.compile(r"\\tag(\*?)\s*" + BRACED)

Macros = dict[str, tuple[int, str]]


class Unread(ValueError):
    """Say what of a formula cannot be read."""


def plain_tex(tex: str, macros: Macros) -> str:
    """Return a formula without macros, each environment one that latex2mathml knows.

    Macros that it defines are added to `macros`. Raises Unread.
    """
    tex = TAG.sub(_tagged, UNSHOWN.sub("", expanded(defined(tex, macros), macros)))
    tex = COLUMNS.sub(r"\1", SPACE_BELOW.sub(r"\\\\", tex))
    tex = LETTER.sub(r"\\mathrm{ \1}", MIXED.sub(_apart, tex))  # a lone letter would become italic
    return BEGIN.sub(_environment, OPERATOR.sub(_operator, tex)).strip()


def defined(tex: str, macros: Macros) -> str:
    """Return a formula without the definitions in it; note them in `macros`."""
    while macro := DEFINES.search(tex):
        body, end = argument(tex, macro.end())
        if not macro["new"] and not macro["def"]:
            body = f"\\operatorname{macro['star']}{{{body}}}"
        count = int(macro["count"] or 0) or len(macro["places"]) // 2
        macros[macro["name"]] = (count, body)
        tex = tex[: macro.start()] + tex[end:]
    return tex


def expanded(tex: str, macros: Macros) -> str:
    """Return a formula with its macros written out. Raises Unread where they have no end."""
    at = 0
    for _ in range(MOST_MACROS):
        command = COMMAND.search(tex, at)
        while command and command[0] not in macros:
            command = COMMAND.search(tex, command.end())
        if not command:
            return tex
        at, end = command.span()
        count, body = macros[command[0]]
        for place in range(1, count + 1):
            words, end = argument(tex, end)
            body = body.replace(f"#{place}", words)
        tex = f"{tex[:at]}{body} {tex[end:]}"
        if len(tex) > LONGEST:
            break
    raise Unread("its macros have no end")


def argument(tex: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces at a place, or the sign there, and where it ends.

    Raises Unread.
    """
    sign = SIGN.match(tex, at)
    if not sign:
        raise Unread("a macro lacks an argument")
    if sign[1] != "{":
        return sign[1], sign.end()
    depth = 0
    for brace in BRACE.finditer(tex, sign.start(1)):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if not depth:
            return tex[sign.end() : brace.start()], brace.end()
    raise Unread("a brace is not closed")


def _tagged(tag: re.Match) -> str:
    if tag[1]:
        return f"\\qquad\\text{{{tag[2]}}}"
    return f"\\qquad\\text{{({tag[2]})}}"


def _apart(mixed: re.Match) -> str:
    """Write words that hold formulas as words and formulas beside each other."""
    made = ""
    for number, piece in enumerate(mixed[1].split("$")):
        if piece and number % 2:  # between two dollars
            made += f"{{{piece}}}"
        elif piece:
            made += f"\\text{{{piece}}}"
    return made


def _operator(operator: re.Match) -> str:
    """Write the name of an operator in letters alone, a thin space in it as "*"."""
    name = re.sub(r"\\[,;: ]|~", "*", operator[3])
    word = re.sub(r"\\(?:mathrm|text|rm)\b|[{}\s]", "", name)
    if not re.fullmatch(r"[A-Za-z*]+", word):
        return operator[0]
    limits = "*" if operator[1] or operator[2] else ""
    return f"\\operatorname{limits}{{{word}}}"


def _environment(begin: re.Match) -> str:
    edge, name = begin.groups()
    if name not in ENVIRONMENTS:
        raise Unread(f"\\begin{{{name}}} is not known")
    if not ENVIRONMENTS[name]:
        return ""
    columns = "{rcl}" if name == "eqnarray" and edge == "begin" else ""
    return f"\\{edge}{{{ENVIRONMENTS[name]}}}{columns}"
