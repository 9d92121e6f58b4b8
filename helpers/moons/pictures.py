"""`moons_picture`, `moons_pair`, `moons_strip`: what models say of the moons, to look at."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.drawing.svg import image
from helpers.moons.asking import MOON, Model, ask
from helpers.moons.drawing import (
    LARGE,
    SMALL,
    beside,
    document,
    panel,
    small_panel,
    with_legend,
)
from helpers.moons.words import described, told

IN_A_ROW = 4  # small pictures at most: more make two rows


class MoonsPicture:
    """Hold a picture as `.svg`, what to notice as `.alt`, and what it shows in short as `.text`."""

    def __init__(self, svg: str, alt: str, text: str) -> None:
        self.svg, self.alt, self.text = svg, alt, text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a named image, and the words."""
        return {"text/html": image(self.svg, self.alt), "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def moons_picture(model: Model, says: str | None = None, *, words: str = "") -> MoonsPicture:
    """Draw the hundred points and what a model says of the plane they lie in.

    `says` is "score" (moon 1 above 0) or "probability" (moon 1 above 0.5); a model with two outputs
    needs none. `words` is a line below, of at most 41 characters. The model is asked as it would be
    in use, in eval mode and without gradients, and is left as it was. Raises ValueError where
    `says` is missing, or a line too long.
    """
    answers = ask(model, says)
    body, high = panel(answers, words)
    alt = described(answers, words)
    return MoonsPicture(document(*with_legend(body, LARGE.wide, high), alt), alt, told(answers))


def moons_pair(
    before: Model,
    after: Model,
    says: str | None = None,
    *,
    words: tuple[str, str] = ("", ""),
    titles: tuple[str, str] = ("Before", "After"),
) -> MoonsPicture:
    """Draw two models side by side as `moons_picture` does, each with its own title and words."""
    said = [ask(model, says) for model in (before, after)]
    panels = [panel(*one) for one in zip(said, words, titles, strict=True)]
    body = beside([body for body, _ in panels], LARGE.wide)
    drawn = with_legend(body, 2 * LARGE.wide, max(high for _, high in panels))
    alts = [f"{title}: {described(*one)}" for title, *one in zip(titles, said, words, strict=True)]
    texts = [f"{title}: {told(one)}" for title, one in zip(titles, said, strict=True)]
    alt = " ".join(alts)
    return MoonsPicture(document(*drawn, alt), alt, "\n".join(texts))


def moons_strip(steps: Sequence[tuple[str, Model]], says: str | None = None) -> MoonsPicture:
    """Draw small pictures in a row, or in two, from pairs: a name such as "step 4", and a model."""
    said = [(name, ask(model, says)) for name, model in steps]
    panels = [small_panel(answers, name) for name, answers in said]
    rows = 1 if len(said) <= IN_A_ROW else 2
    across, high = -(-len(said) // rows), panels[0][1]
    body = ""
    for row in range(rows):
        some = [body for body, _ in panels[row * across : (row + 1) * across]]
        body += beside(some, SMALL.wide, row * high)
    counts = [f"{'NaN' if one.silent else one.right} at {name}" for name, one in said]
    text = f"Right, of {len(MOON)} points: {', '.join(counts)}."
    alt = f"The two moons at {len(said)} moments. {text}"
    return MoonsPicture(document(body, across * SMALL.wide, rows * high, alt), alt, text)
