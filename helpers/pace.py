"""Say when something that was missed comes back: 1, 3, 7 and 20 days after its last answer.

Reads and makes records of the progress file, and keeps none itself. `day` in a record is the date
of the last answer that counted, `box` how often the answer was right since it was last missed. Both
may lack, or be anything: an older course wrote the record, or somebody edited it. Hours are never
stored. `minutes` in a record is how long one worked before it was answered. No torch.
"""

import time
from datetime import date

DAYS = (1, 3, 7, 20)
LEARNT = len(DAYS)  # the box from which nothing comes back
EVER = 100_000  # days overdue, of a record without a date that can be
PAUSE = 15  # minutes without an answer that count as work; what is longer is a pause
_last = [time.monotonic()]


def today() -> date:
    return date.today()


def answered_today() -> dict:
    """Return what a record says of an answer that was given now."""
    record: dict = {"day": today().isoformat()}
    minutes = minutes_worked()
    return record | {"minutes": minutes} if minutes else record


def minutes_worked() -> int:
    """Return the whole minutes since the last answer; the rest counts for the next one."""
    passed = (time.monotonic() - _last[0]) / 60
    if passed > PAUSE:
        _last[0] = time.monotonic()
        return PAUSE
    _last[0] += 60 * int(passed)
    return int(passed)


def reviewed(record: dict, is_right: bool) -> dict:
    """Return a record after an answer at review; as it is where another notebook was faster."""
    if overdue(record) < 0:
        return record
    box = box_of(record) + 1 if is_right else 0
    return record | {"day": today().isoformat(), "box": box}


def overdue(record: dict) -> int:
    """Return for how many days a review is overdue, less than 0 where it is not due yet.

    Without a date it has waited for ever. So has what was answered in the future, by a clock that
    has been set back; but another machine may be a day ahead.
    """
    box, day = box_of(record), day_of(record)
    if box >= LEARNT:
        return -EVER
    if day is None or is_to_come(record):
        return EVER
    return (today() - day).days - DAYS[box]


def comes_back(record: dict) -> str:
    if box_of(record) >= LEARNT:
        return "You know this one now, so it won't come back."
    days = max(-overdue(record), 0)
    return f"It comes back in {days} day{'s' * (days != 1)}."


def is_to_come(record: dict) -> bool:
    """Tell whether a record has a date that another time zone does not explain."""
    day = day_of(record)
    return day is not None and (day - today()).days > 1


def day_of(record: dict) -> date | None:
    """Return the date of a record, None where it has none that can be read."""
    try:
        return date.fromisoformat(record.get("day"))
    except (TypeError, ValueError):
        return None


def box_of(record: dict) -> int:
    """Return the box of a record, 0 where it has none that can be."""
    box = record.get("box")
    return min(box, LEARNT) if type(box) is int and box > 0 else 0
