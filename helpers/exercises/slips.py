"""Recognise slips that any exercise meets: no `return`, no call, a wrong number of values, None."""

import dis
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import torch

from autograd_graphs.data import counted
from autograd_graphs.guard import Failed
from helpers.engine.cells import Cell
from helpers.exercises.functions import Run

METHOD = (BuiltinFunctionType, MethodType)


def of_a_value(answer: object, reading: object, truth: object) -> str:
    """Name the slip behind a wrong value in a sentence or two; "" where there is none of these."""
    if answer is None:
        return NOTHING
    if is_method(answer):
        return _not_called(answer, "Your answer is")
    if isinstance(answer, (FunctionType, *METHOD)):
        return (
            "Your answer is a function, but you didn't call it. The exercise wants what it returns. Call it,"
            " with parentheses, and pass the result."
        )
    return _of_length(reading, truth)


NOTHING = (
    "Your answer is None. Did you keep what a call returned? `backward()`, `print()` and"
    " `list.append()` all return None. Or did you read the `.grad` of a leaf that `backward()`"
    " hasn't reached?"
)


def of_a_function(answer: object, runs: list[Run], own_runs: list[Run]) -> str:
    """Name the slip behind a wrong function, or what stands for one, by its runs and those of the
    exercise's own; "" where there is none of these.
    """
    if not callable(answer):
        return _called_too_early(answer)
    if any(map(_is_in_a_tuple, runs, own_runs)):
        return (
            "You return a tuple with the tensor in it. `torch.autograd.grad` gives a tuple, with one"
            " gradient for each input. Take yours out: `(g,) = …`."
        )
    if any(isinstance(run.returned, Failed) for run in runs):
        return _of_an_error(answer, runs)
    wants_a_return = any(_first(run.returned) is not None for run in own_runs)
    if wants_a_return and isinstance(answer, FunctionType) and not returns(answer):
        return (
            "Your function doesn't return anything. Hand back what it made, with"
            " `return` in its last line."
        )
    if any(callable(run.returned) for run in own_runs):
        return ""  # a method is as good as any function: handle.remove
    return _of_a_method(runs)


def _of_a_method(runs: list[Run]) -> str:
    for run in runs:
        for part in parts(run.returned):
            if is_method(part):
                return _not_called(part, "Your function returns")
    return ""


def _is_in_a_tuple(run: Run, own: Run) -> bool:
    """Tell whether one tensor in a tuple came back where a tensor is right."""
    returned = run.returned
    return (
        isinstance(own.returned, torch.Tensor)
        and isinstance(returned, tuple)
        and tuple.__len__(returned) == 1
    )


def _of_an_error(answer: object, runs: list[Run]) -> str:
    """Name the slip where a run never came to torch: an unknown name, other arguments."""
    failed = [run for run in runs if isinstance(run.returned, Failed)]
    if isinstance(answer, Cell):
        failed = [run for run in failed if run.line and answer.has(run.line)]  # not in a given line
    errors = [run.returned for run in failed]
    kinds = {"NameError"} if isinstance(answer, Cell) else {"NameError", "UnboundLocalError"}
    unknown = [error.text for error in errors if error.kind in kinds]
    if unknown and isinstance(answer, Cell):
        return (
            f"Your cell uses a name that doesn't exist: {unknown[0]}. I try what is defined in this cell,"
            " on top of what `my_engine` brings, so a helper of yours belongs in here, too."
        )
    if unknown:
        return (
            f"Your function uses a name that doesn't exist: {unknown[0]}. It knows its arguments, what"
            " it has made so far, and the names in your notebook."
        )
    count = runs[0].inputs
    if isinstance(answer, FunctionType) and not _takes(answer, count):
        return (
            f"I call your function with {counted(count, 'argument')}, but it takes"
            f" others: {errors[0].text}. Keep the first line of the exercise as it is."
        )
    return ""


def _takes(function: FunctionType, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    return True


def _called_too_early(answer: object) -> str:
    if isinstance(answer, str):
        return ""
    return (
        "The exercise wants a function, but your answer is a value, perhaps what your function"
        " returned. Define `def answer(...)` and pass its name, without parentheses. I'll call it"
        " with inputs of my own."
    )


def _first(returned: object) -> object:
    """Return what came back: of a reader that adds what it watched, the first of two."""
    return next(iter(parts(returned)), returned)


def parts(returned: object) -> list:
    """Return what a list or tuple holds, by the base class's own method; anything else alone."""
    for base in (tuple, list):
        if isinstance(returned, base):
            return list(base.__iter__(returned))
    return [returned]


def is_method(value: object) -> bool:
    """Tell whether a value is a method of some object, such as `x.sum`, and no function of a module."""
    if not isinstance(value, METHOD):
        return False
    return not (value.__self__ is None or isinstance(value.__self__, (ModuleType, type)))


def _not_called(method: object, begin: str) -> str:
    name = getattr(method, "__name__", None)
    if not isinstance(name, str):
        return f"{begin} a method that you didn't call. Write parentheses after it."
    return f"{begin} the method `{name}` itself, but you didn't call it. Write `.{name}()`."


def returns(function: FunctionType) -> bool:
    """Tell whether some `return` of a function, or a `yield`, hands out more than None."""
    code = function.__code__
    if code.co_flags & (0x20 | 0x80 | 0x200):  # a generator, or a coroutine
        return True
    before = None
    for step in dis.get_instructions(code):
        if step.opname == "RETURN_CONST" and step.argval is not None:
            return True
        if step.opname == "RETURN_VALUE" and (step.is_jump_target or not _is_none(before)):
            return True
        before = step
    return False


def _is_none(step: dis.Instruction | None) -> bool:
    return step is not None and step.opname == "LOAD_CONST" and step.argval is None


def _of_length(reading: object, truth: object) -> str:
    if not isinstance(reading, tuple) or not isinstance(truth, tuple) or len(reading) == len(truth):
        return ""
    count = "1 value" if len(reading) == 1 else f"{len(reading)} values"
    return f"You gave {count}, but the question asks for {len(truth)}, in its order."
