"""On programs as people post them diagnose names the cause, the tensor and the line; a health check
leaves no trace.
"""

import threading

import pytest
import torch
from clinic_runner import answer, programs, shown, verdict
from torch import nn

from autograd_graphs.diagnosing.warnings_heard import last_warning
from helpers import diagnose

CLEAR = "import sys, traceback\ntraceback.clear_frames(sys.last_value.__traceback__)"


@pytest.mark.parametrize("program", programs(), ids=lambda program: program["id"])
def test_the_cause_the_tensor_and_the_line_are_named(program):
    text = answer(program)
    assert False not in verdict(program, text), text


def state(model, optimizer, loss):
    """Return all that a health check could disturb, to the bit."""
    tensors = [*model.parameters(), *model.buffers()]
    grads = [None if one.grad is None else one.grad.tolist() for one in model.parameters()]
    hooks = [len(one._backward_hooks or ()) for one in tensors]
    hooks += [len(one._forward_hooks) + len(one._backward_hooks) for one in model.modules()]
    return (
        [one.detach().clone().tolist() for one in tensors],
        [one._version for one in tensors],
        grads,
        hooks,
        [one.training for one in model.modules()],
        str(optimizer.state_dict()),
        torch.get_rng_state().tolist(),
        loss.item(),
        loss._version,
        torch.is_grad_enabled(),
        torch.is_anomaly_enabled(),
    )


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.rand(())  # draws


@pytest.mark.parametrize("is_nan", [False, True])
def test_a_health_check_changes_nothing(is_nan, capsys):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        model(torch.randn(5, 3)).mean().backward()
        optimizer.step()
    out = Own.apply(model(torch.randn(5, 3)))
    out.retain_grad()
    loss = (out * 0).sqrt().sum() if is_nan else out.mean()
    before = state(model, optimizer, loss)
    diagnose(model, loss, optimizer)
    assert state(model, optimizer, loss) == before
    assert out.grad is None
    loss.backward()  # the graph is still whole


def test_grad_of_a_result_is_not_asked_for(recwarn):
    source = "w = torch.ones(2, requires_grad=True)\nw = w * 2\nw.grad.zero_()"
    text = shown(["import torch, warnings", source, "warnings.simplefilter('error')\ndiagnose()"])
    assert "w has no gradient (.grad is None)" in text


def flat(capsys):
    return " ".join(capsys.readouterr().out.split())


def deep():
    x = torch.ones(1, requires_grad=True)
    for _ in range(10_000):
        x = x.sin()
    return x.sum()


BAD = {
    "no loss": (
        lambda: diagnose(nn.Linear(2, 1)),
        "I had no loss, so I couldn't look at gradients.",
    ),
    "a freed graph": (lambda: after_backward(), "backward() has freed the graph of this loss"),
    "a number": (lambda: diagnose(None, 3.0), "is a float, not a tensor, so it has no graph"),
    "no graph": (lambda: diagnose(None, torch.ones(())), "nothing that it was computed from"),
    "deep": (lambda: diagnose(None, deep()), "I found nothing wrong in this step."),
    "another optimizer": (lambda: diagnose(nn.Linear(2, 1), torch.ones(()), 3), "has no graph"),
    "a class": (lambda: diagnose(nn.Linear, torch.ones(())), "has no graph"),
    "a group": (lambda: diagnose(caught(lambda: group())), "RuntimeError: element 0 of tensors"),
    "an interrupt": (lambda: diagnose(KeyboardInterrupt()), "You interrupted this"),
    "a warning without a line": (
        lambda: diagnose(
            UserWarning("Detected call of `lr_scheduler.step()` before `optimizer.step()`")
        ),
        "The scheduler moved on before the optimizer took its first step",
    ),
    "another thread": (lambda: diagnose(elsewhere()), "does not require grad"),
}


def after_backward():
    model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    diagnose(model, loss)


def caught(function):
    try:
        function()
    except BaseException as error:
        return error


def group():
    error = caught(lambda: torch.ones(1).backward())
    raise ExceptionGroup("two", [ValueError("no"), error])


def elsewhere():
    found = []
    run = threading.Thread(target=lambda: found.append(caught(torch.ones(1).backward)))
    run.start()
    run.join()
    return found[0]


