"""Hold what a slide shows and what the speaker is told, step by step; no HTML page yet."""

from __future__ import annotations

from dataclasses import dataclass

from autograd_graphs.data import Graph
from course.publishing.walks import Turn, table

AGAIN = "case again"  # the part in which the case is understood and mended


@dataclass(frozen=True)
class Slide:
    """One slide. All texts are HTML, made safe; `title` and `crumb` are each one line.

    `notes` has an entry for each step, and a slide has as many steps as it has notes. `cell` is the
    id of the cell that it was made from, `seconds` is what it takes; `part` is "opening", "case",
    "case again", "lab", "quiz", a number, or "" for the rest of a lesson.
    """

    title: str
    cell: str
    notes: tuple[str, ...]
    crumb: str = ""
    seconds: int = 0
    part: str = ""
    kind = ""

    @property
    def steps(self) -> int:
        return len(self.notes)


@dataclass(frozen=True)
class Result:
    """What a cell put out: `kind` is "text", "picture" or "player"; `failed` is the number of the
    line that raised, 0 where none did; `turns` are those of a backward that a player steps through,
    `graph` is what a picture shows; `source` says of a GPU's output where it is from.
    """

    html: str
    kind: str = "text"
    failed: int = 0
    turns: tuple[Turn, ...] = ()
    graph: Graph | None = None
    source: str = ""

    @property
    def walk(self) -> str:
        """Return a table of what a player shows, "" without one."""
        return table(self.turns, filled=True) if self.turns else ""


NO_RESULT = Result("")


@dataclass(frozen=True)
class Opening(Slide):
    """The title of a notebook: what it is about, and a graph, else what one will be able to do."""

    lead: str = ""
    goals: tuple[str, ...] = ()
    drawing: str = ""
    kind = "opening"


@dataclass(frozen=True)
class Round(Slide):
    """A question, what ran, the takeaway: three steps, two where there is no takeaway.

    `run` is the id of its code's cell. `options` are (letter, words); `right` is a letter, or "".
    What only shows something is no question. `drawing` is an SVG that covers the last step, `chart`
    a picture that stands under short code until then. Its result takes the place of its code where
    it `swaps`. A graph that `is_foreseen` is seen with its code, in grey and without a word: what is
    asked is not how it looks.
    """

    lead: str = ""
    ask: str = ""
    code: str = ""
    run: str = ""
    result: Result = NO_RESULT
    options: tuple[tuple[str, str], ...] = ()
    right: str = ""
    takeaway: str = ""
    drawing: str = ""
    chart: str = ""
    swaps: bool = False
    is_foreseen: bool = False
    is_question: bool = False
    is_voted: bool = False  # by letters; other hands are counted as right or not
    kind = "round"


@dataclass(frozen=True)
class Lab(Slide):
    """A lab or a player with numbered questions. One of them is answered, press by press; where nothing
    plays, all of them are, one by one.

    `run` is the id of the cell of its code. `cards` are (its number in the text, question, answer), `asked` says
    which is answered, and `presses` are the keys that are pressed for it, one a step: "1 2". Of the picture all is
    seen, or its "boxes", its boxes with "blocks", or its "graph".
    """

    lead: str = ""
    code: str = ""
    run: str = ""
    result: Result = NO_RESULT
    cards: tuple[tuple[str, str, str], ...] = ()
    asked: int = 0
    presses: str = ""
    part_seen: str = ""
    takeaway: str = ""
    kind = "lab"

    @property
    def plays(self) -> bool:
        """Tell whether it is seen with its question; what a live deck runs may play, too."""
        return bool(self.result.html) and (self.result.kind == "player" or bool(self.presses))

    @property
    def answered(self) -> int:
        """Return the step at which the question is answered; the takeaway has one of its own."""
        return self.steps - 1 - bool(self.takeaway)

    @property
    def walks(self) -> list[str]:
        """Return the keys that are pressed so far at each step; at the answer all of them are."""
        row = self.presses.split()
        pressed = [" ".join(row[:count]) for count in range(len(row) + 1)]
        return pressed + [self.presses] * (self.steps - len(pressed))


@dataclass(frozen=True)
class Table(Slide):
    """A table whose first column stands; the rest of each row comes with a step of its own."""

    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    kind = "table"


@dataclass(frozen=True)
class Recap(Table):
    """Sentences that come one by one; what a room says has no place on a sheet."""

    kind = "recap"


@dataclass(frozen=True)
class Flow(Slide):
    """Cells below each other. `parts` are (HTML, step, id): from which step on each cell is seen. `large`
    has the step of each picture at which it is the slide.
    """

    parts: tuple[tuple[str, int, str], ...] = ()
    large: tuple[int, ...] = ()
    kind = "flow"
