"""Search the entries of the glossary by words, phrases and pasted messages. No torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from math import log

from helpers.clinic.entries import Entry, entries

MOST = 5  # entries that a search shows
_COMMON = (
    "a an and are as at be but by can do does for from has have how i if in into is it its my no not of on or "
    "out so that the then there this to was what when where which why will with you your"
)
COMMON = set(_COMMON.split())
WORD = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")
QUOTES = str.maketrans("‘’“”", "''\"\"", "`*")
RAISED = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Warning|Exception)\b(?=:|$)", re.MULTILINE)
ENDING = re.compile(r"(?<=\w{3})(?:s|ed)$")
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
NAME, SAID, MORE = 4.0, 2.0, 1.0  # what a word counts in a heading, in what it says, in the rest
ALIKE = 0.8  # of 1: how near a word is that was perhaps misspelt
ENOUGH = 0.5  # of 1: how many words must be known, and how much of these an entry must speak of
NEAR_BEST = 0.35  # of 1: what is far worse than the best entry is left out


@dataclass(frozen=True, slots=True)
class Index:
    """Hold one entry as it is searched: its texts in lower case, its names without what a reader
    may leave out, the words of each of its names, and what each of its words counts.
    """

    entry: Entry
    names: tuple[str, ...]
    whole_names: frozenset[str]
    said: str
    named: tuple[frozenset[str], ...]
    weights: dict[str, float]


def search(text: str) -> list[Entry]:
    """Return the entries that speak of a text, the best first, at most `MOST`; none where none does.

    A message that the glossary knows, and that stands anywhere in `text`, comes first.
    """
    known = messages_in(text)
    asked = normal(decisive(text))
    scored = [(score(asked, one), one.entry) for one in indexed()]
    best = max(points for points, _ in scored)
    chosen = [pair for pair in scored if pair[0] > 0 and pair[0] >= NEAR_BEST * best]
    ranked = [entry for _, entry in sorted(chosen, key=lambda pair: -pair[0])]
    return list(dict.fromkeys([*known, *ranked]))[:MOST]


def messages_in(text: str) -> list[Entry]:
    """Return the errors and warnings whose message stands in a text, in any case and however its
    lines are broken; the longest first.
    """
    whole = normal(text)
    found = []
    for one in indexed():
        if one.entry.section in ("error", "warning"):
            found += [(len(name), one.entry) for name in one.names if name in whole]
    found.sort(key=lambda pair: -pair[0])
    return list(dict.fromkeys(entry for _, entry in found))


def is_message(text: str) -> bool:
    """Say whether a text looks like one that an error or a warning gave."""
    return RAISED.search(text) is not None


def nearest(text: str, count: int = 3) -> list[Entry]:
    """Return the terms whose names are most like a text."""
    asked = normal(text)[:100]
    terms = [one for one in entries() if one.section == "term"]
    return sorted(terms, key=lambda one: -likeness(asked, normal(one.name)))[:count]


def decisive(text: str) -> str:
    """Return the part of a text that says what went wrong: of a traceback what was raised last,
    without its type where there is more.
    """
    raised = list(RAISED.finditer(text))
    if raised:
        message = text[raised[-1].end() :].split("\n\n")[0].strip(" :\n")
        return message or raised[-1][0]
    return text if len(text.split()) <= 60 else text.strip().splitlines()[-1]


def normal(text: str) -> str:
    """Return a text in lower case, without marks, its white space folded."""
    return " ".join(text.translate(QUOTES).lower().split())


@cache
def indexed() -> tuple[Index, ...]:
    """Return all entries as they are searched."""
    return tuple(map(_index, entries()))


def _index(entry: Entry) -> Index:
    written = (entry.name, *entry.also)
    names = tuple(map(normal, written))
    said, _, causes = map(normal, entry.words.partition("\n\n"))
    weights: dict[str, float] = {}
    for text, weight in ((causes, MORE), (said, SAID), (" ".join(map(apart, written)), NAME)):
        weights |= dict.fromkeys(words_of(text), weight)
    named = tuple(stems_of(apart(name)) for name in written)
    whole_names = frozenset(map(whole_name, names))
    return Index(entry, names, whole_names, f"{said} {causes}", named, weights)


def whole_name(text: str) -> str:
    """Return a text in lower case without hyphens and the brackets of a call."""
    return text.replace("-", "").removesuffix("()")


def apart(name: str) -> str:
    """Return a name in lower case, followed by its parts where it has capitals: "AccumulateGrad"."""
    return normal(f"{name} {HUMP.sub(' ', name)}") if HUMP.search(name) else normal(name)


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case; those with _ or - also in parts, and as one."""
    found = {
        form for word in WORD.findall(text) for form in (word.strip("_"), word.replace("-", ""))
    }
    return (found | parts_of(text)) - COMMON - {""}


