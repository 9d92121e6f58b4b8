"""Print how the lessons stand: `python -m notebook_rules`, or with numbers such as `05 09`."""

import sys

from notebook_rules.report import report

for line in report(sys.argv[1:]):
    print(line)
