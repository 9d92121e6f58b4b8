#!/bin/sh
# Linux: sh start-linux.sh. Finds a Python that runs start.py, which does everything else.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null; then
    exec "$python" "$here/start.py" "$@"
  fi
done
echo 'No Python was found. Install Python 3.11 or newer, 64-bit (the README.txt on the stick says which), then start again.' >&2
exit 1
