"""Ask pip-audit for the known advisories on every package of the lock (`make audit`).

Reads; writes nothing that stays.

Every advisory, however it is rated, is mended or stands in advisories.toml with a reason. An audit
that could not be made is a failure, and so is one that passed over a package: pip-audit runs with
--strict, and its answer is counted.
"""

import json
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = Path(__file__).resolve().parent.parent / "constraints.txt"
STANDING = Path(__file__).with_name("advisories.toml")
OPTIONS = ["--strict", "--no-deps", "--disable-pip", "--format=json", "--aliases=on", "--desc=on"]
RATINGS = ("critical", "high", "moderate", "low", "unrated")
ID = re.compile(r"(GHSA|PYSEC|CVE)-[\w-]+")
SENTENCE = re.compile(r"\S+(\s+\S+){4,}\.")
ELSEWHERE = (
    'Run it where the service can be reached, or ask another one: make audit AUDIT_ARGS="-s osv"'
)


class NotAudited(Exception):
    """What was to be audited was not, or not whole; a sentence says why, and what to try."""


def main(more=(), lock=LOCK, standing=STANDING, tool=(sys.executable, "-m", "pip_audit")):
    """Print what there is to do; return 0 if nothing is, 1 if something is, 2 if the audit could
    not be made.
    """
    try:
        known = read(standing)
        found = [
            entry for pins in layers(lock) for entry in audited(pins, [*tool, *OPTIONS, *more])
        ]
    except NotAudited as error:
        print(f"The audit could not be made. {error}", file=sys.stderr)
        return 2
    said = [*faults(known), *unanswered(found, known), *unused(found, known)]
    print(
        "\n".join(said)
        or f"{len(found)} packages, {len(known)} advisories that stand with a reason, and no other."
    )
    return 1 if said else 0


def read(standing):
    """Return the entries of advisories.toml. Raises NotAudited if that is not what the file holds."""
    try:
        known = tomllib.loads(standing.read_text(encoding="utf-8")).get("advisory", [])
    except (OSError, ValueError) as error:
        raise NotAudited(
            f"{standing.name} could not be read: {error}. Look at its first lines."
        ) from None
    if not isinstance(known, list) or not all(isinstance(one, dict) for one in known):
        raise NotAudited(
            f"{standing.name} holds other things than [[advisory]] tables. Look at its first lines."
        )
    return known


def layers(lock):
    """Return the pins of the lock, markers left out, as lists of (package, version) with each
    package once.

    A lock for all systems has several versions of some packages; pip-audit takes one, and passes
    over what is not for the machine it runs on.
    """
    found = []
    for line in filter(None, lock.read_text(encoding="utf-8").splitlines()):
        requirement = Requirement(line)
        pin = canonicalize_name(requirement.name), str(requirement.specifier).removeprefix("==")
        layer = next((one for one in found if pin[0] not in one), None)
        if layer is None:
            found.append(layer := {})
        layer.update([pin])
    return [list(layer.items()) for layer in found]


def audited(pins, command):
    """Return what pip-audit says of every one of `pins`. Raises NotAudited if it does not."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pins.txt"
        path.write_text("".join(f"{name}=={version}\n" for name, version in pins), encoding="utf-8")
        ran = subprocess.run(
            [*command, "--progress-spinner=off", "-r", path], capture_output=True, text=True
        )
    try:
        found = json.loads(ran.stdout)["dependencies"]
        answered = {
            (canonicalize_name(entry["name"]), entry["version"])
            for entry in found
            if "vulns" in entry
        }
    except (ValueError, KeyError, TypeError):
        said = ran.stderr.strip().splitlines() or ["nothing"]
        last = said[-1].removeprefix("ERROR:pip_audit._cli:")
        raise NotAudited(f"pip-audit said: {last}\n{ELSEWHERE}") from None
    for name, version in pins:
        if (name, version) not in answered:
            raise NotAudited(
                f"pip-audit passed over {name} {version} ({len(answered)} of {len(pins)} were looked at)."
            )
    return found


def unanswered(found, known):
    """Yield a sentence for each advisory that no entry of `known` answers."""
    for entry in found:
        for advisory in entry["vulns"]:
            if not any(matches(one, entry, advisory) for one in known):
                ids = ", ".join([advisory["id"], *advisory.get("aliases", [])])
                mended = ", ".join(advisory["fix_versions"]) or "no version yet"
                about = (advisory.get("description") or "").strip().split("\n")[0][:200]
                yield f"{entry['name']} {entry['version']}: {ids}, mended in {mended}. {about}\n  {WHAT_TO_DO}"


WHAT_TO_DO = "Take a newer version (make lock LOCK_ARGS=--upgrade), or say in tests/advisories.toml why it may stand."


def unused(found, known):
    """Yield a sentence for each entry of `known` that answers nothing any more."""
    for one in known:
        if not any(matches(one, entry, advisory) for entry in found for advisory in entry["vulns"]):
            yield f"{one.get('id')} on {one.get('package')} is named no more: remove it from tests/advisories.toml."


def matches(one, entry, advisory):
    """Say whether an entry of advisories.toml means this advisory, under any of its names."""
    same = canonicalize_name(str(one.get("package"))) == canonicalize_name(entry["name"])
    return same and one.get("id") in [advisory["id"], *advisory.get("aliases", [])]


def faults(known, today=None):
    """Yield a sentence for each entry of advisories.toml that does not say what one has to say."""
    for number, one in enumerate(known, start=1):
        wanted = {
            "a package": bool(one.get("package")),
            "an id such as GHSA-…, PYSEC-… or CVE-…": bool(ID.fullmatch(str(one.get("id")))),
            f"a rating out of {', '.join(RATINGS)}": one.get("rating") in RATINGS,
            "a reason, a sentence": bool(SENTENCE.fullmatch(str(one.get("reason")))),
            "the day it was looked at": type(one.get("looked")) is date
            and one["looked"] <= (today or date.today()),
        }
        missing = [words for words, holds in wanted.items() if not holds]
        if missing:
            yield f"Entry {number} of tests/advisories.toml ({one.get('id')}) needs {'; '.join(missing)}."


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
