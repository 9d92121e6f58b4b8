"""`progress`: show what was guessed and solved so far, lesson by lesson, and what to look at again."""

from dataclasses import dataclass

from autograd_graphs.answer_card import say
from autograd_graphs.data import counted
from helpers.lessons import is_gone
from helpers.predicting.due import due, sitting
from helpers.predicting.handed_over import written
from helpers.predicting.kinds import KEY, kind_of
from helpers.predicting.page import page
from helpers.predicting.questions import Question, every
from helpers.predicting.reviewing import is_reminded_here, remind, things_to_do
from helpers.progress_file import EXERCISES, PLAYERS, PREDICTIONS, count, kept

NOTHING = (
    "Nothing is kept yet. Your guesses, your attempts at exercises and the hints you ask for will be "
    "counted here. They stay in progress.json, next to the notebook, and you can delete it whenever"
    " you like."
)
COLUMNS = ("Lesson", "Right at first guess", "Exercises solved", "Hints")


@dataclass(frozen=True)
class Lesson:
    """Hold what was done in one lesson.

    `right` of `guesses` were right at first, those in players among them; `solved` of `tried`
    exercises. `again` names what to look at again, surest mistakes first.
    """

    number: str
    right: int
    guesses: int
    solved: int
    tried: int
    hints: int
    again: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """Hold all lessons in which something was done, and for each guess of the quiz whether it was
    right: of those in lesson 00, and `now` of those in lesson 11.
    """

    lessons: tuple[Lesson, ...]
    quiz: tuple[bool, ...]
    now: tuple[bool, ...]
    sections: dict[str, dict[str, dict]]

    @property
    def again(self) -> list[str]:
        """What to look at again in all lessons."""
        texts = []
        for lesson in self.lessons:
            texts += lesson.again
        return texts

    def __repr__(self) -> str:
        if not self.lessons:
            return self._quiz() or NOTHING
        lines = in_columns([COLUMNS, *map(cells, self.lessons)])
        if self.again:
            lines += ["", "Look again at:"]
        for text in self.again:
            lines.append(f"  - {text}".replace("`", ""))
        lines += filter(None, [self._quiz(), self._due().replace("`", "")])
        return "\n".join(lines)

    def _quiz(self) -> str:
        """Say how many guesses of the quiz are kept, or were right; "" if none is kept."""
        then, now = share(sum(self.quiz), len(self.quiz)), share(sum(self.now), len(self.now))
        if self.now:
            return f"Quiz: right in lesson 00 {then}, right in lesson 11 {now}."
        if not self.quiz:
            return ""
        many = counted(len(self.quiz), "guess", "guesses")
        return f"Quiz: {many} kept. Lesson 11 asks once more."

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        data = {"text/plain": repr(self)}
        if self.lessons:
            summary = [self._counts(), self._quiz(), self._due()]
            data["text/html"] = page(self.sections, summary, self.again)
        return data

    def _counts(self) -> str:
        right = sum(lesson.right for lesson in self.lessons)
        guesses = sum(lesson.guesses for lesson in self.lessons)
        solved = sum(lesson.solved for lesson in self.lessons)
        tried = sum(lesson.tried for lesson in self.lessons)
        first = f"Right at first guess: {share(right, guesses)}."
        return f"{first} Exercises solved: {share(solved, tried)}."

    def _due(self) -> str:
        """Say how much is due today; "" if nothing is, or if this cell has said so."""
        to_do = things_to_do(sitting(due(self.sections)))
        if not to_do or is_reminded_here():
            return ""
        return f"Today: {to_do}"


def progress(export: bool = False) -> Progress | None:
    """Show, for each lesson, predictions right at first guess, exercises solved, hints taken, what is
    due today, and what to look at again.

    With `export=True` write a small text file instead, which you may hand to a teacher.
    """
    sections = kept()
    if export:
        say(written(sections))
        return None
    numbers: set[str] = set()
    for records in sections.values():
        numbers.update(map(number_of, records))
    lessons = tuple(lesson(number, sections) for number in sorted(numbers - {""}))
    quiz, now = of_quiz(sections, "first"), of_quiz(sections, "now")
    return Progress(lessons, quiz, now, sections)


def of_quiz(sections: dict[str, dict], when: str) -> tuple[bool, ...]:
    """Tell of each guess of the quiz, in lesson 00 ("first") or 11 ("now"), if it was right."""
    verdicts = []
    for name, record in sections[PREDICTIONS].items():
        guess = record.get(when)
        if name.startswith("quiz.") and guess:
            verdicts.append(guess == KEY.get(name))
    return tuple(verdicts)


def number_of(name: str) -> str:
    """Return the number of the lesson that asks for a record; "" for the quiz, and what went."""
    return name[:2] if name[:2].isdigit() and not is_gone(name) else ""


def lesson(number: str, sections: dict[str, dict[str, dict]]) -> Lesson:
    """Count what was kept of one lesson, without what it asks no more."""

    def records_of(section: str) -> dict[str, dict]:
        records = sections[section].items()
        return {name: record for name, record in records if number_of(name) == number}

    guesses, wrong = judged(records_of(PREDICTIONS))
    players = []
    for record in records_of(PLAYERS).values():
        players += [first for first in record.values() if first in ("right", "wrong")]
    tries = records_of(EXERCISES)
    tried, solved, left, hints = 0, 0, [], 0
    for name, record in sorted(tries.items()):
        hints += count(record, "hints")
        if not record.get("tries") and not record.get("solved"):
            continue
        tried += 1
        if record.get("solved") is True:
            solved += 1
        else:
            left.append(f"exercise {name}")
    return Lesson(
        number=number,
        right=guesses - len(wrong) + players.count("right"),
        guesses=guesses + len(players),
        solved=solved,
        tried=tried,
        hints=hints,
        again=(*wrong, *left),
    )


def judged(records: dict[str, dict]) -> tuple[int, list[str]]:
    """Return how many guesses there are on questions that have an answer, and the wrong ones as
    texts, those first of which the student was sure.
    """
    made, wrong = 0, []
    for name, asked in every().items():
        record, kind = records.get(name, {}), kind_of(asked)
        guess = kind.read(asked, record.get("first", ""))
        if guess and asked.right:
            made += 1
            if not kind.is_right(asked, guess):
                wrong.append((asked, record))
    wrong.sort(key=lambda pair: pair[1].get("sure") is not True)
    return made, [titled(asked, record) for asked, record in wrong]


def titled(asked: Question, record: dict) -> str:
    name = f"{asked.id}, {asked.title}"
    return f"{name} (you were sure)" if record.get("sure") is True else name


def cells(lesson: Lesson) -> tuple[str, ...]:
    right, solved = share(lesson.right, lesson.guesses), share(lesson.solved, lesson.tried)
    return lesson.number, right, solved, str(lesson.hints or "–")


def in_columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as lines in which the columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def share(part: int, all_of_it: int) -> str:
    return f"{part} of {all_of_it}" if all_of_it else "–"


remind()  # at the set-up of a lesson, which imports `progress`
