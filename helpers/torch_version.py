"""Say whether the torch that is here is one that the lessons run on.

Reads its version, nothing else.
"""

import re

import torch

from autograd_graphs.looking.refusals import short

COMPARED = "2.13.0"  # the torch that made the stored outputs
FIRST, NO_LONGER = (2, 13), (3, 0)  # as pyproject.toml and requirements.txt ask for


def check_torch() -> None:
    """Print one sentence where this torch is another than the outputs were compared with.

    Raises RuntimeError where it is older than 2.13, or 3 and later.
    """
    version = torch.__version__.partition("+")[0]
    major, minor = re.findall(r"\d+", version)[:2]
    if not FIRST <= (int(major), int(minor)) < NO_LONGER:
        raise short(RuntimeError(OUT_OF_RANGE.format(version)))
    if version != COMPARED:
        print(ANOTHER.format(version, COMPARED))


OUT_OF_RANGE = (
    "This is torch {}; the lessons run on 2.13 and what came later, before 3. "
    "Did another Python start than that of `make lab`? "
    'Otherwise run %pip install "torch>=2.13,<3", then restart the kernel.'
)
ANOTHER = (
    "This is torch {}. The outputs of the course were compared with {}: "
    "a message, a name or a last digit may differ here."
)
