"""Which files are the course: those that git knows, as they stand; without git, all that .gitignore lets be."""

import subprocess
from fnmatch import fnmatch
from pathlib import Path

GIT = (".git", ".gitmodules")


def course_files(root: Path) -> list[str]:
    """Return the paths of the course's files, relative to `root`, with slashes."""
    names = by_git(root)
    if names is None:
        names = not_ignored(root)
    return sorted(name for name in names if (root / name).is_file())


def by_git(root: Path) -> list[str] | None:
    """Return what git keeps track of, or None where the course was not got by git."""
    if not (root / ".git").exists():
        return None
    ours = f"safe.directory={root}"  # whoever owns it: its code is running already
    try:
        ran = subprocess.run(["git", "-c", ours, "ls-files", "-z"], cwd=root, capture_output=True)
    except OSError:
        return None
    return ran.stdout.decode().split("\0")[:-1] if ran.returncode == 0 else None


def not_ignored(root: Path) -> list[str]:
    """Return all files but those that a line of .gitignore names, whole folders passed over."""
    ignored = (root / ".gitignore").read_text("utf-8").split()
    names, folders = [], [root]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            name = path.relative_to(root).as_posix()
            if path.name in GIT or any(is_ignored(name, line) for line in ignored):
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            else:
                names.append(name)
    return names


def is_ignored(name: str, line: str) -> bool:
    """Tell whether a line of ours means this path: `name`, `*.end` or `folder/name`."""
    pattern = line.rstrip("/")
    return fnmatch(name if "/" in pattern else name.rpartition("/")[2], pattern)
