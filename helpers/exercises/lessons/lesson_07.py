"""Exercises of lesson 07, retain_graph: two states carried on, who keeps a node, gradients apart."""

from functools import partial
from random import Random

import torch

from autograd_graphs.looking.saved_tensors import saved
from helpers.engine.checks import FREED, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import always, at, fails, fails_first, shows, wrong_in
from helpers.exercises.watched_inputs import readable

_IN_TUPLE = "in a tuple"


_NO_HISTORY = "What is the `grad_fn` of a detached tensor?"
_OF_NUMBER = "What kind of object does this call hand back?"
_OF_RESULT = "Its result has a node of its own. Where does that node lead?"
_HOLDS_TENSORS = "Does it hold the tensors themselves, or their numbers?"
_BEGIN = "w = torch.tensor({}, requires_grad=True)\nloss = {}\nloss.backward()"
RESULTS = Lines(
    read="“Who is still holding on?”",
    begins=(
        _BEGIN.format(2.0, "w.exp()"),
        _BEGIN.format(0.5, "w.sin()"),
        _BEGIN.format(3.0, "w * w"),
        _BEGIN.format(1.0, "w.tanh() + 1"),
    ),
    lines={
        "loss * 0.9": _OF_RESULT,
        "loss.item()": _OF_NUMBER,
        "[loss]": _HOLDS_TENSORS,
        "loss.detach()": _NO_HISTORY,
        "w.grad": "What is the `grad_fn` of a gradient that a plain `backward()` left?",
        "max(0.0, loss)": "Which object does Python's `max` hand back, and what kind of object is it?",
        "{'best': loss}": _HOLDS_TENSORS,
        "loss.tolist()": _OF_NUMBER,
        "loss > 1": "What dtype does a comparison give, and can that have a `grad_fn`?",
        "torch.stack([loss, w])": _OF_RESULT,
        "loss.item() + w": _OF_RESULT,
        "(loss - 1).detach()": _NO_HISTORY,
        "loss.clone()": _OF_RESULT,
        "[loss.item(), w]": _HOLDS_TENSORS,
    },
    trial="""
import weakref
{begin}
mark = loss.grad_fn.metadata["mark"] = torch.empty(0)  # lives as long as the node
mark = weakref.ref(mark)
kept = eval(line)
del loss
if mark() is not None:
    answer.append(letter)
""",
)

KEEPERS = Exercise(
    id="07.2",
    right="Each of them is a tensor that leads to that node, or holds one.",
    asked="After `loss.backward()` just one of the lines runs, its result is kept, and then comes `del"
    " loss`. With which of them is the node of `loss` still alive? Give a list of letters.",
    hints=(
        "For each letter ask: is there a tensor in it, and does that tensor have a `grad_fn`?",
        "Run the line and look: is it `loss` itself, and what is the `grad_fn` of a tensor in it?",
    ),
    **RESULTS.first("pqrstu"),
)


def _start(value: float, *inputs: float) -> tuple[torch.Tensor, list[float]]:
    return torch.tensor(value, requires_grad=True), list(inputs)


def _trained(returned: object, w: torch.Tensor, inputs: list[float]) -> object:
    return [readable(w), "learns" if w.is_leaf and w.requires_grad else "does not learn"]


STARTS = ((0.5, 1.0, 2.0, 3.0), (-1.0, 0.5, 0.1, -0.2), (1.5, -0.7, 0.4))


def _other_starts(random: Random) -> tuple:
    """Draw starts and two to four inputs, none of them so large that a step no longer shows."""
    drawn = []
    for _ in STARTS:
        numbers = [random.randint(3, 12) / 10 for _ in range(random.randint(3, 5))]
        drawn.append(partial(_start, *[random.choice((-1, 1)) * number for number in numbers]))
    return tuple(drawn)


