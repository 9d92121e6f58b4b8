"""Read symptoms.toml and terms.toml, and find the symptom of a message. No torch."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Cause:
    """Hold what leads to a symptom: what it is, what to try, the number of the lesson that
    teaches it ("" where none does), and code that shows it.

    `gives` is what `seen` holds after a snippet that raises nothing; `needs` says on which machine
    alone the snippet raises. There is no snippet where the symptom stands by documentation.
    """

    what: str
    remedy: str
    lesson: str = ""
    snippet: str = ""
    gives: Any = None
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Hold what one sees: an "error" or "warning" with its message, or a "silent" one in our words.

    `look` is the state of those saved tensors that tell more: "freed", "modified", or "" where none
    do. `source` is a sentence that says who knows of a symptom that no snippet shows without a GPU,
    else "". `typed` are words that people type who look for it; nobody is shown them. `cases` names
    programs in the clinic that show it.
    """

    kind: str
    message: str
    means: str
    causes: tuple[Cause, ...]
    type: str = ""
    look: str = ""
    source: str = ""
    also: tuple[str, ...] = ()
    typed: str = ""
    cases: tuple[str, ...] = ()

    def parts(self, types: tuple[str, ...]) -> tuple[str, ...]:
        """Return the parts of messages by which it is known in an error of one of some types."""
        if self.kind == "silent":
            return ()
        if types and self.type not in types:
            return self.also
        return (self.message, *self.also)


@dataclass(frozen=True, slots=True)
class Term:
    """Hold one word of the glossary; `name` and `says` are Markdown, `also` are other words for it."""

    name: str
    says: str
    lesson: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Book:
    """Hold symptoms, terms, words for words of others, and those left out."""

    symptoms: tuple[Symptom, ...]
    terms: tuple[Term, ...]
    synonyms: dict[str, str] = field(hash=False)
    subject: str
    common: str

    def find(self, types: tuple[str, ...], text: str) -> Symptom | None:
        """Return the symptom whose message stands in `text`, the longest if several do; else None.

        `types` are the names of an exception's class and of those above it; () is any type.
        """
        symptom, longest = None, 0
        for known in self.symptoms:
            for part in known.parts(types):
                if part in text and len(part) > longest:
                    symptom, longest = known, len(part)
        return symptom


@cache
def book() -> Book:
    table, words = _table("symptoms.toml"), _table("terms.toml")
    return Book(
        tuple(map(_symptom, table["symptom"])),
        tuple(map(_term, words["term"])),
        words["synonyms"],
        words["subject"],
        words["common"],
    )


def _term(entry: dict[str, Any]) -> Term:
    return Term(also=tuple(entry.pop("also", ())), **entry)


def _symptom(entry: dict[str, Any]) -> Symptom:
    causes = tuple(Cause(remedy=cause.pop("try"), **cause) for cause in entry.pop("cause"))
    lists = {name: tuple(entry.pop(name, ())) for name in ("also", "cases")}
    return Symptom(causes=causes, **lists, **entry)


@dataclass(frozen=True, slots=True)
class Cut:
    """Hold what ends a graph: why, what to do, whether it is one only as a tensor's method, and the
    lesson that teaches it.
    """

    why: str
    remedy: str = "leave that call out on the way to the loss"
    is_method: bool = False
    lesson: str = ""


@dataclass(frozen=True, slots=True)
class Danger:
    """Hold an operation at which NaN may begin: why, what to do, and its names in a line."""

    why: str
    remedy: str
    words: list[str]


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((files("autograd_graphs.diagnosing") / name).read_text("utf-8"))


_CAUSES = _table("causes.toml")
CUTS = {word: Cut(**given) for word, given in _CAUSES["cuts"].items()}
DANGERS = {word: Danger(**given) for word, given in _CAUSES["dangers"].items()}
LESSONS: dict[str, str] = _CAUSES["lessons"]  # of a finding, by its kind
FINDINGS: dict[str, dict[str, str]] = _table("findings.toml")
SAID = FINDINGS.pop("said")
