"""Exercises of lesson 11, the training loop: what a step writes, who steps when, and the case, a loop
with four faults.

An optimizer is made only while an answer is checked: the first one of a process costs about a
second.
"""

import weakref
from collections.abc import Callable
from dataclasses import replace

import torch
from torch.nn.functional import mse_loss
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.quantities import Place, Quantities
from helpers.exercises.readers import number
from helpers.exercises.values import same

_SGD, _backward = torch.optim.SGD, torch.autograd.backward  # as they are now


def _raises(words: str) -> Callable[[tuple], bool]:
    return lambda seen: raised(seen, words)


_PORTIONS = """
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model.weight._version
for epoch in range({rounds}):
    optimizer.zero_grad()
    for portion in torch.ones({rows}, 3).split(2):
        model(portion).mean().backward()
    optimizer.step()
answer = model.weight._version - before
"""


COUNTED = Quantities(
    program=_PORTIONS.format_map,
    data={"rounds": 3, "rows": 8},
    places=(
        Place(
            "increase",
            "the writes of the loop into this one tensor",
            {
                "the counter itself, which stood at 1 before the loop": lambda data: (
                    data["rounds"] + 1
                ),
                "about a write for each portion, but `backward()` writes into `.grad`": lambda data: (
                    tuple(
                        n + data["rounds"] * data["rows"] // 2
                        for n in (0, 1, data["rounds"], data["rounds"] + 1)
                    )
                ),
                "two writes in each round, but `.grad` and the bias are other tensors": lambda data: (
                    2 * data["rounds"],
                    2 * data["rounds"] + 1,
                ),
                "too few for a write in each round, and a plain step is counted": (0, 1, 2),
            },
        ),
    ),
    draw=lambda random: {"rounds": random.randint(4, 9), "rows": 2 * random.randint(6, 9)},
)

VERSION = Exercise(
    id="11.1",
    reader=number(),
    truth=COUNTED.truth,
    right="Each step of plain SGD wrote into the weight once. `backward()` wrote into `.grad`.",
    principle="a version counts writes into this one tensor, plain SGD's among them, and `.grad` is another tensor.",
    quantities=COUNTED,
    hints=(
        "Go through the lines and ask of each: does it write into the memory of `model.weight`?",
        "Print `model.weight._version` before a `step()` and after it. How many steps are there?",
    ),
    solution=COUNTED.code,
)


def _linear(weight: list[list[float]], bias: list[float]) -> torch.nn.Linear:
    layer = torch.nn.Linear(len(weight[0]), len(weight))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias))
    return layer


def _sgd(layer: torch.nn.Module) -> torch.optim.Optimizer:
    return _SGD(layer.parameters(), lr=0.1)


@written(
    "generator = nn.Linear(2, 1) with weight [[0.5, 1]], bias [2]; critic = tanh of nn.Linear(1, 1)"
    " with weight [[0.2]], bias [0]; z = torch.tensor([[1.0, 0.0], [3.0, 1.0]])"
)
def _curved() -> tuple:
    """Make a critic whose gradients depend on all that is old or new."""
    critic = torch.nn.Sequential(_linear([[0.2]], [0.0]), torch.nn.Tanh())
    return _linear([[0.5, 1.0]], [2.0]), critic, torch.tensor([[1.0, 0.0], [3.0, 1.0]])


_PLAYERS = ("critic weight", "critic bias", "generator weight", "generator bias")
_CRITIC, _GENERATOR = slice(0, 2), slice(2, 4)


def _parameters(_: object, generator: torch.nn.Module, critic: torch.nn.Module, z: object) -> list:
    """See what both players hold after the two steps, in the order of _PLAYERS."""
    return [*critic.parameters(), *generator.parameters()]


_DUEL = function(_curved, observe=_parameters, parts=_PLAYERS)


def _duel(again=True, zero=True, walk=True):
    """Build the two steps of 11.2: with a new forward after the critic's step or not, zeroed or not,
    with a backward for the generator or not.
    """

    def play(generator, critic, z):
        of_critic, of_generator = _sgd(critic), _sgd(generator)
        score = critic(generator(z)).mean()
        _backward(score, retain_graph=True)
        if again:
            of_critic.step()
            score = critic(generator(z)).mean()
        if zero:
            generator.zero_grad()
        if walk:
            _backward(-score, inputs=list(generator.parameters()))
        if not again:
            of_critic.step()
        of_generator.step()

    return play


