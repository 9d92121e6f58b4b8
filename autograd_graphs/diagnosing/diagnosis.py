"""Hold `diagnose`, which shows what an error means, where it came from and what to try.

It never raises.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch

from autograd_graphs.answer_card import Card, rows, show, strip_marks
from autograd_graphs.diagnosing.catalogue import SAID, Cause, Symptom, book
from autograd_graphs.diagnosing.causes import found_in
from autograd_graphs.diagnosing.course_links import course
from autograd_graphs.diagnosing.errors import (
    cell_of,
    cells_ran_since,
    family,
    inside,
    is_error,
    last_error,
    learners_lines,
    read_timed,
    text_of,
    types_of,
)
from autograd_graphs.diagnosing.facts import Facts, Finding, Spot, each, spot_in
from autograd_graphs.diagnosing.failing_line import LED, scene
from autograd_graphs.diagnosing.message_clues import clue
from autograd_graphs.diagnosing.rerun import Watch, found_again, offer, run_again
from autograd_graphs.diagnosing.sources import cells_in
from autograd_graphs.diagnosing.step_check import examined
from autograd_graphs.diagnosing.warnings_heard import Heard, last_warning, listen
from autograd_graphs.looking.refusals import is_plain_words
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import caller, is_ipythons, named
from autograd_graphs.plain_values import describe
from autograd_graphs.text import first_sentence, fold

MOST_LINES = 3  # of the learner's, in one finding
ROOM = 3  # rows of a card for what an error means

listen()


def diagnose(
    error: object = None, loss: object = None, optimizer: object = None, *, rerun: bool = False
) -> None:
    """Show what an error means, which tensor, operation and line it tells of, what to try, and the
    lesson; or, as `diagnose(model, loss, optimizer)`, how healthy one training step is.

    Takes an exception, a warning, or the text of a message; without one, the last error or warning
    of this session. With a loss nothing is changed: no gradient, no weight, no random number. With
    `rerun` the cell of the error runs once more and is watched: what it changes, it changes again.
    Says so where it does not know. Never raises; an interrupt passes.
    """
    try:
        listen()
        if rerun:
            card = _watched(error)
        elif loss is not None or optimizer is not None or isinstance(error, torch.nn.Module):
            card = _checked(error, loss, optimizer)
        else:
            card = _diagnosed(error)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        name = type(fault).__name__
        text = f"diagnose stopped ({name}). That's its own fault, not yours. Please report it."
        card = Card("wrong", "Stopped", "", text, text)
    show(card)


def _checked(model: object, loss: object, optimizer: object) -> Card:
    findings, figures = examined(model, loss, optimizer, caller())
    look, word = "right", "I found nothing wrong in this step"
    if findings:
        count = each(findings, "one thing", f"{len(findings)} things")
        look, word = "partly", f"I found {count}"
    lines = [f"{word}."]
    for nr, finding in enumerate(findings, 1):
        head, *rest = _lines_of(finding)
        lines += [each(findings, head, f"{nr}. {head}"), *rest, _lesson(None, finding)]
    lines += figures
    if loss is None:
        lines.append(SAID["no_loss"])
    if optimizer is not None and not findings:
        lines.append(SAID["rounds"])
    return _card(look, word, "", lines)


def _watched(error: object) -> Card:
    if not is_error(error):
        error = last_error()
    note, new, watch = run_again(error)
    if new is None:
        return _nothing(note)
    return _of_error(new, note, False, watch)


def _diagnosed(error: object) -> Card:
    if error is None:
        return _of_last(last_error(), last_warning())
    if isinstance(error, str):
        return _of_text(error[:10_000])
    if not is_error(error):
        return _nothing(SAID["odd"].format(describe(error)))
    read_timed(error)
    return _of_error(error, "", cells_ran_since(error) is not False)


def _of_last(error: BaseException | None, warned: Heard | None) -> Card:
    """Make the card of the last error or warning: an older error is said to be one."""
    if warned is not None and is_newer(warned, error):
        return _of_warning(warned)
    if error is None:
        return _nothing(SAID["nothing"])
    read_timed(error)
    is_past, note = cells_ran_since(error), ""
    if is_past is None:
        note = SAID["perhaps_older"]
    elif is_past:
        note = SAID["older"].format(cell_of(error))
    return _of_error(error, note, is_past is not False)


def is_newer(warned: Heard, error: BaseException | None) -> bool:
    """Say whether a warning came after an error: in a later cell, or in one that ended well."""
    if error is None:
        return True
    if sys.exc_info()[1] is error:
        return False
    number = cell_of(error)
    if not warned.cell or number is None:
        return cells_ran_since(error) is True
    return warned.cell > number


def _of_warning(warned: Heard) -> Card:
    kind, text = warned.category.__name__, warned.text[:10_000]
    kinds = tuple(kind.__name__ for kind in warned.category.__mro__)
    symptom = book().find(kinds, text)
    spot = spot_of_warning(warned)
    facts = Facts(text, None, False)
    facts.heard, facts.cell = spot, warned.cell
    with quietly():
        found = found_in(facts)
        lines = _lines_of(found, facts)
    page = [*lines, _lesson(symptom, found)]
    if not lines:
        page = [unknown()]
        if symptom is not None:
            page = [_means(symptom), *_advice(symptom)]
        if spot:
            page.insert(0, f"Look at {spot}")
    head = f"{kind}: {first_sentence(text)}"
    note = ""
    if warned.cell and warned.cell < len(cells_in(warned.space)) - 2:
        note = f"The cell before this one gave no warning. This one is from cell [{warned.cell}]."
    return _card("partly", kind, first_sentence(text), [head, note, *page], page)


def spot_of_warning(warned: Heard) -> Spot | None:
    if warned.made is None:
        return None
    known = {name: thing for name, thing in named(warned.space) if not is_ipythons(name)}
    return spot_in(warned.made, warned.line, warned.space, known, warned.cell)


def _nothing(text: str) -> Card:
    return Card("partly", "No error", "", text, fold(text))


def _of_text(text: str) -> Card:
    symptom = book().find((), text)
    head = first_sentence(text) or "an empty text"
    if not symptom:
        return _card("partly", "Not known", head, [head, unknown()])
    page = [head, *_page(symptom, clue(text), [])]
    return _card("wrong", "A message", head, page, [_briefly(symptom), *_advice(symptom)])


def _of_error(error: BaseException, note: str, is_past: bool, watch: Watch | None = None) -> Card:
    """Tell of the first member of the family whose message is known; else of the exception itself.

    `note` is said first; `is_past`: cells may have run since; `watch` has seen the cell run.
    """
    for member in family(error):
        text = text_of(member)
        symptom = book().find(types_of(member), text)
        near = member if learners_lines(member.__traceback__) else error
        facts = Facts(text, near.__traceback__, is_past)
        found = _finding(facts, watch)
        lines = _lines_of(found, facts)
        if not symptom and not lines:
            continue
        head = error if is_plain_words(error) else member
        origin = _origin(member, error)
        seen = scene(facts, getattr(symptom, "look", ""), bool(lines)) or _no_scene(error)
        if lines:
            page = _with_scene(lines, seen)
            lesson = _lesson(symptom, found)
            return _of_head(head, [note, *page, origin, lesson], [note, *page])
        is_led = "".join(seen[:1]).startswith(LED)
        more = "" if watch else offer(error, text, is_led)
        page = [note, *_page(symptom, clue(text), [origin, *seen, more])]
        first = [note, *seen[:1], _briefly(symptom), *seen[1:2], *_advice(symptom), more]
        return _of_head(head, page, first)
    seen = scene(Facts("", error.__traceback__, is_past)) or _no_scene(error)
    said = SAID["interrupted"] if isinstance(error, KeyboardInterrupt) else unknown()
    return _of_head(error, [note, said, *seen])


def unknown() -> str:
    return SAID["unknown"] if course() else SAID["unknown_alone"]


def _origin(member: BaseException, error: BaseException) -> str:
    """Say how an exception belongs to the one that was raised; "" of that itself."""
    if member is error or is_plain_words(error):
        return ""
    others = len(inside(error))
    if others > 1:
        return f"It is one of the {others} errors in {_head(error)}"
    return f"It led to {_head(error)}"


def _lesson(symptom: Symptom | None, found: Finding | None) -> str:
    """Name the lesson of what was found, or else that of the first cause of a symptom."""
    number = found.lesson if found else ""
    if symptom and not number:
        number = symptom.causes[0].lesson
    return f"Lesson {number} teaches this." if number and course() else ""


def _with_scene(lines: list[str], seen: list[str]) -> list[str]:
    """Return a finding with what else is seen at its line, and no line twice."""
    led, where, *tensors = seen or ("", "")
    what, *looks, remedy = lines
    if led and all(look.removeprefix("Look at ") in led for look in looks):
        looks = [led]
    here = where.partition(": ")[2]
    if any(look.endswith(f": {here}") for look in looks):
        where = "The tensors of that line as they are now:" if tensors else ""
    return [what, *looks, remedy, where, *tensors]


def _finding(facts: Facts, watch: Watch | None) -> Finding | None:
    finding = None
    try:
        with quietly():
            if watch:
                finding = found_again(facts, watch)
            finding = finding or found_in(facts)
    except Exception:  # whatever a program is like: what is known without it is still said
        return None
    return finding


def _lines_of(finding: Finding | None, facts: Facts | None = None) -> list[str]:
    if finding is None:
        return []
    lines = finding.lines
    if facts:
        lines = map(facts.as_told, lines)
    lines = [f"Look at {line}" for line in dict.fromkeys(lines)][:MOST_LINES]
    return [finding.what, *lines, f"Try: {finding.remedy}."]


def _no_scene(error: BaseException) -> list[str]:
    """Say why no line is shown; nothing of a warning, which has none."""
    if isinstance(error, Warning):
        return []
    return ["", SAID["no_traceback"] if error.__traceback__ is None else SAID["no_line"]]


def _of_head(error: BaseException, lines: list[str], first: Sequence[str] = ()) -> Card:
    look = "partly" if isinstance(error, Warning) else "wrong"
    sentence = first_sentence(text_of(error))
    return _card(look, types_of(error)[0], sentence, [_head(error), *lines], first)


def _head(error: BaseException) -> str:
    text = first_sentence(text_of(error))
    return f"{types_of(error)[0]}: {text}" if text else types_of(error)[0]


def _page(symptom: Symptom, hint: str, seen: list[str]) -> list[str]:
    return [_means(symptom), hint, *seen, *_advice(symptom)]


def _means(symptom: Symptom) -> str:
    return f"What it means: {symptom.means} {symptom.source}".rstrip()


def _briefly(symptom: Symptom) -> str:
    """Return what a symptom means; of a long text its beginning, so that a remedy is seen too."""
    means = _means(symptom)
    if rows(means) <= ROOM:
        return means
    return f"What it means: {first_sentence(symptom.means)}"


def _advice(symptom: Symptom) -> list[str]:
    question = "It's often one of these. What to try:"
    if len(symptom.causes) == 1:
        question = "The usual cause, and what to try:"
    return [question, *map(_cause, symptom.causes)]


def _cause(cause: Cause) -> str:
    lesson = f" (lesson {cause.lesson})" if cause.lesson and course() else "."
    return f"  - {cause.what}. Try: {cause.remedy}{lesson}"


def _card(look: str, word: str, title: str, lines: list[str], first: Sequence[str] = ()) -> Card:
    """Make the card; its text is one line after the other, the first of them the head.

    As HTML it begins with the lines `first`: what they leave out may be folded.
    """
    head, *rest = filter(None, lines)
    first = list(filter(None, first))
    text = "\n".join(fold(strip_marks(line)) for line in [head, *rest])
    body = [*first, *[line for line in rest if line not in first]]
    return Card(look, word, title, "\n".join(body), text)
