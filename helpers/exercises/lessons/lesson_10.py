"""Exercises of lesson 10, Two devices: a Parameter that stays one, what a GPU refuses, keeps and takes its time for."""

import re
import time
from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import ended, fails, raised, shows
from helpers.exercises.watched_inputs import readable, tensors_in


def _parameters(layer: object, place: object) -> list:
    if not isinstance(layer, nn.Module):
        return ["not a layer", "", "", "", ""]
    with torch._C.DisableTorchFunctionSubclass():
        found = dict(layer.named_parameters())
        learn = all(each.is_leaf and each.requires_grad for each in found.values())
        return [
            " ".join(sorted(found)),
            "leaves that require grad" if learn else "not all leaves that require grad",
            " ".join(sorted({each.device.type for each in found.values()})),
            " ".join(sorted({str(each.dtype) for each in found.values()})),
            _kind_of_scale(layer),
        ]


def _kind_of_scale(layer: nn.Module) -> str:
    scale = getattr(layer, "scale", None)
    if not isinstance(scale, torch.Tensor):
        return "missing"
    is_buffer = "scale" in dict(layer.named_buffers(recurse=False))
    kind = "a buffer" if is_buffer else type(scale).__name__
    flag = " that requires grad" * scale.requires_grad
    return f"{kind}{flag}" if scale.is_meta else f"{kind}{flag}: {scale.flatten().tolist()}"


def _other_places(random: Random) -> tuple:
    narrow = random.choice((torch.float64, torch.float16, torch.bfloat16))
    return tuple(partial(tuple, (place,)) for place in random.sample(("cpu", "meta", narrow), 3))


SCALED = Exercise(
    id="10.9",
    reader=function(
        *(partial(tuple, (place,)) for place in ("cpu", torch.float64, "meta")),
        observe=_parameters,
        parts=("parameters", "they are", "device", "dtype", "scale"),
    ),
    right="All three learn, wherever they are. An optimizer complains about a non-leaf that you give it, but it can't"
    " complain about one that you didn't.",
    principle="a module registers Parameters and nothing else, and what `.to()` returns is a"
    " Parameter only if nothing had to move.",
    hints=(
        'Print `[name for name, _ in broken(place).named_parameters()]`, once for `"cpu"` and once for `"meta"`.',
        'What is `type(broken("meta").scale)`?',
        "`nn.Parameter(…)` asks for a gradient, and that has to come last. So what belongs inside its parentheses?",
    ),
    reference="""
def answer(place):
    layer = torch.nn.Linear(2, 1).to(place)  # the weights of the layer go to `place`
~   layer = torch.nn.Linear(2, 1, device=place)  # This works for a device, but with a dtype it fails. `place` may be
~       # either, so what takes both?
~   layer = torch.nn.Linear(2, 1, dtype=place)  # This works for a dtype, but with a device it fails. `place` may be
~       # either, so what takes both?
~   layer = torch.nn.Linear(2, 1); layer.scale = torch.nn.Parameter(torch.ones(1)); return layer  # Your layer is on the
~       # CPU and in float32, wherever `place` is.
    layer.scale = torch.nn.Parameter(torch.ones(1).to(place))  # the factor moves first, and then it's made a Parameter
~   layer.scale = torch.nn.Parameter(torch.ones(1)).to(place)  # Once a Parameter has gone somewhere, what `.to()` returns is
~       # a plain tensor, the result of a copy. The layer doesn't register it, so the optimizer never hears of it.
~   layer.register_parameter("scale", torch.nn.Parameter(torch.ones(1)).to(place))  # Now you get a TypeError as soon as the
~       # move goes somewhere. That's progress: it says what was wrong all along. After the move it isn't a Parameter.
~   layer.scale = torch.nn.Parameter(torch.ones(1).to(place), requires_grad=False)  # Your factor is a Parameter, but it
~       # doesn't require grad, so it won't learn.
~   layer.register_buffer("scale", torch.ones(1).to(place))  # A buffer moves with the module, but it doesn't learn.
~       # Make it a Parameter.
~   layer.scale = torch.ones(1).to(place).requires_grad_()  # It's a leaf, and it's in the right place, but to the
~       # module it's an attribute like any other. Make it a Parameter.
~   layer.scale = torch.nn.Parameter(torch.ones(1))  # Your factor is a Parameter, but it's on the CPU and in float32
~       # wherever `place` is.
    return layer
""",
    cases=_other_places,
)

