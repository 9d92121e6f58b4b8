"""`find` answers with the entries that are meant, in any spelling that is near, and never raises."""

import json
from pathlib import Path

import pytest
from IPython.core.formatters import DisplayFormatter
from markdown_it import MarkdownIt

from autograd_graphs.diagnosing.catalogue import book
from autograd_graphs.diagnosing.entries import entries, plain
from autograd_graphs.diagnosing.search import MOST
from helpers import find

FIRST = {
    "Why reain_graph is needed here ?": "retain_graph",
    "你好，出现deepcopy错误": "support the deepcopy protocol",
    "leaf": "leaf",
    "what is a saved tensor?": "saved tensor",
    "retian_graph": "retain_graph",
    "zero_grad": "zero_grad()",
    "optimiser": "optimizer",
    "acumulate grad": "AccumulateGrad",
    "VJP": "vector-Jacobian product",
    "jacobian-vector": "vector-Jacobian product",
    "trying to bakward thru graph secnd time": "Trying to backward through the graph a second time",
    "in-place": "in-place operation",
    "memory leak": "Memory grows with every iteration of the loop",
    "memory grows": "Memory grows with every iteration of the loop",
    "why is my .grad None": ".grad is None where zeros were expected",
}
PHRASINGS = json.loads((Path(__file__).parent / "phrasings.json").read_text(encoding="utf-8"))
ELSEWHERE = [
    "pandas merge",
    "install cuda driver",
    "ImportError: no module 'cv2'",
    "jupyter notebook kernel keeps dying",
    "KeyError: 'label'",
    "matplotlib legend outside plot",
    "Fix QAT range learning, ensure scales get gradients",
    "Multi-GPU inference picks an invalid device ordinal",
]
BADLY = [  # titles of reports whose words the glossary has, and whose fault it does not
    "Gradient clipping before unscale_ makes the norm tiny with GradScaler",
    "SparseAdam: 'params' with sparse embedding gradients",
    "grad can be implicitly created only for real scalar outputs but got torch.complex64",
    "MAML inner loop: gradients are None after updating weights through .data",
]
TRACEBACK = """---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[3], line 4
      2 loss = (x * x).sum()
      3 loss.backward()
----> 4 loss.backward()

RuntimeError: {}"""


def names(asked):
    return [one.name for one in find(asked).entries]


@pytest.mark.parametrize("asked", FIRST)
def test_the_entry_that_is_meant_comes_first(asked):
    assert names(asked)[0] == FIRST[asked]
    assert len(names(asked)) <= MOST
    assert find(asked).said == ""


def test_what_people_type_is_among_the_three_that_are_shown():
    missed = [one for one in PHRASINGS if set(one["entry"]).isdisjoint(names(one["typed"]))]
    assert len(PHRASINGS) >= 280
    assert {name for one in PHRASINGS for name in one["entry"]} <= {one.name for one in entries()}
    assert len(missed) <= len(PHRASINGS) / 10, missed


@pytest.mark.parametrize("one", entries(), ids=lambda one: one.cell)
def test_every_entry_is_found_by_its_name(one):
    assert names(one.name)[0] == one.name
    assert one.name in names(one.name.upper())
    for other in one.also:
        assert one.name in names(other)


@pytest.mark.parametrize(
    "one", [one for one in book().symptoms if one.kind != "silent"], ids=lambda one: one.message
)
def test_a_pasted_message_is_found_in_a_traceback_of_any_case_and_width(one):
    text = TRACEBACK.format(f"The first half: {one.message}, and more words of torch.")
    for pasted in (text, text.upper(), text.replace(" ", "\n"), f"{one.type}: {one.message}"):
        assert names(pasted)[0] == plain(one.message)


def test_an_exception_is_looked_up_by_its_message():
    error = RuntimeError("grad can be implicitly created only for scalar outputs")
    assert names(error)[0] == "grad can be implicitly created only for scalar outputs"


