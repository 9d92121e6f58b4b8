"""Exercises of lesson 08, ways out of the graph: who records, a fixed target, validation, and the
walk back.
"""

from collections.abc import Callable

import torch
from torch import nn

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function
from helpers.exercises.readers import letters, number
from helpers.exercises.tensors import leaf
from helpers.untrusted.sandbox import Failed


def _recorded() -> list[str]:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    a = x.detach() * 2
    b = a + x
    with torch.no_grad():
        c = b * 2
        with torch.enable_grad():
            d = c * x
    e = nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()(x)
    f = x.detach().requires_grad_()
    made = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
    return [name for name, tensor in made.items() if tensor.requires_grad]


RECORDED = Exercise(
    id="08.1",
    reader=letters("abcdef"),
    truth=_recorded,
    right="The products, the sum and the ReLU asked two things when they ran: is grad mode on, and does one of my"
    " inputs require grad? `f` is a leaf, and its flag was set.",
    misconceptions=(
        Misconception(
            example=[False, True, False, True, True, True],
            when=lambda seen: bool(seen - set("abcdef")),
            message="Something in your answer is none of the six names. Give a list of single names, each in quotes,"
            " not a list of True and False.",
        ),
        Misconception(
            example=["b", "d", "f"],
            when=lambda seen: seen == set("bdf"),
            message="You think that `eval()` stops the recording. It is a flag on modules, and autograd does not read"
            " it.",
        ),
        Misconception(
            example=["b", "e"],
            when=lambda seen: bool(seen) and not seen & set("acdf"),
            message="You let each way out have the last word. A block inside another one can switch grad mode on"
            " again, and a detached tensor can be asked to require grad.",
        ),
        Misconception(
            example=["a", "b", "d", "e", "f"],
            when=lambda seen: "a" in seen,
            message="You counted `a`. What went into its product is a tensor without a past, and a 2.",
        ),
        Misconception(
            example=["b", "c", "d", "e", "f"],
            when=lambda seen: "c" in seen,
            message="You counted `c`. Its input requires grad, and an operation asks for the mode as well.",
        ),
        Misconception(
            example=["d", "e", "f"],
            when=lambda seen: bool(seen) and "b" not in seen,
            message="You left `b` out because one of its inputs was cut off. To an operation such an input is a"
            " constant; ask for the other one.",
        ),
        Misconception(
            example=["b", "e", "f"],
            when=lambda seen: bool(seen) and "d" not in seen,
            message="You let the outer block decide for `d`. Ask which mode is on at the moment when its product runs.",
        ),
        Misconception(
            example=["b", "d", "e"],
            when=lambda seen: bool(seen) and "f" not in seen,
            message="You take detaching for something that lasts. A detached tensor is a leaf, and the flag of a leaf"
            " is yours to set.",
        ),
    ),
    hints=(
        "For `a` to `e` two questions: which mode is on when the operation runs, and does an input require grad?",
        "The innermost block decides about the mode; `eval()` decides nothing about it; a leaf's flag can be set.",
    ),
    solution="""
x = torch.tensor([2.0, 3.0], requires_grad=True)
a = x.detach() * 2
b = a + x
with torch.no_grad():
    c = b * 2
    with torch.enable_grad():
        d = c * x
e = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.ReLU()).eval()(x)
f = x.detach().requires_grad_()
made = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
answer = [name for name, tensor in made.items() if tensor.requires_grad]
""",
)