LEAF = "import torch\nx = torch.randn(3, requires_grad=True)"
ALSO = {
    "an in-place module on a leaf": (
        [LEAF, "act = torch.nn.ReLU(inplace=True)\ny = act(x)"],
        "A ReLU with inplace=True edits x, and that's a leaf that requires grad.",
        "Look at line 2: y = act(x)",
    ),
    "a gradient of another shape": (
        [LEAF, "y = x.exp()\nv = torch.ones(2)\nz = torch.autograd.grad(y, x, grad_outputs=v)"],
        "The gradient that you gave, v, has shape (2,), and output 0, y, has shape (3,).",
        "Look at line 3: z = torch.autograd.grad(y, x, grad_outputs=v)",
    ),
    "a frame that is gone": (
        [LEAF, "def go(t):\n    t.detach().sum().backward()\ngo(x)", CLEAR],
        "does not require grad",
        "t has no graph. The graph ended here: detach() cuts it off from its graph. "
        "Look at line 2 of cell [3]: t.detach().sum().backward()",
    ),
    "a cell that was edited since": (
        [LEAF, "loss = x.detach().sum()\nloss.backward()", "loss = x.sum() * 2"],
        "this is an older one, from cell [3].",
        "Look at line 1 of cell [3]: loss = x.detach().sum()",
    ),
    "a cell that %%time ran": (
        [LEAF, "%%time\ny = x.exp()\ny += 1\ny.sum().backward()"],
        "y was edited in place here, after an operation had saved it",
        "Edited by line 2: y += 1",
    ),
    "a generator": (
        [
            f"{LEAF}\ndef all_losses():\n    with torch.no_grad():\n        yield x.sum()",
            "for loss in all_losses():\n    loss.backward()",
        ],
        "no_grad() records no graph. Look at line 5 of cell [2]: yield x.sum()",
    ),
    "a cell that awaits": (
        [
            f"{LEAF}\nasync def go():\n    return x.detach().sum()",
            "loss = await go()\nloss.backward()",
        ],
        "Look at line 4 of cell [2]: return x.detach().sum()",
    ),
    "a repr that IPython called": (
        ["class Odd:\n    def __repr__(self):\n        return 1 / 0", "Odd()"],
        "ZeroDivisionError: division by zero",
        "I can't tell which cell this error came from, so it may be an older one.",
    ),
    "a flag that nobody set": (
        ["import torch\nw = torch.ones(2)", "loss = (w * 2).sum()\nloss.backward()"],
        "loss has no graph: as far as I can see, nothing it was computed from requires grad.",
        "Look at line 1: loss = (w * 2).sum()",
    ),
    "one of two errors": (
        [
            LEAF,
            "raise ExceptionGroup('two', [ValueError('no'), "
            "RuntimeError('element 0 of tensors does not require grad and does not have a grad_fn')])",
        ],
        "It is one of the 2 errors in ExceptionGroup: two",
    ),
}


@pytest.mark.parametrize("name", ALSO)
def test_what_is_known_of_rarer_errors_is_told(name):
    cells, *words = ALSO[name]
    text = " ".join(shown([*cells, "diagnose()"]).split())
    for one in words:
        assert one in text, text


WORKERS = """
import os, tempfile, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    def forward(self, x):
        return self.used(x)
net = DistributedDataParallel(Two())"""
ROUNDS = "for _ in range(2):\n    loss = net(torch.ones(3, 2)).sum()\n    loss.backward()"


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no workers")
def test_workers_that_wait_are_told_for_which_weights():
    text = " ".join(shown([WORKERS, ROUNDS, "diagnose()"]).split())
    assert "spare.weight and spare.bias are not reached by loss" in text
    assert "Look at line 2: loss = net(torch.ones(3, 2)).sum()" in text


def test_a_step_in_which_nothing_is_wrong_points_to_what_sees_the_whole_loop():
    made = (
        "import torch\nnet = torch.nn.Linear(2, 1); opt = torch.optim.SGD(net.parameters(), lr=1)"
    )
    text = " ".join(shown([made, "diagnose(net, net(torch.ones(1, 2)).sum(), opt)"]).split())
    assert "run it inside with watching(model, optimizer)." in text


