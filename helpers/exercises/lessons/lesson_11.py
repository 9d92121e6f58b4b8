"""Exercises of lesson 11, the training loop: what a step writes, who steps when, and a loop with
five faults.

An optimizer is made only while an answer is checked: the first one of a process costs about a
second.
"""

import math
import weakref
from collections.abc import Callable
from dataclasses import replace

import torch
from torch.nn.functional import mse_loss
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.readers import number
from helpers.exercises.values import same


def _portions() -> int:
    """Count the version of a weight after three rounds of four portions and one step each."""
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        for portion in torch.ones(8, 3).split(2):
            model(portion).mean().backward()
        optimizer.step()
    return model.weight._version


VERSION = Exercise(
    id="11.1",
    reader=number(),
    truth=_portions,
    right="The layer wrote its first numbers once, and each step of plain SGD wrote once more. No other line writes"
    " into it.",
    misconceptions=(
        Misconception(
            example=3,
            when=3.0,
            message="3 is the number of the steps. The counter does not stand at 0 before the first of them: who wrote"
            " the first random numbers into the weight, and into which tensor?",
        ),
        Misconception(
            example=13,
            when=lambda seen: seen in (12, 13, 15, 16),
            message="That fits a write for each of the twelve portions. `backward()` adds to `.grad`, which is another tensor, and"
            " `optimizer.step()` does not stand in the inner loop.",
        ),
        Misconception(
            example=7,
            when=lambda seen: seen in (6, 7),
            message="That fits two writes in each round of the outer loop. A line counts if it writes into"
            " `model.weight` itself: its `.grad` is another tensor, and so is `model.bias`.",
        ),
        Misconception(
            example=1,
            when=lambda seen: seen in (0, 1),
            message="That leaves no room for three steps. Plain SGD writes into the weight under `no_grad`: that is not recorded, and"
            " it is counted.",
        ),
        Misconception(
            example=2,
            when=lambda seen: seen in (2, 5),
            message="In which of the two loops does `optimizer.step()` stand, and how often does that one go round?"
            " And what was written into the weight before?",
        ),
    ),
    principle="a version counts writes into this one tensor, plain SGD's among them, and `.grad` is another tensor.",
    hints=(
        "Go through the lines and ask of each: does it write into the memory of `model.weight`?",
        "Print `torch.nn.Linear(3, 1).weight._version`, then add one for each `step()` of this plain SGD.",
    ),
    solution="""
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    for portion in torch.ones(8, 3).split(2):
        model(portion).mean().backward()
    optimizer.step()
answer = model.weight._version
""",
)


def _linear(weight: list[list[float]], bias: list[float]) -> torch.nn.Linear:
    layer = torch.nn.Linear(len(weight[0]), len(weight))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias))
    return layer


def _bent(weight: list[list[float]], bias: list[float]) -> torch.nn.Module:
    """Build a critic whose gradients depend on its own weights, so that an old one cannot pass for
    a new one.
    """
    return torch.nn.Sequential(_linear(weight, bias), torch.nn.Tanh())


_SGD, _backward = (
    torch.optim.SGD,
    torch.autograd.backward,
)  # a student may put others in their place


def _sgd(layer: torch.nn.Module, lr: float = 0.1) -> torch.optim.Optimizer:
    return _SGD(layer.parameters(), lr=lr)


@written("a generator with a Tanh, a critic of two layers and a Tanh; z of shape (3, 2)")
def _deep() -> tuple:
    """Make two players with an activation each, and what the generator begins with."""
    generator = torch.nn.Sequential(_linear([[0.5, -1.0], [1.0, 0.5]], [0.0, 0.5]), torch.nn.Tanh())
    critic = torch.nn.Sequential(
        _linear([[1.0, -0.5], [0.5, 2.0]], [0.25, 0.0]),
        torch.nn.Tanh(),
        _linear([[2.0, -1.0]], [0.0]),
    )
    return generator, critic, torch.tensor([[1.0, 0.5], [-1.0, 2.0], [0.5, 0.0]])


