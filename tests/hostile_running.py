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
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import CheckpointError, checkpoint

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


def placed(name, put, change, gives, error=None, says=""):
    """Add a case whose hook is put somewhere at `x` or `y = x * 3`, and returns `change(gradient, x)`."""

    def make(told):
        x = leaf()
        y = x * 3
        put(x, y, lambda grad: told.append(str(grad)) or change(grad, x))
        return World((y * y).sum(), [x, y])

    make.__name__ = f"a hook {name}"
    case(gives, error, says)(make)


def on_tensor(x, y, hook):
    y.register_hook(hook)


def on_leaf(x, y, hook):
    x.register_hook(hook)


def before_node(x, y, hook):
    y.grad_fn.register_prehook(lambda grads: hook(grads[0]))


def after_node(x, y, hook):
    y.grad_fn.register_hook(lambda handed, arrived: hook(handed[0]))


def after_leaf(x, y, hook):
    x.register_post_accumulate_grad_hook(lambda leaf: hook(leaf.grad))


def goes_backward(grad, x):
    """Start a backward: in a backward nothing is recorded, unless one asks for it."""
    with torch.enable_grad():
        (x * 5).sum().backward()


def goes_elsewhere(grad, x):
    """Start a backward that never comes to this hook again: else it would go on without end."""
    goes_backward(grad, leaf())


SIZE, COUNT = "changed the size of value", "number of values"
HOOKED = "stopped: hook '<lambda>' has "
for where in (on_tensor, on_leaf, after_leaf, before_node, after_node):
    called_so = where.__name__.replace("_", " ")
    placed(f"{called_so} raises", where, lambda g, x: 1 / 0, "stopped:", ZeroDivisionError)
    placed(f"{called_so} goes backward", where, goes_elsewhere, "from None to [18.0, 36.0]")
placed("returns a sum", on_tensor, lambda g, x: g.sum(), HOOKED, RuntimeError, SIZE)
placed("after leaf returns a number", after_leaf, lambda g, x: 3.0, "stopped:", TypeError, "float")
placed("goes backward to the same leaf", on_tensor, goes_backward, "to [23.0, 41.0]")
placed("before node returns (None,)", before_node, lambda g, x: (None,), "a hook makes it nothing")
placed("after node returns one of two", after_node, lambda g, x: (g,), HOOKED, RuntimeError, COUNT)
placed("after node returns None twice", after_node, lambda g, x: (None, None), "nothing arrives")


def on_module(name, change, gives, error=None, says="", before=False):
    """Add a case with a backward hook on a module, or one before its backward."""

    def make(told):
        x, layer = leaf(), torch.nn.Tanh()
        if before:
            layer.register_full_backward_pre_hook(lambda module, arrived: change(arrived))
        else:
            layer.register_full_backward_hook(lambda module, handed, arrived: change(handed))
        y = layer(x * 1)
        return World((y * y).sum(), [x])

    make.__name__ = f"a hook on a module {name}"
    case(gives, error, says)(make)


on_module("returns a sum", lambda grads: (grads[0].sum(),), "stopped:", RuntimeError, SIZE)
on_module("lets nothing arrive", lambda grads: (None,), "[0.0, 0.0] (by its own", before=True)


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


def edits_saved(ctx, grad):
    ctx.saved_tensors[0].detach().mul_(3)
    return grad


def own(name, backward, gives, error=None, says="", save=False):
    def make(told):
        x = leaf()
        y = function(backward, save).apply(x * 1)
        return World((y * y).sum(), [x, y])

    make.__name__ = f"a function {name}"
    case(gives, error, says)(make)


NUMBER = "returned an incorrect number of gradients"
SHAPED = "but expected shape compatible with [2]"
own("raises", fails, "stopped: own", ZeroDivisionError, "own")
own("mutates its gradient in place", mutates, "step 5 of 5")
own("returns two gradients", lambda ctx, grad: (grad, grad), "stopped:", RuntimeError, NUMBER)
own("returns None", lambda ctx, grad: None, "hands on nothing")
own("returns a number", lambda ctx, grad: 2.0, "stopped:", RuntimeError, "got float")
own("returns a sum", lambda ctx, grad: grad.sum(), "stopped:", RuntimeError, SHAPED)
own("returns more rows", lambda ctx, grad: grad.expand(3, 2), "hands on [12.0, 24.0]")
own("returns whole numbers", lambda ctx, grad: grad.long(), "step 5 of 5")
own("returns sparse", lambda ctx, grad: grad.to_sparse(), "step 5 of 5")
own("edits what it saved", edits_saved, "step 5 of 5", save=True)
own("draws random numbers", lambda ctx, grad: grad * torch.rand(2), "step 5 of 5")


