"""Read a reference: the program that solves an exercise, with what each of its lines is for.

    def answer(w, parts):
        w.grad = None               # nothing from an earlier step may be in the sum
        for part in parts:
            (part * w).backward()
    ~       (part * w).backward(retain_graph=True)
    ~       w.grad.zero_()          # You empty `.grad` in every round,
    ~                               # so only the last part is left.

A comment says what its line is for; it follows on a colon. Lines that begin with `~` are wrong, up to a
comment that says in whole sentences what is wrong. They stand in place of the line above them, or first
inside it where they are indented further. Students are shown the rest.
"""

import io
import tokenize
from dataclasses import dataclass, replace
from functools import cache

MARK = "~"


@dataclass(frozen=True)
class Wrong:
    """Hold lines that stand in place of line `at`, counted from 0, or after it; and what is wrong with them."""

    at: int
    lines: tuple[str, ...]
    message: str
    is_below: bool


@dataclass(frozen=True)
class Reference:
    """Hold the lines of a program, and the wrong ones that stand beside it."""

    lines: tuple[str, ...]
    wrong: tuple[Wrong, ...]

    @property
    def program(self) -> str:
        return "\n".join(self.lines)

    def with_wrong(self, *wrong: Wrong) -> str:
        """Return the program with some of its lines replaced."""
        lines = list(self.lines)
        for one in sorted(wrong, key=lambda one: one.at, reverse=True):
            lines[one.at + one.is_below : one.at + 1] = one.lines
        return "\n".join(lines)


@cache
def read(text: str) -> Reference:
    """Read an annotated program.

    Raises ValueError where a wrong line has no comment, or stands first.
    """
    lines, wrong, code = [], [], []
    for line in text.strip("\n").splitlines():
        if not line.startswith(MARK):
            lines.append(line)
            continue
        if not lines:
            raise ValueError("a wrong line stands below the right one")
        part, comment = _parted(" " + line.removeprefix(MARK))
        if part:
            code.append(part)
        if code and comment:
            wrong.append(_wrong(lines, code, comment))
            code = []
        elif comment:
            wrong.append(_continued(wrong, comment))
    if code:
        raise ValueError(f"nothing says what is wrong: {code[0].strip()}")
    return Reference(tuple(lines), tuple(wrong))


def _continued(wrong: list[Wrong], comment: str) -> Wrong:
    """Take the last wrong line off, and return it with more to say."""
    if not wrong:
        raise ValueError(f"there is nothing to say it of: {comment}")
    last = wrong.pop()
    return replace(last, message=f"{last.message} {comment}")


def _wrong(lines: list[str], pending: list[str], message: str) -> Wrong:
    is_below = _indent(pending[0]) > _indent(lines[-1])
    return Wrong(len(lines) - 1, tuple(pending), message, is_below)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parted(line: str) -> tuple[str, str]:
    """Part a line from the comment at its end."""
    code, _, comment = line.partition(" # ")
    return code.rstrip(), comment.strip()


def purposes_of(program: str) -> dict[int, str]:
    """Return what lines are for, by their numbers from 1."""
    tokens = tokenize.generate_tokens(io.StringIO(program).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return {token.start[0]: token.string.lstrip("# ").rstrip(".") for token in comments}
