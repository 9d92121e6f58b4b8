"""End a sandbox whose processes together hold more memory than one submission may.

The limits that a process has of its own bound neither the sum of many nor memory that is shared.
Looked at from outside, a few times a second. Files without a name (memfd) that no process has
mapped are not seen.
"""

import threading
from contextlib import contextmanager, suppress

import psutil

MIB = 2**20
PAUSE = 0.2  # seconds


@contextmanager
def bounded(process, most):
    """Kill `process` once those under it hold more than `most` MiB; give an Event that says so."""
    full, over = threading.Event(), threading.Event()
    watcher = threading.Thread(target=_watch, args=(process, most, full, over), daemon=True)
    watcher.start()
    try:
        yield full
    finally:
        over.set()
        watcher.join()


def _watch(process, most, full, over):
    while not over.wait(PAUSE):
        if held(process.pid) > most * MIB:
            full.set()
            process.kill()
            return


def held(pid):
    """Return how many bytes the processes under this one hold; what they share counts once."""
    try:
        below = psutil.Process(pid).children(recursive=True)
    except psutil.Error:  # it has ended
        return 0
    return sum(map(_share, below))


def _share(process):
    """Return the proportional share of a process; all of its memory where that is hidden."""
    with suppress(psutil.Error):
        return process.memory_full_info().pss
    with suppress(psutil.Error):  # it hides that, or has ended
        return process.memory_info().rss
    return 0
