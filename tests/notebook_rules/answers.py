"""Rules about answers: the right one, the reason, a line for each wrong one."""

import re

from helpers.predicting.round_text import ASKS, SUMMARY
from notebook_rules.rounds import asked, guessed, quiz, rounds

LETTERS = "abcdef"
SENTENCE = re.compile(r"(?:[^a-z]|torch\b).*[.?!][*\"')]*", re.S)
LESSON = re.compile(r"\d\d")


def a_question_says_what_to_predict(lesson):
    """The words that all questions of a kind have in common, so that nobody reads past one."""
    for round_ in asked(lesson):
        if ASKS[round_.kind] not in round_.first.source:
            yield f"{round_.first} does not say what to do: write `{ASKS[round_.kind]} …` after the set-up."


def a_question_of_the_quiz_leaves_its_answer_to_a_lesson(lesson):
    """It names that lesson, and neither a right letter nor a number."""
    for round_ in quiz(lesson):
        course = round_.first.course
        if not LESSON.fullmatch(str(course["settled"])) or {"right", "answer"} & set(course):
            yield f'{round_.first} is a question of the quiz: set course.settled to a lesson such as "07", and no right letter.'


def a_question_has_its_answer(lesson):
    """A right letter among the options, or the numbers that are asked for."""
    for round_ in guessed(lesson):
        course, letters = round_.first.course, round_.question.letters
        if letters and letters != list(LETTERS[: max(len(letters), 2)]):
            yield f"{round_.first} has the options {', '.join(letters)}: write two or more, `- (a) …`, `- (b) …`, in order."
        if letters and (course.get("right") not in letters or "answer" in course):
            yield f"{round_.first} says that {course.get('right')!r} is right: set course.right to one of {', '.join(letters)}, and no answer."
        if not letters and (not _numbers(course.get("answer")) or "right" in course):
            yield f"{round_.first} has no options: set course.answer to a number or a list of numbers, and no right letter."


def _numbers(answer):
    """Tell whether an answer is a number, or a list of one or more."""
    listed = answer if isinstance(answer, list) else [answer]
    return bool(listed) and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in listed
    )


def the_reason_is_folded(lesson):
    """The whole because stands inside one fold, so that nobody reads it before the run."""
    for round_ in rounds(lesson):
        for cell, reason in round_.reasons:
            if reason.summary != SUMMARY or cell.source.count("<details>") != 1:
                yield (
                    f"{cell} is not one fold: begin it with `<details><summary>{SUMMARY}</summary>`"
                    " and an empty line, end it with a line `</details>`."
                )


def every_wrong_answer_has_its_line(lesson):
    """Who guessed wrong reads why that tempts, and what is wrong with it; the right one needs none."""
    for round_ in guessed(lesson):
        for cell, reason in round_.reasons:
            if round_.asks_for_a_letter:
                yield from _letters_answered(cell, round_, reason)
            else:
                yield from _values_answered(cell, round_, reason)


def _letters_answered(cell, round_, reason):
    wrong = [letter for letter in round_.question.options if letter != round_.right]
    if reason.letters != wrong:
        yield (
            f"{cell} has lines for {_listed(reason.letters)}: write one for each wrong option, `- ({wrong[0] if wrong else 'a'}) …`,"
            f" here {_listed(wrong)}, in order."
        )


def _values_answered(cell, round_, reason):
    answer = round_.first.course.get("answer")
    right = answer if isinstance(answer, list) else [answer]
    if not reason.values:
        yield f"{cell} names no tempting wrong answer: write a line such as `- 162: why it tempts`."
    for values in reason.values:
        found = [_value(one) for one in values.split(", ")]
        if found == right:
            yield f"{cell} has a line for {values}, the right answer: lines are for wrong ones."
        elif len(found) != len(right):
            yield f"{cell} has a line for {values}: the question asks for {_count(right)}, name as many, with `, ` between."


def _value(text):
    return float(text.replace("−", "-").replace(",", ""))


def _count(values):
    return f"{len(values)} number{'s' * (len(values) > 1)}"


def _listed(letters):
    return ", ".join(f"({letter})" for letter in letters) or "none"


def lines_for_wrong_answers_are_sentences(lesson):
    """predict() shows them alone, after "You said (a). It is (b)."."""
    for round_ in guessed(lesson):
        for cell, reason in round_.reasons:
            for line in reason.lines:
                if not SENTENCE.fullmatch(line):
                    yield f"{cell} says of a wrong answer {line[:40]!r}: make it a whole sentence, which stands alone."


def a_lab_answers_its_questions(lesson):
    """Numbered questions before the run, answers with the same numbers after it."""
    for round_ in rounds(lesson):
        if not round_.is_lab:
            continue
        if not round_.question.asks:
            yield f"{round_.first} asks nothing: number its questions `1. …`, `2. …`."
        for cell, reason in round_.reasons:
            if reason.numbers != round_.question.asks:
                answered, numbered = ", ".join(reason.numbers), ", ".join(round_.question.asks)
                yield f"{cell} answers {answered or 'none'}, and {numbered or 'none'} are asked: write one `N. …` for each."


RULES = (
    a_question_says_what_to_predict,
    a_question_of_the_quiz_leaves_its_answer_to_a_lesson,
    a_question_has_its_answer,
    the_reason_is_folded,
    every_wrong_answer_has_its_line,
    lines_for_wrong_answers_are_sentences,
    a_lab_answers_its_questions,
)
