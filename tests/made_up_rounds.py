"""A small lesson that keeps every rule: for tests that break it. Touches nothing.

Its outputs are written by hand, and no kernel would give them: `made_up_lesson` can be run.
"""

from copy import deepcopy
from functools import cache

from made_up_lesson import code, counted, error, exercise, picture, result, stream, text

from helpers.predicting.round_text import SUMMARY

NAME = "99_made_up.ipynb"
TITLE = """# 99 · A made-up lesson

**You will be able to** *say* what a product is.

**Needs** nothing. About half an hour, and twenty minutes of exercises."""
TWO_ATTEMPTS = """x = torch.tensor(3.0)
with attempt():
    x.backward()
with attempt():
    x.numpy()
x"""
THE_ERROR, THE_PICTURE = 3, 7  # of the runs, counted from 0
RAISED = "RuntimeError: element 0 of tensors does not require\ngrad and does not have a grad_fn\n"


def with_role(cell, role, **course):
    """Return a cell with a role, and what else belongs into its metadata."""
    cell["metadata"]["course"] = {"role": role, **course}
    return cell


def fold(*lines):
    """Return the text of a because."""
    body = "\n".join(lines)
    return f"<details><summary>{SUMMARY}</summary>\n\n{body}\n</details>"


def question(name, source, call="predict", **course):
    """Return the cell that asks, and the one with the buttons."""
    name = f"99.{name}"
    asked = with_role(text(source), "question", id=name, minutes=1, **course)
    guess = with_role(
        code(f'{call}("{name}")', result(f"{name}: your guess, one of a, b, c")), "guess"
    )
    return [asked, guess]


def answer(*lines):
    """Return the reason, and what the speaker needs."""
    notes = "**Guesses.** Many. **Wait** a minute. **Ask next.** Why?"
    return [with_role(text(fold(*lines)), "because"), with_role(text(notes), "notes")]


def claim(source, *outputs):
    """Return a cell that holds up what is said above it."""
    return with_role(code(source, *outputs, slide="notes"), "claim")


def product():
    """Return a round with the right letter (b)."""
    asked = "## 10:40 · What does `*` give?\n\n`6 * 7` is asked for.\n\n**Predict.** What comes?\n\n- (a) 13\n- (b) 42\n- (c) 67"
    return [
        *question("q1", asked, right="b"),
        with_role(code("6 * 7", result("42")), "run", caption="A number stands alone."),
        *answer(
            "**A product counts rows and columns.** Six rows of seven.",
            "",
            "- (a) That is the sum, which `+` gives.",
            "- (c) This puts the digits side by side.",
        ),
        claim("assert sum(7 for row in range(6)) == 42\n(lambda x: x * 7)(6)", result("42")),
    ]


def errors():
    """Return a round of the same idea with two attempts, and one run more after the reason."""
    asked = "### And without a request?\n\n**Predict.** Which line is refused?\n\n- (a) none\n- (b) both\n- (c) one"
    expects = ["RuntimeError: does not require grad", "(no error)"]
    return [
        *question("q2", asked, right="c"),
        with_role(
            code(TWO_ATTEMPTS, stream(RAISED + "(no error)\n"), result("3.")),
            "run",
            expects=expects,
        ),
        *answer(
            "**A walk needs a request.** `numpy()` needs none.",
            "",
            "- (a) A walk begins at something recorded.",
            "- (b) `numpy()` asks for less.",
        ),
        with_role(code("assert 6 * 7 == 42\nx", result("3.")), "run"),
    ]


def traceback():
    """Return a round that ends in the one genuine error."""
    asked = "## Who complains?\n\n**Explain.** What stands in the last line?"
    told = {"good": "The kind of the error.", "points": ["It is the kind."]}
    raised = code('raise ValueError("no graph here")', error(), tags=["raises-exception"])
    return [
        *question("e1", asked, call="explain", kind="explain", **told),
        with_role(raised, "run"),
        *answer("The last line says what went wrong. Lines and files stand above."),
    ]


def number():
    """Return a round that asks for two numbers."""
    asked = "## How many?\n\n**Predict** and write down.\n\n**Predict.** Two numbers, please."
    return [
        *question("q3", asked, answer=[405, 5], tolerance=0.01),
        with_role(code("5 * 81, 2 + 3", result("(405, 5)")), "run"),
        *answer(
            "**Products first.**",
            "",
            "- 27, 9: Those are factors alone.",
            "- 33, 5: One of them is a sum.",
        ),
    ]


def lab():
    """Return a lab with two questions."""
    asked = "## Lab: turn it\n\nClick into it.\n\n1. How often?\n2. How far?"
    return [
        with_role(text(asked), "lab", minutes=5),
        with_role(code("6 * 7", result("42")), "run"),
        with_role(code("# Your turn: another number"), "try"),
        *answer("**It turns once.**", "", "1. Once.", "2. All the way."),
    ]


def stretch():
    """Return a demonstration that asks nothing."""
    return [
        with_role(text("### A map\n\nWhat came is a map of what is to come."), "text"),
        with_role(code("6 * 8", result("48")), "run"),
    ]


def back():
    """Return the way back to the case, which is mended there."""
    return [
        with_role(text("## Back to the case\n\nOne card, and no other."), "return"),
        with_role(code("show(x * y)", picture()), "run", caption="One card."),
        with_role(text("So the product comes first."), "text"),
    ]


def exercises():
    """Return three exercises under their heading."""
    stubs = [exercise(f"99.{k}") for k in (1, 2, 3)]
    found = [with_role(text("## Exercises"), "exercise")]
    for statement, stub in stubs:
        found += [with_role(statement, "exercise"), with_role(stub, "stub")]
    return found


def quiz():
    """Return a question that another lesson answers."""
    asked = "### Quiz 1\n\n**Predict.** How often?\n\n- (a) once\n- (b) twice\n- (c) never"
    cell, guess = question("q5", asked, settled="07")
    cell["metadata"]["course"]["id"], guess["source"] = "quiz.1", 'predict("quiz.1")'
    return [with_role(text("## Quiz"), "text"), cell, guess]


def cells():
    """Return the cells of the lesson."""
    return [
        with_role(text(TITLE), "title"),
        with_role(code("import torch\nfrom helpers import attempt, check, predict, show"), "setup"),
        *product(),
        *errors(),
        *traceback(),
        *number(),
        *lab(),
        *stretch(),
        *back(),
        *quiz(),
        *exercises(),
        with_role(text("## Recap\n\nLook at your guesses."), "recap"),
        with_role(code("show(x * y)", picture()), "run", caption="One card."),
    ]


def notebook():
    """Return the whole notebook as nbformat reads it, with its counts; a new one each time."""
    return deepcopy(_notebook())


@cache
def _notebook():
    return counted(cells())
