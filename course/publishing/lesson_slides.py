"""Make slides of the cells of a lesson, whose roles say what each is for."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import shorten

from nbformat import NotebookNode

from course.publishing import notes, pace
from course.publishing.faces import Faces, heading
from course.publishing.round_text import FENCE, TABLE, Reason, question, reason
from course.publishing.rounds import ENDS
from course.publishing.slide_drawings import chart, lanes
from course.publishing.slide_graphs import slide_graph
from course.publishing.slides import Flow, Lab, Opening, Recap, Result, Round, Slide, Table
from helpers.exercises.exercise import Exercise, find
from helpers.predicting.kinds import lines_of, names
from helpers.predicting.programs import cured
from helpers.predicting.questions import Question
from helpers.predicting.questions import question as question_named

NUMBERED = re.compile(r"\s*(\d\d) · ")
GOAL = re.compile(r"^- (.+)$", re.M)
CELLS = re.compile(r"(?<!\\)\|")
UNSEEN = ("setup", "try", "guess", "stub", "notes")  # nothing of these is shown to a room
EXPECTED = "<p>Let somebody say what they expect. Nobody explains yet what comes.</p>"
BELOW = re.compile(r" ?Below: (?:all )?your predictions\.")  # `progress()` shows them, on no slide
WIDEST, LONGEST = 72, 190  # letters of a symptom on a slide, and of a warning
LEAD_UNDER = 10  # lines of code: above more of them a lead is said, for code keeps its size
CASE = "**The case.**"  # the last exercise repairs it
EXERCISE = re.compile(r"\*\*(\d\d\.\d+)\*\* · ([^.]+)\. (.+?[.?])(?=\s|\Z)", re.S)
HEAD = ("", "How long", "How it begins")  # of the table of exercises
CHECKED = re.compile(r"""\bcheck\(["'](\d\d\.\d+)["']""")
SHOWN = re.compile(r"^\||^```|!\[|<img", re.M)  # in a text: what one has to see
COMMENT = re.compile(r"^ *#.*\n", re.M)
FINE = "\n(no error)"
FOR_ONE = re.compile(r"\s*progress\(\)\s*")


def role(cell: NotebookNode) -> str:
    return cell.metadata.course.get("role", "")


def lesson_slides(cells: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the slides of a lesson, in order."""
    made: list[Slide] = []
    title, case = "Slide", []
    for group in grouped(cells):
        if made and is_said(group):
            words = "".join(faces.text(cell.source) for cell in group)
            made[-1] = with_last_note(made[-1], words)
            continue
        new = slides_of(group, faces, title, case)
        if new:
            title = new[-1].title
        if role(group[0]) == "case":
            case = with_role(group, "run")
        made += new
    return made


def grouped(cells: list[NotebookNode]) -> list[list[NotebookNode]]:
    """Return the cells of each round, lab, text, exercise and so on."""
    groups: list[list[NotebookNode]] = []
    for cell in cells:
        goes_on = groups and all(map(is_exercise, (groups[-1][0], cell)))
        if not groups or (role(cell) in ENDS and not goes_on):
            groups.append([])
        groups[-1].append(cell)
    return groups


def repaired(group: list[NotebookNode]) -> Exercise | None:
    """Return the exercise in which a group repairs the case; None where it repairs none."""
    is_case = role(group[0]) == "exercise" and CASE in group[0].source
    found = CHECKED.search(group[1].source) if is_case and len(group) > 1 else None
    return find(found[1]) if found else None


def is_exercise(cell: NotebookNode) -> bool:
    """Tell whether a cell asks for work at home; the case is solved on a slide."""
    return role(cell) == "exercise" and CASE not in cell.source


def slides_of(
    group: list[NotebookNode], faces: Faces, title: str, case: list[NotebookNode]
) -> list[Slide]:
    """Return the slides of one group of cells; `title` is the one before, `case` its program."""
    if group[0].metadata.course.get("slide", {}).get("skip"):
        return []  # it says why: what only a reader at a keyboard needs
    solved = repaired(group)
    if solved:
        return [solved_slide(group, solved, faces, case)]
    if is_exercise(group[0]):
        return [exercises(group, faces, title)]
    makers = {
        "title": opening,
        "case": case_slides,
        "question": round_slides,
        "lab": lab_slides,
        "recap": recap_slides,
    }
    make = makers.get(role(group[0]))
    return make(group, faces) if make else text_slides(group, faces, title)


def said_in(group: list[NotebookNode]) -> list[str]:
    """Return the speaker notes of a group."""
    return [cell.source for cell in group if role(cell) == "notes"]


def with_role(group: list[NotebookNode], name: str) -> list[NotebookNode]:
    return [cell for cell in group if role(cell) == name and not FOR_ONE.fullmatch(cell.source)]


def opening(group: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the title slide, and a slide for what runs on the first screen."""
    source = group[0].source
    found = heading(group[0])
    rest = source[found.end() :] if found else source
    paragraphs = [part for part in re.split(r"\n\s*\n", rest.strip()) if part.strip()]
    goals = tuple(faces.line(goal.rstrip(";.")) for goal in GOAL.findall(rest))
    told = [faces.text(part) for part in paragraphs[1:] if not part.startswith(("- ", "**You"))]
    named = NUMBERED.match(found[1]) if found else None
    title = faces.line(found[1][named.end() if named else 0 :]) if found else "Title"
    lead = faces.line(paragraphs[0]) if paragraphs and not paragraphs[0].startswith("- ") else ""
    hints = "".join(faces.text(note) for note in said_in(group)) + "".join(told)
    notes_ = ("<p>Before they come in: a light or a dark room? L changes it.</p>" + hints,)
    number = f"Lesson {named[1]}" if named else ""
    drawn = slide_graph(group[0].metadata.course.get("graph", ""))
    if drawn and goals:  # they are said
        items = "".join(f"<li>{goal}</li>" for goal in goals)
        notes_ = (f"{notes_[0]}<h3>At the end they can</h3><ul>{items}</ul>",)
    made: list[Slide] = [
        Opening(title, group[0].id, notes_, number, 60, lead=lead, goals=goals, drawing=drawn)
    ]
    runs = with_role(group, "run")
    made += [run_slide(cell, faces, title, "", notes_[0]) for cell in runs]
    return made + left_over(group, [group[0], *runs], faces, title)


def case_slides(group: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the slide of the broken program that a lesson is about: its code, then what it does."""
    text = question(group[0].source)
    own = group[0].metadata.course.get("slide", {})
    title, lead = faces.line(text.title), faces.line(own.get("lead", text.set_up))
    told = "".join(map(faces.text, said_in(group))) or EXPECTED
    runs = with_role(group, "run")
    is_long = bool(runs) and runs[0].source.count("\n") >= LEAD_UNDER
    if is_long or "lead" in own:
        told = faces.text(text.set_up) + told
    if is_long:
        lead = ""
    made: list[Slide] = []
    for cell in runs:
        drawn = drawing(own, cell, faces) if cell is runs[0] else ""
        steps = (told,) * (3 if drawn else 2)
        takeaway = faces.line(own.get("takeaway", ""))
        shown = run_slide(cell, faces, title, lead, told)
        made.append(replace(shown, takeaway=takeaway, notes=steps, drawing=drawn))
    return made + left_over(group, [group[0], *runs] if runs else [], faces, title)


def solved_slide(
    group: list[NotebookNode], solved: Exercise, faces: Faces, case: list[NotebookNode]
) -> Slide:
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
    before = value_of(case[-1]) if case and printed else ""
    if printed:
        printed = faces.printed(f"{before} → {printed}".removeprefix(" → "), "stdout")
    told = "<p>Let somebody say which line has to change, and into what.</p>"
    return Round(
        title="The case again",
        cell=group[0].id,
        notes=(told, told, told),
        seconds=60,
        ask=faces.line(own.get("ask", "Which line has to change?")),
        code=faces.code(broken),
        result=Result(faces.code(mended, lit=new) + printed),
        swaps=True,
        takeaway=faces.line(solved.principle[:1].upper() + solved.principle[1:]),
        drawing=slide_graph(group[1].metadata.course.get("graph", "")),
    )


def value_of(run: NotebookNode) -> str:
    """Return the value at which a cell ended; "" where it has none, or one of several lines."""
    values = [output.data.get("text/plain", "") for output in run.outputs if "data" in output]
    return values[-1] if values and "\n" not in values[-1] else ""


def exercises(group: list[NotebookNode], faces: Faces, title: str) -> Slide:
    """Return the slide of the exercises, which are done at home: of each what it begins with."""
    found = [EXERCISE.search(cell.source) for cell in group if is_exercise(cell)]
    rows = [tuple(map(faces.line, one.groups())) for one in found if one]
    told = "".join(faces.text(cell.source) for cell in group if is_exercise(cell))
    told += "".join(map(notes.solved, group))
    named = heading(group[0])
    title = faces.line(named[1]) if named else title
    return Table(title=title, cell=group[0].id, notes=(told,), head=HEAD, rows=tuple(rows))


def round_slides(group: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the slide of a round, one for each further run, one for a table in its reason."""
    asked, text = asked_in_group(group), question(group[0].source)
    reasons = [cell for cell in with_role(group, "because") if reason(cell.source).takeaway]
    why = reason(reasons[0].source) if reasons else Reason()
    runs = with_role(group, "run")
    before, after, last = notes.of_round(faces, said_in(group), asked, why)
    own = group[0].metadata.course.get("slide", {})  # words, where the notebook's are long
    title, takeaway = faces.line(text.title), faces.line(own.get("takeaway", why.takeaway))
    told = [before] + [after] * bool(runs) + [last] * bool(takeaway)
    drawn = drawing(own, runs[0], faces) if runs and takeaway else ""
    result = settled(asked, runs[0], faces) if runs else Result("")
    options = options_of(asked, text.options, own)
    made: list[Slide] = [
        Round(
            title=title,
            cell=group[0].id,
            notes=tuple(told),
            seconds=pace.of_round([cell for cell in group if cell not in runs[1:]]),
            lead=told_first(own, text.set_up, group[0].source, faces),
            ask=faces.line(own.get("ask", text.ask)),
            code=code_of(asked, runs[0], result.failed, faces) if runs else "",
            run=runs[0].id if runs else "",
            result=result,
            options=tuple((letter, faces.line(words)) for letter, words in options.items()),
            right=asked.right if asked and (asked.letters or asked.kind == "find_line") else "",
            is_voted=bool(options) and not (asked and asked.kind == "draw"),
            swaps=bool(asked) and asked.kind in ("find_line", "order"),
            is_question=True,
            takeaway=takeaway,
            drawing=drawn,
        )
    ]
    made += tables(reasons, faces, title, group[0].id, last)
    going_on = last.removeprefix(notes.right_line(asked))
    made += [run_slide(cell, faces, title, "", going_on) for cell in runs[1:]]
    return made + left_over(group, [group[0], *reasons[:1], *runs], faces, title)


def drawing(own: dict, run: NotebookNode, faces: Faces) -> str:
    """Return the graph, the lanes or the chart that a slide shows at its end; "" for none."""
    if "graph" in run.metadata.course:
        return slide_graph(run.metadata.course.graph)
    if "lanes" in own:
        return lanes(own["lanes"])
    printed = "".join(output.text for output in run.outputs if output.output_type == "stream")
    return chart(printed, own["chart"]) if "chart" in own else ""


def settled(asked: Question | None, run: NotebookNode, faces: Faces) -> Result:
    """Return what settles a question: the program mended or in order, or a cell's outputs."""
    if not asked or asked.kind not in ("find_line", "order"):
        return result_of(run, faces)
    printed = "".join(output.text for output in run.outputs)
    if asked.kind == "order":
        lettered = {line[0]: line for line in lines_of(asked)[len(asked.shown["head"]) :]}
        program, mended = [*asked.shown["head"], *map(lettered.get, asked.right)], {}
        printed = "\n".join(line for line in printed.split("\n")[1:] if line[:4].strip())
    else:
        mended = asked.told["mend"]
        lines = cured("\n".join(asked.shown["lines"]), mended).split("\n")
        program = [f"{number:>2}  {line}" for number, line in enumerate(lines, start=1)]
        printed = printed.partition("\n\n")[2]
    printed = faces.printed(printed.removesuffix("\n").removesuffix(FINE), "stdout")
    return Result(faces.code("\n".join(program), lit=set(map(int, mended))) + printed)


def result_of(run: NotebookNode, faces: Faces) -> Result:
    """Return what a cell put out, a long warning cut; a GPU's source goes to the foot."""
    kept, source = NotebookNode(run), ""
    kept.outputs = [NotebookNode(output) for output in run.outputs]
    for output in kept.outputs:
        if output.get("name") == "stderr":
            output.text = shorten(output.text, LONGEST, placeholder=" …")
        elif "@on_gpu(" in run.source and output.output_type == "stream":
            output.text, _, source = output.text.rstrip().rpartition("\n")
    return replace(faces.result(kept), source=source)


def options_of(asked: Question | None, read: dict[str, str], own: dict) -> dict[str, str]:
    """Return what a room chooses from, in the slide's own words where it has some."""
    if asked and asked.kind == "draw":
        return {letter: f"**{name}**" for letter, name in names(asked).items()}
    words = own.get("options", [])
    return dict(zip(read, words, strict=True)) if len(words) == len(read) else read


def code_of(asked: Question | None, run: NotebookNode, failed: int, faces: Faces) -> str:
    """Return the code of a round: its run, or the program or lines that its question shows."""
    if asked and asked.kind == "find_line":
        symptom = asked.shown["symptom"].removesuffix(FINE).split("\n")
        short = [shorten(line, WIDEST).rstrip(",") for line in symptom]
        return faces.code("\n".join(lines_of(asked)), asked.shown["raises"], below=short)
    if asked and asked.kind == "order":
        return faces.code("\n".join(lines_of(asked)))
    return faces.code(run.source, failed)


def left_over(
    group: list[NotebookNode], used: list[NotebookNode], faces: Faces, title: str
) -> list[Slide]:
    """Return a slide of what the others of a group did not show: nothing is lost in silence."""
    rest = [cell for cell in for_room(group) if cell not in used]
    return [flow(rest, faces, title)] if rest else []


def for_room(group: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a group that a room may see."""
    shown = [cell for cell in group if role(cell) not in UNSEEN]
    return [cell for cell in shown if not FOR_ONE.fullmatch(cell.source)]


def is_said(group: list[NotebookNode]) -> bool:
    """Tell whether a group is words alone that go on from the slide before: the speaker says them."""
    shown = [cell for cell in group if role(cell) not in UNSEEN]
    has_none = [cell.cell_type == "markdown" and not SHOWN.search(cell.source) for cell in shown]
    return role(group[0]) == "text" and not heading(group[0]) and all(has_none)


def with_last_note(slide: Slide, words: str) -> Slide:
    """Return a slide at whose end the speaker is told more."""
    return replace(slide, notes=(*slide.notes[:-1], slide.notes[-1] + words))


def told_first(own: dict, set_up: str, source: str, faces: Faces) -> str:
    """Return what a slide tells before it asks: its own words, or those of the question."""
    if "lead" in own:
        return faces.line(own["lead"])
    blocks = TABLE.findall(FENCE.sub("", source)) + FENCE.findall(source)
    return faces.line(set_up) + faces.text("\n\n".join(blocks))


def asked_in_group(group: list[NotebookNode]) -> Question | None:
    """Return the question that a group asks; None where it asks none that the package knows."""
    names = (cell.metadata.get("asks") for cell in group)
    return next((question_named(name) for name in names if name), None)


def run_slide(cell: NotebookNode, faces: Faces, title: str, lead: str, told: str) -> Slide:
    """Return the slide of a further run: its code and what it asks, then what came of it."""
    result = result_of(cell, faces)
    usual = "What will be drawn?" if result.kind == "picture" else "And now?"
    return Round(
        title=title,
        cell=cell.id,
        notes=("<p>Goes on from the question before. Let them say what comes.</p>" + told, told),
        seconds=pace.of_code(cell),
        lead=lead or faces.line(cell.metadata.course.get("slide", {}).get("lead", "")),
        ask=faces.line(cell.metadata.course.get("ask", usual)),
        code=faces.code(cell.source, result.failed),
        run=cell.id,
        result=result,
    )


def lab_slides(group: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the slide of a lab: questions, the lab, an answer with each key."""
    text = question(group[0].source)
    reasons, runs = with_role(group, "because"), with_role(group, "run")
    why = reason(reasons[0].source) if reasons else Reason()
    own = group[0].metadata.course.get("slide", {})
    asked = list(map(faces.line, own.get("asked", text.asked)))
    answers = [*map(faces.line, own.get("answers", why.answers)), *[""] * len(asked)]
    result = faces.result(runs[0]) if runs else Result("")
    title = faces.line(text.title)
    presses = tuple(own.get("presses", [""] * len(asked)))
    made: list[Slide] = [
        Lab(
            title=title,
            cell=group[0].id,
            notes=tuple(notes.of_lab(faces, said_in(group), why, bool(result.html), presses)),
            seconds=pace.of_lab(group),
            lead=faces.line(own.get("lead", text.set_up)),
            code=faces.code(runs[0].source) if runs else "",
            run=runs[0].id if runs else "",
            result=result,
            cards=tuple(zip(text.asks, asked, answers, strict=False)),
            presses=presses,
            moves=tuple(own.get("moves", [])),
            takeaway=faces.line(why.takeaway),
        )
    ]
    for cell in runs[1:]:  # within the minutes of the lab
        made.append(replace(run_slide(cell, faces, title, "", made[0].notes[-1]), seconds=0))
    return made + left_over(group, [group[0], *reasons[:1], *runs], faces, title)


def recap_slides(group: list[NotebookNode], faces: Faces) -> list[Slide]:
    """Return the recap: its questions stand, each key answers one; the rest of it is the speaker's."""
    source, found = group[0].source, heading(group[0])
    title = faces.line(found[1]) if found else "Recap"
    rest = TABLE.sub("", source[found.end() :] if found else source)
    made = tables(group[:1], faces, title, group[0].id, faces.text(rest))
    if not made and GOAL.search(rest):
        after = faces.text(BELOW.sub("", GOAL.sub("", rest)))  # such as where one goes on from here
        made = [one_by_one(GOAL.findall(rest), group, faces, title, after)]
    if not made:
        return [flow(group, faces, title)]
    return made + left_over(group, group[:1], faces, title)


def one_by_one(
    sentences: list[str], group: list[NotebookNode], faces: Faces, title: str, after: str
) -> Recap:
    """Return a slide on which each key brings a sentence, once somebody in the room has said it."""
    rows = [(f"{nr}", faces.line(words)) for nr, words in enumerate(sentences, 1)]
    told = [f"<p>Next they should say: {words}</p>" for _, words in rows]
    return Recap(
        title=title,
        cell=group[0].id,
        notes=(*told, "<p>That is all of it.</p>" + after),
        seconds=pace.of_words(group[:1]),
        rows=tuple(rows),
    )


def tables(
    cells: list[NotebookNode], faces: Faces, title: str, name: str, told: str
) -> list[Slide]:
    """Return a slide for each table that stands in text cells."""
    found = [table for cell in cells for table in TABLE.findall(cell.source) if "---" in table]
    return [table_slide(table, faces, title, name, told) for table in found]


def table_slide(table: str, faces: Faces, title: str, name: str, told: str) -> Slide:
    cells = [CELLS.split(line.strip().strip("|")) for line in table.strip().split("\n")]
    rows = [tuple(faces.line(w.strip().replace(r"\|", "|")) for w in row) for row in cells]
    head, rows = rows[0], rows[2:]
    ask = "<p>Let somebody answer before each key.</p>" + told
    said = [ask, *(f"<p>Answered: {row[0]}</p>{told}" for row in rows)]
    return Table(
        title=title,
        cell=name,
        notes=tuple(said),
        seconds=10 * len(rows),
        head=head,
        rows=tuple(rows),
    )


def text_slides(group: list[NotebookNode], faces: Faces, title: str) -> list[Slide]:
    """Return the slide of a text, or of an exercise; what runs after a table has one of its own."""
    runs = with_role(group, "run") if TABLE.search(group[0].source) else []
    made = flow([cell for cell in group if cell not in runs], faces, title)
    if not made.parts:
        return []
    return [made, *(run_slide(cell, faces, made.title, "", made.notes[0]) for cell in runs)]


def flow(group: list[NotebookNode], faces: Faces, title: str) -> Flow:
    """Return a slide of cells below each other, all at once; exercises are done at home."""
    shown, found = for_room(group), heading(group[0])
    parts = []
    for cell in shown:
        source = cell.source
        if cell is group[0] and found:
            source = source[found.end() :]
        parts.append((faces.cell(cell, BELOW.sub("", source)), 0, cell.id))
    told = "".join(faces.text(note) for note in said_in(group)) + "".join(map(notes.solved, shown))
    told = told or "<p>Let them read.</p>"
    return Flow(
        title=faces.line(found[1]) if found else title,
        cell=group[0].id,
        notes=(told,),
        seconds=0 if role(group[0]) == "exercise" else pace.of_words(shown),
        parts=tuple(parts),
    )
