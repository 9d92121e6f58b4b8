"""`module_calls` knows which call made each operation, changes nothing, and leaves nothing behind."""

import copy
import gc
import pickle
import threading
import weakref

import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap
from torch.nn.modules import module as torch_module
from torch.nn.utils.parametrizations import weight_norm
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
    "model: T Addmm T Addmm Tanh",
    "model.0: T Addmm",
    "model.1: T Addmm Tanh",
    "model.1.0: T Addmm",
    "model.1.1: Tanh",
]


def test_every_call_has_its_operations_and_the_loss_has_none():
    model = body()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).exp().sum()
    graph = snapshot(loss, names=calls)
    assert told(graph) == BODY
    assert [graph.nodes[node].operation for node in graph.ran[5:]] == [
        "ExpBackward0",
        "SumBackward0",
    ]
    assert {leaf.name for leaf in graph.leaves} == {
        f"model.{one}" for one in ("0.weight", "0.bias", "1.0.weight", "1.0.bias")
    }
    assert [call.kind for call in graph.calls] == [
        "Sequential",
        "Linear",
        "Sequential",
        "Linear",
        "Tanh",
    ]


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


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_raises_is_closed(error):
    class Stops(nn.Module):
        def forward(self, x):
            raise error

    with pytest.raises(error), module_calls(Stops()) as calls:
        nn.Sequential(Stops())(1)
    assert calls.state == "closed"
    assert calls.models() == {}


def test_nested_blocks_each_know_their_own():
    model, other = body(), nn.Linear(3, 1)
    with module_calls(model) as outer:
        x = model(torch.ones(2, 3))
        with module_calls(other) as inner:
            loss = other(x).sum()
    assert told(snapshot(loss, names=inner)) == ["other: T Addmm"]
    assert told(snapshot(loss, names=outer)) == [*BODY, "other: T Addmm"]


def test_a_block_may_be_entered_and_left_within_a_forward():
    kept = []

    class Enters(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            with module_calls(self) as calls:
                x = self.inner(x)
            kept.append(calls)
            return x.tanh()

    loss = Enters()(torch.ones(2, 3)).sum()
    assert told(snapshot(loss, names=kept[0])) == ["self.inner: T Addmm"]


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


def test_a_module_with_several_names_goes_by_that_of_its_caller():
    shared = nn.Linear(3, 3)
    model = nn.ModuleDict({side: nn.Sequential(shared, nn.Tanh()) for side in ("left", "right")})
    with module_calls(model) as calls:
        x = model["right"](model["left"](torch.ones(1, 3)))
    names = [call.name for call in snapshot(x.sum(), names=calls).calls]
    assert [name for name in names if name.endswith(".0")] == ["model.left.0", "model.right.0"]


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


def test_a_graph_of_one_other_thread_is_told():
    model, made = body(), []
    with module_calls(model) as calls:
        thread = threading.Thread(target=lambda: made.append(model(torch.ones(2, 3))))
        thread.start()
        thread.join()
    assert told(snapshot(made[0], names=calls)) == BODY


def test_equal_numbers_are_refused():
    made, x = [], torch.ones(2, requires_grad=True)

    def run():
        made.append(x.exp().sin())

    model = nn.Tanh()
    with module_calls(model) as calls:
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        loss = model(made[0] + made[1]).sum()
    assert snapshot(loss, names=calls).without_calls == NOT_IN_ORDER


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


def test_parametrizations_functional_call_vmap_and_forward_called_directly():
    model = weight_norm(nn.Linear(3, 3))
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).sum()
    found = told(snapshot(loss, names=calls))
    assert found[0] == "model: WeightNormInterface T Addmm"
    assert "model.parametrizations.weight: WeightNormInterface" in found

    model = body()
    weights = {name: one.detach() * 2 for name, one in model.named_parameters()}
    weights["0.weight"].requires_grad_()
    with module_calls(model) as calls:
        loss = functional_call(model, weights, torch.ones(2, 3)).sum()
    assert "model.0: T Addmm" in told(snapshot(loss, names=calls))

    with module_calls(model) as calls:
        loss = vmap(model)(torch.ones(2, 4, 3)).sum()
    names = {one.partition(":")[0] for one in told(snapshot(loss, names=calls))}
    assert names == {one.partition(":")[0] for one in BODY}

    with module_calls(model) as calls:
        loss = model.forward(torch.ones(2, 3)).sum()
    assert told(snapshot(loss, names=calls)) == BODY[1:]


def test_a_custom_function_that_calls_a_module_is_one_operation_of_its_caller():
    inner = nn.Linear(3, 3)

    class Hidden(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return inner(x)

        @staticmethod
        def backward(ctx, grad):
            return grad

    class Outer(nn.Module):
        def forward(self, x):
            return Hidden.apply(x.exp())

    model = Outer()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3, requires_grad=True)).sum()
    assert told(snapshot(loss, names=calls)) == ["model: Exp HiddenBackward"]


def test_full_backward_hooks_and_create_graph():
    model = body()
    model[0].register_full_backward_hook(lambda *_: None)
    with module_calls(model) as calls:
        x = torch.ones(2, 3, requires_grad=True)
        y = model(x)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        penalty = slope.square().sum()
    graph = snapshot(penalty, names=calls)
    assert graph.without_calls == ""
    assert next(one.partition(":")[0] for one in told(graph)) == "model"
    inside = {graph.ran[at] for call in graph.calls for at in range(call.start, call.stop)}
    after = {node for node in graph.ran if "BackwardBackward" in graph.nodes[node].operation}
    assert after
    assert not inside & after


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


