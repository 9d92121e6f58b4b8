"""Keep a student's engine in `my_engine.py`, beside progress.json: a section for each stage, theirs where they
built it, ours up to the last one that they built.

The file is always whole: `from my_engine import Value` works without the course. What they wrote
into it by hand is put aside before it is written anew. No torch, but what the stages import.
"""

import hashlib
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from autograd_graphs.guard import guarded
from autograd_graphs.text import fold
from helpers.engine.cells import Cell
from helpers.engine.checks import trouble
from helpers.engine.putting_together import STAGES, defined, given, lines, run_in, text, yours
from helpers.progress_file import alone, progress_path, write_whole

FILE = "my_engine.py"
TOP = '''"""Your own autograd engine, stage by stage. It needs torch for its arrays, and nothing of the course.

The course writes this file when a stage of yours is right. A number at its end tells it whether you
changed anything by hand. If so, it puts a copy aside first.
"""
'''
HEAD = re.compile(r"^# ==== (\d\d[a-z]?), (yours|ours) ====\n", re.MULTILINE)
END = "# ==== as the course wrote it: "
WHOLE = "whole"  # comes after the number of any stage
MOST = 1_000_000  # characters
CHANGED = f"You changed {FILE} by hand, so I put a copy aside first"
FOREIGN = f"There was another {FILE}, which I put aside first"


@dataclass(frozen=True)
class Kept:
    """Hold what the file says: the sections that are the student's, and a word for who wrote it where
    that wasn't us alone.
    """

    yours: Mapping[str, str]
    other: str = ""


def path() -> Path:
    return progress_path().with_name(FILE)


def kept() -> Kept:
    """Return what is kept. Raises OSError or ValueError where the file cannot be read."""
    if not path().exists():
        return Kept({})
    with path().open(encoding="utf-8") as file:
        content = file.read(MOST)
    body, _, mark = content.rpartition(END)
    parts = HEAD.split(body or content)
    rows = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    own = {stage: code.strip() + "\n" for stage, whose, code in rows if whose == "yours"}
    if body and mark.strip() == _mark(body):
        return Kept(own)
    return Kept(own, CHANGED if len(parts) > 1 else FOREIGN)


def _mark(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def earlier(stage: str) -> tuple[dict[str, str], list[str]]:
    """Return the student's stages before this one, and a sentence for each that no longer works: ours
    has to stand in for it.
    """
    try:
        found = kept()
    except (OSError, ValueError):
        found = Kept({}, FOREIGN)
    if found.other == FOREIGN:
        return {}, [f"The {FILE} here isn't one that the course wrote, so I leave it alone."]
    return working({name: found.yours[name] for name in sorted(found.yours) if name < stage})


def working(own: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return those of a student's stages that work, each on top of those before it, and a sentence for
    each that doesn't. What belongs to another edition of the course counts as working.
    """
    good: dict[str, str] = {}
    said = []
    for name, code in own.items():
        wrong = guarded(trouble, Cell(name, code, good)) if name in STAGES else ""
        if wrong:
            said.append(f"Your stage {name} in {FILE} doesn't work any more ({wrong}). I use ours.")
        else:
            good[name] = code
    return good, said


def my_engine(stage: object = WHOLE, show: bool = False) -> None:
    """Bring into this notebook what you built before a lesson such as "05", ours where you skipped a
    stage, and what the lesson gives you. With `show=True` print the code that it gives. Without a
    stage bring the whole engine.
    """
    if stage not in (*STAGES, WHOLE):
        print(f'my_engine wants the number of a lesson with a stage: my_engine("{STAGES[0]}").')
        return
    names = sys._getframe(1).f_globals
    own, said = earlier(stage)
    before = [name for name in STAGES if name < stage]
    for name in before:
        run_in(names, name, own.get(name) or text(name))
    if stage == WHOLE:
        print(fold(" ".join([*said, f"Your engine: {_whose(before, own)}."])).strip())
        return
    run_in(names, f"{stage}, given", given(stage))
    whose = _whose(before, own)
    said.append(f"Your engine: {whose}." if whose else "Your engine begins here.")
    said.append(f"You write {joined(yours(stage))}.")
    print(fold(" ".join(said)).strip())
    if show:
        print("\n" + given(stage).partition("\n")[2].strip())


def _whose(stages: list[str], own: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {'yours' if name in own else 'ours'}" for name in stages)


def joined(source: str) -> str:
    """Return the names that a source defines as they are said: a, b and c."""
    *first, last = defined(source)
    return f"{', '.join(first)} and {last}" if first else last


def keep(cell: Cell) -> str:
    """Write a stage into the file; say in a sentence or two what stands there now."""
    try:
        with alone(path()):
            return _keep(cell)
    except OSError as error:
        return (
            f"Not kept: {FILE} couldn't be written ({error.strerror}). The lesson works without it."
        )


def _keep(cell: Cell) -> str:
    try:
        found = kept()
    except ValueError:
        found = Kept({}, FOREIGN)
    own, said = working(dict(sorted({**found.yours, cell.stage: cell.kept}.items())))
    aside = found.other or ("I put a copy aside first" if said else "")
    if aside:
        said.append(f"{aside}: {_put_aside()}.")
    body = whole(own)
    write_whole(path(), f"{body}{END}{_mark(body)}\n")
    return " ".join([f"Kept in {FILE}: {lines(sections(own))} lines so far.", *said])


def _put_aside() -> str:
    """Copy the file, as it is, to a name that is free, and return that."""
    names = (f"my_engine_before_{nr}.py" for nr in count(1))
    free = next(name for name in names if not path().with_name(name).exists())
    shutil.copy2(path(), path().with_name(free))
    return free


def sections(own: Mapping[str, str]) -> dict[str, str]:
    """Return all stages up to the last that is the student's own, ours where they have none."""
    stages = sorted({*own, *(name for name in STAGES if name <= max(own))})
    return {name: own.get(name) or text(name) for name in stages}


def whole(own: Mapping[str, str]) -> str:
    """Return the text of the file."""
    parts = [TOP]
    for name, code in sections(own).items():
        whose = "yours" if name in own else "ours"
        parts.append(f"# ==== {name}, {whose} ====\n{code.strip()}\n")
    return "\n\n".join(parts) + "\n\n"
