"""`module_calls` knows which call made each operation, changes nothing, and leaves nothing behind."""

import gc
import pickle
import threading
import weakref

import pytest
import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils.checkpoint import checkpoint

from autograd_graphs.looking.calls import NOT_IN_ORDER, SEVERAL_THREADS
from helpers import module_calls, record, show, snapshot, step_through

GLOBAL_HOOKS = [name for name in dir(torch_module) if name.startswith("_global_")]


def hooks():
    """Return how many global hooks there are, of each kind."""
    return {name: len(getattr(torch_module, name) or ()) for name in GLOBAL_HOOKS}


@pytest.fixture(autouse=True)
def no_hook_is_left():
    before = hooks()
    yield
    assert hooks() == before


def told(graph):
    """Return each call with the operations in it."""
    names = [graph.nodes[node].operation.removesuffix("Backward0") for node in graph.ran]
    return [f"{call.name}: {' '.join(names[call.start : call.stop])}" for call in graph.calls]


def body():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh()))


BODY = [
    "model: T Addmm T Addmm Tanh", "model.0: T Addmm", "model.1: T Addmm Tanh",
    "model.1.0: T Addmm", "model.1.1: Tanh",
]  # fmt: skip


def test_every_call_has_its_operations_and_the_loss_has_none():
    model = body()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).exp().sum()
    graph = snapshot(loss, names=calls)
    assert told(graph) == BODY
    outside = [graph.nodes[node].operation for node in graph.ran[5:]]
    assert outside == ["ExpBackward0", "SumBackward0"]
    assert {leaf.name for leaf in graph.leaves} == {
        f"model.{n}" for n, _ in model.named_parameters()
    }
    assert " ".join(call.kind for call in graph.calls) == "Sequential Linear Sequential Linear Tanh"


def test_all_looks_take_them():
    model = body()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).sum()
    graph = snapshot(loss, names=calls)
    assert show(loss, names=calls).graph == graph
    trace = record(loss, names=calls, retain_graph=True)
    assert trace.graph.calls == trace.after.calls == graph.calls
    assert step_through(loss, names=calls)
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_looking_with_calls_changes_no_value_no_random_number_and_no_hook():
    def run(with_calls):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True)
        model = nn.Sequential(layer, nn.Dropout(0.5), nn.BatchNorm1d(5))
        x = torch.randn(4, 5, 8)
        if with_calls:
            with module_calls(model) as calls:
                loss = model(x).square().sum()
            show(loss, names=calls)
        else:
            loss = model(x).square().sum()
        loss.backward()
        found = [loss, *(one.grad for one in model.parameters()), *model.state_dict().values()]
        own = [len(one._forward_hooks) + len(one._forward_pre_hooks) for one in model.modules()]
        return found, torch.get_rng_state(), own

    one, other = run(False), run(True)
    assert all(a.equal(b) for a, b in zip(one[0], other[0], strict=True))
    assert one[1].equal(other[1])
    assert one[2] == other[2]


def test_the_fast_path_of_the_encoder_stays_on():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    names = []

    class Spy(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(str(function))
            return function(*args, **(kwargs or {}))

    with module_calls(layer), torch.no_grad(), Spy():
        layer(torch.ones(1, 3, 8))
    assert "aten._transformer_encoder_layer_fwd.default" in names


@pytest.mark.slow
def test_no_tensor_and_no_module_is_kept():
    model = body()
    with module_calls(model) as calls:
        out = model(torch.ones(2, 3))
    left = [weakref.ref(one) for one in (out, model, *model.parameters())]
    graph = snapshot(out, names=calls)
    del out, model
    gc.collect()
    assert [one() for one in left] == [None] * len(left)
    assert calls.models() == {}
    assert told(graph) == BODY


def test_a_forward_that_raises_closes_its_calls():
    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.on = nn.Linear(3, 3), True

        def forward(self, x):
            x = self.inner(x)
            if self.on:
                raise ArithmeticError("on purpose")
            return x

    model, x = Fails(), torch.ones(2, 3)
    with module_calls(model) as calls:
        with pytest.raises(ArithmeticError):
            model(x)
        model.on = False
        loss = model(x).sum()
    assert told(snapshot(loss, names=calls)) == ["model: T Addmm", "model.inner: T Addmm"]


def test_a_module_that_calls_itself_is_told_apart():
    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x, times=3):
            x = x * self.w
            return self(x, times - 1).exp() if times else x

    model = Again()
    with module_calls(model) as calls:
        loss = model(torch.ones(2)).sum()
    found = told(snapshot(loss, names=calls))
    assert found == [
        "model: Mul Mul Mul Mul Exp Exp Exp",
        "model: Mul Mul Mul Exp Exp",
        "model: Mul Mul Exp",
        "model: Mul",
    ]


