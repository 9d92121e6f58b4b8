"""Whatever check is given: it never raises, hangs, floods the page or runs foreign code, and leaves
all as it was.
"""

import gc
import itertools
import random
import sys
import tracemalloc
import warnings

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_graphs.guard import guarded
from helpers import check, hint, solution
from helpers.exercises import exercise as registry
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function
from helpers.exercises.reading import choice, letters, number, numbers
from helpers.exercises.recognise import like

pytestmark = pytest.mark.usefixtures("unfolded")

KINDS = (
    (number(), 2.5),
    (numbers(), [1, 2]),
    (choice("a", "b"), "b"),
    (letters("abc"), ["a", "b"]),
    (function(lambda: torch.ones(2)), lambda x: x),
)
MOST_LINES = 6  # of one reply
KNOWN = {"One.": lambda seen, right: seen == "no such reading", "Two.": like("answer = object()")}


def kind(at: int) -> Exercise:
    reader, truth = KINDS[at - 1]
    parts = {"hints": ("Look.", "Try."), "solution": "answer = 0", "known": KNOWN}
    return Exercise(f"99.{at}", reader, "Yes.", truth=lambda: truth, **parts)


@pytest.fixture(autouse=True)
def lesson_99(monkeypatch):
    """Replace all lessons by one with an exercise of every kind."""
    every = tuple(kind(at) for at in range(1, len(KINDS) + 1))
    monkeypatch.setattr(registry, "lessons", lambda: ("99",))
    monkeypatch.setattr(registry, "exercises", lambda lesson: every if lesson == "99" else ())


def replies(answer: object, capsys: pytest.CaptureFixture) -> str:
    """Check `answer` against every kind and return what was printed; see that it is short and in
    order.
    """
    for at in range(1, len(KINDS) + 1):
        assert check(f"99.{at}", answer) is None
    check(answer, 1)
    hint(answer)
    solution(answer)
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "stopped" not in shown.out
    assert all(len(line) < 800 for line in shown.out.splitlines())
    printed = 3 if answer is loud else 0  # two lines of it, and how much it was
    assert len(shown.out.splitlines()) <= MOST_LINES * len(KINDS) + 3 + printed
    return shown.out


RAN = []


class ForeignCodeRan(BaseException):
    """Be raised by every trap; not a SystemExit, so that pytest can still report on a trap."""


def refuse(self, *args, **kwargs):
    RAN.append(type.__dict__["__name__"].__get__(type(self)))
    raise ForeignCodeRan


DUNDERS = """
repr str eq ne lt gt hash bool len iter next contains getitem getattr getattribute float int index format bytes
dir sizeof reduce add radd instancecheck subclasscheck array torch_function
"""
TRAPS = {f"__{name}__": refuse for name in DUNDERS.split()} | {"__class__": property(refuse)}
Hostile = type("Hostile", (), dict(TRAPS))
Meta = type("Meta", (type,), TRAPS | {"__name__": property(refuse), "__mro__": property(refuse)})
KINDRED = [
    type(f"Hostile{base.__name__}", (base,), dict(TRAPS))
    for base in (list, tuple, set, str, int, float, dict)
]


def test_a_subclass_whose_every_method_raises_is_read_as_its_base(capsys):
    RAN.clear()
    for kindred in KINDRED:
        replies(kindred.__base__.__new__(kindred), capsys)
    assert RAN == []


def test_an_object_whose_every_method_raises_runs_nothing(capsys):
    RAN.clear()
    out = replies(Hostile(), capsys)
    assert "an object of type Hostile" in out
    replies([Hostile(), (Hostile(),)], capsys)
    replies({"key": Hostile()}, capsys)
    assert RAN == []


class Sly(torch.Tensor):
    """Be a tensor whose every operation runs user code."""

    @classmethod
    def __torch_function__(cls, *args, **kwargs):
        raise ForeignCodeRan

    def __repr__(self):
        raise ForeignCodeRan


def test_a_tensor_subclass_is_read_by_torch_alone(capsys):
    out = replies(torch.full((1,), 2.5).as_subclass(Sly), capsys)
    assert "99.1 ✓" in out


def itself() -> list:
    loop = []
    loop.append(loop)
    return loop


def doubled() -> list:
    """Return a list of 2**60 leaves in 60 objects."""
    pile = [1.0]
    for _ in range(60):
        pile = [pile, pile]
    return pile


def wide() -> list:
    row = [[1.0] * 5000] * 5000
    return [row, row]


def deep() -> list:
    pile = []
    for _ in range(100_000):
        pile = [pile]
    return pile


