"""The glossary: a notebook whose entries are written from data, handed out with its outputs, whose
links lead to lessons, and whose box filters the entries.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
import torch
from glossary_cells import ENTRY, with_entries
from nbformat.v4 import new_code_cell, new_notebook, new_output
from notebook_rules import Lesson

from autograd_graphs.diagnosing.catalogue import book
from autograd_graphs.diagnosing.entries import entries
from course import workspace
from helpers import diagnose
from helpers.clinic import filter_box
from helpers.lessons import listings

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"


def sources(notebook):
    return [(cell["id"], "".join(cell["source"])) for cell in notebook["cells"]]


def test_its_text_is_what_the_data_holds_today():
    stored = nbformat.read(GLOSSARY, 4)
    written = nbformat.read(GLOSSARY, 4)
    with_entries(written)
    assert sources(written) == sources(stored)
    cells = [text for name, text in sources(stored) if name.startswith(ENTRY)]
    assert cells == [one.source for one in entries()]


def test_a_claim_stays_below_its_entry_and_one_without_an_entry_is_named():
    made = nbformat.read(GLOSSARY, 4)
    claim = nbformat.v4.new_code_cell("assert True", metadata={"course": {"role": "claim"}})
    at = [cell.id for cell in made.cells].index("entry-view")
    made.cells = [*made.cells[: at + 1], claim, *made.cells[at + 1 :]]
    wanted = [cell.id for cell in made.cells]
    with_entries(made)
    assert [cell.id for cell in made.cells] == wanted
    made.cells[at].id = "entry-window"
    with pytest.raises(ValueError, match="Claims stand below entry-window, which is no entry"):
        with_entries(made)


def test_every_link_leads_to_a_lesson_and_every_cause_and_term_to_its_own():
    stems = {path.name[:2]: path.stem for path in sorted(ROOT.glob("notebooks/[0-9][0-9]_*.ipynb"))}
    assert stems == {number: one.file for number, one in listings().items() if number in stems}
    for one in entries():
        links = re.findall(r"\[[Ll]esson (\d\d)\]\((\w+)\.ipynb\)", one.text)
        assert tuple(number for number, _ in links) == one.lessons
        assert links or one.section != "term"
        for number, stem in links:
            assert stem == stems.get(number, listings()[number].file)


def test_the_symptoms_lead_to_cases_that_are_there():
    clinic = nbformat.read(GLOSSARY.with_name("clinic.ipynb"), 4)
    there = {cell.id for cell in clinic.cells}
    cases = {f"case-{case}" for one in book().symptoms for case in one.cases}
    assert cases == {name for name in there if name.startswith("case-")}


MISSING = "'float' and 'NoneType'"
RAISED = {  # what is computed with a weight -> the entry that diagnose shows
    lambda w: w.grad * 0.5: MISSING,
    lambda w: w - w.grad: MISSING,
    lambda w: w.grad * w: MISSING,
    lambda w: 0.5 * w.grad: MISSING,
    lambda w: torch.randn(3, required_grad=True): "unexpected keyword argument 'required_grad'",
}


@pytest.mark.parametrize(("call", "message"), RAISED.items())
def test_an_error_that_comes_in_other_words_leads_to_its_entry(call, message, capsys):
    with pytest.raises(TypeError) as found:
        call(torch.ones(1, requires_grad=True))
    assert meaning_of(message) in shown(f"TypeError: {found.value}", capsys)


def test_a_message_of_another_machine_leads_to_its_entry(capsys):
    message = "No CUDA GPUs are available"
    assert meaning_of(message) in shown(f"RuntimeError: {message}", capsys)


def meaning_of(message):
    (symptom,) = [one for one in book().symptoms if message in one.message]
    return symptom.means


def shown(given, capsys):
    """Return what diagnose shows of an error or a message, in one line."""
    diagnose(given)
    return " ".join(capsys.readouterr().out.split())


class Box(HTMLParser):
    """Collect of the box: where its links lead, and which elements it has."""

    def __init__(self, page):
        super().__init__()
        self.links, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])


def test_the_box_lists_every_entry_with_a_link_to_it_and_to_its_lessons():
    box = Box(filter_box.listed())
    assert [at[1:] for at in box.links if at.startswith("#")] == [one.anchor for one in entries()]
    lessons = {listings()[lesson].link for one in entries() for lesson in one.lessons}
    named = {case for one in book().symptoms for case in one.cases}
    cases = {f"clinic.ipynb#cell-id=case-{case}" for case in named}
    assert {at for at in box.links if not at.startswith("#")} == lessons | cases
    assert not {"script", "style", "input"} & set(box.tags), "where no script runs it is a list"


def test_the_box_is_stored_as_it_is_made_today():
    (output,) = Lesson.at(GLOSSARY).code[0].outputs
    assert dict(output["data"]) == filter_box.filter_box()._repr_mimebundle_()
    assert f"{len(entries())} entries" in output["data"]["text/plain"]
    assert output["data"]["text/html"].count("<script>") == 1


def test_its_script_fetches_nothing_and_ends_no_element():
    script = filter_box.script_text()
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?:|innerHTML|</", script)
    assert "//" not in script


def test_a_student_gets_it_with_what_it_shows_and_always_the_latest(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    for folder in ("figs", "notebooks"):
        (tmp_path / folder).mkdir()
    master, mine = (tmp_path / folder / "glossary.ipynb" for folder in ("notebooks", "work"))

    def write(path, shown, source="terms()"):
        cell = new_code_cell(source, id="one", outputs=[new_output("stream", text=shown)])
        nbformat.write(new_notebook(cells=[cell]), path)

    def copied():
        (cell,) = nbformat.read(mine, 4).cells
        return cell.source, cell.outputs[0].text

    write(master, "one word")
    assert workspace.sync(tmp_path) == ["glossary.ipynb: copied into work/."]
    assert copied() == ("terms()", "one word")
    write(master, "two words")
    assert workspace.sync(tmp_path) == []
    assert copied() == ("terms()", "two words")
    write(mine, "two words", "diagnose()")
    write(master, "three words")
    assert workspace.sync(tmp_path) == []
    assert copied() == ("diagnose()", "two words")
    (said, *_) = workspace.reset("glossary", tmp_path)
    assert said == "glossary.ipynb: your copy is kept as glossary-kept.ipynb."
    assert copied() == ("terms()", "three words")
