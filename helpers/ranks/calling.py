"""Run a function in several processes: start them, wait for them, leave nothing of them behind.

Each rank is a fresh `python` (no fork), and `rank.py` is what it runs. They meet in a file and talk
over the loopback address only. A rank ends when its standard input does, and we hold the other end:
so none outlives the notebook's kernel, however that ends.
"""

import inspect
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from helpers.ranks.telling import RankError, answer, end_of, printed, told
from helpers.ranks.travelling import packed, text_of

SCRIPT = Path(__file__).with_name("rank.py")
LOOPBACK = {"linux": "lo", "darwin": "lo0"}.get(sys.platform, "")  # elsewhere gloo gets an address
MOST = 8  # each rank is a whole PyTorch, of some 200 MB
TO_BEGIN = 30  # seconds that a process may take to import PyTorch and to meet the others
TO_SAY = 1.5  # seconds that ranks have to say where they were, once one has failed


def run_ranks(function: Callable, world: int = 2, *args: object, limit: float = 60) -> list:
    """Return what `function(rank, world, *args)` returns on each of `world` ranks, as a list.

    What a rank prints comes when all have ended, in order of rank. Raises RankError where a rank
    fails, or where they need more than `limit` seconds; ValueError where a function or an argument
    can't travel.
    """
    job = _job(function, world, args, limit)
    processes: list[subprocess.Popen] = []
    with tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            (folder / "arguments").write_bytes(packed(args, "What you hand over"))
            for rank in range(world):
                processes.append(_start(folder, rank))
                _hand_over(processes[-1], job | {"rank": rank, "folder": name})
            _wait(processes, limit + TO_BEGIN)
            return _answers(folder, processes, job)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("You interrupted the ranks, and all have ended.") from None
        finally:
            _end(processes)


def _job(function: Callable, world: int, args: tuple, limit: float) -> dict:
    """Return what ranks are told. Raises ValueError where it can't be done."""
    if type(world) is not int or not 1 <= world <= MOST:
        raise ValueError(f"world is {world!r}: give a number of ranks from 1 to {MOST}.")
    if type(limit) not in (int, float) or not 0 < limit < math.inf:
        raise ValueError(f"limit is {limit!r}: give a number of seconds above 0, such as 60.")
    source = text_of(function)
    name = function.__name__
    try:
        inspect.signature(function).bind(0, world, *args)
    except TypeError as problem:
        raise ValueError(
            f"A rank calls `{name}(rank, world, …)`, and what you hand over comes after these two:"
            f" {problem}."
        ) from None
    return {"source": source, "name": name, "world": world, "limit": limit, "path": sys.path}


def _start(folder: Path, rank: int) -> subprocess.Popen:
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONIOENCODING": "utf-8",
        "TORCHINDUCTOR_CACHE_DIR": str(folder),  # else DDP leaves a folder behind
        "TORCH_CPP_LOG_LEVEL": "ERROR",  # its warnings have hours and addresses in them
        "TORCH_DIST_INIT_BARRIER": "1",  # no rank begins, or ends, before all have met
    }
    if LOOPBACK:
        environment["GLOO_SOCKET_IFNAME"] = LOOPBACK
    with open(folder / f"{rank}.out", "wb") as out:
        return subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            env=environment,
            start_new_session=True,  # an interrupt is for us alone
        )


def _hand_over(process: subprocess.Popen, job: dict) -> None:
    """Write the job, and leave the pipe open: where it ends, the rank knows that we are gone."""
    with suppress(OSError):  # it has ended already, which `_answers` will tell
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()


def _wait(processes: list[subprocess.Popen], limit: float) -> None:
    """Wait until all have ended; where one has failed, the others have little time left."""
    end = time.monotonic() + limit
    while any(process.poll() is None for process in processes):
        if any(process.poll() for process in processes):
            end = min(end, time.monotonic() + TO_SAY)
        if time.monotonic() > end:
            return
        time.sleep(0.02)


def _answers(folder: Path, processes: list[subprocess.Popen], job: dict) -> list:
    """Print what the ranks printed, and return what they returned. Raises RankError."""
    codes = [process.poll() for process in processes]
    _end(processes)  # before their files are read
    for rank in range(len(codes)):
        text = printed(folder, rank)
        if text:
            print(text)
    ends = [end_of(folder, rank, code, job["source"]) for rank, code in enumerate(codes)]
    if any(end.kind != "done" for end in ends):
        raise RankError(told(ends, job["limit"])) from None
    return [answer(folder, rank) for rank in range(len(codes))]


def _end(processes: list[subprocess.Popen]) -> None:
    """End processes and wait until they are gone; a second call changes nothing."""
    for process in processes:
        process.kill()  # which does nothing to one that has ended
    for process in processes:
        process.wait()
        with suppress(OSError):  # what was not read is lost with the process
            process.stdin.close()
        _end_children(process)


def _end_children(process: subprocess.Popen) -> None:
    """End what a rank itself has started: its group of processes has the rank's number."""
    try:
        os.getpgid(process.pid)
    except ProcessLookupError:
        _end_group(process.pid)
    except AttributeError:
        return  # Windows has no groups
    # Otherwise someone else's process has the number by now.


def _end_group(number: int) -> None:
    """End a group of processes, and wait a little until none of them is there."""
    with suppress(ProcessLookupError, PermissionError):  # none are left, or none of ours
        for _ in range(100):
            os.killpg(number, signal.SIGKILL)
            time.sleep(0.01)
