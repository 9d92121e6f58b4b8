"""Take in what students handed in: which files, whose, and their bytes.

A file is a stranger's: links are not followed, nothing large or odd is waited for, and a name is
used as the name of a folder, in a terminal and in a table.
"""

import os
import re
import warnings

import nbformat

from classroom.grading.notebook import kind_and_id

LARGEST = 5_000_000  # bytes of a submission
STUDENT = re.compile(r"[^\W_][\w .,'@-]{0,99}")
NO_NAME = "{!r}: not graded. Name it after its student: a letter or digit first, and after that also spaces and . , _ ' @ -"
NOT_ONE = "{!r}: not graded. A student's folder has one notebook in it, but this one has {}."
TWICE = "{!r}: not graded. The same student has a file there, too."


def submissions(folder):
    """Return the notebooks in a folder by their students, {"ada": Path}, and what to say of others:
    ada.ipynb is Ada's, and so is the one notebook in a folder named ada, as Moodle packs them.
    """
    files, said = {}, []
    for path in sorted(folder.glob("*")):
        if path.is_dir() and not path.is_symlink():
            student, inside = path.name, sorted(path.glob("*.ipynb"))
        elif path.suffix == ".ipynb":
            student, inside = path.stem, [path]
        else:
            continue
        if not STUDENT.fullmatch(student):
            said.append(NO_NAME.format(path.name))
        elif len(inside) != 1:
            said.append(NOT_ONE.format(path.name, len(inside)))
        elif student in files:
            said.append(TWICE.format(path.name))
        else:
            files[student] = inside[0]
    return files, said


def notebook_in(file):
    """Return the bytes of a submission, and why it is none."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            text = opened.read(LARGEST + 1)
    except OSError as error:
        return b"", f"The file couldn't be opened ({error.strerror})."
    if len(text) > LARGEST:
        why = (
            f"The file is larger than {LARGEST:,} bytes: clear its outputs, and it will be smaller."
        )
        return b"", why
    try:
        _notebook(text)
    except Exception as error:  # whatever a stranger's file makes nbformat raise
        return b"", f"The file holds no notebook ({type(error).__name__})."
    return text, ""


def without_place(text, release):
    """Return the exercises of a release for which a submission has no cell, such as ["03.1"]."""
    here = list(map(kind_and_id, _notebook(text).cells))
    asked = [id for kind, id in map(kind_and_id, release.cells) if kind == "answer"]
    return [id for id in asked if ("answer", id) not in here]


def _notebook(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what was copied twice, which is taken once
        notebook = nbformat.reads(text.decode("utf-8"), as_version=4)
        nbformat.validate(notebook)
    return notebook
