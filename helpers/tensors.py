"""Frozen, plain data about tensors: those of a graph, and those that a backward function saved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Hold what is known of one tensor: a leaf, or a tensor that a backward function made.

    `names` are the learner's own, at most two. `shape` is None where torch refuses to say.
    `value` and `grad` are short texts, or None: a small leaf has both, another tensor a `grad` once
    retain_grad() was called. `grad` is "None" for an empty `.grad`.
    """

    names: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = ()
    dtype: str = "float32"
    device: str = "cpu"
    requires_grad: bool = True
    value: str | None = None
    grad: str | None = None

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def kind(self) -> str:
        """Say shape, dtype and device in a few words, leaving out what is usual: (), float32, cpu."""
        shape = "(n/a)" if self.shape is None else str(self.shape) if self.shape else ""
        unusual = [word for word, usual in ((self.dtype, "float32"), (self.device, "cpu")) if word != usual]
        return " ".join([shape, *unusual]).strip()


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """Hold what a backward function keeps for later, and whether it still can use it.

    `state` is "held", "freed", "modified" (edited in place since), "packed" (a saved-tensor hook has it) or
    "edited": a view of a tensor that was edited, before or since; to tell which would rewrite its history. "busy"
    stands for all that an operation saved while another thread goes backward, and may free it at any moment.
    `version` is the version counter when it was saved, `version_now` the one found; None where unknown.
    """

    name: str
    state: str
    tensor: TensorInfo | None = None
    version: int | None = None
    version_now: int | None = None

    @property
    def mark(self) -> str:
        return {"held": "●", "freed": "○", "modified": "▲", "packed": "◆", "edited": "◇", "busy": "◌"}[self.state]

    def __str__(self) -> str:
        known = self.tensor and (self.tensor.name or self.tensor.value)
        what = f"{self.name} = {known}" if known else f"{self.name} {self.tensor.kind if self.tensor else ''}".strip()
        now = self.version_now
        notes = {
            "held": "",
            "freed": " (freed)",
            "modified": " (modified since)" if now is None else f" (saved at v{self.version}, now v{now})",
            "packed": " (packed by a hook)",
            "edited": " (view of an edited tensor)" if now is None else f" (view of an edited tensor, now v{now})",
            "busy": " (in use: a backward runs in another thread)",
        }
        return f"{self.mark} {what}{notes[self.state]}"
