"""Rules about pictures: each says in words what to notice, in text cells and in outputs."""

import re
from html.parser import HTMLParser

from notebook_rules.lesson import PICTURES, decoded_pictures

SAID = '<svg id="moons"', '<svg id="chart"'  # how drawings begin whose alt text says it all
MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)")


class _Images(HTMLParser):
    """Collects the attributes of every <img>, and the text in every <pre>."""

    def __init__(self, html):
        super().__init__()
        self.found, self.told, self.inside = [], "", False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.found.append(dict(attributes))
        self.inside = tag == "pre"

    def handle_data(self, data):
        self.told += data * self.inside


def _unnamed(html):
    return any(not (image.get("alt") or "").strip() for image in _Images(html).found)


def _graph(html):
    """Tell whether a drawing in HTML is one of a graph."""
    return any(not svg.startswith(SAID) for svg in decoded_pictures(html))


def pictures_in_text_have_words(lesson):
    """Whoever cannot see the picture reads its alt text."""
    for cell in lesson.cells:
        if cell.is_code:
            continue
        for alt, target in MARKDOWN_IMAGE.findall(cell.source):
            if not alt.strip():
                yield f"{cell} shows {target} without alt text: write ![what to notice]({target})."
        if _unnamed(cell.source):
            yield f'{cell} has an <img> without alt text: add alt="what to notice".'


def pictures_in_outputs_have_words(lesson):
    """A picture output carries an <img> with alt text, or its own metadata says the words; a graph
    its tree too.
    """
    for cell in lesson.code:
        for output in cell.outputs:
            data, metadata = output.get("data", {}), output.get("metadata", {})
            html = data.get("text/html", "")
            if _unnamed(html):
                yield f"{cell} puts out an <img> with no alt text: draw it with show or plot, which make one."
            bare = [
                kind for kind in PICTURES if kind in data and not metadata.get(kind, {}).get("alt")
            ]
            if bare and not _Images(html).found:
                yield f"{cell} puts out {bare[0]} alone: put out an <img alt=…> beside it."
            elif _graph(html) and _Images(html).told != data.get("text/plain"):
                yield f"{cell} draws a graph that cannot be read: put its text/plain into a <pre> after the <img>."


RULES = (pictures_in_text_have_words, pictures_in_outputs_have_words)
