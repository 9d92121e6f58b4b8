"""Hold what a letter exercise says to a wrong answer: the same to each, and not which letter is
wrong, so that trying letters tells little; and the lines of which a variant gives letters to some.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from textwrap import indent

from helpers.exercises import reading

ASKED_FOR = 3  # wrong answers after which more is said


@dataclass(frozen=True)
class Letters:
    """Hold the letters of an exercise, each with what it is about, and what to read again.

    `about` gives, in the order of the letters, a question to ask of that letter, whichever way it
    is answered: ("a", "Had x its flag when y was made?"). `read` ends the sentence "Not yet. Read
    again …".
    """

    read: str
    about: tuple[tuple[str, str], ...]

    @property
    def allowed(self) -> str:
        return "".join(letter for letter, _ in self.about)


@dataclass(frozen=True)
class Lines:
    """Hold the lines that the letters of an exercise stand for, each with what it is about.

    Either all of them run, one after the other, behind one of `begins`: `@` is the letter in a line,
    and `right` an expression that tells of `made`, what a letter names, whether it is meant. Or `trial`
    runs for each `line` by itself, in a loop: it has `{begin}`, and appends a letter to `answer`.
    """

    read: str
    begins: tuple[str, ...]
    lines: Mapping[str, str]
    right: str = ""
    trial: str = ""

    def vary(self, random: Random) -> dict[str, object]:
        """Draw the fields of a variant: how it begins, and which six lines get letters."""
        chosen = random.sample(list(self.lines), 6)
        return self.of("abcdef", random.choice(self.begins), chosen)

    def first(self, letters: str) -> dict[str, object]:
        """Return the fields of the exercise in the lesson: the first program, and the first lines."""
        return {"vary": self.vary} | self.of(letters)

    def of(self, letters: str, begin: str = "", chosen: Sequence[str] = ()) -> dict[str, object]:
        """Return the fields of an exercise whose letters are these lines, the first ones by default."""
        begin = begin or self.begins[0]
        given = dict(zip(letters, chosen or self.lines, strict=False))
        about = tuple((letter, self.lines[line]) for letter, line in given.items())
        return {
            "letters": Letters(self.read, about),
            "reader": reading.letters(letters),
            "shown": self._shown(begin, given),
            "solution": self._solution(begin, given),
        }

    def _shown(self, begin: str, given: dict[str, str]) -> str:
        if self.right:
            lines = [line.replace("@", letter) for letter, line in given.items()]
            return "\n".join([begin, *lines])
        lines = [f"{letter}:  " + line.replace("\n", "\n    ") for letter, line in given.items()]
        return "\n".join([begin, "", *lines])

    def _solution(self, begin: str, given: dict[str, str]) -> str:
        if self.right:
            names = ", ".join(f'"{letter}": {letter}' for letter in given)
            ends = f"answer = [letter for letter, made in results.items() if {self.right}]"
            return "\n".join([self._shown(begin, given), f"results = {{{names}}}", ends])
        lines = [f"    {letter!r}: {line!r}," for letter, line in given.items()]
        loop = ["}", "answer = []", "for letter, line in lines.items():"]
        body = indent(self.trial.replace("{begin}", begin).strip(), "    ")
        return "\n".join(["lines = {", *lines, *loop, body])