def _is(seen: tuple, player: slice, play: Callable) -> bool:
    """Tell whether in every case this player ended where `play` brings it."""
    pairs = zip(seen, _DUEL.read(play), strict=True)
    return all(is_a(mine, tuple) and same(mine[player], other[player]) for mine, other in pairs)


_PLAY = """
def answer(generator, critic, z):
    of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
    of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
    score = critic(generator(z)).mean()
    {body}
"""
_LINES = {
    "1": "score.backward()",
    "k": "score.backward(retain_graph=True)",
    "C": "of_critic.step()",
    "0": "of_generator.zero_grad()",
    "2": "(-critic(generator(z)).mean()).backward()",
    "o": "(-score).backward()",
    "i": "(-score).backward(inputs=list(generator.parameters()))",
    "d": "[p.data.sub_(0.1 * p.grad) for p in critic.parameters()]",
    "G": "of_generator.step()",
}


def _play(letters: str) -> str:
    """Write an answer to 11.2 of these lines."""
    return _PLAY.format(body="\n    ".join(_LINES[letter] for letter in letters))


DUEL = Exercise(
    id="11.2",
    reader=_DUEL,
    truth=_duel,
    right="The generator met the critic of now, by a forward of now, and with no gradient left over.",
    misconceptions=(
        Misconception(
            example=_play("kCoG"),
            when=_raises("modified by an inplace operation"),
            message="A step came between a forward and its `backward()`: it wrote into a weight that this graph had"
            " saved. The flag keeps the tensor, not the numbers in it.",
        ),
        Misconception(
            example=_play("1CoG"),
            when=_raises("a second time"),
            message="You go back twice through a graph, or a part of one, and the first time freed what it had saved."
            " Before you keep it: into which of its weights did the step write in between?",
        ),
        Misconception(
            example=_play("1C2G"),
            when=same_as(lambda: _duel(zero=False)),
            message="The forward is new, and yet the generator made a step with a sum. The critic's `backward()` went"
            " through the generator, too, and left something there.",
        ),
        Misconception(
            example=_play("1CG"),
            when=same_as(lambda: _duel(zero=False, walk=False)),
            message="The generator made its step with what the critic's `backward()` had left in its `.grad`: to a"
            " smaller score, and against the critic of before.",
        ),
        Misconception(
            example=_play("k0iCG"),
            when=same_as(lambda: _duel(again=False)),
            message="No error, and an order that people do use. But your generator played against the critic of"
            " before. Here it has to meet the one that has just learnt.",
        ),
        Misconception(
            example=_play("1C"),
            when=lambda seen: any(
                _is(seen, one, lambda *players: None) for one in (_CRITIC, _GENERATOR)
            ),
            message="One of the two has not moved at all. Does it make a step, and what is in its `.grad` then?",
        ),
        Misconception(
            example=_play("kd0oG"),
            when=lambda seen: _is(seen, _CRITIC, _duel()),
            message="The critic is right. The generator made another step than the one asked for. Is its gradient only"
            " its own, of a score that the critic of now gave, by a forward of now?",
        ),
    ),
    principle="a gradient belongs to the values of its own forward pass, and `.grad` takes what comes until"
    " somebody lets go of it.",
    hints=(
        "After the critic's step, use nothing that was computed before it.",
        "Compute the score again after the critic's step. Empty the generator's `.grad` before its `backward()`.",
    ),
    solution=_play("1C02G"),
)


LIMIT, ROUNDS = 1.0, 4


