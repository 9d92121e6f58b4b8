"""Python reads this as it starts, wherever PYTHONPATH has tests/ (Makefile): the grammar of IRIs, which no
notebook has, would take three seconds of every process that opens one.
"""

import sys

sys.modules["rfc3987_syntax"] = None
