#!/bin/sh
# Try the README's two commands where nothing else is: a Debian of python3, python3-venv, make and git, made by debootstrap.
# As root on Debian: tests/bare_root.sh runs make lab up to a served page, lesson 00, then make test; --quick runs make quick.
set -eu
left_out() {
  echo "bare root: LEFT OUT, because $1."
  exit 0
}
[ "$(id -u)" = 0 ] && unshare --mount --pid --fork --mount-proc true 2>/dev/null || left_out "only root can make one, where it may mount folders"
command -v debootstrap >/dev/null || left_out "debootstrap is missing (as root on Debian: apt-get install debootstrap)"
if [ "${INNER:-}" = "" ]; then  # what is mounted and started below is seen here alone, and ends with this process
  INNER=yes exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
tests=test
if [ "${1:-}" = --quick ]; then tests=quick; fi
course=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'umount --recursive --lazy "$root"; rmdir "$root"' EXIT
mount -t tmpfs -o size=16g bare "$root"

echo "bare root: debootstrap ..."
debootstrap --variant=minbase --include=python3,python3-venv,make,ca-certificates,git \
  "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >/dev/null || left_out "debootstrap could not make a Debian"
git clone --quiet "$course" "$root/course"
for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
cp /etc/resolv.conf "$root/etc/"

# pip takes packages from where it takes them here: its settings go along, and folders of wheels that they name.
python3 -m pip config list | sed -n "s/^\(global\|:env:\)\.[a-z-]*='\(.*\)'$/\2/p" | while read -r value; do
  for path in $(printf '%b' "$value"); do
    case $path in file://*) path=$(dirname "${path#file://}") ;; esac  # the files that an index names lie beside it
    if [ -d "$path" ]; then mkdir -p "$root$path" && mount --bind "$path" "$root$path"; fi
    if [ -f "$path" ]; then mkdir -p "$root$(dirname "$path")" && cp "$path" "$root$path"; fi
  done
done
for file in /etc/pip.conf /etc/xdg/pip/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
  if [ -f "$file" ]; then mkdir -p "$root$(dirname "$file")" && cp "$file" "$root$file"; fi
done

inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root $(env | grep -i -E '^(PIP_|https?_proxy=|no_proxy=)') \
    chroot "$root" sh -c "cd /course && $1"
}

echo "bare root: make lab ..."
inside 'make lab LAB_ARGS="--no-browser --port 8873 --IdentityProvider.token=bare" || touch failed' >"$root/lab.log" 2>&1 &
inside 'python3 -' <<'END' || { cat "$root/lab.log"; exit 1; }
"""Wait until JupyterLab serves the page that `make lab` opens."""
import os
import time
import urllib.request

PAGE = "http://127.0.0.1:8873/lab/tree/00_start_here.ipynb?token=bare"
for _ in range(600):
    time.sleep(1)
    try:
        page = urllib.request.urlopen(PAGE, timeout=10).read().decode()
    except OSError:
        assert not os.path.exists("failed"), "make lab failed"
        continue
    assert "<title>JupyterLab</title>" in page, page[:500]
    print("bare root: JupyterLab serves lesson 00")
    break
else:
    raise SystemExit("JupyterLab served no page in ten minutes")
END

echo "bare root: lesson 00 ..."
inside '.venv/bin/python -m jupyter nbconvert --log-level ERROR --to notebook --execute work/00_start_here.ipynb --output-dir /tmp'
inside '.venv/bin/python -' <<'END'
"""Hold that lesson 00 ran there as it is stored, pictures among its outputs."""
import json

cells = json.load(open("/tmp/00_start_here.ipynb", encoding="utf-8"))["cells"]
outputs = [output for cell in cells for output in cell.get("outputs", ())]
pages = ["".join(output["data"].get("text/html", "")) for output in outputs if "data" in output]
pictures = [page for page in pages if "data:image/svg+xml" in page]
errors = [output["ename"] for output in outputs if output["output_type"] == "error"]
assert len(pictures) >= 3, f"{len(pictures)} pictures"
assert not [page for page in pages if "There's no picture" in page]
print(f"bare root: lesson 00 ran: {len(pictures)} pictures, errors that it is about: {errors}")
END

echo "bare root: make $tests ..."
inside "make $tests"
echo "bare root: README's two commands work (make lab, lesson 00, make $tests)"
