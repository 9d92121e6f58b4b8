"""`make audit`: what it lets pass, what it reports, and that no audit is no pass. A made-up
pip-audit, in tmp_path.
"""

import json
import sys
from datetime import date, timedelta

import audit
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENTRY = {
    "package": "mistune",
    "id": "CVE-2026-1",
    "rating": "high",
    "reason": "Only our own texts reach it; we wait for 3.4.1.",
    "looked": date(2025, 11, 20),
}
KNOWN = """
[[advisory]]
package = "Mistune"
id = "CVE-2026-1"
rating = "high"
reason = "Only our own texts reach it; we wait for 3.4.1."
looked = 2025-11-20
"""
LOCK = """mistune==3.4.0
numpy==2.4.6 ; python_full_version < '3.12'
numpy==2.5.5 ; python_full_version >= '3.12'
pywinpty==3.1.2 ; os_name == 'nt'
torch==2.13.0
"""
MISTUNE = {
    "id": "GHSA-aaaa",
    "aliases": ["CVE-2026-1"],
    "fix_versions": ["3.4.1"],
    "description": "Reads on.\nMore.",
}
ANSWERING = """
import json, sys
assert "--strict" in sys.argv
known = json.loads({known!r})
pins = [line.split("==") for line in open(sys.argv[sys.argv.index("-r") + 1]).read().split()]
answer = [dict(name=name, version=version, vulns=known.get(name + version, [])) for name, version in pins]
answer = [entry for entry in answer if entry["name"] != {left_out!r}]
print(json.dumps(dict(dependencies=answer, fixes=[])))
sys.exit(any(entry["vulns"] for entry in answer))
"""


@pytest.fixture
def asked(tmp_path, capsys):
    """Audit LOCK with a tool of this source and these standing advisories; return exit code and
    what was said.
    """

    def ask(tool, standing=""):
        for name, text in (("lock.txt", LOCK), ("advisories.toml", standing), ("tool.py", tool)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        command = (sys.executable, str(tmp_path / "tool.py"))
        code = audit.main((), tmp_path / "lock.txt", tmp_path / "advisories.toml", command)
        said = capsys.readouterr()
        return code, said.err if code == 2 else said.out

    return ask


def answering(known=None, left_out=None):
    """Return a pip-audit that knows these advisories, {"torch2.13.0": [...]}, and says nothing of
    one package.
    """
    return ANSWERING.format(known=json.dumps(known or {}), left_out=left_out)


def test_a_lock_without_advisories_passes_and_every_pin_was_looked_at(asked):
    assert asked(answering()) == (
        0,
        "5 packages, 0 advisories that stand with a reason, and no other.\n",
    )


@pytest.mark.parametrize(
    "pin", ["mistune3.4.0", "numpy2.4.6", "numpy2.5.5", "pywinpty3.1.2", "torch2.13.0"]
)
def test_an_advisory_fails_whatever_system_or_python_the_pin_is_for(asked, pin):
    code, said = asked(answering({pin: [MISTUNE]}))
    assert code == 1
    assert said.count("GHSA-aaaa, CVE-2026-1, mended in 3.4.1. Reads on.\n") == 1
    assert "tests/advisories.toml" in said


def test_an_advisory_stands_with_a_reason_under_any_of_its_names(asked):
    tool = answering({"mistune3.4.0": [MISTUNE]})
    assert asked(tool, KNOWN)[0] == 0
    assert asked(tool, KNOWN.replace("CVE-2026-1", "GHSA-aaaa"))[0] == 0


def test_a_reason_is_for_one_package(asked):
    code, said = asked(answering({"torch2.13.0": [MISTUNE]}), KNOWN)
    assert code == 1
    assert "torch 2.13.0: GHSA-aaaa" in said


def test_an_entry_that_answers_nothing_has_to_go(asked):
    code, said = asked(answering(), KNOWN)
    assert (code, said) == (
        1,
        "CVE-2026-1 on Mistune is named no more: remove it from tests/advisories.toml.\n",
    )


def test_an_entry_without_a_reason_answers_nothing_well_enough(asked):
    unreasoned = "".join(
        line for line in KNOWN.splitlines(keepends=True) if not line.startswith("reason")
    )
    code, said = asked(answering({"mistune3.4.0": [MISTUNE]}), unreasoned)
    assert (code, said) == (
        1,
        "Entry 1 of tests/advisories.toml (CVE-2026-1) needs a reason, a sentence.\n",
    )


@pytest.mark.parametrize("package", ["torch", "pywinpty"])
def test_a_package_that_was_passed_over_is_no_pass(asked, package):
    code, said = asked(answering(left_out=package))
    assert code == 2
    assert f"pip-audit passed over {package} " in said


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (
            "import sys; sys.exit('ERROR:pip_audit._cli:torch: Dependency not found')",
            "said: torch: Dependency not",
        ),
        (
            "raise ConnectionError('Failed to resolve the service')",
            "said: ConnectionError: Failed to resolve",
        ),
        ("", "said: nothing"),
        ("print('{}')", "said: nothing"),
        ("print('[]')", "said: nothing"),
        ('print(\'{"dependencies": [{"name": 3}]}\')', "passed over mistune 3.4.0"),
        (
            'print(\'{"dependencies": [{"name": "torch", "skip_reason": "no"}]}\')',
            "passed over mistune 3.4.0",
        ),
    ],
)
def test_an_audit_that_could_not_be_made_fails_with_a_sentence(asked, tool, words):
    code, said = asked(tool)
    assert code == 2
    assert said.startswith("The audit could not be made. ")
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize("broken", ["advisory = [", "advisory = 3", "advisory = [3]"])
def test_a_broken_list_fails_with_a_sentence(asked, broken):
    code, said = asked(answering(), broken)
    assert code == 2
    assert "advisories.toml" in said


def test_every_advisory_that_stands_says_why_and_since_when():
    assert not list(audit.faults(audit.read(audit.STANDING)))
    assert not list(audit.faults([ENTRY], today=date(2025, 11, 20)))


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("package", "", "a package"),
        ("id", "7", "an id"),
        ("rating", "bad", "a rating"),
        ("reason", "wait", "a reason"),
        ("reason", 3, "a reason"),
        ("looked", "2026-11-20", "the day"),
        ("looked", date.today() + timedelta(days=2), "the day"),
    ],
)
def test_an_entry_that_leaves_something_out_is_named(key, value, wanted):
    without = {name: said for name, said in ENTRY.items() if name != key}
    for entry in (ENTRY | {key: value}, without):
        (said,) = audit.faults([entry], today=date(2025, 11, 20))
        assert said.startswith("Entry 1 of tests/advisories.toml")
        assert f"needs {wanted}" in said


def test_every_pin_of_the_lock_is_audited_with_its_own_version():
    lines = audit.LOCK.read_text(encoding="utf-8").split("\n")
    pins = [Requirement(line) for line in lines if line]
    wanted = sorted(
        (canonicalize_name(pin.name), f"{pin.specifier}".removeprefix("==")) for pin in pins
    )
    layers = audit.layers(audit.LOCK)
    assert sorted(pin for layer in layers for pin in layer) == wanted
    assert all(len(dict(layer)) == len(layer) for layer in layers)
    assert ("torch", "2.13.0") in wanted