_MOVES = re.compile(r"\.(?:to|double|float|half|cpu)\(")
_A = (
    "x.to(torch.float64)",
    "x.double()",
    'x.to("meta")',
    "x.half()",
    "x.detach().double()",
    "x.double().float()",
)
_B = "a.to(a.dtype)", "a.half()", "a.double()", "a.to(a.device)", "(a * 5).float()"
_C = (
    'x.to("cpu")',
    "x.float()",
    "x.cpu()",
    "x.to(torch.float32)",
    "data.double()",
    "x.float().double()",
)
_COUNT = """
data = torch.ones(9)
x = torch.ones(9, requires_grad=True)
a = {a}
b = {b}
c = {c}
loss = a.sum() + b.sum() + c.sum()
answer, met, nodes = 0, {{None}}, {{loss.grad_fn}} - {{None}}
while nodes:
    node = nodes.pop()
    met.add(node)
    answer += node.name() == "ToCopyBackward0"
    nodes |= {{one for one, _ in node.next_functions}} - met
"""


def _written_moves(*names: str) -> Callable[[Data], int]:
    """Return what counts the moves and casts that are written in some lines."""
    return lambda data: sum(len(_MOVES.findall(data[name])) for name in names)


CARDS = Exercise(
    id="10.6",
    right="A node is left where a move had something to do, on a tensor that requires grad.",
    asked="How many nodes called *ToCopyBackward0* are in the graph of `loss`? Give a number.",
    principle="if nothing has to move, `.to()` returns the tensor itself. A cast is such a move, too.",
    quantities=Quantities(
        program=_COUNT.format_map,
        data={"a": "x.double()", "b": "a.to(a.dtype)", "c": "x.float().double()"},
        draw=lambda random: dict(zip("abc", map(random.choice, (_A, _B, _C)), strict=True)),
        places=(
            Place(
                "`answer`",
                "the moves and casts that made a new tensor out of one that requires grad",
                {
                    "what you get if you count every move that is written there": _written_moves(
                        *"abc"
                    ),
                    "as if nothing were recorded, but a move is an operation": 0,
                    "more than the moves that are written there": (6, 7, 8),
                },
            ),
        ),
    ),
    hints=(
        "Ask of each of the calls: is the tensor already what it's supposed to become? `is` tells you: try `b is a`.",
        "Then ask whether that tensor requires grad. Data and what is detached leave no node.",
    ),
)

_WHOSE = "Does a GPU let this one in?"
_WAY = "Who is the guest here?"
_ONE_DEVICE = "Does it compute with both?"
_MOVES_ONLY = "Does it compute, or only move numbers?"
REFUSED = Lines(  # all of them were run on an NVIDIA H200, torch 2.11.0+cu130, 2026-11-28
    read="“11:30 · Another error”",
    begins=('near = torch.ones(2, 2)\nfar = near.to("cuda")',),
    lines={
        "near + far": _ONE_DEVICE,
        "torch.tensor(3.0) * far": _WHOSE,
        'torch.tensor(3.0, device="cuda") * near': _WAY,
        "torch.stack([near, far])": _ONE_DEVICE,
        "far[torch.tensor([0])]": _WHOSE,
        'near[torch.tensor([0], device="cuda")]': _WAY,
        "near.copy_(far)": _MOVES_ONLY,
        "far.numpy()": _MOVES_ONLY,
        "far.tolist()": _MOVES_ONLY,
        "near @ far": _ONE_DEVICE,
        "torch.cat([near, far])": _ONE_DEVICE,
        "nn.functional.mse_loss(far, near)": _ONE_DEVICE,
        "far[torch.tensor([True, False])]": _WHOSE,
        "torch.tensor(far)": _MOVES_ONLY,
        "far[0, 0].item()": _MOVES_ONLY,
    },
    trial="""
# what an NVIDIA H200 let pass, with torch 2.11
passed = "torch.tensor(3.0) *", "far[", "near.copy_", "far.tolist", "torch.tensor(far"
if not line.startswith(passed):
    answer.append(letter)
""",
)

