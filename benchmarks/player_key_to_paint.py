"""Time the player from a key to the painted frame, for graphs of 8, 100 and 400 nodes, beside a
kernel's round trip.

Run `python -m benchmarks player_key_to_paint`. It needs Chromium. A browser paints 60 times a
second, so a key waits up to 16.7 ms for a frame whatever is done. Therefore two numbers: the work
that a key causes, in all threads of the page (script, style, layout, paint, raster), from the
browser's own trace; and the time from a key, pressed just after a frame, until the next frame is
painted, beside the same for a frame in which nothing changes.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel
from playwright.sync_api import Page, sync_playwright

from benchmarks.measure import Row
from helpers.drawing.diagram import drawing
from helpers.drawing.display_list import Drawing, Mark, Owner
from helpers.graph import Edge, Graph, Node, Root, TensorInfo
from helpers.playing.film import Change, Film, Frame
from helpers.playing.player import as_json, page

CHROMIUM = "/usr/bin/chromium"
TRACED = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
WORK = {
    "EventDispatch",
    "UpdateLayoutTree",
    "Layout",
    "PrePaint",
    "Paint",
    "Layerize",
    "Commit",
    "RasterTask",
}
ROUNDS = 60
MEASURE = """async ([rounds, keys]) => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = done;
    after.port2.postMessage(0);
  }));
  const player = document.querySelector(".player"), seen = [];
  for (let round = 0; round < rounds; round += 1) {
    await painted();
    const begin = performance.now();
    const key = round % 6 < 3 ? "ArrowRight" : "ArrowLeft";
    if (keys) player.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await painted();
    seen.push(performance.now() - begin);
  }
  return seen;
}"""


def chain(length: int) -> Graph:
    """Return the graph of a chain of `length` nodes, the last of them a leaf."""
    nodes = [Node("MulBackward0", (TensorInfo((f"y{nr}",)),)) for nr in range(length - 1)]
    leaf = Node("AccumulateGrad", (TensorInfo(("x",), value="2.0", keeps_grad=True),), is_leaf=True)
    edges = tuple(Edge(nr, 0, nr + 1) for nr in range(length - 1))
    return Graph((*nodes, leaf), edges, (Root(nodes[0].outputs[0], 0),))


def film(length: int) -> Film:
    """Return a film of one frame per node, in which cards and wires change as in a stepped
    backward.
    """
    scene = drawing(chain(length), {nr: f"{nr}.0" for nr in range(length - 1)})
    frames = [
        Frame(
            f"step {now + 1} of {length}",
            changes=tuple(changes(scene, now)),
            focus=Owner("node", now),
        )
        for now in range(length)
    ]
    return Film((scene,), tuple(frames), "", "A chain.", start=length // 2)


def changes(scene: Drawing, now: int) -> list[Change]:
    found = [changed(at, mark, now) for at, mark in enumerate(scene.marks)]
    return [change for change in found if change is not None]


def changed(at: int, mark: Mark, now: int) -> Change | None:
    """Return how a mark changes at a step: words of later wires are hidden, what ran is done."""
    if mark.owner is None:
        return None
    kind, turn = mark.owner
    if turn > now:
        is_hidden = kind == "edge" and mark.role in ("capsule", "label")
        return Change(at, hidden=True) if is_hidden else None
    if kind == "edge" or mark.role in ("operation", "leaf"):
        return Change(at, "now" if turn == now else "done")
    return None


def key_to_paint(shown: Page, keys: bool) -> float:
    """Return the median time to the next painted frame in ms, with a key or with nothing to do."""
    return statistics.median(shown.evaluate(MEASURE, [ROUNDS, keys]))


def work(shown: Page) -> float:
    """Return the median work of a step in ms: what each thread was busy with from one key to the
    next, summed.
    """
    chromium = shown.context.browser
    chromium.start_tracing(page=shown, categories=TRACED)
    for nr in range(ROUNDS):
        shown.keyboard.press("ArrowRight" if nr % 6 < 3 else "ArrowLeft")
        shown.evaluate("() => new Promise((done) => setTimeout(done, 50))")
    events = json.loads(chromium.stop_tracing())["traceEvents"]
    keys = sorted(
        e["ts"]
        for e in events
        if e["name"] == "EventDispatch" and e["args"]["data"]["type"] == "keydown"
    )
    spans = [
        (e["ts"], e["ts"] + e["dur"], e["pid"], e["tid"])
        for e in events
        if e["name"] in WORK and "dur" in e
    ]
    assert len(keys) == ROUNDS
    return statistics.median(
        busy([s for s in spans if key <= s[0] < key + 45_000]) / 1000 for key in keys
    )


def busy(spans: list[tuple[int, int, int, int]]) -> int:
    """Return how long the threads were busy in all, where spans of one thread may lie in each
    other.
    """
    total, until = 0, {}
    for begin, end, *thread in sorted(spans):
        done = until.get(tuple(thread), 0)
        total += max(0, end - max(begin, done))
        until[tuple(thread)] = max(done, end)
    return total


def round_trip() -> float:
    """Return the median of a kernel's answer to a cell that does next to nothing, in ms; no page is
    redrawn in it.
    """
    manager, client = start_new_kernel(kernel_name="python3")
    taken = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        client.execute_interactive("1", output_hook=lambda message: None)
        taken.append(1000 * (time.perf_counter() - begin))
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return statistics.median(taken)


def rows(rounds: int) -> list[Row]:
    """Return the numbers of every size, each a median of ROUNDS keys; `rounds` does not matter
    here.
    """
    if not Path(CHROMIUM).exists():
        return [Row("player", "key to paint", "all", words=f"no Chromium at {CHROMIUM}")]
    found = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = chromium.new_page(viewport={"width": 1280, "height": 720})
        path = Path(folder) / "page.html"
        for length in (8, 100, 400):
            found += played(shown, path, length)
        chromium.close()
    return [*found, Row("player", "a kernel", "round trip, nothing redrawn", (round_trip(),))]


def played(shown: Page, path: Path, length: int) -> list[Row]:
    """Return the rows of a film of so many nodes."""
    made, case = film(length), f"{length} nodes"
    path.write_text(page(made), encoding="utf-8")
    shown.goto(path.as_uri())
    shown.focus(".player")
    idle, paint, busy_for = key_to_paint(shown, False), key_to_paint(shown, True), work(shown)
    return [
        Row("player", case, "work a key", (busy_for,)),
        Row("player", case, "key to the next frame", (paint,)),
        Row("player", case, "the same with nothing to do", (idle,)),
        Row("player", case, "frames", (len(as_json(made).encode()) / 1000,), "kB"),
    ]
