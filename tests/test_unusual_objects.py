"""What real code hands to a look, a recording or an exercise, and what is said of it.

A look at it changes nothing, a recording of it is the backward that torch alone would run, and
`check` answers in a few lines. To add a kind, write a case.
"""

import contextlib
import itertools
import random
import warnings
from dataclasses import dataclass

import numpy
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint

from autograd_graphs.plain_values import describe
from autograd_graphs.playing.player import Player
from helpers import check, record, show, step_through

CASES = []
MADE = "requires_grad=False (made without requires_grad=True, or under no_grad(), or detached, or no input required grad)"
CALLED = []  # by hooks and classes of the cases: a look must leave it as it was


@dataclass(frozen=True)
class Case:
    """Hold what makes a thing, a line of `show`, a piece of what `record` tells, and how an
    exercise calls it. Where `show` or `record` refuses, it is the beginning of the error.
    """

    make: object
    show: str
    record: str = "AccumulateGrad"
    describe: str = "a tensor of shape (), float32"

    @property
    def name(self):
        return self.make.__name__


def case(**says):
    """Put the function that makes a thing on the list."""
    return lambda make: CASES.append(Case(make, **says)) or make


def note(what, then=None):
    """Return a hook, or a method, that notes its call; then it gives `then`, or raises it."""

    def called(*_):
        CALLED.append(what)
        if isinstance(then, Exception):
            raise then
        return then

    return called


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


# Kinds of tensors


@case(
    show="AccumulateGrad (leaf unnamed (2, 3), .grad None)",
    record="arrives, .grad goes from None to (2, 3)",
)
def sparse():
    weights = torch.sparse_coo_tensor(
        [[0, 1], [2, 0]], [3.0, 4.0], (2, 3), check_invariants=True, requires_grad=True
    )
    return weights.sum()


@case(
    show="MulBackward0 → thing (n/a)   ● other = 2",
    record="RuntimeError",
    describe="a tensor of shape (2, j",
)
def nested():
    parts = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    return torch.nested.as_nested_tensor(parts, layout=torch.jagged) * 2


@case(show="SumBackward0 → thing meta", describe="a tensor of shape (), float32 on meta")
def on_meta_and_huge():
    return (torch.empty(10**9, 10**6, device="meta", requires_grad=True) * 2).sum()


@case(show="SumBackward0 → thing")
def fake():
    with FakeTensorMode():
        return (torch.ones(2, requires_grad=True) * 2).sum()


@case(
    show="thing has no graph: requires_grad=False (only floating point and complex tensors can",
    record="RuntimeError: This tensor has no graph",
    describe="a tensor of shape (2,), qint8",
)
def quantized():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)


@case(
    show="thing has no graph: requires_grad=False (it was made under inference_mode())",
    record="RuntimeError: This tensor has no graph",
    describe="a tensor of shape (2,), float32: [1, 1]",
)
def of_inference():
    with torch.inference_mode():
        return torch.ones(2)


@case(
    show="AccumulateGrad (leaf thing (n/a), .grad None)",
    record="ValueError: Attempted to use an uninitialized parameter",
    describe="an object of type UninitializedParameter",
)
def not_initialized():
    return torch.nn.UninitializedParameter()


@case(
    show="AccumulateGrad (leaf thing (2,), .grad None)",
    record="RuntimeError: The loss has shape (2,)",
    describe="a tensor of shape (2,), float32",
)
def with_half_of_its_memory_freed():
    thing = torch.ones(2, requires_grad=True)
    thing.untyped_storage().resize_(4)
    return thing


@case(show=f"thing has no graph: {MADE}", record="RuntimeError: This tensor has no graph")
def leaked_from_vmap():
    leaked = []
    torch.func.vmap(lambda x: leaked.append(x * 2) or x)(torch.ones(2))
    return leaked[0]


# Classes of the learner's own


