"""Run the small programs of `find_line` and `order` in a namespace of their own, and say what came."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from autograd_graphs.guard import limited
from autograd_graphs.text import in_one_line

NAME = "program"  # the file name of such a program in a traceback
MOST = 10_000  # lines that may run: more of them never end


@dataclass(frozen=True)
class Outcome:
    """Hold the lines that a program printed, how it failed ("" if not), and at which line (0)."""

    printed: tuple[str, ...] = ()
    error: str = ""
    line: int = 0

    @property
    def printout(self) -> str:
        """Return what came as one would read it below the program."""
        return "\n".join([*self.printed, self.error or "(no error)"])


def outcome(program: str, after: str = "") -> Outcome:
    """Run a program, then `after` in the same namespace, whether the program raised or not.

    Random numbers and grad mode are as before afterwards. An interrupt passes.
    """
    printed: list[str] = []
    names = {"torch": torch, "nn": torch.nn, "__name__": NAME}
    names["print"] = lambda *words: printed.append(" ".join(map(str, words)))
    with undisturbed():
        error, line = ran(program, names)
        late, _ = ran(after, names)
    return Outcome(tuple(printed), error or late, line)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Give the same random numbers each time, and grad mode on; both are as before afterwards."""
    with torch.random.fork_rng([]), torch.enable_grad():
        torch.manual_seed(0)
        yield


def ran(program: str, names: dict[str, Any]) -> tuple[str, int]:
    """Run lines among these names; return their error in one line, "" without one, and its line."""
    try:
        with limited(MOST, NAME):
            exec(compile(program, NAME, "exec"), names)
    except SyntaxError as error:
        return in_one_line(error), error.lineno or 0
    except Exception as error:
        return in_one_line(error), failed_at(error)
    return "", 0


def failed_at(error: Exception) -> int:
    """Return the innermost line of the program that an error passed."""
    line, trace = 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def with_line(program: str, number: int, line: str) -> str:
    """Return a program with another text in place of one line, counted from 1; "" takes it away."""
    lines = program.split("\n")
    lines[number - 1 : number] = [line] if line else []
    return "\n".join(lines)


def cured(program: str, mend: dict[str, str]) -> str:
    """Return a program with other lines in some places, {"4": "h = w * x"}."""
    for number in sorted(map(int, mend), reverse=True):
        program = with_line(program, number, mend[str(number)])
    return program


def in_this_order(order: dict[str, Any], letters: str) -> str:
    """Return the program that the lines with these letters make."""
    head = order["head"]
    indent = "    " if head and head[-1].endswith(":") else ""
    lines = [indent + order["lines"][letter] for letter in letters]
    return "\n".join([*head, *lines])
