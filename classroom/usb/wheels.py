"""The wheels that the course needs on a system: what the lock pins, followed from package to package.

`pip download --platform` evaluates markers for the machine it runs on, so that it would leave out
what only Windows needs. Therefore pip is only asked for single pins here; which ones, the wheels
themselves say (their Requires-Dist), read with the other system's markers.
"""

import email
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from classroom.usb.systems import System

MOST_SAID = 6  # lines of a complaint of pip
CUDA = ("nvidia-", "cuda-")  # beginnings of the names of what only the CUDA build of torch needs
INSTALLER = "pip"  # goes with the wheels: not every Python brings one. The lock has no pin of it.
Fetch = Callable[[list[Requirement], System, str], None]


class Missing(Exception):
    """A wheel that cannot be had, or that is not wanted; its text says what to do."""


def read_requirements(path: Path) -> list[Requirement]:
    """Return the requirements of a file of pins, without comments."""
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [requirement(line) for line in lines if line]


def requirement(text: str) -> Requirement:
    """Return a requirement, its name as packages are compared by name."""
    made = Requirement(text)
    made.name = canonicalize_name(made.name)
    return made


def wheels_for(system: System, root: Path, folder: Path, fetch: Fetch, cuda=False) -> set[Path]:
    """Return the wheels that the course needs on a system; `fetch` brings them. Raises Missing."""
    lock = {}
    for pin in read_requirements(root / "constraints.txt"):
        lock.setdefault(pin.name, []).append(pin)
    wanted = [*read_requirements(root / "requirements.txt"), requirement("setuptools")]
    wheels = set()
    for environment in system.environments():
        walk = Walk(system, environment, lock, folder, fetch, cuda)
        wheels |= walk.closure([*wanted, requirement(INSTALLER)])
    return wheels


@dataclass
class Walk:
    """One walk from the requirements to all that they need, with one environment of markers."""

    system: System
    environment: dict[str, str]
    lock: dict[str, list[Requirement]]
    folder: Path
    fetch: Fetch
    cuda: bool

    def closure(self, wanted: list[Requirement]) -> set[Path]:
        """Return the wheels of all that is wanted and of what those need. Raises Missing."""
        seen: set[tuple[str, str]] = set()  # name and extra
        wheels: dict[str, Path] = {}
        while wanted:
            pins = {needed.name: self.pin(needed) for needed in wanted}
            wheels |= self.brought(pin for name, pin in pins.items() if name not in wheels)
            news = []
            for needed in wanted:
                for extra in ["", *sorted(needed.extras)]:
                    if (needed.name, extra) not in seen:
                        seen.add((needed.name, extra))
                        news += self.needs(wheels[needed.name], extra)
            wanted = news
        return set(wheels.values())

    def pin(self, wanted: Requirement) -> Requirement:
        """Return the pin of the lock that holds on this system."""
        if wanted.name == INSTALLER:
            return wanted
        pins = [pin for pin in self.lock.get(wanted.name, []) if self.holds(pin)]
        if len(pins) != 1:
            there = f"constraints.txt has {len(pins)} pins of {wanted.name} for {self.system}"
            raise Missing(f"{there}; it needs one: make lock")
        return pins[0]

    def holds(self, requirement: Requirement, extra: str = "") -> bool:
        marker = requirement.marker
        return marker is None or marker.evaluate(self.environment | {"extra": extra})

    def brought(self, pins: Iterable[Requirement]) -> dict[str, Path]:
        """Return the wheels of these pins by name; fetch those that are not at hand. Raises Missing."""
        pins = list(pins)
        wheels = at_hand(pins, self.system, self.folder)
        missing = [pin for pin in pins if pin.name not in wheels]
        if missing:
            self.fetch(missing, self.system, self.environment["python_full_version"])
            wheels |= at_hand(missing, self.system, self.folder)
        for pin in pins:
            if pin.name not in wheels:
                raise Missing(f"pip brought no wheel of {pin} for {self.system}.")
        return wheels

    def needs(self, wheel: Path, extra: str) -> list[Requirement]:
        """Return what a wheel, or an extra of it, needs on this system. Raises Missing for CUDA."""
        needed = [wanted for wanted in requires(wheel) if self.holds(wanted, extra)]
        heavy = [wanted for wanted in needed if wanted.name.startswith(CUDA)]
        if heavy and not self.cuda:
            wheel.unlink()  # else it would be at hand when the other build is asked for
            raise Missing(
                f"{wheel.name} is the build of torch for GPUs, which needs {len(heavy)} more packages, several gigabytes."
                " Name the index of PyTorch's CPU builds, which docs/sticks.md gives (TORCH_INDEX=address, or --torch-index),"
                " or take it all the same (CUDA=yes, or --cuda)."
            )
        return needed


def requires(wheel: Path) -> list[Requirement]:
    """Return what a wheel says it needs. Raises Missing where it is broken."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = email.message_from_bytes(archive.read(name))
    except (OSError, zipfile.BadZipFile, StopIteration) as error:
        raise Missing(f"{wheel} is broken ({error}). Remove it, and try again.") from None
    return [requirement(text) for text in metadata.get_all("Requires-Dist", [])]


def at_hand(pins: list[Requirement], system: System, folder: Path) -> dict[str, Path]:
    """Return the newest wheels in the folder that fit these pins and the system, by name."""
    specifiers = {pin.name: pin.specifier for pin in pins}
    accepted = set(system.tags())
    best: dict[str, tuple[Version, Path]] = {}
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        fits = name in specifiers and specifiers[name].contains(version) and tags & accepted
        if fits and (name not in best or version > best[name][0]):
            best[name] = version, path
    return {name: path for name, (_, path) in best.items()}


def by_pip(folder: Path, index: str = "") -> Fetch:
    """Return what fetches pins into a folder, by pip, from its own index and perhaps another one."""

    def fetch(pins: list[Requirement], system: System, python: str) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--retries=2", "--dest", str(folder)]
        command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={python}"]
        command += [f"--platform={platform}" for platform in system.platforms()]
        if index:
            command += ["--extra-index-url", index]
        command += [f"{pin.name}{pin.specifier}" for pin in pins]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if ran.returncode:
            raise Missing(complaint(ran.stdout + ran.stderr, system))

    return fetch


def complaint(said: str, system: System) -> str:
    """Say what kept pip from fetching, with its own words."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    what = f"Not all wheels for {system} could be had."
    if "Retrying (" in said:
        what += " The package index could not be reached: fill a stick where there is a network."
    elif "No matching distribution" in said:
        what += " A package has no wheel for this system and Python; another Python may have it."
    return "\n    ".join([what, *errors[:MOST_SAID]])
