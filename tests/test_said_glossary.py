"""What the glossary and the symptom index say, run in plain torch. In `SHOWN` each block quotes its
entries, and shows in code that they are right. See tests/said.py.

What the snippet of a cause shows, tests/test_clinic.py runs.
"""

import linecache
import re

import pytest
import torch
from torch.nn import functional as F

from helpers import diagnose
from helpers.clinic.catalogue import book


def of(name):
    """Return all that the glossary says of a word, or of the first symptom whose message has it."""
    for term in book().terms:
        if term.name.strip("`") == name:
            return term.says
    symptom = next(one for one in book().symptoms if name in one.message)
    return ". ".join([symptom.means, *(f"{one.what}. {one.remedy}" for one in symptom.causes)])


def leaf(*numbers):
    return torch.tensor(numbers[0] if len(numbers) == 1 else numbers, requires_grad=True)


def nodes(result):
    """Name what `next_functions` leads to; None for a constant."""
    return [node and type(node).__name__ for node, _ in result.grad_fn.next_functions]


def raises(words, kind=RuntimeError):
    return pytest.raises(kind, match=words)


def told(given, capsys):
    diagnose(given)
    return " ".join(capsys.readouterr().out.split())


SPACE = {"torch": torch, "F": F, "leaf": leaf, "nodes": nodes, "raises": raises}
SPACE |= {"LEAF": "AccumulateGrad", "EDITED": "at version 1; expected version 0"}
SPACE |= {"warns": pytest.warns}
SHOWN = """
# next_functions: an index has none, and the mask of `where` has none
table, x = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
index, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
picked = x[index], x[mask], x.gather(0, index), x.masked_fill(mask, 0.0)
for one in (*picked, F.embedding(index, table), F.nll_loss(table, torch.zeros(4, dtype=torch.long))):
    assert nodes(one) == [LEAF]
assert nodes(torch.where(mask, x, x * 2)) == [LEAF, "MulBackward0"]  # three went in
assert nodes(x * mask) == [LEAF, None]  # a mask that is multiplied

# next_functions: a `Function` that you write has an entry for each input
class Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        return x[index]
assert nodes(Pick.apply(leaf(2.0, 3.0), torch.tensor([0]))) == [LEAF, None]

# constant: If a node has an entry for it in `next_functions`, this entry is `(None, 0)`
x = torch.ones(3, requires_grad=True)
assert nodes(x * torch.ones(3)) == nodes(5 * x) == nodes(5 + x) == [LEAF, None]
assert (5 * x).grad_fn.next_functions[1] == (None, 0)
assert len(x[torch.tensor([0])].grad_fn.next_functions) == 1

# no_grad(): takes no flag down. An `enable_grad()` inside switches it on again
# grad mode: Operations look at it before they record
# requires_grad: results of recorded operations have the flag, too
x = leaf(2.0, 3.0)
assert (x * 2).requires_grad and not (x > 2).requires_grad
with torch.no_grad():
    assert (torch.is_grad_enabled(), (x * 2).requires_grad, x.requires_grad) == (False, False, True)
    with torch.enable_grad():
        assert (torch.is_grad_enabled(), (x * 2).requires_grad) == (True, True)

# inference_mode(): no version counter, so no node may save it. *Where it stops:* a view of an ordinary
# Inference tensors cannot be saved: A new tensor that you compute under inference_mode() has no version
# Inplace update to inference tensor: has no version counter. Outside the block nobody may edit it
# Inplace update to inference tensor: torch writes first and refuses afterwards, so the numbers have changed
w, plain = torch.ones(2, requires_grad=True), torch.ones(2)
with torch.inference_mode():
    made, view = plain + 1, plain[:1]
with raises("do not track version counter"):
    made._version
with raises("cannot be saved for backward"):
    w * made
with raises("Inplace update to inference tensor"):
    made += 1
assert made.tolist() == [3.0, 3.0]
copy = made.clone()
copy += 1
assert (copy.tolist(), view._version, (w[:1] * view).requires_grad) == ([4.0, 4.0], 0, True)

# retain_grad(): each later `backward()` adds the gradient that passes through `t` to `t.grad`
t = leaf(2.0) * 3
t.retain_grad()
y = t * t
y.backward(retain_graph=True)
y.backward()
assert t.grad.item() == 2 * 12.0

# saved tensor: an input or the result, and sometimes it is something else, such as indices or a mean
x = torch.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
assert x.max(dim=0).values.grad_fn._saved_indices.tolist() == [1, 0]
assert F.layer_norm(x, (2,)).grad_fn._saved_result1.flatten().tolist() == [3.0, 2.5]

# device: Most operations need all their inputs on one device
# is not on the expected device: and this operation moves none of them
here, there = torch.ones(2), torch.ones(2, device="meta")
for meet in (lambda: here + there, lambda: here * there):
    with raises("not on the expected device"):
        meet()
assert (here.device.type, there.device.type) == ("cpu", "meta")
for moved in (there.copy_(here), there * torch.tensor(2.0), there[torch.tensor([0, 1])]):
    assert moved.device.type == "meta"

# version counter: edits through `.data`, through NumPy or by a fused optimizer are not counted
w = torch.tensor([2.0], requires_grad=True)
w.data.add_(2)
w.detach().numpy()[:] -= 1
w.grad = torch.ones(1)
torch.optim.SGD([w], lr=0.5, fused=True).step()
assert (w.item(), w._version) == (2.5, 0)
torch.optim.SGD([w], lr=0.5).step()
assert (w.item(), w._version) == (2.0, 1)

# does not require grad and does not have: The first one that has a grad_fn is still in the graph, so the step after it cut the graph off
# does not require grad and does not have: If you reach the weight itself, ask for its requires_grad
# A tensor shows requires_grad=True: A view shows the flag of its base, even if the view itself was not
w = torch.tensor([2.0], requires_grad=True)
h = w * 2
with torch.no_grad():
    view = h.view(-1)
assert view.requires_grad and view.grad_fn is None
for cut in (h.detach(), view):
    back = [cut.sum() if cut is not view else view, cut, h, w]  # each was computed from the next
    assert next(one for one in back if one.grad_fn) is h
assert w.requires_grad and w.grad_fn is None
with raises("does not require grad and does not have a grad_fn"):
    h.detach().sum().backward()
view.sum().backward()  # no error, and nothing arrives
assert w.grad is None

# has no attribute 'zero_': or zero_grad() has emptied it since
# 'float' and 'NoneType': or zero_grad() has emptied it
# zero_grad(): By default each of them is None after it
layer = torch.nn.Linear(1, 1)
for options, left in (({"set_to_none": False}, torch.zeros(1)), ({}, None)):
    layer(torch.ones(1, 1)).sum().backward()
    layer.zero_grad(**options)
    assert layer.bias.grad == left
with raises("'NoneType' object has no attribute 'zero_'", AttributeError):
    layer.weight.grad.zero_()
with raises("'float' and 'NoneType'", TypeError):
    0.5 * layer.weight.grad

# AccumulateGrad: knows this leaf as its `variable`, and adds what arrives to the leaf's `.grad`
x = leaf(1.0, 2.0)
((node, _), _) = (x * 3).grad_fn.next_functions
assert type(node).__name__ == LEAF and node.variable is x
node(torch.ones(2))
node(torch.ones(2))
assert x.grad.tolist() == [2.0, 2.0]

# accumulation: Where paths meet, one call adds what comes along them. And each call of `backward()` adds
# chain rule: Where paths meet, you add
x, arrived = leaf(3.0), []
x.register_hook(lambda grad: arrived.append(grad.item()))
for _ in range(2):
    (x * 2 + x * 5).backward()
assert (arrived, x.grad.item()) == ([7.0, 7.0], 14.0)

# backward(): adds to the `.grad` of each leaf that requires grad. With `inputs=` it fills only the tensors
x, other, c = leaf(3.0), leaf(5.0), torch.tensor(2.0)
for _ in range(2):
    (x * c).backward()
(x * other).backward(inputs=[x])
assert (x.grad.item(), other.grad, c.grad, c.is_leaf) == (9.0, None, None, True)

# CopySlices: If you write into a view, as in `h[0] = 5.0`, and the edit is recorded, then `h` gets a node
h = torch.ones(3, requires_grad=True) * 2
with torch.no_grad():
    h[0] = 5.0
assert type(h.grad_fn).__name__ == "MulBackward0"
h[0] = 5.0
assert type(h.grad_fn).__name__ == "CopySlices"

# grad_fn: made the tensor, or wrote into it last. A leaf has None there. *Where it stops:* a view whose
# non-leaf: a recorded operation made it or wrote into it
# leaf: so it has no `grad_fn`
# is_leaf: `t.is_leaf` is True if `t` has no `grad_fn`
x, q = torch.ones(2, requires_grad=True), torch.zeros(2)
y = x * 2
assert type(y.grad_fn).__name__ == "MulBackward0"
y += 1
q += x
assert type(y.grad_fn).__name__ == type(q.grad_fn).__name__ == "AddBackward0"
view = y[:1]
assert type(view.grad_fn).__name__ == "SliceBackward0"
for edited in (y, view):
    edited += 1
    assert type(view.grad_fn).__name__ == "AsStridedBackward0"
assert all(one.grad_fn is None and one.is_leaf for one in (x, x.detach(), torch.ones(1)))
assert not any(one.grad_fn is None or one.is_leaf for one in (y, q, view))

# leaf: a recorded operation can return a leaf beside its result, as `max` does with its indices
# requires_grad: The floating-point results of recorded operations
result = (torch.ones(2, requires_grad=True) * 1).max(0)
assert type(result.values.grad_fn).__name__ == "MaxBackward0"
assert (result.values.requires_grad, result.values.is_leaf) == (True, False)
assert (result.indices.requires_grad, result.indices.is_leaf) == (False, True)
assert result.indices.grad_fn is None

# meta device: A move is recorded there, too: the `.to('meta')` of a leaf that requires grad gives you a non-
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    assert x.to("meta").is_leaf
moved = x.to("meta")
assert (torch.ones(2).to("meta").is_leaf, x.is_leaf, moved.is_leaf) == (True, True, False)
assert moved.shape == x.shape
with raises("no data", NotImplementedError):
    moved.detach().to("cpu")

# Node: `torch.autograd.graph.Node` is the class of the nodes that a graph is made of. A tensor is not a
# tensor: If a recorded operation made it, it also knows the backward function
x, Node = torch.ones(2, requires_grad=True), torch.autograd.graph.Node
y = (x * 3).sum()
assert [isinstance(one, Node) for one in (y.grad_fn, y.grad_fn.next_functions[0][0], y)] == [True, True, False]
assert (torch.ones(2) * 2).grad_fn is None

# non-leaf: unless you called `retain_grad()` or named the tensor in `inputs=`
x = leaf(2.0)
plain, retains, asked = x * 3, x * 3, x * 3
retains.retain_grad()
(plain * retains).backward()
asked.square().backward(inputs=[asked])
assert (retains.grad.item(), asked.grad.item()) == (6.0, 12.0)
with warns(UserWarning, match="not a leaf Tensor"):
    assert plain.grad is None

# training step: `backward()` fills each `.grad` and frees what was saved
# freed: the node lets go of it. The nodes and the edges stay
# Trying to backward: or autograd.grad() has freed it. The node itself is still there
# Trying to backward: If you read node._saved_self after that, you get the same error
for back in (lambda loss, w: loss.backward(), torch.autograd.grad):
    w = leaf(2.0)
    loss = w * w
    back(loss, w)
    assert nodes(loss) == [LEAF, LEAF]
    for again in (loss.backward, lambda: loss.grad_fn._saved_self):
        with raises("second time .or directly access saved tensors"):
            again()

# Variable: returns a plain tensor that is cut off from the graph of `t`
y = leaf(2.0) * 3
wrapped = torch.autograd.Variable(y)
assert type(wrapped) is torch.Tensor
assert (wrapped.grad_fn, wrapped.requires_grad, y.requires_grad) == (None, False, True)

# gradient: It has the shape of that tensor
# gradient=v: Here `v` has the shape of `y`
# Mismatch in shape: It must have the shape of the output at which backward begins
x = torch.ones(2, 3, requires_grad=True)
y = x.sum(dim=1)
with raises("Mismatch in shape"):
    y.backward(torch.ones(3))
y.backward(torch.ones(2))
assert x.grad.shape == x.shape

# Jacobian: of each output by each input. `backward()` gives you one combination of its rows
# vector-Jacobian product: the gradient that arrives, times the Jacobian of the operation
x, v = leaf(2.0, 3.0), torch.tensor([5.0, 7.0, 1.0])
outputs = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, x[1] * 4])
table = torch.autograd.functional.jacobian(outputs, x.detach())
assert table.shape == (3, 2)
outputs(x).backward(v)
assert x.grad.tolist() == (v @ table).tolist()

# detach(): in the same memory, with the same version counter and without a graph
y = leaf(2.0, 3.0) * 3
cut = y.detach()
cut[0] = 1.0
assert (y[0].item(), y._version, cut._version, cut.grad_fn) == (1.0, 1, 1, None)

# edge: that node, and a number that says which of its results went in
_, second = (torch.ones(2, 3, requires_grad=True) * 2).unbind()
((node, number),) = (second * 2).grad_fn.next_functions[:1]
assert (type(node).__name__, number) == ("UnbindBackward0", 1)

# define-by-run: the graph holds only the operations that ran. The next call builds another graph
run = lambda x: x * 2 if x > 0 else x + 1
ran = [run(leaf(at)).grad_fn for at in (1.0, -1.0, 1.0)]
assert [type(node).__name__ for node in ran] == ["MulBackward0", "AddBackward0", "MulBackward0"]
assert ran[0] is not ran[2]

# create_graph: so you can differentiate a gradient once more
# retain_graph: so you can go back once more over the same values
x = leaf(3.0)
y = x**3
(kept,) = torch.autograd.grad(y, x, retain_graph=True)
(first,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(first, x)
assert (kept.requires_grad, first.item(), second.item()) == (False, 27.0, 18.0)

# view: If you edit what they share, you see it in both
base = torch.zeros(3)
view = base[1:]
view[0], base[2] = 5.0, 7.0
base[0] = 1.0
assert (base.tolist(), view.tolist()) == ([1.0, 5.0, 7.0], [5.0, 7.0])

# version counter: it compares the count with the one at saving
# The gradient is wrong: or the version counter missed it, or nobody compared the versions
# has been modified: backward() notices it when it reads the tensor
hooks, on_cpu = torch.autograd.graph.saved_tensors_hooks, torch.autograd.graph.save_on_cpu
x = leaf(2.0, 3.0)
saved = (x**2).sum()
with hooks(lambda t: t, lambda t: t):
    kept = (x**2).sum()
with on_cpu():
    moved = (x**2).sum()
x.detach().add_(1)
with raises(EDITED):
    saved.backward()
for loss in (kept, moved):
    assert torch.autograd.grad(loss, x)[0].tolist() == [6.0, 8.0]
a, b = leaf(1.0), leaf(1.0)
y = a * b
a.detach().add_(1)
with raises(EDITED):
    torch.autograd.grad(y, a)  # its slope is b, and a is read all the same

# a view of a leaf: A view has no memory of its own, so you would edit the leaf
w = leaf(2.0, 3.0)
with raises("a view of a leaf Variable"):
    w[0] = 5.0
with torch.no_grad():
    w[0] = 5.0
assert w.tolist() == [5.0, 3.0]

# is a view and is being: refuses a recorded edit of one of them
# is a view and is being: Where it stops: you may edit the pieces of tensor_split, hsplit and vsplit
plain = torch.ones(2, 1)
plain.unbind()[0].mul_(2)
assert plain.tolist() == [[2.0], [1.0]]
x = torch.ones(2, 1, requires_grad=True) * 5
for several in (x.unbind, lambda: x.split(1), lambda: x.chunk(2)):
    with raises("is a view and is being modified inplace"):
        several()[0].add_(1)
with torch.no_grad():
    x.unbind()[0].add_(1)
for one in (x.tensor_split(2), x.vsplit(2), x.hsplit(1)):
    one[0].add_(1)
assert x.tolist() == [[9.0], [6.0]]

# is a view and is being: write for i in range(len(x)): x[i] += 1
# is a view and is being: If x is a leaf that requires grad, do it under torch.no_grad()
for is_leaf in (True, False):
    x = torch.ones(2, 1, requires_grad=True)
    if is_leaf:
        with raises("a view of a leaf Variable"):
            x[0] += 1
    else:
        x = x * 1
    with torch.set_grad_enabled(not is_leaf):
        for i in range(len(x)):
            x[i] += 1
    assert (x.tolist(), x.is_leaf) == ([[2.0], [2.0]], is_leaf)

# is a view and its base: Torch records nothing more with these views
for is_on in (True, False):
    x = torch.ones(2, 1, requires_grad=True) * 5
    rows = list(x)
    with torch.set_grad_enabled(is_on):
        x[0] = 1.0
    for one in (torch.sum, torch.clone, torch.exp):
        with raises("its base or another view of its base"):
            one(rows[1])
    with torch.no_grad():
        assert rows[1].clone().item() == 5.0

# has been modified: is that of a recorded edit, or else of the operation that made the tensor
# has been modified: It does not tell you which operation saved it
w = torch.ones(1, requires_grad=True)
for is_recorded, name in ((True, "Add"), (False, "Mul")):
    x = w * 2
    y = x**2
    with torch.set_grad_enabled(is_recorded):
        x += 1
    with raises(f"output 0 of {name}, is at"):
        y.backward()

# has been modified: The message calls the weight of nn.Linear AsStrided
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
loss = model(torch.ones(4, 2)).sum()
loss.backward(retain_graph=True)
torch.optim.SGD(model.parameters(), lr=0.1).step()
with raises("output 0 of AsStrided, is at version"):
    loss.backward()

# The gradient is wrong: Both are counted, so backward() notices if a node saved the tensor
# The gradient is wrong: Where it stops: inside save_on_cpu() nobody compares
def under_no_grad(y):
    with torch.no_grad():
        y *= 5
x = torch.ones(1, requires_grad=True)
slope = lambda result: torch.autograd.grad(result, x)[0].item()
edits = ((under_no_grad, True), (lambda y: y.detach().mul_(5), True), (lambda y: y.data.mul_(5), False))
for edit, is_noticed in edits:
    y = x * 2
    edit(y)
    assert (y.item(), slope(y)) == (10.0, 2.0)  # the graph knows nothing of the edit
    y = x * 2
    z = y**2
    edit(y)
    if is_noticed:
        with raises(EDITED):
            z.backward()
    else:
        assert slope(z) != 8.0
y = x * 2
y = y * 5
assert slope(y) == 10.0

# The gradient is wrong: or through NumPy, which counts nothing
x = torch.ones(1, requires_grad=True)
y = x**2
x.detach().numpy()[:] += 1
assert (x.item(), x._version, torch.autograd.grad(y, x)[0].item()) == (2.0, 0, 4.0)
norm = torch.nn.BatchNorm1d(1)
before = norm.running_var._version, norm.running_var.item()
norm(torch.tensor([[2.0], [5.0]]))
assert norm.running_var._version == before[0]
assert norm.running_var.item() != before[1]

# An in-place edit of a tensor: A product with a number saves no tensor of yours
for factor in (3, torch.tensor([3.0])):
    x = torch.ones(1, requires_grad=True) * 1
    y = x * factor
    x += 1
    y.backward()
y = x * factor
factor += 1
with raises("modified by an inplace operation"):
    y.backward()

# A second backward() runs: Sums save no tensor, and neither does adding a constant
x = torch.ones(2, requires_grad=True)
for add in (x + x, x + torch.ones(2), x - 3):
    loss = add.sum()
    loss.backward()
    loss.backward()
loss = (x * 2).sum()
loss.backward()
with raises("a second time"):
    loss.backward()

# A weight does not learn: call torch.autograd.grad(loss, w), not backward(). It raises if no path leads to
w, v = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
for loss in (v * 2, w.detach() * v):
    with raises("appears to not have been used in the graph"):
        torch.autograd.grad(loss, w)

# can't retain_grad on Tensor: or on a result that you computed under no_grad()
with torch.no_grad():
    y = leaf(1.0) * 2
with raises("can't retain_grad"):
    y.retain_grad()

# can't optimize a non-leaf: leaves none in a computed tensor, unless you called retain_grad()
# optimizer: writes new numbers into the same weight, outside the graph
w = torch.ones(1, requires_grad=True) * 2
w.retain_grad()
w.backward()
torch.optim.SGD([w], lr=0.5).step()
assert (w.grad.item(), w.item()) == (1.0, 1.5)
with raises("can't optimize a non-leaf Tensor", ValueError):
    torch.optim.SGD([w * 2])
v = torch.tensor([2.0], requires_grad=True)
place = v.data_ptr()
(v * 3).sum().backward()
torch.optim.SGD([v], lr=0.5).step()
assert (v.item(), v.data_ptr() == place, v.grad_fn) == (0.5, True, None)

# in-place operation: changes the tensor that you give it, and makes no new one. Mostly it changes the numbers
x = torch.ones(2)
assert x.add_(1) is x and x.unsqueeze_(0) is x
assert (x.tolist(), x._version) == ([[2.0, 2.0]], 2)

# parameter: It requires grad, unless you froze it
layer = torch.nn.Linear(2, 1)
assert all(one.requires_grad for one in layer.parameters())
layer.requires_grad_(False)
assert [one.requires_grad for one in layer.parameters()] == [False, False]

# The gradient is NaN: as in sqrt(where(x > 0, x, 1.0)), not only its result
x = torch.tensor([0.0, 4.0], requires_grad=True)
torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0).sum().backward()
assert x.grad.tolist() == [0.0, 0.25]

# custom function: Its `apply` makes one node, however much the forward computes
# save_for_backward: Torch guards it by its version, and backward frees it
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x
    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2
x = leaf(2.0)
y, z = Cube.apply(x), Cube.apply(x)
assert nodes(y) == [LEAF]
y.backward()
with raises("already been freed"):
    y.grad_fn.saved_tensors
x.detach().add_(1)
with raises(EDITED):
    z.backward()

# straight-through estimator: hands on the gradient as if that were not there
class Through(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.sign())
    backward = staticmethod(lambda ctx, grad: grad)
x = leaf(0.3)
(5 * Through.apply(x)).backward()
assert x.grad.item() == 5
# gradcheck: Give it float64. *Where it stops:* it tries only the points that you give it
for point, fails in ((0.5, False), (0.0, True)):
    x = torch.tensor([point], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.relu, x, raise_exception=False) is not fails

# Hessian: Hessian times a vector `v` is the slope of `g @ v`
x, v = leaf(2.0, 5.0), torch.tensor([1.0, 10.0])
(g,) = torch.autograd.grad(x[0] ** 2 * x[1], x, create_graph=True)
(product,) = torch.autograd.grad(g @ v, x)
assert product.tolist() == [10 * 1 + 4 * 10, 4 * 1]

# MAML: the loss after a step is differentiated through that step
for recorded, slope in ((True, -1), (False, -2)):
    w = leaf(2.0)
    (g,) = torch.autograd.grad((w - 6) ** 2, w, create_graph=recorded)
    ((w - 0.25 * g - 5) ** 2).backward()
    assert w.grad.item() == slope
"""
BLOCKS = SHOWN.strip().split("\n\n")
QUOTE = re.compile(r"^# ([^:]+): (.+)$", re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: QUOTE.match(block)[1])
def test_what_an_entry_says_is_so(block):
    for name, words in QUOTE.findall(block):
        assert words in of(name)
    place = f"<{QUOTE.match(block)[1]}>"
    linecache.cache[place] = (len(block), None, block.splitlines(True), place)
    exec(compile(block, place, "exec"), dict(SPACE))


def test_diagnose_knows_what_a_cuda_build_says_where_there_is_no_gpu(capsys):
    text = told("RuntimeError: No CUDA GPUs are available", capsys)
    assert "and it sees no GPU. There is none, or it is hidden from this process" in text


@pytest.mark.parametrize("make", [torch.randn, torch.rand, torch.arange])
def test_a_misspelt_keyword_gets_another_message_from_the_factories_of_numbers(make, capsys):
    with pytest.raises(TypeError, match=r"got \(int, required_grad=bool\)") as found:
        make(3, required_grad=True)
    assert "The name has an s" in told(found.value, capsys)


@pytest.mark.parametrize(
    "subtract",
    [lambda w: w.grad * 0.5, lambda w: w - w.grad, lambda w: w.grad * w, lambda w: 0.5 * w.grad],
)
def test_every_order_of_a_missing_gradient_leads_to_one_entry(subtract, capsys):
    with pytest.raises(TypeError, match="NoneType") as found:
        subtract(torch.ones(1, requires_grad=True))
    assert "Something is None here" in told(found.value, capsys)