def test_of_two_errors_in_a_traceback_both_are_found():
    first, second = (book().symptoms[at].message for at in (0, 2))
    pasted = f"RuntimeError: {first}\n\nDuring handling of it another one occurred\n\nRuntimeError: {second}"
    assert set(names(pasted)) >= {first, second}


@pytest.mark.parametrize(
    "asked", ["zeppelin", "qqqq", "is", "RuntimeError: mat1 and mat2 shapes", *ELSEWHERE]
)
def test_where_nothing_is_found_it_says_so_and_what_to_do(asked):
    found = find(asked)
    assert found.entries == ()
    told = " ".join(repr(found).split())
    assert told.startswith(f"The glossary has nothing on “{asked}”. ")
    assert told.endswith("or paste the last line of the error.")


@pytest.mark.parametrize("asked", BADLY)
def test_where_no_entry_speaks_of_most_that_was_typed_none_is_said_to_fit(asked):
    assert find(asked).said == "Nothing in the glossary fits this well. Some of its words are in:"


def test_of_an_unknown_message_it_says_that_it_is_unknown():
    found = find("ValueError: gradient")
    assert found.said == "The glossary doesn't know this message. Some of its words are in:"
    assert "gradient" in [one.name for one in found.entries]


def test_a_terminal_shows_text_with_the_lesson_and_no_marks():
    found = find("AccumulateGrad")
    shown = repr(found).splitlines()
    assert shown[0] == "AccumulateGrad"
    assert found.entries[0].words.startswith(shown[1].removeprefix("  "))
    assert "Lesson 04" in shown[2]
    assert not {"`", "[", "*"} & set("".join(shown))
    assert max(map(len, repr(find("grad")).splitlines())) <= 100


def test_a_notebook_shows_markdown_with_links_to_the_entry_and_its_lesson():
    data, _ = DisplayFormatter().format(find("leaf"))
    page = MarkdownIt("commonmark").render(data["text/markdown"])
    assert '<a href="glossary.ipynb#cell-id=entry-leaf">leaf</a>' in page
    assert '<a href="03_leaf_and_non_leaf.ipynb">Lesson 03</a>' in page
    assert data["text/plain"] == repr(find("leaf"))


def test_what_was_typed_is_text_in_markdown():
    typed = "<b>*_zeppelin_*</b> [qq](zz) `qq` $q$"
    page = MarkdownIt("commonmark").render(find(typed)._repr_markdown_())
    assert not {"<b>", "<em>", "<code>q"} & {page[at : at + 7] for at in range(len(page))}
    assert "<b>" not in page
    assert '<a href="zz">' not in page


class Hostile:
    def __repr__(self):
        raise RuntimeError("hands off")

    def __class__(self):
        raise RuntimeError("hands off")


BAD = {
    "nothing": (None, "find looks up a word or a message in the glossary: for example"),
    "a number": (3, "find was given the number 3. Give it text in quotes"),
    "an object": (Hostile(), "find was given an object of type Hostile. Give it text in quotes"),
    "an empty text": ("", "find was given an empty text. Give it a word"),
    "signs": ("?!…", "find was given '?!…', which has no word. Give it a word"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_words(case):
    given, words = BAD[case]
    found = find(given)
    assert words in " ".join(repr(found).split())
    assert 'find("leaf")' in found.said
    assert found.entries == ()


def test_a_text_without_end_is_cut_to_where_a_traceback_speaks():
    message = "Trying to backward through the graph a second time"
    found = find("x " * 500_000 + f"\nRuntimeError: {message}")
    assert found.said.startswith("The text has 1,000,065 characters. I looked at the last 10,000.")
    assert found.entries[0].name == message


def test_a_fault_of_its_own_is_a_sentence(monkeypatch):
    def fails(text):
        raise ZeroDivisionError

    monkeypatch.setattr("autograd_graphs.diagnosing.finding.search", fails)
    assert "find stopped (ZeroDivisionError)" in repr(find("leaf"))
