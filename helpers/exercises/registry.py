"""Find exercises by id: one module lesson_NN.py a lesson, imported when it is first asked for."""

import difflib
import importlib
import pkgutil
import re
from pathlib import Path

from helpers.exercises.model import Exercise


def lessons() -> tuple[str, ...]:
    """Return the numbers of the lessons that have exercises, such as ("02", "03")."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return tuple(sorted(name.removeprefix("lesson_") for name in names if re.fullmatch(r"lesson_\d\d", name)))


def exercises(lesson: str) -> tuple[Exercise, ...]:
    """Return one lesson's exercises, in order; none for a lesson that has no module."""
    if lesson not in lessons():
        return ()
    return importlib.import_module(f"helpers.exercises.lesson_{lesson}").EXERCISES


def find(name: str) -> Exercise | None:
    """Return the exercise with this id, or None."""
    return next((exercise for exercise in exercises(name[:2]) if exercise.id == name), None)


def nearest(name: str, count: int = 3) -> list[str]:
    """Return the ids of existing exercises that look most like `name`, best first, its own lesson's before others."""

    def distance(id: str) -> tuple[bool, float]:
        return id[:2] != name[:2], -difflib.SequenceMatcher(None, name, id).ratio()

    every = [exercise.id for lesson in lessons() for exercise in exercises(lesson)]
    return sorted(every, key=distance)[:count]
