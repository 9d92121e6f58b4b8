"""A small lesson in the form of lessons as it is stored: a case, a round, a demonstration that asks
nothing, the way back to the case, an exercise. Touches nothing.
"""

from made_up_guesses import PIXEL, because, code, guess, printed, shown, text
from nbformat.v4 import new_notebook

QUESTION = "## 10:40 · Who moves it?\n\n**Predict.** Which?\n\n- (a) one\n- (b) two\n- (c) three"
REASONED = "The two ways meet in one card, so the last line is the one to change."
LONG = " ".join(["We wrote the mended line above the old one, and ran both of them once more."] * 4)


def cells():
    """Return all cells of the notebook."""
    picture, moons = (shown({"image/png": PIXEL, "text/plain": "<Figure>"}) for _ in "12")
    return [
        text("title", "# 99 · Rounds\n\nAbout an hour, and forty minutes of exercises."),
        text("case", "## 09:00 · The case\n\nIt stands still."),
        code("run", "broken()", printed("50 of 100\n")),
        text("text", "Nobody touched it."),
        text("question", QUESTION, id="99.q1", right="b", minutes=1),
        guess("99.q1"),
        code("run", "moved()", printed("two moved it\n")),
        because("It multiplies, so two came.\n\n- (a) It sounds so."),
        text("text", "And once more, the other way round:"),
        code("run", "moved_back()", printed("and back\n")),
        text("notes", "**Guesses.** Most say a."),
        text("text", "### A nudge\n\nA little more of it, and a look."),
        code("run", "nudged()", printed("8.1\n")),
        text("text", f"{LONG} Look:"),
        code("run", "looked()", printed("8.2\n"), ask="How far?"),
        text("text", f"## A table\n\nSee here:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{LONG}"),
        text("return", f"## Back to the case\n\n{REASONED}"),
        code("run", "drawn()", picture, caption="Two ways meet in one card."),
        text("text", "In its place we write:", slide={"takeaway": "One line."}),
        code("run", "mended()", printed("86 of 100\n")),
        code("run", "moons_pair(before, model)", moons, caption="A line runs between them."),
        text("notes", "**Wait** until somebody names the line."),
        text("text", "It was one line."),
        text("exercise", "## Your turn\n\n**99.1** · easy · 3 minutes. How many?"),
        code("stub", 'answer = ...\ncheck("99.1", answer)', printed("99.1: not answered yet.\n")),
        text("recap", "## Recap"),
    ]


def notebook():
    """Return the notebook."""
    return new_notebook(cells=cells())
