"""Hand what a reader guesses in a player to whoever keeps it; the library alone keeps nothing."""

from __future__ import annotations

from collections.abc import Callable

Keeper = Callable[[str, object], None]  # called with a film in JSON and what the browser sent

_keepers: list[Keeper] = []


def keep_with(keeper: Keeper) -> None:
    """Call `keeper` for every guess that is committed in a player from now on."""
    if keeper not in _keepers:
        _keepers.append(keeper)


def keep(film: str, content: object) -> None:
    """Hand a guess to every keeper."""
    for keeper in _keepers:
        keeper(film, content)
