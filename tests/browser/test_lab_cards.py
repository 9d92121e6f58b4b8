"""The card of an answer in real JupyterLab: in both themes its words can be read, also where the
notebook is not trusted.
"""

import nbformat
import pytest
from lab import KERNELSPEC
from lab_page import window

from helpers.answers import LOOKS, Card, html

pytestmark = pytest.mark.browser
READ = """() => [...document.querySelectorAll('.jp-OutputArea-output b:first-child')].map((label) => {
    const own = getComputedStyle(label), card = getComputedStyle(label.parentElement);
    return [label.innerText.trim(), own.color, own.backgroundColor, card.color,
        card.borderLeftColor, card.borderLeftWidth]; })"""
INK = {"Dark": range(200, 256), "Light": range(0, 100)}


def foreign(name):
    """Return a cell with a card as it is stored, of a notebook that nobody here has signed."""
    page = html(Card(name, name, "00.1", "See `x.grad`.", "", is_news=True))
    output = nbformat.v4.new_output("display_data", data={"text/html": page, "text/plain": name})
    return nbformat.v4.new_code_cell("1", outputs=[output], execution_count=1)


@pytest.mark.thorough
def test_a_card_is_seen_in_both_themes_even_where_it_is_not_trusted(chromium, lab):
    cells = [foreign(name) for name in LOOKS]
    kernel = {"kernelspec": KERNELSPEC}
    lab.store("cards.ipynb", nbformat.v4.new_notebook(cells=cells, metadata=kernel))
    with window(chromium, lab) as (notebook, _):
        notebook.open("cards.ipynb")
        for theme in INK:
            notebook.theme(theme)
            seen = notebook.page.evaluate(READ)
            assert [label for label, *_ in seen] == [f"{LOOKS[one][0]} {one}" for one in LOOKS]
            for (_, on_label, ground, words, rim, wide), look in zip(seen, LOOKS, strict=True):
                colour = LOOKS[look][1]
                assert numbers(on_label) == [255, 255, 255]
                assert numbers(ground) == numbers(rim) == from_hex(colour)
                assert all(part in INK[theme] for part in numbers(words))
                assert wide == "4px"
        assert "role" not in notebook.page.inner_html(".jp-OutputArea-output")  # so: not trusted
        notebook.theme("Light")


def numbers(colour):
    """Return the first three numbers of rgb(…) or rgba(…)."""
    return [int(part) for part in colour.strip("rgba()").split(",")[:3]]


def from_hex(colour):
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
