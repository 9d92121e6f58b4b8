"""Search the entries of the glossary by words, phrases and pasted messages. No torch.

What somebody types becomes a few *meanings* for each word: the word itself, words that mean the same,
or a word that is spelt nearly so. An entry gets points for each word that it has: many if the word is
rare and stands in its name, few if every entry has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from math import log

from autograd_graphs.diagnosing.catalogue import book
from autograd_graphs.diagnosing.entries import Entry, entries

MOST = 3  # entries that a search shows
COMMON = set(book().common.split())
WORD = re.compile(r"[^\W\d]\w*(?:-\w+)*")
PARTS = re.compile(r"[_-]+|(?<=[a-z])(?=[A-Z])|(?<=[a-z]{3})(?=\d+$)")
INPLACE = re.compile(r"(?<=[\w)\] ])[-+*/]=|(?<=\])\s*=(?!=)")  # x += 1, x[0] = 1
LATIN = re.compile(r"[a-z]", re.IGNORECASE)
OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-ZÀ-ɏ]+")  # letters of Chinese, Korean, Russian …
BRITISH = re.compile(r"is(?=(?:e[drs]?|ing|ations?)$)")
QUOTES = str.maketrans("‘’“”", "''\"\"", "`*")
RAISED = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Warning|Exception)\b(?=:|$)", re.MULTILINE)
ENDING = re.compile(r"(?<=\w{3})(?:at(?:e[sd]?|ing|ions?)|ings?|ions?|i?e[sd]|ly|[ey]|(?<!s)s)$")
DOUBLED = re.compile(r"([bdgmnprt])\1$")
NAME, TYPED, SAID, MORE = 4.0, 3.0, 2.0, 1.0  # what a word counts, by where it stands
SAME, ALIKE, PAIR = 0.7, 0.8, 0.5  # what a synonym counts, a word spelt nearly so, two neighbours
CLOSE = 0.83  # of 1: how near a word is that was perhaps misspelt
TERM = 0.6  # what a word of the course counts beside a symptom
ENOUGH, MOSTLY = 0.4, 0.75  # of 1: how much of what was typed an entry must speak of; see below
FITS = 0.6  # of 1: what speaks of less is shown as what has some of the words
MORE_THAN_ALL = 2.0  # an unknown message without a word of our subject is not ours
UNKNOWN = 3.0  # what an unknown word counts in that
NEAR_BEST = 0.35  # of 1: what is far worse than the best entry is left out


@dataclass(frozen=True, slots=True)
class Index:
    """Hold an entry as it is searched: names, the stems of each, what a stem or a pair counts."""

    entry: Entry
    names: tuple[str, ...]
    named: tuple[frozenset[str], ...]
    weights: dict[str, float]


def search(text: str) -> list[Entry]:
    """Return the entries that speak of a text, the best first, at most `MOST`; none where none does.

    A message that the glossary knows, and that stands anywhere in `text`, comes first.
    """
    meant = meant_by(text)
    pairs = set(_features(decisive(text))) - set(map(stem, words_of(decisive(text))))
    needed = coverage_needed(meant, is_message(text))
    points = {index.entry: score(meant, pairs, index, needed) for index in indexed()}
    least = NEAR_BEST * max(points.values())
    chosen = [entry for entry in points if points[entry] and points[entry] >= least]
    ranked = sorted(chosen, key=points.get, reverse=True)
    return list(dict.fromkeys([*messages_in(text), *_named(text, meant), *ranked]))[:MOST]


def fits(text: str, entry: Entry) -> bool:
    """Say whether an entry speaks of most of a text, or its message or name stands there."""
    meant = meant_by(text)
    if entry in messages_in(text) or entry in _named(text, meant):
        return True
    index = next(known for known in indexed() if known.entry == entry)
    return coverage(meant, index) >= FITS


def meant_by(text: str) -> list[dict[str, float]]:
    return list(map(meanings, dict.fromkeys(words_of(decisive(text)))))


def messages_in(text: str) -> list[Entry]:
    """Return the symptoms whose message, or whose other name, a text holds, the longest first."""
    whole = normal(text)
    longest = {}
    for index in indexed():
        if index.entry.section != "term":
            lengths = [len(name) for name in index.names if name in whole]
            longest[index.entry] = max(lengths, default=0)
    return sorted(filter(longest.get, longest), key=longest.get, reverse=True)


def is_message(text: str) -> bool:
    return RAISED.search(text) is not None


def decisive(text: str) -> str:
    """Return the part of a text that says what went wrong: in a traceback its last message."""
    raised = list(RAISED.finditer(text))
    if raised:
        message = text[raised[-1].end() :].split("\n\n")[0].strip(" :\n")
        return message or raised[-1][0]
    return text if len(text.split()) <= 60 else text.strip().splitlines()[-1]


def normal(text: str) -> str:
    """Return a text in lower case, without marks, its white space folded."""
    return " ".join(text.translate(QUOTES).lower().split())


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, names of code in parts, without the commonest.

    Our entries are English: of a question in another script only its Latin words can be found.
    """
    written = re.sub(r"(?<=\w)'(?=\w)", "", text.translate(QUOTES))
    if LATIN.search(written):
        written = OTHER_SCRIPT.sub(" ", written)
    written = INPLACE.sub(" inplace ", written)
    words = []
    for word in WORD.findall(written):
        if word.lower() not in COMMON:
            words += [part.lower() for part in PARTS.split(word) if part]
    return words


