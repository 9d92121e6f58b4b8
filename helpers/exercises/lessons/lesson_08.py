"""Exercises of lesson 08, ways out of the graph: who records, a fixed target, validation, and the
walk back.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import Reader, letters, number
from helpers.exercises.tensors import leaf, readable
from helpers.exercises.values import same

# as they are now, whatever becomes of torch's own names for them
_no_grad, _is_grad_enabled = torch.no_grad, torch.is_grad_enabled
_set_grad_enabled = torch.set_grad_enabled


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
    g = torch.tensor(x.tolist())
    made = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g}
    return [name for name, tensor in made.items() if tensor.requires_grad]


RECORDED = Exercise(
    id="08.1",
    reader=letters("abcdefg"),
    truth=_recorded,
    right="The products, the sum and the ReLU asked two things when they ran: is grad mode on, and does one of my"
    " inputs require grad? `f` is a leaf, and its flag was set.",
    misconceptions=(),
    letters=Letters(
        read="ideas 2, 4, 5 and 6: what each way out reaches, and how far",
        about=(
            ("a", "Which tensors went into this product, and does one of them require grad?"),
            ("b", "Two tensors go into this sum: what does the flag of each say?"),
            ("c", "Which grad mode is on when this product runs?"),
            ("d", "Which grad mode is on when this product runs, and what goes into it?"),
            ("e", "What does `eval()` reach: modules, autograd, or both?"),
            ("f", "Who decides about the flag of a leaf?"),
            ("g", "What does `tolist()` hand out, and what does `torch.tensor` know of it?"),
        ),
    ),
    hints=(
        "For `a` to `e` two questions: which mode is on when the operation runs, and does an input require grad?",
        "In this code the innermost block decides about the mode; `eval()` decides nothing about it; a leaf's flag can be set.",
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
g = torch.tensor(x.tolist())
made = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g}
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
    principle="a detached tensor enters an operation as a constant: its number counts, what made it does not.",
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
            example=3.0,
            when=3,
            message="3 is the number in `x`. The derivative of a constant times `x` is the constant: which of the two"
            " factors is that here?",
        ),
        Misconception(
            example="error",
            when="error",
            message="You think that `backward()` raises. The loss has a factor that was not detached, so it was"
            " recorded, and there is a graph to walk.",
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


@dataclass
class _Given:
    """Hold how a model was given, what it makes of `x` in eval mode, and the grad mode around the
    call, before and after.
    """

    expected: object
    numbers: object
    flags: dict[str, bool]
    training: bool
    is_grad_on: bool
    is_grad_on_after: bool = True


class _Net(nn.Module):
    """Be a model that is no Sequential, trained a little, with one frozen weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.norm = nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3)
        self.first.weight.requires_grad_(False)
        self.norm.running_mean.fill_(0.25)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.drop(self.first(x)))


def _given(
    model: nn.Module, x: torch.Tensor, training: bool, is_grad_on: bool = True
) -> tuple[nn.Module, torch.Tensor]:
    model.train(training)
    with _no_grad():
        expected = readable(copy.deepcopy(model).eval()(x))
    model.given = _Given(expected, _numbers(model), _flags(model), training, is_grad_on)
    return model, x


def _numbers(model: nn.Module) -> tuple:
    return tuple((name, readable(tensor)) for name, tensor in model.state_dict().items())


def _changes(before: tuple, after: tuple, parameters: dict[str, bool]) -> str:
    """Say whether the numbers of a model are as before, or only those that a BatchNorm keeps are not."""
    if same(after, before):
        return "as they were"
    if [name for name, _ in before] != [name for name, _ in after]:
        return "changed"
    pairs = zip(before, after, strict=True)
    changed = [one[0] for one, other in pairs if not same(other, one)]
    return "changed" if any(name in parameters for name in changed) else "BatchNorm's changed"


def _flags(model: nn.Module) -> dict[str, bool]:
    return {name: parameter.requires_grad for name, parameter in model.named_parameters()}


@written("nn.Sequential(nn.Dropout(0.5), nn.PReLU(init=0.4)), -torch.ones(100)")
def _in_training() -> tuple[nn.Module, torch.Tensor]:
    return _given(nn.Sequential(nn.Dropout(0.5), nn.PReLU(init=0.4)), -torch.ones(100), True)


@written("nn.Sequential(nn.Dropout(0.5), nn.PReLU(init=0.4)).eval(), -torch.ones(100)")
def _in_evaluation() -> tuple[nn.Module, torch.Tensor]:
    return _given(nn.Sequential(nn.Dropout(0.5), nn.PReLU(init=0.4)), -torch.ones(100), False)


