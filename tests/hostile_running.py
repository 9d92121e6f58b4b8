"""Programs that go backward under hostile conditions: each is run bare and recorded, and must not
tell the difference.

A case is a function of a list, in which the program's own hooks write what they see; it returns a
`World`. What the decorator says is what comes of it: words of the recording's text, and the error
that is torch's or the program's.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import record

CASES: list[Case] = []


@dataclass
class World:
    """Hold what backward is called with, the tensors that are compared after it, and the modes
    around it.
    """

    roots: Any
    tensors: list[torch.Tensor]
    how: dict[str, Any] = field(default_factory=dict)
    around: Callable = contextlib.nullcontext


@dataclass(frozen=True)
class Case:
    """Hold a program, words of the text of its recording, and the error that it ends with, if any."""

    name: str
    make: Callable
    gives: str
    error: type[BaseException] | None
    says: str
    plain: bool


def case(gives="", error=None, says="", plain=False):
    """Add a program to the cases; `plain` where the error is one of the three that we put in
    plainer words.
    """

    def add(make):
        CASES.append(Case(make.__name__.replace("_", " "), make, gives, error, says, plain))
        return make

    return add


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def hooked(told, change=lambda grad: None, act=lambda: None):
    """Return (loss, x, y): a chain whose middle has a hook that notes, acts and returns `change` of
    the gradient.
    """
    x = leaf()
    y = x * 3

    def hook(grad):
        told.append(grad.tolist())
        act()
        return change(grad)

    y.register_hook(hook)
    return (y * y).sum(), x, y


# Gradients of every kind.


@case(".grad goes from None to (3, 2)")
def a_sparse_and_a_dense_gradient_meet(told):
    table = torch.ones(3, 2, requires_grad=True)
    made = table * 1
    sparse = torch.nn.functional.embedding(torch.tensor([0, 2]), made, sparse=True)
    return World(sparse.sum() + (made * 2).sum(), [table, made])


@case("(100000000,) arrives")
def a_gradient_of_1e8_elements_by_expand(told):
    x = leaf(2.0)
    return World(Pick.apply(Widen.apply(x)), [x])


class Widen(torch.autograd.Function):
    """Take one number to one number, by way of a gradient of 10**8 elements that takes no memory."""

    @staticmethod
    def forward(ctx, x):
        return x.expand(10**8)

    @staticmethod
    def backward(ctx, grad):
        return grad.as_strided((1,), (1,)).clone()


class Pick(torch.autograd.Function):
    """Take the first element, and hand back a gradient that is expanded."""

    @staticmethod
    def forward(ctx, x):
        return x.as_strided((), ()).clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.expand(10**8)


class Loud(torch.Tensor):
    """Note every operation that asks the class."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})

    def __repr__(self):
        raise SystemExit("asked")


@case("AccumulateGrad (leaf")
def a_subclass_that_notes_every_operation(told):
    x = torch.ones(2).as_subclass(Loud).requires_grad_()
    loss = (x * x).sum()
    Loud.calls = told
    return World(loss, [x])


