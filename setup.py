"""Write the questions of the lessons into a built package, where no notebooks lie beside it."""

import json
import sys
from pathlib import Path
from types import ModuleType

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class WithQuestions(build_py):
    """Builds the package as usual; an editable install has the notebooks beside it."""

    def run(self):
        super().run()
        if not self.editable_mode:
            built = Path(self.build_lib, "helpers", "predicting", "questions.json")
            built.write_text(json.dumps(questions(), ensure_ascii=False), encoding="utf-8")


def questions():
    """Return the questions of all notebooks by id."""
    helpers = ModuleType("helpers")  # its own __init__ imports torch, and pip builds without it
    helpers.__path__ = [str(ROOT / "helpers")]
    sys.modules["helpers"] = helpers
    from helpers.predicting.from_notebook import questions_at

    found = {}
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        found |= questions_at(path)
    if not found:
        sys.exit(f"{ROOT / 'notebooks'} holds no lesson, and the package has its questions there.")
    return found


setup(cmdclass={"build_py": WithQuestions})