@written("a model in train() of Linear, Dropout and BatchNorm1d, one weight frozen; torch.eye(3)")
def _frozen() -> tuple[nn.Module, torch.Tensor]:
    return _given(_Net(), torch.eye(3), True)


@written("with grad mode off: nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), torch.ones(1, 2)")
def _off_before() -> tuple[nn.Module, torch.Tensor]:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    return _given(model, torch.ones(1, 2), True, is_grad_on=False)


def _validate(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    was_training = model.training
    model.eval()
    with _no_grad():
        y = model(x)
    model.train(was_training)
    return y


def _watched(reader: Reader) -> Reader:
    """Let the function of a reader begin in the grad mode of its case, and note the one it leaves."""

    def read(answer: object) -> object:
        if is_a(answer, type) or not callable(answer):
            return reader.read(answer)

        def run(model: nn.Module, x: torch.Tensor) -> object:
            _set_grad_enabled(model.given.is_grad_on)
            returned = answer(model, x)
            model.given.is_grad_on_after = _is_grad_enabled()
            return returned

        return reader.read(run)

    return replace(reader, read=read)


def _as_seen(returned: object, model: nn.Module, x: torch.Tensor) -> object:
    """See in words what a student can read of the result, and of the model and grad mode
    afterwards.
    """
    given, is_tensor = model.given, is_a(returned, torch.Tensor)
    with torch._C.DisableTorchFunctionSubclass():
        recorded = is_tensor and returned.requires_grad
        inference = is_tensor and returned.is_inference()
    return [
        _result(returned, given.expected),
        "requires grad" if recorded else "no graph",
        "an inference tensor" if inference else "fit for a graph",
        _switched(given.is_grad_on, given.is_grad_on_after),
        _mode(model, given.training),
        _flags_now(given.flags, _flags(model)),
        _changes(given.numbers, _numbers(model), given.flags),
    ]


def _result(returned: object, expected: object) -> str:
    if not is_a(returned, torch.Tensor):
        return "no tensor"
    values = readable(returned)
    if same(values, expected):
        return "as in eval mode"
    return "with dropout" if _is_dropped(values, expected) else "other numbers"


def _is_dropped(values: object, expected: tuple) -> bool:
    """Tell whether each value is zero or twice what is expected, and both occur."""
    if not is_a(values, tuple) or len(values) != len(expected):
        return False
    doubled = [same(value, 2 * one) for value, one in zip(values, expected, strict=True) if value]
    return 0 < len(doubled) < len(values) and all(doubled)


def _switched(before: bool, after: bool) -> str:
    return "as before" if before == after else "left on" if after else "left off"


def _mode(model: nn.Module, training: bool) -> str:
    modes = {module.training for module in model.modules()}
    if len(modes) > 1:
        return "mixed"
    return (
        "as before" if modes == {training} else "train() left" if modes == {True} else "eval() left"
    )


def _flags_now(before: dict[str, bool], after: dict[str, bool]) -> str:
    if before == after:
        return "as they were"
    taken = any(flag and not after.get(name) for name, flag in before.items())
    return "taken down" if taken else "put up"


def _find(*words: str) -> Callable:
    """Match a reading some case of which shows each of these words."""
    return lambda seen: all(any(is_a(one, tuple) and word in one for one in seen) for word in words)


_THAWS = """
def answer(model, x):
    mode = model.training
    for p in model.parameters():
        p.requires_grad_(False)
    y = model.eval()(x)
    for p in model.parameters():
        p.requires_grad_(True)
    model.train(mode)
    return y
"""
_WRITES = """
def answer(model, x):
    mode = model.training
    with torch.no_grad():
        y = model.eval()(x)
        for p in model.parameters():
            p.mul_(1.5)
    model.train(mode)
    return y
"""
_SWITCHES_ON = """
def answer(model, x):
    mode = model.training
    torch.set_grad_enabled(False)
    y = model.eval()(x)
    torch.set_grad_enabled(True)
    model.train(mode)
    return y
"""

VALIDATE = Exercise(
    id="08.3",
    reader=_watched(
        function(
            _in_training,
            _in_evaluation,
            _frozen,
            _off_before,
            observe=_as_seen,
            parts=(
                "the result",
                "its graph",
                "for a later loss",
                "grad mode",
                "the model's mode",
                "the parameters' flags",
                "the model's numbers",
            ),
        )
    ),
    truth=lambda: _validate,
    right="Two switches, each set for the one call, and the model's own one set back to what it was.",
    principle="`eval()` sets a flag of modules, `no_grad()` the mode of autograd, and neither sets the other.",
    misconceptions=(
        Misconception(
            example="def answer(model, x):\n    for p in model.parameters():\n        p.requires_grad_(False)\n"
            "    mode = model.training\n    y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("taken down"),
            message="Your function takes the flags of the parameters down and leaves them so. The next training step"
            " would find nothing to train.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad:\n        return model(x)",
            when=lambda seen: raised(seen, "'type' object does not support the context manager"),
            message="What stands behind your `with` is no context manager. `torch.no_grad` is a class: call it,"
            " `with torch.no_grad():`, and you have one.",
        ),
        Misconception(
            example=_THAWS,
            when=_find("put up"),
            message="After your function a parameter requires grad that did not before: somebody had frozen it. The"
            " flags of parameters need no change here at all.",
        ),
        Misconception(
            example="def answer(model, x):\n    with torch.no_grad():\n        return model(x)",
            when=_find("with dropout"),
            message="Your result still has zeros in it that chance put there: dropout was on. A Dropout looks at its"
            " own flag `training`. Calling `eval()` sets that in each module inside; the flag of the outer module"
            " alone, grad mode and `detach()` do not reach it.",
        ),
        Misconception(
            example=_WRITES,
            when=_find("changed"),
            message="The model's parameters are not as they were before your function. Validation only reads them.",
        ),
        Misconception(
            example="def answer(model, x):\n    for module in model.modules():\n"
            "        if isinstance(module, torch.nn.Dropout):\n            module.p = 0.0\n"
            "    with torch.no_grad():\n        return model(x)",
            when=_find("BatchNorm's changed"),
            message="The numbers that a BatchNorm of the model keeps are not as before: it moves them at each call in"
            " train mode. Dropout is not the only module with two modes.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    with torch.no_grad():\n"
            "        y = model.eval()(x)\n    model.train(mode)\n    return y.tolist()",
            when=_find("no tensor"),
            message="What your function hands back is no tensor. A later loss is to use the result: return the tensor"
            " that the model made.",
        ),
        Misconception(
            example="def answer(model, x):\n    return x",
            when=_find("other numbers"),
            message="Your function hands back other numbers than the model, in eval mode, makes of `x`.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    torch.set_grad_enabled(False)\n"
            "    y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("left off"),
            message="Grad mode is still off when your function is over, so whatever runs next is off the record. A"
            " `with` block ends by itself.",
        ),
        Misconception(
            example=_SWITCHES_ON,
            when=_find("left on"),
            message="Grad mode is on when your function is over, also where it was off before. A `with` block brings"
            " back what was there.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    return model(x)",
            when=_find("requires grad"),
            message="Your result requires grad, so a later loss would be recorded through it. `eval()` does not reach"
            " autograd.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    with torch.inference_mode():\n"
            "        y = model.eval()(x)\n    model.train(mode)\n    return y",
            when=_find("an inference tensor"),
            message="Your result is an inference tensor, which cannot be saved for backward: a later loss that"
            " multiplies it by something that requires grad would raise. Another block records nothing either, and"
            " makes ordinary tensors.",
        ),
        Misconception(
            example="def answer(model, x):\n    mode = model.training\n    with torch.no_grad():\n"
            "        y = model.eval()(x)\n    model.train(not mode)\n    return y",
            when=_find("eval() left", "train() left"),
            message="Your result is right. But the model is left in the other mode than before, in both directions:"
            " look at what you hand to `train()`.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad():\n        return model(x)",
            when=_find("eval() left"),
            message="Your result is right. But a model that was being trained goes on without its dropout afterwards.",
        ),
        Misconception(
            example="def answer(model, x):\n    model.eval()\n    with torch.no_grad():\n        y = model(x)\n"
            "    model.train()\n    return y",
            when=_find("train() left"),
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
    """Lose a graph, gain another one behind the middle, and lose that: who always asks the middle
    does not find it.
    """
    w = leaf(1.0, 2.0)
    p = w.detach()
    q = p + 1
    r = q * 2
    s = r * leaf(3.0, 5.0)
    t = s.detach()
    return {"w": w, "p": p, "q": q, "r": r, "s": s, "t": t, "loss": t.sum()}


def _at_the_loss() -> dict[str, torch.Tensor]:
    v = leaf(1.0, 2.0)
    h = v * 3
    return {"v": v, "h": h, "loss": torch.tensor(h.tolist()).sum()}


def _whole() -> dict[str, torch.Tensor]:
    x = torch.ones(2)
    h = leaf(1.0, 1.0) * x
    return {"x": x, "h": h, "loss": h.sum()}


def _found_again() -> dict[str, torch.Tensor]:
    w = leaf(1.0, 2.0)
    p = w.detach()
    q = p * leaf(3.0, 5.0)
    return {"w": w, "p": p, "q": q, "loss": q.sum()}


LOST = tuple(
    written(text)(path)
    for path, text in (
        (_after_data, '{"x": ones, "h": w * x, "p": h.detach(), "loss": p.sum()}'),
        (
            _lines_before,
            '{"w": w, "h": w * 2, "out": h + 1, "best": out.argmax(), "error": best - 1.0, "loss": error**2}',
        ),
        (_at_a_leaf, '{"w": w, "p": w.detach(), "q": p * 3, "loss": q.sum()}'),
        (
            _lost_twice,
            '{"w": w, "p": w.detach(), "q": p + 1, "r": q * 2, "s": r * v, "t": s.detach(), "loss": t.sum()}',
        ),
        (_at_the_loss, '{"v": v, "h": v * 3, "loss": torch.tensor(h.tolist()).sum()}'),
    )
)
KEPT = (
    written('{"x": ones, "h": w * x, "loss": h.sum()}')(_whole),
    written('{"w": w, "p": w.detach(), "q": p * v, "loss": q.sum()}')(_found_again),
)


def _walk(steps: dict[str, torch.Tensor], names: list[str]) -> str | None:
    """Return the name before the first tensor that requires grad, in this order of names."""
    lost = None
    for name in names:
        if steps[name].requires_grad:
            return lost
        lost = name
    return lost


def _walk_back(steps: dict[str, torch.Tensor]) -> str | None:
    return _walk(steps, list(steps)[::-1])


def _walk_on(steps: dict[str, torch.Tensor]) -> str | None:
    return _walk(steps, list(steps))


def _walk_sorted(steps: dict[str, torch.Tensor]) -> str | None:
    return _walk(steps, sorted(steps)[::-1])


def _walk_from_a(steps: dict[str, torch.Tensor]) -> str | None:
    return _walk(steps, sorted(steps))


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


def _of_all(answer: Callable) -> tuple:
    """Return what `answer` names for each path."""
    return tuple(answer(case()) for case in LOST + KEPT)


def _named(returned: object, steps: dict[str, torch.Tensor]) -> object:
    """See a tensor as a word of its own, in a list, and the text "None" as None; the rest as it is."""
    if is_a(returned, torch.Tensor):
        return ["a tensor"]
    seen = readable(returned)
    return None if is_a(seen, str) and seen.strip() == "None" else seen


def _is_no_name(outcome: object, case: Callable) -> bool:
    return not (outcome is None or is_a(outcome, Failed) or outcome in case())


WALK = Exercise(
    id="08.4",
    reader=function(*LOST, *KEPT, observe=_named),
    truth=lambda: _walk_back,
    right="Back along the path to the first tensor that requires grad: what was made from it lost the graph.",
    principle="where a tensor that requires grad went in, and one that does not came out, a graph ended.",
    misconceptions=(
        Misconception(
            example="def answer(steps):\n    return next(n for n in range(len(steps)) if steps[n].requires_grad)",
            when=lambda seen: all(is_a(one, Failed) and one.kind == "KeyError" for one in seen),
            message="Your function asked `steps` for a key that it has not. Its keys are names: a loop over"
            " `reversed(steps)` gives them, the last one first.",
        ),
        Misconception(
            example="def answer(steps):\n    lost = None\n    for name in reversed(steps):\n"
            "        if steps[name].requires_grad:\n            return lost",
            when=lambda seen: set(seen) == {None},
            message="Your function returns None each time, also where the loss came without a graph. Of such a path the"
            " name of one of its tensors is asked for.",
        ),
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
            example="def answer(steps):\n    lost = 'nothing'\n    for n in reversed(steps):\n"
            "        if steps[n].requires_grad:\n            return lost\n        lost = n",
            when=lambda seen: any(
                _is_no_name(*pair) for pair in zip(seen, LOST + KEPT, strict=True)
            ),
            message="Your function returns something that is neither a key of `steps` nor None, in one path at"
            " least. Ask of each path whether it has that name.",
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
            example="def answer(steps):\n    lost = None\n    for name in sorted(steps, reverse=True):\n"
            "        if steps[name].requires_grad:\n            return lost\n        lost = name",
            when=lambda seen: seen in (_of_all(_walk_sorted), _of_all(_walk_from_a)),
            message="Your answers are those of a walk through the names in alphabetical order. A path has its own"
            " order, that in which `steps` gives its names.",
        ),
        Misconception(
            example="def answer(steps):\n    lost = None\n    for name in steps:\n"
            "        if steps[name].requires_grad:\n            return lost\n        lost = name",
            when=same_as(lambda: _walk_on),
            message="Your answers are those of a walk that begins at the first tensor of the path. The walk back begins"
            " at the loss.",
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
