"""Make slides of the cells of a lesson, whose roles say what each is for."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import shorten
from typing import Any

from nbformat import NotebookNode

from course.publishing import durations, notes
from course.publishing.cell_renderer import CellRenderer, Cells, split_heading
from course.publishing.cell_roles import ENDS
from course.publishing.portions import blocks
from course.publishing.slide_drawings import chart, lanes
from course.publishing.slide_graphs import slide_graph
from course.publishing.slides import (
    AGAIN,
    Flow,
    Lab,
    Opening,
    Recap,
    Result,
    Round,
    Slide,
    Table,
)
from helpers.exercises.exercise import Exercise, find
from helpers.predicting.kinds import lines_of, names
from helpers.predicting.program_outcomes import cured
from helpers.predicting.questions import Question
from helpers.predicting.questions import question as question_named
from helpers.predicting.round_text import FENCE, TABLE, Reason, question, reason

NUMBERED = re.compile(r"\s*(\d\d) · ")
GOAL = re.compile(r"^- (.+)$", re.M)
CELLS = re.compile(r"(?<!\\)\|")
UNSEEN = ("setup", "try", "guess", "stub", "notes")  # nothing of these is shown to a room
EXPECTED = "<p>Let somebody say what they expect. Nobody explains yet what comes.</p>"
BELOW = re.compile(
    r" ?Below(?::| are) (?:all )?your predictions\."
)  # `progress()` shows them, on no slide
WIDEST, LONGEST = 72, 190  # letters of a symptom on a slide, and of a warning
LEAD = 220  # letters: three lines of what is told before code runs, a longer text is said
ONWARD = re.compile(r"\n\n([^\n]{1,220}:)\s*\Z")
OUT = "What comes out?"
MOONS = re.compile(r"\A(?!.*\bbackward\().*^moons_\w+\(", re.M | re.S)  # it draws what ran before
SHOW = "<p>Give them time to look.</p>"
LEAD_UNDER = 10  # lines of code: above more of them a lead is said, for code keeps its size
CASE = "**The case.**"  # the last exercise repairs it
EXERCISE = re.compile(r"\*\*(\d\d\.\d+)\*\* · ([^.]+)\. (.+?[.?])(?=\s|\Z)", re.S)
AFTER = ("return", "exercise", "recap")  # the numbered parts
PARTS = {"title": "opening", "case": "case", "return": AGAIN, "lab": "lab"}
HEAD = ("", "How long", "How it begins")  # of the table of exercises
CHECKED = re.compile(r"""\bcheck\(["'](\d\d\.\d+)["']""")
SHOWN = re.compile(r"^\||^```|!\[|<img", re.M)  # in a text: what one has to see
COMMENT = re.compile(r"^ *#.*\n|  +#.*$", re.M)
FINE = "\n(no error)"
ALONE = re.compile(r"\s*progress\(\)\s*")


def role(cell: NotebookNode) -> str:
    return cell.metadata.course.get("role", "")


def lesson_slides(cells: Cells, renderer: CellRenderer) -> list[Slide]:
    made: list[Slide] = []
    title, case = "Slide", []
    groups = grouped(cells)
    for group, part in zip(groups, parts(groups), strict=True):
        if made and is_said(group):
            *notes_before, last = made[-1].notes
            made[-1] = replace(made[-1], notes=(*notes_before, last + renderer.texts(group)))
            continue
        new = slides_of(group, renderer, title, case)
        if new:
            title = new[-1].title
        if role(group[0]) == "case":
            case = with_role(group, "run")
        made += [replace(slide, part=part) for slide in new]
    return with_moons(made, cells)


def with_moons(slides: list[Slide], cells: Cells) -> list[Slide]:
    """Return slides of which none shows code that only draws the moons: their picture is the last step
    of the slide before, or stands alone.
    """
    draws = {cell.id for cell in cells if MOONS.search(cell.source)}
    made: list[Slide] = []
    for slide in slides:
        if not isinstance(slide, Round) or slide.run not in draws or slide.is_question:
            made.append(slide)
            continue
        before, picture = made[-1], slide.result.html
        if isinstance(before, Round) and before.part == slide.part and not before.drawing:
            kept = before.notes[:-1] if before.takeaway else before.notes
            steps = (*kept, before.notes[-1] if before.takeaway else slide.notes[-1])
            takeaway = before.takeaway or slide.takeaway
            made[-1] = replace(before, notes=steps, takeaway=takeaway, drawing=picture)
        else:
            last = slide.notes[-1:]
            bare = replace(slide, ask="", code="", run="", result=Result(""))
            made.append(replace(bare, notes=last, drawing=picture))
    return made


def grouped(cells: Cells) -> list[Cells]:
    """Return the cells of each round, lab, text, exercise and so on; notes with what they are on."""
    groups: list[Cells] = []
    about: Cells = []  # the round whose notes are still to come
    for cell in cells:
        goes_on = groups and is_exercise(groups[-1][0]) and (is_exercise(cell) or is_said([cell]))
        if not groups or (role(cell) in ENDS and not goes_on):
            groups.append([])
            if role(cell) in ("question", "lab"):
                about = groups[-1]
            elif role(cell) != "text" or split_heading(cell)[0]:
                about = []
        if role(cell) == "notes" and about:
            about.append(cell)
            about = []
        else:
            groups[-1].append(cell)
    return groups


def parts(groups: list[Cells]) -> list[str]:
    """Return the part of each group: a `## ` heading between the case and its return begins one."""
    heads = [group[0] for group in groups]
    cases, number, place = list(map(role, heads)).count("case"), 0, ""
    made: list[str] = []
    for first in heads:
        cases -= role(first) == "case"
        place = role(first) if role(first) in AFTER else place
        part = "opening" if cases else named_part(first, place)
        if not part and role(first) in ("question", "text"):
            level = first.source.partition(" ")[0]
            number += level == "##" and not place
            part = "" if place else str(number or "")
            if made and not level.startswith("##"):
                part = made[-1]
        made.append(part)
    return made


def named_part(first: NotebookNode, place: str) -> str:
    """Return the name of a part that its first cell gives it, for it has no number; "" for none."""
    is_quiz = first.metadata.course.get("id", "").startswith("quiz.")
    if is_quiz or (role(first) == "lab" and place == "recap"):
        return "quiz"
    if role(first) == "exercise" and CASE in first.source:
        return "case"
    return PARTS.get(role(first), "")


def repaired(group: Cells) -> Exercise | None:
    """Return the exercise in which a group repairs the case; None where it repairs none."""
    if role(group[0]) != "exercise" or CASE not in group[0].source or len(group) < 2:
        return None
    checked = CHECKED.search(group[1].source)
    return find(checked[1]) if checked else None


def is_exercise(cell: NotebookNode) -> bool:
    """Tell whether a cell asks for work at home; the case is solved on a slide."""
    return role(cell) == "exercise" and CASE not in cell.source


def slides_of(group: Cells, renderer: CellRenderer, title: str, case: Cells) -> list[Slide]:
    """Return the slides of one group of cells; `title` is the one before, `case` its program."""
    if group[0].metadata.course.get("slide", {}).get("skip"):
        return []  # it says why: what only a reader at a keyboard needs
    solved = repaired(group)
    if solved:
        return [solved_slide(group, solved, renderer, case)]
    if is_exercise(group[0]):
        return [exercises(group, renderer, title)]
    makers = {"title": opening, "case": case_slides, "question": round_slides}
    makers |= {"lab": lab_slides, "recap": recap_slides}
    make = makers.get(role(group[0]))
    if not make:
        return text_slides(group, renderer, title)
    return make(group, renderer)


def with_role(group: Cells, name: str) -> Cells:
    named = [cell for cell in group if role(cell) == name and not ALONE.fullmatch(cell.source)]
    return [cell for cell in named if not cell.metadata.course.get("slide", {}).get("skip")]


def opening(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the title slide, and a slide for what runs on the first screen."""
    heading, rest = split_heading(group[0])
    own = group[0].metadata.course.get("slide", {})
    title, number = heading or "Title", ""
    numbered = NUMBERED.match(title)
    if numbered:
        title, number = title[numbered.end() :], f"Lesson {numbered[1]}"
    title = renderer.line(title)
    lead, *others = re.split(r"\n\s*\n", rest.strip())
    if "lead" in own:
        others, lead = [lead, *others], own["lead"]
    if lead.startswith("- "):
        lead = ""
    goals = tuple(renderer.line(goal.rstrip(";.")) for goal in GOAL.findall(rest))
    spoken = renderer.texts(with_role(group, "notes"))
    for paragraph in others:
        if not paragraph.startswith(("- ", "**You")):
            spoken += renderer.text(paragraph)
    spoken = f"<p>Before they come in: a light or a dark room? L changes it.</p>{spoken}"
    drawn = slide_graph(group[0].metadata.course.get("graph", ""))
    if drawn and goals:  # they are said
        items = "</li><li>".join(goals)
        spoken += f"<h3>At the end they can</h3><ul><li>{items}</li></ul>"
    lead = renderer.line(lead)
    first = Opening(
        title,
        group[0].id,
        (spoken,),
        number,
        seconds=60,
        lead=lead,
        goals=goals,
        drawing=drawn,
    )
    runs = with_role(group, "run")
    made = [first, *(run_slide(cell, renderer, title, "", spoken) for cell in runs)]
    return made + left_over(group, [group[0], *runs], renderer, title)


def case_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the slide of the broken program that a lesson is about: its code, then what it does."""
    text = question(group[0].source)
    own = group[0].metadata.course.get("slide", {})
    title, lead = renderer.line(text.title), renderer.line(own.get("lead", text.set_up))
    runs = with_role(group, "run")
    if not runs:
        return left_over(group, [], renderer, title)
    spoken = renderer.texts(with_role(group, "notes")) or EXPECTED
    is_long = runs[0].source.count("\n") >= LEAD_UNDER
    if is_long or "lead" in own:
        spoken = renderer.text(text.set_up) + spoken
    if is_long:
        lead = ""
    made: list[Slide] = []
    for cell in runs:
        takeaway = renderer.line(own.get("takeaway", ""))
        shown = run_slide(cell, renderer, title, lead, spoken)
        made.append(replace(shown, takeaway=takeaway, notes=(spoken, spoken)))
    drawn = drawing(own, runs[0])
    if drawn:
        made[0] = replace(made[0], notes=(spoken, spoken, spoken), drawing=drawn)
    return made + left_over(group, [group[0], *runs], renderer, title)


def solved_slide(group: Cells, solved: Exercise, renderer: CellRenderer, case: Cells) -> Slide:
    """Return the slide that closes the case: its program, then the mended one, new lines marked."""
    given = next(iter(FENCE.findall(group[0].source)), "").strip("`").removeprefix("python\n")
    broken = (given or "\n".join(cell.source for cell in case)).strip("\n")
    own = group[0].metadata.course.get("slide", {})
    mended, old = COMMENT.sub("", solved.solution).strip("\n"), given
    if len(own.get("mend", [])) == 2:
        mended, old = broken.replace(*own["mend"]), broken
    rows, old = enumerate(mended.split("\n"), 1), (old or mended).split("\n")
    new = {nr for nr, line in rows if line not in old and not line.startswith("def ")}
    printed = group[1].metadata.course.get("printed", "")
    if printed:
        before = value_at_end(case)
        printed = renderer.printed(f"{before} → {printed}".removeprefix(" → "), "stdout")
    spoken = "<p>Let somebody say which line has to change, and into what.</p>"
    return Round(
        title="The case again",
        cell=group[0].id,
        notes=(spoken, spoken, spoken),
        seconds=60,
        ask=renderer.line(own.get("ask", "Which line has to change?")),
        code=renderer.code(broken),
        result=Result(renderer.code(mended, lit=new) + printed),
        swaps=True,
        takeaway=renderer.line(solved.principle[:1].upper() + solved.principle[1:]),
        drawing=slide_graph(group[1].metadata.course.get("graph", "")),
    )


def value_at_end(cells: Cells) -> str:
    """Return the value of the last of these cells; "" where it has none, or one of several lines."""
    values = [""]
    for cell in cells[-1:]:
        values += [output.data.get("text/plain", "") for output in cell.outputs if "data" in output]
    return "" if "\n" in values[-1] else values[-1]


def exercises(group: Cells, renderer: CellRenderer, title: str) -> Slide:
    """Return the slide of the exercises, which are done at home: of each what it begins with."""
    rows, spoken = [], ""
    for cell in group:
        exercise = EXERCISE.search(cell.source)
        if is_exercise(cell):
            spoken += renderer.text(cell.source)
        if is_exercise(cell) and exercise:
            rows.append(tuple(map(renderer.line, exercise.groups())))
    spoken += "".join(map(notes.solved, group))
    heading, _ = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    return Table(title=title, cell=group[0].id, notes=(spoken,), head=HEAD, rows=tuple(rows))


def round_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the slide of a round, one for each further run, one for a table in its reason."""
    asked, text = asked_in_group(group), question(group[0].source)
    reasons = [cell for cell in with_role(group, "because") if reason(cell.source).body]
    why = reason(reasons[0].source) if reasons else Reason()
    runs = with_role(group, "run")
    before, after, last = notes.of_round(renderer, with_role(group, "notes"), asked, why)
    own = group[0].metadata.course.get("slide", {})  # words, where the notebook's are long
    title, rule = renderer.line(text.title), own.get("takeaway", why.takeaway)
    takeaway = renderer.line(rule or answer(asked, text.options))
    steps = [before]
    if runs:
        steps.append(after)
    if takeaway:
        steps.append(last)
    options = options_of(asked, text.options, own)
    kind = asked.kind if asked else ""
    shown: dict[str, Any] = {}
    if runs:
        result = settled(asked, runs[0], renderer)
        code = code_of(asked, runs[0], result.failed, renderer)
        shown = {"code": code, "run": runs[0].id, "result": result}
    if runs and takeaway:
        shown["drawing"] = drawing(own, runs[0])
    first = Round(
        title=title,
        cell=group[0].id,
        notes=tuple(steps),
        seconds=durations.of_round([cell for cell in group if cell not in runs[1:]]),
        lead=told_first(own, text.set_up, group[0].source, renderer),
        ask=renderer.line(own.get("ask", text.ask)),
        options=tuple((letter, renderer.line(words)) for letter, words in options.items()),
        right=asked.right if asked and (asked.letters or kind == "find_line") else "",
        is_voted=bool(options) and kind != "draw",
        swaps=kind in ("find_line", "order"),
        is_question=True,
        takeaway=takeaway,
        **shown,
    )
    made = [first, *tables(reasons, renderer, title, group[0].id, last)]
    going_on = last.removeprefix(notes.right_line(asked))
    made += [run_slide(cell, renderer, title, "", going_on) for cell in runs[1:]]
    return made + left_over(group, [group[0], *reasons[:1], *runs], renderer, title)


def answer(asked: Question | None, options: dict[str, str]) -> str:
    """Return the answer itself, with which a slide ends that has no rule to end with."""
    if not asked or asked.settled:
        return ""
    if asked.kind == "explain":
        return asked.told["good"].partition(". ")[0].rstrip(".") + "."
    if asked.kind == "find_line":
        return f"Line {asked.right}."
    if asked.kind == "number":
        return notes.shown_right(asked)
    return options.get(asked.right, "")


def drawing(own: dict, run: NotebookNode) -> str:
    """Return the graph, the lanes or the chart that a slide shows at its end; "" for none."""
    if "graph" in run.metadata.course:
        return slide_graph(run.metadata.course.graph)
    if "lanes" in own:
        return lanes(own["lanes"])
    if "chart" in own:
        return chart(printed_by(run), own["chart"])
    return ""


def printed_by(run: NotebookNode) -> str:
    return "".join(output.text for output in run.outputs if output.output_type == "stream")


def settled(asked: Question | None, run: NotebookNode, renderer: CellRenderer) -> Result:
    """Return what settles a question: the program mended or in order, or a cell's outputs."""
    if not asked or asked.kind not in ("find_line", "order"):
        return result_of(run, renderer)
    printed = printed_by(run)
    if asked.kind == "order":
        lettered = {line[0]: line for line in lines_of(asked)[len(asked.shown["head"]) :]}
        program, mended = [*asked.shown["head"], *map(lettered.get, asked.right)], {}
        printed = "\n".join(line for line in printed.split("\n")[1:] if line[:4].strip())
    else:
        mended = asked.told["mend"]
        lines = cured("\n".join(asked.shown["lines"]), mended).split("\n")
        program = [f"{number:>2}  {line}" for number, line in enumerate(lines, start=1)]
        printed = printed.partition("\n\n")[2]
    printed = renderer.printed(printed.removesuffix("\n").removesuffix(FINE), "stdout")
    return Result(renderer.code("\n".join(program), lit=set(map(int, mended))) + printed)


def result_of(run: NotebookNode, renderer: CellRenderer) -> Result:
    """Return what a cell put out, a long warning cut; a GPU's source goes to the foot."""
    kept, source = NotebookNode(run), ""
    kept.outputs = [NotebookNode(output) for output in run.outputs]
    for output in kept.outputs:
        if output.get("name") == "stderr":
            output.text = shorten(output.text, LONGEST, placeholder=" …")
        elif "@on_gpu(" in run.source and output.output_type == "stream":
            output.text, _, source = output.text.rstrip().rpartition("\n")
    return replace(renderer.result(kept), source=source)


def options_of(asked: Question | None, read: dict[str, str], own: dict) -> dict[str, str]:
    """Return what a room chooses from, in the slide's own words where it has some."""
    if asked and asked.kind == "draw":
        return {letter: f"**{name}**" for letter, name in names(asked).items()}
    words = own.get("options", [])
    return dict(zip(read, words, strict=True)) if len(words) == len(read) else read


def code_of(asked: Question | None, run: NotebookNode, failed: int, renderer: CellRenderer) -> str:
    """Return the code of a round: its run, or the program or lines that its question shows."""
    if asked and asked.kind == "find_line":
        symptom = asked.shown["symptom"].removesuffix(FINE).split("\n")
        short = [shorten(line, WIDEST).rstrip(",") for line in symptom]
        return renderer.code("\n".join(lines_of(asked)), asked.shown["raises"], below=short)
    if asked and asked.kind == "order":
        return renderer.code("\n".join(lines_of(asked)))
    return renderer.code(run.source, failed)


def left_over(group: Cells, used: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return a slide of what the others of a group did not show: nothing is lost in silence."""
    rest = [cell for cell in for_room(group) if cell not in used]
    if not rest:
        return []
    return [flow(rest, renderer, title)]


def for_room(group: Cells) -> Cells:
    seen = [cell for cell in group if not cell.metadata.course.get("slide", {}).get("skip")]
    return [cell for cell in seen if role(cell) not in UNSEEN and not ALONE.fullmatch(cell.source)]


def is_said(group: Cells) -> bool:
    """Tell whether a group is words alone that go on from the slide before: the speaker says them."""
    for cell in group:
        if role(cell) in UNSEEN:
            continue
        if cell.cell_type != "markdown" or SHOWN.search(cell.source):
            return False
    heading, _ = split_heading(group[0])
    return role(group[0]) == "text" and not heading


def told_first(own: dict, set_up: str, source: str, renderer: CellRenderer) -> str:
    """Return what a slide tells before it asks: its own words, or those of the question."""
    if "lead" in own:
        return renderer.line(own["lead"])
    blocks = TABLE.findall(FENCE.sub("", source)) + FENCE.findall(source)
    return renderer.line(set_up) + renderer.text("\n\n".join(blocks))


def asked_in_group(group: Cells) -> Question | None:
    """Return the question that a group asks; None where it asks none that the package knows."""
    for cell in group:
        if cell.metadata.get("asks"):
            return question_named(cell.metadata.asks)
    return None


def run_slide(
    cell: NotebookNode, renderer: CellRenderer, title: str, lead: str, spoken: str, ask="And now?"
) -> Slide:
    """Return the slide of a further run: its code and what it asks, then what came of it."""
    result = result_of(cell, renderer)
    usual = "What will be drawn?" if result.kind == "picture" else ask
    goes_on = "<p>Goes on from the question before. Let them say what comes.</p>"
    return Round(
        title=title,
        cell=cell.id,
        notes=(goes_on + spoken, spoken),
        seconds=durations.of_code(cell),
        lead=lead or renderer.line(cell.metadata.course.get("slide", {}).get("lead", "")),
        ask=renderer.line(cell.metadata.course.get("ask", usual)),
        code=renderer.code(cell.source, result.failed),
        run=cell.id,
        result=result,
    )


def lab_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the slide of a lab: questions, the lab, an answer with each key."""
    text = question(group[0].source)
    reasons, runs = with_role(group, "because"), with_role(group, "run")
    why = reason(reasons[0].source) if reasons else Reason()
    own = group[0].metadata.course.get("slide", {})
    asked = list(map(renderer.line, own.get("asked", text.asked)))
    answers = [*map(renderer.line, own.get("answers", why.answers)), *[""] * len(asked)]
    result, shown = Result(""), {}
    if runs:
        result = renderer.result(runs[0])
        code = renderer.code(runs[0].source)
        shown = {"code": code, "run": runs[0].id, "result": result}
    title = renderer.line(text.title)
    presses = tuple(own.get("presses", [""] * len(asked)))
    spoken = with_role(group, "notes")
    first = Lab(
        title=title,
        cell=group[0].id,
        notes=tuple(notes.of_lab(renderer, spoken, why, bool(result.html), presses)),
        seconds=durations.of_lab(group),
        lead=renderer.line(own.get("lead", text.set_up)),
        cards=tuple(zip(text.asks, asked, answers, strict=False)),
        presses=presses,
        moves=tuple(own.get("moves", [])),
        takeaway=renderer.line(why.takeaway),
        **shown,
    )
    made: list[Slide] = [first]
    for cell in runs[1:]:  # within the minutes of the lab
        made.append(replace(run_slide(cell, renderer, title, "", first.notes[-1]), seconds=0))
    return made + left_over(group, [group[0], *reasons[:1], *runs], renderer, title)


def recap_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the recap: its questions stand, each key answers one; the rest of it is the speaker's."""
    heading, rest = split_heading(group[0])
    title = renderer.line(heading or "Recap")
    rest = TABLE.sub("", rest)
    made = tables(group[:1], renderer, title, group[0].id, renderer.text(rest))
    if not made and GOAL.search(rest):
        onward = BELOW.sub("", GOAL.sub("", rest))  # such as where one goes on from here
        after = renderer.text(onward)
        made = [one_by_one(GOAL.findall(rest), group, renderer, title, after)]
    if not made:
        return [flow(group, renderer, title)]
    return made + left_over(group, group[:1], renderer, title)


def one_by_one(
    sentences: list[str], group: Cells, renderer: CellRenderer, title: str, after: str
) -> Recap:
    """Return a slide on which each key brings a sentence, once somebody in the room has said it."""
    rows, steps = [], []
    for number, sentence in enumerate(map(renderer.line, sentences), start=1):
        rows.append((f"{number}", sentence))
        steps.append(f"<p>Next they should say: {sentence}</p>")
    steps.append(f"<p>That is all of it.</p>{after}")
    seconds = durations.of_words(group[:1])
    return Recap(title, group[0].id, tuple(steps), seconds=seconds, rows=tuple(rows))


def tables(cells: Cells, renderer: CellRenderer, title: str, name: str, spoken: str) -> list[Slide]:
    made: list[Slide] = []
    for cell in cells:
        for table in TABLE.findall(cell.source):
            if "---" in table:
                made.append(table_slide(table, renderer, title, name, spoken))
    return made


def table_slide(table: str, renderer: CellRenderer, title: str, name: str, spoken: str) -> Slide:
    rows = []
    for line in table.strip().split("\n"):
        words = CELLS.split(line.strip().strip("|"))
        rows.append(tuple(renderer.line(w.strip().replace(r"\|", "|")) for w in words))
    head, rows = rows[0], rows[2:]
    steps = [f"<p>Let somebody answer before each key.</p>{spoken}"]
    steps += [f"<p>Answered: {row[0]}</p>{spoken}" for row in rows]
    return Table(title, name, tuple(steps), seconds=10 * len(rows), head=head, rows=tuple(rows))


def text_slides(group: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return the slides of a text: one of what has to be seen of it, one for each cell that runs."""
    heading, words = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    runs, own = with_role(group, "run"), group[0].metadata.course.get("slide", {})
    if not runs or ("lead" not in own and SHOWN.search(words)):
        onward = ONWARD.search(words) if runs else None  # what leads on to the code
        seen = [cell for cell in group if cell not in runs]
        if onward:
            seen[0] = NotebookNode(group[0], source=group[0].source.removesuffix(onward[0]))
        made = flow(seen, renderer, title)
        if not made.parts:
            return []
        lead = {"lead": renderer.line(onward[1]) if onward else ""}
        return [made, *shown_slides(runs, renderer, title, own | lead, made.notes[0])]
    lead, spoken = own.get("lead", words.strip()), renderer.texts(with_role(group, "notes"))
    if "lead" in own or len(lead) > LEAD:
        lead, spoken = own.get("lead", ""), renderer.text(words) + spoken
    own = own | {"lead": renderer.line(lead)}
    return shown_slides(runs, renderer, title, own, spoken)


def shown_slides(
    runs: Cells, renderer: CellRenderer, title: str, own: dict, spoken: str
) -> list[Slide]:
    """Return a slide for each cell that shows something: its code, then what came. `own` are the words
    of what stands before them: a lead and a drawing for the first, a takeaway for the last.
    """
    made: list[Slide] = []
    for cell in runs:
        shown = run_slide(cell, renderer, title, "" if made else own["lead"], spoken, OUT)
        steps = [EXPECTED + spoken, spoken or SHOW]
        takeaway = cell.metadata.course.get("slide", {}).get("takeaway", "")
        if cell is runs[-1]:
            takeaway = takeaway or own.get("takeaway", "")
        drawn = "" if made else drawing(own, cell)
        if takeaway or drawn:
            steps.append(spoken or SHOW)
        takeaway = renderer.line(takeaway)
        made.append(replace(shown, takeaway=takeaway, notes=tuple(steps), drawing=drawn))
    return made


def told_beside(words: str, own: dict, renderer: CellRenderer) -> tuple[str, str]:
    """Return what is shown of a text, and what is said: its long paragraphs, where it has more to see."""
    if "lead" not in own and not SHOWN.search(words):
        return words, ""
    seen, said = [own["lead"]] if "lead" in own else [], []
    for block, _ in blocks(words):
        is_short = len(block) <= LEAD and "lead" not in own
        is_shown = SHOWN.search(block) and not SHOWN.search(own.get("lead", ""))
        (seen if is_short or is_shown else said).append(block)
    return "\n\n".join(seen), renderer.text("\n\n".join(said))


def flow(group: Cells, renderer: CellRenderer, title: str) -> Flow:
    """Return a slide of cells below each other, all at once; exercises are done at home."""
    shown = for_room(group)
    heading, rest = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    parts, spoken = [], ""
    if role(group[0]) in ("text", "return"):
        rest, spoken = told_beside(rest, group[0].metadata.course.get("slide", {}), renderer)
    for cell in shown:
        source = rest if cell is group[0] else cell.source
        parts.append((renderer.cell(cell, BELOW.sub("", source)), 0, cell.id))
    spoken += renderer.texts(with_role(group, "notes")) + "".join(map(notes.solved, shown))
    seconds = 0 if role(group[0]) == "exercise" else durations.of_words(shown)
    spoken = spoken or "<p>Let them read.</p>"
    return Flow(title, group[0].id, (spoken,), seconds=seconds, parts=tuple(parts))
