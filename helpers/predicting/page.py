"""Draw the page of `progress`: the map of the lessons, and beside each lesson a mark for every
question and exercise. Links lead to the notebooks; colours follow the theme, and signs say the same.
"""

from collections.abc import Iterable
from pathlib import Path

from autograd_graphs.answer_card import marked
from autograd_graphs.drawing.palette import DARK, LIGHT
from autograd_graphs.drawing.svg import safe
from helpers.exercises.exercise import exercises
from helpers.lessons import Listing, arrows, is_gone, is_in_lesson, listings
from helpers.predicting.due import Due, due, is_wrong, was_helped
from helpers.predicting.kinds import kind_of
from helpers.predicting.questions import Question, every
from helpers.progress_file import EXERCISES, PREDICTIONS, count

ROW, LANE, LEFT, DOT = 38, 16, 10, 6  # px of the map
SIGNS = {"right": "✓", "later": "↻", "helped": "◐", "missed": "✗", "said": "✎", "open": "·"}
LEGEND = (
    ("right", "right at first"),
    ("later", "solved at a later try"),
    ("helped", "solved with help"),
    ("missed", "missed"),
    ("said", "explained, not graded"),
    ("open", "open"),
)
COLOURS = ("ground", "rim", "ink", "faint", "leafrim", "done", "doneground", "warn", "now")
VARIABLES = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in COLOURS)
HEAD = "".join(
    f'<th scope="col">{title}</th>' for title in ("", "Lesson", "Rounds", "Exercises", "Review")
)
CSS = (Path(__file__).parent / "browser" / "progress.css").read_text(encoding="utf-8")
STYLE = f".progress-page{{{VARIABLES}}}\n{CSS}"


def page(sections: dict[str, dict[str, dict]], summary: Iterable[str], again: list[str]) -> str:
    """Return the page; `summary` are sentences above it, `again` what to look at again."""
    today = due(sections)
    rows = [row(listing, sections, today) for listing in listings().values()]
    begun = set()
    for section in sections.values():
        begun.update(name[:2] for name in section if not is_gone(name))
    lanes_cell = f'<td class="progress-lanes" rowspan="{len(rows)}">{lanes_svg(begun)}</td>'
    rows[0] = rows[0].replace("<tr>", f"<tr>{lanes_cell}", 1)
    sentences = "".join(f"<p>{marked(text)}</p>" for text in summary if text)
    return (
        f'<div class="progress-page"><style>{STYLE}</style>{sentences}'
        f'<table class="progress-map"><thead><tr>{HEAD}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table><p>{legend()}</p>{folded(again)}</div>"
    )


def row(listing: Listing, sections: dict[str, dict[str, dict]], today: list[Due]) -> str:
    """Return a lesson as a row: a link, its marks, and how much of it is due."""
    number = listing.number
    names = [item.name for item in today if item.lesson == number]
    guessed, tried, again = "", "", ""
    for asked in every().values():
        if asked.id.startswith(number):
            guessed += mark(asked.id, asked.title, of_round(asked, sections[PREDICTIONS]), names)
    for exercise in exercises(number):
        if is_in_lesson(exercise.id):
            state = of_exercise(exercise.id, sections[EXERCISES])
            tried += mark(exercise.id, "exercise", state, names)
    if names:
        again = f'<span class="progress-due">{len(names)} due</span>'
    link = f'<a href="{safe(listing.link)}"><b>{number}</b> {safe(listing.title)}</a>'
    cells = f"<td>{guessed}</td><td>{tried}</td><td>{again}</td>"
    return f'<tr><th scope="row">{link}</th>{cells}</tr>'


def of_round(asked: Question, records: dict[str, dict]) -> str:
    """Return the state of a question: "right", "missed", "open", or "said" where nobody grades it."""
    record = records.get(asked.id, {})
    if not kind_of(asked).read(asked, record.get("first", "")):
        return "open"
    if not asked.right:
        return "said"
    return "missed" if is_wrong(asked, record) else "right"


def of_exercise(name: str, records: dict[str, dict]) -> str:
    record = records.get(name, {})
    tries, helped = count(record, "tries"), was_helped(record)
    if record.get("solved") is not True:
        if tries or helped:
            return "missed"
        return "open"
    if helped:
        return "helped"
    if tries > 1:
        return "later"
    return "right"


def mark(name: str, title: str, state: str, due_names: list[str]) -> str:
    """Return a small square with a sign; what is due has a rim more."""
    words = f"{name}, {title}: {dict(LEGEND)[state]}"
    more = ""
    if name in due_names:
        words, more = f"{words}, due today", " progress-again"
    look = f'class="progress-mark progress-{state}{more}"'
    words = safe(words.replace("`", ""))
    return f'<span {look} role="img" title="{words}" aria-label="{words}">{SIGNS[state]}</span>'


def legend() -> str:
    """Say what the signs mean."""
    signs = '<span class="progress-mark progress-again">&nbsp;</span> due today'
    for state, words in LEGEND[::-1]:
        sign = f'<span class="progress-mark progress-{state}">{SIGNS[state]}</span>'
        signs = f"{sign} {words} &nbsp; {signs}"
    return f"<small>{signs}</small>"


def folded(again: list[str]) -> str:
    if not again:
        return ""
    items = "".join(f"<li>{marked(text)}</li>" for text in again)
    return f"<details><summary>Look again at ({len(again)})</summary><ul>{items}</ul></details>"


def lanes_svg(begun: set[str]) -> str:
    """Return the map: a dot for each lesson, and lines down to those that build on it."""
    places, dots = {}, ""
    for at, listing in enumerate(listings().values()):
        x, y = LEFT + LANE * listing.lane, ROW * at + ROW // 2
        places[listing.number] = (x, y)
        look = ' class="is-begun"' if listing.number in begun else ""
        dots += f'<circle cx="{x}" cy="{y}" r="{DOT}"{look}/>'
    lines = "".join(line(places[start], places[end]) for start, end in arrows())
    wide, high = LEFT + max(x for x, _ in places.values()), ROW * len(places)
    title = "<title>Which lesson leads to which, from top to bottom</title>"
    return f'<svg width="{wide}" height="{high}" role="img">{title}{lines}{dots}</svg>'


def line(start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return a line down; where it changes lanes, it does so beside the lesson of the main lane."""
    (x, y), (to_x, to_y) = start, end
    if to_x >= x:
        bend = f"C{x} {y + ROW // 2} {to_x} {y + ROW // 2} {to_x} {y + ROW}V{to_y}"
    else:
        bend = f"V{to_y - ROW}C{x} {to_y - ROW // 2} {to_x} {to_y - ROW // 2} {to_x} {to_y}"
    return f'<path d="M{x} {y}{bend}"/>'
