"""Hand out the lessons (`python -m course.workspace sync`, `reset 03`): what brings the copies of
work/ up to date, or with `--into FOLDER` those of a student's own folder; the course is only read.

A copy has no outputs, no speaker notes and no claims. What a student edited is never overwritten: a new
version comes beside it. .handed_out.json remembers what was given. No torch: `make lab` starts with
this.
"""

import hashlib
import json
import os
import shlex
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNNUMBERED = ("one_real_model", "clinic")  # copied as a lesson is
PAGE = "glossary"  # a notebook to look things up in: copied with its outputs
PICTURES = (".svg", ".png", ".jpg", ".gif")
MANIFEST = ".handed_out.json"
KEPT_OF_COURSE = ("role", "id")  # what answers a question stays in the master


def main(arguments, root=ROOT):
    """Run `sync` or `reset NN`, `--into` a folder if one is named, and print what was done."""
    words, into = split(arguments)
    try:
        match words:
            case ["sync"]:
                lines = sync(root, into=into)
            case ["reset", number] if number:
                lines = reset(number, root, into)
            case _:
                there = f"There are {', '.join(lessons(root))}."
                sys.exit(f"Which lesson? {there} For example: {resetting('03', into)}")
    except OSError as error:  # a full disk names no file
        place = error.filename or called(into)
        sys.exit(
            f"{place} couldn't be written ({error.strerror}): check who owns it, or make room."
        )
    print("\n".join(lines) or f"Your copies in {called(into)} are up to date.")


def split(arguments):
    """Return the words before `--into FOLDER`, and that folder; None where work/ is meant."""
    match arguments:
        case [*words, "--into", folder] if folder:
            into = Path(folder).expanduser().absolute()
            stop_root_at_another_users(into)
            return words, into
    if "--into" in arguments:
        sys.exit("Into which folder? For example: python -m course.workspace sync --into ~/course")
    return arguments, None


def stop_root_at_another_users(folder):
    """Exit where root would write into another user's folder: a link in it leads anywhere."""
    owners = {path.lstat().st_uid for path in (folder, *folder.parents) if os.path.lexists(path)}
    if hasattr(os, "geteuid") and os.geteuid() == 0 and owners != {0}:
        sys.exit(
            f"{folder} belongs to another user, who may have put links there, and you are root."
            " Run this as that user, for example after: su - NAME"
        )


def called(into):
    return "work/" if into is None else f"{into}/"


def resetting(number, into):
    if into is None:
        return f"make reset N={number}"
    return f"python -m course.workspace reset {number} --into {shlex.quote(str(into))}"


def lessons(root):
    """Return the masters by number, the others by name: {"03": Path(...), "glossary": Path(...)}."""
    masters = []
    for name in ("[0-9][0-9]_*", *UNNUMBERED, PAGE):
        masters += sorted((root / "notebooks").glob(f"{name}.ipynb"))
    return {short(path.stem): path for path in masters}


def short(name):
    """Return the number of a lesson, or the whole name of a notebook without one."""
    return name[:2] if name[:2].isdigit() else name


def sync(root=ROOT, only=None, into=None):
    """Bring the copies of all lessons, or of `only` one, up to date; return what was done."""
    work = into or root / "work"
    work.mkdir(parents=True, exist_ok=True)
    given = read_manifest(work)
    masters = [path for number, path in lessons(root).items() if only in (None, number)]
    lines = []
    for master in masters:
        lines += hand_out(master, work, given, into)
    copy_pictures(root / "figs", work / "figs")
    write_json(work / MANIFEST, given)
    return lines


def reset(number, root=ROOT, into=None):
    """Give one lesson back as it is today; the old copy is kept under a name of its own."""
    number = short(number).zfill(2)
    if number not in lessons(root):
        there = f"There is no lesson {number!r}. There are {', '.join(lessons(root))}."
        sys.exit(f"{there} For example: {resetting('03', into)}")
    copy, lines = (into or root / "work") / lessons(root)[number].name, []
    if copy.exists():
        kept = free_name(copy, "kept")
        copy.rename(kept)
        lines = [f"{copy.name}: your copy is kept as {kept.name}."]
    return lines + sync(root, number, into)


