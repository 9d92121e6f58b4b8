"""Find Chromium, and install it where a machine checks changes (`python tests/browser/chromium.py`,
under CI only).
"""

import os
import shutil
import subprocess
import sys

from course.publishing.chromium import NAMES
from course.publishing.chromium import browser as chromium

LINE = "apt-get update && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core"
MISSING = (
    f"There is no browser in PATH ({', '.join(NAMES)}), so nothing can be seen in one. As root on Debian: {LINE} "
    "(on another system install Chromium its way, and if it has another name: CHROMIUM=/path/to/it)"
)


def under_ci():
    return os.environ.get("CI") == "true"


def main():
    """Install Chromium if it is missing and this is Debian as root."""
    if chromium():
        return
    if os.getuid() == 0 and shutil.which("apt-get"):
        print(f"Installing a browser for the tests: {LINE}", flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["/bin/sh", "-c", LINE], env=quiet, stdin=subprocess.DEVNULL, check=False)
    if not chromium():
        sys.exit(MISSING)


if __name__ == "__main__":
    main()