MIXED = Exercise(
    id="10.10",
    right="A number without dimensions and an index are let in from the CPU, but not the other way round. `copy_` is"
    " made for crossing. NumPy fetches nothing, so you write `far.cpu().numpy()`; `far.tolist()` would have fetched the"
    " numbers for you.",
    asked="Which of these lines fail? Give their letters. (We ran all of them on an H200.)",
    **REFUSED.first("kmnpqrst"),
    hints=(
        "Where a single number or an index meets a tensor: who is the guest, and where does it come from?",
        "The two guests are let in on the GPU. Is it the same on the CPU?",
        "Some lines have nothing to compute; they only move numbers. NumPy works in ordinary memory, and `numpy()`"
        " doesn't copy.",
    ),
)

_BYTES = """
x = torch.ones({size} * 2**18, requires_grad=True)  # {size} MiB, on the CPU as on a GPU


def make_loss():
    return x{chain}.sum()


answer, photographs = [], {{}}


def take(photograph):
    photographs[photograph.data_ptr()] = photograph.nbytes
    return photograph


with torch.autograd.graph.saved_tensors_hooks(take, lambda photograph: photograph):
    loss = make_loss()
answer.append(sum(photographs.values()) >> 20)
loss.backward()
answer.append(x.grad.nbytes >> 20)
"""


def _chain(random: Random) -> Data:
    count, name = random.randint(2, 5), random.choice(("exp", "sigmoid", "tanh"))
    return {"size": random.randint(1, 4), "count": count, "chain": f".{name}()" * count}


HELD = Exercise(
    id="10.11",
    right="The derivative of each operation needs its own result, so each node keeps a photograph, although you have no"
    " name for any of them. Backward lets go of all of them and leaves `x.grad`. On the H200 it was [3, 1] for the"
    " three `exp()`, too; the loss itself took 512 bytes.",
    asked="Let `x` be on a GPU. How many MiB more are in use than before: first when you have called `make_loss()` and"
    " kept what it returned, then after a backward from there? Give whole MiB.",
    principle="nodes keep photographs until backward has passed, and backward leaves a gradient.",
    quantities=Quantities(
        program=_BYTES.format_map,
        data={"size": 1, "count": 3, "chain": ".exp()" * 3},
        draw=_chain,
        places=(
            Place(
                "`held`",
                "one photograph for each node that keeps its own result",
                {
                    "what you get if only tensors with a name took up room, but nodes keep their photographs": 0,
                    "one too many, because a sum needs no numbers on the way back, only a shape": (
                        "(count + 1) * size"
                    ),
                    "one too few": "(count - 1) * size",
                },
            ),
            Place(
                "`after`",
                "the one thing that wasn't there at the start",
                {
                    "what you get if nothing new were left, but backward leaves a gradient": 0,
                    "the gradient and the photographs, but backward lets go of each as it passes": (
                        "(count + 1) * size"
                    ),
                },
                {"the photographs, but backward lets go of each as it passes": "count * size"},
            ),
        ),
    ),
    hints=(
        "Which numbers does the derivative of each operation need? The derivative of `exp` is its own result.",
        "After backward the photographs are gone. What's there that wasn't there before?",
    ),
)


class _Desk:
    """Pretend to be a GPU with a clock of its own, in seconds: it's busy for a while already."""

    def __init__(self, takes: float, busy: float) -> None:
        self.takes, self.now, self.until, self.asked = takes, 100.0, 100.0 + busy, 0

    def work(self) -> None:
        self.asked += 1
        self.until = max(self.now, self.until) + self.takes

    def wait(self) -> None:
        self.now = max(self.now, self.until)


