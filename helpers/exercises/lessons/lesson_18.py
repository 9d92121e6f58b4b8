"""Exercises of lesson 18, many devices: a loss that goes around DDP, gradients averaged by hand in buckets, a
step on four ranks, which lines part the ranks, a mean over all points, and a line to change.

No exercise starts a process: pretend ranks take turns (`pretend_ranks`).
"""

from collections.abc import Callable
from random import Random

import torch
from torch import nn

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, written
from helpers.exercises.lessons.pretend_ranks import PretendDDP, together
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import fails, like, right_in, shows
from helpers.exercises.watched_inputs import NO_TENSOR, NOT_A_TENSOR, SEVERAL, no_loss, readable

# Bound here: a student may have put others in their place.
_grad, _seed, _rand = torch.autograd.grad, torch.manual_seed, torch.rand
_bce = nn.functional.binary_cross_entropy_with_logits

_COUNTS = ("no", "one", "two", "three", "four", "five", "six")
_PRETEND = "from helpers.exercises.lessons.pretend_ranks import pretend"


def _on_ranks(answer: Callable) -> Callable:
    """Return what calls a function on each rank: an input is a list, with something for each of them."""

    def run(*inputs: list) -> tuple[list | None, list]:
        returned, sent = together(answer, list(zip(*inputs, strict=True)))
        return None if all(one is None for one in returned) else returned, sent

    return run


def _kind_of_net() -> type[nn.Module]:
    """Return a class of models that compute their loss in a method, and have no `forward`.

    It's a new one each time, because an answer may give it a `forward`.
    """

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.out = nn.Linear(2, 3), nn.Linear(3, 1)

        def loss(self, points: torch.Tensor, moon: torch.Tensor) -> torch.Tensor:
            return _bce(self.out(self.hidden(points).tanh()).flatten(), moon)

    return Net


def _halves(world: int, count: int, seed: int) -> Callable:
    @written(f"{_COUNTS[world]} ranks with {_COUNTS[count]} points each")
    def make() -> tuple:
        _seed(seed)
        kind = _kind_of_net()
        state = kind().state_dict()
        nets = [kind() for _ in range(world)]
        for net in nets:
            net.load_state_dict(state)
        points = [_rand(count, 2) * 4 - 2 + rank for rank in range(world)]
        moons = [(part[:, 0] + part[:, 1] > rank).float() for rank, part in enumerate(points)]
        return [PretendDDP] * world, nets, points, moons

    return make


_ALIKE, _APART = "the same on all ranks", "not the same on all ranks"


def _learned(returned: tuple, wrapper: list, nets: list[nn.Module], *data: object) -> list[object]:
    weights = [
        readable(torch.cat([p.detach().flatten() for p in net.parameters()])) for net in nets
    ]
    alike = all(same(weights[0], other) for other in weights)
    return [_ALIKE if alike else _APART, weights[0]]


_IN_THE_END = """
import torch.distributed as dist


def answer(DDP, net, points, moon):
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for _ in range(5):
        optimizer.zero_grad()
        net.loss(points, moon).backward()
        optimizer.step()
    for weight in net.parameters():
        dist.all_reduce(weight.data, dist.ReduceOp.AVG)
"""