def stem(word: str) -> str:
    """Return a word without its ending: "freezing" and "freeze" have one stem."""
    return DOUBLED.sub(r"\1", ENDING.sub("", BRITISH.sub("iz", word)))


@cache
def indexed() -> tuple[Index, ...]:
    return tuple(map(_index, entries()))


def _index(entry: Entry) -> Index:
    written = (entry.name, *entry.also)
    said, _, causes = entry.words.partition("\n\n")
    weights: dict[str, float] = {}
    typed, names = f"{entry.section} {entry.typed}", " | ".join(written)
    for text, weight in ((causes, MORE), (said, SAID), (typed, TYPED), (names, NAME)):
        weights |= dict.fromkeys(_features(text), weight)
    named = tuple(frozenset(map(stem, words_of(name))) for name in written)
    return Index(entry, tuple(map(normal, written)), named, weights)


def _features(text: str) -> Iterator[str]:
    """Return the stems of a text, its names of code in one piece, and its pairs of neighbours."""
    stems = list(map(stem, words_of(text)))
    yield from stems
    yield from map(" ".join, pairwise(stems))
    for word in filter(PARTS.search, WORD.findall(text)):
        yield stem(PARTS.sub("", word).lower())


@cache
def frequencies() -> dict[str, int]:
    """Return in how many entries each stem and each pair stands."""
    counts: dict[str, int] = {}
    for index in indexed():
        for feature in index.weights:
            counts[feature] = counts.get(feature, 0) + 1
    return counts


def rarity(feature: str) -> float:
    """Return how much a stem tells: one of few entries much."""
    return log(1 + len(indexed()) / frequencies()[feature])


@cache
def meanings(word: str) -> dict[str, float]:
    """Return the stems that a word may mean, and how much each counts; the first is its own."""
    own = stem(word)
    forms = {own: 1.0}
    for same in map(stem, words_of(synonyms().get(own, ""))):
        forms.setdefault(same, SAME)
    if own not in frequencies() and len(forms) == 1 and len(word) > 3:
        near = [known for known in frequencies() if known[0] == word[0] and " " not in known]
        longer = [known for known in near if known.startswith(own)]
        for known in longer[:1] or get_close_matches(own, near, n=1, cutoff=CLOSE):
            forms[known] = ALIKE
    return forms


@cache
def synonyms() -> dict[str, str]:
    """Return the table of words that mean the same, by the stem of what somebody types."""
    return {stem(typed): same for typed, same in book().synonyms.items()}


@cache
def subject() -> frozenset[str]:
    """Return the stems that only somebody types who has to do with our subject."""
    return frozenset(map(stem, words_of(book().subject)))


def coverage_needed(meant: list[dict[str, float]], is_message: bool) -> float:
    """Return how much of what was typed an entry must speak of, as a part of 1."""
    if not subject().isdisjoint(set().union(*meant)):
        return ENOUGH
    return MORE_THAN_ALL if is_message else MOSTLY


def score(meant: list[dict[str, float]], pairs: set[str], index: Index, needed: float) -> float:
    """Return how well an entry answers; 0 where it does not."""
    covered = coverage(meant, index)
    if not covered or covered < needed:
        return 0.0
    points = sum(_best(forms, index) for forms in meant)
    points += PAIR * sum(_points(pair, index) for pair in pairs)
    if index.entry.section == "term":
        points *= TERM
    return points


def coverage(meant: list[dict[str, float]], index: Index) -> float:
    """Return of how much that was typed an entry speaks, as a part of 1; a rare word is more."""
    covered, whole = 0.0, 0.0
    for forms in meant:
        rareness = next((rarity(form) for form in forms if form in frequencies()), UNKNOWN)
        whole += rareness
        if _best(forms, index):
            covered += rareness
    return covered / whole if whole else 0.0


def _best(forms: dict[str, float], index: Index) -> float:
    return max(_points(form, index) * factor for form, factor in forms.items())


def _points(feature: str, index: Index) -> float:
    weight = index.weights.get(feature)
    if not weight:
        return 0.0
    return rarity(feature) * weight / (weight + 1)


def _named(text: str, meant: list[dict[str, float]]) -> list[Entry]:
    """Return the entries whose name was typed: spelt so first, then by the fewest other words."""
    asked = normal(text).removesuffix("()")
    known = [forms for forms in meant if not frequencies().keys().isdisjoint(forms)]
    if not meant or 2 * len(known) < len(meant):
        return []
    ranks: dict[Entry, tuple[bool, int]] = {}
    for index in indexed():
        others = [len(name) - len(known) for name in index.named if _bears(name, known)]
        if others and (min(others) <= 0 or index.entry.section == "term"):
            is_spelt_so = asked in [name.removesuffix("()") for name in index.names]
            ranks[index.entry] = (not is_spelt_so, min(others))
    return sorted(ranks, key=ranks.get)


def _bears(name: frozenset[str], known: list[dict[str, float]]) -> bool:
    """Say whether a name has all the known words that were typed: two of them, or all of its own."""
    is_enough = len(known) >= min(2, len(name)) > 0
    return is_enough and all(name & set(forms) for forms in known)