def test_a_context_of_another_model_is_told():
    model, other = body(), nn.Linear(2, 2)
    loss = model(torch.ones(2, 3)).sum()
    with module_calls(other) as calls:
        other(torch.ones(1, 2))
    text = show(loss, names=calls).text
    assert "Module calls not used: none of 1 (other) made a node of this graph." in text


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


def test_two_models_and_a_criterion_have_names_of_their_own():
    actor, critic = nn.Sequential(nn.Linear(3, 3)), nn.Sequential(nn.Linear(3, 3))
    with module_calls(actor, critic) as calls:
        x = critic(actor(torch.ones(2, 3)))
        loss = nn.CrossEntropyLoss()(x, torch.tensor([0, 1]))
    graph = snapshot(loss, names=calls)
    assert [call.name for call in graph.calls] == [
        "actor",
        "actor.0",
        "critic",
        "critic.0",
        "CrossEntropyLoss",
    ]
    assert {leaf.name.rpartition(".")[0] for leaf in graph.leaves} == {"actor.0", "critic.0"}


def test_modules_made_on_the_fly_do_not_take_the_name_of_one_that_is_gone():
    class Maker(nn.Module):
        def forward(self, x):
            for _ in range(4):
                x = nn.Tanh()(x)
            return nn.ReLU()(x)

    model = Maker()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, requires_grad=True)).sum()
    names = [call.name for call in snapshot(loss, names=calls).calls]
    assert len(set(names)) == len(names) == 6
    assert names[-1].startswith("ReLU")


def test_nothing_is_taken_down_while_compiling(monkeypatch):
    model = body()
    with module_calls(model) as calls:
        monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
        loss = model(torch.ones(2, 3)).sum()
        monkeypatch.undo()
    assert snapshot(loss, names=calls).calls == ()


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


def test_a_call_of_another_thread_that_still_runs_ends_with_the_block():
    waits, goes_on = threading.Event(), threading.Event()

    class Slow(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            x = self.inner(x)
            waits.set()
            goes_on.wait(10)
            return x

    quick, slow, found = body(), Slow(), []
    worker = threading.Thread(target=lambda: found.append(slow(quick(torch.ones(2, 3))).sum()))
    with module_calls(quick, slow) as calls:
        worker.start()
        assert waits.wait(10)
    goes_on.set()
    worker.join()
    graph = snapshot(found[0], names=calls)
    last = [call for call in graph.calls if call.name == "slow"]
    inner = [call for call in graph.calls if call.name == "slow.inner"]
    assert (last[0].depth, inner[0].depth) == (0, 1)
    assert last[0].start <= inner[0].start < inner[0].stop <= last[0].stop


def test_a_model_that_is_given_twice_has_one_name():
    model = body()
    with module_calls(model, model) as calls:
        model(torch.ones(2, 3))
    assert list(calls.models()) == ["model"]


class Grows(nn.Module):
    """Make a layer where it is needed first."""

    def forward(self, x):
        if not hasattr(self, "layer"):
            self.layer = nn.Linear(3, 3)
        return self.layer(x)


def test_a_layer_that_a_forward_makes_is_called_as_its_leaves_are():
    model = Grows()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).sum()
    graph = snapshot(loss, names=calls)
    assert [call.name for call in graph.calls] == ["model", "model.layer"]
    assert {leaf.name for leaf in graph.leaves} == {"model.layer.weight", "model.layer.bias"}


def test_many_roots_of_one_class_are_named_by_one_search_each(monkeypatch):
    x = torch.ones(2, requires_grad=True)
    with module_calls(body()) as calls:
        for _ in range(50):
            y = nn.Tanh()(x)
        tries = []
        monkeypatch.setattr(
            calls, "roots", type("Roots", (dict,), {"__contains__": counted(tries)})(calls.roots)
        )
        y = nn.Tanh()(x)
    assert snapshot(y, names=calls).calls[-1].name == "Tanh 51"
    assert len(tries) <= 3


def counted(tries):
    """Return a `__contains__` of a dict that writes down what it is asked."""

    def contains(self, key):
        tries.append(key)
        return key in self.keys()

    return contains


@pytest.mark.slow
def test_where_a_cut_hid_all_that_a_call_made_no_more_is_claimed():
    model = nn.Linear(1, 1)
    with module_calls(model) as calls:
        y = model(torch.ones(1, 1))
        for _ in range(26_000):
            y = y.exp()
    said = snapshot(y, names=calls).without_calls
    assert "made a node that was looked at." in said


def test_what_a_hook_makes_lies_in_the_call_around():
    model = body()
    model[0].register_forward_hook(lambda module, given, made: made * 2)
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).sum()
    lines = told(snapshot(loss, names=calls))
    assert lines[0] == "model: T Addmm Mul T Addmm Tanh"
    assert lines[1] == "model.0: T Addmm"


def test_an_interrupt_leaves_its_call_open_up_to_the_end_of_the_block():
    class Stops(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    model, stops = nn.Linear(2, 2), Stops()
    with module_calls(model, stops) as calls:
        with pytest.raises(KeyboardInterrupt):
            stops(torch.ones(1))
        loss = model(torch.ones(1, 2)).sum()
    names = [call.name for call in snapshot(loss, names=calls).calls]
    assert names == ["stops", "model"]


def test_a_module_in_itself_ends():
    model = nn.Sequential(nn.Tanh())
    model.add_module("me", model)
    with module_calls(model) as calls:
        loss = model[0](torch.ones(1, requires_grad=True)).sum()
    assert [call.name for call in snapshot(loss, names=calls).calls] == ["model.0"]
    with module_calls(copy.deepcopy(model)):
        pass
