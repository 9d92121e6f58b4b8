"""One notebook as the rules read it: cells with number, kind, slide type and the text of outputs."""

import base64
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat

from course.workspace import is_claim, short

SVG_URI = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=\s]+)")
DATA_URI = re.compile(r"data:image/[\w.+-]+;base64,([A-Za-z0-9+/=\s]+)")
STYLE = re.compile(r' style="[^"]*"')  # its sizes are no numbers of the lesson
PICTURES = ("image/svg+xml", "image/png", "image/jpeg")


@dataclass(frozen=True)
class Cell:
    """A cell; `number` counts from 1 over all cells of the file, as a reader of the file would."""

    number: int
    node: dict

    def __str__(self):
        first = self.source.strip().split("\n")[0][:50]
        return f"cell {self.number} ({first!r})"

    @property
    def source(self) -> str:
        return self.node["source"]

    @property
    def is_code(self) -> bool:
        return self.node["cell_type"] == "code"

    @property
    def id(self) -> str:
        return self.node.get("id", "")

    @property
    def course(self) -> dict:
        """What the cell says of its place in the course; {} where it says nothing."""
        return self.node["metadata"].get("course", {})

    @property
    def role(self) -> str:
        return self.course.get("role", "")

    @property
    def slide(self) -> str:
        return self.node["metadata"].get("slideshow", {}).get("slide_type", "")

    @property
    def tags(self) -> list[str]:
        return self.node["metadata"].get("tags", [])

    @property
    def outputs(self) -> list[dict]:
        return self.node.get("outputs", [])

    @property
    def errors(self) -> list[dict]:
        return [output for output in self.outputs if output["output_type"] == "error"]

    @cached_property
    def shown(self) -> str:
        """All text of its outputs: streams, errors, text data, and the SVG inside encoded pictures."""
        return "\n".join(text for output in self.outputs for text in _texts(output))


def _texts(output):
    yield output.get("text", "")
    yield output.get("evalue", "")
    yield from output.get("traceback", [])
    for kind, value in output.get("data", {}).items():
        if isinstance(value, str) and (kind.startswith("text/") or kind == "image/svg+xml"):
            yield STYLE.sub("", DATA_URI.sub("", value))
            yield from (DATA_URI.sub("", one) for one in decoded_pictures(value))


def decoded_pictures(text):
    """Yield the text of each SVG that stands in `text` as a base64 data URI."""
    for encoded in SVG_URI.findall(text):
        yield base64.b64decode(encoded).decode("utf-8", errors="replace")


@dataclass(frozen=True)
class Lesson:
    """A notebook: its file name, the text of the file and what nbformat reads there."""

    name: str
    text: str

    @classmethod
    def at(cls, path: Path) -> "Lesson":
        return cls(path.name, path.read_text(encoding="utf-8"))

    @property
    def number(self) -> str:
        """Its number, or its name where it has none: "03", "clinic"."""
        return short(self.name.removesuffix(".ipynb"))

    @cached_property
    def node(self):
        return nbformat.reads(self.text, as_version=4)

    @cached_property
    def with_claims(self) -> list[Cell]:
        return [Cell(number, node) for number, node in enumerate(self.node.cells, start=1)]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells but the claims, which nobody reads in a lesson and no other rule looks at."""
        return [cell for cell in self.with_claims if not is_claim(cell.node)]

    @cached_property
    def claims(self) -> list[Cell]:
        return [cell for cell in self.with_claims if is_claim(cell.node)]

    @cached_property
    def code(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.is_code]

    @cached_property
    def has_roles(self) -> bool:
        """Tell whether any of its cells says what it is for."""
        return any(cell.role for cell in self.cells)

    @cached_property
    def read_by_students(self) -> list[Cell]:
        """All cells but the speaker's notes, which do not count as cells of the lesson."""
        return [cell for cell in self.cells if cell.slide != "notes"]
