"""`review`: ask again what was missed, as it becomes due; and say at the top of a lesson what is."""

import re

from IPython.display import display

from autograd_graphs.answer_card import Card, say, show, show_markdown
from autograd_graphs.data import counted
from autograd_graphs.guard import guarded
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold
from helpers import pace
from helpers.exercises.asking import REVIEWED
from helpers.exercises.variants import asked_again
from helpers.lessons import listings, question_text
from helpers.predicting.again import Recall
from helpers.predicting.due import Due, due, sitting, waiting
from helpers.predicting.kinds import kind_of, lines_of
from helpers.predicting.prediction import called, no_question, unclear
from helpers.predicting.questions import Question, question
from helpers.progress_file import EXERCISES, kept, trouble

ELSEWHERE = re.compile(r"\b(the case|picture)\b")  # a question that says so leans on its lesson
PLAYER = re.compile(r" *Then click into the player.*", re.DOTALL)
_reminded: list[object] = []  # the number of the cell that said what is due


def review(name: object = None, answer: object = None) -> None:
    """Ask what is due today, ten minutes at most: what you missed in the lessons comes back after 1,
    3, 7 and 20 days.

    review("05.q1", "b") answers a question without buttons. Never raises.
    """
    if name is not None:
        answer_one(name, answer)
        return
    problem = trouble()
    if problem:
        unclear(problem)
        return
    sections = kept()
    today = due(sections)
    asked = sitting(today)
    show(opening(today, asked, waiting(sections)))
    for number, item in enumerate(asked, start=1):
        ask(item, f"{number} of {len(asked)}")


def answer_one(name: object, answer: object) -> None:
    """Take an answer without buttons."""
    asked = question(name)
    if asked is None or not asked.right:
        text = f"There's no question {called(name)} to review. review() asks what's due."
        no_question(name, text)
        return
    kind = kind_of(asked)
    if answer is not None and not kind.read(asked, answer):
        given = f"you gave {describe(answer)}, but it asks for {kind.wanted(asked)}"
        unclear(f'{asked.id}: {given}: review("{asked.id}", {kind.example(asked)})')
    else:
        show_recall(asked, kind.read(asked, answer))


def opening(today: list[Due], asked: list[Due], all_of_it: list[Due]) -> Card:
    """Say what comes now, and what waits."""
    lines = [*coming(asked), *later(today, asked, all_of_it), *odd_dates(today), *long_one(today)]
    look, word = ("partly", "Review") if today else ("right", "Nothing is due")
    body = "\n".join(lines)
    return Card(look, word, "", body, fold(f"{word}. {' '.join(lines)}"))


def coming(asked: list[Due]) -> list[str]:
    if not asked:
        return []
    things, many = counted(len(asked), "thing"), len({item.lesson for item in asked})
    lessons, time = counted(many, "lesson"), minutes(asked)
    return [
        f"{things} from {lessons}, about {time}. What you get right "
        "stays away longer each time. What you get wrong comes back tomorrow."
    ]


def long_one(today: list[Due]) -> list[str]:
    """Offer one thing that does not fit into a review, and count the answer to it."""
    for item in today:
        if item.is_long:
            REVIEWED.add(item.name)
            time = counted(round(item.minutes), "minute")
            return [
                f"If you have {time}, try exercise {item.name} of lesson {item.lesson} again. Answer "
                f'it here, with check("{item.name}", answer).'
            ]
    return []


def later(today: list[Due], asked: list[Due], all_of_it: list[Due]) -> list[str]:
    """Say what is due and has no place today, or when the next thing comes back."""
    left = len([item for item in today if not item.is_long]) - len(asked)
    if left:
        return [f"{counted(left, 'thing')} more can wait. Ten minutes a day is enough."]
    others = [-item.days for item in all_of_it if item.days < 0]
    if today or not others:
        return []
    return [f"The next thing comes back in {counted(min(others), 'day')}."]


def odd_dates(today: list[Due]) -> list[str]:
    """Say so where dates lie in the future."""
    if not any(pace.is_to_come(item.record) for item in today):
        return []
    return ["Some answers have dates in the future. Was your clock set back? I count them as due."]


def minutes(items: list[Due]) -> str:
    return counted(round(sum(item.minutes for item in items)), "minute")


def ask(item: Due, place: str) -> None:
    """Ask one thing: a question with its buttons, an exercise with the call that checks it."""
    listing = listings()[item.lesson]
    lesson = f"[lesson {item.lesson}]({listing.link})"
    if item.section == EXERCISES:
        statement = asked_again(item.name, pace.today().toordinal())
        statement = statement or f"Exercise {item.name} is in {lesson}."
        show_markdown(
            f'**{place}** · from {lesson}\n\n{statement}\n\nAnswer in a new cell: `check("{item.name}", …)`'
        )
        return
    asked = question(item.name)
    show_markdown(f"**{place}** · from {lesson}: **{asked.title}**\n\n{text_of(asked, lesson)}")
    show_recall(asked, "")


def text_of(asked: Question, lesson: str) -> str:
    """Return what is asked, from the lesson; where it leans on what stands there, say so."""
    text = PLAYER.sub("", question_text(asked.id)).strip()
    if not text or ELSEWHERE.search(text):
        text = (
            f"{text}\n\nYou need {lesson} for this one, so open it next to this notebook.".strip()
        )
    return text


def show_recall(asked: Question, answer: str) -> None:
    """Show the buttons of a question, or what one types where there are none."""
    recall = Recall(asked, answer)
    if shell_here() is not None:
        display(recall)
        return
    for line in lines_of(asked):
        say(f"    {line}")
    say(repr(recall))


def remind() -> None:
    """Say in a notebook how much is due, and nothing if nothing is. Never raises: a lesson begins."""
    line = guarded(reminder)
    if shell_here() is not None and isinstance(line, str) and line:
        show_markdown(line)
        _reminded[:] = [_cell()]


def is_reminded_here() -> bool:
    """Tell whether the cell that runs has said what is due."""
    return _cell() is not None and _reminded == [_cell()]


def _cell() -> object:
    return getattr(shell_here(), "execution_count", None)


def reminder() -> str:
    return things_to_do(sitting(due(kept())))


def things_to_do(asked: list[Due]) -> str:
    """Say what there is to review: "3 things to look at again, …"; "" if there is nothing."""
    if not asked:
        return ""
    things = counted(len(asked), "thing")
    return f"{things} to look at again, about {minutes(asked)}. Run `review()`."