CARRIED = Exercise(
    id="07.10",
    cases=_other_starts,
    reader=function(
        *(partial(_start, *numbers) for numbers in STARTS),
        observe=_trained,
        parts=("`w`", "afterwards it"),
    ),
    right="Both numbers went on from step to step, and both histories stayed behind.",
    principle="`backward()` walks through the whole history of its tensor, so each name that's carried into the"
    " next step has to leave its history behind.",
    known={
        "With the flag you get one step further. Then backward reaches a product that photographed `w`"
        " before you changed it, and refuses. The old steps shouldn't be there at"
        " all.": fails("modified by an inplace operation"),
        "Afterwards your `w` can't learn any more. It has to stay a leaf that requires"
        " grad.": always("does not learn"),
    },
    hints=(
        "Draw `loss` in the second step, right before its `backward()`. Which of the two names leads down"
        " into the first step?",
        "`c` is computed from the `c` of the step before. Its number should go on, but not its history.",
    ),
    reference="""
def answer(w, inputs):
    h, c = torch.tensor(0.5), torch.tensor(0.0)
~   h, c, losses = torch.tensor(0.5), torch.tensor(0.0), []
~   for x in inputs:
~       c = c / 2 + torch.tanh(w * h + x)
~       h = torch.tanh(c)
~       losses.append((h - 0.9) ** 2)
~   sum(losses).backward()
~   w.data -= w.grad
~   inputs = []  # You take a single step at the end, and it goes back through all the others. `w` should learn at
~       # each step, from that step only.
~   h, c = torch.tensor(0.5), torch.tensor(0.0)
~   for x in inputs:
~       c = c / 2 + torch.tanh(w * h + x)
~       h = torch.tanh(c)
~       ((h - 0.9) ** 2).backward(retain_graph=True)
~       w.data -= w.grad
~       w.grad, h = None, h.detach()
~   inputs = []  # With the flag nothing is refused here, but each step still walks back through all the steps before
~       # it, so `w` learns from them again and again. They shouldn't be there at all.
    for x in inputs:
        c = c / 2 + torch.tanh(w * h + x)
~       c = c / 2 + torch.tanh(w * h + x).detach()  # Nothing leads from this loss back to `w`, because you
~           # cut before `backward()`. Cut after it, when the step has used its history.
        h = torch.tanh(c)
        loss = (h - 0.9) ** 2
        loss.backward()  # each step has a loss of its own
        with torch.no_grad():
            w -= w.grad  # each step moves `w`, in place and under `no_grad()`
~           w += w.grad  # You add the gradient, so each step makes its loss larger. The program subtracts it.
        w.grad = None  # each step uses only its own gradient
        h, c = h.detach(), c.detach()  # both numbers go on, but their history stays behind
~       h = h.detach()  # The second step still goes back into the first one, whose photographs are gone. Two names are
~           # carried over. Does each of them leave its history behind, at the end of every step?
~       h, c = h.detach(), torch.tensor(0.0)  # You left the history of `c` behind, but you lost its number, too.
~       h, c = torch.tensor(0.5), c.detach()  # You left the history of `h` behind, but you lost its number, too.
~       h, c = torch.tensor(0.5), torch.tensor(0.0)  # Each step starts from scratch. The histories should stay
~           # behind, but both numbers should go on.
""",
)


def _with_trunk(w: torch.Tensor, h: torch.Tensor, losses: list) -> tuple[list, torch.Tensor]:
    """Let `w` know how it was, and the node of the trunk: a student may empty the list."""
    w.trunk, w.start = h.grad_fn, readable(w)
    return losses, w


def _rows_and_trunk(returned: object, losses: list, w: torch.Tensor) -> object:
    states = {row.state for row in saved(w.trunk, lambda tensor: ())}
    kept = readable(w) == w.start
    return [
        _rows(returned, w),
        readable(w.grad),
        "freed" if states == {"freed"} else "held",
        "as it was" if kept else "changed",
    ]


def _rows(returned: object, w: torch.Tensor) -> object:
    """Return the rows that came back; a word stands before one that is a tuple of gradients."""
    if not isinstance(returned, (list, tuple)):
        return readable(returned)
    rows = []
    for row in returned:
        numbers = readable(row)
        if _holds(row, w):
            numbers = [_IN_TUPLE, numbers]
        rows.append(numbers)
    return rows


def _holds(row: object, w: torch.Tensor) -> bool:
    """Tell whether a row is a tuple or list of tensors that have as many dimensions as `w`."""
    if not isinstance(row, (tuple, list)):
        return False
    with torch._C.DisableTorchFunctionSubclass():
        return any(isinstance(each, torch.Tensor) and each.dim() == w.dim() for each in row)


def _in_tuples(seen: tuple, right: tuple) -> bool:
    """Tell whether all that came back are lists of tuples, in each case."""
    for case in seen:
        rows = case[0]
        if not isinstance(rows, tuple) or len(rows) < 2:
            return False
        if not all(isinstance(row, tuple) and row[:1] == (_IN_TUPLE,) for row in rows):
            return False
    return True


