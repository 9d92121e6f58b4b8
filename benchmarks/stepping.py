"""Time `step_through(loss)` from the call to the widget, and its page from load to the first paint:
on twelve layers of a transformer, and on a GPT of 24 blocks.

Run `python -m benchmarks stepping`. The parts are timed apart: recording, the film with all its
views, and its data as JSON. Recording is told beside a bare backward of the same loss, in turn in
one run: how busy the machine is changes both. The first paint needs Chromium.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright
from torch import Tensor, nn
from torch.nn import functional as F

from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import as_json, page
from benchmarks.measure import Row, seconds
from benchmarks.stepped import GPT
from helpers import record, step_through

CHROMIUM = "/usr/bin/chromium"
FIRST_FRAME = {"twelve layers": 1_000.0}  # ms: call to widget, and load to paint
WHOLE = {"twelve layers": 2_000.0, "gpt, 24 blocks": 3_000.0}  # ms
LARGEST = 400.0  # kB of a film
PAINTED = """() => new Promise((done) => requestAnimationFrame(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  done(paint ? paint.startTime : performance.now());
}))"""

Maker = Callable[[], Tensor]


def twelve_layers() -> Maker:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    model = nn.Sequential(nn.Embedding(50, 16), encoder, nn.Linear(16, 50), nn.Flatten(0, 1))
    return loss_of(model, torch.arange(12).reshape(2, 6))


def gpt() -> Maker:
    return loss_of(GPT(24, 32), torch.arange(16).reshape(2, 8))


def loss_of(model: nn.Module, text: Tensor) -> Maker:
    """Return what makes a loss anew, each time with empty `.grad`s."""

    def make() -> Tensor:
        model.zero_grad()
        return F.cross_entropy(model(text), text.flatten())

    return make


def rows(rounds: int) -> list[Row]:
    """Return the rows of both models; the first round of each warms up, and does not count."""
    found = []
    for case, build in (("twelve layers", twelve_layers), ("gpt, 24 blocks", gpt)):
        torch.manual_seed(0)
        found += timed(case, build(), rounds)
    return found


def timed(case: str, make: Maker, rounds: int) -> list[Row]:
    trials = [trial(make) for _ in range(rounds + 1)][1:]
    columns = dict(zip(trials[0], zip(*[one.values() for one in trials], strict=True), strict=True))
    made = film(record(make()))
    paints = first_paints(page(made), rounds)
    found = [Row("stepping", case, what, values) for what, values in columns.items()]
    found[-1] = Row(
        "stepping", case, "call to widget", columns["call to widget"], most_wanted=WHOLE[case]
    )
    ratio = tuple(a / b for a, b in zip(columns["record"], columns["backward alone"], strict=True))
    found.append(Row("stepping", case, "record / backward", ratio, "times"))
    found.append(
        Row(
            "stepping",
            case,
            "film",
            (len(as_json(made).encode()) / 1000,),
            "kB",
            most_wanted=LARGEST,
        )
    )
    if not paints:
        return [
            *found,
            Row("stepping", case, "load to first paint", words=f"no Chromium at {CHROMIUM}"),
        ]
    first = tuple(one + statistics.median(paints) for one in columns["call to widget"])
    found.append(Row("stepping", case, "load to first paint", paints))
    return [
        *found,
        Row("stepping", case, "call to first paint", first, most_wanted=FIRST_FRAME.get(case)),
    ]


def trial(make: Maker) -> dict[str, float]:
    """Return the times of one round in ms, one after the other."""
    kept: list = []
    loss = make()
    found = {"record": seconds(lambda: kept.append(record(loss)))}
    found["film"] = seconds(lambda: kept.append(film(kept[0])))
    found["JSON"] = seconds(lambda: as_json(kept[1]))
    other, whole = make(), make()
    found["backward alone"] = seconds(other.backward)
    found["call to widget"] = seconds(lambda: step_through(whole))
    return {what: 1000 * value for what, value in found.items()}


def first_paints(html: str, rounds: int) -> tuple[float, ...]:
    """Return the times from opening a page to its first paint in ms, in fresh tabs."""
    if not Path(CHROMIUM).exists():
        return ()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        found = tuple(painted(browser.new_page(), path) for _ in range(rounds))
        browser.close()
    return found


def painted(shown: Page, path: Path) -> float:
    shown.goto(path.as_uri())
    shown.wait_for_selector(".player-node")
    return shown.evaluate(PAINTED)
