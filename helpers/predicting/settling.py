"""`mended` and `run_order`: run what `find_line` and `order` asked about, and show what comes."""

from helpers.predicting.kinds import kind_of
from helpers.predicting.prediction import called, nearest, no_question
from helpers.predicting.program_outcomes import cured, in_this_order, outcome
from helpers.predicting.questions import Question, question
from helpers.progress_file import PREDICTIONS, kept

MARK = "  # <- mended"


def mended(name: str) -> None:
    """Run the program of a `find_line`, mended; print it and what it does."""
    asked = asked_as(name, "find_line")
    if asked is None:
        return
    cure = cured("\n".join(asked.shown["lines"]), asked.told["mend"])
    for number, line in enumerate(cure.split("\n"), start=1):
        mark = MARK if str(number) in asked.told["mend"] else ""
        print(line + mark)
    print()
    print(outcome(cure).printout)


def run_order(name: str) -> None:
    """Run the lines of an `order` as they were put in order, and one order that does what was asked."""
    asked = asked_as(name, "order")
    if asked is None:
        return
    kind = kind_of(asked)
    mine = kind.read(asked, kept()[PREDICTIONS].get(asked.id, {}).get("first", ""))
    if mine:
        print_order("Your order", asked, mine)
    if not mine or not kind.is_right(asked, mine):
        print("\n" * bool(mine), end="")
        print_order("One that works", asked, asked.right)


def print_order(title: str, asked: Question, letters: str) -> None:
    """Run one order; print its lines, and what they do."""
    program = in_this_order(asked.shown, letters)
    print(f"{title}:", *program.split("\n"), sep="\n    ")
    print(outcome(f"{asked.told['before']}\n{program}", asked.told["after"]).printout)


def asked_as(name: str, kind: str) -> Question | None:
    """Return the question of this name and kind; say so where there is none."""
    asked = question(name)
    if asked is None or asked.kind != kind:
        no_question(name, f"There's no `{kind}` with the id {called(name)}. {nearest(name)}")
        return None
    return asked
