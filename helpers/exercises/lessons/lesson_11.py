"""Exercises of lesson 11, the training loop: what a step writes, who steps when, and a loop with five faults.

An optimizer is made only while an answer is checked: the first one of a process costs about a second.
"""

import weakref

import torch
from torch.nn.functional import mse_loss

from helpers.exercises.functions import function
from helpers.exercises.guard import Failed
from helpers.exercises.model import Exercise, Misconception, same_as
from helpers.exercises.plain import is_a
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
    right="The layer wrote its first numbers once, and each step wrote once more. Nothing else writes into a weight.",
    misconceptions=(
        Misconception(
            example=3,
            when=3.0,
            message="You counted the steps, and all of them. The counter does not begin at 0 here: who wrote the first"
            " random numbers into the weight, and into which tensor?",
        ),
        Misconception(
            example=13,
            when=lambda seen: seen in (12, 13),
            message="You let `backward()` change the weight. It adds to `.grad`, which is another tensor.",
        ),
        Misconception(
            example=7,
            when=lambda seen: seen in (6, 7),
            message="You counted `zero_grad()` as an edit of the weight. It lets go of `.grad` and leaves the weight"
            " alone.",
        ),
        Misconception(
            example=2,
            when=lambda seen: seen in (0, 1, 2),
            message="You take a version for a yes or no, or think that an optimizer escapes the counter."
            " Under `no_grad` a write is not recorded; it is counted.",
        ),
    ),
    hints=(
        "Go through the lines and ask of each: does it write into the memory of `model.weight`?",
        "Print `torch.nn.Linear(3, 1).weight._version`, then add one for each `optimizer.step()`.",
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


def _sgd(layer: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(layer.parameters(), lr=0.1)


def _duel(again: bool = True, zero: bool = True):
    """Build the two-player step of 11.2: with a new forward after the critic's step or not, zeroed or not."""

    def play(generator, critic, z):
        of_critic, of_generator = _sgd(critic), _sgd(generator)
        score = critic(generator(z)).mean()
        score.backward(retain_graph=True)
        if again:
            of_critic.step()
            score = critic(generator(z)).mean()
        if zero:
            generator.zero_grad()
        (-score).backward(inputs=list(generator.parameters()))
        if not again:
            of_critic.step()
        of_generator.step()

    return play


def _parameters(_: object, generator: torch.nn.Module, critic: torch.nn.Module, z: torch.Tensor) -> list[torch.Tensor]:
    return [*generator.parameters(), *critic.parameters()]


def _raised(seen: tuple, *fragments: str) -> bool:
    """Tell whether some case failed with one of these words in its message."""
    return any(is_a(case, Failed) and any(part in str(case) for part in fragments) for case in seen)


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
    reader=function(
        lambda: (_linear([[2.0], [1.0]], [0.0, 1.0]), _linear([[1.0, 3.0]], [0.5]), torch.tensor([[1.0], [2.0]])),
        lambda: (_linear([[0.5, 1.0]], [2.0]), _linear([[5.0]], [0.0]), torch.tensor([[1.0, 0.0], [3.0, 1.0]])),
        observe=_parameters,
    ),
    truth=_duel,
    right="The generator met the critic of now, by a forward of now, and with no gradient left over.",
    misconceptions=(
        Misconception(
            example=_play(
                "score.backward(retain_graph=True)", "of_critic.step()", "(-score).backward()", "of_generator.step()"
            ),
            when=lambda seen: _raised(seen, "modified by an inplace operation"),
            message="You think that a graph which was retained can be walked at any later time. The step has written"
            " into a weight that this graph saved.",
        ),
        Misconception(
            example=_play("score.backward()", "of_critic.step()", "(-score).backward()", "of_generator.step()"),
            when=lambda seen: _raised(seen, "a second time"),
            message="You walk one graph twice. And keeping it would not be enough: ask what the step did in between.",
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
            example=_play("score.backward()", "of_critic.step()"),
            when=lambda seen: _unmoved(seen[0], [[2.0], [1.0]]),
            message="The generator has not moved at all. Does it make a step, and what stands in its `.grad` at that"
            " moment?",
        ),
    ),
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


def _unmoved(case: object, weight: list[list[float]]) -> bool:
    return is_a(case, tuple) and same(case[0], tuple(map(tuple, weight)))


LIMIT, ROUNDS = 1.0, 4


def _watched(weight: list[float], bias: float, x: list[list[float]], y: list[float]):
    """Make a case: a model that notes its forward passes, gradients and live graphs in `model.seen`."""

    def case():
        model = _linear([weight], [bias])
        forwards, grads, alive = [], [], weakref.WeakSet()

        def look(module, args, out):
            forwards.append(out.requires_grad)
            if out.grad_fn is not None:
                out.grad_fn.metadata["mark"] = mark = torch.empty(0)  # lives as long as its node
                alive.add(mark)

        model.register_forward_hook(look)
        model.weight.register_post_accumulate_grad_hook(lambda weight: grads.append(weight.grad.clone()))
        model.seen = (forwards, grads, alive, model.weight._version)
        return model, torch.tensor(x), torch.tensor(y)[:, None]

    return case


_WEIGHT = 0.9
_CASES = (
    _watched([_WEIGHT, -0.5], 0.5, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [3.0, -0.5, 2.0]),
    _watched([0.0, _WEIGHT], -1.0, [[1.0, 1.0], [0.0, 2.0]], [2.0, 5.0]),
)
_PARTS = ("log", "grads", "weight", "bias", "writes", "graphs", "forwards")


def _behaviour(returned: object, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list:
    """See what a loop did, in the order of _PARTS: numbers, and a word each for writes, live graphs and forwards."""
    forwards, grads, alive, version = model.seen
    writes = model.weight._version - version
    return [
        "nothing" if returned is None else returned,
        grads,
        model.weight,
        model.bias,
        "all counted" if writes >= 2 * ROUNDS else "some not counted",
        "alive" if alive else "gone",
        "one a walk" if sum(forwards) >= len(grads) else "too few",
    ]


def _fixed(clip=lambda weight: weight.clamp_(-LIMIT, LIMIT), zero: bool = True, scale: int = 100):
    """Build the repaired loop of 11.3, or one with a fault left in it."""

    def train(model, x, y):
        optimizer, log = _sgd(model), []
        for _ in range(ROUNDS):
            pred = model(x)
            loss = mse_loss(pred, y)
            if zero:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                clip(model.weight)
            log.append([loss.item(), (pred * scale).mean().item()])
        return log

    return train


def _part(case: object, name: str) -> object:
    """Return one part of what was seen of a case; a Failed has none."""
    return case[_PARTS.index(name)] if is_a(case, tuple) and len(case) == len(_PARTS) else None


def _like(seen: tuple, name: str, train) -> bool:
    """Tell whether a part is, in every case, what `train` gives."""
    expected = LOOP.reader.read(train)
    return all(same(_part(one, name), _part(other, name)) for one, other in zip(seen, expected, strict=True))


def _says(seen: tuple, name: str, word: str) -> bool:
    return any(_part(case, name) == word for case in seen)


def _right_numbers(seen: tuple) -> bool:
    return all(_like(seen, name, _fixed()) for name in ("log", "grads", "weight", "bias"))


def _silent_edit(seen: tuple) -> bool:
    """Tell whether the first loss is right and its gradient is not: what the loss had saved was changed."""
    pairs = [*zip(seen, LOOP.reader.read(_fixed()), strict=True)]
    if not all(same(_first_loss(mine), _first_loss(right)) for mine, right in pairs):
        return False
    grads = [(_part(mine, "grads"), _part(right, "grads")) for mine, right in pairs]
    return any(bool(mine) and not same(mine[0], right[0]) for mine, right in grads)


def _first_loss(case: object) -> object:
    """Return the first number of the log, or None where the log is none."""
    log = _part(case, "log")
    return log[0][0] if is_a(log, tuple) and log and is_a(log[0], tuple) and log[0] else None


def _same_values_again(seen: tuple) -> bool:
    """Tell whether several backward calls came out of fewer forward passes."""
    return _says(seen, "forwards", "too few") and all(len(_part(case, "grads") or ()) > 1 for case in seen)


def _bias_stayed(seen: tuple) -> bool:
    return all(bool(_part(case, "grads")) for case in seen) and _part(seen[0], "bias") == (0.5,)


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
    return _LOOP.format(**{name: text.replace("\n", "\n        ") for name, text in (_RIGHT | lines).items()})


LOOP = Exercise(
    id="11.3",
    reader=function(*_CASES, observe=_behaviour),
    truth=_fixed,
    right="A new graph each round, fresh gradients, every write counted, plain numbers kept. The loop is yours.",
    misconceptions=(
        Misconception(
            example=_loop(percent="pred *= 100\nshown = pred"),
            when=lambda seen: _raised(seen, "modified by an inplace operation"),
            message="Something wrote into a tensor that the loss had saved. You take `*=` for arithmetic; it is an"
            " edit, and every node that kept the tensor is concerned.",
        ),
        Misconception(
            example=_loop(clip="model.weight.clamp_(-1, 1)"),
            when=lambda seen: _raised(seen, "a leaf Variable that requires grad"),
            message="You took the old way around autograd away and left recording on. This write into a leaf shall be"
            " counted and not recorded; idea 2 shows how a step does that.",
        ),
        Misconception(
            example=_loop(before="pred = model(x)", forward="pass"),
            when=lambda seen: _raised(seen, "a second time"),
            message="You think the graph is new because the line of the loss stands in the loop. Part of it is older,"
            " and the first `backward()` freed what that part had saved.",
        ),
        Misconception(
            example=_loop(kept="loss.item(), shown.mean().item()").replace("    return log\n", ""),
            when=lambda seen: _says(seen, "log", "nothing"),
            message="Your function returns nothing; the loop hands its log back.",
        ),
        Misconception(
            example=_loop(
                before="pred = model(x)",
                forward="pass",
                backward=_RIGHT["backward"].replace("()", "(retain_graph=True)", 2),
            ).replace("zero_grad(retain_graph=True)", "zero_grad()"),
            when=_same_values_again,
            message="The error is gone and the loss does not fall. All rounds look at one prediction, which the first"
            " weights made. Keeping a graph keeps its old values.",
        ),
        Misconception(
            example=_loop(percent="pred.data *= 100\nshown = pred"),
            when=_silent_edit,
            message="No error, and a wrong gradient in the first round already. What the loss had saved was changed"
            " where no counter sees it. You silenced the check; the edit is still there.",
        ),
        Misconception(
            example=_loop(backward="loss.backward()\noptimizer.zero_grad()\noptimizer.step()"),
            when=_bias_stayed,
            message="The gradients are right, and the parameters do not follow them: when the optimizer looked, there"
            " was nothing in `.grad`. Look at the order of the three calls.",
        ),
        Misconception(
            example=_loop(backward="loss.backward()\noptimizer.step()"),
            when=lambda seen: _like(seen, "grads", _fixed(zero=False)),
            message="The first round is right; from the second on each step is too large. You think that `backward()`"
            " sets `.grad`.",
        ),
        Misconception(
            example=_loop(percent="shown = pred"),
            when=lambda seen: _like(seen, "log", _fixed(scale=1)),
            message="You took the edit away, and what it was there for. The losses are right; look at the unit of the"
            " second number in your log.",
        ),
        Misconception(
            example=_loop(clip="pass"),
            when=_over_the_limit,
            message="The weights left the range that the loop had kept them in. That line had a fault in *how* it"
            " writes, not in what it wants.",
        ),
        Misconception(
            example=_loop(clip="model.weight.data.clamp_(-1, 1)"),
            when=lambda seen: _says(seen, "writes", "some not counted") and _right_numbers(seen),
            message="All numbers are right, and one write in each round is on no counter. You trust an old way around"
            " autograd; a graph that had saved the weight would not notice.",
        ),
        Misconception(
            example=_loop(kept="loss, shown.mean()"),
            when=lambda seen: _says(seen, "graphs", "alive") and _right_numbers(seen),
            message="The numbers are right, but after your function the nodes of the rounds are still alive. You"
            " take a loss for a number; through your log somebody can still walk its graph.",
        ),
    ),
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
