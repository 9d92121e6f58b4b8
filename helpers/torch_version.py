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
    "This is torch {}, but the lessons need 2.13 or later, before 3. "
    "Did a different Python start from the one of `make lab`? "
    'Otherwise run %pip install "torch>=2.13,<3", then restart the kernel.'
)
ANOTHER = (
    "This is torch {}. The outputs in the course come from {}, "
    "so a message, a name or a last digit may differ here."
)