class _Watch(TorchDispatchMode):
    """Look at a weight before each operation that torch runs, and keep the nodes that are walked."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.uncounted = weight, False
        self.numbers, self.version = _held(weight), weight._version
        self.nodes, self.alive, self.arrived = [], weakref.WeakSet(), []
        weight.register_hook(lambda gradient: self.arrived.append(gradient.clone()))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.look()
        node = torch._C._current_autograd_node()
        if node is not None and not any(node is one for one in self.nodes[-3:]):
            node.metadata["mark"] = mark = torch.empty(0)  # lives as long as its node
            self.alive.add(mark)
            self.nodes.append(node)
        made = func(*args, **(kwargs or {}))
        # An optimizer's own writes: fused ones tick nothing, foreach ones nothing under a mode.
        if any(kind in func.name() for kind in ("_fused_", "_foreach_")):
            self.numbers = _held(self.weight)
        return made

    def look(self) -> None:
        """Compare with the look before: were there new numbers, and no tick?"""
        numbers, version = _held(self.weight), self.weight._version
        self.uncounted = self.uncounted or (numbers != self.numbers and version == self.version)
        self.numbers, self.version = numbers, version

    def keeps(self) -> bool:
        """Tell whether a node that was walked has a saved tensor still; let go of the nodes."""
        states = [one.state for node in self.nodes for one in saved(node, lambda tensor: ())]
        self.nodes.clear()
        return "held" in states


def _held(weight: torch.Tensor) -> object:
    """Return the numbers of a weight, None where it has none to give."""
    try:
        return weight.tolist()
    except (RuntimeError, NotImplementedError):
        return None


def _watched(answer: object) -> object:
    """Wrap a loop: it returns what `answer` returns, and the watch that looked on."""
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(model: torch.nn.Module, *data: object) -> tuple:
        with _Watch(model.weight) as watch:
            returned = answer(model, *data)
        watch.look()
        return returned, watch

    return run


def _case(weight: list[float], bias: float, x: list[list[float]], y: list[float]):
    model = f"model = nn.Linear(2, 1) with weight [{weight}], bias [{bias}]"
    data = f"points = torch.tensor({x}); moon = torch.tensor({[[one] for one in y]})"

    @written(f"{model}; {data}")
    def made() -> tuple:
        return _linear([weight], [bias]), torch.tensor(x), torch.tensor(y)[:, None]

    return made


_CASES = (  # the second one wants to leave the range on both sides, and has a bias above 1
    _case([0.9, -0.5], 0.5, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [3.0, -0.5, 2.0]),
    _case([-0.75, 0.25], 1.5, [[1.0, 0.0], [0.0, 2.0]], [-3.0, 5.0]),
)
_PARTS = {  # what is seen of a loop
    "log": "the log",
    "grads": "the gradients that came to the weight",
    "weight": "the weight",
    "bias": "the bias",
    "writes": "writes into the weight",
    "graphs": "graphs afterwards",
    "saved": "saved tensors",
}
_FORM = "Let it return a list with two numbers for each round, the loss and the percent"


def _behaviour(ended: tuple, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list:
    """See what a loop did, in the order of _PARTS."""
    returned, watch = ended
    # This comes first: the watch itself holds the nodes until then.
    kept = "kept" if watch.keeps() else "freed"
    writes = "some not counted" if watch.uncounted else "all counted"
    if getattr(model, "weight", None) is not watch.weight:
        writes = "another tensor"
    numbers = [getattr(model, name, None) for name in ("weight", "bias")]
    numbers = [one.detach() if is_a(one, torch.Tensor) else "no tensor" for one in numbers]
    graphs = "alive" if watch.alive else "gone"
    return [_log_seen(returned), watch.arrived, *numbers, writes, graphs, kept]


def _log_seen(returned: object) -> object:
    """See a log as plain values, or a word where it has no such form."""
    try:
        return "nothing" if returned is None else plain(returned)
    except NotRead:
        return "not to be read"


_RUN = function(*_CASES, observe=_behaviour, parts=tuple(_PARTS.values()))


def _read(answer: object) -> tuple:
    """Run a loop on the cases; refuse a log whose form is another one, whatever it holds."""
    seen = _RUN.read(_watched(answer))
    for case in seen if is_a(seen, tuple) else ():
        log = _part(case, "log")
        rows = log if is_a(log, tuple) else ()
        in_lists = len(rows) == 2 and all(is_a(row, tuple) and len(row) == ROUNDS for row in rows)
        if in_lists or any(is_a(row, str) for row in rows) or (is_a(log, str) and log != "nothing"):
            raise NotRead(f"its log has another form. {_FORM}")
    return seen


def _part(case: object, name: str) -> object:
    """Return one part of what was seen of a case; a Failed has none."""
    return case[list(_PARTS).index(name)] if is_a(case, tuple) and len(case) == 7 else None


def _fixed(zero=True, edit=1, clipped=1):
    """Build the repaired loop of 11.3, or one with a fault left in it."""

    def train(model, x, y):
        optimizer, log = _sgd(model), []
        for _ in range(ROUNDS):
            pred = model(x)
            loss = mse_loss(pred, y)
            pred.data *= edit
            if zero:
                optimizer.zero_grad()
            _backward(loss)
            optimizer.step()
            with torch.no_grad():
                for one in list(model.parameters())[:clipped]:
                    one.clamp_(-LIMIT, LIMIT)
            log.append([loss.item(), 100 * pred.mean().item()])
        return log

    return train


def _like(seen: tuple, names: str, train: object = None, places: slice = slice(None)) -> bool:
    """Tell whether parts are, in every case, what `train` gives: all of a part, or these places."""
    for mine, other in zip(seen, _read(train or _fixed()), strict=True):
        for name in names.split():
            pair = [_part(case, name) for case in (mine, other)]
            if not all(is_a(one, tuple) for one in pair) or not pair[0][places]:
                return False
            if not same(pair[0][places], pair[1][places]):
                return False
    return True


def _right_but(name: str, word: str) -> Callable[[tuple], bool]:
    """Tell of a loop whose numbers are right that one part of it is not."""
    return lambda seen: (
        any(_part(case, name) == word for case in seen) and _like(seen, "log grads weight bias")
    )


def _never_moved(seen: tuple) -> bool:
    starts = _read(lambda model, x, y: [])
    came = all(bool(_part(case, "grads")) for case in seen)
    return came and all(
        same(_part(mine, name), _part(start, name))
        for mine, start in zip(seen, starts, strict=True)
        for name in ("weight", "bias")
    )


def _same_again(seen: tuple) -> bool:
    """Tell whether each backward brought the first gradient, although the weights had moved."""
    grads = [_part(case, "grads") or () for case in seen]
    again = all(len(one) > 1 and all(same(one[0], other) for other in one) for one in grads)
    return again and _like(seen, "grads", places=slice(1)) and not _never_moved(seen)


def _over_the_limit(seen: tuple) -> bool:
    weights = [abs(one) for case in seen for row in _part(case, "weight") or () for one in row]
    return bool(weights) and max(weights) > LIMIT + 1e-6


_LOOP = """
def answer(model, points, moon):
    optimizer, log = torch.optim.SGD(model.parameters(), lr=0.1), []
    {before}
    for _ in range(4):
        {forward}
        loss = torch.nn.functional.mse_loss(pred, moon)
        {percent}
        {backward}
        {clip}
        log.append({kept})
    return log
