"""Exercises of lesson 11, the training loop: what a step writes, who steps when, and the case in other
clothes, a loop with four faults and no error.

An optimizer is made only while an answer is checked: the first one of a process costs about a
second.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import torch

from autograd_graphs.plain_values import NotRead
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.lessons.watching import WeightWatch
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import Reader, as_tuple, same
from helpers.exercises.recognise import both, ended, right_in, shows, wrong_in
from helpers.exercises.watched_inputs import readable, tensors_in

_CHUNKS = """
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model.weight._version
for epoch in range({rounds}):
    optimizer.zero_grad()
    for chunk in torch.ones({rows}, 3).split(2):
        model(chunk).mean().backward()
{step}
answer = model.weight._version - before
"""
_STEP = "    optimizer.step()"
_CLIP = "\n    with torch.no_grad():\n        model.weight.{}"
_CLIPS = [
    _CLIP.format(write) for write in ("clamp_(-1, 1)", "mul_(0.9)", "copy_(torch.zeros(1, 3))")
]


def _data(rounds: int, chunks: int, step: str = _STEP) -> Data:
    """Return the numbers of a loop, how often it steps in a round, and how often it writes otherwise."""
    inside = step.startswith("        ")
    writes = (chunks if inside else 1) * step.count("step") + step.count("model.weight")
    data = {"rounds": rounds, "rows": 2 * chunks, "step": step}
    return data | {"chunks": rounds * chunks, "writes": rounds * writes}


def _other_loop(random: Random) -> Data:
    step = random.choice((_STEP, f"    {_STEP}", f"{_STEP}\n{_STEP}"))
    return _data(random.randint(2, 6), random.randint(3, 6), step + random.choice(("", *_CLIPS)))


VERSION = Exercise(
    id="11.1",
    right="Each step of plain SGD wrote into the weight once, and each write is counted. `backward()`"
    " wrote into `.grad`, which is a different tensor.",
    asked="By how much does the loop increase `model.weight._version`? Give a number.",
    principle="the version counts writes into this one tensor, those of plain SGD included; `.grad` is a different tensor.",
    quantities=Quantities(
        program=_CHUNKS.format_map,
        data=_data(3, 4),
        places=(
            Place(
                "`answer`",
                "the writes of the loop into this one tensor",
                {
                    "the counter itself, which stood at 1 before the loop": "writes + 1",
                },
                loose={
                    "about a write for each chunk, but `backward()` writes into `.grad`": (
                        "chunks, chunks + 1, chunks + rounds"
                    ),
                    "as if there were one write in each epoch": "rounds",
                    "two writes in each epoch, but `.grad` and the bias are different tensors": (
                        "2 * rounds, 2 * rounds + 1"
                    ),
                    "too few for a write in each epoch, and a plain step is counted": (0, 1, 2),
                },
            ),
        ),
        draw=_other_loop,
    ),
    hints=(
        "Go through the lines and ask of each: does it write into the memory of `model.weight`?",
        "Print `model.weight._version` before a line and after it. How often does each line run?",
    ),
)


def _linear(name: str, weight: list, bias: list) -> str:
    return f"{name}.weight = nn.Parameter(torch.tensor({weight}))\n{name}.bias = nn.Parameter(torch.tensor({bias}))\n"


def _curved(weight: list[float], bias: float, of_critic: float, z: list[list[float]]) -> Callable:
    """Return a case with a critic whose gradients depend on all that is old or new."""
    layers = "generator, critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(1, 1), nn.Tanh())\n"
    numbers = _linear("generator", [weight], [bias]) + _linear("critic[0]", [[of_critic]], [0.0])
    return made_by(f"{layers}{numbers}z = torch.tensor({z})", "generator", "critic", "z")


def _parameters(_: object, generator: torch.nn.Module, critic: torch.nn.Module, z: object) -> list:
    return [*critic.parameters(), *generator.parameters()]


def _other_duel(random: Random) -> tuple:
    weight = [random.choice((0.4, 0.5, 0.6)), random.choice((0.8, 1.0, 1.2))]
    z = [[1.0, 0.0], [random.choice((2.0, 2.5, 3.0)), 1.0]]
    return (_curved(weight, random.choice((1.5, 2.0)), random.choice((0.2, 0.3)), z),)


DUEL = Exercise(
    id="11.2",
    reader=function(
        _curved([0.5, 1.0], 2.0, 0.2, [[1.0, 0.0], [3.0, 1.0]]),
        observe=_parameters,
        parts=("critic weight", "critic bias", "generator weight", "generator bias"),
    ),
    right="The generator played against the critic that had just learnt, with a fresh forward and no gradient left over.",
    known={
        "The critic is right, but the generator took a different step from the one it should take. Does its"
        " gradient come only from its own loss, and from a score that the critic gave after its"
        " step?": right_in(0, 1),
    },
    principle="a gradient belongs to the values of its own forward pass, and `.grad` is a tally that you have to wipe.",
    hints=(
        "After the critic's step, use nothing that was computed before it.",
        "Compute the score again after the critic's step. Empty the generator's `.grad` before its `backward()`.",
    ),
    reference="""