def _duel(again: bool = True, zero: bool = True, walk: bool = True, more: bool = False):
    """Build the two-player step of 11.2: with a new forward after the critic's step or not, zeroed
    or not, with a walk for the generator or not, with one `more` step of the critic or not.
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
            _backward(-score, inputs=None if more else list(generator.parameters()))
        if not again:
            of_critic.step()
        of_generator.step()
        if more:
            of_critic.step()

    return play


_PLAYERS = ("critic weight", "critic bias", "generator weight", "generator bias")


def _parameters(
    _: object, generator: torch.nn.Module, critic: torch.nn.Module, z: torch.Tensor
) -> list:
    """See the weights and biases of both players after the two steps, in the order of _PLAYERS."""
    seen = []
    for player in (critic, generator):
        parameters = list(player.parameters())
        seen.append(_one_or_all([one for one in parameters if one.dim() > 1]))
        seen.append(_one_or_all([one for one in parameters if one.dim() <= 1]))
    return seen


def _one_or_all(found: list) -> object:
    """Return the only one of a list, or the list."""
    return found[0] if len(found) == 1 else found


@written(
    "generator = nn.Linear(1, 2) with weight [[2], [1]], bias [0, 1]; critic = nn.Linear(2, 1) with"
    " weight [[1, 3]], bias [0.5]; z = torch.tensor([[1.0], [2.0]])"
)
def _straight() -> tuple:
    generator, critic = _linear([[2.0], [1.0]], [0.0, 1.0]), _linear([[1.0, 3.0]], [0.5])
    return generator, critic, torch.tensor([[1.0], [2.0]])


@written(
    "generator = nn.Linear(2, 1) with weight [[0.5, 1]], bias [2]; critic = tanh of nn.Linear(1, 1)"
    " with weight [[0.2]], bias [0]; z = torch.tensor([[1.0, 0.0], [3.0, 1.0]])"
)
def _curved() -> tuple:
    generator, critic = _linear([[0.5, 1.0]], [2.0]), _bent([[0.2]], [0.0])
    return generator, critic, torch.tensor([[1.0, 0.0], [3.0, 1.0]])


_DUELS = (_straight, _curved, _deep)
_DUEL = function(*_DUELS, observe=_parameters, parts=_PLAYERS)
_CRITIC, _GENERATOR = 0, 1


def _numbers(players: object, player: int) -> list[float] | None:
    """Return all parameters of one player in one list; None where the case failed."""
    if not is_a(players, tuple):
        return None
    flat, waiting = [], list(players[2 * player : 2 * player + 2])
    while waiting:
        value = waiting.pop()
        if is_a(value, tuple):
            waiting.extend(value)
        else:
            flat.append(value)
    return flat


def _factors(seen: tuple, player: int) -> list[float | None]:
    """Return by which factor a player moved in each case, measured by the right step; None where it
    went another way.
    """
    fresh = [plain(_parameters(None, *case())) for case in _DUELS]
    right = _DUEL.read(_duel())
    return [
        _factor(*(_numbers(players, player) for players in three))
        for three in zip(fresh, seen, right, strict=True)
    ]


def _factor(before: list, after: list | None, right: list) -> float | None:
    if after is None or len(after) != len(before):
        return None
    mine = [b - a for a, b in zip(before, after, strict=True)]
    wanted = [b - a for a, b in zip(before, right, strict=True)]
    at = max(range(len(wanted)), key=lambda index: abs(wanted[index]))
    factor = mine[at] / wanted[at]
    fits = all(
        math.isclose(m, factor * w, rel_tol=1e-2, abs_tol=1e-5)
        for m, w in zip(mine, wanted, strict=True)
    )
    return round(factor, 3) if fits else None


def _moved(seen: tuple, player: int, wanted: Callable[[float], bool]) -> bool:
    """Tell whether in every case this player moved along the right step, by such a factor."""
    return all(factor is not None and wanted(factor) for factor in _factors(seen, player))


def _well(factor: float) -> bool:
    return factor == 1


_PLAY = """
def answer(generator, critic, z):
    of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
    of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
    score = critic(generator(z)).mean()
    {body}
