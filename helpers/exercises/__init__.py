"""Hold the exercises: `check`, `hint`, `solution`, `again`, `expect_error`, and one module
lesson_NN.py a lesson.

To write exercises for lesson NN, copy lesson_03.py and keep its shape: a tuple EXERCISES of three
to seven.

    Exercise(
        id="02.2",                # lesson, dot, number
        reader=function(...),     # the kind of answer, below
        right="One sentence that says why it is right.",
        principle="what to think of where nothing is recognised.",
        hints=("Look at ...", "Try ..."),  # two or more; the last one nearly tells
        reference="...",          # of a function: the program that solves it, with what its lines are for
        known={message: when, ...},  # of a function four at most; of any other kind two or more
        solution="answer = ...",  # of any other kind: code that the tests run; `torch` is there, nothing else
    )

The truth is what the solution answers, computed each time anew, with torch as it was before any
student's code ran; `truth=function` where that is not enough.

Numbers have `quantities` (quantities.py), which are also what is read. Where which letters are right is
asked, a bank of lines (letters.py) gives all but the texts: every wrong answer is told the same, so that
trying letters tells little. Which line is faulty asks a bank of programs (faults.py):
**FAULTS.first(a=2, b=3, c=5, d=7).

A variant (`again`) asks `asked`, a sentence, of another program. In numbers the quantities draw it, in
letters and faults the bank does. A function has `cases`, which draws by a `random` as many hidden cases,
of the same kinds in the same order. Anything else has `vary`, which draws the fields in which a variant
differs. Hints and all other texts have to be true of each variant.

Code (functions.py): function(case, case, observe=look, parts=names, around=wrap). A case makes fresh
inputs, a tuple of them or one: made_by("x = torch.ones(2)", "x") runs a line that can be typed,
written("...")(case) says how other inputs could be. What counts is what comes back, or
`look(returned, *inputs)`, which never raises: an error there is the exercise's fault, and said so.
`parts` names what `look` lists, for the table of what differs. A *build* says what must be true in
`promises` instead: a wrong answer is told which one broke, in which case, what came and what was wanted.

A stage of the student's engine (helpers/engine) is such a function, too: `check` takes the text of the cell
in which it stands, and the cases are programs that run on the engine which that text builds.

The reference (reference.py) carries what is known of mistakes. A comment says what its line is for, and
a line that begins with `~` is wrong, with a comment that says why. A wrong answer that does what the reference
does with one line wrong hears about that line (mistakes.py, mutants.py). `known` is what that cannot see; it
speaks after the lines that begin with `~`.

A `when` (recognise.py) is the wrong answer itself (13, ["b"], None, "error"); like(code), what that
code answers or does, in all that is seen or in some parts; or a predicate of two readings, what was
seen and what is right: fails("words of an error"), shows("a word"), right_in(0), wrong_in(1), or your
own. A reading is a float, a tuple of floats, nested tuples, a bool, a casefolded word, a frozenset of
words; for code the tuple of outcomes, in which a Failed(kind, text) stands for an error. A `when`
recognises what only this mistake produces. Of a value, wrong answers that are known come first, then
the slips that every exercise knows (slips.py: no `return`, a method that nobody called, a wrong number
of values), then predicates; of code the slips come first. The first that matches speaks: the special
before the general. A message says what the student probably thought and what torch does, and never
what the answer is.

Eight answers at most stand in tests/answers, one file an exercise: right ones must pass, wrong ones must
fail. Each line with `~` is tried as well: it is wrong, and told its own words.
"""

from helpers.exercises.checking import check, hint, solution
from helpers.exercises.expect import expect_error
from helpers.exercises.variants import again

__all__ = ["again", "check", "expect_error", "hint", "solution"]
