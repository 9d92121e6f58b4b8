"""Hold the kind of answer that is a function: run it on cases, and read what came out."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType

from autograd_graphs.guard import Failed, Heard, guarded
from autograd_graphs.looking.users_line import UsersLine, line_that_raised
from autograd_graphs.plain_values import NotRead, describe, plain
from helpers.engine.cells import Cell
from helpers.exercises.programs import names_of
from helpers.exercises.reading import Reader, as_tuple

Case = Callable[[], object]  # makes fresh inputs, a tuple of them or one
MOST_PRINTED = 2_000  # characters of what one run prints


@dataclass(frozen=True)
class Ours:
    """Hold an error of the exercise's own code: the making of its inputs, or its looking."""

    error: Failed


@dataclass
class Run:
    """Hold one run of a function: what it printed, how many inputs it got, and what it returned or
    how it failed, at which line of the learner's.
    """

    heard: Heard = field(default_factory=lambda: Heard(MOST_PRINTED))
    inputs: int = 0
    returned: object = None
    line: UsersLine | None = None


_runs: ContextVar[list[Run] | None] = ContextVar("runs", default=None)


def function(
    *cases: Case,
    observe: Callable | None = None,
    parts: tuple[str, ...] = (),
    around: Callable[[Callable], Callable] | None = None,
    promises: tuple[str, ...] = (),
) -> Reader:
    """Read a function by what it does: the tuple of its outcomes, one a case.

    Each case is a function of no arguments that makes fresh inputs (a tuple of them, or one). An
    outcome is what the function returned, or what `observe(returned, *inputs)` sees in it, as a
    plain value; a Failed where the function raised; an Ours where the exercise did. `parts` names
    what `observe` lists, in its order; or `promises` do, and then a wrong answer is told what was
    wanted. What is run is `around(answer)`, where it is given.
    """

    def read(answer: object) -> tuple:
        if isinstance(answer, type) or not callable(answer):
            raise NotRead("it isn't a function")
        if around is not None:
            answer = around(answer)
        return tuple(outcome(answer, case, observe) for case in cases)

    return Reader(
        "a function that you define (def answer(...))",
        read,
        cases,
        parts or promises,
        partial(function, observe=observe, parts=parts, around=around, promises=promises),
        tells=bool(promises),
    )


def written(text: str) -> Callable[[Callable], Callable]:
    """Say how the inputs of a case could be typed: `written("y = x.exp()")(make)`."""

    def name(make: Callable) -> Callable:
        make.written = text
        return make

    return name


def made_by(code: str, *names: str, then: Callable | None = None) -> Case:
    """Return the case that runs this code and gives what these names mean, or `then` of these."""

    def make() -> object:
        made = names_of(code)
        inputs = tuple(made[name] for name in names)
        return then(*inputs) if then else inputs

    in_one_line = re.sub(r"\n\s*", "; ", re.sub(r":\n\s*", ": ", code.strip()))
    return written(in_one_line)(make)


def outcome(answer: Callable, case: Case, observe: Callable | None = None) -> object:
    """Return what `answer` does with one case's inputs as a plain value, a Failed or an Ours.

    The three steps are kept apart, so that an error is laid at the right door, and so that a mode
    which the function leaves behind does not reach who looks at what it did.
    """
    run = Run()
    if _runs.get() is not None:
        _runs.get().append(run)
    inputs = guarded(inputs_of, case)
    if isinstance(inputs, Failed):
        return Ours(inputs)
    run.inputs = len(inputs)
    run.returned = guarded(_called, answer, inputs, run, heard=run.heard)
    if isinstance(run.returned, Failed):
        return run.returned
    seen = guarded(observe, run.returned, *inputs) if observe else run.returned
    if isinstance(seen, Failed):
        return Ours(seen)
    try:
        return plain(seen)
    except NotRead:
        return Failed("unreadable", describe(seen))


def _called(answer: Callable, inputs: tuple, run: Run) -> object:
    """Call an answer, and note the line at which it raises."""
    try:
        return answer(*inputs)
    except BaseException as error:
        is_of = answer.has if isinstance(answer, Cell) else None
        run.line = line_that_raised(error, is_of) or line_that_raised(error)
        raise


@contextmanager
def listening() -> Iterator[list[Run]]:
    """Take down each run of a function inside the block."""
    runs: list[Run] = []
    token = _runs.set(runs)
    try:
        yield runs
    finally:
        _runs.reset(token)


def inputs_of(case: Case) -> tuple:
    return as_tuple(case())


def is_stub(answer: object) -> bool:
    """Tell whether `answer` is still the dots: `...`, a list with `...`, a function of dots."""
    if isinstance(answer, Cell):
        return bool(answer.dots)
    if isinstance(answer, FunctionType):
        return _body(answer) in map(_body, _DOTS)
    try:
        return _has_dots(plain(answer))
    except NotRead:
        return False


def _has_dots(value: object) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return any(map(_has_dots, value))
    return value is Ellipsis


def _body(function: FunctionType) -> tuple[bytes, str]:
    """Return what a function's code does, whatever its arguments are called and its docstring says."""
    code = function.__code__
    return code.co_code, str([type(value) for value in code.co_consts])


def _bare() -> None: ...


def _documented() -> None:
    """Hold a docstring, as a stub in a notebook may."""
    ...


_DOTS = (_bare, _documented, lambda: ...)