def _gradient(loss: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    loss.backward()
    return x.grad


def _fixed_target() -> torch.Tensor:
    x = torch.tensor(3.0, requires_grad=True)
    return _gradient((x * x).detach() * x, x)


def _moving_target() -> torch.Tensor:
    x = torch.tensor(3.0, requires_grad=True)
    return _gradient((x * x) * x, x)


def _cut_path() -> torch.Tensor:
    x = torch.tensor(3.0, requires_grad=True)
    return _gradient(x * x, x)


def _other_factor() -> torch.Tensor:
    x = torch.tensor(3.0, requires_grad=True)
    return _gradient((x * x) * x.detach(), x)


TARGET = Exercise(
    id="08.2",
    reader=number(),
    truth=_fixed_target,
    right="The detached factor entered as a constant: the derivative of a constant times `x` is that constant.",
    misconceptions=(
        Misconception(
            example=27.0,
            when=same_as(_moving_target),
            message="That is the derivative of the values, x cubed. It counts the path through the target too, and"
            " that path was cut.",
        ),
        Misconception(
            example=18.0,
            when=same_as(_other_factor),
            message="You followed the path through the target and left out the other one. Which of the two was cut?",
        ),
        Misconception(
            example=6.0,
            when=same_as(_cut_path),
            message="That is the derivative of the target alone, and the way to the target is cut. The loss has"
            " another factor.",
        ),
        Misconception(
            example=None,
            when=None,
            message="You think that a detached tensor makes the whole loss untracked. It enters as a constant, and the"
            " other factor still requires grad.",
        ),
        Misconception(
            example=0,
            when=0,
            message="You take the whole loss for a constant. One of its two factors is, and the other one is `x`.",
        ),
        Misconception(
            example=1.0,
            when=1,
            message="You let the detached factor vanish. Its graph is left out, its number is not.",
        ),
    ),
    hints=(
        "Write the loss as a constant times `x`. Which number is the constant?",
        "Two paths led from `loss` to `x`. One of them was cut; what does the other one bring?",
    ),
    solution="""
x = torch.tensor(3.0, requires_grad=True)
target = x * x
loss = target.detach() * x
loss.backward()
answer = x.grad.item()
""",
)


def _in_training() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(nn.Dropout(0.5), nn.PReLU()), -torch.ones(100)


def _in_evaluation() -> tuple[nn.Module, torch.Tensor]:
    model, x = _in_training()
    return model.eval(), x


def _validate(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    was_training = model.training
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train(was_training)
    return y


def _as_seen(returned: object, model: nn.Module, x: torch.Tensor) -> object:
    """See in words what a student can read of the result and of the model afterwards."""
    if not isinstance(returned, torch.Tensor):
        return returned
    modes = {module.training for module in model.modules()}
    same = torch.equal(returned, model.eval()(x))
    return [
        "with dropout" if (returned == 0).any() else "no dropout" if same else "other numbers",
        "grad mode on" if torch.is_grad_enabled() else "grad mode left off",
        "recorded" if returned.requires_grad else "no graph",
        "an inference tensor" if returned.is_inference() else "fit for a graph",
        "model in mixed modes"
        if len(modes) > 1
        else "train mode"
        if modes == {True}
        else "eval mode",
        "parameters free"
        if all(p.requires_grad for p in model.parameters())
        else "parameters frozen",
    ]


def _find(words: str) -> object:
    return lambda seen: any(isinstance(one, tuple) and words in one for one in seen)


VALIDATE = Exercise(
    id="08.3",
    reader=function(_in_training, _in_evaluation, observe=_as_seen),
    truth=lambda: _validate,
    right="Two switches, each set for the one call, and the model's own one set back to what it was.",
    misconceptions=(
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad():\n        y = model(x)",
            when=lambda seen: seen == (None, None),
            message="Your function returns nothing: hand the prediction back with `return`.",
        ),
        Misconception(
            example="def answer(model, x):\n    for p in model.parameters():\n        p.requires_grad_(False)\n"
            "    mode = model.training\n    y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("parameters frozen"),
            message="Your function takes the flags of the parameters down and leaves them so. The next training step"
            " would find nothing to train.",
        ),
        Misconception(
            example="def answer(model, x):\n    with torch.no_grad():\n        return model(x)",
            when=_find("with dropout"),
            message="Grad mode does not reach dropout: your result still has zeros in it that chance put there.",
        ),
        Misconception(
            example="def answer(model, x):\n    return x",
            when=_find("other numbers"),
            message="Your function hands back other numbers than the model, in eval mode, makes of `x`.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    torch.set_grad_enabled(False)\n"
            "    y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("grad mode left off"),
            message="Grad mode is still off when your function is over, so whatever runs next is off the record. A"
            " `with` block ends by itself.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    return model(x)",
            when=_find("recorded"),
            message="`eval()` does not reach autograd: your result still has a graph behind it.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    with torch.inference_mode():\n"
            "        y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("an inference tensor"),
            message="Your result cannot be saved for backward, so a later loss that multiplies by it would raise."
            " There is a block that keeps less from its results.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad():\n        return model(x)",
            when=lambda seen: all(isinstance(one, tuple) and "eval mode" in one for one in seen),
            message="Your result is right. But a model that was being trained goes on without its dropout afterwards.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad():\n        y = model(x)\n"
            "    model.train()\n    return y",
            when=lambda seen: all(isinstance(one, tuple) and "train mode" in one for one in seen),
            message="Your result is right. But a model that was in eval mode before is not in it any more.",
        ),
    ),
    hints=(
        "Two switches: one for dropout, one for autograd. And one of them has to be remembered before it is set.",
        "`model.training` says the mode, `model.train(mode)` sets it; the call itself goes into a `no_grad` block.",
    ),
    solution="""
def answer(model, x):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train(was_training)
    return y
""",
)


def _after_data() -> dict[str, torch.Tensor]:
    x = torch.ones(2)
    h = leaf(1.0, 1.0) * x
    p = h.detach()
    return {"x": x, "h": h, "p": p, "loss": p.sum()}


def _lines_before() -> dict[str, torch.Tensor]:
    w = leaf(1.0, 2.0)
    h = w * 2
    out = h + 1
    best = out.argmax()
    error = best - 1.0
    return {"w": w, "h": h, "out": out, "best": best, "error": error, "loss": error**2}


def _at_a_leaf() -> dict[str, torch.Tensor]:
    w = leaf(1.0, 2.0)
    p = w.detach()
    q = p * 3
    return {"w": w, "p": p, "q": q, "loss": q.sum()}


def _lost_twice() -> dict[str, torch.Tensor]:
    w = leaf(1.0, 2.0)
    p = w.detach()
    q = p * leaf(3.0, 5.0)
    r = q.detach()
    return {"w": w, "p": p, "q": q, "r": r, "loss": r.sum()}


def _whole() -> dict[str, torch.Tensor]:
    x = torch.ones(2)
    h = leaf(1.0, 1.0) * x
    return {"x": x, "h": h, "loss": h.sum()}


def _found_again() -> dict[str, torch.Tensor]:
    w = leaf(1.0, 2.0)
    p = w.detach()
    q = p * leaf(3.0, 5.0)
    return {"w": w, "p": p, "q": q, "loss": q.sum()}


LOST = (_after_data, _lines_before, _at_a_leaf, _lost_twice)
KEPT = (_whole, _found_again)


def _walk_back(steps: dict[str, torch.Tensor]) -> str | None:
    lost = None
    for name in reversed(steps):
        if steps[name].requires_grad:
            return lost
        lost = name
    return lost


def _first_without(steps: dict[str, torch.Tensor]) -> str | None:
    return next((name for name, tensor in steps.items() if not tensor.requires_grad), None)


def _first_cut(steps: dict[str, torch.Tensor]) -> str | None:
    """Name the first tensor without the flag after one that has it, if the loss has none."""
    if steps["loss"].requires_grad:
        return None
    names = iter(steps)
    next(name for name in names if steps[name].requires_grad)
    return next(name for name in names if not steps[name].requires_grad)


def _last_with(steps: dict[str, torch.Tensor]) -> str:
    return [name for name, tensor in steps.items() if tensor.requires_grad][-1]


def _last_with_node(steps: dict[str, torch.Tensor]) -> str | None:
    """Walk back to the first tensor that has a `grad_fn`, past a leaf that requires grad."""
    lost = None
    for name in reversed(steps):
        if steps[name].grad_fn is not None:
            return lost
        lost = name
    return None


def _of_lost(answer: Callable) -> tuple:
    """Return what `answer` names for the paths whose graph was lost."""
    return tuple(answer(case()) for case in LOST)


def _named(returned: object, steps: dict[str, torch.Tensor]) -> object:
    """See a tensor as a word of its own, in a list; the rest as it is."""
    return ["a tensor"] if isinstance(returned, torch.Tensor) else returned


def _is_no_name(outcome: object, case: Callable) -> bool:
    return not (outcome is None or isinstance(outcome, Failed) or outcome in case())


WALK = Exercise(
    id="08.4",
    reader=function(*LOST, *KEPT, observe=_named),
    truth=lambda: _walk_back,
    right="Back along the path to the first tensor that requires grad: what was made from it lost the graph.",
    misconceptions=(
        Misconception(
            example="def answer(steps):\n    lost = None\n    for t in reversed(steps.values()):\n"
            "        if t.requires_grad:\n            return lost\n        lost = t",
            when=lambda seen: ("a tensor",) in seen,
            message="Your function returns a tensor. The question is for its name, the key in `steps`.",
        ),
        Misconception(
            example="def answer(steps):\n    return [n for n in steps if not steps[n].requires_grad]",
            when=lambda seen: any(isinstance(one, tuple) for one in seen),
            message="Your function returns a list or a tuple. Only one of these tensors was made from a recorded one"
            " and lost the loss its graph: return its name alone.",
        ),
        Misconception(
            example="def answer(steps):\n    lost = 'None'\n    for n in reversed(steps):\n"
            "        if steps[n].requires_grad:\n            return lost\n        lost = n",
            when=lambda seen: any(
                _is_no_name(*pair) for pair in zip(seen, LOST + KEPT, strict=True)
            ),
            message="Your function returns something that is neither a key of `steps` nor None. A text such as"
            ' "None" is not None.',
        ),
        Misconception(
            example="def answer(steps):\n    for name, t in steps.items():\n        if not t.requires_grad:\n"
            "            return name",
            when=same_as(lambda: _first_without),
            message="Your function names the first tensor without the flag. That may be an input which never had a"
            " graph to lose.",
        ),
        Misconception(
            example="def answer(steps):\n    return [n for n in steps if steps[n].requires_grad][-1]",
            when=lambda seen: seen[: len(LOST)] == _of_lost(_last_with),
            message="Your function returns the last tensor that still has its graph. The question is who lost it: one"
            " step closer to the loss.",
        ),
        Misconception(
            example="def answer(steps):\n    name = list(steps)[-1]\n    return None if steps[name].requires_grad"
            " else name",
            when=lambda seen: set(seen[: len(LOST)]) == {"loss"},
            message="Your function names the loss, where the graph is missed. It may have been lost steps before.",
        ),
        Misconception(
            example="def answer(steps):\n    lost = None\n    for n in reversed(steps):\n"
            "        if steps[n].grad_fn is not None:\n            return lost\n        lost = n",
            when=lambda seen: seen[: len(LOST)] == _of_lost(_last_with_node),
            message="Your function does not stop at a leaf that requires grad. A leaf has no `grad_fn`, and a path to"
            " it can be lost all the same: ask for the flag.",
        ),
        Misconception(
            example="def answer(steps):\n    names, lost = list(steps), None\n"
            "    for before, name in zip(names, names[1:]):\n"
            "        if steps[before].requires_grad and not steps[name].requires_grad:\n            lost = name\n"
            "    return lost",
            when=lambda seen: any(isinstance(one, str) for one in seen[len(LOST) :]),
            message="Your function names a tensor although the loss of that path requires grad: its graph is there.",
        ),
        Misconception(
            example="def answer(steps):\n    if steps['loss'].requires_grad:\n        return None\n"
            "    names = list(steps)\n    for before, name in zip(names, names[1:]):\n"
            "        if steps[before].requires_grad and not steps[name].requires_grad:\n            return name",
            when=same_as(lambda: _first_cut),
            message="Your function names the first place where a graph was lost. After it another weight may bring a"
            " new one: which place left the *loss* without?",
        ),
    ),
    hints=(
        "Begin at the end: `for name in reversed(steps)`. When may you stop?",
        "Remember the name that you saw last; at the first tensor that requires grad, that name is the answer.",
    ),
    solution="""
def answer(steps):
    lost = None
    for name in reversed(steps):
        if steps[name].requires_grad:
            return lost
        lost = name
""",
)

EXERCISES = (RECORDED, TARGET, VALIDATE, WALK)
