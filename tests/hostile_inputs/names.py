"""Names from anywhere: as a learner's variables, through `names=`, and the `alt` and `unfold` that
are text as well.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import torch

from hostile_inputs.case import Case, collection, ran
from hostile_inputs.subclasses import TRAPS

CASES, case = collection()
TEXTS = {
    "a script": "<script>alert(1)</script>",
    "an attribute that ends": '" onload="alert(1)" x="',
    "the tree's own lines": "└─ AccumulateGrad (leaf x = 1.0, .grad None)",
}
SHOWN = {  # what is not shown as it is: the text and what stands for it
    "control characters": ("a\x00b\x07c\x1b[31md\x7f\x85", r"a\x00b\x07c\x1b[31md\x7f\x85"),
    "line ends": ("a\nb\r\nc\u2028d", r"a\nb\r\nc\u2028d"),
    "right to left": ("\u202egnp.exe\u2066\u200f", r"\u202egnp.exe\u2066\u200f"),
    "a lone high surrogate": ("\ud800", r"\ud800"),
    "20,000 quotes": ('"' * 20_000, '"' * 199 + "…"),
    "nothing": ("", "unnamed"),
}
TEXTS |= {name: text for name, (text, _) in SHOWN.items()}


def variable(text, look):
    thing = one()
    look(thing * 2, space={text: thing})


def given(text, look):
    thing = one()
    look(thing * 2, names={text: thing}, space={})


def module(text, look):
    model = torch.nn.Module()
    model._modules[text] = linear()
    look(model._modules[text].weight, names=model, space={})


def alt(text, look):
    look(one(), alt=text)


def named(run, called: str, gives: str, how: str) -> Case:
    run = functools.partial(run, TEXTS[called])
    run.__name__ = f"{called} {how}"
    return Case(run, gives)


def leaf_called(name: str) -> str:
    shown = SHOWN[name][1] if name in SHOWN else TEXTS[name]
    return f"AccumulateGrad (leaf {shown} = [1.0], .grad None)"


CASES += [named(variable, name, leaf_called(name), "as a variable") for name in TEXTS]
CASES += [named(given, "a script", leaf_called("a script"), "in names")]
CASES += [
    named(alt, name, "AccumulateGrad (leaf thing = [1.0], .grad None)", "as alt")
    for name in ("an attribute that ends", "20,000 quotes", "a lone high surrogate")
]
CASES += [
    named(
        module,
        "a script",
        "AccumulateGrad (leaf <script>alert(1)</script>.weight = [[1.0]], .grad None)",
        "as a module",
    ),
]


def linear():
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1)
    return model


def one():
    return torch.ones(1, requires_grad=True)


class HostileMapping(Mapping):
    __getitem__ = ran("__getitem__")
    __iter__ = ran("__iter__")
    __len__ = ran("__len__")


HostileDict = type(
    "HostileDict",
    (dict,),
    {**TRAPS, **{name: ran(name) for name in ("items", "keys", "values", "get")}},
)


@case(
    "TypeError: names is HostileMapping. Pass a dict from name to tensor: names={'w': w}, "
    "a model, or the context of module_calls(model)."
)
def names_is_a_mapping_whose_every_method_raises(look):
    look(one(), names=HostileMapping())


@case("AccumulateGrad (leaf w, thing = [1.0], .grad None)")
def names_is_a_dict_whose_every_method_raises(look):
    thing = one()
    names = HostileDict()
    dict.__setitem__(names, "w", thing)
    look(thing, names=names)


@case("TypeError: A key of names is Late. Pass the name as text: names={'w': w}.")
def names_has_a_hostile_text_as_key(look):
    names = {}
    Late = type("Late", (str,), {})
    names[Late("w")] = one()
    for name in ("__eq__", "__hash__", "__str__", "__repr__", "__format__"):
        setattr(Late, name, ran(name))
    look(one(), names=names)


@case(
    "ValueError: There is no part '<b>\"\\\\n\\\\ud800xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'. Pass "
    "one of the names that folded pictures show: 'block 1[80]', 'block 1[8]', 'block 1[0]', 'block 1[98]', "
    "'block 1[90]', 'block 1[89]', 'block 1[88]', 'block 1[87]' and 93 more."
)
def unfold_is_markup(look):
    thing = one()
    for _ in range(100):
        thing = thing.sin()
    look(thing, unfold='<b>"\n\ud800' + "x" * 20_000)


@case("AccumulateGrad (leaf model.weight = [[1.0]], .grad None)")
def a_module_whose_every_property_raises(look):
    body = {
        name: property(ran(name))
        for name in ("weight", "bias", "_parameters", "_modules", "training")
    }
    model = linear()
    result = model(torch.ones(1, 1))
    model.__class__ = type(
        "Trap", (torch.nn.Linear,), {**body, **TRAPS, "__getattribute__": ran("__getattribute__")}
    )
    look(result, space={"model": model})


@case("AccumulateGrad (leaf model.weight = [[1.0]], .grad None)")
def a_module_that_holds_itself(look):
    model = linear()
    result = model(torch.ones(1, 1))
    model._modules["own"] = model
    look(result, space={"model": model})
    model._modules.clear()
