"""The systems that a stick can serve: a name such as windows-3.12, the wheels it takes, its markers."""

import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from packaging import tags

OLDEST, NEWEST = 11, 14  # of the Pythons 3.N that the course runs on
NAME = re.compile(r"([a-z]+(?:-arm)?)-3\.(\d+)")
GLIBC = 28  # wheels for Linux ask for glibc 2.28 at most, which torch needs itself

MARKERS = {  # what differs between systems of what markers speak about
    "windows": ("nt", "win32", "Windows", "AMD64"),
    "macos": ("posix", "darwin", "Darwin", "arm64"),
    "linux": ("posix", "linux", "Linux", "x86_64"),
    "linux-arm": ("posix", "linux", "Linux", "aarch64"),
}
MACHINES = {(system, machine): kind for kind, (_, _, system, machine) in MARKERS.items()}


class Unknown(Exception):
    """A system that no stick can serve; its text says which ones there are."""


@dataclass(frozen=True)
class System:
    """A kind of machine (a key of MARKERS) with CPython 3.`minor`."""

    kind: str
    minor: int

    def __str__(self) -> str:
        return f"{self.kind}-3.{self.minor}"

    def platforms(self) -> list[str]:
        """Return the platforms of its wheels, best first, as in the names of wheels."""
        if self.kind == "windows":
            return ["win_amd64"]
        if self.kind == "macos":
            return list(tags.mac_platforms((14, 0), "arm64"))
        machine = MARKERS[self.kind][3]
        manylinux = [f"manylinux_2_{glibc}_{machine}" for glibc in range(GLIBC, 4, -1)]
        older = [f"manylinux{year}_{machine}" for year in ("2014", "2010", "1")]
        return [*manylinux, *older, f"linux_{machine}"]

    def tags(self) -> Iterator[tags.Tag]:
        """Yield the tags of the wheels that it takes, best first."""
        version, platforms = (3, self.minor), self.platforms()
        yield from tags.cpython_tags(version, [f"cp3{self.minor}"], platforms)
        yield from tags.compatible_tags(version, f"cp3{self.minor}", platforms)

    def environments(self) -> list[dict[str, str]]:
        """Return what markers are evaluated with, for a first and a last patch of its Python."""
        names = ("os_name", "sys_platform", "platform_system", "platform_machine")
        same = dict(zip(names, MARKERS[self.kind], strict=True)) | {
            "platform_release": "",
            "platform_version": "",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "python_version": f"3.{self.minor}",
        }
        full = ("python_full_version", "implementation_version")
        return [same | dict.fromkeys(full, f"3.{self.minor}.{patch}") for patch in (0, 99)]


def named(name: str) -> System:
    """Return the system of this name. Raises Unknown."""
    match = NAME.fullmatch(name)
    if not match or match[1] not in MARKERS or not OLDEST <= int(match[2]) <= NEWEST:
        raise Unknown(
            f"There is no system {name!r}. Give one of {', '.join(MARKERS)} with a Python from "
            f"3.{OLDEST} to 3.{NEWEST}, for example windows-3.12 or macos-3.13."
        )
    return System(match[1], int(match[2]))


def here() -> System:
    """Return the system of this machine and this Python. Raises Unknown."""
    machine = (platform.system(), platform.machine())
    if machine not in MACHINES:
        none = f"There are no wheels for this machine, {' '.join(machine)}."
        raise Unknown(f"{none} The course runs on {', '.join(MARKERS)}.")
    return named(f"{MACHINES[machine]}-3.{sys.version_info.minor}")
