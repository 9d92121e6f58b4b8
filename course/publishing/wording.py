"""Make the source of text cells safe to render: raw HTML tag by tag, math as MathML. Code in it
stays as it is.
"""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from course.publishing.inert import clean

ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
PIECES = re.compile(
    rf"""(?P<escape>\\[\\`*_{{}}\[\]()#+.!$<>|~-])
    |(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))
    |(?P<block>\$\$(?P<shown>[^$]+?)\$\$)
    |(?P<inline>\$(?P<small>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d))
    |(?P<link><(?:https?://|mailto:)[^\s<>]*>)
    |(?P<tag></?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:{ATTRIBUTE})*\s*/?>)
    |(?P<comment><!--.*?-->)
    |(?P<open><(?=[A-Za-z/!?]))""",
    re.DOTALL | re.VERBOSE,
)
SPECIAL = re.compile(r"[*_`\[\]|\\~$#{}:!]")
VOID = {"br", "hr", "img", "col"}
PARTS = {
    "td",
    "th",
    "tr",
    "tbody",
    "thead",
    "tfoot",
    "caption",
    "colgroup",
    "col",
}  # nothing outside a table
DIRECTIVE = re.compile(r"^([`~:]{3,})\s*\{([^}]*)\}", re.MULTILINE)


def safe_markdown(source: str) -> str:
    """Return the source of a text cell with no HTML in it that could run or fetch, and its math as
    MathML.
    """
    lines = source.splitlines(keepends=True)
    pieces, at = [], 0
    for first, last in code_blocks(source):
        pieces += [
            words("".join(lines[at:first])),
            DIRECTIVE.sub(r"\1\2", "".join(lines[first:last])),
        ]
        at = last
    return "".join([*pieces, words("".join(lines[at:]))])


def code_blocks(source: str) -> list[tuple[int, int]]:
    """Return the (first, one past the last) line of every block of code, fenced or indented."""
    tokens = MarkdownIt("commonmark").parse(source)
    return [
        tuple(token.map) for token in tokens if token.type in ("fence", "code_block") and token.map
    ]


def words(text: str) -> str:
    """Return text between blocks of code, made safe."""
    return PIECES.sub(_piece, DIRECTIVE.sub(r"\\\1\2", text))


def _piece(found: re.Match) -> str:
    match found.lastgroup:
        case "escape" | "code" | "link":
            return found[0]
        case "block":
            return mathml(found["shown"], "block")
        case "inline":
            return mathml(found["small"])
        case "tag":
            return tag(found[0], found["name"].lower())
        case "comment":
            return ""
    return "&lt;"


def tag(written: str, name: str) -> str:
    """Return one tag as it may be printed: cleaned, or as text that a reader sees."""
    kept = clean(
        written + ("" if written.startswith("</") else f"</{name}>")
        if name not in VOID
        else written
    )
    if written.startswith("</"):
        return f"</{name}>" if clean(f"<{name}></{name}>") or name in PARTS else escape(written)
    if name in PARTS:
        return f"<{name}>"
    start = re.match(r"<[^>]*>", kept)
    return start[0] if start else escape(written)


def mathml(tex: str, display: str = "inline") -> str:
    """Return a formula as MathML on one line, its signs hidden from Markdown; code where it cannot
    be read.
    """
    try:
        made = clean(convert(tex.strip(), display=display).replace("\n", " "))
    except Exception:  # whatever the reader of TeX raises: the formula is shown as it was written
        return f"`{tex.strip()}`"
    return re.sub(r">([^<]+)<", lambda text: f">{SPECIAL.sub(_hidden, text[1])}<", made)


def formula(source: str) -> str:
    """Return an output of LaTeX as HTML: MathML, or what was written."""
    made = mathml(source.strip().strip("$"), "block")
    return f"<p>{escape(made) if made.startswith('`') else made}</p>"


def rendered(source: str) -> str:
    """Return an output of Markdown as HTML."""
    return clean(MarkdownIt("commonmark").enable("table").render(safe_markdown(source)))


def _hidden(sign: re.Match) -> str:
    return f"&#{ord(sign[0])};"
