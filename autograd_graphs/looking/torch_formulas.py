"""Read torch's own formulas: what derivatives.yaml says of each backward function and input."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

from autograd_graphs.looking.refusals import short

_ARGUMENT = re.compile(r"(Tensor(?:\([^)]*\))?(?:\[\d*\])?\??)\s+(\w+)")


def demand_formulas() -> None:
    """Read torch's file, before a backward that tells by it. Raises ImportError without PyYAML."""
    _table()


def formulas(operation: str) -> dict[str, str]:
    """Return {input: formula} of a backward function, in the order of its `next_functions`.

    `grad` is what arrives, `self` and `other` are inputs, `result` the output. Empty where torch's
    file has no entry: for AccumulateGrad, CopySlices, a custom Function.
    """
    return _table().get(operation.removesuffix("_copy"), {})


@cache
def _table() -> dict[str, dict[str, str]]:
    """Read the file once; classes are numbered in its order, as torch's generator does it."""
    try:
        import yaml  # costly, and needed here alone
    except ImportError as error:
        missing = (
            "PyYAML isn't installed, but torch's own formulas are read with it. Nothing was run: "
            "every .grad is as it was. Try: pip install pyyaml"
        )
        raise short(ImportError(missing, name=error.name)) from None
    path = files("torchgen") / "packaged" / "autograd" / "derivatives.yaml"
    text = path.read_text(encoding="utf-8")
    table, count = {}, Counter()
    for entry in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        for key, rules in entry.get("dispatch", {"Default": entry}).items():
            rules_of_inputs = _inputs(entry["name"], rules)
            if rules_of_inputs:
                prefix = _class_name(entry["name"])
                if key != "Default":
                    prefix += key
                table[f"{prefix}{count[prefix]}"] = rules_of_inputs
                count[prefix] += 1
    return table


def _inputs(schema: str, rules: dict[str, Any]) -> dict[str, str]:
    """Pick the formulas of the tensors that can be differentiated, in the order of the schema."""
    by_name: dict[str, str] = {}
    for names, rule in rules.items():
        by_name |= dict.fromkeys(map(str.strip, names.split(",")), str(rule))
    inside = schema.partition("(")[2].rpartition(") ->")[0]
    arguments = [name for _, name in _ARGUMENT.findall(inside)]
    chosen = {name: " ".join(by_name[name].split()) for name in arguments if name in by_name}
    return {name: rule for name, rule in chosen.items() if rule.lower() != "non_differentiable"}


def _class_name(schema: str) -> str:
    name = re.split(r"[.(]", schema, maxsplit=1)[0]
    name = "".join(part.title() for part in name.split("_")) + "Backward"
    return name.replace("ForwardBackward", "Backward")
