"""Turn a lab's film into compact plain data, ready for JSON: every mark once, then what changes.

film.schema.json says of each field what it holds. Of `ways`, a transition is -1 where the map ends, -2 where nothing
changed; a total is 0 where there is no tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

from autograd_graphs.drawing.display_list import Mark
from autograd_graphs.playing.encode_backward import LONGEST, Encoder, Pool, flat, shown
from autograd_graphs.playing.film import Button, Change, Goal, LabFilm, Transition
from autograd_graphs.text import visible

VERSION = 3
# The keys of a lab's actions; an eleventh has none, nor one that is turned to.
DIGITS = "1234567890"


class LabEncoder(Encoder):
    """Write one lab."""

    def __init__(self) -> None:
        super().__init__()
        self.owners, self.drawn, self.looks = Pool(), Pool(), Pool()
        self.owners(None)

    def lab(self, film: LabFilm) -> dict:
        data = {}
        if any(film.aside):
            data["aside"] = list(film.aside)
        if film.goals:
            data["goals"] = list(map(question, film.goals))
        if film.left:
            data["left"] = list(film.left)
        scenes = [list(map(self.mark_number, scene.marks)) for scene in film.scenes]
        states = list(self.states(film))
        legend = []
        for role, state, words in film.legend:
            legend.append([self.roles(role), self.roles(state), shown(words)])
        stacks = []
        for stack in film.stacks:
            name, place = shown(stack.name), (stack.x, stack.base, stack.step)
            stacks.append([name, *place, stack.unit, stack.wide])
        return data | {
            "version": VERSION,
            "alt": visible(film.alt, LONGEST),
            "code": list(map(shown, film.code)),
            "actions": [action(nr, button) for nr, button in enumerate(film.buttons)],
            "start": list(film.start),
            "size": [film.scenes[0].width, film.scenes[0].height],
            "stacks": stacks,
            "scenes": scenes,
            "states": states,
            "marks": [list(mark) for _, mark in self.drawn.things],
            "owned": [owner for owner, _ in self.drawn.things],
            "looks": list(map(list, self.looks.things)),
            "legend": legend,
            "roles": self.roles.things,
            "lines": self.lines.things,
        }

    def mark_number(self, mark: Mark) -> int:
        """Return the number of a mark; equal ones share it."""
        return self.drawn((self.owners(mark.owner), tuple(self.mark(mark))))

    def states(self, film: LabFilm) -> Iterator[list]:
        for state in film.states:
            marks = film.scenes[state.scene].marks
            looks = {change.mark: self.look(marks[change.mark], change) for change in state.changes}
            yield [
                self.line_number(state.title),
                self.line_number(state.sentence),
                state.scene,
                flat(looks.items()),
                self.owners(state.focus),
                list(map(self.line_number, state.text.split("\n"))),
                list(map(self.transition, state.transitions)),
                list(state.reached_by or ()) or 0,
                list(state.chosen),
                list(map(total_data, state.totals)),
            ]

    def look(self, mark: Mark, change: Change) -> int:
        runs = 0 if change.runs is None else tuple(self.runs(change.runs))
        return self.looks((self.roles(mark.role), self.roles(change.state or mark.state), runs))

    def transition(self, transition: Transition) -> int | list[int]:
        if not transition.error:
            return transition.to
        return [transition.to, self.line_number(transition.error)]


def action(nr: int, button: Button) -> list:
    adds = list(map(plain, button.adds or ())) or 0
    key = DIGITS[nr : nr + 1] * (button.group != "turn")
    words, does, group = map(shown, (button.words, button.does, button.group))
    return [words, does, key, adds, group, int(button.anew), shown(button.name)]


def question(goal: Goal) -> list:
    ends = []
    for end in goal.ends:
        stops = [stop if isinstance(stop, int) else list(stop) for stop in end.stops]
        ends.append([end.fewest, sorted(end.pressed), stops])
    return [shown(goal.words), ends]


def total_data(total: tuple[float, ...] | None) -> list | int:
    """Return the numbers of a stack, 0 where it has no tensor."""
    return 0 if total is None else list(map(plain, total))


def plain(number: float) -> float | int:
    """Return a number without a point where it is whole."""
    return int(number) if number == int(number) else number