class Counting(TorchDispatchMode):
    """Note every operation that reaches a device."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.told.append(str(func))
        return func(*args, **(kwargs or {}))


@case("step 4 of 4")
def a_mode_that_counts_operations(told):
    x = leaf()
    return World((x * x + x).sum(), [x], around=lambda: Counting(told))


# Hooks.


@case("[6.0, 12.0] arrives, a hook makes it [42.0, 84.0]")
def a_hook_edits_its_gradient_in_place(told):
    loss, x, y = hooked(told, lambda grad: [grad.mul_(7), None][1])
    return World(loss, [x, y])


@case("step 4 of 4")
def a_hook_registers_more_hooks(told):
    x = leaf()
    y = x * 3

    def more(grad):
        y.register_hook(lambda grad: told.append("late"))
        y.grad_fn.register_prehook(lambda grads: told.append("late node"))
        x.register_hook(lambda grad: grad * 2)

    (z := y * y).register_hook(more)
    return World(z.sum(), [x, y, z])


@case("stopped:", RuntimeError, "backward() is not")
def a_hook_raises_words_like_torchs(told):
    def act():
        raise RuntimeError("backward() is not to go through the graph a second time, says the hook")

    loss, x, y = hooked(told, act=act)
    return World(loss, [x, y])


@case("step 4 of 4")
def a_hook_records_the_same_graph(told):
    x = leaf()
    y = x * 3
    loss = (y * y).sum()
    inside = []

    def again(grad):
        if not inside:
            inside.append(1)
            told.append(str(record(loss, retain_graph=True)).count("step"))

    y.register_hook(again)
    return World(loss, [x, y], {"retain_graph": True})


@case("step 4 of 4")
def a_hook_turns_modes_and_seeds(told):
    def act():
        torch.manual_seed(7)
        torch.set_grad_enabled(True)

    loss, x, y = hooked(told, act=act)
    return World(loss, [x, y])


@case(".grad goes from None to None")
def the_optimizer_steps_within_backward(told):
    x = leaf()

    def step(parameter):
        told.append(parameter.grad.tolist())
        with torch.no_grad():
            parameter.sub_(parameter.grad)
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    return World((x * x).sum(), [x])


# Errors of every kind.


class Mute:
    """Refuse to be put into words."""

    def __str__(self):
        raise SystemExit("asked")

    __repr__ = __str__


class Slotted(Exception):
    """Have a `trace` of its own."""

    trace = property(lambda self: "mine")


def raising(name, error, says="", gives="stopped:"):
    """Add a case whose hook raises what `error` makes."""

    def make(told):
        def act():
            raise error()

        loss, x, y = hooked(told, act=act)
        return World(loss, [x, y])

    make.__name__ = f"a hook raises {name}"
    case(gives, type(error()), says)(make)


raising("an exception with a trace of its own", lambda: Slotted("words"), "words")
raising("an interrupt", lambda: KeyboardInterrupt())
raising(
    "lone surrogates and markup",
    lambda: ValueError("\ud800<script>\u202e\x1b[31m"),
    gives="\\ud800<script>\\u202e",
)
raising("an exception with an object for words", lambda: RuntimeError(Mute()))


# Functions of the program's own.


def function(backward, save=False):
    """Return a custom Function that multiplies by 2 and goes backward by `backward`."""

    def forward(ctx, x):
        if save:
            ctx.save_for_backward(x)
        return x * 2

    return type(
        "Own",
        (torch.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )


def fails(ctx, grad):
    raise ZeroDivisionError("own")


def mutates(ctx, grad):
    grad.mul_(5)
    return grad


def own(name, backward, gives, error=None, says="", save=False):
    def make(told):
        x = leaf()
        y = function(backward, save).apply(x * 1)
        return World((y * y).sum(), [x, y])

    make.__name__ = f"a function {name}"
    case(gives, error, says)(make)


own("raises", fails, "stopped: own", ZeroDivisionError, "own")
own("mutates its gradient in place", mutates, "step 5 of 5")


@case("Own<script>Backward")
def a_function_with_a_hostile_name_and_attributes(told):
    class Named(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.name = ctx.register_hook = ctx.register_prehook = ctx.variable = (
                ctx._sequence_nr
            ) = "not yours"
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            told.append("ran")
            return grad * 2

    x = leaf()
    return World(type("Own<script>", (Named,), {}).apply(x).sum(), [x])


# Modes around.


def modes(name, around, gives="step 4 of 4", error=None, says=""):
    def make(told):
        x = leaf()
        return World((x * x + x).sum(), [x], around=around)

    make.__name__ = f"under {name}"
    case(gives, error, says)(make)


modes("no_grad", torch.no_grad)
modes("inference_mode", torch.inference_mode)
modes("anomaly mode", torch.autograd.detect_anomaly)
modes("a fake world", lambda: torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True), "")


# What backward is called with.


def called(name, how, gives="", error=None, says="", plain=False, scalar=False):
    """Add a case that calls backward with the arguments that `how(x, y)` makes."""

    def make(told):
        x = leaf()
        y = x * 3
        z = y * y
        return World(z.sum() if scalar else z, [x, y], how(x, y))

    make.__name__ = f"called with {name}"
    case(gives, error, says, plain)(make)


called("a number as gradient", lambda x, y: {"gradient": 3.0}, "stopped:", TypeError)
called(
    "no gradient for two numbers",
    lambda x, y: {},
    "stopped:",
    RuntimeError,
    "only for scalar",
    plain=True,
)
called("inputs of no leaf", lambda x, y: {"inputs": [y]}, "", scalar=True)


@case(".grad goes from [3.0, 12.0] to [12.0, 48.0]")
def gradients_in_a_circle(told):
    x = leaf()
    loss = (x**3).sum()
    loss.backward(create_graph=True)
    grad = x.grad
    return World((grad * x).sum(), [x, grad])


@case("stopped:", RuntimeError, "inside a functorch transform")
def inside_a_functorch_transform(told):
    return World(leaf().sum(), [], around=lambda: functorch_grad())


@contextlib.contextmanager
def functorch_grad():
    torch._C._functorch._grad_increment_nesting()
    try:
        yield
    finally:
        torch._C._functorch._grad_decrement_nesting()


@case("step 4 of 4")
def another_thread_goes_backward_through_the_same_leaf(told):
    x = leaf()

    def elsewhere():
        thread = threading.Thread(target=lambda: (x * 5).sum().backward())
        thread.start()
        thread.join()

    y = x * 3
    y.register_hook(lambda grad: told.append(grad.tolist()) or elsewhere())
    return World((y * y).sum(), [x, y])