class Logged(torch.Tensor):
    """Note every operation, and fail to say what it is."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        CALLED.append(getattr(func, "__name__", ""))
        return super().__torch_function__(func, types, args, kwargs or {})

    @property
    def unit(self):
        raise AttributeError("no unit was set")

    def __repr__(self):
        return f"Logged in {self.unit}"


@case(show="AliasBackward0 → thing")
def of_a_class_that_hears_of_operations():
    return torch.ones(2).as_subclass(Logged).requires_grad_().sum()


class Wrapped(torch.Tensor):
    """Hold another tensor, and run each operation on that."""

    @staticmethod
    def __new__(cls, inner):
        how = {"dtype": inner.dtype, "requires_grad": inner.requires_grad}
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, **how)

    def __init__(self, inner):
        self.inner = inner.detach()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        CALLED.append(str(func))
        plain = [one.inner if isinstance(one, cls) else one for one in args]
        return cls(func(*plain, **(kwargs or {})))


@case(show="ExpBackward0 (2,)   ● result (2,)")
def wrapping_another():
    return Wrapped(torch.ones(2, requires_grad=True)).exp().sum()


class Shapeless(torch.Tensor):
    """Hide what torch knows behind a property that fails."""

    @property
    def shape(self):
        raise RuntimeError("the shape is not known yet")

    def __repr__(self):
        return f"Shapeless{self.shape}"


@case(
    show="AccumulateGrad (leaf thing (n/a), .grad None)",
    record="RuntimeError: the shape is not known yet",
    describe="an object of type Shapeless",
)
def with_a_property_that_fails():
    return torch.tensor(2.0).as_subclass(Shapeless).requires_grad_()


# Graphs


@case(show="ExpBackward0 (2,)   ◆ result (packed by a hook)", record="ZeroDivisionError")
def with_an_unpack_hook_that_fails():
    with saved_tensors_hooks(lambda one: one, note("unpack", ZeroDivisionError())):
        return leaf().exp().sum()


@case(
    show="MulBackward0 (2,)   ● self (2,)   ● other (2,)",
    record="[6.0, 12.0] arrives, a hook makes it [42.0, 84.0]",
    describe="a tensor of shape (), float32: 45",
)
def with_hooks_of_every_kind():
    x = leaf()
    y = x * 3
    x.register_hook(note("leaf"))
    x.register_post_accumulate_grad_hook(note("after leaf"))
    y.grad_fn.register_prehook(note("before node"))
    y.grad_fn.register_hook(note("after node"))
    y.register_hook(lambda grad: CALLED.append("tensor") or grad.mul_(7))
    return (y * y).sum()


class Remembering(torch.autograd.Function):
    """Keep a name where torch keeps a method, and hand back more than one gradient's worth."""

    @staticmethod
    def forward(ctx, x):
        ctx.name, ctx.kept = "remembering", x
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        CALLED.append(ctx.name)
        return grad * torch.rand(2) + ctx.saved_tensors[0]


@case(show="RememberingBackward (2,)   ● saved_tensors[0] (2,)", record="by its own backward")
def of_a_function_of_ones_own():
    return Remembering.apply(leaf()).sum()


@case(
    show="#1 AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad None)",
    record=".grad goes from None to None",
)
def stepping_within_backward():
    x = leaf()

    def step(parameter):
        with torch.no_grad():
            parameter.sub_(parameter.grad)
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    return (x * x).sum()


@case(show="CheckpointFunctionBackward (4,)")
def checkpointed_with_dropout():
    def block(t):
        return torch.nn.functional.dropout(t.exp(), 0.5)

    return checkpoint(block, torch.ones(4, requires_grad=True), use_reentrant=True).sum()


@case(show="AccumulateGrad (leaf unnamed = [1.0, 2.0], .grad [3.0, 12.0])")
def in_a_circle_through_grad():
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    return x.grad.sum()


# No tensors


class Broken:
    """Fail at whatever a notebook asks of it."""

    def __repr__(self):
        return self.text

    text = property(lambda self: self.missing)


class Bare(torch.nn.Module):
    """Forget `super().__init__()`, and have a property that fails."""

    def __init__(self):
        pass

    weight = property(lambda self: 1 / 0)


NO_GRAPH = "TypeError: Expected a tensor, got Bare. A module has no graph of its own"


@case(
    show="TypeError: Expected a tensor, got Broken.",
    record="TypeError: Expected a tensor, got Broken.",
    describe="an object of type Broken",
)
def object_whose_repr_fails():
    return Broken()


