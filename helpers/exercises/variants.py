"""Hold `again`, which asks an exercise once more: another program, or other hidden cases.

`check`, `hint` and `solution` are about the variant from then on.
"""

from random import SystemRandom
from textwrap import indent

from autograd_graphs.answer_card import Card, show
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold
from helpers.exercises.asking import (
    MISSING,
    REVIEWED,
    VARIANTS,
    as_number,
    asked,
    made,
    no_such,
    unclear,
)
from helpers.exercises.exercise import Exercise, find
from helpers.lessons import exercise_text

MOST_SEEDS = 10_000
_STAYS = "The task is the same as in the lesson. From now on `check` tries what you write on other hidden cases."


def again(exercise: object = MISSING, *, seed: object = None, original: object = False) -> None:
    """Ask the exercise with this id once more, as a variant: `check` judges that one until the
    kernel restarts, or until again("06.1", original=True).

    The same `seed`, a whole number, brings the same variant. Never raises.
    """
    show(made(_again, exercise, seed, original))


def _again(exercise: object, seed: object, original: object) -> Card:
    task = asked(exercise)
    if task is None:
        return no_such(exercise, "again")
    name = task.id
    if original is True:
        VARIANTS.pop(name, None)
        text = f"`check`, `hint` and `solution` are about {name} again, as it is in the lesson."
        return Card("right", "The original", name, text, fold(f"{name}: {text}"), is_news=True)
    drawn = _seed(seed)
    if drawn is None:
        wanted = f'A seed is a whole number: again("{name}", seed=3).'
        return unclear(f"again was given {describe(seed)} as a seed. {wanted}", "Not asked")
    if not find(name).varies:
        return unclear(
            f"{name} has no variants, so there's only the one in the lesson.", "Not asked"
        )
    VARIANTS[name] = find(name).variant(drawn)
    return _card(VARIANTS[name], drawn)


def _seed(seed: object) -> int | None:
    """Return what was given as a seed as a number; one by chance where nothing was given."""
    if seed is None:
        return SystemRandom().randrange(MOST_SEEDS)
    given = as_number(seed)
    if given is None or given % 1 != 0:
        return None
    return int(given)


def _card(variant: Exercise, seed: int) -> Card:
    """Set a variant out: what is asked, how to answer and to get it once more, and the program."""
    name, task = variant.id, variant.asked or _STAYS
    repeat = f'again("{name}", seed={seed})'
    answer = "Value" if variant.stage else "answer"
    lines = [task, f'Answer with check("{name}", {answer}). {repeat} asks this one again.']
    text = fold(f"{name}, once more: {task}") + "\n"
    if variant.program:
        text += f"\n{indent(variant.program, '    ')}\n"
    text += f"\n{lines[1]}"
    body = "\n".join(lines)
    return Card("partly", "Once more", name, body, text, True, program=variant.program)


def asked_again(name: str, seed: int) -> str:
    """Ask the exercise with this id at review, where the next answer, or a hint, counts; return its
    statement as Markdown, "" where the lesson cannot be read.
    """
    REVIEWED.add(name)
    VARIANTS.pop(name, None)
    if find(name).varies:
        VARIANTS[name] = find(name).variant(seed)
    variant = VARIANTS.get(name)
    if variant is None or not variant.program:
        return exercise_text(name)
    return f"**{name}**, once more. {variant.asked}\n\n```python\n{variant.program}\n```"
