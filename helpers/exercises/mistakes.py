"""Name the mistake in a function: it does in each case what the reference does with one line wrong."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from autograd_graphs.guard import Failed, guarded, limited
from helpers.exercises.functions import Case
from helpers.exercises.mutants import SAID, mutants
from helpers.exercises.programs import names_of
from helpers.exercises.reading import Reader, same
from helpers.exercises.reference import Reference, purposes_of, read

MOST_LINES = 20_000  # that a wrong program may run in one case


@dataclass
class Mistake:
    """Hold a wrong program, what is said of it, and what it does in the cases tried so far."""

    message: str
    code: object  # source, or what it was compiled to
    kind: str = "step"  # "wrong" of a wrong line, "double" of two mistakes
    outcomes: dict[int, object] = field(default_factory=dict)
    answer: object = None

    def does(self, reader: Reader, case: int) -> object:
        """Return what is seen of the wrong program in one case."""
        if case not in self.outcomes:
            if self.answer is None:
                self.answer = guarded(names_of, self.code)
            self.outcomes[case] = guarded(self._tried, reader.of(reader.cases[case]))
        return self.outcomes[case]

    def _tried(self, reader: Reader) -> object:
        with limited(MOST_LINES, within="<exercise>"):
            return reader.read(self.answer["answer"])[0]


def named(text: str, reader: Reader, seen: tuple, truth: tuple) -> str:
    """Return what is said of the wrong line that does what was seen; "" where none does."""
    found = [mistake for mistake in mistakes(text, reader.cases) if mistake.kind == "wrong"]
    return _in_all(found, reader, seen, truth)


def likened(text: str, reader: Reader, seen: tuple, truth: tuple) -> str:
    """Return what is said of the first mistake that does what was seen; "" where none does.

    Where none does all of it, one will do that ends in the same errors in the same cases, or that gets
    the first part wrong which is wrong, and in the same way; and then two mistakes together.
    """
    found = mistakes(text, reader.cases)
    single = [mistake for mistake in found if mistake.kind != "double"]
    double = [mistake for mistake in found if mistake.kind == "double"]
    message = _in_all(single, reader, seen, truth)
    if message:
        return message
    for mistake in single:
        did = [mistake.does(reader, case) for case in range(len(seen))]
        if _same_errors(did, seen) or _same_part(did, seen, truth):
            return mistake.message
    if all(isinstance(case, Failed) for case in seen):
        return ""  # the first of two raises, whatever the other is
    return _in_all(double, reader, seen, truth)


def _in_all(found: list[Mistake], reader: Reader, seen: tuple, truth: tuple) -> str:
    cases = sorted(range(len(seen)), key=lambda case: same(seen[case], truth[case]))
    for mistake in found:
        if all(alike(mistake.does(reader, case), seen[case]) for case in cases):
            return mistake.message
    return ""


def _same_errors(did: list, seen: tuple) -> bool:
    failed = [isinstance(case, Failed) for case in seen]
    if not any(failed) or failed != [isinstance(case, Failed) for case in did]:
        return False
    return all(alike(*pair) for pair in zip(did, seen, strict=True) if isinstance(pair[0], Failed))


def _same_part(did: list, seen: tuple, truth: tuple) -> bool:
    """Tell whether all is alike up to the first part that is wrong in some case; a word, such as
    "changed", is too little to go by.
    """
    cases = list(zip(did, seen, truth, strict=True))
    if not all(
        isinstance(one, tuple) and len(one) == len(case[2]) for case in cases for one in case
    ):
        return False
    for part in zip(*(zip(*case, strict=True) for case in cases), strict=True):
        if not all(alike(mine, theirs) for mine, theirs, _ in part):
            return False
        wrong = [theirs for _, theirs, right in part if not same(theirs, right)]
        if wrong:
            return not all(isinstance(theirs, str) for theirs in wrong)
    return False


@lru_cache(maxsize=8)
def mistakes(text: str, cases: tuple[Case, ...]) -> list[Mistake]:
    """Return the mistakes that can be made in a reference; they keep what they did in these cases."""
    return list(_mistakes(read(text)))


def _mistakes(reference: Reference) -> Iterator[Mistake]:
    for wrong in reference.wrong:
        yield Mistake(wrong.message, reference.with_wrong(wrong), "wrong")
    yield from _one_step(reference.program, tuple(SAID))
    for wrong in reference.wrong:
        for other in reference.wrong:
            if wrong.at < other.at:
                both = f"There are two mistakes here. {wrong.message} {other.message}"
                yield Mistake(both, reference.with_wrong(wrong, other), "double")
        for missing in _one_step(reference.with_wrong(wrong), ("missing",)):
            both = f"There are two mistakes here. {missing.message} {wrong.message}"
            yield Mistake(both, missing.code, "double")


def _one_step(program: str, kinds: tuple[str, ...]) -> Iterator[Mistake]:
    """Yield the mutants of a program whose lines say what they are for."""
    purposes = purposes_of(program)
    for mutant in mutants(program):
        said, purpose = SAID[mutant.kind], purposes.get(mutant.line)
        if mutant.kind not in kinds or (purpose is None and "{}" in said):
            continue
        code = guarded(mutant.compiled)
        if not isinstance(code, Failed):
            yield Mistake(said.format(purpose), code)


def alike(left: object, right: object) -> bool:
    """Tell whether two outcomes are the same; of two errors the words count as well, but no numbers."""
    if isinstance(left, Failed) and isinstance(right, Failed):
        return left == right and _words(left.text) == _words(right.text)
    return same(left, right)


def _words(text: str) -> str:
    return re.sub(r"\d+", "0", text)
