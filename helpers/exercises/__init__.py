"""Hold the exercises: `check`, `hint`, `solution`, `expect_error`, and one module lesson_NN.py a
lesson.

To write exercises for lesson NN, copy lesson_02.py and keep its shape: a tuple EXERCISES of three
to five.

    Exercise(
        id="02.2",                # lesson, dot, number
        reader=number(),          # the kind of answer, below
        truth=lambda: ...,        # torch computes a right answer, each time anew
        right="One sentence that says why it is right.",
        misconceptions=(Misconception(example, when, message), ...),  # two or more
        hints=("Look at ...", "Try ..."),  # two or more; the last one nearly tells
        solution="answer = ...",  # code that the tests run; `torch` is there, nothing else
    )

Kinds (readers.py): number() numbers() tensor() boolean() booleans() choice("a", "b") word() words()
names() letters("abc"). numbers, booleans and words keep their order, names and letters do not.
number(rtol=1e-2) widens the tolerance of 1e-4. Code (functions.py): function(case, case,
observe=look). A case makes fresh inputs, a tuple of them or one. What counts is what comes back, or
`look(returned, *inputs)`; `truth=lambda: reference` gives a function. For what fits neither, leave
`truth` out: `judge(reading)` says whether it is right; with function() and no case the reading is
the student's function itself.

A misconception's `example` is a wrong answer, or a text that defines `answer` (`answer = ` or `def
answer`). Its `when` is the wrong answer itself (13, ["b"], None, "error"), `same_as(lambda: ...)`
where torch computes it (for code `same_as(lambda: wrong_function)`), or a predicate of the reading:
a float, a tuple of floats, nested tuples, a bool, the option, a casefolded word, a frozenset of
words; for code the tuple of outcomes, in which a Failed(kind, text) stands for an error
(`raised(reading, "its words")` finds it). The first that matches speaks: the special before the
general. Its `message` says what the student probably thought and what torch does, and never what
the answer is. The tests run every solution and every example through check, and look for the answer
in what it says.
"""

from helpers.exercises.checking import check
from helpers.exercises.expect import expect_error
from helpers.exercises.helping import hint, solution

__all__ = ["check", "expect_error", "hint", "solution"]
