"""Start one student's server: runs as that student, never as root, in place of
`jupyterhub-singleuser`.

Brings the lessons in ~/work up to date from the course, which is only read; a link that somebody
put into a home leads nowhere that this student could not write anyway.
"""

import os
import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]

os.umask(0o077)  # what a student writes is the student's alone
# Kernels are talked to through files here, not through ports, of which two could get the same when
# a class starts at once. The system allows such a path 107 characters, so this folder has a short
# name.
os.environ["JUPYTER_RUNTIME_DIR"] = str(Path.home() / ".jupyter-run")


def bring_lessons():
    """Sync the lessons; where that cannot be, say so in the hub's log and go on without."""
    from course import workspace

    try:
        workspace.main(["sync", "--into", str(Path.home() / "work")])
    except (Exception, SystemExit) as error:
        print(f"{Path.home()}: the lessons were not brought up to date: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.path.insert(0, str(COURSE))
    bring_lessons()
    from jupyterhub.singleuser import main

    main()
