"""Cut out of the lessons' exercises how a function is tried, without the truth beside it.

A function that a student wrote can only be tried where it lives, in the sandbox. What is needed
for that is the `reader` of an exercise: its inputs, and what is looked at afterwards. From the
source of lesson_NN.py this takes those definitions that the reader needs, and nothing else. Knows
no torch, and runs nothing.
"""

import ast
from pathlib import Path

import helpers.exercises

LESSONS = Path(helpers.exercises.__file__).parent / "lessons"
ROOM = "helpers.exercises.lessons."


def source_of(lesson):
    return (LESSONS / f"lesson_{lesson}.py").read_text("utf-8")


def readers(source, functions):
    """Return Python source that defines READERS: of those `functions` that can be tried apart."""
    tree = ast.parse(source)
    apart = separable(source)
    names, entries = set(), []
    for id, call in _exercises(tree):
        if id in functions and id in apart:
            names |= _names(call["reader"])
            entries.append(f"    {id!r}: {ast.unparse(call['reader'])},")
    needed = _reached(tree, names)
    kept = [_only(statement, needed) for statement in tree.body if _defined(statement) & needed]
    return "\n".join([*map(ast.unparse, kept), "READERS = {", *entries, "}", ""])


def separable(source):
    """Return the ids of exercises whose reader uses nothing here that computes the truth."""
    tree = ast.parse(source)
    ours = set().union(*(_defined(node) for node in tree.body if not _is_import(node)))
    ids = set()
    for id, call in _exercises(tree):
        truth = _names(call.get("truth") or call.get("solution") or call["reference"])
        if not _reached(tree, _names(call["reader"])) & truth & ours:
            ids.add(id)
    return ids


def rooms(source):
    """Return the modules beside the lessons that a source imports, such as ["watching"]."""
    modules = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith(ROOM):
            modules.append(statement.module.removeprefix(ROOM))
    return modules


def _exercises(tree):
    """Yield the id and the arguments of each `Exercise(...)` that writes out reader and truth."""
    for statement in tree.body:
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Exercise":
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            if "reader" in keywords and {"truth", "solution", "reference"} & set(keywords):
                yield keywords["id"].value, keywords


def _reached(tree, names):
    """Return `names` and all that their definitions at the top of the module use, in turn."""
    reached = set(names)
    while True:
        before = len(reached)
        for statement in tree.body:
            if _defined(statement) & reached:
                reached |= _names(statement)
        if len(reached) == before:
            return reached


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _defined(statement):
    """Return the names that a statement at the top of a module binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if _is_import(statement):
        return {_bound(alias) for alias in statement.names}
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return set().union(*(_names(target) for target in targets if target is not None))


def _only(statement, needed):
    """Return an import without the names that nobody needs; any other statement as it is."""
    if not _is_import(statement):
        return statement
    statement.names = [alias for alias in statement.names if _bound(alias) in needed]
    return statement


def _bound(alias):
    return alias.asname or alias.name.partition(".")[0]


def _is_import(statement):
    return isinstance(statement, ast.Import | ast.ImportFrom)
