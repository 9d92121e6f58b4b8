"""Show what a cell does on a GPU: run it where there is one, else show what it did on one. The last,
short line of what is shown says which of these it is.

Reads gpu_recorded.json; `python -m helpers.gpu record` (make record-gpu) writes it, on a machine
with a GPU, no other. GPU_CELLS=stored makes a cell show the same on every machine, for notebooks
that are stored or compared: what stands in that file. Where there is a GPU the cell runs all the
same, and fails if it did not show what was recorded.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import hashlib
import inspect
import io
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_name("gpu_recorded.json")
MODE = "GPU_CELLS"  # an environment variable: "stored", "record" or nothing
MIME = "application/vnd.graphs-course.gpu+json"  # how a cell in the mode "record" hands over what it showed
AGAIN = "`make record-gpu`, on a machine with a CUDA GPU, stores what it shows."


def available() -> bool:
    return torch.cuda.is_available()


def machine() -> str:
    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"


def on_gpu(key: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Decorate a function of no arguments: run it on a GPU and show what it printed and returned.

    It must say all it needs itself, but for imports: a recording is out of date when *its* code has
    changed. What it shows may hold no time, no name of a device, nothing that differs between two
    GPUs.
    """

    def use(function: Callable[[], object]) -> Callable[[], object]:
        code, mode = fingerprint(function), os.environ.get(MODE, "")
        if mode == "record":
            hand_over(key, code, function)
            return function
        shown = outcome(function) if available() else None
        if shown is not None and mode != "stored":
            print(f"{shown}\nrun here, on {machine()}")
            return function
        entry = recordings().get(key)
        if shown is not None and fresh(entry, code) and entry["text"] != shown:
            raise AssertionError(
                f"Here, on {machine()}, {key} doesn't show what was recorded. Here:\n{shown}\n"
                f"Recorded on {entry['machine']}:\n{entry['text']}\nFind out why; then {AGAIN}"
            )
        print(text_of(entry, code))
        return function

    return use


def text_of(entry: dict[str, str] | None, code: str) -> str:
    """Return what a reader without a GPU sees: a recording, or why there is none."""
    if kept := fresh(entry, code):
        return f"{kept['text']}\nrecorded on {kept['machine']}, {kept['date']}"
    why = "Not recorded yet: this cell needs a CUDA GPU, and it hasn't run on one."
    if entry is not None:
        source = f"{entry['machine']}, {entry['date']}"
        why = f"Out of date: the code of this cell has changed since it was recorded ({source})."
    return f"{why}\n{AGAIN}"


def fresh(entry: dict[str, Any] | None, code: str) -> dict[str, Any] | None:
    """Return an entry that was made for this code, else None."""
    if entry is None or entry["code"] != code:
        return None
    return entry


def fingerprint(function: Callable[[], object]) -> str:
    """Return a digest of what a function does: its names and statements, no comments or layout."""
    return fingerprint_of(inspect.getsource(function))


def fingerprint_of(source: str) -> str:
    """Return the digest of a function whose source this is, decorators apart."""
    tree = ast.parse(textwrap.dedent(source)).body[0]
    tree.decorator_list = []
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


def outcome(function: Callable[[], object]) -> str:
    """Run a function; return what it printed, and what it returned as a cell would show it."""
    from IPython.lib.pretty import pretty

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = function()
    return (printed.getvalue() + ("" if value is None else pretty(value))).rstrip()


def recordings() -> dict[str, dict[str, str]]:
    return json.loads(DATA.read_text(encoding="utf-8"))


def hand_over(key: str, code: str, function: Callable[[], object]) -> None:
    """Run a cell twice for the recorder; what differs between two runs is no recording."""
    from IPython.display import display

    first, second = outcome(function), outcome(function)
    if first != second:
        raise AssertionError(
            f"{key} shows something different each time, so it can't be recorded:\n{first}\n{second}"
        )
    today = datetime.date.today().isoformat()
    entry = {"code": code, "date": today, "machine": machine(), "text": first}
    display({MIME: json.dumps({key: entry}), "text/plain": f"{key} recorded"}, raw=True)


def record(folder: Path = ROOT / "notebooks") -> list[str]:
    """Run every notebook with GPU cells, store all that they showed or nothing; return the keys.

    Exits with a sentence, and changes nothing, where there is no GPU, no such cell, or a key used
    twice.
    """
    if not available():
        built = "was built without CUDA"
        if torch.version.cuda:
            built = f"was built for CUDA {torch.version.cuda}"
        sys.exit(
            f"Nothing was recorded, because there's no CUDA GPU here (torch {torch.__version__} {built}). "
            "Run this where torch.cuda.is_available() is True."
        )
    pairs = []
    for path in sorted(folder.glob("*.ipynb")):
        if "@on_gpu(" in path.read_text(encoding="utf-8"):
            pairs += handed_over(path)
    keys = [key for key, _ in pairs]
    if not keys or len(set(keys)) < len(keys):
        sys.exit(
            f"Nothing was recorded: each GPU cell needs a key of its own, and these were found: {keys}."
        )
    text = json.dumps(dict(pairs), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    part = DATA.with_name(f".{DATA.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, DATA)
    return keys


def handed_over(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Run one notebook with the kernel of this environment; yield what its GPU cells hand over."""
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

    notebook = nbformat.read(path, as_version=4)
    kernel = AsyncKernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    client = NotebookClient(
        notebook, km=kernel, timeout=120, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute(cleanup_kc=True, env={**os.environ, MODE: "record"})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if MIME in output.get("data", {}):
                yield from json.loads(output["data"][MIME]).items()


if __name__ == "__main__":
    if sys.argv[1:] != ["record"]:
        sys.exit("Say what to do: python -m helpers.gpu record")
    print(f"Recorded {', '.join(record())} on {machine()}. Now: make refresh N=10, and N=15")
