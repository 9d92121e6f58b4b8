"""`show` beside torchviz with `dot`, torchview and torchlens: from a model to the text of an SVG.

Every drawing has a process of its own, so that a crash is a row and not the end; contenders take
turns. The imports and the drawing of a small model come first and are not counted.
`python -m benchmarks.drawing CONTENDER MODEL` is such a process; it prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import PACKAGES, Row, ms, ratios
from benchmarks.models import MODELS, Case, make

ROOT = Path(__file__).parents[1]
LIMIT = 60  # seconds for one drawing, its imports included


def show(case: Case) -> Callable[[], str]:
    from autograd_graphs import show

    loss = case.loss()
    return lambda: show(loss).svg


def show_calls(case: Case) -> Callable[[], str]:
    from autograd_graphs import module_calls, show

    with module_calls(case.model) as calls:
        loss = case.loss()
    return lambda: show(loss, names=calls).svg


def torchviz(case: Case) -> Callable[[], str]:
    from torchviz import make_dot

    loss, named = case.loss(), dict(case.model.named_parameters())
    return lambda: make_dot(loss, params=named).pipe(format="svg", encoding="utf-8")


def torchview(case: Case) -> Callable[[], str]:
    from torchview import draw_graph

    def draw() -> str:
        drawn = draw_graph(case.model, input_data=case.inputs, depth=100)
        return drawn.visual_graph.pipe(format="svg", encoding="utf-8")

    return draw


def torchlens(case: Case) -> Callable[[], str]:
    import torchlens

    def draw() -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            trace = torchlens.trace(case.model, case.inputs, None)
            trace.draw(vis_outpath=str(path), vis_fileformat="svg", vis_save_only=True)
            return path.with_suffix(".svg").read_text(encoding="utf-8")

    return draw


DRAWERS = (show, show_calls, torchviz, torchview, torchlens)
CONTENDERS = {drawer.__name__: drawer for drawer in DRAWERS}
OURS = ("show", "show_calls")


def main(contender: str, model: str) -> None:
    """Draw once in this process, and print the time and the bytes, or the kind of failure."""
    try:
        CONTENDERS[contender](make("mlp"))()
        draw, drawn = CONTENDERS[contender](make(model)), []
        took = ms(lambda: drawn.append(draw()))
        answer = {"ms": took, "bytes": len(drawn[0].encode())}
    except Exception as error:
        answer = {"failure": type(error).__name__}
    print(json.dumps(answer), flush=True)
    os._exit(0)  # a long graph that others have touched cannot be freed safely


def once(contender: str, model: str) -> dict:
    """Draw in a process of its own; a failure is told in words."""
    if contender not in OURS and not shutil.which("dot"):
        return {"failure": "no dot program is installed"}
    command = [sys.executable, "-m", "benchmarks.drawing", contender, model]
    env = os.environ | {"PYTHONPATH": str(PACKAGES)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"not done after {LIMIT} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"failure": f"ended with exit code {done.returncode}"}
    return json.loads(lines[-1])


def rows(rounds: int) -> list[Row]:
    """Return the time and bytes of every contender on every model, and the ratios to torchviz."""
    found = []
    for model in MODELS:
        found += of_model(model, rounds)
    return found


def of_model(model: str, rounds: int) -> list[Row]:
    """Return the rows of all contenders on one model."""
    results = drawn(model, rounds)
    found = []
    for contender, done in results.items():
        found += of_contender(model, contender, done)
    for ours in OURS:
        pair = [[result.get("ms") for result in results[name]] for name in (ours, "torchviz")]
        if None not in pair[0] + pair[1]:
            found.append(Row(model, f"torchviz / {ours}", ratios(*pair), "times"))
    return found


def drawn(model: str, rounds: int) -> dict[str, list[dict]]:
    """Let all contenders draw one model, in turn; who failed once is not asked again."""
    results: dict[str, list[dict]] = {contender: [] for contender in CONTENDERS}
    for _ in range(rounds):
        for contender, done in results.items():
            if not done or "failure" not in done[-1]:
                done.append(once(contender, model))
    return results


def of_contender(model: str, contender: str, done: list[dict]) -> list[Row]:
    """Return the time and the bytes of one contender, or how it failed."""
    if "failure" in done[-1]:
        return [Row(model, contender, words=done[-1]["failure"])]
    times = tuple(result["ms"] for result in done)
    kilobytes = done[0]["bytes"] / 1000
    return [Row(model, contender, times), Row(model, f"{contender}, SVG", (kilobytes,), "kB")]


if __name__ == "__main__":
    main(*sys.argv[1:])
