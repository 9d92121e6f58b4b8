"""Put the stages of the engine together, in order and in one namespace. No torch."""

import ast
import linecache
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "stages"
STAGES = tuple(sorted(path.stem.removeprefix("stage_") for path in FOLDER.glob("stage_*.py")))
YOURS = "# yours\n"


def text(stage: str) -> str:
    """Return the code of one stage, as it is shown."""
    source = (FOLDER / f"stage_{stage}.py").read_text("utf-8")
    return source[source.index("# given") :]


def given(stage: str) -> str:
    """Return what a stage gives to the student."""
    return text(stage).partition(YOURS)[0].rstrip() + "\n"


def yours(stage: str) -> str:
    """Return what a student would write."""
    return text(stage).partition(YOURS)[2]


def with_dots(stage: str) -> str:
    """Return a stage in which dots stand for what a student would write."""
    tree = ast.parse(yours(stage))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(...))]
    return f"{given(stage)}\n\n{YOURS}{ast.unparse(tree)}\n"


def engine(texts: Mapping[str, str]) -> dict[str, object]:
    """Run stages, each under its name, in a fresh namespace, and return that."""
    names: dict[str, object] = {"__name__": "my_engine"}
    for stage, source in texts.items():
        run_in(names, stage, source)
    return names


def run_in(names: dict[str, object], stage: str, source: str) -> None:
    """Run the code of a stage; errors and `inspect` find its lines."""
    place = place_of(stage)
    linecache.cache[place] = len(source), None, source.splitlines(True), place
    exec(compile(source, place, "exec"), names)


def place_of(stage: str) -> str:
    """Return what stands for a file's name in the traceback of a stage."""
    return f"<my_engine {stage}>"


def defined(source: str) -> list[str]:
    """Return the names that a source defines at its top, in order."""
    names = [name for statement in ast.parse(source).body for name in names_of(statement)]
    return list(dict.fromkeys(names))


def names_of(statement: ast.stmt) -> list[str]:
    """Return what a statement defines; of `Node.backward = …` it is Node."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return []
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    ]


def count(source: str) -> int:
    """Count lines of code: none that is empty, a comment or a docstring."""
    quoted: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quoted |= set(range(node.lineno, node.end_lineno + 1))
    rows = enumerate(source.splitlines(), 1)
    return sum(bool(row.strip()) and row.strip()[0] != "#" and nr not in quoted for nr, row in rows)


def lines(texts: Mapping[str, str]) -> int:
    """Count the lines of an engine: of what several stages define, the last one counts."""
    last = {}
    for source in texts.values():
        for statement in ast.parse(source).body:
            code = ast.get_source_segment(source, statement)
            is_named = isinstance(statement, ast.FunctionDef | ast.ClassDef)
            last[statement.name if is_named else code] = count(code)
    return sum(last.values())