METHOD = Exercise(
    id="18.6",
    reader=function(
        _halves(2, 3, 1),
        _halves(3, 2, 2),
        observe=_learned,
        around=_on_ranks,
        parts=("the weights", "the weights of rank 0"),
    ),
    right="Every loss goes through the wrapper now, so the ranks learn as one.",
    principle="which call has to go through the wrapper, so that it averages the backward that follows?",
    known={
        "DDP calls a module's `forward`, and this net has none. What could have one, and call `net.loss`"
        " in it?": fails("forward", "no attribute 'loss'"),
        "A rank waits for another one, which calls something else or has ended. Every rank has to call"
        " the same collectives, whatever its points are.": fails(
            "A rank waited", "different collectives"
        ),
        "You take the mean of the weights, once, in the end. That isn't what training together gives: each"
        " step needs the mean of the gradients.": like(_IN_THE_END),
        "The ranks end with different weights, so somewhere each learns from its own gradients.": shows(
            _APART
        ),
    },
    hints=(
        "DDP averages after a forward through itself, `model(…)`, and that calls the `forward` of the module you"
        " gave it. What goes around it isn't averaged.",
        "Write a small module that holds `net`, and whose `forward(points, moon)` returns `net.loss(points, moon)`."
        " Give that one to DDP, and call `model(points, moon)`.",
    ),
    reference="""
class Whole(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, points, moon):
        return self.net.loss(points, moon)


def answer(DDP, net, points, moon):
    model = DDP(Whole(net))  # DDP gets a module whose `forward` computes the loss
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for _ in range(5):
        loss = model(points, moon)  # the loss is computed through the wrapper
~       loss = model.module.net.loss(points, moon)  # The loss still isn't computed through the wrapper, so each rank
~           # learns from its own gradient. Call `model(…)`, and let the `forward` of what's inside compute the loss.
~       import torch.distributed as dist
~       loss = model(points, moon) * dist.get_world_size()  # Each step goes along the sum of the ranks' gradients. One
~           # process with all the points would have their mean.
~       import torch.distributed as dist
~       points, moon = points.clone(), moon.clone()
~       dist.broadcast(points, 0)
~       dist.broadcast(moon, 0)
~       loss = model(points, moon)  # All ranks end alike, but with what rank 0 would have learned alone. The points of
~           # the others have to count as well.
~       import torch.distributed as dist
~       loss = model.module(points, moon)
~       dist.all_reduce(loss)
~       loss = loss / dist.get_world_size()  # You sum up the losses over the ranks, but an all-reduce isn't
~           # recorded. The gradients are each rank's own, and smaller.
        optimizer.zero_grad()  # every step begins with empty gradients
        loss.backward()  # backward averages the gradients
        optimizer.step()  # the weights take their step
""",
    cases=lambda random: (
        _halves(2, random.randint(3, 6), random.randint(3, 99)),
        _halves(3, random.randint(2, 5), random.randint(3, 99)),
    ),
)


def _parts(
    shapes: list[tuple], size: int, world: int, missing: tuple[tuple, ...], seed: int = 0
) -> Callable:
    """Return a case: parameters of these shapes on each rank; those in `missing`, a rank and a place, have no
    gradient.
    """
    counts = ", ".join(str(torch.Size(shape).numel()) for shape in shapes)
    none = "".join(f"; parameters[{at}] has no gradient on rank {rank}" for rank, at in missing)

    @written(f"{_COUNTS[world]} ranks, size = {size}, parameters of {counts} numbers{none}")
    def make() -> tuple:
        random = Random(seed)
        ranks = [[torch.zeros(shape, requires_grad=True) for shape in shapes] for _ in range(world)]
        for rank, parameters in enumerate(ranks):
            for at, each in enumerate(parameters):
                if (rank, at) not in missing:
                    numbers = [float(random.randint(1, 9)) for _ in range(each.numel())]
                    each.grad = torch.tensor(numbers).reshape(each.shape)
        return ranks, [size] * world

    return make


def _averaged(returned: tuple, ranks: list[list], size: list[int]) -> list[object]:
    _, sent = returned
    return [[[readable(each.grad) for each in parameters] for parameters in ranks], sent[0]]


def _other_parts(random: Random) -> tuple:
    shapes = [(random.randint(1, 3), random.randint(2, 4)) for _ in range(4)]
    three = [(2, random.randint(2, 3)), (3,), (random.randint(4, 6),), (2,)]
    return (
        _parts(shapes, random.randint(6, 12), 2, (), random.randint(1, 99)),
        _parts(three, 7, 2, ((1, random.randint(0, 3)),), random.randint(1, 99)),
        _parts([(2,), (3,), (2,), (4,)], 5, 3, ((0, 2), (2, 0)), random.randint(1, 99)),
    )