def answer(generator, critic, z):
    of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
    of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
    score = critic(generator(z)).mean()
~   (-critic(generator(z)).mean()).backward(); of_generator.step(); of_critic.zero_grad()
~   critic(generator(z).detach()).mean().backward(); of_critic.step(); return  # Your generator steps first. It should
~       # wait, and then play against the critic that has just learnt.
    score.backward()
~   (-score).backward()  # The critic's step raises the score. It should lower it: `step()` goes against
~       # the gradient of what you call `backward()` on.
    of_critic.step()
~   pass  # The critic hasn't moved at all. Does it take a step, and what is in its `.grad` by then?
~   of_generator.zero_grad()
~   (-critic(generator(z)).mean()).backward(inputs=list(generator.parameters()))
~   of_critic.step(); of_generator.step(); return  # There's no error, and it's an order people do use. But your
~       # generator played against the old critic. Here it has to face the one that has just learnt.
~   score = critic(generator(z)).mean()
~   [one.data.sub_(0.1 * one.grad) for one in critic.parameters()]
~   of_generator.zero_grad(); (-score).backward(); of_generator.step(); return  # There's no error, but the
~       # generator's gradient comes from the old score. You wrote into the critic through `.data`, where no counter
~       # sees it, so nothing warned you. Compute the score again.
    of_generator.zero_grad()
~   pass  # The forward pass is new, but the generator still took a step with a sum. The critic's `backward()` went
~       # through the generator, too, and left something there.
~   of_generator.step(); return  # The generator took its step with what the critic's `backward()` had left in its
~       # `.grad`. So it went towards a smaller score, and played against the old critic.
    score = critic(generator(z)).mean()
~   pass  # You call `backward()` twice on one graph, or on a part of it, and the first call freed what it had
~       # saved. Before you decide to keep it, ask which of its weights the step wrote into in between.
~   score = critic(generator(z)).mean(); of_critic.step()  # A step came between a forward and its
~       # `backward()`: it wrote into a weight that this graph had saved. `retain_graph=True` keeps the
~       # tensor, but not the numbers in it.
    (-score).backward()
~   of_critic.zero_grad(); (-score).backward(); of_generator.step(); of_critic.step(); return  # The critic takes a second
~       # step. It should take just one, before the generator's.
~   score.backward()  # The generator's step lowers the score. It should raise it: `step()` goes against
~       # the gradient of what you call `backward()` on.
    of_generator.step()
