"""The lab of lesson 18: two ranks that run a line at a press, and who waits for whom."""

from __future__ import annotations

from collections.abc import Callable

from autograd_graphs.data import counted
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World
from helpers.labs.lanes import lanes
from helpers.labs.stepped_ranks import AVERAGED, PROGRAMS, STEP, Rank

NEEDED = ("", "its sum", "both sums", "all three sums")


def program(name: str, does: str) -> Action:
    """Return the action that puts both ranks at the beginning of a program."""
    return Action(name, f"r0, r1 = both('{name}')", does, anew=True)


class Ranks(World):
    """Two ranks with the same weights, a bucket for each parameter, and a line for each press."""

    setup = (
        "from helpers.labs.stepped_ranks import two_ranks",
        "def forward(net, x): return net.b * (net.a * x)",
        "def both(program): return two_ranks(forward, program)",
        "r0, r1 = both('model')",
    )
    actions = (
        Action("rank_0", "next(r0)", "its next line", called="rank 0"),
        Action("rank_1", "next(r1)", "its next line", called="rank 1"),
        program("module", "goes around DDP"),
        program("no_sync", "one more backward"),
        program("spare", "leaves c out"),
        program("extra", "rank 0 logs y, too"),
    )
    tools = ("two_ranks", "forward", "both", "r0", "r1")

    def reset(self) -> None:
        super().reset()
        self.program = "model"

    def run(self, action: Action) -> None:
        super().run(action)
        if action.name in PROGRAMS:
            self.program = action.name

    def ranks(self) -> tuple[Rank, Rank]:
        return self.r0, self.r1

    def compared(self) -> dict[str, object]:
        rows = [(row.label, row.text) for row in self.facts()]
        return super().compared() | {"rows": tuple(rows)}

    def facts(self) -> tuple[Row, ...]:
        """Return the lines that each rank ran and what came of them, then the sums."""
        rows = []
        for rank in self.ranks():
            rows.append(Row(f"rank {rank.nr}", "; ".join([*rank.told(), *self.wait_of(rank)])))
        sums = self.r0.wire.told()
        return (
            *rows,
            Row("all-reduce", "; ".join(sums)),
            Row("c", "not sent" * (self.program == "spare")),
        )

    def wait_of(self, rank: Rank) -> list[str]:
        """Say for what a rank waits, if it does."""
        if not rank.is_waiting():
            return []
        other = self.ranks()[1 - rank.nr]
        return ["waits for ever" if other.is_done() else f"waits for rank {other.nr}"]

    def chosen(self) -> tuple[str, ...]:
        return () if self.program == "model" else (self.program,)

    def title(self) -> str:
        for rank in self.ranks():
            for words in self.wait_of(rank):
                return f"rank {rank.nr} {words.partition(' for rank')[0]}"
        if all(rank.is_done() for rank in self.ranks()):
            return "both are done"
        return "nobody waits"

    def say(self) -> str:
        """Say what to notice: of a rank that waits, of both that have stepped, or of the one that is ahead."""
        if all(rank.has_run(STEP.words) for rank in self.ranks()):
            is_same = self.r0.b.item() == self.r1.b.item()
            return f"Both have stepped, to {'the same' if is_same else 'different'} weights."
        for rank in self.ranks():
            if rank.is_waiting():
                return self.say_wait(rank)
        for rank in self.ranks():
            if rank.has_run(AVERAGED.words):
                return f"Backward has ended on rank {rank.nr}, with {self.kept_by(rank)} in .grad."
        return self.say_beginning()

    def say_wait(self, rank: Rank) -> str:
        count, other = counted(len(rank.parts), "number"), self.ranks()[1 - rank.nr]
        if other.is_done():
            return f"It has sent {count}, and rank {other.nr} only ever sends {len(other.parts)}."
        return f"It has sent {count}, and needs {NEEDED[len(rank.parts)]}."

    def kept_by(self, rank: Rank) -> str:
        """Say what the gradients of a rank are, after its backward."""
        if self.program == "extra":
            return "sums that aren't means"
        return "means" if AVERAGED in rank.lines else "its own gradients"

    def say_beginning(self) -> str:
        """Say what to notice before a backward has ended and while nobody waits."""
        wire = self.r0.wire
        if not any(rank.came for rank in self.ranks()):
            return "Both ranks begin with a = 2 and b = 5. Rank 0 has x = 1, rank 1 has x = 3."
        if wire.count_full():
            if self.program == "extra":
                return "The y of rank 0 was added to half a gradient of rank 1."
            return "A sum is there, but .grad still has what the rank computed itself."
        if any(wire.sent):
            return (
                "What a rank has sent is on its way, and the rank doesn't have to stop for it yet."
            )
        if any(rank.has_run("b arrives") for rank in self.ranks()):
            return "A gradient has arrived, and nothing is sent."
        return "Nothing is sent so far."


def is_ahead(program: str) -> Callable[[State, str], bool]:
    """Return what says of a state whether rank 0 has stepped there before rank 1 ran a line."""

    def seen(state: State, _: str) -> bool:
        has_stepped = STEP.words in state.fact("rank 0") and not state.fact("rank 1")
        return state.chosen == (program,) and has_stepped

    return seen


def is_left(state: State, _: str) -> bool:
    """Say whether rank 1 has stepped where rank 0 reduces its loss as well."""
    return state.chosen == ("extra",) and STEP.words in state.fact("rank 1")


ranks = Lab(
    "ranks",
    Ranks,
    16,
    "Lab: two ranks of DDP run line by line, side by side. Between them stand the sums of what both have sent."
    " A rank that waits says for whom.",
    {
        "alone": "rank_0 rank_0 rank_0",
        "around the wrapper": "module",
        "no_sync": "no_sync",
        "spare layer": "spare",
        "one more all-reduce": "extra",
    },
    [
        Question(
            "Press *rank 0* alone: after which line does it wait?", ["rank_0 rank_0 rank_0 rank_0"]
        ),
        Question(
            "*module*, *no_sync*, *spare*: where does rank 0 step before rank 1 has run a line?",
            [is_ahead("module"), is_ahead("spare")],
        ),
        Question(
            "*extra*: get rank 1 to its step. How few presses, and what did it step with?",
            [is_left],
        ),
    ],
    lanes,
)
