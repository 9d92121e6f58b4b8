"""Hold the exercises: `check`, `hint`, `solution`, `expect_error`, and one module lesson_NN.py a
lesson.

To write exercises for lesson NN, copy lesson_03.py and keep its shape: a tuple EXERCISES of three
to five.

    Exercise(
        id="02.2",                # lesson, dot, number
        reader=number(),          # the kind of answer, below
        truth=lambda: ...,        # torch computes a right answer, each time anew
        right="One sentence that says why it is right.",
        misconceptions=(Misconception(example, when, message), ...),  # two or more
        principle="what to think of where nothing is recognised.",
        hints=("Look at ...", "Try ..."),  # two or more; the last one nearly tells
        solution="answer = ...",  # code that the tests run; `torch` is there, nothing else
    )

Kinds (readers.py): number() numbers() tensor() boolean() booleans() word() words() names()
letters("abc"). numbers, booleans and words keep their order, names and letters do not.
number(rtol=1e-2) widens the tolerance of 1e-4, number(unit="MiB") takes "8 MiB", and no other unit. Where
which letters are right is asked, the exercise has `letters=Letters(read, about)` and no
misconceptions: every wrong answer is told the same, so that trying letters tells little.

Code (functions.py): function(case, case, observe=look, parts=names). A case makes fresh inputs, a
tuple of them or one. What counts is what comes back, or `look(returned, *inputs)`, which never
raises: an error there is the exercise's fault, and said so. `truth=lambda: reference` gives a
function, which runs before the student's. `parts` names what `look` lists, for the table of what
differs; `written("...")(case)` says how inputs could be typed that the table cannot write.

A misconception's `example` is a wrong answer, or a text that defines `answer` (`answer = ` or `def
answer`). Its `when` is the wrong answer itself (13, ["b"], None, "error"), `same_as(lambda: ...)`
where torch computes it (for code `same_as(lambda: wrong_function)`), or a predicate of the reading:
a float, a tuple of floats, nested tuples, a bool, a casefolded word, a frozenset of words; for code
the tuple of outcomes, in which a Failed(kind, text) stands for an error. It recognises what only
this mistake produces. Of a value, wrong answers that are known come first, then the slips that
every exercise knows (slips.py: no `return`, a method that nobody called, a wrong number of values),
then predicates; of code the slips come first. The first that matches speaks: the special before the
general. Its `message` says what the student probably thought and what torch does, and never what
the answer is.

Answers in many styles stand in tests/answers, one file an exercise: right ones must pass, wrong
ones must fail, and a head may ask which words are said. Add the next one that surprises you.
"""

from helpers.exercises.checking import check
from helpers.exercises.expect import expect_error
from helpers.exercises.helping import hint, solution

__all__ = ["check", "expect_error", "hint", "solution"]
