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
    """Return the source of one lesson's exercises."""
    return (LESSONS / f"lesson_{lesson}.py").read_text("utf-8")


def readers(source, functions):
    """Return Python source that defines READERS: of those `functions` that can be tried apart."""
    tree = ast.parse(source)
    apart = separable(source)
    calls = {id: call for id, call in _exercises(tree) if id in functions and id in apart}
    needed = _reached(tree, set().union(*(_names(call["reader"]) for call in calls.values())))
    kept = [_only(statement, needed) for statement in tree.body if _defined(statement) & needed]
    entries = [f"    {id!r}: {ast.unparse(call['reader'])}," for id, call in calls.items()]
    return "\n".join([*map(ast.unparse, kept), "READERS = {", *entries, "}", ""])


def separable(source):
    """Return the ids of exercises whose reader uses nothing here that computes the truth."""
    tree = ast.parse(source)
    ours = set().union(*(_defined(one) for one in tree.body if not _is_import(one)))
    found = set()
    for id, call in _exercises(tree):
        truth = _names(call.get("truth") or call["solution"])
        if not _reached(tree, _names(call["reader"])) & truth & ours:
            found.add(id)
    return found


def rooms(source):
    """Return the modules beside the lessons that a source imports, such as ["watching"]."""
    found = [one.module for one in ast.parse(source).body if isinstance(one, ast.ImportFrom)]
    return [module.removeprefix(ROOM) for module in found if module.startswith(ROOM)]


def _exercises(tree):
    """Yield the id and the arguments of each `Exercise(...)` that writes out reader and truth."""
    for statement in tree.body:
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Exercise":
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            if "reader" in keywords and {"truth", "solution"} & set(keywords):
                yield keywords["id"].value, keywords


def _reached(tree, names):
    """Return `names` and all that their definitions at the top of the module use, in turn."""
    reached = set(names)
    while True:
        used = [_names(one) for one in tree.body if _defined(one) & reached]
        more = set().union(*used) - reached
        if not more:
            return reached
        reached |= more


def _names(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


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
