"""The words and keys of the player: which buttons a film has, what they say, and which key presses them."""

from __future__ import annotations

from helpers.film import Film
from helpers.text import visible

WORDS = {
    "player": "Player",
    "picture": "Picture",
    "position": "Position",
    "unknown": "?",
    "play": "Play",
    "pause": "Pause",
    "text": "As text",
    "idle": "nothing changes.",
}
ASK = "What comes here? Guess, then reveal."
STEPS = {  # name → words and key
    "first": ("First", "Home"),
    "previous": ("Back", "←"),
    "play": ("Play", "space"),
    "next": ("Next", "→"),
    "last": ("Last", "End"),
}
NODES = {"previous": ("Back", "←"), "next": ("Next", "→")}
WALK = {"undo": ("Undo", "u"), "reset": ("Reset", "r")}
GUESS = {"guess": ("Guess", "g"), "reveal": ("Reveal", "space")}
UNFOLD = {"unfold": ("Unfold", "o"), "fold": ("Fold", "f")}
DIGITS = "1234567890"  # the keys of a lab's actions; an eleventh has none
KEYS = {
    "ArrowLeft": "previous",
    "ArrowRight": "next",
    "Home": "first",
    "End": "last",
    " ": "space",
    "Enter": "reveal",
    "g": "guess",
    "u": "undo",
    "r": "reset",
}
FOLDED = {"unfold": "Click to unfold"}, {"o": "unfold", "f": "fold"}  # words and keys where parts can be opened


def controls(film: Film) -> dict:
    """Return the buttons in rows of (name, words, key), and the keys.

    A film of steps has a scrubber. A lab has its actions, undo and reset, and goes from node to node where
    frames are about nodes. The buttons for guessing are there where something can be guessed, those for folding where
    there are several views.
    """
    nodes = NODES if any(frame.focus for frame in film.frames) else {}
    guess = GUESS if any(frame.guess or frame.question for frame in film.frames) else {}
    unfold, (words, keys) = (UNFOLD, FOLDED) if film.views else ({}, ({}, {}))
    table = {**(WALK | nodes if film.actions else STEPS), **unfold, **guess}
    actions = [(f"action {nr}", visible(words), DIGITS[nr : nr + 1]) for nr, (_, words) in enumerate(film.actions)]
    rows = [actions, [(name, *words) for name, words in table.items()]]
    keys = KEYS | keys | {key: name for name, _, key in actions if key}
    return {"lab": bool(film.actions), "rows": [row for row in rows if row], "keys": keys, "words": WORDS | words}