@case(show=NO_GRAPH, record=NO_GRAPH, describe="an object of type Bare")
def module_that_was_not_initialized():
    return Bare()


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    random.seed(0)
    CALLED.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def nodes_and_leaves(thing):
    """Return the backward functions behind a tensor, and the leaves that they lead to."""
    nodes, leaves = [], []
    with torch._C.DisableTorchFunctionSubclass():
        waiting = [getattr(thing, "grad_fn", None)]
        if waiting[0] is None and isinstance(thing, torch.Tensor):
            leaves.append(thing)
    while waiting:
        node = waiting.pop()
        if node is None or node in nodes:
            continue
        nodes.append(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting += [child for child, _ in node.next_functions]
    return nodes, leaves


def told(tensor):
    """Tell a gradient as far as it has numbers."""
    if tensor is None or type(tensor) is not torch.Tensor or tensor.is_meta:
        return type(tensor)
    return tensor.detach().to_dense().tolist()


def state(thing):
    """Return what no look may change: of the tensor and its graph, and of the process."""
    nodes, leaves = nodes_and_leaves(thing)
    tensors = [thing] if isinstance(thing, torch.Tensor) else []
    seen = [list(CALLED), torch.get_rng_state().tolist(), random.getstate()]
    seen += [torch.is_grad_enabled(), torch.get_default_dtype(), len(warnings.filters)]
    seen.append([node._sequence_nr() for node in nodes])
    with torch._C.DisableTorchFunctionSubclass(), torch._C._DisableTorchDispatch():
        for tensor in tensors + leaves:
            version = None if tensor.is_inference() else tensor._version
            grad = id(tensor.grad) if tensor.is_leaf else None
            hooks = len(tensor._backward_hooks or ())
            seen.append((version, grad, hooks, tensor.requires_grad))
    return seen


def answer(call, *given):
    """Return what a call gives as text, or its error in one line."""
    try:
        return call(*given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@each_case
def test_a_look_says_so_and_changes_nothing(case):
    thing = case.make()
    before, number = state(thing), torch._C._autograd._get_sequence_nr()
    said = answer(lambda thing: show(thing).text, thing)
    assert torch._C._autograd._get_sequence_nr() == number
    lines = [line.lstrip("│├└─ ") for line in said.splitlines()]
    assert any(line.startswith(case.show) for line in lines), said
    assert state(thing) == before


@each_case
def test_an_exercise_calls_it_so_and_changes_nothing(case, capsys):
    thing = case.make()
    before = state(thing)
    assert describe(thing).startswith(case.describe), describe(thing)
    assert check("06.1", thing) is None
    shown = capsys.readouterr()
    assert 0 < len(shown.out) < 2_000
    assert (shown.err, "stopped" in shown.out) == ("", False)
    assert state(thing) == before


def outcome(case, go):
    """Run a backward of a fresh thing; return all that can be told of it from outside."""
    torch.manual_seed(0)
    CALLED.clear()
    thing = case.make()
    leaves = nodes_and_leaves(thing)[1]
    given = answer(go, thing)
    grads = [told(leaf.grad) for leaf in leaves]
    return given, [grads, list(CALLED), torch.get_rng_state().tolist(), torch.is_grad_enabled()]


TENSORS = [case for case in CASES if not case.record.startswith("TypeError")]


@pytest.mark.parametrize("case", TENSORS, ids=lambda case: case.name)
def test_a_recording_says_so_and_is_the_backward_of_torch_alone(case):
    alone = outcome(case, torch.autograd.backward)
    trace, recorded = outcome(case, record)
    assert case.record in str(trace)
    assert recorded == alone[1]
    assert isinstance(trace, str) == isinstance(alone[0], str)
    played, stepped = outcome(case, step_through)
    assert isinstance(played, Player) or case.record in played
    assert stepped == alone[1]


@pytest.mark.parametrize("case", CASES[-2:], ids=lambda case: case.name)
def test_what_is_no_tensor_is_refused_by_a_recording(case):
    assert answer(record, case.make()).startswith(case.record)


def in_itself():
    loop = []
    loop.append(loop)
    return loop


def doubled():
    """Return 2**60 numbers in 60 lists."""
    pile = [1.0]
    for _ in range(60):
        pile = [pile, pile]
    return pile


ANSWERS = {
    "a list of 1": in_itself,
    "a list of 2": doubled,
    "a list of 5000": lambda: [[1.0] * 5_000] * 5_000,
    "an object of type count": itertools.count,
    "the number": lambda: 10**100_000,
    'the text "xxx': lambda: "x" * 10**7,
    "a tensor of shape (1000000000,), float32": lambda: torch.ones(1).expand(10**9),
    "an object of type ndarray: [None, [nan, 2]]": lambda: numpy.array(
        [None, [numpy.nan, 2]], dtype=object
    ),
}


@pytest.mark.parametrize("begins", ANSWERS)
def test_an_answer_of_any_size_is_called_in_a_few_words(begins, capsys):
    given = ANSWERS[begins]()
    words = describe(given)
    assert words.startswith(begins)
    assert len(words) <= 160
    check("06.1", given)
    assert 0 < len(capsys.readouterr().out) < 2_000


class Absent:
    """Be a proxy of what is not there: asked for its class, it fails."""

    @property
    def __class__(self):
        raise RuntimeError("working outside of the context")


def test_a_look_passes_over_variables_that_it_cannot_read_and_shows_names_of_any_kind():
    model = torch.nn.Linear(1, 1)
    model._modules["itself"] = model
    odd = {"show": show, "absent": Absent(), "bare": Bare(), "broken": Broken()}
    named = {"model": model, "<b>\u202e": leaf(3.0)}
    space = odd | named | {"x": model(torch.ones(1)) * named["<b>\u202e"]}
    exec("told = show(x)", space)
    model._modules.clear()
    assert r"leaf <b>\u202e = [3.0]" in space["told"].text
    assert "leaf model.weight" in space["told"].text
    assert "<b>" not in space["told"].svg


class Heard(TorchFunctionMode):
    """Note every function of torch that is called."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        CALLED.append(func)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "around", [Heard, torch.inference_mode, torch.no_grad, contextlib.nullcontext]
)
def test_a_look_in_any_mode_is_the_same_and_unheard(around):
    y = leaf().exp()
    expected = show(y).text
    with around():
        CALLED.clear()
        assert show(y).text == expected
        assert CALLED == []
