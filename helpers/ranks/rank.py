"""Be one rank: a process that runs one function, and writes into a folder how it ended.

`calling.py` starts it as a script. Touches nothing outside that folder.
"""

import faulthandler
import io
import json
import linecache
import os
import re
import shutil
import sys
import threading
import time
import warnings
from datetime import timedelta
from pathlib import Path
from types import FrameType, ModuleType, TracebackType

_once = threading.Lock()  # a rank says once how it ended


def main() -> None:
    """Read the job from standard input, do it, and end without a farewell: waiting for the others
    would take long where one of them is gone.
    """
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_notebook, args=(job, sys.stdin.buffer), daemon=True).start()
    sys.stdin = io.StringIO()  # `input()` finds nothing there
    sys.path[:] = job["path"]
    # It says where we were when gloo aborts.
    warnings.formatwarning = _in_a_line
    faulthandler.enable(os.open(_file(job, "fault"), os.O_WRONLY | os.O_CREAT))
    try:
        answer = _run(job)
    except BaseException as problem:
        what = re.sub(r"\[\S+/gloo/\S+\] ", "", f"{type(problem).__name__}: {problem}")
        _say_end(job, "error", _line_of(problem.__traceback__), what)
    _say_end(job, *_sent(job, answer))


def _in_a_line(message: Warning, kind: type, *more: object) -> str:
    """Write a warning without the places in libraries where it was raised."""
    return f"{kind.__name__}: {str(message).partition(' (Triggered internally')[0]}\n"


def _run(job: dict) -> object:
    """Meet the other ranks, and return what the function returns."""
    import torch
    import torch.distributed as dist

    from helpers.ranks.travelling import FIRST_LINES, unpacked

    torch.set_num_threads(1)
    source, space = job["source"], {"__name__": "rank"}
    linecache.cache["<cell>"] = (0, None, source.splitlines(keepends=True), "<cell>")
    exec(FIRST_LINES, space)
    _meet(job, dist)
    timer = threading.Timer(job["limit"], _too_late, (job, threading.get_ident()))
    timer.daemon = True
    timer.start()
    exec(compile(source, "<cell>", "exec", dont_inherit=True), space)
    arguments = unpacked(Path(job["folder"], "arguments").read_bytes())
    return space[job["name"]](job["rank"], job["world"], *arguments)


def _meet(job: dict, dist: ModuleType) -> None:
    """Join the other ranks; where that fails, end and say so."""
    try:
        dist.init_process_group(
            _backend(dist),
            store=dist.FileStore(str(Path(job["folder"], "store")), job["world"]),
            rank=job["rank"],
            world_size=job["world"],
            timeout=timedelta(seconds=job["limit"] + 20),
        )
    except (RuntimeError, ValueError) as problem:
        what = re.sub(r"\[enforce fail at \S+\] |\[\S+/gloo/\S+\] ", "", str(problem))
        _say_end(job, "unmet", 0, what.strip())


def _sent(job: dict, answer: object) -> tuple[str, int, str]:
    """Write the answer; return how we end, and what there is to say."""
    from helpers.ranks.travelling import packed

    try:
        data = packed(answer, f"What rank {job['rank']} of {job['world']} returned")
    except ValueError as problem:
        return "unsent", 0, str(problem)
    _file(job, "answer").write_bytes(data)
    return "done", 0, ""


def _backend(dist: ModuleType) -> str:
    """Return the name of a gloo that stays on the loopback interface: the environment names it, or,
    where it has no known name (Windows), we give its address.
    """
    if "GLOO_SOCKET_IFNAME" in os.environ:
        return "gloo"
    gloo = dist.ProcessGroupGloo

    def on_loopback(store: object, rank: int, world: int, timeout: timedelta) -> object:
        options = gloo._Options()
        options._devices = [gloo.create_device(hostname="127.0.0.1")]
        options._timeout = timeout
        return gloo(store, rank, world, options)

    dist.Backend.register_backend("loopback", on_loopback, devices=["cpu"])
    return "loopback"


def _end_with_notebook(job: dict, pipe: object) -> None:
    """Wait until the notebook's end of the pipe closes, and leave nothing behind."""
    pipe.read()
    shutil.rmtree(job["folder"], ignore_errors=True)
    os._exit(1)


def _too_late(job: dict, main_thread: int) -> None:
    frame = sys._current_frames().get(main_thread)
    _say_end(job, "late", _line_at(frame), "", pause=0.5)


def _line_at(frame: FrameType | None) -> int:
    """Return the innermost line of the function that runs, 0 where none does."""
    while frame and frame.f_code.co_filename != "<cell>":
        frame = frame.f_back
    return frame.f_lineno if frame else 0


def _line_of(traceback: TracebackType | None) -> int:
    """Return the innermost line of the function that an error passed, 0 where it passed none."""
    line = 0
    while traceback:
        if traceback.tb_frame.f_code.co_filename == "<cell>":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _say_end(job: dict, kind: str, line: int, what: str, pause: float = 0) -> None:
    """Write how we end, and end; `pause` first, so that who waits for us can say so as well."""
    _once.acquire()
    code = job["source"].splitlines()[line - 1].strip() if line else ""
    end = {"kind": kind, "rank": job["rank"], "line": line, "code": code, "what": what}
    _file(job, "part").write_text(json.dumps(end | {"when": time.time()}), "utf-8")
    os.replace(_file(job, "part"), _file(job, "end"))
    time.sleep(pause)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(kind != "done")


def _file(job: dict, name: str) -> Path:
    return Path(job["folder"], f"{job['rank']}.{name}")


if __name__ == "__main__":
    main()