~   pass  # The generator hasn't moved at all. Does it take a step, and what is in its `.grad` by then?
~   of_generator.step(); of_critic.step()  # The critic takes a second step. It should take just one, before the
~       # generator's.
""",
    cases=_other_duel,
)


def _case(weight: list[float], bias: float, x: list[list[float]], y: list[float]) -> Callable:
    data = f"points, moon = torch.tensor({x}), torch.tensor({[[number] for number in y]})"
    code = f"model = nn.Linear(2, 1)\n{_linear('model', [weight], [bias])}{data}"
    return made_by(code, "model", "points", "moon")


_CASES = (
    _case([0.9, -0.5], 0.5, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [3.0, -0.5, 2.0]),
    _case([-0.75, 0.25], 1.5, [[1.0, 0.0], [0.0, 2.0]], [-3.0, 5.0]),
)
ROUNDS = 4
_LOG, _GRADS, _WEIGHT, _BIAS, _WRITES, _GRAPHS, _SAVED = range(7)  # of what is seen of a loop


def _other_cases(random: Random) -> tuple:
    """Draw a little more or less of everything."""

    def about(*numbers: float) -> list[float]:
        return [number + random.randint(-4, 4) / 100 for number in numbers]

    first = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    return (
        _case(about(0.9, -0.5), *about(0.5), first, about(3.0, -0.5, 2.0)),
        _case(about(-0.75, 0.25), *about(1.5), [[1.0, 0.0], [0.0, 2.0]], about(-3.0, 5.0)),
    )


def _watched(answer: Callable) -> Callable:
    """Wrap a loop: it returns what `answer` returns, and the watch that looked on."""

    def run(model: torch.nn.Module, *data: object) -> tuple:
        with WeightWatch(model.weight) as watch:
            returned = answer(model, *data)
        watch.look()
        return returned, watch

    return run


def _behaviour(ended: tuple, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list:
    returned, watch = ended
    saved = "freed"
    if watch.keeps():  # asked first: the watch itself holds the nodes until then
        saved = "kept"
    writes = "all counted"
    if getattr(model, "weight", None) is not watch.weight:
        writes = "another tensor"
    elif watch.has_missed:
        writes = "some not counted"
    numbers = [_numbers(getattr(model, name, None)) for name in ("weight", "bias")]
    graphs = "alive" if watch.alive else "gone"
    return [readable(returned), watch.arrived, *numbers, writes, graphs, saved]


def _numbers(parameter: object) -> object:
    return parameter.detach() if isinstance(parameter, torch.Tensor) else "no tensor"


def _with_a_log(loops: Reader) -> Reader:
    """Let a reader of loops refuse a log whose form is another one, whatever it holds."""

    def read(answer: object) -> tuple:
        seen = loops.read(answer)
        if any(map(_has_another_form, ended(seen))):
            raise NotRead(
                "its log has a different form. It should be a list with two numbers for each lap,"
                " the loss and the percentage"
            )
        return seen

    return replace(loops, read=read, of=lambda *cases: _with_a_log(loops.of(*cases)))


def _has_another_form(case: tuple) -> bool:
    """Tell whether the log holds texts or dicts, or is a list of losses beside one of percents."""
    log = as_tuple(case[_LOG])
    rows = [len(row) for row in log if isinstance(row, tuple)]
    return rows == [ROUNDS, ROUNDS] or any(isinstance(row, str) for row in log)


def _edited(seen: tuple, right: tuple) -> bool:
    """Tell whether the first loss is right, but its gradient goes in a different direction."""
    for case, wanted in zip(seen, right, strict=True):
        if not same(case[_LOG][0][0], wanted[_LOG][0][0]):
            return False
        (came,), (should,) = case[_GRADS][0], wanted[_GRADS][0]
        if abs(came[0] * should[1] - came[1] * should[0]) < 1e-3 * abs(came[0] * should[1]):
            return False
    return True


def _same_again(seen: tuple, right: tuple) -> bool:
    """Tell whether each backward of a loop that keeps its graph brought the first gradient."""
    for case in seen:
        is_repeated = same(case[_GRADS], case[_GRADS][:1] * ROUNDS)
        if case[_SAVED] != "kept" or not is_repeated:
            return False
    return True


LOOP = Exercise(
    id="11.7",
    reader=_with_a_log(
        function(
            *_CASES,
            observe=_behaviour,
            parts=(
                "the log",
                "the gradients that came to the weight",
                "the weight",
                "the bias",
                "writes into the weight",
                "graphs afterwards",
                "saved tensors",
            ),
            around=_watched,
        )
    ),
    right="A new graph each lap, fresh gradients, a smaller weight, and no graph left over. The loop is yours.",
    known={
        "There's no error, but the gradient is wrong in the very first lap: what the loss had saved was changed"
        " before `backward()`, in a way no counter sees. That silences the check, but the edit is still"
        " there.": _edited,
        "There's no error, but each lap has the gradient of the first, although the weights have moved."
        " Calling `backward()` again doesn't compute a new prediction. Which line does, and does it run in"
        " every lap?": _same_again,
        "The training is right, but the log isn't. For each of the four laps it should hold two"
        " numbers: the loss, and the mean prediction of this lap's forward times"
        " 100.": both(right_in(_GRADS, _WEIGHT, _BIAS), wrong_in(_LOG)),
        "All the numbers are right, but you write into the weight where no counter sees it, for"
        " example through `.data`. A graph that had photographed the weight wouldn't"
        " notice.": both(right_in(_LOG, _GRADS, _WEIGHT, _BIAS), shows("some not counted")),
    },
    principle="each lap needs a forward and gradients of its own, and leaves nothing but numbers behind.",
    hints=(
        "Change one thing at a time and run `check` after each: it tells you one fault at a time.",
        "Ask of each line: does it run once, or in each lap? Does it make a new tensor, or edit one? Is the edit"
        " counted? What does it leave behind?",
        "You're looking for a forward that runs only once and needs a flag for it, a tally that"
        " nobody wipes, an edit of something backward still needs, a write that isn't counted,"
        " and a log that keeps graphs alive.",
    ),
    reference="""