@case("an edit in place by OwnBackward makes it [10.0, 20.0]")
def a_function_edits_a_gradient_that_others_get_too(told):
    x = leaf()
    h = x * 3
    both = h + function(mutates).apply(h)
    return World((both * torch.tensor([1.0, 2.0])).sum(), [x])


@case(".grad goes from [1.0, 2.0] to [2.0, 4.0]")
def a_function_makes_the_grad_of_a_leaf_share_its_memory(told):
    x = leaf()
    view = function(lambda ctx, grad: ctx.saved_tensors[0].view(-1), save=True)
    view.apply(x).sum().backward()  # the next one adds into x itself
    return World(view.apply(x).sum(), [x])


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


# Saved tensors, and what is computed again.


def kept(name, pack, unpack, gives, error=None, says=""):
    """Add a case whose saved tensor goes through `pack` and `unpack`."""

    def make(told):
        def unpacked(one):
            told.append("unpack")
            return unpack(one)

        x = leaf()
        with saved_tensors_hooks(pack, unpacked):
            y = (x * 1).exp()
        return World((y * 2).sum(), [x])

    make.__name__ = f"unpack {name}"
    case(gives, error, says)(make)


def same(one):
    return one


RESULT = "expected to be a Tensor but got result of type"
kept("counts", same, same, "step 5 of 5")
kept("raises", same, lambda one: 1 / 0, "stopped:", ZeroDivisionError)
kept("returns a number", same, lambda one: 3.0, "stopped:", TypeError, RESULT)
kept("edits in place", same, lambda one: one.mul_(2), "step 5 of 5")


def again(name, block, gives, error=None, says="", how=None, **more):
    """Add a case with a checkpoint around `block(x, count)`, where `count` says how often it ran."""

    def make(told):
        def counting(t):
            told.append("run")
            return block(t, len(told))

        x = torch.full((20,), 0.5, requires_grad=True)
        h = checkpoint(counting, x * 1, **{"use_reentrant": False} | more)
        return World((h * 2).sum(), [x], how or {})

    make.__name__ = f"a checkpoint {name}"
    case(gives, error, says)(make)


def drops(t, count):
    return torch.nn.functional.dropout(t.exp(), 0.5) * t


def nests(reentrant):
    inner = lambda t: drops(t.sin(), 0)  # noqa: E731
    return lambda t, count: checkpoint(inner, t.cos(), use_reentrant=reentrant).exp()


def raises_later(t, count):
    if count > 1:
        raise ValueError("the second time")
    return t.exp().sin()


def grows(t, count):
    return t.exp() * torch.ones(count, 1)


for reentrant in (False, True):
    kind = "of the older kind" if reentrant else "of today"
    how = {"use_reentrant": reentrant}
    again(f"{kind} with dropout", drops, "AccumulateGrad", **how)
    again(f"{kind} around the other kind", nests(not reentrant), "AccumulateGrad", **how)
    again(f"{kind} raises later", raises_later, "stopped:", ValueError, "second time", **how)
again("of another shape", grows, "stopped:", CheckpointError, "different metadata")
again("differentiated twice", drops, "AccumulateGrad", how={"create_graph": True})


@case("stopped:", RuntimeError, "incompatible with .grad()")
def a_checkpoint_of_the_older_kind_with_inputs(told):
    x = leaf()
    return World(checkpoint(torch.exp, x, use_reentrant=True).sum(), [x], {"inputs": [x]})


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


def called(name, how, gives="", error=None, says="", plain=False):
    """Add a case that calls backward with the arguments that `how(x, y)` makes."""

    def make(told):
        x = leaf()
        y = x * 3
        z = y * y
        return World(z, [x, y], how(x, y))

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
