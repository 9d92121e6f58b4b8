"""What students hand in is found by their names, as files or as a learning platform packs them."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom import assignment
from classroom.grading.handed_in import NOT_ONE, TWICE, notebook_in, submissions, without_place


def placed(id):
    return assignment.described(new_code_cell("answer = 1"), "answer", id)


def put(path, notebook=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook or new_notebook(cells=[placed("03.1")]), path)
    return path


def test_a_file_or_a_folder_with_one_notebook_is_of_the_student_it_is_named_after(tmp_path):
    names = ["ada", "Élodie O'Neil", "b.c@school.example", "Łukasz"]
    files = {name: put(tmp_path / f"{name}.ipynb") for name in names}
    moodle = "Grace Hopper_123_assignsubmission_file_"
    files[moodle] = put(tmp_path / moodle / "lessons_03.ipynb")
    (tmp_path / "notes.txt").write_text("no notebook")
    (tmp_path / ".DS_Store").write_text("")
    assert submissions(tmp_path) == (files, [])


@pytest.mark.parametrize("name", ["=SUM(1)", "-rf", "@x", "..", "a\nb", "a*", "x" * 101])
def test_a_name_that_could_do_harm_is_refused_and_said(tmp_path, name):
    put(tmp_path / f"{name}.ipynb")
    found, (said,) = submissions(tmp_path)
    assert found == {}
    assert "Name it after its student" in said
    assert said.isprintable()


def test_a_folder_with_no_or_two_notebooks_and_a_second_file_of_one_student_are_said(tmp_path):
    (tmp_path / "empty").mkdir()
    for one in ("a", "b"):
        put(tmp_path / "two" / f"{one}.ipynb")
    first, second = put(tmp_path / "ada" / "x.ipynb"), put(tmp_path / "ada.ipynb")
    found, said = submissions(tmp_path)
    assert found == {"ada": first}
    assert second.exists()
    assert said == [TWICE.format("ada.ipynb"), NOT_ONE.format("empty", 0), NOT_ONE.format("two", 2)]


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    put(tmp_path / "outside" / "x.ipynb")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "ada").symlink_to(tmp_path / "outside")
    assert submissions(inside) == ({}, [])


def test_a_link_to_a_file_and_what_is_no_notebook_are_not_read(tmp_path):
    (tmp_path / "linked.ipynb").symlink_to(put(tmp_path / "outside" / "x.ipynb"))
    (tmp_path / "broken.ipynb").write_text("no notebook", "utf-8")
    assert "couldn't be opened" in notebook_in(tmp_path / "linked.ipynb")[1]
    assert "holds no notebook" in notebook_in(tmp_path / "broken.ipynb")[1]


def test_cells_that_are_missing_are_named(tmp_path):
    release = new_notebook(cells=[placed("03.1"), placed("03.2")])
    text, why = notebook_in(put(tmp_path / "ada.ipynb"))
    assert why == ""
    assert without_place(text, release) == ["03.2"]


def test_cells_that_were_copied_twice_are_no_trouble(tmp_path):
    """Warnings are errors here; nbformat warns of two cells with one id."""
    twice = new_notebook(cells=[placed("03.1")])
    twice.cells *= 2
    path = tmp_path / "ada.ipynb"
    path.write_text(json.dumps(twice), "utf-8")
    text, why = notebook_in(path)
    assert (why, without_place(text, twice)) == ("", [])
