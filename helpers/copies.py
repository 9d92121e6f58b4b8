"""A copy of a lesson as a file: made from its master, told from an edited one, written whole or not at all.

No torch, and nbformat only to trust what was written: `make lab` starts with this.
"""

import hashlib
import json
import os
from contextlib import closing
from itertools import chain, count

PAGE = "glossary"  # a notebook to look things up in: copied with its outputs
PICTURES = (".svg", ".png", ".jpg", ".gif")


def student_copy(master):
    """Return the notebook without saved widgets and notes, its pictures found in figs/; outputs stay in PAGE only."""
    notebook = json.loads(master.read_text(encoding="utf-8"))
    notebook["metadata"].pop("widgets", None)
    notebook["cells"] = [cell for cell in notebook["cells"] if not for_the_speaker(cell)]
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("../figs/", "figs/")
        if cell["cell_type"] == "code" and master.stem != PAGE:
            cell.update(outputs=[], execution_count=None)
    return notebook


def for_the_speaker(cell):
    return cell["metadata"].get("slideshow", {}).get("slide_type") == "notes"


def digest(notebook):
    """Return what tells an edited notebook from an untouched one: kinds, sources and tags of its cells."""
    seen = [(c["cell_type"], "".join(c["source"]), c["metadata"].get("tags") or []) for c in notebook["cells"]]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def digest_of(path):
    """Return the digest of a file; None if there is no file, "unreadable" if there is no notebook in it."""
    if not path.exists():
        return None
    try:
        return digest(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unreadable"


def free_name(path, word):
    """Return `lesson-word.ipynb` beside `path`, or `lesson-word-2.ipynb` and so on where that is taken."""
    endings = chain([""], (f"-{number}" for number in count(2)))
    return next(n for e in endings if not (n := path.with_name(f"{path.stem}-{word}{e}{path.suffix}")).exists())


def write_notebook(path, notebook):
    """Write a copy and mark it as trusted, so that Lab shows its pictures and widgets."""
    import nbformat
    from nbformat.sign import NotebookNotary

    write_json(path, notebook)
    notary = NotebookNotary()
    with closing(notary.store):
        notary.sign(nbformat.read(path, as_version=4))


def write_json(path, value):
    """Write a file whole or not at all: into a neighbour first, then in its place."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8", newline="\n")
    os.replace(part, path)


def copy_pictures(source, target):
    """Copy the pictures that text cells show; leave what is the same already."""
    target.mkdir(exist_ok=True)
    for picture in (path for path in sorted(source.glob("*")) if path.suffix in PICTURES):
        copy = target / picture.name
        if not copy.is_file() or copy.read_bytes() != picture.read_bytes():
            copy.write_bytes(picture.read_bytes())
