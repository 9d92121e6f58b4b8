"""Plots: named for whoever does not see them, shown once, the same bytes for the same figure."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from helpers.plots import IN_LAB, plot


def line():
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([1, 4, 2])
    return figure


def test_a_plot_is_an_image_with_its_words():
    shown = plot(line(), alt='rises to 4, then "falls" <to> 2')
    html = shown._repr_mimebundle_()["text/html"]
    assert html.removeprefix(IN_LAB).startswith(
        '<img alt="rises to 4, then &quot;falls&quot; &lt;to&gt; 2" src="data:image/png;base64,iVBOR'
    )
    assert str(shown) == 'Plot: rises to 4, then "falls" <to> 2'


def test_the_figure_is_closed_so_that_it_is_shown_once():
    figure = line()
    plot(figure, alt="a line")
    assert figure.number not in plt.get_fignums()


def test_equal_figures_give_equal_bytes():
    assert plot(line(), alt="a").png == plot(line(), alt="b").png


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
