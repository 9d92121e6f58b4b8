"""Hold the quantities of an exercise in numbers: values that its own program can compute, each with a
name, so that the engine itself says which of them was given, and where.

An author writes the program, its data, and a table of names for each place of the answer:

    Quantities(
        program="x = {x}\\nanswer = [x + x, x * x]".format_map,  # of the data; defines `answer`
        data={"x": 3},
        places=(
            Place("`p`", "the sum", {"the product": "x**2"}),
            Place("`q`", "the product", {"twice `x`": "2 * x"}),
        ),
        own={"You gave what goes in.": lambda data, seen: seen == (data["x"],) * 2},
        draw=lambda random: {"x": random.randint(3, 9)},
    )

A name ends the sentence "Your `p` is 9: that is …". It may use the data, as in "twice {x}"; so may
what is wanted. A value is a number, None, a tuple of these where any will do, an expression in the
data that gives one of these ("slope(f, 'x')" is the gradient of the expression `f`, and "value(f)" its
value), or a function of the data. `own` has the author's own words where no quantity can say it, and
goes first. `draw` gives other data, and the program may take other lines by it: `exercise.variant(seed)`
is the exercise with them. A program that takes long is `slow`, and each is run once. A value that is the right one there, of some data, goes into `loose`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from autograd_graphs.plain_values import plain, show
from helpers.exercises.programs import run, run_once, slope, value
from helpers.exercises.reading import as_tuple, same

MOST_OWN = 6  # texts of the author's own

Data = Mapping[str, object]


@dataclass(frozen=True)
class Place:
    """Hold one number of the answer: what it is called, what is wanted there (not its value), and
    the names of the values that are mistaken for it. Those in `loose` may also be the right one, or
    have a name already, by the data.
    """

    name: str
    wanted: str
    known: Mapping[str, object] = field(default_factory=dict)
    loose: Mapping[str, object] = field(default_factory=dict)


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
    slow: bool = False

    def __post_init__(self) -> None:
        if not self.places or not all(place.known or place.loose for place in self.places):
            raise ValueError("each place of an answer needs a quantity that is mistaken for it.")
        if len(self.own) > MOST_OWN:
            raise ValueError(f"{len(self.own)} texts of its own, and {MOST_OWN} are the most.")

    @property
    def code(self) -> str:
        return self.program(self.data)

    def truth(self) -> object:
        return run_once(self.code) if self.slow else run(self.code)

    def values(self, known: Mapping[str, object]) -> dict[str, tuple]:
        """Return the quantities of a place: each name with the values that go by it."""
        named = {}
        for name, given in known.items():
            if callable(given):
                given = given(self.data)
            elif isinstance(given, str):
                given = eval(given, self._names)
            named[name.format_map(self.data)] = as_tuple(given)
        return named

    @property
    def _names(self) -> dict[str, object]:
        """What an expression may use: the data, and what computes with expressions among them."""
        return {
            "slope": lambda text, by: slope(text, self.data, by),
            "value": lambda text: value(text, self.data),
        } | dict(self.data)

    def said_of(self, seen: object, truth: object) -> str:
        """Say which quantities a wrong answer gives; "" where nothing of it is recognised.

        `seen` and `truth` are readings: a number, or a tuple with a number for each place.
        """
        seen, truth = as_tuple(seen), as_tuple(truth)
        if len(seen) != len(self.places):
            return ""
        for words, is_meant in self.own.items():
            if is_meant(self.data, seen):
                return words
        if _in_other_order(seen, truth):
            first, *others = [place.name for place in self.places]
            return f"The order counts: {', then '.join([f'{first} first', *others])}."
        wrong = [at for at in range(len(seen)) if not same(seen[at], truth[at])]
        texts = [self._of_place(at, seen[at]) for at in wrong]
        said = [text for text in texts if text]
        if not said and len(wrong) < len(seen):
            right = [place for at, place in enumerate(self.places) if at not in wrong]
            said = [f"Your {place.name} is right." for place in right]
            said += [self._wanted(self.places[at]) for at in wrong]
        return " ".join(said)

    def clashes(self) -> list[str]:
        """Name the quantities that cannot be told from the right value, or from another one."""
        clashing = []
        for place, right in zip(self.places, as_tuple(plain(self.truth())), strict=True):
            taken = [right]
            for name, values in self.values(place.known).items():
                if any(_is_among(value, taken) for value in values):
                    clashing.append(name)
                taken += values
        return clashing

    def _of_place(self, at: int, given: object) -> str:
        """Say which quantity stands at a place where another one is wanted."""
        place = self.places[at]
        for name, values in self.values({**place.known, **place.loose}).items():
            if _is_among(given, values):
                sentence = f"Your {place.name} is {show(given)}: that's {name}."
                return f"{sentence} {self._wanted(place)}"
        return ""

    def _wanted(self, place: Place) -> str:
        return f"For {place.name} you need {place.wanted.format_map(self.data)}."


def _is_among(value: object, values: Sequence[object]) -> bool:
    return any(same(value, other) for other in values)


def _in_other_order(seen: tuple, truth: tuple) -> bool:
    """Tell whether a wrong answer has the right values, each as often, in other places."""
    left = list(truth)
    for number in seen:
        alike = [at for at, other in enumerate(left) if same(number, other)]
        if not alike:
            return False
        left.pop(alike[0])
    return not left
