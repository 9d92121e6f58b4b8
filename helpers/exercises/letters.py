"""Hold what a letter exercise says to a wrong answer: the same to each, and not which letter is
wrong, so that trying letters tells little.
"""

from dataclasses import dataclass

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
