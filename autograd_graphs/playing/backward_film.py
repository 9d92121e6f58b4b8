"""Frozen, plain data that the player plays of one backward: numbers, words and roles, no shapes."""

from __future__ import annotations

from dataclasses import dataclass

from autograd_graphs.data import Gradient, Span
from autograd_graphs.drawing.display_list import Drawing
from autograd_graphs.drawing.for_player import PlayerPicture

What = str | Gradient | None


@dataclass(frozen=True, slots=True)
class Cell:
    """Hold one piece of an equation.

    `role` is "arrives", "factor", "handed" (on, along an edge), "before", "total" (what a `.grad`
    holds then), "name", "words", or "sign" for an operator. `what` is a text or a tensor. `is_asked`
    says that one may be asked to guess it.
    """

    role: str
    what: What
    caption: str = ""
    is_asked: bool = False


Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold what the panel says at one stop.

    `title` is drawn bold, `kind` faint after it. `question` is the sentence for those who guess
    first; `choices` are right and wrong answers. `formulas` are (input, torch's own formula).
    `whole_way` multiplies all factors from the root to this leaf. `bars` are (copy, norm) where it
    stands for several. `bytes_held` are kept for backward until the step is done. `health` says what
    is not well: "NaN", "inf", "zero", "exploding"; `is_error` that backward stopped here.
    """

    title: str
    kind: str
    sentence: str
    question: str = ""
    rows: tuple[Row, ...] = ()
    choices: tuple[str, ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()
    whole_way: str = ""
    bars: tuple[tuple[str, float], ...] = ()
    bytes_held: int = 0
    span: Span | None = None
    health: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Hold one place where the player stops in a view: the steps from `first` to `last`, and the
    number of its moment.

    It has several steps where the player steps over a folded part. -1 is before all steps, the
    count of steps after them.
    """

    first: int
    last: int
    moment: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold what happens to one node of a view: the stretches (first, last step) of its turns.

    `freed` is the step after which its saved tensors are free, None for never. `slot` is what its
    `.grad` holds before and after. `inside` is how many nodes it stands for; `opens` are (from
    this step on, view) for a folded part.
    """

    stretches: tuple[tuple[int, int], ...]
    freed: int | None = None
    slot: tuple[What, What] | None = None
    inside: int = 1
    opens: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeFlow:
    """Hold what travels along one edge of a view: (step that hands on, step that gets) of each.

    `carried` is the gradient where the edge stands for one alone, `factor` by what it was
    multiplied.
    """

    times: tuple[tuple[int, int], ...]
    carried: What = None
    factor: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Hold one way to see the graph: its picture, and what becomes of its nodes and edges.

    `parent` is the view in which what is open here is folded; `starts` are (node, what enters it
    from above); `names` say what each node is, `text` is the picture as a tree,
    `stopped_at` the node at which an error stopped backward. `lying` is the picture on its side,
    None where that is too wide.
    """

    picture: PlayerPicture
    turns: tuple[Turn, ...]
    flows: tuple[EdgeFlow, ...]
    stops: tuple[Stop, ...]
    starts: tuple[tuple[int, What], ...] = ()
    parent: int = 0
    names: tuple[str, ...] = ()
    text: str = ""
    stopped_at: int | None = None
    lying: PlayerPicture | None = None


@dataclass(frozen=True, slots=True)
class BackwardFilm:
    """Hold all that a player needs to step through one backward, with or without a kernel.

    `still` is the picture for where nothing plays, `text` what is said there. `program` are the
    lines above the graph. `trouble` is the number of the first step that is not well, None where
    all are. `steps` is their count; without steps one only explores.
    """

    moments: tuple[Moment, ...]
    scenes: tuple[Scene, ...]
    steps: int
    text: str
    alt: str
    still: Drawing
    program: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    trouble: int | None = None
    start: int = 0