"""


def _play(*body: str) -> str:
    return _PLAY.format(body="\n    ".join(body))


DUEL = Exercise(
    id="11.2",
    reader=_DUEL,
    truth=_duel,
    right="The generator met the critic of now, by a forward of now, and with no gradient left over.",
    misconceptions=(
        Misconception(
            example=_play(
                "score.backward(retain_graph=True)",
                "of_critic.step()",
                "(-score).backward()",
                "of_generator.step()",
            ),
            when=lambda seen: raised(seen, "modified by an inplace operation"),
            message="A step came between a forward and its `backward()`: it wrote into a weight that this graph had"
            " saved. To keep a graph keeps the tensor, not the numbers in it.",
        ),
        Misconception(
            example=_play(
                "score.backward()", "of_critic.step()", "(-score).backward()", "of_generator.step()"
            ),
            when=lambda seen: raised(seen, "a second time"),
            message="A graph, or a part of one, is walked twice, and the first walk freed what it had saved. Before"
            " you keep it: into which of its weights did the step write in between?",
        ),
        Misconception(
            example=_play("critic(generator(z)).backward()", "of_critic.step()"),
            when=lambda seen: raised(seen, "implicitly created only for scalar outputs"),
            message="A backward is asked of several scores at once. What makes one number of them?",
        ),
        Misconception(
            example=_play("score.backward()").replace("critic.parameters()", "critic"),
            when=lambda seen: raised(seen, "object is not iterable"),
            message="A module is no list of parameters, and cannot be gone through as one; `.parameters()` gives them.",
        ),
        Misconception(
            example=_play("score.backward()").replace("0.1", "-0.1"),
            when=lambda seen: raised(seen, "Invalid learning rate"),
            message="A learning rate is not negative. The way to a larger score is another one: what is `backward()`"
            " called on?",
        ),
        Misconception(
            example=_play("critic(z).mean().backward()"),
            when=lambda seen: raised(seen, "shapes cannot be multiplied"),
            message="A layer is given a tensor that it does not fit: `z` goes into the generator, and what that makes"
            " into the critic.",
        ),
        Misconception(
            example=_play("score = score.detach()", "score.backward()"),
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="A backward is asked of a score that has no graph: something on the way cut it off, or nothing"
            " that went into it required grad.",
        ),
        Misconception(
            example=_play(
                "score.backward()",
                "of_critic.step()",
                "(-critic(generator(z)).mean()).backward()",
                "of_generator.step()",
            ),
            when=same_as(lambda: _duel(zero=False)),
            message="The forward is new, and yet the generator made a step with a sum: the critic's `backward()` went"
            " through the generator, too, and left something there.",
        ),
        Misconception(
            example=_play("score.backward()", "of_critic.step()", "of_generator.step()"),
            when=same_as(lambda: _duel(zero=False, walk=False)),
            message="The generator made its step with what the critic's `backward()` had left in its `.grad`: to a"
            " smaller score, and against the critic of before.",
        ),
        Misconception(
            example=_play(
                "score.backward(retain_graph=True)",
                "of_generator.zero_grad()",
                "(-score).backward(inputs=list(generator.parameters()))",
                "of_critic.step()",
                "of_generator.step()",
            ),
            when=same_as(lambda: _duel(again=False)),
            message="No error, and a legitimate order; but the generator played against the critic of before. Here it"
            " has to meet the one that has just learnt.",
        ),
        Misconception(
            example=_play(
                "score.backward()",
                "of_critic.step()",
                "of_generator.zero_grad()",
                "(-critic(generator(z)).mean()).backward()",
                "of_generator.step()",
                "of_critic.step()",
            ),
            when=same_as(lambda: _duel(more=True)),
            message="The generator is right, and the critic made a second step, with what the generator's walk added to"
            " its `.grad`. It is to make one.",
        ),
        Misconception(
            example=_play("score.backward()", "of_critic.step()"),
            when=lambda seen: _moved(seen, _GENERATOR, lambda factor: factor == 0),
            message="The generator has not moved at all. Does it make a step, and what stands in its `.grad` at that"
            " moment?",
        ),
        Misconception(
            example=_play("(-score).backward()", "of_generator.step()"),
            when=lambda seen: _moved(seen, _CRITIC, lambda factor: factor == 0),
            message="The critic has not moved at all. Does it make a step, and what stands in its `.grad` at that"
            " moment?",
        ),
        Misconception(
            example=_play(
                "(-score).backward()",
                "of_critic.step()",
                "of_generator.zero_grad()",
                "(-critic(generator(z)).mean()).backward()",
                "of_generator.step()",
            ),
            when=lambda seen: _moved(seen, _CRITIC, lambda factor: factor < 0),
            message="The critic moved the other way: to a larger score. A step of SGD goes against the gradient of what"
            " `backward()` was called on; whose score is to become smaller?",
        ),
        Misconception(
            example=_play(
                "score.backward()",
                "of_critic.step()",
                "of_generator.zero_grad()",
                "critic(generator(z)).mean().backward()",
                "of_generator.step()",
            ),
            when=lambda seen: (
                _moved(seen, _CRITIC, _well) and _moved(seen, _GENERATOR, lambda factor: factor < 0)
            ),
            message="The critic is right, and the generator moved the other way: to a smaller score. What is it that"
            " `backward()` has to be called on for a larger one?",
        ),
        Misconception(
            example=_play(
                "score.backward()",
                "of_critic.step()",
                "of_generator.zero_grad()",
                "(-critic(generator(z)).mean()).backward()",
                "of_generator.step()",
            ).replace("0.1", "0.01"),
            when=lambda seen: _moved(seen, _CRITIC, lambda factor: factor > 0 and factor != 1),
            message="The critic went the right way, by a step of another size than with `lr=0.1`, or by more than one.",
        ),
        Misconception(
            example=_play(
                "of_generator = torch.optim.SGD(generator.parameters(), lr=0.01)",
                "score.backward()",
                "of_critic.step()",
                "of_generator.zero_grad()",
                "(-critic(generator(z)).mean()).backward()",
                "of_generator.step()",
            ),
            when=lambda seen: (
                _moved(seen, _CRITIC, _well)
                and _moved(seen, _GENERATOR, lambda factor: factor > 0 and factor != 1)
            ),
            message="The critic is right, and the generator went the right way, by a step of another size than with"
            " `lr=0.1`, or by more than one.",
        ),
        Misconception(
            example=_play(
                "score.backward(retain_graph=True)",
                "for p in critic.parameters():",
                "    p.data -= 0.1 * p.grad",
                "of_generator.zero_grad()",
                "(-score).backward()",
                "of_generator.step()",
            ),
            when=lambda seen: _moved(seen, _CRITIC, _well),
            message="The critic is right, and the generator made another step than the one asked for. Is its gradient"
            " only its own, of a score that the critic of now gave, by a forward of now?",
        ),
    ),
    principle="a gradient belongs to the values of its own forward pass, and `.grad` takes what comes until"
    " somebody lets go of it.",
    hints=(
        "After the critic's step nothing that was computed before it may be walked back through again.",
        "Compute the score again after the critic's step; before its `backward()`, let go of the generator's `.grad`.",
    ),
    solution=_play(
        "score.backward()",
        "of_critic.step()",
        "of_generator.zero_grad()",
        "(-critic(generator(z)).mean()).backward()",
        "of_generator.step()",
    ),
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
        found = any(_holds(node) for node in self.nodes)
        self.nodes.clear()
        return found


def _held(weight: torch.Tensor) -> object:
    """Return the numbers of a weight, None where it has none to give."""
    try:
        return weight.tolist()
    except (RuntimeError, NotImplementedError):
        return None


def _holds(node: object) -> bool:
    """Tell whether a node has a saved tensor that can be read: a freed one refuses."""
    for name in dir(node):
        try:
            if name.startswith("_saved_") and is_a(getattr(node, name), torch.Tensor):
                return True
        except RuntimeError:
            continue
    return False


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
    data = f"x = torch.tensor({x}); y = torch.tensor({[[one] for one in y]})"
    return written(f"{model}; {data}")(
        lambda: (_linear([weight], [bias]), torch.tensor(x), torch.tensor(y)[:, None])
    )


_FIRST = ((0.9, -0.5),), (0.5,)  # weight and bias of the first case before the loop
_CASES = (
    _case([0.9, -0.5], 0.5, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [3.0, -0.5, 2.0]),
    _case(
        [-0.75, 0.25], 1.5, [[1.0, 0.0], [0.0, 2.0]], [-3.0, 5.0]
    ),  # wants to leave on both sides; bias above 1
)
_PARTS = ("log", "grads", "weight", "bias", "writes", "graphs", "saved")
_NAMES = (
    "the log",
    "the gradients that came to the weight",
    "the weight",
    "the bias",
    "writes into the weight",
    "graphs afterwards",
    "saved tensors",
)


def _behaviour(ended: tuple, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list:
    """See what a loop did, in the order of _PARTS: numbers, and a word each for writes, live
    graphs, saved tensors.
    """
    returned, watch = ended
    # This comes first: the watch itself holds the nodes until then.
    saved = "kept" if watch.keeps() else "freed"
    return [
        _log_seen(returned),
        watch.arrived,
        _parameter_seen(model, "weight"),
        _parameter_seen(model, "bias"),
        _writes_seen(model, watch),
        "alive" if watch.alive else "gone",
        saved,
    ]


def _log_seen(returned: object) -> object:
    """See a log as plain values, or a word where it has no such form."""
    if returned is None:
        return "nothing"
    try:
        return plain(returned)
    except NotRead:
        return f"not to be read: {describe(returned)}"


def _parameter_seen(model: torch.nn.Module, name: str) -> object:
    """See the values of a parameter, whatever the loop has put into its place."""
    value = getattr(model, name, None)
    return value.detach() if is_a(value, torch.Tensor) else "no tensor"


def _writes_seen(model: torch.nn.Module, watch: _Watch) -> str:
    if getattr(model, "weight", None) is not watch.weight:
        return "none: it is another tensor now"
    return "some not counted" if watch.uncounted else "all counted"


def _fixed(
    clip=lambda model: model.weight.clamp_(-LIMIT, LIMIT),
    zero: bool = True,
    scale: int = 100,
    edit: int = 1,
):
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
                clip(model)
            log.append([loss.item(), (pred * scale).mean().item()])
        return log

    return train


def _clip_all(model: torch.nn.Module) -> None:
    for parameter in model.parameters():
        parameter.clamp_(-LIMIT, LIMIT)


_RUN = function(*_CASES, observe=_behaviour, parts=_NAMES)


def _read(answer: object) -> tuple:
    """Run a loop on the cases; refuse a log whose form is another one, whatever it holds."""
    seen = _RUN.read(_watched(answer))
    for case in seen if is_a(seen, tuple) else ():
        _refuse_form(_part(case, "log"))
    return seen


def _refuse_form(log: object) -> None:
    """Raise NotRead where a log is a text or something with names, or two lists instead of pairs."""
    rows = log if is_a(log, tuple) else ()
    if is_a(log, str) and log.startswith("not to be read"):
        raise NotRead("I cannot read what it returns. " + _FORM)
    if any(is_a(row, str) for row in rows) or (is_a(log, str) and log != "nothing"):
        raise NotRead("its log holds texts. " + _FORM)
    if len(rows) == 2 and all(is_a(row, tuple) and len(row) == ROUNDS for row in rows):
        raise NotRead("its log is two lists of four. " + _FORM)


_FORM = "Let it return a list with two numbers for each round, the loss and the percent"
_READER = replace(_RUN, read=_read)


def _part(case: object, name: str) -> object:
    """Return one part of what was seen of a case; a Failed has none."""
    return case[_PARTS.index(name)] if is_a(case, tuple) and len(case) == len(_PARTS) else None


def _like(seen: tuple, name: str, train) -> bool:
    """Tell whether a part is, in every case, what `train` gives."""
    expected = _read(train)
    return all(
        same(_part(one, name), _part(other, name))
        for one, other in zip(seen, expected, strict=True)
    )


def _says(seen: tuple, name: str, word: str) -> bool:
    return any(_part(case, name) == word for case in seen)


def _right_numbers(seen: tuple) -> bool:
    return all(_like(seen, name, _fixed()) for name in ("log", "grads", "weight", "bias"))


def _trained_well(seen: tuple) -> bool:
    """Tell whether the gradients and the parameters are right, whatever the log says."""
    return all(_like(seen, name, _fixed()) for name in ("grads", "weight", "bias"))


def _column(case: object, at: int) -> tuple:
    """Return the losses (0) or the percents (1) of a log; nothing where it has no pairs."""
    log = _part(case, "log")
    if not is_a(log, tuple) or not all(is_a(row, tuple) and len(row) == 2 for row in log):
        return ()
    return tuple(row[at] for row in log)


def _columns_like(seen: tuple, of_case: Callable[[object, object], bool]) -> bool:
    """Tell whether each case and its right outcome are so."""
    return all(of_case(mine, right) for mine, right in zip(seen, _read(_fixed()), strict=True))


def _losses_alone(mine: object, right: object) -> bool:
    return same(_column(mine, 0), _column(right, 0))


def _turned(mine: object, right: object) -> bool:
    """Tell whether a log has its two columns in the other order."""
    columns = [_column(mine, 1), _column(mine, 0)]
    return all(
        same(*pair) for pair in zip(columns, [_column(right, at) for at in (0, 1)], strict=True)
    )


def _one_too_late(mine: object, right: object) -> bool:
    """Tell whether each percent is that of the round after."""
    return _losses_alone(mine, right) and same(_column(mine, 1)[:-1], _column(right, 1)[1:])


def _other_rounds(mine: object, right: object) -> bool:
    """Tell whether all is right, but for the number of rounds."""
    log, wanted = _part(mine, "log"), _part(right, "log")
    grads, wanted_grads = _part(mine, "grads"), _part(right, "grads")
    if not is_a(log, tuple) or not is_a(grads, tuple):
        return False
    count = min(len(grads), ROUNDS)
    rounds_fit = len(log) == len(grads) != ROUNDS
    return (
        rounds_fit
        and same(log[:count], wanted[:count])
        and same(grads[:count], wanted_grads[:count])
    )


def _no_pairs(case: object) -> bool:
    """Tell whether a log has no two numbers for each of its rounds."""
    log = _part(case, "log")
    return not is_a(log, tuple) or len(log) != ROUNDS or not _column(case, 0)


def _first_round_alone(mine: object, right: object) -> bool:
    """Tell whether the first gradient is right, and the next one or the last weights are not."""
    grads, wanted = _part(mine, "grads") or (), _part(right, "grads")
    return (
        len(grads) == ROUNDS
        and same(grads[0], wanted[0])
        and not all(same(_part(mine, name), _part(right, name)) for name in ("weight", "bias"))
    )


def _silent_edit(seen: tuple) -> bool:
    """Tell whether the first loss is right and its gradient is that of a prediction edited in
    silence.
    """
    right, edited = _read(_fixed()), _read(_fixed(edit=100))
    first = [
        same(_first_loss(mine), _first_loss(other)) for mine, other in zip(seen, right, strict=True)
    ]
    grads = [
        (_part(mine, "grads"), _part(other, "grads"))
        for mine, other in zip(seen, edited, strict=True)
    ]
    return all(first) and all(bool(mine) and same(mine[0], other[0]) for mine, other in grads)


def _first_loss(case: object) -> object:
    """Return the first number of the log, or None where the log is none."""
    log = _part(case, "log")
    return log[0][0] if is_a(log, tuple) and log and is_a(log[0], tuple) and log[0] else None


def _same_values_again(seen: tuple) -> bool:
    """Tell whether each walk brought the first gradient, although the weights had moved."""
    grads = [_part(case, "grads") or () for case in seen]
    wanted = [_part(case, "grads") for case in _read(_fixed())]
    same_again = all(len(one) > 1 and all(same(one[0], other) for other in one) for one in grads)
    begins_well = all(
        bool(one) and same(one[0], other[0]) for one, other in zip(grads, wanted, strict=True)
    )
    return same_again and begins_well and not _stayed(seen)


def _stayed(seen: tuple) -> bool:
    return (_part(seen[0], "weight"), _part(seen[0], "bias")) == (_rounded(_FIRST[0]), _FIRST[1])


def _rounded(rows: tuple) -> tuple:
    """Return the numbers as float32 has them."""
    return tuple(tuple(row) for row in torch.tensor(rows).tolist())


def _over_the_limit(seen: tuple) -> bool:
    weights = [abs(one) for case in seen for row in _part(case, "weight") or () for one in row]
    return bool(weights) and max(weights) > LIMIT + 1e-6


_LOOP = """
def answer(model, x, y):
    optimizer, log = torch.optim.SGD(model.parameters(), lr=0.1), []
    {before}
    for _ in range(4):
        {forward}
        loss = torch.nn.functional.mse_loss(pred, y)
        {percent}
        {backward}
        {clip}
        log.append([{kept}])
    return log