def _desk(takes: float, busy: float) -> Callable:
    @written(f"a `work` of {takes} s, for a GPU that is busy for {busy} s more")
    def make() -> tuple:
        desk = _Desk(takes, busy)
        return desk.work, desk.wait

    return make


# as they are now
_CLOCKS = {id(each): 1 for each in (time.perf_counter, time.monotonic, time.time)}
_CLOCKS[id(time.perf_counter_ns)] = 10**9


def _by_its_clock(answer: Callable) -> Callable:
    """Let the clocks of Python show the time of the desk, while an answer runs: those of `time`, and
    those that a notebook imported from it by name.
    """

    def run(work: Callable, wait: Callable) -> object:
        places = vars(time), getattr(answer, "__globals__", {})
        clocks = [(place, *item) for place in places for item in place.items()]
        clocks = [(place, name, clock) for place, name, clock in clocks if id(clock) in _CLOCKS]
        for place, name, clock in clocks:
            unit = _CLOCKS[id(clock)]
            place[name] = lambda unit=unit: work.__self__.now * unit
        try:
            return answer(work, wait)
        finally:
            for place, name, clock in clocks:
                place[name] = clock

    return run


def _timed(returned: object, work: Callable, wait: Callable) -> list:
    is_number = isinstance(returned, (int, float))
    return [round(returned, 6) if is_number else returned, work.__self__.asked]


def _other_desks(random: Random) -> tuple:
    return tuple(_desk(random.randint(1, 9) / 10, busy) for busy in (0.0, 0.25, 0.75))


CLOCK = Exercise(
    id="10.12",
    reader=function(
        _desk(0.1, 0.0),
        _desk(0.1, 0.2),
        _desk(0.4, 0.3),
        observe=_timed,
        promises=("seconds", "calls of `work`"),
        around=_by_its_clock,
    ),
    right="That's an honest clock. With `torch.cuda.synchronize` as `wait` it's the one you'd use on a GPU, after a"
    " first call to warm up.",
    principle="`work()` returns at once, so ask at each reading of the clock what's still lying on the GPU's desk.",
    known={
        "You called `work` more than once. A warm-up is a good habit on a real GPU, but here you were asked to time one"
        " call.": lambda seen, _: all(case[1] > 1 for case in ended(seen)) and bool(ended(seen)),
        "We only pretend to have a GPU, so that this works anywhere. `wait()` does what"
        " `torch.cuda.synchronize()` does on a real one.": fails("CUDA", "NVIDIA"),
    },
    hints=(
        "You'll need `wait` twice.",
        "The desk has to be empty when you start the clock, and empty again when you stop it.",
    ),
    reference="""
import time


def answer(work, wait):
    wait()  # the GPU has to be done with everything else when the clock starts
    start = time.perf_counter()
    work()  # this is what you were asked to time
    wait()  # the GPU has to be done with your work when the clock stops
    return time.perf_counter() - start
~   return start - time.perf_counter()  # Your time is negative. Subtract the start from the end.
~   return 1000 * (time.perf_counter() - start)  # These are milliseconds. You were asked for seconds.
~   return time.perf_counter()  # You return the time of day. Subtract the time at which you started.
""",
    cases=_other_desks,
)

_ones = torch.ones  # as it is now: a student may put another one in its place


def _step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    points = _ones(3, 2).cumsum(0).to(model.weight)
    (model(points) - 1).square().mean().backward()
    optimizer.step()


def _trained(place: object, steps: int) -> Callable:
    @written(f"a model after {steps} steps of Adam, and {place!r}")
    def make() -> tuple:
        model = nn.Linear(2, 1)
        with torch.no_grad():
            model.weight.copy_(_ones(2).cumsum(0) / 4)
            model.bias.zero_()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(steps):
            _step(model, optimizer)
        return model, optimizer, place

    return make


def _one_step_more(returned: object, model: nn.Module, optimizer: object, place: object) -> list:
    averages = [optimizer.state[model.weight].get(name) for name in ("exp_avg", "exp_avg_sq")]
    seen = [str(model.weight.dtype), [str(getattr(each, "dtype", "gone")) for each in averages]]
    try:
        _step(model, optimizer)
    except (RuntimeError, TypeError, ValueError):
        return [*seen, "failed", []]
    weights = [round(each, 4) for each in model.weight.flatten().tolist()]
    return [*seen, "went through", weights]