"""
_RIGHT = {
    "before": "# nothing is computed before the first round",
    "forward": "pred = model(points)",
    "percent": "shown = pred * 100",
    "backward": "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    "clip": "with torch.no_grad():\n    model.weight.clamp_(-1, 1)",
    "kept": "[loss.item(), shown.mean().item()]",
}
_KEPT = _RIGHT["backward"].replace("backward()", "backward(retain_graph=True)")


def _loop(**lines: str) -> str:
    """Write the loop of 11.3, right but for the given lines."""
    indented = {name: text.replace("\n", "\n        ") for name, text in (_RIGHT | lines).items()}
    return _LOOP.format(**indented)


def _fault(message: str, when: object, example: str = "", **lines: str) -> Misconception:
    """Name a fault of 11.3; its example is the right loop with other lines."""
    return Misconception(example=example or _loop(**lines), when=when, message=message)


LOOP = Exercise(
    id="11.3",
    reader=replace(_RUN, read=_read),
    truth=_fixed,
    right="A new graph each round, fresh gradients, a weight kept in its range, no graph left over. The loop is yours.",
    misconceptions=(
        _fault(
            "Something wrote into a tensor that a node had saved, before `backward()` came for it. On a tensor, `*=`"
            " makes nothing new: it edits, like `mul_`.",
            _raises("modified by an inplace operation"),
            percent="pred *= 100\nshown = pred",
        ),
        _fault(
            "A line writes into a leaf while recording is on. This write should be counted and not recorded, like the"
            " write of a step.",
            _raises("a leaf Variable that requires grad"),
            clip="model.weight.clamp_(-1, 1)",
        ),
        _fault(
            "You go back twice through a graph, or a part of one, and the first time freed what it had saved. Which"
            " line makes each part, and does it run in every round?",
            _raises("a second time"),
            before="pred = model(points)",
            forward="pass",
        ),
        _fault(
            "No error, and every round brings the gradient of the first, though the weights have moved. Going back"
            " again computes no new prediction. Which line does, and does it run in every round?",
            _same_again,
            before="pred = model(points)",
            forward="pass",
            backward=_KEPT,
        ),
        _fault(
            "No error, and a wrong gradient in the first round already. You changed what the loss had saved where no"
            " counter sees it. You silenced the check; the edit is still there.",
            lambda seen: (
                _like(seen, "grads", _fixed(edit=100), slice(1))
                and not _like(seen, "grads", places=slice(1))
            ),
            percent="pred.data *= 100\nshown = pred",
        ),
        _fault(
            "Gradients came, and no parameter follows them. Is there a step, and what is in `.grad` when it looks?"
            " Mind the order of the three calls.",
            _never_moved,
            backward="loss.backward()\noptimizer.zero_grad()\noptimizer.step()",
        ),
        _fault(
            "The first round is right. From the second on, each step is made with a sum. What does `backward()` do"
            " with a `.grad` that is there?",
            lambda seen: _like(seen, "grads", _fixed(zero=False)),
            backward="loss.backward()\noptimizer.step()",
        ),
        _fault(
            "The training is right, and the log is not. For each of the four rounds it should hold two numbers: the loss,"
            " and the mean prediction of this forward times 100.",
            lambda seen: _like(seen, "grads weight bias") and not _like(seen, "log"),
            kept="[loss.item(), pred.mean().item()]",
        ),
        _fault(
            "The weights left the range, to one side or to both. After each step a line has to write into them, with"
            " both bounds; `clamp` without the `_` makes a new tensor and leaves the weight as it is.",
            _over_the_limit,
            clip="pass",
        ),
        _fault(
            "You kept the bias in the range as well. Only the weights should be.",
            lambda seen: _like(seen, "grads weight bias", _fixed(clipped=2)),
            clip="with torch.no_grad():\n    [one.clamp_(-1, 1) for one in model.parameters()]",
        ),
        _fault(
            "All numbers are right, and there are writes into the weight on no counter, as through `.data`. A graph"
            " that had saved the weight would not notice.",
            _right_but("writes", "some not counted"),
            clip="model.weight.data.clamp_(-1, 1)",
        ),
        _fault(
            "The numbers are right, but after your function nodes of its graphs are still alive: something that you"
            " keep leads to them. Is each entry of the log a number, or a tensor with its graph?",
            _right_but("graphs", "alive"),
            kept="[loss, shown.mean()]",
        ),
        _fault(
            "All numbers are right, and each backward keeps its saved tensors, though you never go back again:"
            " `retain_graph` is for a second time. What would it cost a large model?",
            _right_but("saved", "kept"),
            backward=_KEPT,
        ),
    ),
    principle="each round needs a forward of its own, gradients of its own, and leaves nothing behind but numbers.",
    hints=(
        "Two faults raise an error, and two are silent. Repair what raises first, then run `check` again: it tells you"
        " one fault at a time.",
        "Ask of each line: once or each round? A new tensor or an edit? Counted? What does it leave behind for later?",
        "Forward inside the loop; `zero_grad()` before `backward()`; `pred * 100`; `no_grad` instead of `.data`;"
        " `.item()` for what is kept.",
    ),
    solution=_loop(),
)

EXERCISES = (VERSION, DUEL, LOOP)
