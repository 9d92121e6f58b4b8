"""Hold `find`, which looks a word, a phrase or a message up in the glossary. It never raises."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograd_graphs.diagnosing.entries import Entry, plain
from autograd_graphs.diagnosing.errors import is_error, text_of, types_of
from autograd_graphs.diagnosing.search import fits, is_message, messages_in, search
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold, visible

LONGEST = 10_000  # characters of a text that are looked at
EXAMPLES = 'for example find("leaf"), or find("does not require grad")'
ELSE = (
    "It only knows what goes wrong with gradients. If that's your trouble, say in a few English words "
    "what you see, or paste the last line of the error."
)
LETTER = re.compile(r"\w")
SIGNS = re.compile(r"([\\`*_\[\]<>#|$~!&])")  # that Markdown would not read as text


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what `find` has found: a notebook shows it as Markdown, a terminal as text. The first
    entry is shown whole, the others with a line each.
    """

    said: str
    entries: tuple[Entry, ...] = ()

    def __repr__(self) -> str:
        shown = [*map(_as_text, self.entries[:1]), *map(_as_line, self.entries[1:])]
        return "\n\n".join(filter(None, [fold(self.said), *shown]))

    def _repr_markdown_(self) -> str:
        said = SIGNS.sub(r"\\\1", self.said)
        lines = [f"- {entry.link}: {entry.line}" for entry in self.entries[1:]]
        shown = [*map(_as_markdown, self.entries[:1]), "\n".join(lines)]
        return "\n\n".join(filter(None, [said, *shown]))


def find(text: object = None) -> Found:
    """Return what the glossary has on a word, a phrase or a message of an error: the three entries
    that fit best, each with its lessons.

    Takes plain words, words of other frameworks, pieces of messages, whole tracebacks and slips of
    spelling, or an exception. Where nothing fits it says so. Never raises; an interrupt passes.
    """
    try:
        return _found(text)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        name = type(fault).__name__
        return Found(f"find stopped ({name}). That's its own fault, not yours. Please report it.")


def _found(asked: object) -> Found:
    if is_error(asked):
        asked = f"{types_of(asked)[0]}: {text_of(asked)}"
    if asked is None:
        return Found(f"find looks up a word or a message in the glossary: {EXAMPLES}.")
    if not isinstance(asked, str):
        return Found(f"find was given {describe(asked)}. Give it text in quotes, {EXAMPLES}.")
    text, cut = _last(asked)
    if not LETTER.search(text):
        given = "an empty text"
        if text.strip():
            given = f"{visible(text.strip(), 40)!r}, which has no word"
        return Found(f"find was given {given}. Give it a word or a message, {EXAMPLES}.")
    entries = tuple(search(text))
    return Found(cut + _said(text, entries), entries)


def _last(asked: str) -> tuple[str, str]:
    """Return the end of a text, where a traceback says what was raised, and what to say of the rest."""
    length, cut = len(asked), ""
    if length > LONGEST:
        cut = f"The text has {length:,} characters. I looked at the last {LONGEST:,}. "
    return asked[-LONGEST:], cut


def _said(text: str, entries: tuple[Entry, ...]) -> str:
    """Say what there is to say before the entries; nothing where they answer."""
    quoted = visible(" ".join(text.split()), 60)
    if not entries:
        return f"The glossary has nothing on “{quoted}”. {ELSE}"
    if is_message(text) and not messages_in(text):
        return "The glossary doesn't know this message. Some of its words are in:"
    if not fits(text, entries[0]):
        return "Nothing in the glossary fits this well. Some of its words are in:"
    return ""


def _as_text(entry: Entry) -> str:
    head, *rest = entry.words.splitlines()
    lines = [f"  {line}" for line in (head, *rest) if line]
    return fold("\n".join([entry.name, *lines]))


def _as_line(entry: Entry) -> str:
    return fold(f"{entry.name}\n  {plain(entry.line)}")


def _as_markdown(entry: Entry) -> str:
    return f"**{entry.link}**  \n{entry.text}"
