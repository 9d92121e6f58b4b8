"""Hold what an exercise is: plain frozen records that check themselves when they are made."""

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

from helpers.exercises.letters import Letters
from helpers.exercises.programs import run, run_once
from helpers.exercises.quantities import Quantities
from helpers.exercises.reading import Reader, number, numbers
from helpers.exercises.reference import read

MOST_DRAWS = 200


@dataclass(frozen=True)
class Misconception:
    """Name one wrong idea: `message` says what was thought and what torch does; `when` is the wrong
    answer itself, `like(code)`, or a predicate of two readings: what was seen, and what is right.
    """

    message: str
    when: object


@dataclass(frozen=True)
class Exercise:
    """Describe one exercise, whose `truth` gives a right answer, computed each time anew: what the
    solution answers, unless it says otherwise.

    A function has a `reference` (reference.py), from which come its solution and what its mistakes are
    called, and in `known` four messages at most.

    `principle` is what to think of where no misconception is recognised: a sentence that follows on
    "Think of this:". `known` is a table of misconceptions: each message, and when it is said. An
    exercise with `letters` has neither these nor a principle, and one with `quantities` has one
    misconception at most, for what is no number. Its program is the solution, and a number for each
    place is read, unless it says otherwise.

    A variant asks `asked` of another program. `vary` draws the fields in which it differs. Quantities
    that `draw` other data need none, nor does a function whose hidden cases `cases` draws. What is
    `shown` is the solution up to where it computes the answer, unless it says otherwise.

    Of a `stage` of the student's engine (helpers/engine) the answer is the cell in which `check` stands.

    Raises ValueError when a part is missing, doubled or empty.
    """

    id: str
    reader: Reader | None = None
    right: str = ""
    hints: tuple[str, ...] = ()
    solution: str = ""
    reference: str = ""
    truth: Callable[[], object] | None = None
    known: Mapping[str, object] = field(default_factory=dict)
    principle: str = ""
    letters: Letters | None = None
    quantities: Quantities | None = None
    asked: str = ""
    shown: str = ""
    vary: Callable[[Random], Mapping[str, object]] | None = None
    cases: Callable[[Random], tuple] | None = None
    stage: str = ""

    def __post_init__(self) -> None:
        if self.quantities is not None:
            names = [place.name.strip("`") for place in self.quantities.places]
            reader = number() if len(names) == 1 else numbers(*names)
            object.__setattr__(self, "reader", self.reader or reader)
            object.__setattr__(self, "solution", self.solution or self.quantities.code)
        if self.reference:
            object.__setattr__(self, "solution", read(self.reference).program)
        if self.truth is None:
            is_slow = self.quantities is not None and self.quantities.slow
            object.__setattr__(self, "truth", partial(run_once if is_slow else run, self.solution))
        for why, is_broken in _faults(self).items():
            if is_broken:
                raise ValueError(f"Exercise {self.id!r}: {why}")

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """What is known of wrong answers: the first that matches speaks."""
        return tuple(Misconception(message, when) for message, when in self.known.items())

    @property
    def varies(self) -> bool:
        draws = self.quantities is not None and self.quantities.draw is not None
        return draws or self.vary is not None or self.cases is not None

    @property
    def program(self) -> str:
        """What a variant's statement shows; of a function nothing, for it asks the same again."""
        if self.shown or self.reader.cases:
            return self.shown
        lines = self.solution.strip().splitlines()
        ends = next(at for at, line in enumerate(lines) if "answer" in line)
        return "\n".join(lines[:ends]).strip()

    def variant(self, seed: int) -> "Exercise":
        """Return this exercise with another program or other hidden cases, drawn by a seed.

        Raises ValueError where it draws none, or no draw keeps right and wrong answers apart.
        """
        if not self.varies:
            raise ValueError(f"Exercise {self.id!r} has no variants.")
        random = Random(seed)
        for _ in range(MOST_DRAWS):
            other = self._drawn(random)
            if other.is_clear():
                return other
        raise ValueError(f"of {MOST_DRAWS} draws of {self.id} none keeps right and wrong apart.")

    def _drawn(self, random: Random) -> "Exercise":
        if self.cases is not None:
            return replace(self, reader=self.reader.of(*self.cases(random)))
        if self.vary is not None:
            return replace(self, **{"truth": None} | self.vary(random))
        other = replace(self.quantities, data=self.quantities.draw(random))
        return replace(self, quantities=other, truth=None, solution=other.code)

    def is_clear(self) -> bool:
        """Tell whether some letters are right and some are not; or no quantity is also the right one,
        and the one number that is right does not stand in the program.
        """
        if self.letters is not None:
            return 0 < len(self.truth()) < len(self.letters.about)
        if self.quantities is None:
            return True
        shown = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", self.program)}
        is_shown = len(self.quantities.places) == 1 and self.reader.read(self.truth()) in shown
        return not is_shown and not self.quantities.clashes()


def _faults(exercise: Exercise) -> dict[str, bool]:
    """Say of each thing that an exercise may lack whether this one does."""
    messages, hints = list(exercise.known), len(exercise.hints)
    texts = [exercise.right, *exercise.hints, *messages]
    stands_alone = exercise.letters is None and exercise.quantities is None
    return {
        'an id is the lesson and a number, such as "02.1".': (
            not re.fullmatch(r"\d\d\.\d+", exercise.id)
        ),
        "its truth has to be a function that computes a right answer.": not callable(
            exercise.truth
        ),
        f"it knows {len(messages)} misconceptions; write at least 2.": (
            stands_alone and not exercise.reference and len(messages) < 2
        ),
        f"it knows {len(messages)} misconceptions; four at most go with a reference.": (
            bool(exercise.reference) and len(messages) > 4
        ),
        "with letters it has neither misconceptions nor a principle: they would tell which.": (
            exercise.letters is not None and bool(messages or exercise.principle)
        ),
        "with quantities it has one misconception at most: its own words stand with these.": (
            exercise.quantities is not None and len(messages) > 1
        ),
        f"it has {hints} hints; write at least 2.": hints < 2,
        "two of its texts are the same; each needs words of its own.": len(set(texts)) < len(texts),
        "one of its texts is empty.": not all(text.strip() for text in texts),
        "its solution has to define `answer`.": (
            "answer" not in exercise.solution and not exercise.stage
        ),
    }


def lessons() -> tuple[str, ...]:
    """Return the numbers of the lessons that have exercises, such as ("02", "03")."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent / "lessons")])
    matches = [re.fullmatch(r"lesson_(\d\d)", module.name) for module in modules]
    return tuple(sorted(match[1] for match in matches if match))


def exercises(lesson: str) -> tuple[Exercise, ...]:
    """Return one lesson's exercises, in order; none for a lesson that has no module."""
    if lesson not in lessons():
        return ()
    return importlib.import_module(f"helpers.exercises.lessons.lesson_{lesson}").EXERCISES


def find(name: str) -> Exercise | None:
    return next((exercise for exercise in exercises(name[:2]) if exercise.id == name), None)


def nearest(name: str, count: int = 3) -> list[str]:
    """Return ids that look most like `name`, best first, those of its own lesson before others."""

    def distance(id: str) -> tuple[bool, float]:
        return id[:2] != name[:2], -difflib.SequenceMatcher(None, name, id).ratio()

    every = [exercise.id for lesson in lessons() for exercise in exercises(lesson)]
    return sorted(every, key=distance)[:count]
