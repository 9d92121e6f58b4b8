"""The filter box of the glossary: all entries, and a script that filters them without a kernel."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files

from autograd_graphs.diagnosing.entries import Entry, entries, plain

BOX = "application/vnd.computational-graphs.glossary"  # what tells the box from other outputs
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")
START = "for (const box of document.querySelectorAll('.glossary-box')) startFilterBox(box);"
TOLD = (
    "The filter box of the glossary, {} entries: it shows in JupyterLab and in the published pages."
)


class FilterBox:
    """A text field that filters the entries of the glossary, for an output of a notebook."""

    def __repr__(self) -> str:
        return TOLD.format(len(entries()))

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        start = "startFilterBox(document.currentScript.parentElement);"
        script = f"<script>(() => {{\n{script_text()}{start}\n}})();</script>"
        page = f"<style>{style()}</style>\n{listed(script)}"
        return {BOX: "filter box", "text/html": page, "text/plain": repr(self)}


def filter_box() -> FilterBox:
    return FilterBox()


def listed(script: str = "") -> str:
    """Return the box as HTML: without its script a folded list of all entries, each a link."""
    items = "\n".join(map(_item, entries()))
    return (
        '<div class="glossary-box">\n'
        f"<details><summary>All entries</summary>\n<ul>\n{items}\n</ul>\n</details>\n{script}</div>"
    )


def head() -> str:
    return f'<style>{style()}</style>\n<script type="module">{page_script()}</script>'


def page_script() -> str:
    return f"{script_text()}{START}"


@cache
def script_text() -> str:
    """Return the script without its comments and indentation; no text in it goes over lines."""
    lines = [line.strip() for line in _file("filter_box.js").splitlines()]
    kept = [re.sub(r" // .*", "", line) for line in lines if line and not line.startswith("//")]
    return "\n".join(kept) + "\n"


@cache
def style() -> str:
    return _file("filter_box.css")


def _file(name: str) -> str:
    return (files("helpers.clinic") / name).read_text(encoding="utf-8")


def _item(entry: Entry) -> str:
    """Return an entry: link, meaning, lessons; the rest of its text is there to be found."""
    also = f' data-also="{html.escape(";".join(entry.also))}"' if entry.also else ""
    message = ' data-message="yes"' if entry.section in ("error", "warning") else ""
    link = f'<a href="#{html.escape(entry.anchor)}">{_marked(entry.heading)}</a>'
    return f"<li{also}{message}>{link} {_text(entry)}</li>"


def _text(entry: Entry) -> str:
    said, _, causes = entry.text.partition("\n\n")
    if not causes:
        return _linked(said)
    lessons = dict.fromkeys(LINK.findall(causes))
    links = ", ".join(f'<a href="{target}">{words}</a>' for words, target in lessons)
    links = f" ({links})" if links else ""
    means, older, rest = said.partition(" Also: ")
    return f"{_linked(means)}{links}<span hidden> {_words(f'{older}{rest} {causes}')} {html.escape(entry.typed)}</span>"


def _marked(heading: str) -> str:
    name = html.escape(plain(heading), quote=False)
    return f"<code>{name}</code>" if heading.startswith("`") else name


def _linked(text: str) -> str:
    """Return Markdown of ours as HTML, without marks but with its links."""
    pieces, at = [], 0
    for link in LINK.finditer(text):
        pieces += [_words(text[at : link.start()]), f'<a href="{link[2]}">{_words(link[1])}</a>']
        at = link.end()
    return "".join([*pieces, _words(text[at:])])


def _words(text: str) -> str:
    return html.escape(plain(text), quote=False)
