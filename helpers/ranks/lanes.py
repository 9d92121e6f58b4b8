"""Keep a rank's diary of a backward under DDP, and draw two diaries as lanes, for lesson 18.

What a lane shows is in the order of its diary. Between ranks there is one rule: a bucket has come
back when all of them have sent it. How long anything took isn't drawn.
"""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

from helpers.plots import Plot, plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from torch.nn.parallel import DistributedDataParallel

SLEEP, PAUSE = 3, 0.5  # columns, and seconds
POINTS, HIGH = 11, 0.56
FILLS = {"gradient": "#e4eefa", "sleeps": "#f6e3c8", "waits": "#e0e0e0"}


def keep_diary(model: "DistributedDataParallel", slow_at: str = "") -> list[tuple[str, str, float]]:
    """Return a list that every backward writes into: ("gradient", name, time) when the gradient of
    a parameter is there, ("sends", names, time) when a bucket is full and leaves. It's emptied by
    the next forward.

    A rank that is `slow_at` a parameter sleeps half a second before its gradient is there.
    """
    names = {parameter: name for name, parameter in model.module.named_parameters()}
    diary: list[tuple[str, str, float]] = []

    def arrived(name: str) -> None:
        if name == slow_at:
            diary.append(("sleeps", "", time.time()))
            time.sleep(PAUSE)
        diary.append(("gradient", name, time.time()))

    def full(_: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        inside = " ".join(names[parameter] for parameter in bucket.parameters())
        diary.append(("sends", inside, time.time()))
        mine = bucket.buffer().div_(dist.get_world_size())
        work = dist.all_reduce(mine, async_op=True)
        return work.get_future().then(lambda sent: sent.value()[0])

    for parameter, name in names.items():
        parameter.register_hook(lambda _, name=name: arrived(name))
    model.register_comm_hook(None, full)
    model.register_forward_pre_hook(lambda *_: diary.clear())
    return diary


@dataclass
class Lane:
    """Hold where the boxes of a rank begin and end, and where each of its buckets leaves."""

    boxes: list[tuple[str, str, int, int]] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)
    end: int = 0


def lane_of(diary: list[tuple[str, str, float]]) -> Lane:
    """Give everything in a diary a column, in its order; sending takes none."""
    lane = Lane()
    for kind, name, _ in diary:
        if kind == "sends":
            lane.sent[name] = lane.end
            continue
        start, lane.end = lane.end, lane.end + (SLEEP if kind == "sleeps" else 1)
        lane.boxes.append((kind, name or kind, start, lane.end))
    return lane


def plot_lanes(diaries: list[list[tuple[str, str, float]]]) -> Plot:
    """Draw two ranks' diaries as lanes, and between them the buckets on their way."""
    from matplotlib.figure import Figure  # it takes half a second: only who plots waits for it

    lanes = [lane_of(diary) for diary in diaries]
    back = {name: 1 + max(lane.sent[name] for lane in lanes) for name in lanes[0].sent}
    end = max(back.values())
    figure = Figure(figsize=(8.6, 2.9), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.15)  # words may be wider in a browser
    axes = figure.subplots()
    for rank, lane in enumerate(lanes):
        boxes = [*lane.boxes, ("waits", "waits", lane.end, end)]
        for kind, words, start, stop in boxes:
            _box(axes, kind, words, start, stop, 2 - 2 * rank)
    for number, (name, at) in enumerate(back.items(), start=1):
        for lane, height in zip(lanes, (2 - HIGH / 2, HIGH / 2), strict=True):
            axes.plot([lane.sent[name], at], [height, 1], color="C0", marker=".", linewidth=1.2)
        axes.text(at + 0.15, 1, str(number), va="center", fontsize=POINTS)
    axes.set_yticks([2, 1, 0], ["rank 0", "buckets", "rank 1"], fontsize=POINTS)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_xlim(0, end + 0.5)
    axes.set_ylim(-0.5, 2.5)
    axes.spines[:].set_visible(False)
    return plot(figure, alt=" ".join(map(_told, range(len(diaries)), diaries)))


def _box(axes: "Axes", kind: str, words: str, start: float, stop: float, height: float) -> None:
    if stop <= start:
        return
    place = {"width": stop - start - 0.06, "left": start + 0.03, "height": HIGH}
    axes.barh(height, **place, color=FILLS[kind], edgecolor="#888888", linewidth=0.8)
    axes.text((start + stop) / 2, height, words, ha="center", va="center", fontsize=POINTS)


def _told(rank: int, diary: list[tuple[str, str, float]]) -> str:
    """Return a diary in words."""
    words = {"gradient": "gradient of {}", "sends": "sends {}", "sleeps": "sleeps"}
    said = [words[kind].format(name.replace(" ", " and ")) for kind, name, _ in diary]
    return f"Rank {rank}: {', '.join(said)}, waits until all buckets are back."
