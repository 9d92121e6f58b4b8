"""Make slides of what asks nothing: texts, what runs below them, pictures of the moons, the way back to
the case.
"""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from textwrap import shorten

from nbformat import NotebookNode

from autograd_graphs.drawing.svg import image
from course.publishing import durations, notes
from course.publishing.cell_renderer import CellRenderer, Cells, split_heading
from course.publishing.portions import blocks
from course.publishing.slide_drawings import HIGH, chart, lanes
from course.publishing.slide_graphs import slide_graph
from course.publishing.slide_groups import SHOWN, for_room, role, with_role, wording
from course.publishing.slides import AGAIN, Flow, Result, Round, Slide
from helpers.moons.drawing import BEGINS, PLOT, only_plot, points_alone

EXPECTED = "<p>Let a few of them say what they expect. Don't explain yet.</p>"
BELOW = re.compile(
    r" ?Below(?::| are) (?:all )?your predictions\."
)  # `progress()` shows them, on no slide
LEAD = 220  # letters: three lines of what is told before code runs, a longer text is said
ONWARD = re.compile(r"\n\n([^\n]{1,220}:)\s*\Z")
OUT = "What comes out?"
MOONS = re.compile(r"\A(?!.*\bbackward\().*^moons_\w+\(", re.M | re.S)  # it draws what ran before
ALL, BEFORE = "The hundred points of the two moons.", "What the broken program made of the moons."
MOONS_DATA = re.compile(rf"svg\+xml;base64,({base64.b64encode(BEGINS.encode()).decode()}[^\"]+)")
LINES = re.compile(r"(\d+)(?:-(\d+))?")
PRINTED = re.compile(r"<pre\b.*?</pre>", re.S)  # beside a picture that says more
SHOW = "<p>Give them time to look.</p>"
LONGEST = 190  # letters of a warning


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


def run_slide(
    cell: NotebookNode, renderer: CellRenderer, title: str, lead: str, spoken: str, ask="And now?"
) -> Slide:
    """Return the slide of a further run: its code and what it asks, then what came of it."""
    result = result_of(cell, renderer)
    usual = "What will be drawn?" if result.kind == "picture" else ask
    goes_on = "<p>This follows on from the question before. Let them say what will come.</p>"
    own = wording(cell)
    takeaway = renderer.line(own.get("takeaway", ""))
    return Round(
        title=title,
        cell=cell.id,
        notes=(goes_on + spoken, spoken, *([spoken] if takeaway else [])),
        seconds=durations.of_code(cell),
        lead=lead or renderer.line(own.get("lead", "")),
        takeaway=takeaway,
        ask=renderer.line(cell.metadata.course.get("ask", usual)),
        code=renderer.code(cell.source, result.failed, kept=kept_of(own)),
        run=cell.id,
        result=result,
        is_foreseen=is_foreseen(own, result),
        drawing=drawing(own, cell) if takeaway else "",
    )


def is_foreseen(own: dict, result: Result | None) -> bool:
    """Tell whether a graph may be seen with its code: a player's, and what slides call `grey`."""
    return "grey" in own or (result is not None and result.kind == "player")


def kept_of(own: dict) -> list[int]:
    """Return the numbers of the lines that a slide shows of its code, none for all: "2" and "4-6"."""
    spans = filter(None, map(LINES.fullmatch, own.get("lines", ())))
    return [nr for span in spans for nr in range(int(span[1]), int(span[2] or span[1]) + 1)]


