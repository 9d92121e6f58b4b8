"""Keep what a student guessed, tried and asked for in one small file: progress.json, beside the
notebook, or in the folder that the environment variable PROGRESS_FOLDER names.

Reads and writes that file and no other, but for guesses.json, in which older copies of the lessons
kept guesses and which is only read. Deleting the file is harmless. No torch.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

FILE, FOLDER, OLDER = "progress.json", "PROGRESS_FOLDER", "guesses.json"
VERSION, MOST = 1, 2_000_000  # characters; a whole course has about twenty thousand
PREDICTIONS, EXERCISES, PLAYERS = SECTIONS = ("predictions", "exercises", "players")
DRAFT = "draft"  # how the names begin under which a record keeps what was not sent yet
PATIENCE = 2  # seconds that one notebook waits for another to finish writing
OLD_NAME = re.compile(r"q(\d{1,2})")


class NotKept(Exception):
    """Say in a sentence why something could not be kept, and what to do."""


def progress_path() -> Path:
    """Return the path of the file, which need not be there."""
    return Path(os.environ.get(FOLDER) or ".") / FILE


def kept() -> dict[str, dict[str, dict]]:
    """Return what was kept: section → name → record. All sections are there; what cannot be read
    counts as nothing. Drafts are left out: nobody has answered there.
    """
    return {section: _answered(records) for section, records in _all().items()}


def draft(section: str, name: str, kept_as: str) -> object:
    """Return what was begun and not sent, whatever somebody may have written there."""
    return _all()[section].get(name, {}).get(kept_as)


def without_draft(record: dict) -> dict:
    """Return a record without what was begun and not sent."""
    return {name: value for name, value in record.items() if not name.startswith(DRAFT)}


def _answered(records: dict[str, dict]) -> dict[str, dict]:
    """Return records without drafts, and without those that hold nothing else."""
    answered = {name: without_draft(record) for name, record in records.items()}
    return {name: record for name, record in answered.items() if record}


def _all() -> dict[str, dict[str, dict]]:
    try:
        return _read(progress_path())
    except (OSError, ValueError):
        return {section: {} for section in SECTIONS}


def trouble() -> str:
    """Return a sentence where there is a file that cannot be read, else ""."""
    try:
        _read(progress_path())
    except ValueError:
        return f"{FILE} holds something I can't read, so I can't tell what you've done. I'm leaving it alone."
    except OSError as error:
        return f"{FILE} couldn't be read ({error.strerror})."
    return ""


def change(section: str, name: str, changed: Callable[[dict], dict]) -> dict:
    """Replace one record by `changed(record)`, {} where there was none; return the new one.

    Another notebook may write at the same time. Raises NotKept where the file cannot be written, or
    holds what is not ours and is left as it is.
    """
    path = progress_path()
    try:
        with alone(path):
            sections = _read(path)
            record = changed(dict(sections[section].get(name, {})))
            sections[section][name] = record
            text = json.dumps({"version": VERSION, **sections}, indent=1, sort_keys=True)
            write_whole(path, f"{text}\n")
    except ValueError:
        raise NotKept(
            f"Not kept: {FILE} holds something I can't read, so I'm leaving it alone. Rename it and run the cell again."
        ) from None
    except OSError as error:
        raise NotKept(
            f"Not kept: {FILE} couldn't be written ({error.strerror}). The lesson works without it."
        ) from None
    return record


def count(record: dict, name: str) -> int:
    """Return a count of a record, 0 where none is kept; somebody may have written into the file."""
    number = record.get(name)
    return number if type(number) is int and number > 0 else 0


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold off other notebooks; where that fails, as on some network drives, go on all the same."""
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=PATIENCE)
    try:
        lock.acquire()
    except (Timeout, OSError, NotImplementedError):
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _read(path: Path) -> dict[str, dict[str, dict]]:
    """Read the file, and older guesses under it. Raises OSError; ValueError if it is not ours."""
    content = _load(path) or {"version": VERSION}
    if content.get("version") != VERSION:
        raise ValueError("no progress file of this version")
    sections = {section: _records(content.get(section)) for section in SECTIONS}
    sections[PREDICTIONS] = _older(path.with_name(OLDER)) | sections[PREDICTIONS]
    return sections


def _load(path: Path) -> dict | None:
    """Return the dictionary that a JSON file holds, None if there is no file."""
    if not path.exists():
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read(MOST)
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("not a dictionary")
    return content


def _records(section: object) -> dict[str, dict]:
    """Return the records of a section, without what is none."""
    if not isinstance(section, dict):
        return {}
    return {name: record for name, record in section.items() if isinstance(record, dict)}


def _older(path: Path) -> dict[str, dict]:
    """Return the guesses of the quiz that an older copy of lesson 00 kept, {"q1": "b"}."""
    try:
        guesses = _load(path) or {}
    except (OSError, ValueError):
        return {}
    records = {}
    for name, letter in guesses.items():
        match = OLD_NAME.fullmatch(name)
        if match and isinstance(letter, str) and letter in ("a", "b", "c"):
            records[f"quiz.{match[1]}"] = {"first": letter}
    return records


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all: into a neighbour first, then in its place."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