def _trunks(number: float, values: list[float], old: list[float], factor: int) -> tuple:
    names = "w", "h", "losses"
    codes = (
        f"w = torch.tensor({number}, requires_grad=True)\nh = w.exp()\n"
        f"losses = [h * {factor}, h.sin(), h * h]",
        f"w = torch.tensor({values}, requires_grad=True)\n"
        f"w.grad = torch.tensor({old})\nh = w.exp()\nlosses = [h.sum(), h.prod()]",
    )
    return tuple(made_by(code, *names, then=_with_trunk) for code in codes)


def _other_trunks(random: Random) -> tuple:
    number, *values = [at / 10 for at in random.sample(range(1, 12), 4)]
    old = [float(random.randint(2, 9)) for _ in values]
    return _trunks(number, values, old, random.randint(3, 9))


APART = Exercise(
    id="07.4",
    reader=function(
        *_trunks(0.5, [0.1, 0.2], [2.0, 5.0], 3),
        observe=_rows_and_trunk,
        parts=("gradients", "`w.grad`", "what the trunk had saved", "`w` itself"),
    ),
    right="You kept the trunk for every call but the last, and left `w.grad` alone.",
    principle="a call frees the saved tensors it passes, unless you retain the graph.",
    known={
        "Your function changed `w.grad`, because `backward()` adds to it. There's another function, which"
        " returns gradients and leaves the `.grad` of leaves alone.": wrong_in(1),
        "Your function changed `w` itself. We only want its gradients.": shows("changed"),
        "A call was refused, because one before it had freed the trunk that they share. Only the last call may"
        " free it.": fails("second time"),
        "Your list holds tuples: `torch.autograd.grad` gives one gradient for each input, in a"
        " tuple.": _in_tuples,
    },
    cases=_other_trunks,
    hints=(
        "`torch.autograd.grad(loss, w)` returns gradients and leaves the `.grad` of leaves alone. It takes `retain_graph`, too.",
        "`retain_graph=True` for every loss but the last one in the list.",
    ),
    reference="""
def answer(losses, w):
    rows = []
~   return list(torch.autograd.grad(sum(losses), w))  # You return one gradient, that of the sum. That's the
~       # cheapest way, but here we want a separate one for each loss.
~   return len(losses) * list(torch.autograd.grad(sum(losses), w))  # Each of your gradients is that of the sum of
~       # all losses. We want the gradient of each loss by itself.
    for number, loss in enumerate(losses, start=1):  # each loss has a gradient of its own
~   for number, loss in list(enumerate(losses[::-1], start=1)):  # All the gradients are there, but in a different
~       # order. The first one should belong to the first loss.
~   for number, loss in list(enumerate(losses, start=1))[:1]:  # You return fewer gradients than there are losses.
~       # The list needs one for each.
~   for number, loss in enumerate(losses[:-1]):  # You return fewer gradients than there are losses.
~       # The list needs one for each.
~   for number, loss in list(enumerate(losses, start=1))[-1:]:  # You return fewer gradients than there are losses.
~       # The list needs one for each.
        (row,) = torch.autograd.grad(loss, w, retain_graph=number < len(losses))  # the losses share a trunk, and only the last call may free it
~       (row,) = torch.autograd.grad(w, loss)  # `torch.autograd.grad(a, b)` gives the gradient of `a` with
~           # respect to `b`. You gave `w` first and the loss second, but `w` was not computed from the loss.
~       (row,) = torch.autograd.grad(loss, w, retain_graph=True)  # The gradients are right. But the trunk still
~           # holds its saved tensor, because you never told the last call that it was the last.
        rows.append(row)
~       rows.append(loss.grad)  # Your gradients are None. Losses keep no `.grad`, because they aren't leaves, and
~           # `backward()` returns nothing. Look for the function that returns gradients.
    return rows
""",
)

