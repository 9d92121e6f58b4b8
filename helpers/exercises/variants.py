"""Ask an exercise once more: with other data where it can draw them, else as the lesson asks it.

`check` judges the variant from then on, and counts the next answer, or a hint, as one at review.
"""

from helpers.exercises.asking import REVIEWED, VARIANTS
from helpers.exercises.exercise import Exercise, find
from helpers.lessons import exercise_text


def asked_again(name: str, seed: int) -> str:
    """Ask the exercise with this id; return its statement, "" where the lesson cannot be read."""
    exercise = find(name)
    REVIEWED.add(name)
    VARIANTS.pop(name, None)
    if exercise.quantities is None or exercise.quantities.draw is None:
        return exercise_text(name)
    VARIANTS[name] = exercise.variant(seed)
    return variant_text(VARIANTS[name])


def variant_text(exercise: Exercise) -> str:
    """Return what is asked of other data: what the program leaves in `answer`."""
    names = [place.name for place in exercise.quantities.places]
    many = f"{len(names)} values, in this order: {', '.join(names)}" if names[1:] else "one value"
    asked = f"**{exercise.id}**, with other data. What does `answer` hold at the end? Give {many}."
    return f"{asked}\n\n```python\n{exercise.quantities.code.strip()}\n```"
