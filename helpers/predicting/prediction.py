"""`predict`, `draw`, `find_line`, `order` and `explain`: ask for a commitment under a question, keep
the first one, and answer it once the cell that settles it has run.
"""

import json
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Any as Anything
from traitlets import Bool, Dict, Unicode

from autograd_graphs import playing
from autograd_graphs.answer_card import Card, show
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold
from helpers.exercises.asking import earlier
from helpers.lessons import is_gone
from helpers.pace import answered_today
from helpers.predicting import ran
from helpers.predicting.graph_cards import same_graph
from helpers.predicting.kinds import kind_of, lines_of, named, text_of
from helpers.predicting.questions import Question, every, question
from helpers.progress_file import DRAFT, PREDICTIONS, NotKept, change, kept, without_draft
from helpers.progress_file import draft as kept_draft

HERE = Path(__file__).parent / "browser"
CORE = HERE / "prediction.js"  # the others add their kinds to it
SCRIPTS = [CORE, *sorted(path for path in HERE.glob("*.js") if path != CORE)]
SCRIPT = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
NOTEBOOK = Path(playing.__file__).parent / "player" / "notebook.js"  # a page has no use for it
STYLE = (HERE / "prediction.css").read_text(encoding="utf-8")
ran.listen()  # from the import in the first cell on, so that it is known what ran before a question
EARLY = 'document.documentElement.dataset.predicting = "";'  # before a page is seen: hide answers
NO_SCRIPT = "Guess, and write it down, before you read on."
NO_DRAFT = {"given": "", "sure": False}
LONGEST_DRAFT = 1000  # characters
GUESSED = ("choose", "number")  # kinds that `predict` asks for
ASKED = "application/vnd.computational-graphs.prediction"  # the id of a question, in an output


class Prediction(anywidget.AnyWidget):
    """Show what a question asks for: letters, a field, cards, lines or a box for words.

    `choice` is the guess, locked once it is made. `answer` stays empty, in the browser too, until
    there is a guess and the cell that settles it has run.
    """

    _esm, _css = NOTEBOOK.read_text(encoding="utf-8") + SCRIPT, STYLE
    kept_as, sure_as = "first", "sure"  # the names of a guess in the progress file
    drafted_as = DRAFT  # and of what was not sent yet
    question = Dict().tag(sync=True)
    choice = Unicode().tag(sync=True)
    sure = Bool().tag(sync=True)
    draft = Dict(NO_DRAFT).tag(sync=True)
    ran = Bool().tag(sync=True)
    answer = Anything(None).tag(sync=True)
    problem = Unicode().tag(sync=True)

    def __init__(self, asked: Question, cell: str, guess: str = "") -> None:
        self.asked, self._cell, self.kind = asked, cell, kind_of(asked)
        record = kept()[PREDICTIONS].get(asked.id, {})
        self._seen = record.get("seen") is True
        super().__init__(
            question=asked_of(asked),
            choice=self.kind.read(asked, record.get(self.kept_as, "")),
            sure=record.get(self.sure_as) is True,
            draft=drafted(kept_draft(PREDICTIONS, asked.id, self.drafted_as)),
        )
        self.observe(self._keep, "choice")
        self.observe(self._keep_draft, "draft")
        self.choice = self.choice or guess
        self._wait()

    def _wait(self) -> None:
        """Look now, and after each run of a cell."""
        ran.call_after_runs(self.asked, self._look)
        self._look()

    def _look(self) -> None:
        """See whether the cell that settles the question has run; give the answer if it has."""
        self.ran = self.ran or self._seen or ran.has_run(self.asked, self._cell)
        if self.ran and self.choice and self.answer is None and not self.asked.settled:
            self.problem = self._changed() or self.problem
            self.answer = answer_of(self.asked)
            self._note({"seen": True})

    def _changed(self) -> str:
        """Say so where the next cell draws another graph than the cards of `draw` were made from."""
        if self.asked.kind != "draw":
            return ""
        graph = ran.graph_of(self.asked, self._cell)
        if graph is None or same_graph(graph, self.asked.shown, self.asked.told):
            return ""
        return "The cell below draws a different graph now. This answer is about the one in the lesson."

    def _keep(self, _: object) -> None:
        """Keep the first guess; what cannot be meant as one is taken back."""
        self.choice = self.kind.read(self.asked, self.choice)
        if self.choice:
            self._note({self.kept_as: self.choice, self.sure_as: self.sure, **answered_today()})
            self._look()

    def _note(self, news: dict) -> None:
        """Keep news of an answer, beside which its draft is old, and let the browser forget it."""
        try:
            change(PREDICTIONS, self.asked.id, lambda record: news | without_draft(record))
            self.send({"kept": None})
        except NotKept as error:
            self.problem = str(error)

    def _keep_draft(self, _: object) -> None:
        """Keep what is not sent yet, and tell the browser, which holds it until then."""
        if self.choice:
            return
        news = {self.drafted_as: drafted(self.draft)}
        with suppress(NotKept):
            change(PREDICTIONS, self.asked.id, lambda record: record | news)
            self.send({"kept": self.draft})

    def __repr__(self) -> str:
        return fold(self._told())

    def _told(self) -> str:
        """Say what is to be done, or what is thought of the guess."""
        name = self.asked.id
        if not self.choice:
            call = typed(self.asked)
            return f"{name}: your guess, {self.kind.wanted(self.asked)}. Without buttons: {call}"
        if self.answer is not None:
            return f"{name}: {self.kind.reply(self.asked, self.choice)}"
        said, then = "Kept.", "Now run the next cell."
        if self.asked.settled:
            then = f"Lesson {self.asked.settled} settles it."
        if self.asked.kind in GUESSED:
            said = f"You said {named(self.choice)}."
        return f"{name}: {said} {then}"

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
    return ask("predict", name, guess)


