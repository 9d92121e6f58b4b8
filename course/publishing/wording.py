"""Make the source of text cells safe to render: raw HTML tag by tag, math as MathML. Code in it
stays as it is.

Math stands where JupyterLab sees it: `$…$`, `$$…$$`, `\\\\(…\\\\)`, `\\\\[…\\\\]`, and an environment without
any sign around it, such as `\\begin{equation}…\\end{equation}`. Dollars with a space inside or a digit
behind are money. A formula that cannot be read is shown as it was written.
"""

from __future__ import annotations

import re
from html import escape
from urllib.parse import quote

from markdown_it import MarkdownIt

from course.publishing import formulas
from course.publishing.inert import clean
from course.publishing.tex import Macros, Unread

ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
LINE = r"(?!\n[ \t>]*\n)"  # a formula ends where a paragraph does
CODE = re.compile(rf"(?<![\\`])(`+)(?!`)(?:{LINE}.)+?(?<!`)\1(?!`)", re.DOTALL)
DOLLAR = "\ufdd0"  # stands for one in code; Unicode gives this number to no sign
PIECES = re.compile(
    rf"""\\\\(?P<round>\((?P<curved>(?:{LINE}.)+?)\\\\\))
    |\\\\(?P<square>\[(?P<bracketed>(?:{LINE}.)+?)\\\\\])
    |(?P<environment>\\begin\{{(?P<named>[A-Za-z]+\*?)\}}(?:{LINE}.)*?\\end\{{(?P=named)\}})
    |(?P<escape>\\[\\`*_{{}}\[\]()#+.!$<>|~-])
    |(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))
    |(?P<block>\$\$(?P<shown>(?:\\.|[^$\\]|\$(?!\$))+?)\$\$)
    |(?P<inline>\$(?P<small>(?=[^\s$])(?:{LINE}(?:\\.|[^$\\]))*?(?<!\s))\$(?!\d))
    |(?P<target>\]\(\s*<(?P<address>[^<>\n]*)>)
    |(?P<link><(?:https?://|mailto:)[^\s<>]*>)
    |(?P<tag></?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:{ATTRIBUTE})*\s*/?>)
    |(?P<comment><!--.*?-->)
    |(?P<open><(?=[A-Za-z/!?]))""",
    re.DOTALL | re.VERBOSE,
)
MATH = {
    "round": ("curved", "inline"),
    "square": ("bracketed", "block"),
    "environment": ("environment", "block"),
    "block": ("shown", "block"),
    "inline": ("small", "inline"),
}  # which group holds the formula, and how it is set
IN_ADDRESS = "%/:?#&=@+,;~"  # what an address keeps as it is written
BOX = '<input class="task-list-item-checkbox" type="checkbox" disabled'
SPECIAL = re.compile(r"[*_`\[\]|\\~$#{}:!]")
VOID = {"br", "hr", "img", "col"}
# They are nothing outside a table.
PARTS = {"td", "th", "tr", "tbody", "thead", "tfoot", "caption", "colgroup", "col"}
DIRECTIVE = re.compile(r"^([`~:]{3,})\s*\{([^}]*)\}", re.MULTILINE)


def safe_markdown(
    source: str, macros: Macros | None = None, unread: list[str] | None = None, *, trust=False
) -> str:
    """Return the source of a text cell with no HTML that could run or fetch, its math as MathML.

    `macros` of earlier cells grow by the cell's; what cannot be read is told in `unread`. With
    `trust` all HTML stays.
    """
    if macros is None:
        macros = {}
    lines = source.splitlines(keepends=True)
    pieces, at = [], 0
    for token in MarkdownIt("commonmark").parse(source):
        if token.type in ("fence", "code_block"):
            first, last = token.map
            pieces.append(safe_words("".join(lines[at:first]), macros, unread, trust))
            pieces.append(DIRECTIVE.sub(r"\1\2", "".join(lines[first:last])))
            at = last
    return "".join([*pieces, safe_words("".join(lines[at:]), macros, unread, trust)])


def safe_words(text: str, macros: Macros, unread: list[str] | None, trust: bool = False) -> str:
    """Return text between blocks of code, made safe; with `trust` its formulas alone are changed."""

    def safe(piece: re.Match) -> str:
        kind = piece.lastgroup
        if kind in MATH:
            tex = re.sub(r"^[ \t]*>", "", piece[MATH[kind][0]], flags=re.MULTILINE)  # of a quote
            return mathml(tex, MATH[kind][1], macros, unread)
        if trust or kind in ("escape", "code", "link"):
            return piece[0]
        if kind == "target":  # the address of a link or picture, in <> as it has spaces
            return f"]({quote(piece['address'], safe=IN_ADDRESS)}"
        if kind == "tag":
            return tag(piece[0], piece["name"].lower())
        return {"comment": "", "open": "&lt;"}[kind]

    text = CODE.sub(lambda code: code[0].replace("$", DOLLAR), DIRECTIVE.sub(r"\\\1\2", text))
    return PIECES.sub(safe, text).replace(DOLLAR, "$")


def tag(written: str, name: str) -> str:
    """Return one tag as it may be printed: cleaned, or as text that a reader sees."""
    if written.startswith("</"):
        return f"</{name}>" if clean(f"<{name}></{name}>") or name in PARTS else escape(written)
    if name in PARTS:
        return f"<{name}>"
    if name in VOID:
        return clean(written) or escape(written)
    start = re.match(r"<[^>]*>", clean(f"{written}</{name}>"))
    return start[0] if start else escape(written)


def mathml(tex: str, display: str, macros: Macros, unread: list[str] | None) -> str:
    """Return a formula as MathML on one line; as code where it cannot be read, told in `unread`."""
    try:
        made = clean(formulas.mathml(tex, display, macros).replace("\n", " "))
    except Unread as why:
        written = " ".join(tex.split())
        if unread is not None:
            unread.append(f"{written[:60]} ({why})")
        made = f"<code>{escape(written)}</code>"
    return re.sub(r">([^<]+)<", lambda text: f">{SPECIAL.sub(_hidden, text[1])}<", made)


def formula(source: str, macros: Macros, unread: list[str] | None = None) -> str:
    """Return an output of LaTeX as HTML: its formulas as MathML, what else was written as words."""
    alone = re.sub(r"\A\$([^$]+)\$\Z", r"$$\1$$", source.strip())
    return clean(f"<p>{safe_words(alone, macros, unread)}</p>")


def ticked(html: str) -> str:
    """Return rendered Markdown with signs for the boxes of a list of tasks, which are no inputs here."""
    return html.replace(f"{BOX} checked/>", "☑ ").replace(f"{BOX}/>", "☐ ")


def rendered(source: str, macros: Macros) -> str:
    safe = safe_markdown(source, macros)
    return clean(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(safe))


def _hidden(sign: re.Match) -> str:
    return f"&#{ord(sign[0])};"
