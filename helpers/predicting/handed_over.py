"""Write what a student may hand to a teacher, by choice: minutes and first guesses. Sends nothing."""

from helpers.lessons import listings
from helpers.predicting.kinds import kind_of
from helpers.predicting.questions import every
from helpers.progress_file import EXERCISES, PREDICTIONS, count, progress_path

FILE = "for_my_teacher.txt"
HEAD = """\
Minutes and first guesses, from the course on PyTorch's graphs. This file hasn't been sent
anywhere. Hand it over if you like. The minutes are those in which you answered, without the pauses.
"""


def written(sections: dict[str, dict[str, dict]]) -> str:
    """Write the file; return what to say of it."""
    path = progress_path().with_name(FILE)
    parts = [of_lesson(number, sections) for number in listings()]
    text = "\n".join([HEAD, *filter(None, parts)])
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        return f"{FILE} couldn't be written ({error.strerror})."
    return f"Written: {FILE}, beside {path.name}. Read it before you hand it over. It hasn't been sent anywhere."


def of_lesson(number: str, sections: dict[str, dict[str, dict]]) -> str:
    """Return the lines of one lesson, "" where nothing was answered."""
    minutes, lines = 0, []
    for section in (PREDICTIONS, EXERCISES):
        for name, record in sorted(sections[section].items()):
            if name[:2] == number:
                minutes += count(record, "minutes")
                lines += guess_line(name, record)
    if not lines and not minutes:
        return ""
    return "\n".join([f"{number} {listings()[number].title}: {minutes} minutes", *lines, ""])


def guess_line(name: str, record: dict) -> list[str]:
    """Return the first guess on a question; none where nobody grades it."""
    asked = every().get(name)
    if asked is None or not asked.right:
        return []
    kind = kind_of(asked)
    first = kind.read(asked, record.get("first", ""))
    if not first:
        return []
    verdict = "right" if kind.is_right(asked, first) else "wrong"
    sure = ", sure" if record.get("sure") is True else ""
    return [f"  {name}  {verdict}{sure}: {first}"]
