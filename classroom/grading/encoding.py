"""Write answers as JSON and read them back: plain values, and how the cases of a function ended.

Used inside the sandbox and outside of it. What comes back was written by a student's process, so
reading it trusts nothing but the JSON parser.
"""

import json

from autograd_graphs.guard import Failed
from autograd_graphs.plain_values import NotRead, describe, plain
from helpers.exercises.functions import Ours, is_stub
from helpers.exercises.reading import opened


def taken(answer, reader=None):
    """Return what an answer is, ready for JSON; of a function what its `reader` sees in each case."""
    if is_stub(answer):
        return {"kind": "stub"}
    try:
        if reader is not None:
            return {"kind": "reading", "value": written(reader.read(answer))}
        return {"kind": "value", "value": written(_plain(answer))}
    except NotRead as error:
        text = describe(answer)
        if error.args:
            text += f"; {error}"
        return {"kind": "unread", "text": text}


def _plain(answer):
    """Return an answer as plain values; of a dict also the keys, which some readers want."""
    if isinstance(answer, dict):
        return {plain(key): plain(value) for key, value in answer.items()}
    return opened(answer)


def written(value):
    """Return a plain value, a dict of such, a Failed or an Ours as lists and texts for JSON."""
    if isinstance(value, dict):
        return ["dict", *([written(key), written(part)] for key, part in value.items())]
    if isinstance(value, Failed):
        return ["failed", value.kind, value.text]
    if isinstance(value, Ours):
        return ["ours", written(value.error)]
    if isinstance(value, tuple):
        return ["tuple", *map(written, value)]
    if isinstance(value, frozenset):
        return ["set", *map(written, value)]
    return ["dots"] if value is Ellipsis else plain(value)


def decoded(value):
    """Return what `written` was given; raises ValueError or TypeError for anything else."""
    if not isinstance(value, list):
        return value
    kind, *parts = value
    if kind == "dict":
        return {decoded(key): decoded(part) for key, part in parts}
    if kind == "failed":
        name, text = map(str, parts)
        return Failed(name, text)
    if kind == "ours":
        return Ours(*map(decoded, parts))
    if kind == "dots":
        return ...
    if kind == "tuple":
        return tuple(map(decoded, parts))
    if kind == "set":
        return frozenset(map(decoded, parts))
    raise ValueError(f"{kind!r} is no kind of value")


def parsed(text):
    """Return the record in a line, or None where there is none."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