def _other_steps(random: Random) -> tuple:
    places = ("cpu", torch.float64, torch.float64)
    return tuple(_trained(place, random.randint(2, 8)) for place in places)


ADAM = Exercise(
    id="10.13",
    reader=function(
        _trained("cpu", 3),
        _trained(torch.float64, 3),
        _trained(torch.float64, 5),
        observe=_one_step_more,
        promises=("the weight is", "its two averages are", "the next step", "the weight after it"),
    ),
    right="Training goes on as if nothing had happened. `load_state_dict` puts each average where its weight is now; a"
    " loop over `optimizer.state.values()` does just as well.",
    principle="Adam keeps two running averages for each weight in tensors of its own, and the model knows nothing about"
    " them.",
    known={
        "An optimizer has no `to()` of its own. Its averages are in `optimizer.state`.": fails(
            "has no attribute 'to'"
        ),
    },
    hints=(
        "Look into `optimizer.state`: which tensors are in there, and where are they?",
        "`load_state_dict` puts the state where the parameters are. Which state dict could you give it?",
        "First the model, then the averages.",
    ),
    reference="""
def answer(model, optimizer, place):
    model.to(place)  # the weights move, and they move first
~   for name, one in list(model.named_parameters()): setattr(model, name, torch.nn.Parameter(one.detach().to(place)))
~   # The model has new Parameters now, but the optimizer holds the old ones. `model.to(place)` moves the numbers and
~   # keeps the Parameters.
    optimizer.load_state_dict(optimizer.state_dict())  # each average goes to where its weight is now
~   [state.update(exp_avg=state["exp_avg"].to(place)) for state in optimizer.state.values()]  # One of the two averages is
~       # still where it was. On the CPU the next step goes through all the same, but on a GPU it would be refused.
~   [state.update({name: torch.zeros_like(one) for name in ("exp_avg", "exp_avg_sq")}) for one, state in optimizer.state.items()]
~   # Both averages are in the right place, but they're all zeros now, so the next step lands somewhere else.
~   optimizer.state.clear()  # It steps, but it has forgotten its averages, so it lands somewhere else. They should
~       # move, not disappear.
""",
    cases=_other_steps,
)


def _batches(rows: int) -> tuple:
    """Return cases: a tensor, a dict, nested lists, a namedtuple, a leaf, empty ones with
    something else, and a batch that is there.
    """
    ones = f"torch.ones({rows})"
    named = "from collections import namedtuple\nBatch = namedtuple('Batch', 'points mask')\n"
    to_meta = "\ndevice = 'meta'"
    codes = (
        f"batch = {ones}{to_meta}",
        f"batch = {{'points': {ones}, 'moon': torch.arange({rows}), 'name': 'moons'}}{to_meta}",
        f"batch = [({ones}, None), [{ones}.half(), {rows}.5, ['a', 'b']]]{to_meta}",
        f"{named}batch = Batch({ones}, {{'left': ({ones},)}}){to_meta}",
        f"batch = [torch.ones({rows}, requires_grad=True)]{to_meta}",
        f"batch = ([], {{}}, (), None, b'moons'){to_meta}",
        f"batch = {{'points': [{ones}], 'mask': ({ones} > 0,)}}\ndevice = torch.device('cpu')",
    )
    return tuple(made_by(code, "batch", "device") for code in codes)


def _form(value: object, ids: set[int], depth: int = 4) -> object:
    if isinstance(value, torch.Tensor):
        return _in_words(value, ids)
    if not isinstance(value, (dict, list, tuple)) or not depth:
        return readable(value)
    inside = []
    if isinstance(value, dict):
        for key, part in dict.items(value):
            inside.append((readable(key), _form(part, ids, depth - 1)))
    else:
        inside += [_form(part, ids, depth - 1) for part in value]
    return [type(value).__name__, *inside]


