"""Rules about what must not stand in a lesson: traces of the machine, of the hour, of the network."""

import re

PATH = re.compile(
    r"(?<![\w.:/\\<>~…])(?:~|[A-Za-z]:)?/[\w.+-]+/[\w.+-]+|~[/\\][\w.]+|\b[A-Za-z]:\\+\w+"
)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
TIMESTAMP = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d:\d\d:\d\d\b")
DURATION = re.compile(
    r"\b\d[\d.,]*(?:e-?\d+)?\s?(?:s|ms|µs|us|ns|secs?|seconds?|(?:milli|micro|nano)seconds?)\b"
)
CLOCK = re.compile(
    r"^\s*%%?time(?:it)?\b|\b(?:perf_counter|process_time|time\.time|timeit|datetime)\b", re.M
)
NETWORK = re.compile(
    r"https?://|\b(?:import|from)\s+(?:urllib|requests|httpx|http|socket)\b|\burlopen\b|\btorch\.hub\b"
    r"|\bdownload\s*=\s*True|^\s*[!%]\s*(?:pip|conda|git|wget|curl)\b",
    re.M,
)


def no_path_of_a_machine(lesson):
    """A path says where the author sat, and differs for everyone else."""
    yield from _found(
        lesson.cells, PATH, "a path of this machine", "print something that is true elsewhere too"
    )


def no_address_in_memory(lesson):
    """An address differs in every run; normal form writes 0x… in its place."""
    yield from _found(
        lesson.cells, ADDRESS, "an address", "show the type's name, or run `make refresh`"
    )


def no_hour_of_the_day(lesson):
    """Outputs are true on every day."""
    yield from _found(lesson.cells, TIMESTAMP, "an hour of some day", "leave it out")


def no_measured_seconds(lesson):
    """Outputs hold counts and bytes; a claim about time is an asserted ratio with a wide margin."""
    for cell in lesson.code:
        for found in DURATION.finditer(cell.shown):
            yield f"{cell} shows the duration {found[0]!r}: assert a ratio instead."
        for found in CLOCK.finditer(cell.source):
            if "assert" not in cell.source:
                yield f"{cell} reads a clock ({found[0].strip()!r}): assert a ratio with a wide margin there."


def no_cell_reaches_for_the_network(lesson):
    """Lessons run in rooms without a network; links stand in text."""
    for cell in lesson.code:
        for found in NETWORK.finditer(cell.source):
            yield f"{cell} says {found[0].strip()!r}: a lesson fetches nothing; make the data in the cell."


def no_silencing_semicolon(lesson):
    """A cell ends on what it shows."""
    for cell in lesson.code:
        if cell.source.rstrip().endswith(";"):
            yield f"{cell} ends in `;`: end it on an expression or an assert."


def _found(cells, pattern, what, remedy):
    """Complain about every match of `pattern` in sources and in what outputs show, pictures
    included.
    """
    for cell in cells:
        for place, text in (("holds", cell.source), ("shows", cell.shown)):
            for found in pattern.finditer(text):
                yield f"{cell} {place} {what}, {found[0]!r}: {remedy}."


RULES = (
    no_path_of_a_machine,
    no_address_in_memory,
    no_hour_of_the_day,
    no_measured_seconds,
    no_cell_reaches_for_the_network,
    no_silencing_semicolon,
)
