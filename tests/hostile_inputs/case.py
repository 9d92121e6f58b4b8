"""What a hostile case is: a function that makes something and looks at it, and what the look must
tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

RAN: list[str] = []  # every hostile method writes here: a look must leave it as it was

NO_GRAPH = (
    "thing has no graph: requires_grad=False "
    "(made without requires_grad=True, or under no_grad(), or detached, or no input required grad)"
)
OF_INFERENCE = "thing has no graph: requires_grad=False (it was made under inference_mode())"


def refused(kind: str) -> str:
    return f"TypeError: Expected a tensor, got {kind}. Pass a tensor, for example the loss."


@dataclass(frozen=True)
class Case:
    """Hold one case.

    `gives` is a line of the text tree, without its indentation, or "TypeError: message".

    `alone` says that it may kill the process, or changes it for good, and so runs in one of its
    own.
    """

    run: Callable
    gives: str
    alone: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__


def collection() -> tuple[list[Case], Callable]:
    """Return an empty list of cases, and the decorator that puts a function `run(look)` on it."""
    cases: list[Case] = []

    def case(gives: str, alone: bool = False) -> Callable:
        def keep(run: Callable) -> Callable:
            cases.append(Case(run, gives, alone))
            return run

        return keep

    return cases, case


def ran(name: str) -> Callable:
    """Return a method that writes down its call and raises: no look may come here."""

    def method(*args: object, **kwargs: object) -> None:
        RAN.append(name)
        raise AssertionError(f"a look ran {name}")

    return method