_SAVED = {  # of an operation on `{v}` that makes `{r}`: what its node keeps
    "{v} * {v}": "{v}{v}",
    "{v}**2": "{v}",
    "{v}.sin()": "{v}",
    "{v}.cos()": "{v}",
    "{v}.exp()": "{r}",
    "{v}.sigmoid()": "{r}",
    "{v}.tanh()": "{r}",
    "{v} + 1": "",
    "-{v}": "",
}
_WALK = """
x = torch.ones({n}, requires_grad=True)
a = {a}
b = {b}
c = {c}
loss = c.sum()
answer, met, nodes = 0, set(), [loss.grad_fn]
while nodes:
    node = nodes.pop()
    for name in dir(node):
        saved = getattr(node, name) if name.startswith("_saved") else None
        if isinstance(saved, torch.Tensor) and saved.data_ptr() not in met:
            met.add(saved.data_ptr())
            answer += saved.nbytes
    nodes += [one for one, _ in node.next_functions if one is not None]
"""


def _chain(n: int, *operations: str) -> Data:
    """Return the lines of a chain from `x` to `c`, and the letters of what their nodes keep."""
    names = ("xa", "ab", "bc")
    pairs = list(zip(names, operations, strict=True))
    lines = {r: operation.format(v=v) for (v, r), operation in pairs}
    kept = "".join(_SAVED[operation].format(v=v, r=r) for (v, r), operation in pairs)
    return lines | {"n": n, "kept": kept}


def _other_chain(random: Random) -> Data:
    """Draw a chain of three operations whose nodes keep two tensors at least."""
    while True:
        data = _chain(random.randrange(15, 95, 5), *random.sample(list(_SAVED), 3))
        if len(set(data["kept"])) > 1:
            return data


KEPT = Exercise(
    id="07.6",
    right="You went from node to node, asked what its slope needs, and counted shared memory once.",
    asked="How many bytes do the nodes of `loss` keep for backward? Count shared memory once. A float takes 4 bytes.",
    principle="a node keeps what its slope needs: what went in, or what came out, or nothing.",
    quantities=Quantities(
        program=_WALK.format_map,
        data=_chain(25, "{v} * {v}", "{v}.exp()", "{v} + 1"),
        draw=_other_chain,
        places=(
            Place(
                "`answer`",
                "the bytes of each tensor that some node keeps, counted once",
                {
                    "one of these tensors, and the nodes keep more than one": "4 * n",
                    "the number of elements, and a float takes 4 bytes": (
                        "n * len(set(kept)), n * len(kept)"
                    ),
                    "these tensors and the loss itself, but no node keeps the loss": (
                        "4 * n * len(set(kept)) + 4"
                    ),
                    "nothing at all, but no backward has run yet": 0,
                },
                loose={
                    "what you get if you count a tensor for each node that keeps"
                    " it": "4 * n * len(kept)",
                    "all the tensors that the forward made, and `x`": "16 * n, 16 * n + 4",
                },
            ),
        ),
    ),
    hints=(
        "Write down the slope of each operation. Does it need the input, the result, or no number?",
        "A product keeps its factors, and a sine its input. `exp`, `sigmoid` and `tanh` keep their results. Sums keep nothing.",
    ),
)

CULPRITS = Faults("""
w = torch.tensor(0.5, requires_grad=True)
total, best = 0.0, None
for x in ({a}.0, {b}.0, {c}.0):
    loss = (w * x - 1) ** 2
    loss.backward()
    total += loss.item()
    if best is None or loss.item() < best:
        best = loss.item()
print(total, best)
look at: type(total).__name__ + type(best).__name__
8: best = loss
8: best = loss.clone()
6: total += loss
6: total = total + loss

w = torch.tensor({a}.0, requires_grad=True)
h = w * w
one, two = h * {b}, h * {c}
one.backward(retain_graph=True)
two.backward()
print(w.grad.item())
look at: w.grad.item()
4: one.backward()
4: one.backward(retain_graph=False)

w, log = torch.tensor({a}.0, requires_grad=True), []
for x in ({b}.0, {c}.0):
    loss = (w * x - {d}) ** 2
    log.append(round(loss.item(), 3))
    loss.backward()
    w.grad = None
    last = loss.item()
    del loss
print(log, last)
look at: [type(one).__name__ for one in [*log, last]]
4: log.append(loss)
4: log += [loss]
7: last = loss
7: last = max(0.0, loss)

w = torch.tensor({a}.0, requires_grad=True)
first = w * w
for x in ({b}.0, {c}.0):
    square = w * w
    loss = square * x
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
print(first.item(), w.item())
look at: w.item()
4: square = first
4: square = first + 0
5: loss = first * x
""")

