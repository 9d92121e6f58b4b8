"""Hold programs with one faulty line, for an exercise that asks which line it is.

An author writes programs that are right, what is looked at in the end, and by its number what
somebody wrote in place of a line:

    x = torch.tensor({a}.0, requires_grad=True)
    y = x * {b}
    y.backward()
    look at: x.grad
    2: y = x.detach() * {b}
    2: y = {b}

A blank line ends a program, a faulty line is indented as the right one is, and `Faults` takes them all
as one text. `{a}` to `{d}` are numbers that a variant draws. A program is looked at when it has run: the right
one has to show another value there than each faulty one, or the faulty one has to raise.
"""

import re
import traceback
from dataclasses import dataclass
from functools import cache
from random import Random

from autograd_graphs.guard import Failed, guarded
from autograd_graphs.plain_values import NotRead, plain
from helpers.exercises import reading
from helpers.exercises.programs import names_of
from helpers.exercises.reading import Reader, same

_SHOWS = (
    "That's where it shows, but the cause is further up. Which line leads to what you see there?"
)
_UNREACHED = (
    "The program stops with an error before it gets to that line. Which earlier one makes it fail?"
)
_NONE = "The program has no such line. The number of each line is at its end."
_BEFORE = re.compile(r"^(?:\s|[#(.]|it is|the|lines?|number|no|nr|l(?=[\s.\d]))+", re.IGNORECASE)
_AT_ITS_END = re.compile(r"#\s*\d+\s*$")


def line_of(program: list[str]) -> Reader:
    """Read which line of a program is meant: its number, or what it says."""
    lines = list(map(_without_spaces, program))

    def read(answer: object) -> tuple[float | None]:
        value = reading.single(reading.opened(answer))
        line = reading.read_number(_meant(value, lines) if isinstance(value, str) else value)
        if line is not None and line % 1:
            raise NotRead("the number of a line is a whole number")
        return (line,)

    return Reader("the number of a line, such as 3", read)


def _meant(text: str, lines: list[str]) -> object:
    """Return the number of the line that a text quotes or names, or else what it says of it."""
    quoted = _without_spaces(text)
    if lines.count(quoted) > 1:
        raise NotRead("more than one line says that, so give the number of yours")
    if quoted in lines:
        return lines.index(quoted) + 1
    said = _BEFORE.sub("", text)
    number, rest = re.fullmatch(r"(\d*)[\s:.,)–—-]*(.*)", said, re.DOTALL).groups()
    if number and _without_spaces(rest) in ("", *lines[int(number) - 1 : int(number)]):
        return int(number)
    return said


def _without_spaces(line: str) -> str:
    """Return a line without spaces, and without its number behind it."""
    return re.sub(r"\s", "", _AT_ITS_END.sub("", line))


@dataclass(frozen=True)
class Program:
    """Hold a right program, what is looked at in the end, and by its number what stood in a line."""

    right: list[str]
    shows: str
    wrong: dict[int, list[str]]


def _program(text: str) -> Program:
    right, _, rest = text.partition("\nlook at: ")
    shows, *faults = rest.split("\n")
    wrong: dict[int, list[str]] = {}
    for fault in faults:
        number, _, line = fault.partition(": ")
        wrong.setdefault(int(number), []).append(line)
    return Program(right.split("\n"), shows, wrong)


class Faults:
    """Hold the programs of an exercise; what a variant is asked may speak of any of them."""

    def __init__(self, text: str) -> None:
        self.programs = [_program(part) for part in text.strip().split("\n\n")]

    def vary(self, random: Random) -> dict[str, object]:
        """Draw the fields of a variant: a program, its numbers, and a line that does harm with these."""
        while True:
            program = random.choice(self.programs)
            line = random.choice(list(program.wrong))
            numbers = dict(zip("abcd", random.sample(range(2, 10), 4), strict=True))
            fields = self.of(program, line, random.choice(program.wrong[line]), numbers)
            if fields["truth"]():
                return fields

    def of(self, program: Program, line: int, fault: str, numbers: dict) -> dict[str, object]:
        """Return the fields of an exercise that shows a program with this fault."""
        right = [text.format_map(numbers) for text in program.right]
        indent = re.match(" *", right[line - 1])[0]
        broken = list(right)
        broken[line - 1] = indent + fault.format_map(numbers)
        count, shows = len(right), program.shows.format_map(numbers)
        at = cache(lambda: _stops_at(broken) or count)
        return {
            "truth": lambda: [line] if does_harm(right, broken, shows) else [],
            "known": {
                _SHOWS: lambda seen, _: seen == (at(),),
                _UNREACHED: lambda seen, _: at() < seen[0] <= count,
                _NONE: lambda seen, _: not 0 < seen[0] <= count,
            },
            "reader": line_of(broken),
            "shown": _numbered(broken),
            "solution": f"# Line {line} should be: {right[line - 1].strip()}\nanswer = {line}",
        }

    def first(self, **numbers: int) -> dict[str, object]:
        """Return the fields of the exercise in the lesson: the first program, with its first fault."""
        program = self.programs[0]
        line = next(iter(program.wrong))
        return {"vary": self.vary} | self.of(program, line, program.wrong[line][0], numbers)


def does_harm(right: list[str], broken: list[str], shows: str) -> bool:
    """Tell whether the right program runs, and the broken one raises or shows something else."""
    wanted, shown = _outcome(right, shows), _outcome(broken, shows)
    return not isinstance(wanted, Failed) and not same(shown, wanted)


def _outcome(lines: list[str], shows: str) -> object:
    code = "\n".join([*lines, f"outcome = {shows}"])
    return guarded(lambda: plain(names_of(code)["outcome"]))


def _stops_at(lines: list[str]) -> int | None:
    """Return the line at which a program raises, None where it runs to its end."""

    def raises() -> int | None:
        try:
            names_of("\n".join(lines))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            return next(frame.lineno for frame in frames if frame.filename == "<exercise>")
        return None

    at = guarded(raises)
    return None if isinstance(at, Failed) else at


def _numbered(lines: list[str]) -> str:
    width = max(map(len, lines))
    numbered = enumerate(lines, start=1)
    return "\n".join(f"{line:{width}}  # {number}" for number, line in numbered)
