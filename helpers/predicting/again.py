"""`Again`: ask a question of the quiz once more, and answer it at once, with the guess of lesson 00
beside it.
"""

from dataclasses import replace

from helpers.predicting.kinds import KEY, kind_of, named
from helpers.predicting.prediction import Prediction, answer_of
from helpers.predicting.questions import Question, question
from helpers.progress_file import PREDICTIONS
from helpers.progress_file import read as kept


class Again(Prediction):
    """Show the letters of a question of the quiz as buttons, and what is right after the choice.

    `call` is the name of its question in a call, such as "q1". The first letter is kept, under
    "now"; the guess of lesson 00 stays as it is.
    """

    kept_as, sure_as = "now", "sure_now"

    def __init__(self, call: str, guess: str = "") -> None:
        name = call.replace("q", "quiz.")
        self.call = call
        asked = question(name)
        super().__init__(replace(asked, right=KEY[name], takeaway=before(asked)), "", guess)

    def _look(self) -> None:
        """Answer as soon as there is a letter: no cell has to run."""
        if self.choice and self.answer is None:
            self.answer = answer_of(self.asked)

    def _told(self) -> str:
        if self.answer is not None:
            return (
                f"{self.call}: {self.kind.reply(self.asked, self.choice)} {self.problem}".rstrip()
            )
        example = f'then_and_now({self.call}="a")'
        return (
            f"{self.call}: your guess, {self.kind.wanted(self.asked)}. Without buttons: {example}"
        )


def before(asked: Question) -> str:
    """Say what was guessed in lesson 00, if anything was, and where it is shown."""
    first = kind_of(asked).read(asked, kept()[PREDICTIONS].get(asked.id, {}).get("first", ""))
    then = f"In lesson 00 you said {named(first)}. " if first else ""
    return f"{then}Lesson {asked.settled} shows it."
