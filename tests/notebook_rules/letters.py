"""Rules about right letters: among rounds with three options each is right about as often, and no
row of one letter is long.
"""

from collections import Counter

from notebook_rules.rounds import questions

LETTERS = "abc"
LEAST, MOST = 25, 42  # percent
ALIKE = 3  # the longest row of one letter


def right_letters(lesson):
    """Return the right letters of the rounds with three options, in order: "bcab"."""
    found = [round_.right for round_ in questions(lesson) if len(round_.question.options) == 3]
    return "".join(letter for letter in found if letter in LETTERS)


def bounds(count):
    """Return how often a letter may be right among so many rounds, least and most.

    25 to 42 %; where no three whole numbers in between add up to `count`, as near as they can.
    """
    least = -(-LEAST * count // 100)
    most = MOST * count // 100
    while 3 * least > count:
        least -= 1
    while 3 * most < count:
        most += 1
    return least, most


def uneven(letters):
    """Yield a sentence for each letter that is right too often or too rarely."""
    least, most = bounds(len(letters))
    counted = Counter(letters)
    for letter in LETTERS:
        if not least <= counted[letter] <= most:
            wanted = f"{least} to {most}" if least < most else f"{least}"
            yield (
                f"({letter}) is right in {counted[letter]} of {len(letters)} rounds with three options ({letters}), not in {wanted}:"
                " put options of some rounds in another order."
            )


def right_letters_are_spread(lesson):
    """Who always says (b) learns as little as who can tell it from a habit of the author."""
    yield from uneven(right_letters(lesson))


def no_letter_is_right_four_times_in_a_row(lesson):
    """Students look for patterns."""
    letters = right_letters(lesson)
    for letter in LETTERS:
        if letter * (ALIKE + 1) in letters:
            yield f"({letter}) is right more than {ALIKE} times in a row ({letters}): put options of one of these rounds in another order."


def right_letters_are_spread_over_all(lessons):
    """All lessons together: what one of them leaves open another one evens out."""
    yield from uneven("".join(right_letters(lesson) for lesson in lessons))


RULES = (right_letters_are_spread, no_letter_is_right_four_times_in_a_row)
