"""Say in a picture how healthy the gradients of a recorded backward were. Plain data in and out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograd_graphs.data import counted
from autograd_graphs.drawing.tints import Tint, Tints, scale_of
from autograd_graphs.recording import gradient_health
from autograd_graphs.recording.trace import Trace
from autograd_graphs.text import number, visible

LONGEST = 120  # characters of a sentence under the title, with names in it
FILL = "Fill: the norm of the gradient that arrived; the stronger, the larger (log scale)."
BADGES = {"NaN": "bad", "inf": "bad", "exploding": "bad", "zero": "zero"}  # the worst first
INSIDE = " inside"  # follows the word on a folded part where it is not true of all in it


class Tinting:
    """Know what a picture shows of the gradients of one backward."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.first = trace, gradient_health.first(trace)
        self.norms = list(map(gradient_health.norm_at, trace.steps))
        self.words = list(map(gradient_health.health_at, trace.steps))
        for nr in gradient_health.exploding(trace):
            self.words[nr] = "exploding"
        self.step = {step.node: nr for nr, step in enumerate(trace.steps)}
        self.scale = scale_of(norm for norm in self.norms if norm is not None)

    def tints(self, members: Sequence[Sequence[int]]) -> Tints:
        """Return the tints of cards; `members` are the nodes that each stands for."""
        tints = {}
        for card, nodes in enumerate(members):
            steps = [self.step[node] for node in nodes if node in self.step]
            if steps:
                tints[card] = self.tint(steps, len(nodes) > 1)
        remarks = [FILL] if self.scale else []
        return Tints(tints, self.scale, (*remarks, *self.remarks()))

    def tint(self, steps: Sequence[int], is_folded: bool) -> Tint:
        """Return the tint of a card: the largest norm of its steps, and the worst that is wrong."""
        badge, word = self.badge(steps)
        if is_folded and word and any(self.words[nr] != word for nr in steps):
            word += INSIDE
        words = self.norm_words(steps)
        norms = self.known(steps)
        level = self.scale.level(norms[-1]) if self.scale and norms else 0
        return Tint(level, words, word, badge, line(words, word, badge))

    def badge(self, steps: Sequence[int]) -> tuple[str, str]:
        """Return the kind of badge that steps get, and its word; both empty where all is well."""
        if self.first and self.first.step in steps:
            return "first", f"first {self.first.health}"
        words = {self.words[nr] for nr in steps}
        for word, kind in BADGES.items():
            if word in words:
                return kind, word
        return "", ""

    def known(self, steps: Sequence[int]) -> list[float]:
        """Return the norms above 0 of the healthy among some steps, least first."""
        norms = [self.norms[nr] for nr in steps if self.words[nr] not in gradient_health.BAD]
        return sorted(norm for norm in norms if norm)

    def norm_words(self, steps: Sequence[int]) -> str:
        """Say which norms arrived at steps: nothing where their badge says all."""
        norms = self.known(steps)
        if norms:
            low, high = number(norms[0]), number(norms[-1])
            if low == high:
                return f"norm {low}"
            return f"norm {low} to {high}"
        if any(self.words[nr] for nr in steps):
            return ""
        has_arrived = any(any(self.trace.steps[nr].grad_outputs) for nr in steps)
        return "norm unknown" if has_arrived else "nothing arrived"

    def remarks(self) -> Iterator[str]:
        """Yield sentences on what is wrong with the gradients."""
        if self.first:
            yield visible(gradient_health.first_words(self.trace, self.first), LONGEST)
        if count := self.words.count("exploding"):
            rule = (
                f"norm over {gradient_health.EXPLODING:,} times the median "
                f"and over {gradient_health.GROWN} times that at the start"
            )
            yield f"Exploding at {counted(count, 'node')}: {rule}."
        if count := self.words.count("zero"):
            yield f"Zero at {counted(count, 'node')}."
        if self.trace.not_read:
            yield self.trace.not_read
        elif count := len(self.trace.graph.nodes) - len(self.step):
            yield f"No gradient reached {counted(count, 'node')}: no fill, and no norm."
        if self.trace.error:
            yield visible(f"backward() stopped: {self.trace.error}", LONGEST)

    @property
    def sentence(self) -> str:
        """Say all of it for those who do not see the picture."""
        words = self.norm_words(range(len(self.norms)))
        lead = [f"Gradient {words}."] if words.startswith("norm") else []
        return " ".join([*lead, *self.remarks()])


def line(words: str, word: str, badge: str) -> str:
    """Return what the text tree says of a card: "grad norm 0.02, exploding", "first NaN here"."""
    if words.startswith("norm"):
        words = f"grad {words}"
    if badge == "first" and not word.endswith(INSIDE):
        word = f"{word} here"
    elif word in (*gradient_health.BAD, "zero"):
        word = f"grad {word}"
    return ", ".join(filter(None, [words, word]))