BUCKETS = Exercise(
    id="18.3",
    reader=function(
        _parts([(2, 3), (3,), (1, 3), (1,)], 7, 2, ()),
        _parts([(2, 2), (3,), (5,), (2,)], 7, 2, ((1, 1),)),
        _parts([(2,), (3,), (2,), (4,)], 5, 3, ((0, 2), (2, 0))),
        observe=_averaged,
        around=_on_ranks,
        promises=("the gradients, rank by rank", "how many numbers each all-reduce had"),
    ),
    right="That's the core of DDP, in twenty lines. Put it between `backward()` and `step()` of a loop in `run_ranks`.",
    principle="fill a bucket, send it with one all-reduce, divide, and put each gradient back in its place.",
    known={
        "Something is None there. `dist.all_reduce` returns nothing, it writes the sum into the tensor you give it."
        " And a parameter without a gradient has None in its `.grad`.": fails(
            "'NoneType' and", "and 'NoneType'"
        ),
        "Your ranks don't make the same calls, so one of them waits for ever. A rank without a gradient has to"
        " take part all the same.": fails("A rank waited", "different collectives"),
        "The gradients are right, but they don't travel in the buckets that were asked for. From which end do you"
        " begin, and when is a bucket full?": right_in(0),
        "The buckets are right, but the gradients on some rank aren't the mean over all ranks.": right_in(
            1
        ),
    },
    hints=(
        "Write `send(bucket)` first: join the gradients with `torch.cat`, each flattened, all-reduce that one tensor,"
        " divide it, and cut it up again with `split`.",
        "Then go through `reversed(parameters)`. If the next one doesn't fit into the bucket any more, send the bucket"
        " and begin an empty one. After the loop one bucket is left.",
    ),
    reference="""
import torch.distributed as dist


def send(bucket):
    flat = torch.cat([p.grad.flatten() for p in bucket])
    dist.all_reduce(flat)  # one all-reduce takes the whole bucket
    flat /= dist.get_world_size()  # a sum over the ranks becomes their mean
~   pass  # You have the sum over the ranks. Divide it by their number.
    for p, part in zip(bucket, flat.split([p.numel() for p in bucket])):
        p.grad = part.view_as(p)  # each gradient goes back to its parameter
~       part.view_as(p)  # The means never get into `.grad`: what you reduce is a copy.


def answer(parameters, size):
    bucket = []
    for p in reversed(parameters):  # the last parameter comes first
~   for p in parameters:  # You begin at the first parameter, but backward gets to the last one first.
        if p.grad is None:  # a parameter without a gradient takes part with zeros
            p.grad = torch.zeros_like(p)
~           continue  # A parameter without a gradient is left out, but only on that rank. The others send it, and
~               # then the buckets of the ranks don't fit together.
        if bucket and sum(q.numel() for q in bucket) + p.numel() > size:  # a bucket is sent before it gets too full
~       if bucket and sum(q.numel() for q in bucket) + p.numel() >= size:  # A bucket may have exactly `size` numbers,
~           # and you send it before that.
            send(bucket)
            bucket = []  # after that an empty bucket begins
        bucket.append(p)
    send(bucket)  # what is left in the end is a bucket as well
~   pass  # The last bucket is never sent, because nothing comes after it.
""",
    cases=_other_parts,
)


def _step(data: Data) -> str:
    return f"""def step(rank, world):
    x = {data["xs"]}[rank]
    model = DDP(nn.Linear(1, 1, bias=False))
    nn.init.constant_(model.module.weight, {data["w"]})
    sgd = torch.optim.SGD(model.parameters(), lr={data["lr"]})
    model(torch.tensor([x])).sum().backward()
    sgd.step()
    return model.module.weight.item()


# Pretend ranks, which take turns in one process. For the same answer from real ones: run_ranks(step, {len(data["xs"])}).
{_PRETEND}
answer = pretend(step, {len(data["xs"])})[0]
"""


