"""Rules about the cases of the clinic: each is broken, diagnosed and mended, and the index has it."""

import re

from notebook_rules.rounds import asked

ASKS = re.compile(r"^\s*(?:diagnose|find)\(|^with watching\(", re.M)
LINK = re.compile(r"\(<#([^>]+)>\)")
WIDE, LONG = 80, 15


def cases(lesson):
    """Return the cells of each case, its heading first."""
    found = []
    for cell in lesson.cells:
        if cell.role == "case":
            found.append([cell])
        elif found and cell.role != "text":
            found[-1].append(cell)
    return found


def a_case_is_broken_diagnosed_and_mended(lesson):
    """In this order, the last with an assert, and a reason that leads to the lesson."""
    for cells in cases(lesson):
        roles = [cell.role for cell in cells if cell.role not in ("question", "guess")]
        if roles != ["case", "run", "try", "run", "because"]:
            yield f"{cells[0]} has cells for {', '.join(roles)}: a program, what diagnoses it, the mended one, the reason."
            continue
        if not ASKS.search(cells[-3].source):
            yield f"{cells[-3]} calls neither diagnose() nor watching nor find()."
        if "\nassert " not in cells[-2].source:
            yield f"{cells[-2]} asserts nothing: say there what is mended."
        if not re.search(r"\]\(\d\d_\w+\.ipynb\)", cells[-1].source):
            yield f"{cells[-1]} leads to no lesson."


def the_diagnosis_names_the_line_to_find(lesson):
    """Who guessed a line reads in the next cell whether it was that one."""
    for round_ in asked(lesson):
        program = round_.with_role("guess")[0].source.split('"""')[1].strip().split("\n")
        wanted = program[int(round_.right) - 1].strip()
        (cell,) = round_.with_role("try")
        if wanted not in " ".join(cell.shown.split()):
            yield f"{cell} does not show {wanted!r}, the line that is right in {round_.first}."


def the_diagnosis_and_the_reason_name_one_lesson(lesson):
    """Whoever reads both is sent to one place; of what find() shows, the first entry counts."""
    for *_, tried, _, reason in (
        [cell for cell in cells if cell.role in ("try", "run", "because")]
        for cells in cases(lesson)
    ):
        shown = " ".join(tried.shown.split())
        told = re.findall(r"Lesson (\d\d) teaches", shown) or re.findall(r"\(lesson (\d\d)", shown)
        linked = re.findall(r"\]\((\d\d)_\w+\.ipynb\)", reason.source)
        if told and told[0] not in linked:
            yield f"{tried} names lesson {told[0]}, and {reason} {', '.join(linked)}."


def the_index_leads_to_every_case(lesson):
    """Whoever browses begins there."""
    headings = [re.match(r"#+ (.+)", cell.source) for cell in lesson.cells[1:] if not cell.is_code]
    wanted = {heading[1].replace(" ", "-") for heading in headings if heading}
    for name in wanted ^ set(LINK.findall(lesson.cells[0].source)):
        yield f"the index and the headings differ in {name!r}."


def a_program_can_be_read_at_a_glance(lesson):
    """At most 15 lines of at most 80 columns."""
    for cell in lesson.code:
        lines = cell.source.split("\n")
        if cell.role in ("run", "try") and (len(lines) > LONG or max(map(len, lines)) > WIDE):
            yield f"{cell} has {len(lines)} lines, the longest of {max(map(len, lines))} columns."


RULES = (
    a_case_is_broken_diagnosed_and_mended,
    the_diagnosis_names_the_line_to_find,
    the_diagnosis_and_the_reason_name_one_lesson,
    the_index_leads_to_every_case,
    a_program_can_be_read_at_a_glance,
)
