"""`show` beside torchviz with `dot`, torchview and torchlens: time to SVG, its bytes, memory and
failures.

Every drawing has a process of its own, so that a crash is a row and not the end; contenders take
turns. Memory is how far the process rose above what it held before, by the kernel's own mark
(VmHWM, Linux only), and the same mark of a `dot` that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmarks.contenders import CONTENDERS, MOST_COUNTED, nodes
from benchmarks.measure import PACKAGES, Row, short, table
from benchmarks.models import MODELS, make

ROOT = Path(__file__).parents[1]
LIMIT = 60  # seconds for one drawing, its imports included
NEED_DOT = ("torchviz", "torchview", "torchlens")
HEADER = (
    "model",
    "nodes",
    "by",
    "ms: median (least to most)",
    "SVG kB",
    "memory MB",
    "boxes",
    "what happened",
)

Result = dict[str, object]


def run(contender: str, model: str) -> Result:
    """Draw once in a process of its own; a failure is told in words."""
    if contender in NEED_DOT and not shutil.which("dot"):
        return {"failure": "no dot program is installed"}
    command = [sys.executable, "-m", "benchmarks.contenders", contender, model]
    env = os.environ | {"PYTHONPATH": str(PACKAGES)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True, **pipes) as worker:
        most, late = watch(worker)
        if late:
            return {"failure": f"not done after {LIMIT} s"}
        return answer(worker.stdout.read(), worker.returncode) | {"dot": most}


def watch(worker: subprocess.Popen) -> tuple[int, bool]:
    """Wait for a process; return the most memory in kB that a child of it had, and whether it was
    stopped as late.
    """
    most, end = 0, time.monotonic() + LIMIT
    while worker.poll() is None:
        most = max([most, *children(worker.pid)])
        if time.monotonic() > end:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            return most, True
        time.sleep(0.005)
    return most, False


def children(pid: int) -> Iterator[int]:
    """Yield the most memory in kB that each `dot` of a process ever had; nothing off Linux.

    A child that is not `dot` yet is a copy of its parent, whose memory it seems to have.
    """
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            found = re.match(r"Name:\s+dot\n.*VmHWM:\s+(\d+)", status, re.DOTALL)
            yield int(found[1]) if found else 0


def answer(text: str, code: int) -> Result:
    """Read what a drawing said last, or tell from its exit code how it ended."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    return {
        "failure": f"killed by {signal.Signals(-code).name}"
        if code < 0
        else f"ended with exit code {code}"
    }


def measure(
    rounds: int, models: Sequence[str] = tuple(MODELS)
) -> dict[tuple[str, str], list[Result]]:
    """Let all contenders draw all models, in turn, round by round; who failed once at a model is
    not asked again.
    """
    seen: dict[tuple[str, str], list[Result]] = {
        (model, one): [] for model in models for one in CONTENDERS
    }
    for _ in range(rounds):
        for (model, one), results in seen.items():
            if not any("failure" in result for result in results):
                results.append(run(one, model))
    return seen


def rows(seen: Mapping[tuple[str, str], list[Result]]) -> list[Row]:
    """Return the rows of every measured pair, and for each model how much longer torchviz took than
    we.
    """
    found: list[Row] = []
    for (model, one), results in seen.items():
        failures = [str(result["failure"]) for result in results if "failure" in result]
        done = [result for result in results if "failure" not in result]
        found.append(
            Row(
                "drawing",
                model,
                one,
                tuple(1000 * r["seconds"] for r in done),
                words="; ".join(failures),
            )
        )
    models = dict.fromkeys(model for model, _ in seen)
    return found + [row for model in models for row in ratios(seen, model)]


def ratios(seen: Mapping[tuple[str, str], list[Result]], model: str) -> Iterator[Row]:
    """Yield how often ours failed, and the ratio to torchviz, round by round; its goal is for two
    whole pictures.
    """
    theirs = seen[model, "torchviz"]
    for one in ("show", "show_calls", "show_unfolded"):
        failed = sum("failure" in result for result in seen[model, one])
        yield Row("drawing", model, f"{one} / failures", (failed,), "", None, 0)
        pairs = zip(seen[model, one], theirs, strict=False)
        done = [pair for pair in pairs if not any("failure" in result for result in pair)]
        for what, wanted in (("seconds", 3), ("processor", None)) if done else ():
            times = tuple(other[what] / ours[what] for ours, other in done)
            whole = draws_all(seen, model, one)
            words = "both draw every node" if whole else "we fold or cut"
            yield Row(
                "drawing",
                model,
                f"torchviz / {one}, {what}",
                times,
                "times",
                wanted if whole else None,
                None,
                words,
            )


def draws_all(seen: Mapping[tuple[str, str], list[Result]], model: str, one: str) -> bool:
    """Say whether every node of a model's graph has a box of its own, or several, in one
    contender's picture.
    """
    return all(result.get("boxes", 0) >= size(model) for result in seen[model, one])


@cache
def size(model: str) -> int:
    """Return the number of nodes of the model's autograd graph, up to MOST_COUNTED."""
    return nodes(make(model).loss())


def tables(seen: Mapping[tuple[str, str], list[Result]]) -> str:
    """Return two tables: where our picture has every node, and where we fold or cut; both with all
    contenders.
    """
    parts = []
    whole = {model for model, one in seen if one == "show_unfolded" and draws_all(seen, model, one)}
    for title, wanted in (("Both draw every node", True), ("We fold or cut", False)):
        lines = [
            line(model, one, results)
            for (model, one), results in seen.items()
            if (model in whole) is wanted
        ]
        parts.append(f"### {title}\n\n{table(HEADER, lines)}")
    return "\n\n".join(parts)


def line(model: str, one: str, results: list[Result]) -> list[str]:
    """Return one contender's line in the table."""
    count = f"{size(model):,}" + ("+" if size(model) >= MOST_COUNTED else "")
    failures = [str(result["failure"]) for result in results if "failure" in result]
    done = [result for result in results if "failure" not in result]
    if not done:
        return [model, count, one, "–", "–", "–", "–", "; ".join(failures)]
    spread = sorted(1000 * result["seconds"] for result in done)
    middle = Row("", "", "", tuple(spread)).median
    memory = [
        (result["rose"] + result["dot"]) / 1000 for result in done if result["rose"] is not None
    ]
    told = f"{short(middle)} ({short(spread[0])} to {short(spread[-1])})"
    most = short(max(memory)) if memory else "n/a"
    return [
        model,
        count,
        one,
        told,
        short(done[0]["bytes"] / 1000),
        most,
        str(done[0]["boxes"]),
        "; ".join(failures),
    ]