def parts_of(text: str) -> set[str]:
    """Return the words of a text in lower case, those with _ or - in parts."""
    return {part for word in WORD.findall(text) for part in re.split(r"[_-]+", word) if part}


def stems_of(text: str) -> frozenset[str]:
    """Return the words of a text without the commonest endings: a plural has the stem of its word."""
    return frozenset(ENDING.sub("", word) for word in parts_of(text))


def score(asked: str, one: Index) -> float:
    """Return how well an entry answers; 0 where it does not."""
    wanted = wanted_words(asked)
    known = [word for word in wanted if best_word(word)]
    rareness = {word: rarity(best_word(word)) for word in known}
    points = {word: one.weights.get(best_word(word), 0.0) for word in known}
    whole = sum(rareness.values())
    covered = sum(rareness[word] for word in known if points[word])
    phrase = phrase_points(asked, one)
    if ENOUGH * len(wanted) <= len(known) < len(wanted):
        phrase = max(phrase, named_points(known, one))
    is_answer = covered and covered >= ENOUGH * whole and len(known) >= ENOUGH * len(wanted)
    if not phrase and not is_answer:
        return 0.0
    return phrase + sum(rareness[word] * points[word] for word in known) / (whole or 1)


def wanted_words(asked: str) -> set[str]:
    """Return the words of a text that are looked for: what is unknown as one is taken in its parts."""
    wanted = set()
    for word in WORD.findall(asked):
        wanted |= {word.strip("_")} if best_word(word.strip("_")) else parts_of(word)
    return wanted - COMMON - {""}


def phrase_points(asked: str, one: Index) -> float:
    """Return what an entry is worth that bears a text as its name, or has it as it is written."""
    if whole_name(asked) in one.whole_names:
        return 5 * NAME
    if stems_of(" ".join(best_word(word) or word for word in parts_of(asked))) in one.named:
        return 4 * NAME
    if len(asked) < 3:
        return 0.0
    if any(asked in name for name in one.names):
        return 2 * NAME
    return SAID if asked in one.said else 0.0


def named_points(words: list[str], one: Index) -> float:
    """Return what an entry is worth of which a name has just these words, in any order."""
    return 4 * NAME if stems_of(" ".join(map(best_word, words))) in one.named else 0.0


@cache
def vocabulary() -> dict[str, int]:
    """Return every word of the glossary, and in how many entries it stands."""
    counts: dict[str, int] = {}
    for one in indexed():
        for word in one.weights:
            counts[word] = counts.get(word, 0) + 1
    return counts


@cache
def best_word(word: str) -> str | None:
    """Return the word of the glossary that is meant: the same, its plural or its stem, one that
    begins so, or one that is spelt nearly so; None where there is none.
    """
    known = vocabulary()
    if word in known:
        return word
    joined = word.replace("-", "")
    ends = [
        joined,
        word + "s",
        word.removesuffix("s"),
        word.removesuffix("es"),
        word.removesuffix("ed"),
    ]
    for form in ends:
        if form in known:
            return form
    longer = [one for one in known if len(word) > 3 and one.startswith(word)]
    if longer:
        return min(longer, key=lambda one: (len(one), one))
    close = get_close_matches(word, known, n=1, cutoff=ALIKE) if len(word) > 3 else []
    return close[0] if close else None


def rarity(word: str) -> float:
    """Return how much a word of the glossary tells: one of few entries much."""
    return log(1 + len(indexed()) / vocabulary()[word])


def likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
