"""Hold the quantities of an exercise in numbers: values that its own program can compute, each with a
name, so that the engine itself says which of them was given, and where.

An author writes the program, its data, and a table of names for each place of the answer:

    Quantities(
        program="x = {x}\\nanswer = [x + x, x * x]".format_map,  # of the data; defines `answer`
        data={"x": 3},
        places=(
            Place("`p`", "the sum", {"the product": lambda data: data["x"] ** 2}),
            Place("`q`", "the product", {"twice `x`": lambda data: 2 * data["x"]}),
        ),
        own={"You gave what goes in.": lambda data, seen: seen == (data["x"],) * 2},
        draw=lambda random: {"x": random.randint(3, 9)},
    )

A name ends the sentence "Your `p` is 9: that is …". It may use the data, as in "twice {x}"; so may
what is wanted. A value is a number, None, a tuple of these where any will do, or a function of the
data that gives one of these. `own` has the author's own words where no quantity can say it, and goes
first. `draw` gives other data, and the program may take other lines by it: `exercise.variant(seed)`
is the exercise with them. A name whose value is the right one there has to give `()`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from autograd_graphs.untrusted.describe import show
from autograd_graphs.untrusted.plain import is_a, plain
from helpers.exercises.programs import run
from helpers.exercises.values import same

MOST_OWN = 6  # texts of the author's own

Data = Mapping[str, object]


@dataclass(frozen=True)
class Place:
    """Hold one number of the answer: what it is called, what is wanted there (not its value), and
    the names of the values that are mistaken for it.
    """

    name: str
    wanted: str
    known: Mapping[str, object]


@dataclass(frozen=True)
class Quantities:
    """Hold a program, its data, and the quantities of each place of its answer.

    Raises ValueError where a place knows no quantity, or more is said in own words than six texts.
    """

    program: Callable[[Data], str]
    data: Data
    places: tuple[Place, ...]
    own: Mapping[str, Callable[[Data, tuple], bool]] = field(default_factory=dict)
    draw: Callable[[Random], Data] | None = None

    def __post_init__(self) -> None:
        if not self.places or not all(place.known for place in self.places):
            raise ValueError("each place of an answer needs a quantity that is mistaken for it.")
        if len(self.own) > MOST_OWN:
            raise ValueError(f"{len(self.own)} texts of its own, and {MOST_OWN} are the most.")

    @property
    def code(self) -> str:
        """The program with the data in it."""
        return self.program(self.data)

    def truth(self) -> object:
        """Run the program and return its answer."""
        return run(self.code)

    def values(self, place: Place) -> dict[str, tuple]:
        """Return the quantities of a place: each name with the values that go by it."""
        found = {}
        for name, value in place.known.items():
            if callable(value):
                value = value(self.data)
            found[name.format_map(self.data)] = value if is_a(value, tuple) else (value,)
        return found

    def said_of(self, seen: object, truth: object) -> str:
        """Say which quantities a wrong answer gives; "" where nothing of it is recognised.

        `seen` and `truth` are readings: a number, or a tuple with a number for each place.
        """
        seen, truth = _as_tuple(seen), _as_tuple(truth)
        if len(seen) != len(self.places):
            return ""
        for words, is_meant in self.own.items():
            if is_meant(self.data, seen):
                return words
        if _in_other_order(seen, truth):
            return f"The order counts: {', then '.join(self._names_in_order())}."
        wrong = [at for at in range(len(seen)) if not same(seen[at], truth[at])]
        said = [text for at in wrong if (text := self._of_place(at, seen[at]))]
        if not said and len(wrong) < len(seen):
            said = [*self._right_ones(wrong), *(self._wanted(self.places[at]) for at in wrong)]
        return " ".join(said)

    def clashes(self) -> list[str]:
        """Name the quantities that cannot be told from the right value, or from another one."""
        clashing = []
        for place, right in zip(self.places, _as_tuple(plain(self.truth())), strict=True):
            taken = [right]
            for name, values in self.values(place).items():
                if any(_is_among(value, taken) for value in values):
                    clashing.append(name)
                taken += values
        return clashing

    def _of_place(self, at: int, given: object) -> str:
        """Say which quantity stands at a place where another one is wanted."""
        place = self.places[at]
        for name, values in self.values(place).items():
            if _is_among(given, values):
                found = f"Your {place.name} is {show(given)}: that is {name}."
                return f"{found} {self._wanted(place)}"
        return ""

    def _wanted(self, place: Place) -> str:
        return f"For {place.name} you need {place.wanted.format_map(self.data)}."

    def _right_ones(self, wrong: list[int]) -> list[str]:
        right = [place.name for at, place in enumerate(self.places) if at not in wrong]
        return [f"Your {name} is right." for name in right]

    def _names_in_order(self) -> list[str]:
        first, *others = [place.name for place in self.places]
        return [f"{first} first", *others]


def other(value: float, right: float) -> tuple[float, ...]:
    """Return a value that is mistaken for the right one; none where it is the right one."""
    return () if same(value, right) else (value,)


def _as_tuple(reading: object) -> tuple:
    return tuple(reading) if is_a(reading, tuple, list) else (reading,)


def _is_among(value: object, values: Sequence[object]) -> bool:
    return any(same(value, other) for other in values)


def _in_other_order(seen: tuple, truth: tuple) -> bool:
    """Tell whether a wrong answer has the right values, each as often, in other places."""
    left = list(truth)
    for value in seen:
        alike = [at for at, other in enumerate(left) if same(value, other)]
        if not alike:
            return False
        left.pop(alike[0])
    return not left
