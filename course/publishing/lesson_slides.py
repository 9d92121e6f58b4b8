"""Make slides of the cells of a lesson, whose roles say what each is for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from textwrap import shorten
from typing import Any

from nbformat import NotebookNode

from autograd_graphs.playing.player import FILM
from course.publishing import durations, notes
from course.publishing.cell_renderer import CellRenderer, Cells, split_heading
from course.publishing.slide_drawings import HIGH, LOW
from course.publishing.slide_graphs import slide_graph
from course.publishing.slide_groups import (
    grouped,
    is_said,
    parts,
    role,
    with_role,
    wording,
)
from course.publishing.slides import (
    Lab,
    Opening,
    Recap,
    Result,
    Round,
    Slide,
    Table,
)
from course.publishing.told_slides import (
    BELOW,
    EXPECTED,
    LEAD,
    drawing,
    is_foreseen,
    kept_of,
    left_over,
    printed_by,
    result_of,
    run_slide,
    text_slides,
    with_charts,
    with_moons,
)
from helpers.predicting.kinds import lines_of, names
from helpers.predicting.program_outcomes import cured
from helpers.predicting.questions import Question
from helpers.predicting.questions import question as question_named
from helpers.predicting.round_text import FENCE, TABLE, Reason, question, reason

NUMBERED = re.compile(r"\s*(\d\d) · ")
GOAL = re.compile(r"^- (.+)$", re.M)
PARAGRAPH = re.compile(r"^(?!\*\*)(.+)$", re.M)
CELLS = re.compile(r"(?<!\\)\|")
WIDEST = 72  # letters of a symptom on a slide
LEAD_UNDER = 10  # lines of code: above more of them a lead is said, for code keeps its size
ROWS = 12  # lines of code on a slide: of a longer message the first ones and the last two stay
EXERCISE = re.compile(
    r"\*\*(?P<id>\d\d\.\d+)\*\* · (?P<kind>[^.]+)· (?P<minutes>\d+ minutes)\. (\*\*(?P<name>.+?)[.?]?\*\* )?"
)
HEAD = ("", "How long", "What to do")  # of the table of exercises
VERBS = {  # by what an exercise says; the first one of a lesson mends its case in other clothes
    "Mend": re.compile(r"\b[Ff]ix it\b"),
    "Find the line": re.compile(
        r"[Ww]hich (one )?line( above the last one)?( would you change)?\?"
    ),
    "Write": re.compile(r"\bWrite\b"),
    "Choose": re.compile(r"\bGive (a list of|their|the) (letters|names)"),
}
FINE = "\n(no error)"


def lesson_slides(cells: Cells, renderer: CellRenderer) -> list[Slide]:
    made: list[Slide] = []
    title = "Slide"
    groups = grouped(cells)
    for group, part in zip(groups, parts(groups), strict=True):
        if made and is_said(group):
            *notes_before, last = made[-1].notes
            made[-1] = replace(made[-1], notes=(*notes_before, last + renderer.texts(group)))
            continue
        new = slides_of(group, renderer, title)
        if new:
            title = new[-1].title
        made += [replace(slide, part=part) for slide in new]
    return with_charts(with_moons(made, cells), cells)


def slides_of(group: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return the slides of one group of cells; `title` is that of the slide before."""
    if wording(group[0]).get("skip"):
        return []  # it says why: what only a reader at a keyboard needs
    if role(group[0]) == "exercise":
        return [exercises(group, renderer, title)]
    makers = {"title": opening, "case": case_slides, "question": round_slides}
    makers |= {"lab": lab_slides, "recap": recap_slides}
    make = makers.get(role(group[0]))
    if not make:
        return text_slides(group, renderer, title)
    return make(group, renderer)