"""
_RIGHT = {
    "before": "# nothing is computed before the first round",
    "forward": "pred = model(x)",
    "percent": "shown = pred * 100",
    "backward": "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    "clip": "with torch.no_grad():\n    model.weight.clamp_(-1, 1)",
    "kept": "loss.item(), shown.mean().item()",
}


def _loop(**lines: str) -> str:
    """Write the loop of 11.3, right but for the given lines."""
    return _LOOP.format(
        **{name: text.replace("\n", "\n        ") for name, text in (_RIGHT | lines).items()}
    )


LOOP = Exercise(
    id="11.3",
    reader=_READER,
    truth=_fixed,
    right="A new graph each round, fresh gradients, a weight kept in its range, no graph left over. The loop is yours.",
    misconceptions=(
        Misconception(
            example=_loop(percent="pred *= 100\nshown = pred"),
            when=lambda seen: raised(seen, "modified by an inplace operation"),
            message="Something wrote into a tensor that a node had saved, before `backward()` came for it. `*=` on a"
            " tensor is no new tensor but an edit, like `mul_`.",
        ),
        Misconception(
            example=_loop(clip="model.weight.clamp_(-1, 1)"),
            when=lambda seen: raised(seen, "a leaf Variable that requires grad"),
            message="A line writes into a leaf while recording is on. This write shall be counted and not recorded;"
            " idea 2 shows how a step does that.",
        ),
        Misconception(
            example=_loop(before="pred = model(x)", forward="pass"),
            when=lambda seen: raised(seen, "a second time"),
            message="A graph, or a part of one, is walked twice, and the first walk freed what it had saved. Which"
            " line makes each part, and does it run in every round?",
        ),
        Misconception(
            example=_loop(percent="shown = pred.detach() * 100", kept="loss.item(), shown.item()"),
            when=lambda seen: raised(seen, "cannot be converted to Scalar"),
            message="`.item()` takes the number out of a tensor of one. A prediction for each row is several: the mean"
            " of them was asked for.",
        ),
        Misconception(
            example=_loop().replace("lr=0.1", "lr=-0.1"),
            when=lambda seen: raised(seen, "Invalid learning rate"),
            message="A learning rate is not negative: SGD goes against the gradient by itself.",
        ),
        Misconception(
            example=_loop(
                backward="optimizer.zero_grad()\n(pred - y).backward()\noptimizer.step()"
            ),
            when=lambda seen: raised(seen, "implicitly created only for scalar outputs"),
            message="A backward is asked of several numbers at once. It is the loss that it begins at.",
        ),
        Misconception(
            example=_loop(forward="with torch.no_grad():\n    pred = model(x)"),
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="A backward is asked of a tensor that has no graph. Was recording on in the forward pass, and is"
            " nothing detached before the loss?",
        ),
        Misconception(
            example=_loop().replace("return log", "return log.sort()"),
            when=lambda seen: _says(seen, "log", "nothing"),
            message="Your function returns None. What changes a list or shows it, such as `sort`, `append` or `print`,"
            " hands nothing back; the log is the list itself.",
        ),
        Misconception(
            example=_loop(clip="model.weight = torch.nn.Parameter(model.weight.clamp(-1, 1))"),
            when=lambda seen: _says(seen, "writes", "none: it is another tensor now"),
            message="After your loop `model.weight` is another tensor than before. An optimizer writes into the one that"
            " it was given. Keep the parameter, and edit what it holds.",
        ),
        Misconception(
            example=_loop(backward="optimizer.zero_grad()\noptimizer.step()"),
            when=lambda seen: all(_part(case, "grads") == () for case in seen),
            message="No gradient came to `model.weight` in your loop. Is `backward()` called, and was anything recorded"
            " that leads from the loss to this weight?",
        ),
        Misconception(
            example=_loop(
                before="pred = model(x)",
                forward="pass",
                backward=_RIGHT["backward"].replace("()", "(retain_graph=True)", 2),
            ).replace("zero_grad(retain_graph=True)", "zero_grad()"),
            when=_same_values_again,
            message="No error, and every round brings the gradient of the first, though the weights have moved. To walk"
            " a graph again computes no new prediction: which line does, and does it run in every round?",
        ),
        Misconception(
            example=_loop(percent="pred.data *= 100\nshown = pred"),
            when=_silent_edit,
            message="No error, and a wrong gradient in the first round already. What the loss had saved was changed"
            " where no counter sees it. You silenced the check; the edit is still there.",
        ),
        Misconception(
            example=_loop(backward="loss.backward()\noptimizer.zero_grad()\noptimizer.step()"),
            when=lambda seen: all(bool(_part(case, "grads")) for case in seen) and _stayed(seen),
            message="Gradients came, and no parameter follows them. Is there a step, and what stands in `.grad` when it"
            " looks? Mind the order of the three calls.",
        ),
        Misconception(
            example=_loop(backward="loss.backward()\noptimizer.step()"),
            when=lambda seen: _like(seen, "grads", _fixed(zero=False)),
            message="The first round is right; from the second on each step is made with a sum. What does"
            " `backward()` do with a `.grad` that is there?",
        ),
        Misconception(
            example=_loop(percent="shown = pred"),
            when=lambda seen: _like(seen, "log", _fixed(scale=1)),
            message="You took the edit away, and what it was there for. The losses are right; look at the unit of the"
            " second number in your log.",
        ),
        Misconception(
            example=_loop(kept="loss.item(), 100 * model(x).mean().item()"),
            when=lambda seen: _columns_like(seen, _one_too_late),
            message="The losses are right, and each percent comes one round too early: it is of a forward after the"
            " step, made by the weights of the next round.",
        ),
        Misconception(
            example=_loop(kept="shown.mean().item(), loss.item()"),
            when=lambda seen: _columns_like(seen, _turned),
            message="The two numbers of each round are right, and in the other order: the loss comes first.",
        ),
        Misconception(
            example=_loop().replace("range(4)", "range(3)"),
            when=lambda seen: _columns_like(seen, _other_rounds),
            message="What your loop does it does well, another number of times than it was to. How many steps shall it"
            " make, and where does `return` stand?",
        ),
        Misconception(
            example=_loop(kept="loss.item()").replace("[loss.item()]", "loss.item()"),
            when=lambda seen: _trained_well(seen) and all(map(_no_pairs, seen)),
            message="The training is right, and the log is not: there are four rounds, and two numbers for each. Look"
            " at what is appended, how often, and what is returned.",
        ),
        Misconception(
            example=_loop(percent="shown = pred + 100"),
            when=lambda seen: (
                _trained_well(seen)
                and _columns_like(seen, _losses_alone)
                and not _right_numbers(seen)
            ),
            message="The training and the losses are right. The second number of a round is not the mean prediction"
            " times one hundred.",
        ),
        Misconception(
            example=_loop(clip="pass"),
            when=_over_the_limit,
            message="The weights left the range, to one side or to both. After each step a line has to write into"
            " them, with both bounds; `clamp` without the `_` makes a new tensor and leaves the weight as it is.",
        ),
        Misconception(
            example=_loop(
                clip="with torch.no_grad():\n    [one.clamp_(-1, 1) for one in model.parameters()]"
            ),
            when=lambda seen: all(
                _like(seen, name, _fixed(_clip_all)) for name in ("grads", "weight", "bias")
            ),
            message="The bias was kept in the range as well. Only the weights were to be.",
        ),
        Misconception(
            example=_loop(clip="model.weight.data.clamp_(-1, 1)"),
            when=lambda seen: _says(seen, "writes", "some not counted") and _right_numbers(seen),
            message="All numbers are right, and there are writes into the weight on no counter, as through `.data`. A"
            " graph that had saved the weight would not notice.",
        ),
        Misconception(
            example=_loop(kept="loss, shown.mean()"),
            when=lambda seen: _says(seen, "graphs", "alive") and _right_numbers(seen),
            message="The numbers are right, but after your function nodes of its graphs are still alive: something"
            " that is kept leads to them. Is each entry of the log a number, or a tensor with its graph?",
        ),
        Misconception(
            example=_loop(
                backward="optimizer.zero_grad()\nloss.backward(retain_graph=True)\noptimizer.step()"
            ),
            when=lambda seen: _says(seen, "saved", "kept") and _right_numbers(seen),
            message="All numbers are right, and each walk keeps its saved tensors, though no graph is walked again:"
            " `retain_graph` is for a second walk. What would it cost a large model?",
        ),
        Misconception(
            example=_loop().replace("lr=0.1", "lr=0.01"),
            when=lambda seen: _columns_like(seen, _first_round_alone),
            message="The first gradient is right, and what is made of it is not. Between it and the next forward stand"
            " the step and the write that keeps the range: look at the size of the one and the bounds of the other.",
        ),
    ),
    principle="each round needs a forward of its own, gradients of its own, and leaves nothing behind but numbers.",
    hints=(
        "Two faults raise an error and three are silent. Repair what raises first, then run `check` again: it names"
        " one fault at a time.",
        "Ask of each line: once or each round? A new tensor or an edit? Counted? What does it leave behind for later?",
        "Forward inside the loop; `zero_grad()` before `backward()`; `pred * 100`; `no_grad` instead of `.data`;"
        " `.item()` for what is kept.",
    ),
    solution="""
def answer(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    log = []
    for _ in range(4):
        pred = model(x)
        loss = torch.nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.weight.clamp_(-1, 1)
        log.append([loss.item(), (pred * 100).mean().item()])
    return log
""",
)

EXERCISES = (VERSION, DUEL, LOOP)
