"""A card says by sign, word and colour how an answer stands; a terminal gets the text alone."""

import contextlib
import io
import re

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from test_palette import contrast

from autograd_graphs.answer_card import (
    AMBER,
    COLUMNS,
    GREEN,
    RED,
    STYLES,
    Card,
    code,
    html,
    marked,
    rows,
    strip_marks,
)
from autograd_graphs.text import first_sentence
from course.publishing.inert import inert
from helpers import check, diagnose, expect_error, hint
from helpers.exercises import checking
from helpers.exercises import exercise as registry

ALL = [exercise for lesson in registry.lessons() for exercise in registry.exercises(lesson)]
RIGHT = float(registry.find("00.1").truth())
GROUNDS = ("#ffffff", "#111111", "#14181d", "#131416")  # JupyterLab, pages and the site's dark


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """An IPython that keeps what is displayed, as a notebook does."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(checking, "_given", {})
    monkeypatch.setattr(checking, "_tried", {})
    made = InteractiveShell.instance()
    shown = []
    monkeypatch.setattr(made.display_pub, "publish", lambda data, **_: shown.append(data))
    yield shown
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


def displayed(shown, call, *args):
    """Return the HTML and the text of the one card that a call displays."""
    shown.clear()
    call(*args)
    (data,) = shown
    assert set(data) == {"text/plain", "text/html"}
    return data["text/html"], data["text/plain"]


@pytest.mark.parametrize(
    ("call", "sign", "word", "colour"),
    [
        (lambda: check("00.1", RIGHT), "✓", "Right", GREEN),
        (lambda: check("00.1", 5.0), "✗", "Not right", RED),
        (lambda: check("00.1", 77), "✗", "Not right", RED),
        (lambda: check("00.1", ...), "◐", "Not yet", AMBER),
        (lambda: check("00.1", "no number"), "◐", "Not understood", AMBER),
        (lambda: check("00.99", 1), "◐", "Not checked", AMBER),
        (
            lambda: check("09.3", lambda x: x.relu() * (4 - x.numel() / 2) / 3),
            "◐",
            "Partly right",
            AMBER,
        ),
        (lambda: check("10.8", lambda batch, device: 1 / len(batch)), "✗", "Not right", RED),
        (lambda: hint("00.1"), "◐", "Hint 1 of 2", AMBER),
        (lambda: hint("00.1", 5), "◐", "No hint", AMBER),
        (lambda: diagnose(ValueError("no")), "✗", "ValueError", RED),
        (lambda: diagnose(UserWarning("hm")), "◐", "UserWarning", AMBER),
        (lambda: diagnose(3), "◐", "No error", AMBER),
    ],
)
def test_sign_word_and_colour_stand_together(shell, call, sign, word, colour):
    page, text = displayed(shell, call)
    label = f'<span aria-hidden="true">{sign}</span> {word}</b>'
    assert page.count(f"background:{colour}") == page.count(label) == 1
    assert page.count("<style") == 0
    assert text


def test_an_expected_error_is_right_and_a_missing_one_is_wrong(shell):
    with expect_error(RuntimeError, "does not require grad"):
        torch.ones(1).backward()
    (data,) = shell
    assert "✓</span> RuntimeError, as expected</b>" in data["text/html"]
    assert data["text/plain"].startswith("RuntimeError: element 0")
    notebook = InteractiveShell.instance()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        notebook.run_cell("from helpers import expect_error")
        notebook.run_cell("with expect_error(RuntimeError, 'zzz'):\n    raise ValueError('zzz')")
    said = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert re.search(r"AssertionError: [\w ]+: see the card above\.\s*$", said)
    assert "/helpers/" not in said
    assert "direct cause" in said  # what came is there to be read
    assert "✗</span>" in shell[-1]["text/html"]
    assert "It failed with ValueError: zzz" in " ".join(shell[-1]["text/plain"].split())


def test_every_card_of_a_lesson_is_under_a_kilobyte_and_survives_publishing(shell):
    for exercise in ALL:
        calls = [(check, exercise.id, ...), (check, exercise.id, object())]
        calls += [(hint, exercise.id, number) for number in range(1, len(exercise.hints) + 1)]
        letters = exercise.letters.allowed if exercise.letters else ""
        calls += [(check, exercise.id, letters[:end]) for end in range(1, len(letters))]
        for call in calls:
            page, _ = displayed(shell, *call)
            assert len(page.encode()) < 1_000, call
            assert inert(page) == page.replace("&quot;", '"').replace("&#x27;", "'"), call
        if letters:
            seen = page.partition("<details>")[0]
            assert seen.count("<li>") == len(exercise.letters.about), exercise.id
        for text in [exercise.right, *[idea.message for idea in exercise.misconceptions]]:
            page = html(Card("wrong", "Not right", exercise.id, text, text))
            assert len(page.encode()) < 1_000, text


@pytest.mark.parametrize("colour", [GREEN, AMBER, RED])
def test_the_label_can_be_read_and_the_rim_seen_on_every_ground(colour):
    assert contrast("#ffffff", colour) >= 4.5
    assert all(contrast(ground, colour) >= 3 for ground in GROUNDS)


def test_of_foreign_styles_none_is_published():
    page = '<div style="background:url(x)">a</div><b style="color:red">b</b>'
    assert inert(page) == "<div>a</div><b>b</b>"
    (style, *_) = sorted(STYLES)
    assert inert(f'<p style="{style}">a</p>') == "<p>a</p>"


def test_what_a_student_wrote_is_escaped(shell):
    page, _ = displayed(shell, check, "00.1", "<script>alert(1)</script>&\x1b")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    page, _ = displayed(shell, diagnose, RuntimeError("<img src=x onerror=1>"))
    assert "<img" not in page


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Call f(x).sum() and `a b`, then x.grad.", ["f(x).sum()", "a b", "x.grad"]),
        ("pass retain_graph=True, e.g. here", ["retain_graph=True"]),
        ("shape (2, 3), values [1, [2, 3]]", ["(2, 3)", "[1, [2, 3]]"]),
        ("AddBackward0 (see lesson 04)", ["AddBackward0"]),
        (f"line 3: {code('y += 1')}", ["y += 1"]),
        ("plain words, and no more.", []),
    ],
)
def test_code_and_values_are_set_as_code(text, codes):
    page = marked(text)
    assert re.findall("<code>(.*?)</code>", page) == codes
    assert re.sub("</?code>", "", page) == strip_marks(text).replace("`", "")


def test_a_long_card_shows_ten_lines_and_folds_the_rest(shell):
    y = torch.ones(2, requires_grad=True).exp()
    y += 1
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    page, text = displayed(shell, diagnose, caught.value)
    seen, folded = page.split("<details><summary>")
    lines = [re.sub("<.*?>", "", line) for line in re.split("<(?:div|li)[^>]*>", seen) if line]
    assert sum(map(rows, lines)) <= 10
    assert "Try:" in seen
    assert re.match(r"\d+ more lines</summary>", folded)
    assert len(folded) > COLUMNS
    assert "You updated the weights" in " ".join(text.split())
    assert first_sentence(str(caught.value))[:60] in " ".join(text.split())


REFUSED = {
    "loss = (x * x).sum()\nloss.backward()\nstep_through(loss)": "backward() has already been through a part of the graph of loss",
    "record(x.sum(), names=3)": "names is int",
    "y = x * 1\ny.register_hook(lambda grad: 1 / 0)\nrecord(y.sum())": "division by zero",
}


@pytest.mark.parametrize("source", REFUSED)
def test_a_refusal_is_one_short_error_without_a_frame_of_ours(shell, source):
    notebook = InteractiveShell.instance()
    begin = "import torch\nfrom helpers import record, step_through\nx = torch.ones(2, requires_grad=True)"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        notebook.run_cell(begin)
        assert out.getvalue() == ""
        notebook.run_cell(source)
    said = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert REFUSED[source] in said
    assert "/helpers/" not in said
    assert "direct cause" not in said
    assert "During handling" not in said
    assert said.count("Traceback (most recent call last)") == 1
    assert "----> " in said  # the learner's line
    if "/torch/" in said:
        assert "1 / 0" in said  # a hook of the learner's own
    else:
        assert len(said.splitlines()) < 12


def test_diagnose_knows_what_stands_behind_a_refusal(shell):
    notebook = InteractiveShell.instance()
    source = (
        "import torch\nfrom helpers import step_through, diagnose\n"
        "x = torch.ones(2, requires_grad=True)\nloss = (x * x).sum()\nloss.backward()\nstep_through(loss)"
    )
    with contextlib.redirect_stdout(io.StringIO()):
        notebook.run_cell(source, store_history=True)  # as every front end does
        shell.clear()
        notebook.run_cell("diagnose()", store_history=True)
    text = " ".join(shell[0]["text/plain"].split())
    assert text.startswith(
        "RuntimeError: backward() has already been through a part of the graph of loss: what MulBackward0 had saved"
    )
    assert "Freed by line 5: loss.backward() In your line" in text
    assert "It is behind" not in text


def test_a_terminal_that_knows_no_tick_gets_a_question_mark(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    check("00.1", RIGHT)
    out.flush()
    assert out.buffer.getvalue().startswith(b"00.1 ? ")