def _other_step(random: Random) -> Data:
    """Draw a step to a weight that isn't a whole number, and so isn't shown."""
    while True:
        xs = random.sample((2.0, 4.0, 6.0, 8.0, 10.0, 12.0), random.randint(2, 4))
        w, lr = random.randint(1, 4), random.choice((0.1, 0.2, 0.3))
        reached = round(w - lr * sum(xs) / len(xs), 4)
        if reached % 1 and reached not in (0.1, 0.2, 0.3):
            return {"xs": xs, "w": float(w), "lr": lr}


_OWN = "what rank 0 gets from its own gradient alone"
STEP = Exercise(
    id="18.1",
    right="DDP takes the mean of the gradients over the ranks, and each rank takes the same step with it.",
    principle="what's in `.grad` when `backward()` returns, and what does SGD do with it?",
    quantities=Quantities(
        program=_step,
        data={"xs": [2.0, 4.0, 6.0, 8.0], "w": 1.0, "lr": 0.1},
        draw=_other_step,
        places=(
            Place(
                "`answer`",
                "a step along the mean of the gradients",
                {
                    _OWN: "w - lr * xs[0]",
                    "what the sum of the gradients gives": "w - lr * sum(xs)",
                    "what comes if the mean is divided by the number of ranks once more": "w - lr * sum(xs) / len(xs) ** 2",
                    "a step uphill": "w + lr * sum(xs) / len(xs)",
                },
                loose={
                    "the mean of the gradients": "sum(xs) / len(xs)",
                    "the gradient that rank 0 has before the post has come": "xs[0]",
                    "the sum of the gradients": "sum(xs)",
                    "the weight before the step": "w",
                    "the change of the weight alone": "- lr * sum(xs) / len(xs)",
                    "the step alone": "lr * sum(xs) / len(xs)",
                },
            ),
        ),
    ),
    asked="Each rank runs `step`. What does it return on rank 0? Give a number.",
    hints=(
        "The gradient of this weight is `x`. Each rank has a different one, until DDP is done with them.",
        "DDP puts the mean over the ranks into `.grad`. SGD takes `lr` times that off the weight.",
    ),
)

_BEGIN = """def train(rank, world):
    torch.manual_seed(rank)
    model = DDP(nn.Linear(1, 1, bias=False))
    sgd = torch.optim.SGD(model.parameters(), lr={})
    x = torch.tensor([[{} + rank]])"""
_THROUGH = "Does the forward go through the wrapper, and is it the first backward after it?"
_SYNCED = "Where does the forward stand, inside `no_sync` or outside?"
APART = Lines(
    read="“When does DDP average?”, and what follows under it",
    begins=tuple(_BEGIN.format(lr, x) for lr, x in ((0.1, 1.0), (0.5, 2.0), (0.2, 3.0))),
    lines={
        "model(x).sum().backward()": "The seeds differ. What does DDP do with the weights when it's made?",
        "model.module(x).sum().backward()": _THROUGH,
        "one, two = model(x), model(2 * x); one.sum().backward(); two.sum().backward()": _THROUGH,
        "with model.no_sync():\n    model(x).sum().backward()\nmodel(x).sum().backward()": "What does the last"
        " backward average: the new gradient, or all of `.grad`?",
        "(model.module.weight.grad,) = torch.autograd.grad(model(x).sum(), model.module.weight)": "Does this"
        " gradient pass the place where DDP waits for it?",
        "(model(x).sum() * (1 + rank)).backward()": "The losses differ. Does that keep DDP from taking a mean?",
        "with model.no_sync():\n    y = model(x).sum()\ny.backward()": _SYNCED,
        "y = model(x).sum()\nwith model.no_sync():\n    y.backward()": _SYNCED,
        "(model(x) + model(2 * x)).sum().backward()": "How many backward calls are there?",
        "nn.init.constant_(model.module.weight, rank); model(x).sum().backward()": "Once DDP is made, what does it"
        " make alike: weights, or gradients?",
        "model.module(x).sum().backward(); dist.all_reduce(model.module.weight.grad)": "What is in `.grad` on each"
        " rank after the last call?",
    },
    trial=f"""
{_PRETEND}
{{begin}}
    exec(line)
    sgd.step()
    return model.module.weight.item()


weights = pretend(train)
if weights[0] != weights[1]:
    answer.append(letter)
""",
)

