"""GPU cells: run where there is a GPU, else show a recording, or say that there is none. A made-up GPU
stands in.
"""

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient.exceptions import CellExecutionError

from helpers import gpu

ROOT = Path(__file__).parent.parent
FAKE = "Imaginary GPU, torch 2.13.0"
KEY = re.compile(r'^@on_gpu\("([^"]+)"\)', re.M)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """Give each test a file of its own, no mode, and a machine without a GPU."""
    monkeypatch.setattr(gpu, "DATA", tmp_path / "recorded.json")
    monkeypatch.setattr(gpu, "available", lambda: False)
    monkeypatch.delenv(gpu.MODE, raising=False)
    gpu.DATA.write_text("{}\n", encoding="utf-8")
    return gpu.DATA


@pytest.fixture
def fake_gpu(monkeypatch):
    monkeypatch.setattr(gpu, "available", lambda: True)
    monkeypatch.setattr(gpu, "machine", lambda: FAKE)


def double():
    print("doubled")
    return torch.ones(2, device="meta") * 2


DOUBLED = "doubled\ntensor(..., device='meta', size=(2,))"
HERE = f"{DOUBLED}\nrun here, on {FAKE}\n"


def never():
    raise AssertionError("a GPU cell ran without a GPU")


def recorded(function, text=DOUBLED):
    """Store a recording of `function`, as the command would."""
    entry = {"code": gpu.fingerprint(function), "date": "2026-01-31", "machine": FAKE, "text": text}
    gpu.DATA.write_text(json.dumps({"99.a": entry}), encoding="utf-8")


def shown(function, capsys):
    """Return what a GPU cell shows; decorating gives the function back."""
    assert gpu.on_gpu("99.a")(function) is function
    return capsys.readouterr().out


def test_without_a_gpu_and_a_recording_a_cell_says_so_and_does_not_run(capsys):
    out = shown(never, capsys)
    assert out.startswith("Not recorded yet: this cell needs a CUDA GPU")
    assert "make record-gpu" in out


def test_a_recording_is_shown_and_the_cell_does_not_run_but_where_there_is_a_gpu(
    capsys, monkeypatch
):
    recorded(never)
    assert shown(never, capsys) == f"{DOUBLED}\nrecorded on {FAKE}, 2026-01-31\n"
    monkeypatch.setattr(gpu, "available", lambda: True)
    monkeypatch.setattr(gpu, "machine", lambda: FAKE)
    assert shown(double, capsys) == HERE


def test_a_changed_cell_makes_its_recording_stale_and_says_so(capsys):
    recorded(double)
    out = shown(never, capsys)
    assert out.startswith(
        f"Out of date: the code of this cell has changed since it was recorded ({FAKE}, 2026-01-31)"
    )
    assert DOUBLED not in out


@pytest.mark.usefixtures("fake_gpu")
def test_a_stored_notebook_shows_the_recording_and_a_gpu_checks_it(capsys, monkeypatch):
    monkeypatch.setenv(gpu.MODE, "stored")
    recorded(double)
    assert shown(double, capsys) == f"{DOUBLED}\nrecorded on {FAKE}, 2026-01-31\n"
    recorded(double, text="tensor(5)")
    with pytest.raises(
        AssertionError, match=r"(?s)99\.a doesn't show what was recorded.*size=\(2,\).*tensor\(5\)"
    ):
        gpu.on_gpu("99.a")(double)


PLANTED = f"""
import itertools, torch
from helpers import gpu
gpu.available, gpu.machine = (lambda: True), (lambda: {FAKE!r})
counter = itertools.count()
"""
CELL = '@gpu.on_gpu("{key}")\ndef cell():\n    print("doubled")\n    return {value}'


def notebook(folder, *cells):
    """Write a notebook whose kernel believes in a GPU."""
    folder.mkdir(exist_ok=True)
    sources = (PLANTED, *(CELL.format(key=key, value=value) for key, value in cells), "# @on_gpu(")
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "99_made_up.ipynb")
    return folder


@pytest.mark.notebooks
@pytest.mark.usefixtures("fake_gpu")
def test_one_command_records_the_notebooks_own_cells(tmp_path, capsys, monkeypatch):
    folder = notebook(
        tmp_path / "n", ("99.a", 'torch.ones(2, device="meta") * 2'), ("99.b", "None")
    )
    assert gpu.record(folder) == ["99.a", "99.b"]
    entry = gpu.recordings()["99.a"]
    assert (entry["text"], entry["machine"]) == (DOUBLED, FAKE)
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", entry["date"])
    assert gpu.recordings()["99.b"]["text"] == "doubled"
    monkeypatch.setattr(gpu, "available", lambda: False)
    assert gpu.text_of(entry, entry["code"]).endswith(f"\nrecorded on {FAKE}, {entry['date']}")


@pytest.mark.notebooks
@pytest.mark.usefixtures("fake_gpu")
def test_a_cell_that_fails_leaves_the_recordings_as_they_were(tmp_path, data):
    before = data.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        gpu.record(notebook(tmp_path / "n", ("99.a", "1"), ("99.b", "1 / 0")))
    assert data.read_bytes() == before


@pytest.mark.usefixtures("fake_gpu")
def test_what_differs_from_run_to_run_is_not_recorded(monkeypatch):
    monkeypatch.setenv(gpu.MODE, "record")
    runs = iter(range(2))
    with pytest.raises(
        AssertionError, match=r"(?s)99\.a shows something different each time.*0\n1"
    ):
        gpu.on_gpu("99.a")(lambda: next(runs))


def cells_of_the_lessons():
    """Return the key and the source of each GPU cell, as they come."""
    sources = [
        "".join(cell["source"])
        for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    return [(key, source) for source in sources for key in KEY.findall(source)]


def test_each_gpu_cell_of_the_lessons_has_its_recording():
    cells = cells_of_the_lessons()
    codes = {key: gpu.fingerprint_of(source) for key, source in cells}
    assert len(codes) == len(cells), "two cells with one key"
    stored = json.loads((ROOT / "helpers" / "gpu_recorded.json").read_text(encoding="utf-8"))
    assert set(stored) == set(codes), "a cell without a recording, or a recording without its cell"
    changed = [key for key, code in codes.items() if stored[key]["code"] != code]
    assert not changed, "make record-gpu, on a machine with a GPU, records them anew"
