"""Say in a sentence how ranks ended that didn't all come to their end."""

import json
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from helpers.ranks.travelling import unpacked

_LOST = re.compile("Connection (closed|reset) by peer|Broken pipe")
_MISMATCH = "Received data size doesn't match expected size"
_OF_AN_ABORT = re.compile(r"terminate called|libc\+\+abi: terminating|\s+what\(\):")
MOST_PRINTED = 100_000  # characters of what one rank prints


class RankError(RuntimeError):
    """Say which rank failed or ran out of time, in which line, and where the others were."""


@dataclass(frozen=True)
class End:
    """Hold how a rank ended, where it was then, and what there is to say.

    `kind` is "done", "error", "unmet" (it never met the others), "unsent" (its answer), "late"
    (time was up), "gone" (without a word), or "stopped" (by us, since another had failed).
    """

    kind: str
    rank: int
    line: int = 0
    code: str = ""
    what: str = ""
    when: float = 0.0

    @property
    def place(self) -> str:
        return f"in line {self.line}, {self.code}" if self.line else "before its first line"

    @property
    def stood(self) -> str:
        if self.kind == "done":
            return f"rank {self.rank} had ended"
        if self.kind in ("gone", "stopped") and not self.line:
            return f"rank {self.rank} couldn't say where it was"
        return f"rank {self.rank} was {self.place}"


def printed(folder: Path, rank: int) -> str:
    """Return what a rank printed, without what an abort prints by itself."""
    with open(folder / f"{rank}.out", encoding="utf-8", errors="replace") as file:
        lines = file.read(MOST_PRINTED).splitlines()
        if file.read(1):
            lines.append(f"… and more: only the first {MOST_PRINTED:,} characters are shown")
    return "\n".join(f"rank {rank}: {line}" for line in lines if not _OF_AN_ABORT.match(line))


def answer(folder: Path, rank: int) -> object:
    return unpacked((folder / f"{rank}.answer").read_bytes())


def end_of(folder: Path, rank: int, code: int | None, source: str) -> End:
    """Read how a rank ended, whose process has this exit code, None where we ended it."""
    told = folder / f"{rank}.end"
    if told.exists():
        return End(**json.loads(told.read_text("utf-8")))
    said = (folder / f"{rank}.out").read_text("utf-8", "replace")
    words = re.search(r"what\(\):\s*(?:\[.*?\.cc:\d+\] )?(.*)", said)
    fault = folder / f"{rank}.fault"
    dump = fault.read_text("utf-8", "replace") if fault.exists() else ""
    at = re.search(r'File "<cell>", line (\d+)', dump)
    line = int(at[1]) if at else 0
    here = source.splitlines()[line - 1].strip() if line else ""
    if code is None:
        return End("stopped", rank, line, here)
    return End("gone", rank, line, here, words[1] if words else _told_by(code))


def _told_by(code: int) -> str:
    """Say what an exit code tells about a process that ended without a word."""
    if code >= 0:
        return f"with exit code {code}"
    name = {each.value: each.name for each in signal.Signals}.get(-code, f"signal {-code}")
    if name in ("SIGKILL", "SIGTERM"):
        return "something outside ended it, perhaps because memory ran out"
    return f"Python itself crashed there ({name})"


def told(ends: list[End], limit: float) -> str:
    """Say which rank failed and why; where they waited for each other, where each of them stood."""
    world, stood = len(ends), "; ".join(end.stood for end in ends)
    gone = [end for end in ends if end.kind == "gone"]
    if any(_MISMATCH in end.what for end in gone):
        return (
            f"The ranks didn't fit together, so gloo ended a process: {stood}.\n"
            "Do all ranks call the same collectives, in the same order, with tensors of one shape?"
        )
    if gone:
        place = f"{gone[0].place}, " if gone[0].line else ""
        return f"The process of rank {gone[0].rank} of {world} is gone: {place}{gone[0].what}."
    unmet = [end.what for end in ends if end.kind == "unmet"]
    if unmet:
        return (
            "The ranks couldn't meet, because gloo doesn't start on this machine. Nothing is wrong"
            f" with your function.\nWhat gloo says: {unmet[0]}"
        )
    failed = [end for end in ends if end.kind == "error" and not _LOST.search(end.what)]
    if failed:
        soon = min(end.when for end in failed) + 0.5  # of several at one moment the lowest rank's
        first = next(end for end in failed if end.when < soon)
        place = first.place.replace(", ", ": ", 1)
        return f"Rank {first.rank} of {world} failed {place}\n{first.what}"
    unsent = [end.what for end in ends if end.kind == "unsent"]
    if unsent:
        return unsent[0]
    if any(end.kind in ("late", "stopped") for end in ends):
        return f"Time is up after {limit:g} seconds: {stood}."
    return f"A rank waited for one that was gone: {stood}."
