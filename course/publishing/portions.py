"""Cut a notebook in which no cell begins a slide into slides: at headings, and where one is full by
a guess.
"""

from __future__ import annotations

import copy
import re
from math import ceil

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from autograd_graphs.playing.player import FILM

ROOM = 15.0  # lines of text of 30 px below a title
ALONE = 3.0  # no more than these lines stay with what follows, however long that is
WIDE = 76  # characters of such a line
CODE = 0.86  # as high as a line of text
PICTURE, PLAYER, FORMULA, ROW = 9.0, 13.0, 2.5, 1.4  # lines
TITLES = ("h1", "h2", "h3")
TITLE = re.compile(r"\A\s*#{1,3}\s.*\n?")
TAG = re.compile(r"<[^>]*>")
BOX = re.compile(r"<(/?)(?:details|div|table|center|ul|ol|dl|blockquote|figure)\b")
REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:.*$", re.MULTILINE)


def portioned(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells with slide types: text cells cut where a slide ends within them. Notes and
    fragments stay what they are.
    """
    made: list[NotebookNode] = []
    for cell in cells:
        made += cut(cell)
    filled = 0.0
    for cell in made:
        if cell.metadata.slideshow.slide_type == "notes":
            continue
        lines = lines_of(cell)
        if cell.cell_type == "markdown" and TITLE.match(cell.source):
            kind, filled = "slide", 0.0
        elif filled > ALONE and filled + lines > ROOM:
            kind, filled = "subslide", 0.0
        else:
            kind = cell.metadata.slideshow.slide_type
        cell.metadata.slideshow.slide_type = kind
        filled += lines
    return made


def cut(cell: NotebookNode) -> list[NotebookNode]:
    """Return a text cell in pieces: at headings, and between blocks where a slide is full."""
    if cell.cell_type != "markdown" or cell.metadata.get("slideshow", {}).get("slide_type"):
        return [cell]
    references = REFERENCE.findall(cell.source)
    pieces: list[str] = []
    for block, is_title in blocks(cell.source):
        is_full = pieces and height(pieces[-1]) + height(block) > ROOM
        if not pieces or (is_title and pieces[-1].strip()) or is_full:
            pieces.append(block)
        else:
            pieces[-1] += block
    if len(pieces) < 2:
        return [cell]
    made = [copy.deepcopy(cell) for _ in pieces]
    for part, piece in zip(made, pieces, strict=True):
        part.source = "\n".join([piece, "", *references])
    return made


def blocks(source: str) -> list[tuple[str, bool]]:
    """Return the paragraphs, lists, tables … of a text, and of each whether it is a title."""
    lines = source.splitlines(keepends=True)
    starts: list[tuple[int, bool]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.map and token.level == 0 and token.nesting >= 0:
            is_title = token.type == "heading_open" and token.tag in TITLES
            starts.append((token.map[0], is_title))
    if not starts:
        return [(source, False)]
    made: list[tuple[str, bool]] = []
    opened = 0  # elements of HTML, which nothing may cut
    ends = [at for at, _ in starts[1:]] + [len(lines)]
    for (at, is_title), end in zip(starts, ends, strict=True):
        block = "".join(lines[at:end])
        if opened > 0 and made:
            made[-1] = (made[-1][0] + block, made[-1][1])
        else:
            made.append((block, is_title))
        slashes = BOX.findall(block)
        opened += slashes.count("") - slashes.count("/")
    return made


def lines_of(cell: NotebookNode) -> float:
    """Return how many lines a cell takes; narrow code has its output beside it."""
    if cell.cell_type == "markdown":
        return height(cell.source)
    code = cell.source.split("\n")
    printed = "\n".join(map(words_of, cell.outputs)).split("\n")
    out = CODE * sum(ceil(len(line) / WIDE) for line in printed)
    for output in cell.outputs:
        out += PLAYER if FILM in output.get("metadata", {}) else 0
        out += shown(output.get("data", {}).get("text/html", ""))
    is_beside = max(map(len, code)) + max(map(len, printed)) < WIDE
    high = CODE * len(code) + 0.5
    if is_beside:
        return max(high, out) + 0.5
    return high + out + 0.5


def words_of(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return output.text.rstrip("\n")
    if output.output_type == "error":
        return output.evalue
    data = output.get("data", {})
    if "text/html" in data:
        return ""
    return data.get("text/plain", "")


def shown(html: str) -> float:
    """Return how many lines pictures, tables and formulas take."""
    high = PICTURE * html.count("<img") + ROW * html.count("<tr")
    return high + FORMULA * html.count('display="block"')


def height(markdown: str) -> float:
    """Return how many lines a text takes below its title."""
    markdown = TITLE.sub("", markdown).strip("\n")
    lines = [TAG.sub("", line) for line in markdown.split("\n")]
    words = sum(ceil(len(line) / WIDE) for line in lines if line.strip())
    gaps = 0.4 * len(re.findall(r"\n\s*\n", markdown))
    return words + gaps + shown(markdown)