JUNK = {
    "generator": lambda: (i for i in range(3)),
    "endless": itertools.count,
    "range": lambda: range(10**15),
    "itself": itself,
    "doubled": doubled,
    "wide": wide,
    "deep": deep,
    "big int": lambda: 10**100_000,
    "long text": lambda: "x" * 10**7,
    "nan": lambda: torch.tensor([float("nan"), 1.0]),
    "expanded": lambda: torch.ones(1).expand(10**9),
    "sparse": lambda: torch.eye(2).to_sparse(),
    "nested tensor": lambda: torch.nested.nested_tensor(
        [torch.ones(2), torch.ones(3)], layout=torch.jagged
    ),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "complex tensor": lambda: torch.ones(2, dtype=torch.complex64),
    "broadcast": lambda: numpy.broadcast_to(numpy.float32(1), (10**9,)),
    "object array": lambda: numpy.array([Hostile, None], dtype=object),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", JUNK.values(), ids=JUNK)
def test_junk_gets_a_short_reply(make, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # making quantized and nested tensors warns
        made = make()
    replies(made, capsys)


SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just(...)
)
TENSORS = st.lists(st.floats(width=32), max_size=5).flatmap(
    lambda values: st.sampled_from(
        [torch.tensor(values), numpy.array(values), torch.tensor(values).to(torch.int64)]
    )
)
TREES = st.recursive(
    SIMPLE | TENSORS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(answer=TREES | st.sets(SIMPLE) | st.functions(like=lambda x: ..., returns=TREES))
def test_whatever_is_given_check_returns_none(answer, request):
    replies(answer, request.getfixturevalue("capsys"))


def recurse(x):
    return recurse(x)


def loud(x):
    for line in range(20_000):
        print(f"{line:1000}")
        print(f"{line:1000}", file=sys.stderr)
    return x


def silence(x):
    sys.stdout.close()
    return x


def raises(error: BaseException):
    def answer(x):
        raise error

    return answer


class Unsayable(Exception):
    """Be an error that cannot be put into words."""

    def __str__(self):
        raise SystemExit

    __repr__ = __str__


def vary(x):
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.autograd.set_detect_anomaly(True)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(3)
    torch.autocast("cpu").__enter__()
    torch.autograd.graph.saved_tensors_hooks(torch.sin, torch.sin).__enter__()
    torch.nn.modules.module.register_module_forward_hook(lambda *_: 1 / 0)
    gc.disable()
    sys.setrecursionlimit(3_000)
    torch.manual_seed(7)
    random.seed(7)
    numpy.random.seed(7)
    warnings.simplefilter("error")
    torch.inference_mode().__enter__()
    x.add_(1)
    return x - 1


FUNCTIONS = {
    "exits": raises(SystemExit(3)),
    "unsayable": raises(Unsayable()),
    "recursion": recurse,
    "loud": loud,
    "silence": silence,
    "vary": vary,
    "wrong arity": lambda: 1,
    "hostile result": lambda x: Hostile(),
    "endless result": lambda x: itertools.count(),
}


def states() -> list:
    """Return everything that a student's function may have left changed."""
    return [
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_anomaly_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_num_threads(),
        torch.is_autocast_enabled("cpu"),
        torch._C._autograd._top_saved_tensors_default_hooks(True),
        dict(torch.nn.modules.module._global_forward_hooks),
        gc.isenabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
        numpy.random.get_state()[1].tolist(),
        list(warnings.filters),
        sys.stdout,
        sys.stderr,
        sys.getrecursionlimit(),
    ]


@pytest.mark.parametrize("name", [*FUNCTIONS, "vary, under no_grad"])
def test_a_function_leaves_everything_as_it_was(name, capsys):
    answer = FUNCTIONS[name.partition(",")[0]]
    with torch.set_grad_enabled("no_grad" not in name):
        before = states()
        replies(answer, capsys)
        assert states() == before


def test_gradients_are_on_for_the_students_function_even_under_no_grad(capsys):
    tracked = function(
        lambda: torch.ones(1, requires_grad=True), observe=lambda y, x: y.requires_grad
    )
    with torch.no_grad():
        assert tracked.read(lambda x: x * 2) == (True,)
    with torch.inference_mode():
        assert tracked.read(lambda x: x * 2) == (True,)


def test_reading_a_tensor_changes_nothing_about_it(capsys):
    leaf = torch.ones(3, requires_grad=True)
    result = leaf.exp()
    before = (result._version, result.grad_fn, leaf.grad, leaf._version)
    replies(result, capsys)
    assert (result._version, result.grad_fn, leaf.grad, leaf._version) == before
    result.sum().backward()
    assert torch.equal(leaf.grad, result)


def test_a_default_device_stays_what_it_was(capsys):
    try:
        torch.set_default_device("meta")
        replies(lambda x: torch.set_default_device("cpu"), capsys)
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)


def test_what_a_notebook_left_on_does_not_reach_the_truth_and_stays(capsys):
    """Each state here would make another truth, or stop the exercise."""
    doubled = torch.autograd.graph.saved_tensors_hooks(lambda one: one, lambda one: one * 2)
    on_modules = torch.nn.modules.module.register_module_forward_hook(lambda *given: given[2] * 2)
    try:
        torch.set_default_device("meta")
        with doubled, torch.autocast("cpu"):
            before = states()
            seen = guarded(_gradient_of_a_layer)
            assert states() == before
    finally:
        on_modules.remove()
        torch.set_default_device(None)
    assert seen == _gradient_of_a_layer()


def _gradient_of_a_layer():
    torch.manual_seed(0)
    layer = torch.nn.Linear(1, 1)
    (layer(torch.ones(1)) ** 2).backward()
    return layer.weight.grad.item()


def test_an_interrupt_passes_and_all_is_put_back():
    def answer(x):
        vary(x)
        raise KeyboardInterrupt

    before = states()
    with pytest.raises(KeyboardInterrupt):
        check("99.5", answer)
    assert states() == before


def test_what_a_function_prints_is_not_even_kept():
    tracemalloc.start()
    try:
        guarded(loud, 1)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_output_that_knows_no_tick_gets_a_question_mark(monkeypatch):
    class Ascii:
        text = ""

        def write(self, text):
            text.encode("ascii")
            self.text += text

        def flush(self):
            pass

    out = Ascii()
    monkeypatch.setattr(sys, "stdout", out)
    check("99.1", 2.5)
    assert out.text == "99.1 ? Yes.\n"
