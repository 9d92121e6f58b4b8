"""Hold `expect_error`: it shows the error that a lesson announces, and fails without it."""

from autograd_graphs.answer_card import Card, show
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.looking.refusals import short
from autograd_graphs.text import fold, in_one_line, visible


class expect_error:
    """Run a block that must raise exactly `kind` with `fragment` in its message; show the first
    sentence.

    Raises AssertionError when nothing is raised, or another type, or another message (chained from
    the real error). An interrupt, and an exit that was not expected, pass. Raises TypeError or
    ValueError at once when `kind` is no exception class or `fragment` is no text.
    """

    def __init__(self, kind: type[BaseException], fragment: str) -> None:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(
                "expect_error got something that is not an exception class, so no error could ever match it. "
                'Write the class first: expect_error(RuntimeError, "fragment").'
            )
        if not isinstance(fragment, str) or not fragment.strip():
            raise ValueError(
                "expect_error got no words of the message, so any message would match. "
                f'Write some: expect_error({kind.__name__}, "fragment").'
            )
        self.kind, self.fragment = kind, fragment

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, *_: object) -> bool:
        if kind is None or error is None:
            raise self._failed("No error", "There was no error: the block ran to its end. ")
        if kind is not self.kind:
            if not issubclass(kind, Exception):
                return False
            raise self._failed(
                "A different error", f"It failed with {in_one_line(error)}\n"
            ) from error
        if self.fragment not in str(error):
            raise self._failed(
                "Different words", f"The message was: {in_one_line(error)}\n"
            ) from error
        word, _, said = in_one_line(error).partition(": ")
        show(Card("right", f"{word}, as expected", "", said, fold(in_one_line(error))))
        return True

    def _failed(self, word: str, what_came: str) -> AssertionError:
        """Make the error that says what came instead; in a notebook a card above it says it."""
        wanted = f'{self.kind.__name__} with "{visible(self.fragment)}" in its message'
        text = f"This block should fail with {wanted}. {what_came}{_ADVICE}"
        if shell_here() is None:
            return AssertionError(text)
        show(Card("wrong", word, "", text, fold(text)))
        return short(AssertionError(f"{word}: see the card above."))


_ADVICE = "So the text around this cell isn't true here. Run the block without expect_error to see what it does."
