"""Ask a question once more and answer it at once: one of the quiz (`Again`), with the guess of lesson
00 beside it, or one that was missed in a lesson (`Recall`).
"""

from dataclasses import replace

from helpers.pace import comes_back, reviewed
from helpers.predicting.kinds import KEY, kind_of, named
from helpers.predicting.prediction import Prediction, answer_of
from helpers.predicting.questions import Question, question
from helpers.progress_file import DRAFT, PREDICTIONS, NotKept, change, kept, without_draft


class Recall(Prediction):
    """Ask a question of a lesson at review; the first guess stays as it is."""

    kept_as = sure_as = ""  # what was said at review is not kept, only whether it was right
    drafted_as = f"{DRAFT}_at_review"
    asks = '{0}: your answer, {1}. Without buttons: review("{0}", {2})'

    def __init__(self, asked: Question, guess: str = "", call: str = "") -> None:
        self.call = call or asked.id
        super().__init__(asked, "", guess)

    def _wait(self) -> None:
        """Wait for no cell: the answer comes as soon as there is a guess."""
        self._look()

    def _look(self) -> None:
        if self.choice and self.answer is None:
            self.answer = answer_of(self.asked)

    def _keep(self, _: object) -> None:
        self.choice = self.kind.read(self.asked, self.choice)
        if self.choice and self.answer is None:
            self.problem = reviewed_now(self.asked, self.kind.is_right(self.asked, self.choice))
            self.send({"kept": None})
            self._look()

    def _told(self) -> str:
        kind, asked = self.kind, self.asked
        if self.answer is None:
            return self.asks.format(self.call, kind.wanted(asked), kind.example(asked))
        return f"{self.call}: {kind.reply(asked, self.choice)} {self.problem}".rstrip()


def reviewed_now(asked: Question, is_right: bool) -> str:
    """Keep what came of a question at review; return when it comes back."""
    try:
        record = change(
            PREDICTIONS, asked.id, lambda record: reviewed(without_draft(record), is_right)
        )
        return comes_back(record)
    except NotKept as error:
        return str(error)


class Again(Recall):
    """Show the letters of a question of the quiz as buttons, and what is right after the choice.

    `call` is the name of its question in a call, such as "q1". The first letter is kept, under
    "now"; the guess of lesson 00 stays as it is.
    """

    kept_as, sure_as, drafted_as = "now", "sure_now", f"{DRAFT}_now"
    asks = "{0}: your guess, {1}. Without buttons: then_and_now({0}={2})"
    _keep = Prediction._keep

    def __init__(self, call: str, guess: str = "") -> None:
        name = call.replace("q", "quiz.")
        asked = question(name)
        super().__init__(replace(asked, right=KEY[name], takeaway=before(asked)), guess, call)


def before(asked: Question) -> str:
    """Say what was guessed in lesson 00, if anything was, and where it is shown."""
    first = kind_of(asked).read(asked, kept()[PREDICTIONS].get(asked.id, {}).get("first", ""))
    shown = f"Lesson {asked.settled} shows it."
    return f"In lesson 00 you said {named(first)}. {shown}" if first else shown