def opening(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the title slide, and a slide for what runs on the first screen."""
    heading, rest = split_heading(group[0])
    own = wording(group[0])
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
    own = wording(group[0])
    title, lead = renderer.line(text.title), renderer.line(own.get("lead", text.set_up))
    runs = with_role(group, "run")
    if not runs:
        return left_over(group, [], renderer, title)
    spoken = renderer.texts(with_role(group, "notes")) or EXPECTED
    kept = kept_of(wording(runs[0]))
    is_long = (len(kept) or runs[0].source.count("\n")) >= LEAD_UNDER
    is_long |= "lead" not in own and len(text.set_up) > LEAD
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


def exercises(group: Cells, renderer: CellRenderer, title: str) -> Slide:
    """Return the slide of the exercises, which are done at home: of each how long it takes, and a verb."""
    rows, spoken = [], ""
    for cell in with_role(group, "exercise"):
        spoken += renderer.text(cell.source)
        exercise = EXERCISE.search(cell.source)
        if exercise:
            is_mended = not rows and "build" not in exercise["kind"]
            verb = "Mend" if is_mended else verb_of(exercise["kind"], cell.source)
            done = " · ".join(filter(None, [f"**{verb}**", exercise["name"]]))
            at_home = ", at home" * ("at home" in exercise["kind"])
            rows.append((exercise["id"], exercise["minutes"] + at_home, renderer.line(done)))
    spoken += "".join(map(notes.solved, group))
    heading, _ = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    return Table(title=title, cell=group[0].id, notes=(spoken,), head=HEAD, rows=tuple(rows))


def verb_of(kind: str, text: str) -> str:
    """Return what one does in an exercise, in a verb."""
    if "build" in kind:
        return "Build"
    return next((verb for verb, says in VERBS.items() if says.search(text)), "Work out")


def round_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the slide of a round, one for each further run, one for a table in its reason."""
    asked, text = asked_in_group(group), question(group[0].source)
    reasons = [cell for cell in with_role(group, "because") if reason(cell.source).body]
    why = reason(reasons[0].source) if reasons else Reason()
    runs = with_role(group, "run")
    before, after, last = notes.of_round(renderer, with_role(group, "notes"), asked, why)
    own = wording(group[0])  # words, where the notebook's are long
    title = renderer.line(own.get("title", text.title))
    rule = own.get("takeaway", why.takeaway)
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
        shown["drawing"] = drawing(own, runs[0], LOW if options else HIGH)
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
        is_foreseen=is_foreseen(own, shown.get("result")),
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
    if not asked:
        return ""
    if asked.settled:
        return f"Keep your letter: lesson {asked.settled} runs it."
    if asked.kind == "explain":
        return asked.told["good"].partition(". ")[0].rstrip(".") + "."
    if asked.kind == "find_line":
        return f"Line {asked.right}."
    if asked.kind == "number":
        return notes.shown_right(asked)
    return options.get(asked.right, "")


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


def options_of(asked: Question | None, read: dict[str, str], own: dict) -> dict[str, str]:
    """Return what a room chooses from, in the slide's own words where it has some."""
    if asked and asked.kind == "draw":
        return {letter: f"**{name}**" for letter, name in names(asked).items()}
    words = own.get("options", [])
    return dict(zip(read, words, strict=True)) if len(words) == len(read) else read


def code_of(asked: Question | None, run: NotebookNode, failed: int, renderer: CellRenderer) -> str:
    """Return the code of a round: its run, or the program or lines that its question shows."""
    if asked and asked.kind == "find_line":
        program, symptom = lines_of(asked), asked.shown["symptom"].removesuffix(FINE).split("\n")
        room = max(2, ROWS - len(program))
        if len(symptom) > room:
            symptom = [*symptom[: room - 2], *symptom[-2:]]
        short = [shorten(line, WIDEST).rstrip(",") for line in symptom]
        return renderer.code("\n".join(program), asked.shown["raises"], below=short)
    if asked and asked.kind == "order":
        return renderer.code("\n".join(lines_of(asked)))
    return renderer.code(run.source, failed, kept=kept_of(wording(run)))


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


def lab_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the slide of a lab: questions, the lab, an answer with each key."""
    text = question(group[0].source)
    reasons, runs = with_role(group, "because"), with_role(group, "run")
    why = reason(reasons[0].source) if reasons else Reason()
    own = wording(group[0])
    asked = list(map(renderer.line, own.get("asked") or goals(runs) or text.asked))
    answers = [*map(renderer.line, own.get("answers", why.answers)), *[""] * len(asked)]
    shown: dict[str, Any] = {}
    if runs:
        shown = {"code": renderer.code(runs[0].source), "run": runs[0].id}
        shown["result"] = renderer.result(runs[0])
    title = renderer.line(text.title)
    labels = list(text.asks)
    number = labels.index(own["question"]) if own.get("question") in labels else 0
    first = Lab(
        title=title,
        cell=group[0].id,
        notes=(),
        seconds=durations.of_lab(group),
        lead=renderer.line(own.get("lead", text.set_up)),
        cards=tuple(zip(text.asks, asked, answers, strict=False)),
        asked=number,
        presses=own.get("presses", ""),
        part_seen=own.get("part", ""),
        takeaway=renderer.line(why.takeaway),
        **shown,
    )
    first = replace(first, notes=notes.of_lab(renderer, with_role(group, "notes"), why, first))
    made: list[Slide] = [first]
    for cell in runs[1:]:  # within the minutes of the lab
        made.append(replace(run_slide(cell, renderer, title, "", first.notes[-1]), seconds=0))
    return made + left_over(group, [group[0], *reasons[:1], *runs], renderer, title)


def goals(runs: Cells) -> list[str]:
    """Return the questions that a lab itself asks."""
    outputs = [output for run in runs[:1] for output in run.get("outputs", [])]
    films = [output.metadata[FILM] for output in outputs if FILM in output.get("metadata", {})]
    return [goal[0] for film in films for goal in json.loads(film).get("goals", [])]


def recap_slides(group: Cells, renderer: CellRenderer) -> list[Slide]:
    """Return the recap: its sentences or answers come with a key each; the rest is the speaker's."""
    heading, rest = split_heading(group[0])
    own = wording(group[0])
    title = renderer.line(heading or "Recap")
    rest = TABLE.sub("", rest)
    made = tables(group[:1], renderer, title, group[0].id, renderer.text(rest))
    if not made:
        told = own.get("lead", rest)
        said = GOAL if GOAL.search(told) else PARAGRAPH
        after = renderer.text(
            BELOW.sub("", said.sub("", rest))
        )  # such as where one goes on from here
        made = [one_by_one(said.findall(told), group, renderer, title, after)]
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
    steps = [f"<p>Let someone answer before each key.</p>{spoken}"]
    steps += [f"<p>Answered: {row[0]}</p>{spoken}" for row in rows]
    return Table(title, name, tuple(steps), seconds=10 * len(rows), head=head, rows=tuple(rows))
