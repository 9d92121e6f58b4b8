"""A film of a trace: what each frame shows is what the steps say, and nothing changes its place."""

import torch

from helpers.record import record
from helpers.stage import film


def example():
    a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = t * c
    e = u + v
    trace = record(e)
    return trace, film(trace)


def seen(made, number):
    """Return what a frame shows: {(role, state): texts}, hidden marks left out."""
    frame, shown = made.frames[number], {}
    changes = {change.mark: change for change in frame.changes}
    for nr, mark in enumerate(made.scenes[frame.scene].marks):
        change = changes.get(nr)
        if change and change.hidden:
            continue
        state = (change and change.state) or mark.state
        runs = (change and change.runs) or mark.runs
        shown.setdefault((mark.role, state), []).append("".join(text for text, _ in runs))
    return shown


def test_one_frame_before_one_for_each_step_and_one_after():
    trace, made = example()
    assert len(made.frames) == len(trace.steps) + 2
    assert [frame.focus for frame in made.frames[1:-1]] == [f"node {step.node}" for step in trace.steps]
    assert made.frames[0].sentence == "8 steps to come. backward() starts at e."
    assert made.frames[4].sentence == trace.sentence(3)
    assert made.frames[-1].sentence == "After 8 steps: c.grad = 2.303, d.grad = 0.5, a.grad = 3.0, b.grad = 2.0."
    assert made.text == str(trace)


def test_before_the_first_step_no_gradient_is_shown():
    shown = seen(example()[1], 0)
    assert not [key for key in shown if key[0] in ("capsule", "label")]
    assert not [key for key in shown if key[1] in ("now", "done", "next")]
    assert shown["saved", "freed"] == [""]  # the legend


def test_the_fourth_step_is_the_one_of_the_design():
    shown = seen(example()[1], 4)
    assert shown["label", "now"] == ["5.0"]
    assert sorted(shown["label", "next"]) == ["0.5", "1.0"]
    assert sorted(shown["label", "done"]) == ["1.0", "2.303"]
    assert len(shown["operation", "now"]) == 1
    assert len(shown["operation", "done"]) == 2
    assert sorted(shown["row", "freed"]) == ["other = c", "self = t"]
    grads = [".grad  2.303", ".grad  None", ".grad  None", ".grad  None"]
    assert sorted(shown["middle", ""]) == [*grads, "a = 2.0", "b = 3.0", "c = 5.0", "d = 10.0"]


def test_at_the_end_everything_is_done():
    shown = seen(example()[1], -1)
    assert sorted(shown["label", "done"]) == ["0.5", "1.0", "1.0", "2.0", "2.303", "3.0", "5.0"]
    assert not [key for key in shown if key[1] in ("now", "next")]


def test_a_class_can_guess_the_new_number():
    _, made = example()
    fourth = made.frames[4]
    assert [made.scenes[0].marks[nr].runs[0][0] for nr in fourth.guess] == ["0.5"]
    assert fourth.question == "step 4 of 8: LogBackward0 (t): 5.0 arrives. What does it hand on?"
    leaf = made.frames[3]
    assert leaf.question.endswith("AccumulateGrad (leaf c): 2.303 arrives. What is .grad now?")
    assert [made.scenes[0].marks[nr].of for nr in leaf.guess] == [leaf.focus]


def test_room_is_kept_for_the_widest_grad():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = film(record((x * 1.2345).sum()))
    (pill,) = (mark for mark in made.scenes[0].marks if mark.role == "leaf" and mark.of)
    (text,) = (mark for mark in made.scenes[0].marks if mark.runs and mark.runs[0][1] == "grad")
    assert text.runs[0][0] == ".grad  [1.235, 1.235]"
    assert pill.at[2] > 150


def test_a_tensor_that_retains_its_gradient_shows_it_when_its_turn_comes():
    x = torch.tensor(2.0, requires_grad=True)
    y = x.exp()
    z = y * 5.0
    y.retain_grad()
    made = film(record(z))
    assert ".grad  None" in seen(made, 1)["row", ""]
    assert ".grad  5.0" in seen(made, 2)["row", ""]
    assert ".grad  5.0" in seen(made, -1)["row", ""]
    (number,) = (nr for nr in made.frames[2].guess)
    assert made.scenes[0].marks[number].of.startswith("edge")  # what arrived is told; what is handed on is guessed


def test_a_stopped_backward_ends_on_its_error():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    loss = (y * y).sum()
    with torch.no_grad():
        y.add_(1)
    try:
        record(loss)
    except RuntimeError as error:
        made = film(error.trace)
    assert made.frames[-1].sentence.startswith("backward() stopped after 1 steps: one of the variables needed")


def test_equal_programs_give_equal_films():
    assert example()[1] == example()[1]
