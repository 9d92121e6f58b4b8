"""Hold `attempt`, which prints how a few lines ended, whether they raised or not."""

from autograd_graphs.text import fold, in_one_line

COLUMNS = 90  # as many as fit beside JupyterLab's file browser in a window of 1280 px


class attempt:
    """Run a block; print what it raised, kind and first sentence, or "(no error)".

    It stands around lines that pass as well as around lines that fail, so that it tells nothing
    beforehand. An interrupt, and an exit, pass.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, *_: object) -> bool:
        if kind is None or error is None:
            print("(no error)")
            return False
        if not issubclass(kind, Exception):
            return False
        print(fold(in_one_line(error), COLUMNS))
        return True
