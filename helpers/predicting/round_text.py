"""Read the text of a question, of a lab and of a reason: what stands before **Predict.**, the
options, the takeaway.

Nothing is judged here: what is missing is empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SUMMARY = "Why? Open it when you have run the cell"
HEADING = re.compile(r"\s*(#{2,3}) +(.+)\n?")
ASKS = {
    "choose": "**Predict.**",
    "number": "**Predict.**",
    "draw": "**Draw.**",
    "find_line": "**Find the line.**",
    "order": "**Put in order.**",
    "explain": "**Explain.**",
}
ASK = re.compile("|".join(re.escape(words) for words in sorted(set(ASKS.values()))))
OPTION = re.compile(r"^- \(([a-z])\) *(.*(?:\n {2,}\S.*)*)$", re.M)
NUMBERED = re.compile(r"^(\d+)\. +(.*(?:\n {2,}\S.*)*)$", re.M)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
TABLE = re.compile(r"(?:^\|.*\n?)+", re.M)
FOLD = re.compile(r"<details><summary>([^<]*)</summary>\n(.*)\n</details>\s*", re.S)
# Stars in code end nothing; other bold words end what began before them.
TAKEAWAY = re.compile(r"\s*\*\*((?:`[^`]*`|(?!\*\*)[^`])+?[.!?])\*\*", re.S)
RULE = re.compile(r"\*\*((?:`[^`]*`|[^`*])+)\*\*")  # within a paragraph
WORDS = 4  # in bold, that make a rule of them
NUMBER = r"[-−+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?"
VALUES = re.compile(rf"^- ({NUMBER}(?:, {NUMBER})*): +(.*(?:\n {{2,}}\S.*)*)$", re.M)


@dataclass
class Question:
    """What stands in the cell of a question, or of a lab: there `asks` are its numbered questions."""

    level: str = ""  # "##" or "###"
    title: str = ""
    set_up: str = ""
    ask: str = ""
    options: dict[str, str] = field(default_factory=dict)
    letters: list[str] = field(default_factory=list)  # of the options as they come, twins included
    asks: list[str] = field(default_factory=list)  # the labels "1", "2" …
    asked: list[str] = field(default_factory=list)  # what stands after these labels


@dataclass
class Reason:
    """What stands in a because: the words of the fold, its takeaway ("" where no sentence is bold), a
    line for each wrong answer.
    """

    summary: str = ""
    body: str = ""
    takeaway: str = ""
    letters: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)  # "27, 9" for a question without letters
    numbers: list[str] = field(default_factory=list)  # the labels of a lab's answers
    answers: list[str] = field(default_factory=list)  # what stands after these labels
    lines: list[str] = field(default_factory=list)  # what is said of wrong letters and values
    mechanism: str = ""  # what is left: neither the takeaway nor a line or answer


def question(text: str) -> Question:
    made = Question()
    heading = HEADING.match(text)
    if heading:
        made.level, made.title = heading[1], heading[2].strip()
        text = text[heading.end() :]
    made.letters, options = labelled(text, OPTION)
    made.options = dict(zip(made.letters, options, strict=True))
    made.asks, made.asked = labelled(text, NUMBERED)
    set_up, *ask = ASK.split(without(text, OPTION, NUMBERED, FENCE, TABLE), maxsplit=1)
    made.set_up, made.ask = in_one_line(set_up), in_one_line("".join(ask))
    return made


def reason(text: str) -> Reason:
    """Read the text of a because; all is empty where the whole of it is not one fold."""
    fold = FOLD.fullmatch(text.strip())
    if not fold:
        return Reason()
    body = fold[2]
    made = Reason(summary=fold[1], body=body.strip())
    made.letters, of_letters = labelled(body, OPTION)
    made.values, of_values = labelled(body, VALUES)
    made.lines = of_letters + of_values
    made.numbers, made.answers = labelled(body, NUMBERED)
    takeaway = TAKEAWAY.match(body)
    if takeaway:
        made.takeaway, body = in_one_line(takeaway[1]), body[takeaway.end() :]
    made.mechanism = without(body, OPTION, VALUES, NUMBERED).strip()
    made.takeaway = made.takeaway or rule_in(made.mechanism)
    return made


def rule_in(text: str) -> str:
    """Return the first bold sentence within a text; "" where a word or two are bold at most."""
    for rule in map(in_one_line, RULE.findall(text)):
        if len(rule.split()) >= WORDS:
            rule = rule[:1].upper() + rule[1:]
            return rule if rule[-1] in ".!?" else f"{rule}."
    return ""


def labelled(text: str, pattern: re.Pattern) -> tuple[list[str], list[str]]:
    """Return the labels that a pattern finds, and what stands after each in one line."""
    pairs = pattern.findall(text)
    return [label for label, _ in pairs], [in_one_line(words) for _, words in pairs]


def without(text: str, *patterns: re.Pattern) -> str:
    for pattern in patterns:
        text = pattern.sub("", text)
    return text


def in_one_line(words: str) -> str:
    return " ".join(words.split())
