"""Show an answer as a card: a sign, a word and a colour, and under them what is said.

A notebook gets HTML beside the text, anything else the text alone. Touches IPython, where it runs.

A card brings no stylesheet. Its words have the colour of the page, and its label has a ground and a
colour of its own, so that one look does for light and dark; what there is of style are short
attributes, which JupyterLab leaves to outputs that it does not trust.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograd_graphs.drawing.svg import safe
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.text import shortened

LINES, COLUMNS = 10, 84  # what is seen of a long card; the rest is folded
LONGEST = 20_000  # characters of a card
GREEN, AMBER, RED = "#1a7f37", "#9a6700", "#cf222e"  # 4.5 to white, 3 to the grounds of pages
LOOKS = {"right": ("✓", GREEN), "partly": ("◐", AMBER), "wrong": ("✗", RED)}
FRAME = "border-left:4px solid {};padding:2px 10px"
LABEL = "background:{};color:#fff;padding:1px 6px;border-radius:4px"
STYLES = frozenset(style.format(colour) for _, colour in LOOKS.values() for style in (FRAME, LABEL))
BEGIN, END = "\ufdd0", "\ufdd1"  # around code; no text of a user's has them, once it is visible
_NAME = r"[A-Za-z_]\w*"
_GROUP = r"\((?:[^()\n]|\([^()\n]*\))*\)"
_CODE = re.compile(
    rf"{BEGIN}(?P<given>[^{END}]*){END}|`(?P<quoted>[^`\n]+)`"
    rf"|(?<![\w.])(?!(?:e\.g|i\.e)\b)(?:{_NAME}(?:\.{_NAME}|{_GROUP})+"  # a call, a dotted name
    r"|[A-Za-z]\w*_\w*(?:=\w+)?|[A-Z]\w*Backward\d+)"
    r"|\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*\]|\(\d+,[\d, ]*\)"  # values, a shape
)


@dataclass(frozen=True)
class Card:
    """Hold what to say.

    `look` is "right", "partly" or "wrong", `word` what stands beside its sign, `title` what follows
    in bold. `body` are lines; those that begin with "  - " are a list, other indented ones stand
    apart; what stands before a tab is a label. `text` is what is shown where there is no HTML. A
    card that `is_news` is read out when it comes. `printed` is put out above it, as it is, and
    `program` stands at its end, all of it.
    """

    look: str
    word: str
    title: str
    body: str
    text: str
    is_news: bool = False
    printed: str = ""
    program: str = ""


def show(card: Card) -> None:
    """Display a card in a notebook; print its text anywhere else."""
    if card.printed:
        say(card.printed, end="")
    shell = shell_here()
    if shell is None:
        say(card.text)
    else:
        shell.display_pub.publish({"text/plain": card.text, "text/html": html(card)})


def show_markdown(text: str) -> None:
    """Display Markdown in a notebook; print it anywhere else."""
    shell = shell_here()
    if shell is None:
        say(text)
    else:
        shell.display_pub.publish({"text/plain": text, "text/markdown": text})


def say(text: str, end: str = "\n") -> None:
    """Print a text, with "?" for ✓ where the output cannot show it."""
    try:
        print(text, end=end)
    except UnicodeEncodeError:
        print(text.encode("ascii", "replace").decode(), end=end)


def html(card: Card) -> str:
    """Return a card as HTML: at most ten lines of it are seen, the rest is folded."""
    sign, colour = LOOKS[card.look]
    sign = f'<span aria-hidden="true">{sign}</span>'
    parts = [f'<b style="{LABEL.format(colour)}">{sign} {safe(card.word)}</b>']
    if card.title:
        parts.append(f" <b>{marked(card.title)}</b>")
    taken = rows(f"{card.word}    {card.title}")
    seen, folded = cut(shortened(card.body, LONGEST).splitlines(), LINES - taken)
    parts.append(paragraphs(seen))
    if folded:
        more = f"{len(folded)} more line{'s' * (len(folded) > 1)}"
        parts.append(f"<details><summary>{more}</summary>{paragraphs(folded)}</details>")
    if card.program:
        parts.append(f"<pre>{safe(card.program)}</pre>")
    frame = f'style="{FRAME.format(colour)}"'
    if card.is_news:
        frame = f'role="status" {frame}'
    return f"<div {frame}>{''.join(parts)}</div>"


def cut(lines: list[str], room: int) -> tuple[list[str], list[str]]:
    """Return the lines for which there is room, at least one, and the others."""
    seen = 0
    for line in lines:
        room -= rows(line)
        if room < 0 and seen:
            break
        seen += 1
    return lines[:seen], lines[seen:]


def rows(line: str) -> int:
    """Return how many rows a line may take on a card."""
    return max(1, -(-len(line) // COLUMNS))


def paragraphs(lines: list[str]) -> str:
    """Return lines as HTML; neighbours that begin with "  - " become one list."""
    made, in_list = "", False
    for line in lines:
        is_item = line.startswith("  - ")
        if is_item != in_list:
            made += "<ul>" if is_item else "</ul>"
        tag, words = ("li", line[4:]) if is_item else ("div", line)
        label, tab, words = words.rpartition("\t")
        named = f"<b>{safe(label)}</b> " if tab else ""
        made += f"<{tag}>{named}{indent(words)}{marked(words.strip())}</{tag}>"
        in_list = is_item
    return f"{made}</ul>" if in_list else made


def indent(line: str) -> str:
    return "\u2003" * ((len(line) - len(line.lstrip(" "))) // 4)


def code(text: str) -> str:
    """Mark a text as code, for a card; `strip_marks` takes the mark away."""
    return f"{BEGIN}{text}{END}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names as code, "`a`, `b` and `c`"; of many the first few."""
    marks = list(map(code, dict.fromkeys(names)))
    more = len(marks) - most
    if more > 0:
        marks = [*marks[:most], f"{more} more"]
    return marks[0] if len(marks) == 1 else ", ".join(marks[:-1]) + f" and {marks[-1]}"


def strip_marks(text: str) -> str:
    return text.replace(BEGIN, "").replace(END, "")


def marked(text: str) -> str:
    """Return a text as HTML in which code and values are set as such."""
    made, done = "", 0
    for match in _CODE.finditer(text):
        words = match["given"] or match["quoted"] or match[0]
        made += f"{safe(text[done : match.start()])}<code>{safe(words)}</code>"
        done = match.end()
    return made + safe(text[done:])
