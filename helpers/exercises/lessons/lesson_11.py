"""Exercises of lesson 11, the training loop: what a step writes, who steps when, and a loop with
five faults.

An optimizer is made only while an answer is checked: the first one of a process costs about a
second.
"""

import weakref
from dataclasses import replace

import torch
from torch.nn.functional import mse_loss
from torch.utils._python_dispatch import TorchDispatchMode

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised
from helpers.exercises.readers import number
from helpers.exercises.values import same
from helpers.untrusted.plain import is_a


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
            message="You take a version for a yes or no, or think that plain SGD escapes the counter."
            " It writes under `no_grad`: that is not recorded, and it is counted.",
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


def _bent(weight: list[list[float]], bias: list[float]) -> torch.nn.Module:
    """Build a critic whose gradients depend on its own weights, so that an old one cannot pass for
    a new one.
    """
    return torch.nn.Sequential(_linear(weight, bias), torch.nn.Tanh())


def _sgd(layer: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(layer.parameters(), lr=0.1)


def _duel(again: bool = True, zero: bool = True):
    """Build the two-player step of 11.2: with a new forward after the critic's step or not, zeroed
    or not.
    """

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


def _parameters(
    _: object, generator: torch.nn.Module, critic: torch.nn.Module, z: torch.Tensor
) -> list[torch.Tensor]:
    return [*generator.parameters(), *critic.parameters()]


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
        lambda: (
            _linear([[2.0], [1.0]], [0.0, 1.0]),
            _linear([[1.0, 3.0]], [0.5]),
            torch.tensor([[1.0], [2.0]]),
        ),
        lambda: (
            _linear([[0.5, 1.0]], [2.0]),
            _bent([[0.2]], [0.0]),
            torch.tensor([[1.0, 0.0], [3.0, 1.0]]),
        ),
        observe=_parameters,
    ),
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


class _Watch(TorchDispatchMode):
    """Look at a weight before each operation that torch runs, and keep the nodes that are walked."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.uncounted = weight, False
        self.numbers, self.version = weight.tolist(), weight._version
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
        if "_fused_" in func.name():  # an optimizer's own writes, which no counter sees
            self.numbers = self.weight.tolist()
        return made

    def look(self) -> None:
        """Compare with the look before: were there new numbers, and no tick?"""
        numbers, version = self.weight.tolist(), self.weight._version
        self.uncounted = self.uncounted or (numbers != self.numbers and version == self.version)
        self.numbers, self.version = numbers, version

    def keeps(self) -> bool:
        """Tell whether a node that was walked has a saved tensor still; let go of the nodes."""
        found = any(_holds(node) for node in self.nodes)
        self.nodes.clear()
        return found


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
    return lambda: (_linear([weight], [bias]), torch.tensor(x), torch.tensor(y)[:, None])


_FIRST = ((0.9, -0.5),), (0.5,)  # weight and bias of the first case before the loop
_CASES = (
    _case([0.9, -0.5], 0.5, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [3.0, -0.5, 2.0]),
    _case(
        [-0.75, 0.25], 1.5, [[1.0, 0.0], [0.0, 2.0]], [-3.0, 5.0]
    ),  # wants to leave on both sides; bias above 1
)
_PARTS = ("log", "grads", "weight", "bias", "writes", "graphs", "saved")


def _behaviour(ended: tuple, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list:
    """See what a loop did, in the order of _PARTS: numbers, and a word each for writes, live
    graphs, saved tensors.
    """
    returned, watch = ended
    # This comes first: the watch itself holds the nodes until then.
    saved = "kept" if watch.keeps() else "freed"
    return [
        "nothing" if returned is None else returned,
        watch.arrived,
        model.weight,
        model.bias,
        "some not counted" if watch.uncounted else "all counted",
        "alive" if watch.alive else "gone",
        saved,
    ]


def _fixed(
    clip=lambda weight: weight.clamp_(-LIMIT, LIMIT),
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
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                clip(model.weight)
            log.append([loss.item(), (pred * scale).mean().item()])
        return log

    return train


_RUN = function(*_CASES, observe=_behaviour)
_READER = replace(_RUN, read=lambda answer: _RUN.read(_watched(answer)))


def _part(case: object, name: str) -> object:
    """Return one part of what was seen of a case; a Failed has none."""
    return case[_PARTS.index(name)] if is_a(case, tuple) and len(case) == len(_PARTS) else None


def _like(seen: tuple, name: str, train) -> bool:
    """Tell whether a part is, in every case, what `train` gives."""
    expected = _READER.read(train)
    return all(
        same(_part(one, name), _part(other, name))
        for one, other in zip(seen, expected, strict=True)
    )


def _says(seen: tuple, name: str, word: str) -> bool:
    return any(_part(case, name) == word for case in seen)


def _right_numbers(seen: tuple) -> bool:
    return all(_like(seen, name, _fixed()) for name in ("log", "grads", "weight", "bias"))


def _silent_edit(seen: tuple) -> bool:
    """Tell whether the first loss is right and its gradient is that of a prediction edited in
    silence.
    """
    right, edited = _READER.read(_fixed()), _READER.read(_fixed(edit=100))
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
    """Tell whether each walk brought the same gradient, although the weights had moved."""
    grads = [_part(case, "grads") or () for case in seen]
    same_again = all(len(one) > 1 and all(same(one[0], other) for other in one) for one in grads)
    return same_again and not _stayed(seen)


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
            message="Something wrote into a tensor that a node had saved, before `backward()` came for it. `*=` is no"
            " arithmetic but an edit, like a method whose name ends in `_`.",
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
            message="No error, and every round brings the gradient of the first: all rounds look at one prediction,"
            " which the first weights made. Keeping a graph keeps its old values.",
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
            example=_loop(clip="pass"),
            when=_over_the_limit,
            message="The weights left the range that the loop had kept them in. That line had a fault in *how* it"
            " writes, not in what it wants.",
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