LAMBDAS = {  # what the method of a module is, and what is said of it
    "that cuts": ("net.peek = lambda h: h.detach()", "The graph ends at h: detach() cuts it off"),
    "that only looks": ("Net.peek = lambda self, h: h", "I found nothing wrong in this step"),
    "beside another": ("Net.peek, other = (lambda self, h: h), (lambda: 0)", "I found nothing"),
    "in a function": (
        "def made():\n    return lambda h: h.detach()\nnet.peek = made()",
        "The graph ends at h: detach() cuts it off",
    ),
}


@pytest.mark.parametrize("name", LAMBDAS)
def test_a_lambda_of_the_learners_is_followed(name):
    program, words = LAMBDAS[name]
    made = (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        h = self.first(x)\n        h = self.peek(h)\n        return self.last(h)\n"
        "net = Net()\nnet.first, net.last = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\n"
    )
    asked = "loss = net(torch.ones(1, 2)).sum()\ndiagnose(net, loss)"
    text = " ".join(shown([made, program, asked]).split())
    assert words in text


HOOKS = {  # what sits where, and what is said of it
    "of a parameter": (
        "net.weight.register_hook(heard.append)\nloss = net(x).sum()",
        "A hook on net.weight may change the gradients",
    ),
    "of a module": (
        "net.register_full_backward_hook(heard.append)\nloss = net(x).sum()",
        "A backward hook on a module may change the gradients",
    ),
    "of a node": (
        "loss = net(x).sum()\nloss.grad_fn.register_hook(heard.append)",
        "A hook on a node of this graph, or on a tensor that no variable holds, may change",
    ),
    "of a tensor without a name": (
        "def go(x):\n    h = net(x)\n    h.register_hook(heard.append)\n    return h.sum()\n"
        "loss = go(x)",
        "A hook on a node of this graph, or on a tensor that no variable holds, may change",
    ),
    "of other tensors": (
        "v = torch.ones(2, requires_grad=True)\nv.register_hook(heard.append)\nh = v * 2\n"
        "h.register_hook(heard.append)\nother = torch.nn.Linear(1, 1)\n"
        "other.register_full_backward_hook(print)\nz = other(torch.ones(1, 1))\n"
        "loss = net(x).sum()",
        "The norms of their gradients: 1 to 1.41.",
    ),
    "of nodes and nameless tensors of another graph": (
        "def go(x):\n    h = net(x)\n    h.register_hook(heard.append)\n    return h.sum()\n"
        "far = go(x)\nfar.grad_fn.register_prehook(heard.append)\nloss = net(x).sum()",
        "The norms of their gradients: 1 to 1.41.",
    ),
    "that are gone": (
        "net.weight.register_hook(heard.append).remove()\nloss = net(x).sum()\n"
        "loss.grad_fn.register_hook(heard.append).remove()\nh = net(x)\n"
        "h.register_hook(heard.append)\nh = net(x)",
        "The norms of their gradients: 1 to 1.41.",
    ),
    "for when .grad is filled": (
        "net.weight.register_post_accumulate_grad_hook(heard.append)\nloss = net(x).sum()",
        "The norms of their gradients: 1 to 1.41.",
    ),
}


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_of_the_learners_do_not_run_and_only_those_of_the_graph_stand_in_the_way(name):
    head = "import torch\nheard, net, x = [], torch.nn.Linear(2, 1), torch.ones(1, 2)"
    program, words = HOOKS[name]
    text = shown([head, program, "diagnose(net, loss)\nprint(heard)"])
    flat = " ".join(text.split())
    assert words in flat, text
    assert ("didn't compute" in flat) == ("hook" in words)
    assert text.endswith("[]\n")
    after = "try:\n    loss.backward()\nexcept TypeError:\n    heard.append(1)\nprint(heard)"
    asked = shown([head, program, "diagnose(net, loss)", after])
    assert asked == shown([head, program, after]), "a learner's own backward runs them again"