CULPRIT = Exercise(
    id="07.7",
    right="Because of that line, a later call needs photographs that are gone, or you keep a graph that you don't need.",
    asked="One line of this program causes trouble: because of it, either a call fails or you keep a graph"
    " that you don't need. Which line would you change? Give its number.",
    principle="a name that outlives its step should hold a number, and a graph that saved something lets"
    " backward through only once.",
    hints=(
        "Which names are still there when a step is over? Does one of them lead to a graph?",
        "For each call of `backward()`, ask: has an earlier call already gone through a part of this graph?",
    ),
    **CULPRITS.first(a=2, b=3, c=5, d=7),
)


FREE = Exercise(
    id="07.9",
    stage="07",
    reader=function(*cases("07"), promises=FREED),
    truth=lambda: on_torch,
    solution=yours("07"),
    cases=lambda random: cases("07", random),
    right="Your nodes throw their photographs away, and a second call is refused in PyTorch's own words. You"
    " never wrote a line that forbids it: the node simply looks for its photographs, and they're gone.",
    principle="a node lets go of its photographs once it has run, unless it's told to keep them, and whoever"
    " asks for them later is refused.",
    known={
        "A node has to hand its gradients on. Return what its `backward` gave you, after you've thrown the"
        " photographs away.": fails("'NoneType'", cases=slice(1)),
        "You called `evaluate` right away, before there was a node. `run_backward` wants a function that still"
        " waits for a node and a gradient: `partial(evaluate, retain_graph=retain_graph)`.": fails(
            "missing 2 required positional arguments", cases=slice(1)
        ),
        "Even the first call is refused. A node needs its photographs while it runs, so throw them away"
        " afterwards.": lambda seen, right: "a second time" in str(seen[0]),
        "After the first call there's no gradient in `x.grad`. Only the photographs have to go: without its edges"
        " a node hands nothing on.": at([0], [0]),
        "You have the flag the wrong way round: the photographs are gone with `retain_graph=True`, and"
        " without it they stay.": lambda seen, right: (seen[0], seen[3]) == (right[3], right[0]),
        "Your second call is refused, as it should be. But after the first one, `node.saved` still holds something."
        " Throw the photographs away by setting it to None.": lambda seen, right: (
            seen[0] == (right[0][0], True) and seen[1][0] == right[1][0]
        ),
        "After `backward()` the node of `z` still holds its photographs. Throw them away where the node has"
        " just run, in `evaluate`.": at([0], [1]),
        "The photographs are gone, but a line of yours looks into `saved` all the same. Let `unpack` alone"
        " look there, and say `RuntimeError(TWICE)` if they're gone. Does your node of lesson 05 ask it,"
        " with `a, b = unpack(self)`?": fails_first("non-iterable NoneType", "not subscriptable"),
        "Your second call fails because there are no photographs, but in Python's words. Before `unpack`"
        " hands them out, have it check whether they're gone, and if so, `raise RuntimeError(TWICE)`.": fails_first(
            "'NoneType'", "not enough values"
        ),
        "Your second call ran as if nothing were missing. The photographs have to go, but the edges should"
        " stay where they are.": at([1], [0], (6.0,), (12.0,)),
        "Your second call is refused, but not in PyTorch's words. They are in `TWICE`.": at(
            [1], [0]
        ),
        "You have the words, but PyTorch says them in a RuntimeError: `raise RuntimeError(TWICE)`.": fails_first(
            "a second time", "must derive from BaseException"
        ),
        "`partial(evaluate, retain_graph)` puts the flag where the node should be. Hand it over by its name:"
        " `partial(evaluate, retain_graph=retain_graph)`.": fails("'bool' object has no attribute"),
        "A sum refuses to go back a second time. But it took no photographs, so what could it be missing?"
        " PyTorch lets you go back through it as often as you like.": at([2], [0]),
        "With `retain_graph=True` the photographs should stay. Does the flag get from `backward` to"
        " `evaluate`? `run_backward` calls what you hand it with two arguments only.": at(
            [3], [0, 1]
        ),
    },
    hints=(
        "Begin with `evaluate`. It runs the node as before. What's left to do before it returns the"
        " gradients, if the flag is down and the node has photographs?",
        "In `unpack`, `node.saved is None` means that they've been thrown away.",
        "`partial(evaluate, retain_graph=retain_graph)` is a function that takes the two arguments that are"
        " left. Hand that to `run_backward`, and the rest of `backward` doesn't change.",
    ),
)

EXERCISES = (CARRIED, FREE, KEEPERS, KEPT, CULPRIT, APART)