def hand_out(master, work, given, into):
    """Write, update or leave the copy of one lesson; note that in `given` and yield what to say."""
    fresh, copy = student_copy(master), work / master.name
    new, now = digest(fresh), digest_of(copy)
    known = given.setdefault(master.name, {})
    # A page's outputs may be others where its cells are the same.
    is_page = master.stem == PAGE
    changed = now != new or (is_page and copy.read_bytes() != as_text(fresh).encode())
    if now is None or (now == known.get("copy") and changed):
        write_notebook(copy, fresh)
        if now is None:
            yield f"{copy.name}: copied into {called(into)}."
        elif now != new:
            yield f"{copy.name}: updated, since you hadn't edited it."
        now = new
    if now == new:
        known["copy"] = new
    elif new not in (known.get("copy"), known.get("beside")):
        beside = free_name(copy, "new")
        write_notebook(beside, fresh)
        known["beside"] = new
        yield f"{copy.name}: you edited it, so it stays; the new version is next to it as {beside.name}."
    if now == "unreadable":
        number = short(copy.stem)
        yield f"{copy.name}: holds no readable notebook; for a fresh one: {resetting(number, into)}"


def read_manifest(work):
    """Return {name: {"copy": digest, "beside": digest}} of what was handed out; {} if broken."""
    try:
        manifest = json.loads((work / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(manifest, dict):
        return {}
    return {name: given for name, given in manifest.items() if isinstance(given, dict)}


def student_copy(master):
    """Return the notebook without notes, what answers a question and outputs, but for PAGE's."""
    notebook = json.loads(master.read_text(encoding="utf-8"))
    notebook["metadata"].pop("widgets", None)
    notebook["cells"] = [cell for cell in notebook["cells"] if not for_the_speaker(cell)]
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("../figs/", "figs/")
        if cell["cell_type"] == "code" and master.stem != PAGE:
            cell.update(outputs=[], execution_count=None)
        if "course" in cell["metadata"]:
            said = cell["metadata"]["course"]
            cell["metadata"]["course"] = {key: said[key] for key in KEPT_OF_COURSE if key in said}
    return notebook


def for_the_speaker(cell):
    """Tell whether a cell is a note or a claim: neither is handed out."""
    return cell["metadata"].get("slideshow", {}).get("slide_type") == "notes"


def is_claim(cell):
    """Tell whether a cell holds up a sentence above it: only the author sees it."""
    said = cell["metadata"].get("course")
    return isinstance(said, dict) and said.get("role") == "claim"


def digest(notebook):
    """Return what tells an edited notebook from an untouched one: kinds, sources and tags."""
    seen = []
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags") or []
        seen.append((cell["cell_type"], "".join(cell["source"]), tags))
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def digest_of(path):
    """Return the digest of a file; None where there is none, "unreadable" for no notebook."""
    if not path.exists():
        return None
    try:
        return digest(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unreadable"


def free_name(path, word):
    """Return `lesson-word.ipynb` beside `path`, with -2 and so on where that is taken."""
    free, number = path.with_name(f"{path.stem}-{word}{path.suffix}"), 1
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{word}-{number}{path.suffix}")
    return free


def write_notebook(path, notebook):
    """Write a copy and mark it as trusted, so that Lab shows its pictures and widgets."""
    import nbformat
    from nbformat.sign import NotebookNotary

    write_json(path, notebook)
    notary = NotebookNotary()
    with closing(notary.store):
        notary.sign(nbformat.read(path, as_version=4))


def as_text(value):
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def write_json(path, value):
    """Write a file whole or not at all: into a neighbour first, then in its place."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(as_text(value), "utf-8", newline="\n")
    os.replace(part, path)


def copy_pictures(source, target):
    """Copy the pictures that text cells show; leave what is the same already."""
    target.mkdir(exist_ok=True)
    for picture in sorted(source.glob("*")):
        copy = target / picture.name
        is_same = copy.is_file() and copy.read_bytes() == picture.read_bytes()
        if picture.suffix in PICTURES and not is_same:
            copy.write_bytes(picture.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1:])