def _in_words(tensor: torch.Tensor, ids: set[int]) -> str:
    with torch._C.DisableTorchFunctionSubclass():
        dtype = str(tensor.dtype).removeprefix("torch.")
        words = [tensor.device.type, dtype, str(tuple(tensor.shape))]
        words += ["requires grad"] * tensor.requires_grad + ["the same one"] * (id(tensor) in ids)
        return " ".join(words)


def _comparing(answer: Callable) -> Callable:
    def run(batch: object, device: object) -> tuple:
        ids = set(map(id, tensors_in(batch)))
        before = _form(batch, ids)
        returned = answer(batch, device)
        return returned, ids, "as it was" if _form(batch, ids) == before else "changed"

    return run


def _carried(outcome: tuple, batch: object, device: object) -> list[object]:
    returned, ids, after = outcome
    return [_form(returned, ids), after]


CARRY = Exercise(
    id="10.8",
    reader=function(
        *_batches(2),
        observe=_carried,
        promises=("it returned", "the batch that was given"),
        around=_comparing,
    ),
    right="One call at the top of your loop, whatever your data loader hands out.",
    principle="move tensors, go into dicts, lists and tuples, build the same kind anew, and leave the rest alone.",
    known={
        "You put the moved tensors into the batch you were given. Its owner may still need it where"
        " it was, so build a new one.": shows("changed"),
        "Not everything in a batch is a tensor. A string, a number and None have no `.to()`, so"
        " return them unchanged.": fails("has no attribute 'to'"),
        "Each character of a string is a string again, without end. Go into dicts, lists and"
        " tuples only.": lambda seen, right: (
            raised(seen, "maximum recursion depth") and ended(seen[:1])
        ),
        "Some tensors further inside are still where they were. Which kinds does your function go into, and does"
        " it go all the way down?": lambda seen, _: "cpu" in str(ended(seen[2:3])),
    },
    hints=(
        "Let the function call itself. Which kinds does it go into, and what does it do with anything else?",
        "Ask `isinstance` for a tensor, a dict, a tuple with `_fields`, and a list or tuple, in this order.",
    ),
    reference="""
def answer(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
~       return batch.to("meta")  # You always move to `meta`. Let `device` decide.
~       return batch.detach().to(device)  # You cut the tensor off from its graph. A recorded move keeps the flag,
~           # so leave `detach()` out.
~       return batch.clone().to(device)  # A tensor that's already there should come back as itself, but you return
~           # a copy. `.to()` makes a new tensor only when something has to move.
~       batch.to(device); return batch  # Your tensors are still where they were. `.to()` returns a new tensor. What
~           # happened to that one?
~       return batch.to(device, torch.float32)  # You change the dtype. A tensor should only move, so whole numbers
~           # stay whole.
    if isinstance(batch, dict):  # a dict comes back as a dict, with each of its values moved
        return {key: answer(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
~   if isinstance(batch, (list, tuple)): return [answer(value, device) for value in batch]
~   if False:  # A tuple comes back as a list, and so does a namedtuple. They should be of the same kind as before.
~   if False:  # A namedtuple wants its fields one by one, not in a single list: `type(batch)(*moved)`.
        return type(batch)(*[answer(value, device) for value in batch])
~       return tuple(answer(value, device) for value in batch)  # Your namedtuple came back as something else, so
~           # `batch.points` no longer works. You can tell a namedtuple by its `_fields`.
    if isinstance(batch, (list, tuple)):  # a list or tuple comes back as the same kind
        return type(batch)(answer(value, device) for value in batch)
~       return [answer(value, device) for value in batch]  # A tuple comes back as a list. It should be of the
~           # same kind as before.
    return batch  # anything that holds no tensor comes back as it is
~   return list(batch) if hasattr(batch, "__iter__") and not isinstance(batch, str) else batch  # You go into more
~       # than dicts, lists and tuples. Anything else should come back as it is, even if it has parts.
""",
    cases=lambda random: _batches(random.randint(3, 9)),
)

EXERCISES = (SCALED, CARDS, MIXED, HELD, CLOCK, ADAM, CARRY)