def test_a_graph_of_two_threads_is_refused_and_drawn_as_without():
    model, made = nn.ModuleList(nn.Linear(3, 3) for _ in range(12)), []

    def half(x, layers):
        for layer in layers:
            x = layer(x).tanh()
        made.append(x)

    with module_calls(model) as calls:
        thread = threading.Thread(target=half, args=(torch.ones(2, 3), model[:6]))
        thread.start()
        thread.join()
        half(made[0], model[6:])
    graph = snapshot(made[1].sum(), names=calls)
    assert (graph.calls, graph.without_calls) in [((), SEVERAL_THREADS), ((), NOT_IN_ORDER)]
    text = show(made[1].sum(), names=calls).text
    assert graph.without_calls in text
    assert "reads " in text


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing(reentrant):
    model = body()
    with module_calls(model) as calls:
        x = torch.ones(2, 3, requires_grad=True)
        loss = model[1](checkpoint(model[0], x, use_reentrant=reentrant)).sum()
    first = [] if reentrant else ["model.0: T Addmm"]
    rest = [one for one in BODY if one.startswith("model.1")]
    graph = snapshot(loss, names=calls)
    assert told(graph) == [*first, *rest]
    loss.backward()


def test_where_the_forward_ran_before_no_match_is_told_calmly():
    model = body()
    loss = model(torch.ones(2, 3)).sum()
    with module_calls(model) as calls:
        model(torch.ones(2, 3))
    graph = snapshot(loss, names=calls)
    assert graph.calls == ()
    assert graph.without_calls == (
        "Module calls not used: none of 5 (model) made a node of this graph. "
        "Run the forward of this tensor in the block."
    )
    assert graph.without_calls in show(loss, names=calls).text
    assert graph.leaves[0].name.startswith("model.")


def test_a_context_never_entered_or_still_open_or_used_again_is_told():
    model = body()
    loss = model(torch.ones(2, 3)).sum()
    for look in (show, snapshot, record, step_through):
        with pytest.raises(ValueError, match=r"never entered\. Write: with module_calls"):
            look(loss, names=module_calls(model))
        with (
            module_calls(model) as calls,
            pytest.raises(ValueError, match=r"still open\. Write: with module_calls"),
        ):
            look(loss, names=calls)
    with pytest.raises(RuntimeError, match=r"used before\. Make a new one"), calls:
        pass
    with module_calls(model) as calls, pytest.raises(RuntimeError, match="used before"), calls:
        pass


@pytest.mark.parametrize("given", [(), (3,), (torch.ones(1),), (nn.Linear(1, 1), None)])
def test_anything_but_models_is_refused(given):
    with pytest.raises(TypeError, match=r"Write: with module_calls\(model\)"):
        module_calls(*given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0:RuntimeWarning")
def test_what_torch_compiled_is_one_call_and_warns_of_global_hooks():
    model = body()
    compiled = torch.compile(model, backend="aot_eager")
    with module_calls(model) as calls, pytest.warns(UserWarning, match="global hooks"):
        loss = compiled(torch.ones(2, 3)).sum()
    graph = snapshot(loss, names=calls)
    assert graph.without_calls == ""
    assert graph.nodes[graph.ran[-1]].operation == "SumBackward0"
    assert {call.stop for call in graph.calls} == {1}, "all nodes but the sum are in the calls"
    assert graph.nodes[graph.ran[0]].operation == "CompiledFunctionBackward"
