"""Those that draw a model, one function each: from a model and its input to the text of an SVG.

`python -m benchmarks.contenders CONTENDER MODEL` draws once in this process and prints one line of
JSON. show and torchviz begin at the loss, as a student has it; torchview and torchlens begin at the
model, which they run themselves. The imports and the drawing of a small model come first and are
not counted.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from benchmarks.models import Case, make

MOST_COUNTED = 2_000  # nodes: more is only said to be more
MEMORY = Path("/proc/self/status")


def show(case: Case) -> Callable[[], str]:
    from helpers import show

    loss = case.loss()
    return lambda: show(loss).svg


def show_calls(case: Case) -> Callable[[], str]:
    from helpers import module_calls, show

    with module_calls(case.model) as calls:
        loss = case.loss()
    return lambda: show(loss, names=calls).svg


def show_unfolded(case: Case) -> Callable[[], str]:
    from helpers import show

    loss = case.loss()
    return lambda: show(loss, unfold=True).svg


def torchviz(case: Case) -> Callable[[], str]:
    from torchviz import make_dot

    loss, named = case.loss(), dict(case.model.named_parameters())
    return lambda: make_dot(loss, params=named).pipe(format="svg", encoding="utf-8")


def torchview(case: Case) -> Callable[[], str]:
    """Let every module be opened, however deep: by default those below the third level stay closed."""
    from torchview import draw_graph

    return lambda: draw_graph(case.model, input_data=case.inputs, depth=100).visual_graph.pipe(
        format="svg", encoding="utf-8"
    )


def torchlens(case: Case) -> Callable[[], str]:
    """Draw every operation, as torchlens does by default; it writes a file, which is read again."""
    import torchlens

    named = case.inputs if isinstance(case.inputs, dict) else None
    plain = () if named else case.inputs

    def draw() -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            torchlens.trace(case.model, plain, named).draw(
                vis_outpath=str(path), vis_fileformat="svg", vis_save_only=True
            )
            return path.with_suffix(".svg").read_text(encoding="utf-8")

    return draw


DRAWERS = (show, show_calls, show_unfolded, torchviz, torchview, torchlens)
CONTENDERS = {one.__name__: one for one in DRAWERS}


def boxes(svg: str) -> int:
    """Count the boxes of a picture: Graphviz's nodes, or our cards less those of the legend."""
    if "helpers" not in sys.modules:
        return svg.count('class="node"')
    from autograd_graphs.drawing.cards import FIRST, PILE

    rect = r'<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)" rx="(?:7|18|26)"'
    found = {tuple(map(int, values)) for values in re.findall(rect, svg)}
    cards = [box for box in found if box[3] >= FIRST]
    # Under a folded part lie two more boxes, each a little further down and to the right.
    return sum((x - PILE, y - PILE, wide, high) not in found for x, y, wide, high in cards)


def nodes(loss: Tensor) -> int:
    """Count the backward functions behind a loss, up to MOST_COUNTED; each is held, so that its id
    stays its own.
    """
    met, waiting = {}, [loss.grad_fn]
    while waiting and len(met) < MOST_COUNTED:
        one = waiting.pop()
        met[id(one)] = one
        waiting += [
            child for child, _ in one.next_functions if child is not None and id(child) not in met
        ]
    return len(met)


def memory(field: str) -> int | None:
    """Return a field of this process's status in kB, such as VmHWM, the most it ever had; None off
    Linux.
    """
    found = re.search(rf"{field}:\s+(\d+) kB", MEMORY.read_text()) if MEMORY.exists() else None
    return int(found[1]) if found else None


def processor() -> float:
    """Return the seconds of processor time of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def forget_peak() -> None:
    """Let VmHWM begin again at what is held now."""
    if MEMORY.exists():
        Path("/proc/self/clear_refs").write_text("5")


def measure(contender: str, model: str) -> dict[str, object]:
    """Draw once and return seconds, bytes, boxes, and how much the memory of this process rose, in
    kB.
    """
    CONTENDERS[contender](make("mlp"))()
    draw = CONTENDERS[contender](make(model))
    gc.collect()  # what the imports left: else whoever allocates most pays for it
    forget_peak()
    held, worked, begin = memory("VmRSS"), processor(), time.perf_counter()
    svg = draw()
    seconds, worked, peak = time.perf_counter() - begin, processor() - worked, memory("VmHWM")
    rose = None if held is None or peak is None else peak - held
    return {
        "seconds": seconds,
        "processor": worked,
        "bytes": len(svg.encode()),
        "boxes": boxes(svg),
        "rose": rose,
    }


def main(contender: str, model: str) -> None:
    try:
        answer = measure(contender, model)
    except BaseException as error:
        answer = {"failure": type(error).__name__}
    print(json.dumps(answer), flush=True)
    # A long graph that Python has touched cannot be freed safely, and this is not about that.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
