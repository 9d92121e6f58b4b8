"""Time the player from a key to the painted frame, and its frames while something moves: a small
step, graphs of 100 and 400 cards, and folded models; beside a kernel's round trip.

Run `python -m benchmarks player_key_to_paint`. It needs Chromium. A browser paints 60 times a
second, so a key waits up to 16.7 ms for a frame whatever is done. Therefore two numbers: the work
that a key causes, in all threads of the page (script, style, layout, paint, raster), from the
browser's own trace; and the time from a key, pressed just after a frame, until the next frame is
painted, beside the same for a frame in which nothing changes. Both with motion off. With motion on,
the times between the frames of a step.
"""

import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import torch
from jupyter_client.manager import start_new_kernel
from playwright.sync_api import Browser, Page, sync_playwright

from autograd_graphs.playing.animate import film
from autograd_graphs.playing.backward_film import BackwardFilm
from autograd_graphs.playing.player import as_json, page
from benchmarks.measure import Row
from benchmarks.stepped import make
from helpers import record

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


OPERATIONS = ("sin", "cos", "tanh", "sigmoid", "exp", "neg", "sqrt", "square", "abs", "atan")
STEPPED = 12  # steps that are watched while they move
FRAME = 1000 / 60  # ms
MOVING = """async (steps) => {
  const player = document.querySelector(".player"), seen = [];
  const frame = () => new Promise(requestAnimationFrame);
  for (let step = 0; step < steps; step += 1) {
    await new Promise((done) => setTimeout(done, 450));
    player.dispatchEvent(new KeyboardEvent("keydown", { key: step % 6 < 3 ? "ArrowRight" : "Home", bubbles: true }));
    let before = await frame();
    for (const begin = before; before - begin < 400;) {
      const now = await frame();
      if (step % 6 < 3) seen.push(now - before);
      before = now;
    }
  }
  return seen;
}"""


def chain(length: int) -> BackwardFilm:
    """Return a film of one card for each of `length` operations, in an order in which nothing can
    be folded.
    """
    chosen = random.Random(0)
    y = torch.rand(3, 3, requires_grad=True)
    for _ in range(length - 1):
        y = getattr(torch, chosen.choice(OPERATIONS))(y)
    return film(record(y.sum()))


def films() -> dict[str, BackwardFilm]:
    """Return what is played."""
    found = {"a small step": film(make("square"))}
    for length in (100, 400):
        made = chain(length)
        found[f"{len(made.scenes[0].turns)} cards"] = made
    return found | {"12 layers, folded": film(make("12 layers, calls"))}


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
        path = Path(folder) / "page.html"
        for case, made in films().items():
            path.write_text(page(made), encoding="utf-8")
            found += played(chromium, path, case)
            size = len(as_json(made).encode()) / 1000
            found.append(Row("player", case, "film", (size,), "kB"))
        chromium.close()
    return [*found, Row("player", "a kernel", "round trip, nothing redrawn", (round_trip(),))]


def played(chromium: Browser, path: Path, case: str) -> list[Row]:
    """Return the rows of one page."""
    shown = opened(chromium, path, "reduce")
    idle, paint, busy_for = key_to_paint(shown, False), key_to_paint(shown, True), work(shown)
    shown.context.close()
    moving = opened(chromium, path, "no-preference")
    frames = sorted(moving.evaluate(MOVING, STEPPED))
    moving.context.close()
    late = 100 * sum(one > 1.5 * FRAME for one in frames) / len(frames)
    return [
        Row("player", case, "work a key", (busy_for,)),
        Row("player", case, "key to the next frame", (paint,)),
        Row("player", case, "the same with nothing to do", (idle,)),
        Row("player", case, "a frame in motion", tuple(frames)),
        Row("player", case, "frames in motion that come late", (late,), "%"),
    ]


def opened(chromium: Browser, path: Path, motion: str) -> Page:
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, reduced_motion=motion)
    shown = context.new_page()
    shown.goto(path.as_uri())
    shown.focus(".player")
    return shown
