"""Rules about sizes: what shows on one slide, and is read in one breath."""

from statistics import median

from notebook_rules.rounds import asked, rounds

SET_UP, OPTION, TAKEAWAY = 230, 75, 95  # characters
LINES, COLUMNS, MEDIAN, WORDS = 12, 80, 6, 120


def questions_are_short(lesson):
    """A set-up of two or three sentences, options of one line."""
    for round_ in asked(lesson):
        length = len(round_.question.set_up)
        if length > SET_UP:
            yield f"{round_.first} has a set-up of {length} characters, over {SET_UP}: cut it; what it explains belongs into the because before."
        for letter, words in round_.question.options.items():
            if len(words) > OPTION:
                yield f"{round_.first} has an option ({letter}) of {len(words)} characters, over {OPTION}: shorten it, and the others alike."


def takeaways_are_short(lesson):
    """One bold sentence comes first in a because: it is what remains, and stands on the slide."""
    for round_ in rounds(lesson):
        for cell, reason in round_.reasons:
            length = len(reason.takeaway)
            if reason.body and not length:
                yield f"{cell} does not begin with a bold sentence: put the takeaway first in its fold, `**…**`."
            if length > TAKEAWAY:
                yield f"{cell} has a takeaway of {length} characters, over {TAKEAWAY}: shorten it."


def code_fits_a_slide(lesson):
    """At most 12 lines, at most 80 columns; half of the runs have six lines or fewer. The set-up
    shows on no slide.
    """
    for cell in [cell for cell in lesson.code if cell.role != "setup"]:
        lines = cell.source.split("\n")
        widest = max(len(line) for line in lines)
        if len(lines) > LINES:
            yield f"{cell} has {len(lines)} lines of code, over {LINES}: make it two rounds, or use helpers."
        if widest > COLUMNS:
            yield f"{cell} has a line of {widest} columns, over {COLUMNS}: break it."
    runs = [cell.source.count("\n") + 1 for cell in lesson.code if cell.role == "run"]
    if median(runs or [0]) > MEDIAN:
        yield f"half of its runs have {median(runs):g} lines or more: bring the median to {MEDIAN}."


def text_fits_a_slide(lesson):
    """30 to 60 words are good, over 120 nobody reads."""
    for cell in lesson.cells:
        words = len(cell.source.split())
        if not cell.is_code and words > WORDS:
            yield f"{cell} has {words} words, over {WORDS}: cut or split it."


RULES = (questions_are_short, takeaways_are_short, code_fits_a_slide, text_fits_a_slide)
