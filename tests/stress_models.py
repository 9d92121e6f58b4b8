"""Draw models of the wild and graphs made to be hard, and check each layout; a script, as Graphviz
may kill it.

The last line is a summary as JSON.
"""

import json
import threading
import time

import torch
from stress_layout import faults, timed
from torch import nn

from autograd_graphs.drawing.bare import bare
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.layout import MOST_WORK, work
from helpers import show, snapshot


def lstm():
    """Unroll 50 steps of a cell: four leaves, each used 50 times."""
    cell, state = nn.LSTMCell(3, 4), (torch.zeros(1, 4), torch.zeros(1, 4))
    for _ in range(50):
        state = cell(torch.ones(1, 3), state)
    return state[0].sum()


def transformer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 24, enable_nested_tensor=False)(torch.ones(1, 3, 8)).sum()


def densenet():
    """Give each of 24 layers all that came before it."""
    found = [torch.ones(1, 2, requires_grad=True)]
    for nr in range(1, 25):
        found.append(nn.Linear(2 * nr, 2)(torch.cat(found, 1)).relu())
    return torch.cat(found, 1).sum()


def two_rows():
    """Join each of 190 operations to each of 190 others, by 36,100 short edges."""
    first = torch.ones(1, requires_grad=True).exp()
    row = [first.sin() for _ in range(190)]
    return torch.stack([torch.cat(row[nr:] + row[:nr]) for nr in range(190)]).sum()


def many_outputs():
    """Use each of 150 outputs of one operation twice: each of 300 edges has its number as a word."""
    return torch.stack(
        [part * part for part in torch.ones(150, requires_grad=True).exp().unbind()]
    ).sum()


def everything():
    """Use all that came before in each of 60 steps."""
    found = [torch.ones(1, requires_grad=True)]
    for _ in range(60):
        found.append(torch.stack(found).sum(0))
    return found[-1]


MODELS = (lstm, transformer, densenet, two_rows, many_outputs, everything)


def wiring(graph, labelled):
    """Return as many boxes from the root on as may be laid out, and their edges."""
    count = len(graph.nodes)
    while True:
        edges = [
            (edge.source, edge.target)
            for edge in graph.edges
            if max(edge.source, edge.target or 0) < count
        ]
        edges = [pair for pair in edges if pair[1] is not None]
        if work(count, edges, labelled) <= MOST_WORK:
            return [(100, 60)] * count, edges
        count = count * 9 // 10


def picture(graph, labelled):
    """Draw each node that the cap lets through, as `show` does, or as a player does, with a capsule on
    every edge.
    """
    if not labelled:
        return drawing(graph)
    return bare(graph, dict.fromkeys(range(len(graph.edges)), (180, 24)), {}, {})


def seconds_of(graph, labelled):
    """Draw a graph; return the processor's seconds."""
    start = time.process_time()
    assert picture(graph, labelled).marks
    return time.process_time() - start


def stress():
    """Draw every model; return what was found, for JSON."""
    wrong, slowest = [], (0.0, "")
    for model in MODELS:
        print(model.__name__, flush=True)
        loss = model()
        graph = snapshot(loss)
        assert len(show(loss).svg) < 2_000_000
        for labelled in (False, True):
            slowest = max(
                slowest, (seconds_of(graph, labelled), f"the picture of {model.__name__}")
            )
            boxes, edges = wiring(graph, labelled)
            labels = dict.fromkeys(range(len(edges) * labelled), (60, 20))
            placed, seconds = timed(boxes, edges, labels)
            wrong += [
                f"{model.__name__}: {fault}" for fault in faults(placed, boxes, edges, labels)
            ][:1]
            slowest = max(slowest, (seconds, model.__name__))
    return {"wrong": wrong, "slowest": slowest}


def at_once():
    """Draw one graph in eight threads with small stacks; return how many different pictures came."""
    graph, found = snapshot(lstm()), set()
    threading.stack_size(512 * 1024)
    threads = [threading.Thread(target=lambda: found.add(picture(graph, False))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(found)


if __name__ == "__main__":
    print(json.dumps({**stress(), "pictures": at_once()}))