LETTERS = Exercise(
    id="18.2",
    right="With these, some gradient was never averaged, or the weights had already been made different. No error says so.",
    asked="Two ranks run a function that begins like this. One of the lines follows, and then `sgd.step()`. After which"
    " lines do the ranks have different weights? Give their letters.",
    **APART.first("abcdef"),
    hints=(
        "When it's made, DDP sends the weights of rank 0 to all. After that it cares for gradients only.",
        "A forward through `model(…)`, outside `no_sync`, arms it for one backward. Other losses or other data make"
        " no difference: it's a mean all the same.",
    ),
)


def _dealt(*counts: int, seed: int = 0) -> Callable:
    """Return a case: losses of so many points on each rank."""

    @written(f"losses of {', '.join(map(str, counts))} points on ranks 0 to {len(counts) - 1}")
    def make() -> tuple:
        random = Random(seed)
        points = [[float(random.randint(1, 9)) for _ in range(count)] for count in counts]
        return ([torch.tensor(part, requires_grad=True) * 2 for part in points],)

    return make


_NO_GRAPH = "no way back to its losses"


def _weights(returned: tuple, losses: list[torch.Tensor]) -> list[object]:
    """Return what a point counts for in the mean over ranks, rank by rank."""
    weights = []
    for result, part in zip(returned[0] or [None] * len(losses), losses, strict=True):
        problem = no_loss(result)
        if not problem:
            found = guarded(_grad, result, part)
            problem = _NO_GRAPH if isinstance(found, Failed) else ""
        weights.append(problem or readable(found[0] / len(losses)))
    return weights


MEAN = Exercise(
    id="18.4",
    reader=function(
        _dealt(3, 1),
        _dealt(2, 2),
        _dealt(1, 4, 2),
        observe=lambda returned, losses: [_weights(returned, losses)],
        around=_on_ranks,
        parts=("what each point counts for",),
    ),
    right="Every point counts the same now, whichever rank it's on.",
    principle="DDP divides by the number of ranks, whatever they hold. What has to be in the loss, so that every point counts"
    " the same?",
    known={
        NO_TENSOR: lambda seen, _: _among(seen, NOT_A_TENSOR),
        "You return several numbers, but a backward starts from one.": lambda seen, _: _among(
            seen, SEVERAL
        ),
        "From what you return there's no way back to `losses`. Did you detach it, or make a new tensor?": lambda seen, _: (
            _among(seen, _NO_GRAPH)
        ),
        "A rank waits for another one. All ranks have to call the same collectives, with tensors of one shape.": fails(
            "A rank waited", "different collectives"
        ),
    },
    hints=(
        "How many points are there on all ranks? Put `float(len(losses))` into a tensor and all-reduce that. It returns"
        " nothing: the sum is in your tensor afterwards.",
        "DDP adds the gradients up and divides by the number of ranks. You want to divide by the number of points instead,"
        " so multiply by the one and divide by the other.",
    ),
    reference="""
import torch.distributed as dist


def answer(losses):
    count = torch.tensor(float(len(losses)))
    dist.all_reduce(count)  # every rank has to know how many points there are in all
    return losses.sum() * dist.get_world_size() / count  # DDP's division by the number of ranks is undone
~   return losses.mean()  # Each rank takes the mean of its own points. Then a point on a rank with few of them counts
~       # for more.
~   return losses.sum() / count  # You divide by the number of all points, and then DDP divides by the number of ranks
~       # as well. (An all-reduce of the loss can't undo that, because it isn't recorded.)
~   return losses.sum()  # With a plain sum each point counts for one over the number of ranks. It should be one over the number of all
~       # points.
""",
    cases=lambda random: (
        _dealt(*random.sample(range(1, 6), 2), seed=random.randint(1, 99)),
        _dealt(3, 3, seed=random.randint(1, 99)),
        _dealt(*random.sample(range(1, 6), 3), seed=random.randint(1, 99)),
    ),
)


