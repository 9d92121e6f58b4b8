"""Make HTML of what stands in prepared cells: text, code line by line, outputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from html import escape, unescape
from pathlib import Path

from mistune.plugins.table import table_in_quote
from nbconvert.filters import ansi2html
from nbconvert.filters.markdown_mistune import (
    BlockParser,
    InlineParser,
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from autograd_graphs.playing.player import FILM
from autograd_graphs.stored import GRAPH
from course.publishing.addresses import embedded, led_to_pages, with_pictures
from course.publishing.inert import clean
from course.publishing.network import note
from course.publishing.slide_graphs import graph_of, slide_graph
from course.publishing.slides import Result
from course.publishing.terminal import COLOUR
from course.publishing.walks import walk_of
from course.publishing.wording import ticked
from helpers.predicting.attempting import COLUMNS
from helpers.predicting.prediction import ASKED

BREAKS, OPENS = re.compile(r"([(\[,]</span>)"), r"\1<wbr>"  # where a long line may hang
GAP = '<span class="ln gap" aria-hidden="true">⋯</span>'  # where lines are left out
Cells = Sequence[NotebookNode]
PARAGRAPH = re.compile(r"\A\s*<p>(.*)</p>\s*\Z", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
INSTALLED = re.compile(
    r"^(?:/|[A-Za-z]:\\)[^:\n]*[\\/](?=site-packages[\\/])", re.M
)  # no wall shows whose machine it is
RAISED = re.compile(r"\w*(Error|Exception|Warning|Interrupt)(?=: |\Z)")
ALT = re.compile(r'<img[^>]* alt="([^"]*)"')
HEADING = re.compile(r"\A\s*#{1,3}\s+(.+)\n?")
ARROW = re.compile(r"^-+> (\d+) ", re.MULTILINE)


class CellRenderer:
    """Makes HTML of a notebook's cells, whose pictures lie in `folder`; graphs are drawn anew."""

    def __init__(self, folder: Path, *, trust: bool = False, language: str = "python") -> None:
        self.folder, self.trust, self.language = folder, trust, language

    def text(self, source: str) -> str:
        """Return Markdown, made safe before, as HTML."""
        renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
        # Parsers of Markdown alone: formulas are MathML by now, so a dollar that is left is money.
        reader = MarkdownWithMath(renderer, BlockParser(), InlineParser())
        table_in_quote(reader)
        html = ticked(led_to_pages(reader.render(source)))
        if self.trust:
            return with_pictures(html, self.folder) + note(html)
        return clean(html, lambda address: embedded(address, self.folder), rendered=True)

    def texts(self, cells: Cells) -> str:
        return "".join(self.text(cell.source) for cell in cells)

    def line(self, source: str) -> str:
        """Return a sentence or two of Markdown as HTML without a paragraph around it."""
        html = self.text(source).strip()
        paragraph = PARAGRAPH.match(html)
        if paragraph and "<p>" not in paragraph[1]:
            return paragraph[1]
        return html

    def code(
        self,
        source: str,
        failed: int = 0,
        lit: Collection[int] = (),
        below: Collection[str] = (),
        kept: Collection[int] = (),
    ) -> str:
        """Return code in colours, an element a line; marked are the `failed` and the `lit` ones.

        Lines `below` say what came of it, in no colours of code. Where some lines are `kept` the
        rest is seen with a key.
        """
        made: list[str] = []
        is_gap = False
        for number, line in self.lines(source):
            is_rest = bool(kept) and number not in {*kept, failed}
            mark = " lit" if number in lit else ""
            if number == failed:
                mark = " failed"
            if is_rest and not is_gap:
                made.append(GAP)
            is_gap = is_rest
            made.append(self._code_line(line, mark + " rest" * is_rest))
        for line in below:
            mark = " err" if RAISED.match(line) else ""
            made.append(f'<span class="ln came{mark}">{escape(line)}</span>')
        off = indent_of(source, kept)
        return f'<pre class="src highlight"{off}>{"".join(made)}</pre>'

    def lines(self, source: str) -> Iterator[tuple[int, str]]:
        """Yield the number of each line of code that is shown, and the line in colours."""
        lexer = get_lexer_by_name(self.language, stripnl=False)
        lines = highlight(source, lexer, HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
        before = "code"
        for number, line in enumerate(lines, start=1):
            if line.strip() or before.strip():  # two blank lines are for a file, not for a wall
                yield number, line
            before = line

    def _code_line(self, line: str, mark: str) -> str:
        words = TAG.sub("", line)
        mark += " blank" * (not words.strip())
        indent = len(words) - len(words.lstrip(" "))  # where the line hangs that is too long
        style = f' style="--in:{indent}"' if indent else ""
        return f'<span class="ln{mark}"{style}>{BREAKS.sub(OPENS, line) or " "}</span>'

    def result(self, cell: NotebookNode) -> Result:
        """Return the outputs of a cell as one HTML, of which kind they are, and which line failed."""
        printed = "".join(one.text for one in cell.outputs if one.output_type == "stream")
        lines = len(printed.splitlines())
        html, kind = "".join(self.output(one, lines) for one in cell.outputs), "text"
        graph = graph_of(cell.outputs)
        if graph or "<img" in html:
            kind = "picture"
        if any(FILM in output.get("metadata", {}) for output in cell.outputs):
            kind = "player"
        failed = next((failed_line(o) for o in cell.outputs if o.output_type == "error"), 0)
        return Result(html, kind, failed, walk_of(cell.outputs), graph)

    def output(self, output: NotebookNode, lines: int = 0) -> str:
        """Return an output; a graph as large as so many lines that are printed above it let it be."""
        if output.output_type == "stream":
            return self.printed(output.text, output.name)
        if output.output_type == "error":
            return raised(output)
        data, kept = output.data, output.metadata
        if ASKED in kept:
            return ""  # guesses are made by hand in a room
        drawn = slide_graph(kept.get(GRAPH, ""), alt_of(data), lines)
        if drawn:
            return f'<div class="pic">{drawn}</div>'
        if "text/html" in data:
            html = data["text/html"]
            if self.trust:
                html = with_pictures(html, self.folder)
            return f'<div class="pic">{html}</div>'
        return f'<pre class="o">{ansi2html(data.get("text/plain", ""))}</pre>'

    def printed(self, text: str, name: str) -> str:
        """Return what was printed; what `attempt` says of an error stands out, in one paragraph."""
        if name == "stderr":
            text = INSTALLED.sub("", text)
        pieces: list[str] = []
        for line in unfolded(text.rstrip("\n").split("\n")):
            words = COLOUR.sub("", line)
            error = RAISED.match(words)
            if error and name == "stdout":
                pieces.append(error_line(error[0], words[error.end() + 2 :]))
            elif pieces and not pieces[-1].startswith("<div"):
                pieces[-1] += "\n" + line
            else:
                pieces.append(line)
        kind = "stderr" if name == "stderr" else "o"
        for at, piece in enumerate(pieces):
            if not piece.startswith("<div"):
                pieces[at] = f'<pre class="{kind}">{ansi2html(piece)}</pre>'
        return "".join(pieces)

    def cell(self, cell: NotebookNode, source: str) -> str:
        """Return a cell with this source: its text, or its code and what it put out."""
        if cell.cell_type == "markdown":
            return f'<div class="words">{self.text(source)}</div>'
        result = self.result(cell)
        out = f'<div class="out">{result.html}</div>' if result.html else ""
        code = self.code(source, result.failed)
        return f'<div class="cell" data-kind="{result.kind}">{code}{out}</div>'


def indent_of(source: str, kept: Collection[int]) -> str:
    """Return as a style how far all lines that are kept are indented, "" where they are not."""
    lines = [line for nr, line in enumerate(source.split("\n"), start=1) if nr in kept]
    least = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return f' style="--off:{least}"' if least else ""


def alt_of(data: NotebookNode) -> str:
    """Return what the picture among the data of an output says of itself."""
    alt = ALT.search(data.get("text/html", ""))
    return unescape(alt[1]) if alt else ""


def split_heading(cell: NotebookNode) -> tuple[str, str]:
    """Return the heading with which a text cell begins, "" for none, and what stands below it."""
    heading = HEADING.match(cell.source)
    if not heading or cell.cell_type != "markdown":
        return "", cell.source  # a comment in code is none
    return heading[1], cell.source[heading.end() :]


def unfolded(lines: list[str]) -> list[str]:
    """Return printed lines, those of an error's message that were folded in one again."""
    made: list[str] = []
    last = ""  # the line before, as it was printed, where a message may go on
    for line in lines:
        first_word = line.split(" ", 1)[0]
        if last and not last.endswith(".") and len(last) + 1 + len(first_word) > COLUMNS:
            made[-1] += " " + line
            last = line
        else:
            made.append(line)
            last = line if RAISED.match(line) else ""
    return made


def error_line(kind: str, words: str) -> str:
    return f'<div class="err"><b>{escape(kind)}:</b> <span>{escape(words)}</span></div>'


def raised(output: NotebookNode) -> str:
    """Return an error as its kind and message, the whole traceback in a fold."""
    whole = COLOUR.sub("", "\n".join(output.get("traceback", [])))
    said = error_line(output.get("ename", ""), output.get("evalue", "").split(" Hint: ")[0])
    if not whole:
        return said
    fold = '<details><summary>whole traceback</summary><pre tabindex="0">'
    return f"{said}{fold}{escape(whole)}</pre></details>"


def failed_line(output: NotebookNode) -> int:
    """Return which line of the cell raised, by the first arrow of its traceback; 0 if none says."""
    arrow = ARROW.search(COLOUR.sub("", "\n".join(output.get("traceback", []))))
    return int(arrow[1]) if arrow else 0