def draw(name: str, edges: object = None) -> Prediction | None:
    """Ask for the graph that the next cell makes, before it is seen: cards, to be connected.

    Kept and answered as `predict` does it. `edges` gives it without buttons, as pairs of cards from
    a result to what went in: draw("07.d1", "BA AC").
    """
    return ask("draw", name, edges)


def find_line(name: str, program: str = "", line: object = None) -> Prediction | None:
    """Ask which line of a program is to blame, and why. Kept and answered as `predict` does it.

    `program` is what one reads where no widget is; `line` gives the answer without buttons:
    find_line("07.f1", line=4).
    """
    asked, lines = question(name), text_of(program).strip().split("\n")
    if lines != [""] and asked and lines != asked.shown.get("lines", lines):
        print(
            f"{name}: you've changed this program, but the question is about the one in the lesson."
        )
    return ask("find_line", name, line)


def order(name: str, letters: object = None) -> Prediction | None:
    """Ask for lines to be put in order; one of them is not needed. Kept and answered as `predict`
    does it.

    `letters` gives it without buttons: order("07.o1", "abd").
    """
    return ask("order", name, letters)


def explain(name: str, words: object = None) -> Prediction | None:
    """Ask for a sentence or two in one's own words, and show a good answer beside them afterwards.

    Kept as `predict` does it; nobody grades it. `words` gives it without a box.
    """
    return ask("explain", name, words)


def ask(call: str, name: object, guess: object) -> Prediction | None:
    """Ask a question for one of the five calls; say so where it cannot be asked like that."""
    asked = question(name)
    if asked is None:
        no_question(name, f"There's no question {called(name)}. {nearest(name)}")
        return None
    if call_of(asked) != call:
        unclear(f'{asked.id} is asked by a different call: {call_of(asked)}("{asked.id}")')
        return None
    kind = kind_of(asked)
    read_guess = ""
    if guess is not None:
        read_guess = kind.read(asked, guess)
        if not read_guess:
            given = f"you gave {describe(guess)}, but it asks for {kind.wanted(asked)}"
            unclear(f"{asked.id}: {given}: {typed(asked)}")
    return Prediction(asked, ran.running_cell(), read_guess)


def call_of(asked: Question) -> str:
    """Return the name of the function that asks a question."""
    return "predict" if asked.kind in GUESSED else asked.kind


def typed(asked: Question) -> str:
    """Return how a question is answered without buttons."""
    word = "line=" if asked.kind == "find_line" else ""
    return f'{call_of(asked)}("{asked.id}", {word}{kind_of(asked).example(asked)})'


def drafted(given: object) -> dict[str, Any]:
    """Return a draft as the browser takes it, whatever stands in the file."""
    if not isinstance(given, dict) or not isinstance(given.get("given"), str):
        return NO_DRAFT
    return {"given": given["given"][:LONGEST_DRAFT], "sure": given.get("sure") is True}


def called(name: object) -> str:
    """Return what was given as an id, as it is spoken of."""
    return describe(name).removeprefix("the text ")


def no_question(name: object, text: str) -> None:
    """Show that a question went, or else this text."""
    if isinstance(name, str) and is_gone(name):
        show(earlier(name))
    else:
        unclear(text)


def unclear(text: str) -> None:
    """Show that a call could not be followed."""
    show(Card("partly", "Not understood", "", text, fold(text), True))


def nearest(name: object) -> str:
    """Say which questions there are in the lesson that was meant."""
    lesson = text_of(name).partition(".")[0]
    if lesson == "quiz":  # it stands there
        lesson = "00"
    there = [known for known in every() if known.startswith(lesson)] or list(every())
    if not there:
        return "No lesson asks one yet."
    said = f"There are {', '.join(there[:12])}."
    if not there[0].startswith(lesson or "-"):
        return said
    return f"{said} Is your copy from an earlier edition? `make reset N={lesson}` gets you today's."


def asked_of(asked: Question) -> dict[str, Any]:
    """Return what the browser is told of a question before its answer."""
    names = ("id", "kind", "letters", "count", "settled")
    return {name: getattr(asked, name) for name in names} | asked.shown


def answer_of(asked: Question) -> dict[str, Any]:
    """Return what the browser is told of its answer."""
    right = list(asked.right) if isinstance(asked.right, tuple) else asked.right
    answer = {"right": right, "tolerance": asked.tolerance, "takeaway": asked.takeaway}
    return asked.told | answer | {"why": [list(pair) for pair in asked.why]}


def slot(asked: Question) -> str:
    """Return the place where a page asks a question: for its script, and for where none runs."""
    answer = None if asked.settled else answer_of(asked)
    data = json.dumps(asked_of(asked) | {"answer": answer}, ensure_ascii=False)
    data = data.replace("<", "\\u003c")
    lines = "".join(f"<pre>{escape(line)}</pre>" for line in lines_of(asked))
    script = f'<script type="application/json">{data}</script>'
    words = f"<noscript>{lines}<p>{NO_SCRIPT}</p></noscript>"
    return f'<div class="prediction-slot">{script}\n{words}</div>'


def page_script() -> str:
    """Return the script of a page: it asks every question there."""
    return f"{SCRIPT}\npredictAll(document);\n"


def head() -> str:
    """Return the style and the scripts that a page needs once, for any number of slots."""
    script = f'<script type="module">\n{page_script()}</script>'
    return f"<style>\n{STYLE}</style>\n<script>{EARLY}</script>\n{script}"