def _among(seen: tuple, word: str) -> bool:
    cases = [case for case in seen if isinstance(case, tuple)]
    return any(word in part for (part,) in cases)


# Programs that are tried know torch alone.
_THERE = '__import__("helpers.exercises.lessons.pretend_ranks", fromlist=["pretend"])'
PROGRAMS = Faults(
    """
def train(rank, world):
    layers = [nn.Linear(1, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)]
    model = DDP(nn.Sequential(*layers))
    x = torch.tensor([[{a}.0], [{b}.0], [{c}.0 + rank]])
    for step in range(2):
        model(x).sum().backward()
        model.zero_grad()
        if rank == 0:
            with torch.no_grad():
                print(model.module(x).mean())
    return "done"
look at: pretend(train)
10: print(model(x).mean())
10: print(model.train()(x).mean())

def train(rank, world):
    model = DDP(nn.Linear(1, 1))
    x = torch.ones({a}, 1) * ({b} + rank)
    loss = model(x).mean()
    loss.backward()
    seen = loss.detach().clone()
    dist.all_reduce(seen)
    if rank == 0:
        print(seen / world)
    return model.module.weight.grad.item()
look at: pretend(train)
4: loss = model.module(x).mean()
7: dist.all_reduce(seen) if rank == 0 else None
7: dist.all_reduce(seen if rank == 0 else x)

def train(rank, world):
    model = DDP(nn.Linear(1, 1, bias=False))
    x = torch.tensor([[{a}.0 + rank]])
    with model.no_sync():
        model(x).sum().backward()
    y = model({b} * x).sum()
    y.backward()
    model.zero_grad()
    model(x).sum().backward()
    return model.module.weight.grad.item()
look at: pretend(train)
9: model.module(x).sum().backward()
9: torch.autograd.backward(model.module(x).sum())

def train(rank, world):
    layer = nn.Linear(1, 1, bias=False)
    model = DDP(layer)
    sgd = torch.optim.SGD(model.parameters(), lr=0.{a})
    for step in range(2):
        sgd.zero_grad()
        model(torch.tensor([[{b}.0 + rank]])).sum().backward()
        sgd.step()
    return layer.weight.item()
look at: len(set(pretend(train)))
7: layer(torch.tensor([[{b}.0 + rank]])).sum().backward()
6: layer.weight.data.add_(rank)
""".replace("pretend(", f"{_THERE}.pretend(")
)

_FIRST = PROGRAMS.first(a=2, b=3, c=5, d=7)
_FIRST["known"] |= {
    "That `if` is meant: only rank 0 should print. Which line in it needs both ranks?": lambda seen, _: (
        seen == (8,)
    ),
    "`no_grad` is right, and rank 1 needn't do the same. But what's inside still calls for rank 1.": lambda seen, _: (
        seen == (9,)
    ),
}
LINE = Exercise(
    id="18.5",
    right="With that line right, all ranks make the same calls, and they learn as one.",
    asked="Two ranks run `train`. One of its lines stops them, or keeps them from learning as one. Which line would you"
    " change? (Only rank 0 is meant to print.) Give its number.",
    principle="which ranks get to each line, and which calls of each line need all of them?",
    hints=(
        "Look for lines that only one rank gets to, or that do something else on each rank. Do they need the others?",
        "A forward through DDP sends buffers if there are any, even under `no_grad`. A backward sends gradients if the"
        " forward went through DDP.",
    ),
    **_FIRST,
)

EXERCISES = (METHOD, BUCKETS, STEP, LETTERS, MEAN, LINE)
