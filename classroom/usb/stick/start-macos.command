#!/bin/sh
# macOS: a double click opens this in Terminal.
exec /bin/sh "$(dirname -- "$0")/start-linux.sh" "$@"
