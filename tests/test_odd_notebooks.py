"""Notebooks and films with odd or broken parts: each gets a page that opens, or a sentence."""

import copy
import json
import math

import hostile
import nbformat
import pytest
from made_up_film import lab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograd_graphs.playing.player import as_json
from course.present import chosen
from course.publish import main, publish
from course.publishing import films
from course.publishing.addresses import embedded
from course.publishing.notebook_file import Unpublishable

pytestmark = pytest.mark.slow

HALF = "\ud800"  # half a character: JSON can hold it, no file can


def whole():
    """Return a notebook with every kind of field, as plain JSON."""
    picture = {"text/plain": "x", "text/html": "<b>x</b>"}
    picture |= {"image/png": "AAAA", "image/svg+xml": "<svg/>"}
    outputs = [
        new_output("display_data", data=picture),
        new_output("stream", text="s"),
        new_output("error", ename="E", evalue="v", traceback=["a", "b"]),
    ]
    pasted = {"a.png": {"image/png": "AAAA"}}
    code = new_code_cell("1", execution_count=1, outputs=outputs)
    made = new_notebook(cells=[new_markdown_cell("# T", attachments=pasted), code])
    made.metadata["title"] = "T"
    return json.loads(nbformat.writes(made))


def places(thing, path=()):
    """Yield the path of every field."""
    yield path
    inner = list(enumerate(thing)) if isinstance(thing, list) else []
    for name, one in inner or getattr(thing, "items", list)():
        yield from places(one, (*path, name))


def put(thing, path, value):
    """Return a copy with another value at one place."""
    if not path:
        return value
    made = copy.copy(thing)
    made[path[0]] = put(thing[path[0]], path[1:], value)
    return made


def published(folder, notebook, to="page"):
    """Publish; return what was written, or the sentence of the refusal."""
    path, out = folder / "given.ipynb", folder / "out.html"
    path.write_text(json.dumps(notebook))
    try:
        return publish(path, to, out)
    except Unpublishable as refused:
        return str(refused)


@pytest.mark.parametrize("value", [None, {}, HALF, "<script>\x00"], ids=ascii)
def test_a_field_of_a_wrong_type_is_published_or_refused_in_a_sentence(tmp_path, value):
    for path in places(whole()):
        said = published(tmp_path, put(whole(), path, value))
        assert said.endswith("</html>\n") or len(said) < 600, path
        assert "<script>\x00" not in said.partition("<body")[2], path


SOURCES = {
    "quotes": "> " * 2_000,
    "folds": "<details>" * 1_000,
    "braces": f"${'{' * 3_000}$",
    "controls": "\x00\x0b\u2028\x1b[31m",
    "long name of a picture": f"![x]({'a' * 5_000}.png)",
    "no name of a picture": "![x](%00.png)",
    "a picture from elsewhere": "![x](../../../../etc/passwd.png)",
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_text_cell_of_any_shape_becomes_a_page(tmp_path, source, capfd):
    for to in ("page", "slides"):
        assert "</html>" in published(tmp_path, put(whole(), ("cells", 0, "source"), source), to)
    assert "Traceback" not in capfd.readouterr().err


def test_a_megabyte_of_colours_is_published_without_them(tmp_path):
    loud = "\x1b[31mx" * 200_000
    notebook = put(whole(), ("cells", 1, "outputs", 1, "text"), loud)
    notebook = put(notebook, ("cells", 1, "outputs", 2, "traceback"), [loud])
    page = published(tmp_path, notebook)
    assert page.count("x" * 200_000) == 2


STATES = [
    3,
    {hostile.WIDGETS: {"state": []}},
    {hostile.WIDGETS: {"state": {"m": {"state": "film"}}}},
    {hostile.WIDGETS: {"state": {"m": {"state": {"_anywidget_id": films.IDENTITY, "film": []}}}}},
]
for text in ("[", "[" * 200_000, "1" * 5_000, "NaN", json.dumps(HALF)):
    STATES.append({hostile.WIDGETS: {"state": {"m": hostile.model(text)}}})


def showing(state):
    view = hostile.shown({hostile.VIEW: {"model_id": "m"}, "text/plain": "its text"})
    cell = new_code_cell("x", execution_count=1, outputs=[view])
    return new_notebook(cells=[cell], metadata={"widgets": state})


def test_a_saved_state_that_is_no_film_leaves_the_text(tmp_path):
    for state in STATES:
        page = published(tmp_path, showing(state))
        assert 'class="player-slot"' not in page
        assert "its text" in page


@pytest.mark.parametrize("value", [10**400, math.nan, None], ids=["huge", "nan", "null"])
def test_a_film_with_a_foreign_value_is_refused_or_harmless(value):
    film = json.loads(as_json(lab()))
    for path in list(places(film))[:300]:
        changed = hostile.model(json.dumps(put(film, path, value)))
        notebook = showing({hostile.WIDGETS: {"state": {"m": changed}}})
        passed = films.film_of(notebook, notebook.cells[0].outputs[0]) or ""
        assert not {"NaN", "Infinity"} & set(passed.replace(":", ",").split(",")), path


@pytest.mark.parametrize("name", ["\0", "", "/", "\ud800.html", "given.ipynb/x"], ids=ascii)
def test_a_place_that_is_no_place_is_said_in_a_sentence(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.ipynb").write_text(json.dumps(whole()))
    with pytest.raises(Unpublishable, match="can't be written"):
        publish("given.ipynb", "page", name)
    if name not in ("", "/"):
        with pytest.raises(Unpublishable, match=r"can't be read|is a folder|no file"):
            publish(name, "page", "out.html")
        if name != "\0":
            assert main([name, "--to", "page", "-o", "out.html"]) == 1


def test_links_in_a_circle_are_no_notebook_and_no_picture_and_give_way_to_what_is_written(
    tmp_path, monkeypatch
):
    """`Path.resolve` refuses them up to Python 3.12, and not after."""
    monkeypatch.chdir(tmp_path)
    for name in ("loop.ipynb", "loop.png", "loop"):
        (tmp_path / name).symlink_to(name)
    with pytest.raises(Unpublishable, match="can't be read"):
        publish("loop.ipynb", "page", "out.html")
    with pytest.raises(Unpublishable, match="can't be read"):
        chosen("loop.ipynb", tmp_path)
    assert embedded("loop.png", tmp_path) is None
    (tmp_path / "given.ipynb").write_text(json.dumps(whole()))
    assert publish("given.ipynb", "page", "loop") == (tmp_path / "loop").read_text()
