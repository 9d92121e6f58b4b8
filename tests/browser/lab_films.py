"""Labs made by hand, as the player reads them: plain data, no torch, and nothing of ours that writes films."""

import json
from collections import deque

ROLES = ["", "tag", "tagged", "none", "slot", "edge", "arrow", "operation", "start", "word", "leaf", "now", "title", "done", "error"]  # fmt: skip
RECT, CIRCLE, PATH, POLYGON, TEXT = range(5)
ENDS, IDLE = -1, -2
NO_ZERO = "AttributeError: 'NoneType' object has no attribute 'zero_'"
TWICE = (
    "RuntimeError: Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling backward."
)


class Pool:
    """Number things as they come."""

    def __init__(self, *things):
        self.things = list(things)

    def __call__(self, thing):
        if thing not in self.things:
            self.things.append(thing)
        return self.things.index(thing)


def rect(role, x, y, width, height, state=""):
    return [RECT, ROLES.index(role), ROLES.index(state), x, y, width, height, 6]


def path(role, data, state=""):
    return [PATH, ROLES.index(role), ROLES.index(state), data]


def text(role, x, y, words, state=""):
    return [TEXT, ROLES.index(role), ROLES.index(state), x, y, words, 0]


def written(film, marks, states, lines):
    """Return a film as JSON."""
    return json.dumps(
        {"version": 3, "owned": [0] * len(marks), "looks": [], "roles": ROLES, **film}
        | {"marks": marks, "states": states, "lines": lines.things}
    )


# A gradient that is accumulated, and who else points at it.

GRADS = (
    ("x.sum().backward()", "adds the gradient of x.sum()", "1", [1, 1, 1], "backward"),
    ("(x * x).sum().backward()", "adds 2x", "2", [1, 2, 3], "backward"),
    ("x.grad.zero_()", "writes 0 into the tensor", "3", 0, ""),
    ("x.grad = None", "lets go of the tensor", "4", 0, ""),
    ("g = x.grad", "a second name for the same tensor", "5", 0, ""),
)
MOST = 4  # lines to the end of the map


def after(state, action):
    """Return (x.grad, g, whether g is x.grad) after a line; or IDLE, or (state, error)."""
    grad, kept, same = state
    if action < 2:
        total = tuple([a + b for a, b in zip(grad or (0, 0, 0), GRADS[action][3], strict=True)])
        return total, total if same else kept, same
    if action == 2:
        if grad is None:
            return state, NO_ZERO
        zero = (0, 0, 0)
        return IDLE if grad == zero else (zero, zero if same else kept, same)
    if action == 3:
        return IDLE if grad is None else (None, kept, False)
    if grad is None:
        return IDLE if kept is None else (None, None, False)
    return IDLE if same else (grad, grad, True)


def said_of(state):
    grad, kept, same = state
    if grad is None:
        return "x.grad is None", "No tensor hangs at x.grad: the first backward() makes one."
    if same:
        return "g is x.grad", "Two names, one tensor: what is added in place is seen through both."
    other = " g still holds the tensor that was let go." if kept else ""
    return "x.grad holds a sum", f"backward() added to what was there: .grad is a sum.{other}"


def pictured(state):
    grad, kept, same = state
    marks = [
        rect("tag", 14, 48, 74, 24),
        text("tagged", 51, 65, "x.grad"),
        path("edge", "M88 60H112"),
    ]
    marks.append(rect("slot" if grad else "none", 112, 30, 284, 366))
    if grad is None:
        marks.append(text("word", 254, 205, "None"))
    if same:
        marks += [
            rect("tag", 14, 88, 30, 24),
            text("tagged", 29, 105, "g"),
            path("edge", "M44 100H112"),
        ]
    elif kept:
        marks += [rect("slot", 412, 150, 122, 246), rect("tag", 412, 106, 30, 24)]
        marks += [text("tagged", 427, 123, "g"), path("edge", "M425 130V150")]
    return marks