OWN = """import torch
class Twice(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x * 2)
    backward = staticmethod(lambda ctx, grad: {})
net = torch.nn.Linear(2, 1)
loss = Twice.apply(net(torch.ones(1, 2))).sum()"""


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("(grad, grad)", "RuntimeError: function TwiceBackward returned an incorrect number of"),
        ("torch.ones(5)", "RuntimeError: Function TwiceBackward returned an invalid gradient"),
        ("1 / 0", "ZeroDivisionError: division by zero."),
    ],
)
def test_a_backward_of_the_learners_that_fails_is_told_as_theirs(returned, words):
    text = " ".join(shown([OWN.format(returned), "diagnose(net, loss)"]).split())
    assert "Going backward from loss, whose graph holds TwiceBackward with a backward of" in text
    assert words in text
    assert "stopped" not in text


def test_a_sparse_gradient_is_measured_as_any_other():
    net = "import torch\nnet = torch.nn.Embedding(5, 4, sparse=True)"
    text = shown([net, "loss = net(torch.tensor([1])).sum()", "diagnose(net, loss)"])
    assert "The norms of their gradients: 2 to 2." in text


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_a_true_sentence(name, capsys):
    call, words = BAD[name]
    call()
    text = flat(capsys)
    assert words in text
    assert "stopped" not in text


def test_an_interrupt_of_the_cell_before_is_no_error_of_autograd():
    text = shown(["import torch", "raise KeyboardInterrupt", "diagnose()"])
    assert "You interrupted this, so nothing failed." in text
    assert "In your line: raise KeyboardInterrupt" in text
    assert "Try:" not in text


def test_a_repr_that_fails_does_not_matter():
    cells = (
        "import torch\nclass Odd:\n    def __repr__(self):\n        raise ValueError('no')\nodd = Odd()",
        "loss = torch.ones(2).sum()\nloss.backward()",
    )
    assert "does not require grad" in shown([*cells, "diagnose()"])


def test_the_newest_of_a_warning_and_an_error_is_meant():
    fails = "1 / 0"
    warns = "(torch.ones(2, requires_grad=True) * 2).grad"
    head = "import torch\ntorch.set_warn_always(True)"
    assert shown([head, fails, warns, "diagnose()"]).startswith("UserWarning")
    assert shown([head, warns, fails, "diagnose()"]).startswith("ZeroDivisionError")


def test_a_warning_is_shown_as_before(recwarn):
    import warnings

    warnings.warn("hm", stacklevel=1)
    assert [str(one.message) for one in recwarn] == ["hm"]
    assert last_warning() is None or last_warning().text != "hm"


TWICE = ["import torch\nw = torch.ones(2, requires_grad=True)", "y = w.exp()\ny.sum().backward()"]
CELLS_ONCE_MORE = {
    "no error": (TWICE, "No cell has failed, so there's nothing I could run once more."),
    "a cell that asks itself": (
        [*TWICE, "y.sum().backward() if y is not None else diagnose(rerun=True)"],
        "That cell asks for a rerun itself.",
    ),
    "a cell that waits": (
        [*TWICE, "import asyncio\nawait asyncio.sleep(0)\ny.sum().backward()"],
        "I can't run that cell once more, because it awaits something",
    ),
    "a cell that was mended by another": (
        [*TWICE, "print(1)\nz = 1 / zero", "zero = 2"],
        "This time it ended without an error, so",
    ),
}


@pytest.mark.parametrize("name", CELLS_ONCE_MORE)
def test_a_cell_that_cannot_run_once_more_gets_a_true_sentence(name):
    cells, words = CELLS_ONCE_MORE[name]
    text = " ".join(shown([*cells, "diagnose(rerun=True)"]).split())
    assert words in text, text
    assert not text.startswith("1")  # what the cell prints is left out


def test_a_cell_runs_once_more_only_where_somebody_asks():
    program = next(one for one in programs() if one["id"] == "detach_in_a_table_of_losses")
    cells = [*program["cells"][:-1], "count = [0]", "count[0] += 1\n" + program["cells"][-1]]
    text = " ".join(shown([*cells, "diagnose()\nprint(count)"]).split())
    assert "diagnose(rerun=True) runs cell [4] once more and watches." in text
    assert text.endswith("[1]")
    assert shown([*cells, "diagnose(rerun=True)\nprint(count)"]).strip().endswith("[2]")


def test_in_a_script_a_rerun_says_what_to_do(capsys):
    diagnose(caught(torch.ones(1).backward), rerun=True)
    assert "run the step again under torch.autograd.detect_anomaly()" in flat(capsys)
