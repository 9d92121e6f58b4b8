"""Rules about what a slide shows: code that fits."""

from statistics import median

LINES, COLUMNS, MEDIAN = 12, 80, 6


def code_fits_a_slide(lesson):
    """At most 12 lines, at most 80 columns; half of the runs have six lines or fewer. The set-up,
    what asks and the lines of a stub show on no slide.
    """
    for cell in [cell for cell in lesson.code if cell.role not in ("setup", "guess")]:
        lines = cell.source.split("\n")
        widest = max(len(line) for line in lines)
        if len(lines) > LINES and cell.role != "stub":
            yield f"{cell} has {len(lines)} lines of code, over {LINES}: make it two rounds, or use helpers."
        if widest > COLUMNS:
            yield f"{cell} has a line of {widest} columns, over {COLUMNS}: break it."
    runs = [cell.source.count("\n") + 1 for cell in lesson.code if cell.role == "run"]
    if median(runs or [0]) > MEDIAN:
        yield f"half of its runs have {median(runs):g} lines or more: bring the median to {MEDIAN}."


RULES = (code_fits_a_slide,)
