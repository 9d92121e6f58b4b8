"""`predict`: ask for a guess under a question, keep the first one, and answer it once the cell that
settles it has run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Any as Anything
from traitlets import Bool, Dict, Unicode

from autograd_graphs.text import fold
from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import is_a
from helpers.answers import Card, show
from helpers.predicting import ran
from helpers.predicting.answers import example, named, read, reply, wanted
from helpers.predicting.questions import Question, every, question
from helpers.progress_file import PREDICTIONS, NotKept, change
from helpers.progress_file import read as kept

HERE = Path(__file__).parent
SCRIPT = (HERE / "prediction.js").read_text(encoding="utf-8")
STYLE = (HERE / "prediction.css").read_text(encoding="utf-8")
ran.listen()  # from the import in the first cell on, so that it is known what ran before a question
EARLY = 'document.documentElement.dataset.predicting = "";'  # before a page is seen: hide answers
NO_SCRIPT = "Guess, and write it down, before you read on."
ASKED = "application/vnd.computational-graphs.prediction"  # the id of a question, in an output


class Prediction(anywidget.AnyWidget):
    """Show the letters of a question as buttons, or a field for its numbers.

    `choice` is the guess, locked once it is made. `answer` stays empty, in the browser too, until
    there is a guess and the cell that settles it has run.
    """

    _esm, _css = SCRIPT, STYLE
    kept_as, sure_as = "first", "sure"  # the names of a guess in the progress file
    question = Dict().tag(sync=True)
    choice = Unicode().tag(sync=True)
    sure = Bool().tag(sync=True)
    ran = Bool().tag(sync=True)
    answer = Anything(None).tag(sync=True)
    problem = Unicode().tag(sync=True)

    def __init__(self, asked: Question, cell: str, guess: str = "") -> None:
        self.asked, self._cell = asked, cell
        record = kept()[PREDICTIONS].get(asked.id, {})
        self._seen = record.get("seen") is True
        super().__init__(
            question=asked_of(asked),
            choice=read(asked, record.get(self.kept_as, "")),
            sure=record.get(self.sure_as) is True,
        )
        self.observe(self._keep, "choice")
        self.choice = self.choice or guess
        ran.call_after_runs(asked, self._look)
        self._look()

    def _look(self) -> None:
        """See whether the cell that settles the question has run; give the answer if it has."""
        self.ran = self.ran or self._seen or ran.has_run(self.asked, self._cell)
        if self.ran and self.choice and self.answer is None and not self.asked.settled:
            self.answer = answer_of(self.asked)
            self._note({"seen": True})

    def _keep(self, _: object) -> None:
        """Keep the first guess; what cannot be meant as one is taken back."""
        self.choice = read(self.asked, self.choice)
        if self.choice:
            self._note({self.kept_as: self.choice, self.sure_as: self.sure})
            self._look()

    def _note(self, news: dict) -> None:
        try:
            change(PREDICTIONS, self.asked.id, lambda record: news | record)
        except NotKept as error:
            self.problem = str(error)

    def __repr__(self) -> str:
        return fold(self._told())

    def _told(self) -> str:
        """Say what is to be done, or what is thought of the guess."""
        name = self.asked.id
        if not self.choice:
            call = f'predict("{name}", {example(self.asked)})'
            return f"{name}: your guess, {wanted(self.asked)}. Without buttons: {call}"
        if self.answer is not None:
            return f"{name}: {reply(self.asked, self.choice)}"
        then = (
            f"Lesson {self.asked.settled} settles it."
            if self.asked.settled
            else "Now run the next cell."
        )
        return f"{name}: You said {named(self.choice)}. {then}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """Give the widget, the id of the question, and its words without a widget."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return data | {ASKED: self.asked.id, "text/plain": repr(self)}, metadata


def predict(name: str, guess: object = None) -> Prediction | None:
    """Ask for a guess on the question with this id, such as "05.q1"; the first one is kept in
    progress.json.

    `guess` gives it without buttons: predict("05.q1", "b"). Says so where there is no such
    question, and never raises.
    """
    asked = question(name) if is_a(name, str) else None
    if asked is None:
        unclear(f"There is no question {describe(name)}. {nearest(name)}")
        return None
    read_guess = "" if guess is None else read(asked, guess)
    if guess is not None and not read_guess:
        call = f'predict("{asked.id}", {example(asked)})'
        unclear(
            f"{asked.id}: I was given {describe(guess)}, and it asks for {wanted(asked)}: {call}"
        )
    return Prediction(asked, ran.running_cell(), read_guess)


def unclear(text: str) -> None:
    """Show that a call could not be followed."""
    show(Card("partly", "Not understood", "", text, fold(text), True))


def nearest(name: object) -> str:
    """Say which questions there are in the lesson that was meant."""
    lesson = name[:2] if is_a(name, str) else ""
    there = [one for one in every() if one.startswith(lesson)] or list(every())
    return f"There are {', '.join(there[:12])}." if there else "No lesson has one yet."


def asked_of(asked: Question) -> dict[str, Any]:
    """Return what the browser is told of a question before its answer."""
    return {
        "id": asked.id,
        "letters": asked.letters,
        "count": asked.count,
        "settled": asked.settled,
    }


def answer_of(asked: Question) -> dict[str, Any]:
    """Return what the browser is told of its answer."""
    right = list(asked.right) if isinstance(asked.right, tuple) else asked.right
    return {
        "right": right,
        "tolerance": asked.tolerance,
        "takeaway": asked.takeaway,
        "why": [list(pair) for pair in asked.why],
    }


def slot(asked: Question) -> str:
    """Return the place in a page where a question is asked: what its script needs, and what is said
    where no script runs.
    """
    answer = None if asked.settled else answer_of(asked)
    data = json.dumps(asked_of(asked) | {"answer": answer}, ensure_ascii=False)
    data = data.replace("<", "\\u003c")
    return (
        f'<div class="prediction-slot"><script type="application/json">{data}</script>\n'
        f"<noscript><p>{NO_SCRIPT}</p></noscript></div>"
    )


def page_script() -> str:
    """Return the script of a page: it asks every question there."""
    return f"{SCRIPT}\npredictAll(document);\n"


def head() -> str:
    """Return the style and the scripts that a page needs once, for any number of slots."""
    script = f'<script type="module">\n{page_script()}</script>'
    return f"<style>\n{STYLE}</style>\n<script>{EARLY}</script>\n{script}"
