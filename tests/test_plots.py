"""Plots: named for whoever does not see them, shown once, the same bytes for the same figure."""

import re
from collections import Counter
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from autograd_graphs.drawing.palette import DARK, LIGHT
from helpers.plot_svg import BEGINS
from helpers.plots import plot

SVG = "{http://www.w3.org/2000/svg}"


def line():
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([1, 4, 2])
    return figure


def test_a_plot_is_an_image_with_its_words():
    shown = plot(line(), alt='rises to 4, then "falls" <to> 2')
    html = shown._repr_mimebundle_()["text/html"]
    named = (
        '<img alt="rises to 4, then &quot;falls&quot; &lt;to&gt; 2" src="data:image/svg+xml;base64,'
    )
    assert named in html
    assert str(shown) == 'Plot: rises to 4, then "falls" <to> 2'
    assert shown.svg.startswith(BEGINS)


def test_the_figure_is_closed_so_that_it_is_shown_once():
    figure = line()
    plot(figure, alt="a line")
    assert figure.number not in plt.get_fignums()


def test_equal_figures_give_equal_bytes():
    assert plot(line(), alt="a").svg == plot(line(), alt="a").svg


def drawn(figure):
    """Return the root of the SVG of a figure, which is well formed, and how long it is."""
    svg = plot(figure, alt="a & b").svg
    return ElementTree.fromstring(svg), svg


def test_words_stay_words_and_colours_follow_the_theme():
    figure, axes = plt.subplots()
    axes.plot([1, 4, 2], label="a < b")
    axes.set_title("up & down")
    axes.legend()
    root, svg = drawn(figure)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"up & down", "a < b", "4.0"} <= set(words)
    in_light, in_dark = svg.split("@media(prefers-color-scheme:dark)")
    for look in ("ink", "ground", "leafrim"):
        assert LIGHT[look] in in_light
        assert DARK[look] in in_dark


def test_what_occurs_again_is_written_once():
    figure, axes = plt.subplots()
    axes.scatter(range(200), range(200))
    root, svg = drawn(figure)
    uses = Counter(one.attrib["href"] for one in root.iter(f"{SVG}use"))
    assert uses.most_common(1)[0][1] == 200
    assert len(svg) < 15_000


def test_what_lies_beyond_the_axes_is_cut():
    figure, axes = plt.subplots()
    axes.plot([0, 1, 2], [0, 9, 0])
    axes.set_ylim(0, 1)
    root, svg = drawn(figure)
    room = re.search(r'clip-path="url\(#(\w+)\)" class="\w+"/><path', svg)[1]
    [cut] = [one for one in root.iter(f"{SVG}clipPath") if one.attrib["id"] == room]
    assert cut[0].attrib["width"] == "357.1"


def test_pixels_and_hatches_within_a_figure_are_kept():
    figure, axes = plt.subplots()
    axes.imshow([[1, 2], [3, 4]])
    axes.bar([1], [2], hatch="/")
    root, svg = drawn(figure)
    [image] = root.iter(f"{SVG}image")
    assert image.attrib["href"].startswith("data:image/png;base64,")
    [pattern] = root.iter(f"{SVG}pattern")
    assert f"url(#{pattern.attrib['id']})" in svg


def test_what_makes_no_small_drawing_is_shown_in_pixels():
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.scatter(range(3_000), range(3_000))
    shown = plot(figure, alt="a")
    assert not shown.svg
    assert 'alt="a" src="data:image/png;base64,iVBOR' in shown._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("given", "alt", "error"), [(3, "a", TypeError), (Figure(), "  ", ValueError)]
)
def test_what_cannot_be_a_plot_gets_a_sentence(given, alt, error):
    with pytest.raises(error, match=r"figure|notice"):
        plot(given, alt=alt)


def test_a_plot_without_words_gets_its_own():
    figure, axes = plt.subplots()
    axes.plot([1, 2, 3], [4.0, 1.0, 2.5], label="loss")
    axes.plot([1, 2], [float("nan"), 7])
    axes.set(xlabel="step", ylabel="how far", title="Two lines")
    assert str(plot(figure)) == (
        "Plot: Two lines. how far over step. "
        "loss: from 4 at 1 to 2.5 at 3; lowest 1 at 2, highest 4 at 1. "
        "A line: from 7 at 2 to 7 at 2; lowest 7 at 2, highest 7 at 2."
    )


def test_a_long_line_that_hardly_moves_is_said_to_lie_somewhere():
    figure, axes = plt.subplots()
    axes.plot(range(12), [2.3, 2.2] * 6, label="flat")
    axes.plot(range(12), [0.1 * n for n in range(12)], label="rising")
    axes.set_ylim(0, 2.6)
    described = str(plot(figure))
    assert "flat: about 2.2 all along. rising: from 0 at 0 to 1.1 at 11;" in described
    figure, axes = plt.subplots()
    axes.plot(range(12), [10.0**-n for n in range(12)], label="falling")
    axes.plot([0], [100.0])
    axes.set_yscale("log")
    assert "falling: from 1 at 0 to 1e-11 at 11;" in str(plot(figure))