def accumulation(start=()):
    """Return the film of x.grad, mapped to a depth of MOST lines."""
    lines, marks, numbers, found = Pool(""), Pool(), {}, []
    waiting = deque([((None, None, False), 0, 0)])
    numbers[waiting[0][0]] = 0
    scenes = Pool()
    while waiting:
        state, depth, came = waiting.popleft()
        ways = []
        for action in range(len(GRADS)):
            to = after(state, action)
            if to != IDLE and to[1] == NO_ZERO:
                ways.append([numbers[to[0]], lines(NO_ZERO)])
                continue
            if to != IDLE and to not in numbers and depth < MOST:
                numbers[to] = len(numbers)
                waiting.append((to, depth + 1, [numbers[state], action]))
            ways.append(IDLE if to == IDLE else numbers.get(to, ENDS))
        title, say = said_of(state)
        scene = scenes([marks(mark) for mark in pictured(state)])
        grad, kept, same = [list(one) if isinstance(one, tuple) else one or 0 for one in state]
        totals = [grad, kept if kept and not same else 0]
        told = [lines(f"x.grad is {state[0]}."), lines(f"g is {state[1]}.")]
        found.append([lines(title), lines(say), scene, [], 0, told, ways, came, [4] * same, totals])
    film = {
        "alt": "What is in x.grad",
        "code": ["x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)"],
        "actions": GRADS,
        "start": start,
        "size": [540, 436],
        "scenes": scenes.things,
        "stacks": [["x.grad", 140, 340, 84, 28, 60], ["g", 421, 340, 37, 28, 32]],
        "legend": [
            ["block", "", "one gradient"],
            ["block", "now", "added just now"],
            ["tag", "", "a name"],
        ],
    }
    return written(film, marks.things, found, lines)


# A graph with programs to choose from, boxes, and nodes to click through.

PROGRAMS = ("y = x * 2", "y = x ** 2", "y = (x * w).sum()")
LINES = (
    ("y.sum().backward()", "walks the graph from y, and frees what it saved"),
    ("y.sum().backward(retain_graph=True)", "walks it, and keeps what it saved"),
    ("with torch.no_grad():\n    x += 1", "changes x behind the graph's back"),
    ("z = y.detach()", "the same numbers, out of the graph"),
    ("x.requires_grad_(False)", "no graph from here on"),
    ("del y", "lets go of the graph"),
    ("print(x.grad)", "only looks"),
)
NODES = 3


def network():
    """Return the film of three programs of three nodes each, with ten actions."""
    lines, marks, owned, states, scenes = Pool(""), [], [], [], []
    looks = [[ROLES.index("operation"), ROLES.index("now"), 0]]
    for program, code in enumerate(PROGRAMS):
        first = len(marks)
        for node in range(NODES):
            y = 40 + 130 * node
            for mark in (
                rect("operation", 40 + 90 * program, y, 150, 52),
                text(
                    "title",
                    56 + 90 * program,
                    y + 32,
                    f"{'MulPowSum'[3 * node : 3 * node + 3]}Backward0",
                ),
            ):
                marks.append(mark)
                owned.append(node + 1)
        marks += [rect("slot", 420, 60, 120, 70), text("start", 436, 100, code.split(" = ")[1][:9])]
        owned += [0, 0]
        scenes.append([*range(first, len(marks))])
    for program, code in enumerate(PROGRAMS):
        for focus in range(NODES + 1):
            number = len(states)
            base = program * (NODES + 1)
            ways = [other * (NODES + 1) if other != program else IDLE for other in range(3)]
            freed = [number, lines(TWICE)]
            ways += [freed if focus == 1 else number - focus, IDLE, ENDS, ENDS, IDLE, ENDS, IDLE]
            patch = [2 * (focus - 1), 0] if focus else []
            came = [base + focus - 1, -1] if focus else [0, program] if program else 0
            say = (
                f"Node {focus} of {code}."
                if focus
                else f"{code}: choose a node. Two sentences here."
            )
            states.append(
                [
                    lines(code),
                    lines(say),
                    program,
                    patch,
                    focus,
                    [lines(say)],
                    ways,
                    came,
                    [program],
                    [],
                ]
            )
    actions = [
        [code, "shows its graph", str(at + 1), 0, "programs", 1] for at, code in enumerate(PROGRAMS)
    ]
    actions += [[*line, "4567890"[at], 0, "", 0] for at, line in enumerate(LINES)]
    film = {
        "alt": "A graph",
        "code": ["x = torch.ones(3, requires_grad=True)", "w = torch.ones(3)"],
        "actions": actions,
        "start": [0],
        "size": [560, 400],
        "scenes": scenes,
        "stacks": [],
        "looks": looks,
        "legend": [
            ["operation", "", "backward function"],
            ["leaf", "", "leaf"],
            ["slot", "", "tensor"],
        ],
    }
    return json.dumps(json.loads(written(film, marks, states, lines)) | {"owned": owned})
