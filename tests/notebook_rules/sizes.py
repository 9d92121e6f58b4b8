"""Rules about sizes: code that fits a slide, sentences that can be said in one breath."""

import re
from statistics import median

from notebook_rules.rounds import MARKUP, rounds

LINES, COLUMNS, MEDIAN = 12, 80, 6
BREATH, LONG, FEW = 28, 22, 2  # words of a sentence; more than FEW long ones in a cell tire
NO_PROSE = re.compile(r"^```.*?^```$|^\|.*$|^#+ .*$|`[^`]+`", re.M | re.S)
PARTS = re.compile(r"\n\s*\n|^(?:[-*]|\d+\.) |(?<=[.!?:])[*\"')]*\s+(?=[*\"'(]*[A-Z])", re.M)
# Turns that nobody says; what a pattern cannot hold soundly is left to readers.
STILTED = re.compile(
    r"\bcomes? of\b|\bof those of\b|\bshall\b|\bis to find\b|\bwhom\b|\bwho asks\b|\bwhat becomes of\b"
    r"|\bwhat of\b|\bthe walk\b|\btaken for\b|\bgets it\b|\bas it is now\b|\bof its own\b|\band so is\b"
    r"|\bon the way\b|\bto the room\b|(?<!there )\b(?:is|are) no (?!longer\b|more\b)",
    re.I,
)
SHORTHAND = re.compile(r"`\d(?: [\d→])+`")


def a_reason_begins_with_its_rule(lesson):
    """One bold sentence comes first in a because: it is what remains, and stands on the slide."""
    for round_ in rounds(lesson):
        for cell, reason in round_.reasons:
            if reason.body and not reason.takeaway:
                yield f"{cell} does not begin with a bold sentence: put the rule first in its fold, `**…**`."


def code_fits_a_slide(lesson):
    """At most 12 lines, at most 80 columns; half of the runs have six lines or fewer. The set-up and
    what asks show on no slide.
    """
    for cell in [cell for cell in lesson.code if cell.role not in ("setup", "guess")]:
        lines = cell.source.split("\n")
        widest = max(len(line) for line in lines)
        if len(lines) > LINES:
            yield f"{cell} has {len(lines)} lines of code, over {LINES}: make it two rounds, or use helpers."
        if widest > COLUMNS:
            yield f"{cell} has a line of {widest} columns, over {COLUMNS}: break it."
    runs = [cell.source.count("\n") + 1 for cell in lesson.code if cell.role == "run"]
    if median(runs or [0]) > MEDIAN:
        yield f"half of its runs have {median(runs):g} lines or more: bring the median to {MEDIAN}."


def sentences_are_said_in_one_breath(lesson):
    """At most 28 words; at most two of more than 22 in a cell. In lessons that open with a case."""
    for cell in told(lesson):
        lengths = [len(sentence.split()) for sentence in sentences(cell.source)]
        if max(lengths, default=0) > BREATH:
            yield f"{cell} has a sentence of {max(lengths)} words, over {BREATH}: make two of it."
        if sum(length > LONG for length in lengths) > FEW:
            yield f"{cell} has more than {FEW} sentences over {LONG} words: shorten some."


def nothing_is_said_that_nobody_says(lesson):
    """Turns that read as translated, and keys of a lab as a row of digits. In lessons that open with
    a case.
    """
    for cell in told(lesson):
        for found in STILTED.findall(NO_PROSE.sub(" ", cell.source)):
            yield f"{cell} says {found!r}: say it as you would to a friend."
        for found in SHORTHAND.findall(cell.source):
            yield f"{cell} names keys as {found}: name the buttons in words."


def told(lesson):
    """Return the text cells of a lesson that is told from a case on; none of another."""
    return [cell for cell in lesson.cells if lesson.has_case and not cell.is_code]


def sentences(text):
    """Return the sentences of a text, code and headings left out."""
    plain = MARKUP.sub(" ", NO_PROSE.sub(" X ", text))
    return [part for part in PARTS.split(plain) if part.strip()]


RULES = (
    a_reason_begins_with_its_rule,
    code_fits_a_slide,
    sentences_are_said_in_one_breath,
    nothing_is_said_that_nobody_says,
)