def answer(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    log = []
    for _ in range(4):
~   for _ in range(5):  # Your loop takes five steps, and it should take four.
        pred = model(x)  # each lap needs a forward of its own
~       pred = pred if log else model(x)  # You call `backward()` twice on one graph, or on a part of
~           # it, and the first call freed what it had saved. Which line makes each part, and does it run
~           # in every lap?
        loss = torch.nn.functional.mse_loss(pred, y)
~       pred = 100 * pred; loss = torch.nn.functional.mse_loss(pred, y); pred = pred / 100  # Your loss compares the
~           # percentages with `y`. Percent is only for the log.
        percent = (pred * 100).mean()
~       pred *= 100; percent = pred.mean()  # Something wrote into a tensor that a node had saved, before
~           # `backward()` got to it. On a tensor, `*=` makes nothing new: it edits in place, like `mul_`.
        optimizer.zero_grad()
~       pass  # The first lap is right. From the second on, each step uses a sum. What does `backward()` do if
~           # there's already a `.grad`?
        loss.backward()  # each step needs the gradient of its own lap
~       loss.backward(); optimizer.zero_grad()  # There were gradients, but no parameter follows them. Is there a
~           # step, and what is in `.grad` when it runs? Mind the order of the three calls.
~       loss.backward(retain_graph=True)  # All the numbers are right, but each backward keeps its saved
~           # tensors, though none of these graphs is needed again: `retain_graph` is for a second
~           # `backward()`. What would it cost a large model?
        optimizer.step()
~       model.weight.data.mul_(0.9); optimizer.step(); log.append([loss.item(), percent.item()]); continue  # You made the
~           # weight smaller before the step. That should come after it.
        with torch.no_grad():
            model.weight.mul_(0.9)  # the weight is made smaller after each step
~           with torch.enable_grad(): model.weight.mul_(0.9)  # A line writes into a leaf while recording is on.
~               # Like an optimizer's step, this write should be counted but not recorded.
~           model.weight = torch.nn.Parameter(0.9 * model.weight)  # The model has a new weight now, but the
~               # optimizer still holds the old one. Write into the tensor that's there.
~           [one.mul_(0.9) for one in model.parameters()]  # You made the bias smaller as well, but it should only
~               # be the weight.
        log.append([loss.item(), percent.item()])
~       log.append([loss, percent])  # The numbers are right, but when your function is over, nodes of its graphs
~           # are still alive, because something you keep leads to them. Is each entry of the log a number, or a
~           # tensor with its graph?
    return log
""",
    cases=_other_cases,
)

_ALONE = "Does the step find anything but the gradient of its own lap?"
_NEXT = "What does this lap leave in `w.grad` for the next one?"
_SEEN = "What's in `w.grad` when the step looks?"
_TWICE = "How many times does a step move `w` in one lap, and by how much?"
_CALLED = "Does each of these lines really do what its name says?"
_BEGIN = """w = torch.tensor({}, requires_grad=True)
sgd = torch.optim.SGD([w], lr={})
def loss_of(): return {}"""
ORDERS = Lines(
    read="“One lap”, and the lab",
    begins=(
        _BEGIN.format(1.0, 0.25, "(w - 4) ** 2"),
        _BEGIN.format(2.0, 0.125, "(2 * w - 6) ** 2"),
        _BEGIN.format(0.5, 0.05, "(w.exp() - 3) ** 2"),
        _BEGIN.format(3.0, 0.02, "(w - 1) ** 4"),
    ),
    lines={
        "sgd.zero_grad(); loss.backward(); sgd.step()": _ALONE,
        "loss.backward(); sgd.zero_grad(); sgd.step()": _SEEN,
        "loss.backward(); sgd.step(); w.grad = None": _NEXT,
        "loss.backward(); sgd.step()": _NEXT,
        "sgd.step(); sgd.zero_grad(); loss.backward()": "From which lap is the gradient that the step finds?",
        "(w.grad,) = torch.autograd.grad(loss, w); sgd.step()": "Is the new gradient added to the old one, or does it take its place?",
        "loss.backward(); sgd.step(); sgd.zero_grad()": _NEXT,
        "w.grad = None; loss.backward(); sgd.step()": _ALONE,
        "loss.backward(); sgd.step(); w.grad.zero_()": _NEXT,
        "loss.backward(); sgd.step(); sgd.zero_grad": _CALLED,
        "sgd.zero_grad(); loss.backward(); sgd.step": _CALLED,
        "sgd.zero_grad(); (2 * loss).backward(); sgd.step()": _TWICE,
        "sgd.zero_grad(); loss.backward(); sgd.step(); sgd.step()": _TWICE,
        "loss.backward(retain_graph=True); sgd.step(); sgd.zero_grad()": _NEXT,
    },
    trial="""
{begin}
start = w.item()
for turn in range(3):
    loss = loss_of()
    exec(line)
came = w.item()
w.data.fill_(start)
for turn in range(3):
    (slope,) = torch.autograd.grad(loss_of(), w)
    w.data -= sgd.param_groups[0]["lr"] * slope
if abs(came - w.item()) < 1e-6:
    answer.append(letter)
""",
)

TURNS = Exercise(
    id="11.4",
    right="In each of these the step finds the gradient of its own lap, once, and nothing else.",
    asked="Each of three laps is `loss = loss_of()`, followed by just one of these lines. Which of them make each step"
    " subtract `lr` times the gradient of its own lap? Give a list of letters.",
    hints=(
        "Play two laps of each letter, and write down what is in `w.grad` when `step()` looks.",
        "The first lap may be right by luck. What has it left in `w.grad` for the second?",
    ),
    **ORDERS.first("abcdef"),
)

SPOILED = Faults("""
model = torch.nn.Linear(2, 1)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
x, y, log = torch.ones({a}, 2), {b} * torch.ones({a}, 1), []
for step in range(3):
    loss = torch.nn.functional.mse_loss(model(x), y)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    log.append(loss.item())
print(log)
look at: [float(log[-1]), type(log[-1]).__name__]
2: sgd = torch.optim.SGD([one.detach() for one in model.parameters()], lr=0.1)
2: sgd = torch.optim.SGD([one.clone() for one in model.parameters()], lr=0.1)
6: sgd.zero_grad
6: loss.detach()
8: sgd.step
9: log.append(loss)

w = torch.tensor({a}.0, requires_grad=True)
sgd = torch.optim.SGD([w], lr=0.01)
start = w.detach().clone()
for step in range(4):
    scale = w * {b}
    loss = (scale - {c}) ** 2
    sgd.zero_grad()
    loss.backward()
    sgd.step()
print(start.item(), w.item())
look at: [start.item(), w.item()]
3: start = w
3: start = w.detach()
6: loss = (scale.detach() - {c}) ** 2
7: w.grad is None
7: w.zero_grad = None
9: w = w - 0.01 * w.grad

w = torch.tensor([{a}.0, -{b}.0], requires_grad=True)
sgd = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (w * w).sum() / 2
    sgd.zero_grad()
    loss.backward()
    with torch.no_grad():
        w.grad.clamp_(-{d}, {d})
    sgd.step()
print(w)
look at: w
8: w.grad.clamp(-{d}, {d})
8: w.clamp_(-{d}, {d})
4: loss = (w * w.detach()).sum() / 2
5: sgd.zero_grad
""")

SPOILS = Exercise(
    id="11.5",
    right="With that line changed, each lap does what it should, and only numbers remain.",
    asked="In each lap the step should use the gradient of its own loss, and afterwards only plain numbers"
    " should remain. Which line would you change? Give its number.",
    principle="ask of each line what it writes into: a graph, `.grad`, the weights, or nothing at all.",
    hints=(
        "What does each line write into: the graph, `.grad`, the weights, the log?",
        "Is every call really made? Whose tensors does the optimizer hold? Which names share their memory?",
    ),
    **SPOILED.first(a=4, b=3, c=5, d=7),
)


class _Rounds:
    """Play a training: `step` writes the number of its round into the model, `validate` gives a loss."""

    def __init__(self, model: torch.nn.Module, losses: list[float]) -> None:
        self.model, self.losses, self.calls = model, losses, ""
        self.tensors = list(model.state_dict(keep_vars=True).values())  # held: no id comes again

    def step(self) -> None:
        self.calls += "s"
        for tensor in self.model.state_dict().values():
            tensor.fill_(self.calls.count("s"))

    def validate(self) -> torch.Tensor:
        left = self.losses[self.calls.count("v") :] or [9.0]
        self.calls += "v"
        return 1 * torch.tensor(left[0], requires_grad=True)


def _training(layers: str, losses: list[float], patience: int, most: int) -> Callable:
    listed = ", ".join(map(str, losses))

    @written(f"model = {layers}; losses {listed}, then 9; patience = {patience}; most = {most}")
    def case() -> tuple:
        model = eval(layers, {"nn": torch.nn})
        model.rounds = rounds = _Rounds(model, losses)
        return model, rounds.step, rounds.validate, patience, most

    return case


def _trainings(a: float) -> tuple:
    """Return cases: patience ends it, `most` does, ties, NaN, patience begins anew with a little less in a
    shared layer, an empty model.
    """
    nan = float("nan")
    norm, shared = "nn.BatchNorm1d(1)", "nn.Sequential(*2 * [nn.Linear(1, 1)])"
    return (
        _training("nn.Linear(1, 1)", [a + 2, a + 1, a, a + 1, a + 2], 2, 10),
        _training(norm, [a + 3, a + 2, a + 1, a], 3, 3),
        _training("nn.Linear(1, 1).half()", [a, a, a, a - 1], 2, 9),
        _training(norm, [nan, a + 1, nan, nan, a], 2, 9),
        _training(shared, [a + 2, a + 3, a + 1, a + 3, a + 1 - 1e-6], 2, 9),
        _training("nn.Sequential()", [a], 1, 5),
    )


def _stopped(returned: object, model: torch.nn.Module, *_: object) -> list[object]:
    rounds = model.rounds
    losses = readable(returned)
    if isinstance(returned, (list, tuple)) and tensors_in(returned):
        losses = "tensors"
    count = len(rounds.calls) // 2
    in_turn = rounds.calls == "sv" * count
    state = model.state_dict(keep_vars=True).values()
    are_same = list(map(id, state)) == list(map(id, rounds.tensors))
    numbers = set()
    for tensor in state:
        numbers |= {tensor.detach().max().item(), tensor.detach().min().item()}
    return [
        losses,
        count if in_turn else "step and validate not in turn",
        sorted(numbers),
        "the same" if are_same else "others",
    ]


FIT = Exercise(
    id="11.6",
    reader=function(
        *_trainings(2.0),
        observe=_stopped,
        promises=(
            "the losses",
            "the rounds",
            "the model's numbers are of round",
            "its tensors are",
        ),
    ),
    right="That's early stopping: you keep the best model you saw, not the last one.",
    principle="count the rounds since the best one, and keep a copy of everything the model had then.",
    known={
        "Your losses are tensors, and each keeps its graph alive. Return numbers:"
        " `validate().item()`.": shows("tensors"),
        "The model has new tensors now, but its optimizer holds the old ones. Write the numbers"
        " into the tensors that are there, as `load_state_dict` does.": shows("others"),
    },
    hints=(
        "Keep three things: the best loss, a copy of the model's state, and how many rounds ago that was.",
        "`copy.deepcopy(model.state_dict())` copies parameters and buffers,"
        " `model.load_state_dict(kept)` writes them back.",
    ),
    reference="""
import copy


def answer(model, step, validate, patience, max_rounds):
    losses = []
    best = float("inf")
    waited = 0
    while len(losses) < max_rounds and waited < patience:
~   while len(losses) < max_rounds:  # You never run out of patience. After `patience` rounds in a row without a new best
~       # loss, it's time to stop.
~   while waited < patience:  # Your loop goes on after `max_rounds` rounds.
~   while len(losses) < max_rounds and waited <= patience:  # You wait one round too long. Has the round without progress
~       # been counted by the time you check?
~   while len(losses) <= max_rounds and waited < patience:  # You run one round more than `max_rounds`.
        step()  # each round trains, and then it validates
        loss = validate().item()
        losses.append(loss)  # the loss of each round is returned
~       if loss < best or waited + 1 < patience: losses.append(loss)  # The loss of the very last round is missing. Note
~           # each loss before you decide whether to stop.
        waited += 1  # a round without a smaller loss has to be counted
        if loss < best:
~       if loss <= best:  # You counted a loss as better when it only equals the best. Patience is there to end
~           # exactly that.
~       if loss < best - 1e-4:  # A loss counts as better if it's smaller at all, by however little. You ask for
~           # more than that.
~       if loss < best or len(losses) == 1:  # The first loss was NaN, and no loss is smaller than NaN. Start with
~           # `float('inf')` as the best.
~       if not loss >= best:  # You took a NaN for the best loss. Any comparison with a NaN is false, so ask
~           # for what you want: a smaller loss.
            best = loss  # each loss is compared with the best one so far
            waited = 0
~           waited -= 1  # Your patience never starts over. Only the rounds since the best one count.
~           pass  # Your patience never starts over. Only the rounds since the best one count.
            kept = copy.deepcopy(model.state_dict())
~           kept = model.state_dict()  # At the end the model has the numbers of its last round. Either you never
~               # loaded what you kept, or it went on learning, because `state_dict()` copies nothing.
~           kept = {**model.state_dict(), **copy.deepcopy(dict(model.named_parameters()))}  # The parameters
~               # are those of the best round, but the buffers are those of the last one. Keep both.
    model.load_state_dict(kept)
    return losses
~   return best  # You return only the best loss, but we want the losses of all rounds.
""",
    cases=lambda random: _trainings(float(random.randint(2, 6))),
)

EXERCISES = (LOOP, FIT, DUEL, VERSION, TURNS, SPOILS)
