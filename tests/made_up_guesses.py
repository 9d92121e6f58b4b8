"""A small notebook in rounds as it is stored: a question with a picture, one of numbers, a lab, one of
the quiz. The right answers are b, and 405 and -0.5. Touches nothing.
"""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.predicting import questions
from helpers.predicting.prediction import ASKED

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CAPTION = "Where the two ways meet, `x` waits for both <at once>."
DATA = {
    "99.q1": {
        "title": "One",
        "letters": "abc",
        "right": "b",
        "takeaway": "It multiplies.",
        "why": {"a": "It sounds so: a < b.</script>", "c": "No matrix is built."},
    },
    "99.q2": {
        "title": "Two",
        "right": [405, -0.5],
        "takeaway": "Paths add.",
        "why": {"33, 5": "33 is the sum."},
    },
    "quiz.9": {"title": "Nine", "letters": "abc", "settled": "02"},
}
ALL = {name: questions.made(name, data) for name, data in DATA.items()}
LONG = "\n".join(["", *[f"count({number})" for number in range(8)]])  # half of a slide
TYPES = {"title": "slide", "question": "slide", "guess": "fragment", "notes": "notes"}


def text(role, source, **course):
    """Return a text cell with a role."""
    return new_markdown_cell(source, metadata=place(role, course))


def code(role, source, *outputs, **course):
    """Return a code cell with a role, as if it had been run."""
    return new_code_cell(
        source, metadata=place(role, course), execution_count=1, outputs=list(outputs)
    )


def place(role, course):
    shown = {"slide_type": TYPES.get(role, "subslide")}
    return {"course": {"role": role} | course, "slideshow": shown}


def guess(name):
    """Return the cell that asks a question, and its output as it is stored."""
    return code("guess", f'predict("{name}")', asked(name))


def asked(name):
    return shown({ASKED: name, "text/plain": f"{name}: your guess"})


def shown(data):
    return new_output("display_data", data=data)


def printed(words):
    return new_output("stream", text=words)


def because(words):
    summary = "<summary>Why? Open it when you have run the cell</summary>"
    return text("because", f"<details>{summary}\n\n{words}\n</details>")


def cells():
    """Return all cells of the notebook."""
    options = "**Predict.** Which?\n\n- (a) one\n- (b) two\n- (c) three"
    picture = shown({"image/png": PIXEL, "text/plain": "<Figure>"})
    return [
        text("title", "# 99 · Rounds"),
        text("question", f"## 1 · One\n\n{options}", id="99.q1", right="b", minutes=1),
        guess("99.q1"),
        code("run", "draw()", printed("it printed two\n"), picture, caption=CAPTION, expects=["x"]),
        because("**It multiplies.** So two came.\n\n- (a) It sounds so."),
        code(
            "run",
            "draw_again()" + LONG,
            printed("and two again\n"),
            slide={"takeaway": "Two, always."},
        ),
        text("notes", "**Guesses.** Most say a. **Ask next.** Why?"),
        text("question", "## 2 · Two\n\n**Predict.** Two numbers.", id="99.q2", answer=[405, -0.5]),
        guess("99.q2"),
        code("run", "count()" + LONG, printed("405 and so on\n")),
        because("**Paths add.** So they do."),
        text("lab", "## Lab: try\n\n1. What?", id="99.lab", minutes=4),
        code("run", "labs.play()", printed("a lab\n")),
        because("**It plays.** One sees it."),
        text(
            "question",
            "## 3 · Nine\n\n- (a) one\n- (b) two\n- (c) three",
            id="quiz.9",
            settled="02",
        ),
        guess("quiz.9"),
        code("run", "later()", printed("seen at once\n")),
        text("recap", "## Recap"),
    ]


def notebook():
    """Return the notebook."""
    return new_notebook(cells=cells())