def left_over(group: Cells, used: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return a slide of what the others of a group did not show: nothing is lost in silence."""
    rest = [cell for cell in for_room(group) if cell not in used]
    if not rest:
        return []
    return [flow(rest, renderer, title)]


def flow(group: Cells, renderer: CellRenderer, title: str) -> Flow:
    """Return a slide of cells below each other, all at once; exercises are done at home."""
    shown = for_room(group)
    heading, rest = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    parts, spoken = [], ""
    if role(group[0]) in ("text", "return"):
        rest, spoken = told_beside(rest, wording(group[0]), renderer)
    for cell in shown:
        source = rest if cell is group[0] else cell.source
        parts.append((renderer.cell(cell, BELOW.sub("", source)), 0, cell.id))
    spoken += renderer.texts(with_role(group, "notes")) + "".join(map(notes.solved, shown))
    seconds = 0 if role(group[0]) == "exercise" else durations.of_words(shown)
    spoken = spoken or "<p>Let them read.</p>"
    return Flow(title, group[0].id, (spoken,), seconds=seconds, parts=tuple(parts))


def text_slides(group: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return the slides of a text: one of what has to be seen of it, one for each cell that runs."""
    heading, words = split_heading(group[0])
    if heading:
        title = renderer.line(heading)
    runs, own = with_role(group, "run"), wording(group[0])
    if not runs or ("lead" not in own and SHOWN.search(words)):
        return seen_first(group, runs, renderer, title)
    lead, spoken = own.get("lead", words.strip()), renderer.texts(with_role(group, "notes"))
    if "lead" in own or len(lead) > LEAD:
        lead, spoken = own.get("lead", ""), renderer.text(words) + spoken
    return shown_slides(runs, renderer, title, own | {"lead": renderer.line(lead)}, spoken)


def seen_first(group: Cells, runs: Cells, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return a slide of a text that has to be seen, such as a table, then those of what runs. Its last
    line leads on to the code, if it ends in a colon.
    """
    onward = ONWARD.search(group[0].source) if runs else None
    seen = [cell for cell in group if cell not in runs]
    lead = ""
    if onward:
        seen[0] = NotebookNode(group[0], source=group[0].source.removesuffix(onward[0]))
        lead = renderer.line(onward[1])
    made = flow(seen, renderer, title)
    if not made.parts:
        return []
    own = wording(group[0]) | {"lead": lead}
    return [made, *shown_slides(runs, renderer, title, own, made.notes[0])]


def shown_slides(
    runs: Cells, renderer: CellRenderer, title: str, own: dict, spoken: str
) -> list[Slide]:
    """Return a slide for each cell that shows something: its code, then what came. `own` are the words
    of what stands before them: a lead and a drawing for the first, a takeaway for the last. Others may
    have a drawing of their own.
    """
    made: list[Slide] = []
    for cell in runs:
        shown = run_slide(cell, renderer, title, "" if made else own["lead"], spoken, OUT)
        steps = [EXPECTED + spoken, spoken or SHOW]
        takeaway = wording(cell).get("takeaway", "")
        if cell is runs[-1]:
            takeaway = takeaway or own.get("takeaway", "")
        drawn = drawing(wording(cell) if made else own, cell)
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


def drawing(own: dict, run: NotebookNode, most: int = HIGH) -> str:
    """Return the graph, the lanes or the chart that a slide shows at its end; "" for none. Lanes are
    `most` px high at most.
    """
    if "graph" in run.metadata.course:
        return slide_graph(run.metadata.course.graph)
    if "lanes" in own:
        return lanes(own["lanes"], most)
    if own.get("chart"):
        return chart(printed_by(run), own["chart"])
    return ""


def printed_by(run: NotebookNode) -> str:
    return "".join(output.text for output in run.outputs if output.output_type == "stream")


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
        before = made[-1]
        if isinstance(before, Round) and before.part == slide.part and not before.drawing:
            made[-1] = ending_on(before, slide)
        else:
            made.append(alone(slide))
    return made


def with_charts(slides: list[Slide], cells: Cells) -> list[Slide]:
    """Return slides on which the moons are seen beside the code of the case: the points alone at first,
    and on the way back what the broken program made of them, until it is mended. A `chart` of nothing
    leaves them out.
    """
    pairs = [nr for nr, slide in enumerate(slides) if slide.part == AGAIN and pair_in(slide)]
    bare = {cell.id for cell in cells if wording(cell).get("chart") == []}
    made = list(slides)
    has_moons = any(map(moons_in, slides))
    for nr, slide in enumerate(slides):
        if not isinstance(slide, Round) or slide.run in {"", *bare} or not has_moons:
            continue
        is_first = not any(
            one.part == "case" and one.chart for one in made[:nr] if one.kind == "round"
        )
        if slide.part == "case" and (is_first or moons_in(slide)):
            made[nr] = replace(slide, chart=image(points_alone(), ALL))
        is_before = pairs and nr < pairs[0] and slide.result.kind == "text"
        if slide.part == AGAIN and (nr in pairs or is_before):
            before = only_plot(pair_in(slides[nr if nr in pairs else pairs[0]]))
            made[nr] = replace(slide, chart=image(before, BEFORE))
    return made


def pair_in(slide: Slide) -> str:
    """Return the SVG of two pictures of the moons on a slide, "" where there is none."""
    drawn = moons_in(slide)
    return drawn if len(PLOT.findall(drawn)) == 2 else ""


def moons_in(slide: Slide) -> str:
    """Return the SVG of a picture of the moons on a slide, "" where there is none."""
    if not isinstance(slide, Round):
        return ""
    found = MOONS_DATA.search(slide.drawing + slide.result.html)
    return base64.b64decode(found[1]).decode() if found else ""


def ending_on(before: Round, slide: Round) -> Round:
    """Return a slide whose last step is the picture of another."""
    notes_of_steps = (*before.notes[:2], slide.notes[-1])  # a takeaway comes with the picture
    takeaway = before.takeaway or slide.takeaway
    drawn = PRINTED.sub("", slide.result.html)
    return replace(before, notes=notes_of_steps, takeaway=takeaway, drawing=drawn)


def alone(slide: Round) -> Round:
    """Return a slide of a picture, without the code that draws it."""
    bare = replace(slide, ask="", code="", run="", result=Result(""))
    return replace(bare, notes=slide.notes[-1:], drawing=slide.result.html)
