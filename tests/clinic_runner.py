"""Run programs as people do, cell by cell in a real IPython shell, and say what diagnose answers."""

import contextlib
import io
import json
import re
import sys
import textwrap
import tomllib
import warnings
from pathlib import Path

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograd_graphs.diagnosing import warnings_heard as heard

IN_MEMORY = Config({"HistoryManager": {"hist_file": ":memory:"}})
HERE = Path(__file__).parent / "clinic_programs"


def programs(folder=HERE):
    """Return the programs of every file, in the order of the files."""
    found = []
    for file in sorted(folder.glob("*.toml")):
        found += tomllib.loads(file.read_text())["program"]
    for file in sorted(folder.glob("*.json")):
        found += json.loads(file.read_text())
    return found


def answer(program):
    """Return what is shown when diagnose follows the cells of a program; of one whose loop has to
    be watched, what is shown when its last cell runs that way.
    """
    *before, last = program["cells"]
    if program.get("needs") == "watch":
        loop = textwrap.indent(last.strip(), "    ")
        given = f"{program['model']}, {program['optimizer']}"
        return shown([*before, f"with watching({given}):\n{loop}"])
    call = "diagnose(rerun=True)" if program.get("rerun") else "diagnose()"
    if program["kind"] == "silent":
        given = [program.get("model"), program.get("loss"), program.get("optimizer")]
        call = f"diagnose({', '.join(map(str, given))})"
    return shown([*program["cells"], call])


def shown(cells):
    """Run cells in a shell of their own; return what the last one prints."""
    for name in ("last_exc", "last_value", "last_type", "last_traceback"):
        setattr(sys, name, None)
    shell = InteractiveShell.instance(config=IN_MEMORY)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = warnings._showwarning_orig
            heard.listen()
            with torch.random.fork_rng():
                return _shown(shell, cells)
    finally:
        heard._LAST.clear()
        torch.set_warn_always(False)
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
        shell.history_manager.end_session()
        forget_compiled()
        leave_processes()
        shell.user_ns.clear()  # as when its kernel ends
        InteractiveShell.clear_instance()


def forget_compiled():
    """Let no program find what torch.compile made for another: it keeps graphs by their code."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()


def leave_processes():
    """End the group of processes that a program has joined, if it has."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _shown(shell, cells):
    quiet = io.StringIO()
    heard._LAST.clear()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        shell.run_cell("from helpers import diagnose, watching", store_history=True)
        for cell in cells[:-1]:
            shell.run_cell(cell.strip() + "\n", store_history=True)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        shell.run_cell(cells[-1], store_history=True)
    return out.getvalue()


def verdict(program, text):
    """Say of an answer whether it recognises the cause, and names the tensor and the line."""
    flat = " ".join(text.split())
    low = flat.lower()
    is_known = "will not guess" not in low and "traceback" not in low[:200]
    recognised = is_known and all(
        any(w.lower() in low for w in ws) for ws in program["cause_words"]
    )
    tensor = _named(program.get("tensor"), program.get("model"), flat)
    return recognised, tensor, _line(program.get("line"), flat)


def _line(wanted, text):
    if wanted is None:
        return None
    wanted = [wanted] if isinstance(wanted, str) else wanted
    return any(" ".join(line.split())[:85] in text for line in wanted)


def _named(wanted, model, text):
    """Say whether a text names a tensor; `net[0].weight` is the `0.weight` of the model `net`."""
    if wanted is None:
        return None
    wanted = [wanted] if isinstance(wanted, str) else wanted
    wanted = [*wanted, *[f"{model}.{one}" for one in wanted]]
    text = re.sub(r"\[(\d+)\]", r".\1", text) + text
    return any(re.search(rf"(?<![\w.]){re.escape(one)}(?![\w])", text) for one in wanted)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    only = [one for one in sys.argv[2:] if one != "-v"]
    totals = []
    for program in programs(folder):
        if only and program["id"] not in only:
            continue
        text = answer(program)
        result = verdict(program, text)
        totals.append(result)
        marks = ["·" if one is None else "+" if one else "-" for one in result]
        print("".join(marks), program["kind"], program["id"])
        if only or ("-" in marks and "-v" in sys.argv):
            print(text)
    for nr, what in enumerate(("recognised", "tensor", "line")):
        have = [one[nr] for one in totals if one[nr] is not None]
        print(what, sum(have), "of", len(have))
