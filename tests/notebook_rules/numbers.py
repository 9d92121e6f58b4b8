"""Find the numbers that a lesson says and does not compute: in the text of an idea, with no cell of
it to back them.

What counts as said: digits in text cells and speaker's notes, folds included, and in code spans that
hold values only, such as `[4., 6.]`. What does not: other code; the options of a prediction and why
they tempt, which are guesses; list labels, headings' numbers, names of lessons and exercises, lines
of a cell, durations in notes, digits inside a word. What backs a number: a literal in code of the
same idea, or a number in an output, the sign included, but not what predict() puts out; a number said
with two decimals or more may be a rounded one. Comments and strings back nothing: they are prose
themselves.
"""

import io
import re
import tokenize

from notebook_rules.style import ideas

NUMBER = re.compile(
    r"(?<![\w.])(?<!\w-)-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)*\.?(?:e[+-]?\d+)?(?![0-9])", re.I
)
VERSION = re.compile(r"\d+(?:\.\d+){2,}")
VALUES = re.compile(r"(?:[-+\d.,\s()\[\]e]|tensor|None|True|False|nan|inf)+")
PLACES = "lessons?|notebooks?|exercises?|ideas?|questions?|programs?"
NOT_SAID = [
    (re.compile(r"^ *(?:```|~~~).*?^ *(?:```|~~~) *$", re.M | re.S), " "),  # code
    (re.compile(r"^ *- \([a-f]\) .*(?:\n {2,}\S.*)*", re.M), " "),  # an option on a line of its own
    (
        re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]+>"),
        " ",
    ),  # pictures, where links lead, markup
    (re.compile(r"^#+ +\d+ ·", re.M), " "),  # the number of an idea
    (re.compile(r"^(\s*)\d+\. ", re.M), " "),  # the label of a list
    (re.compile(rf"\b(?:{PLACES})(?:,? (?:\d[\d.]*|and|to|or)\b)+", re.I), " "),
    (
        re.compile(
            r"\[[01]\d(?=[,·] [A-Za-z`])|(?<![\w.-])0\d(?:\.\d)?\b(?!\.\d)|(?:\*\*|\b)1\d\.(?:\d\*\*|[a-z]\b)"
        ),
        " ",
    ),
    (re.compile(r"\blines? \d+\b"), " "),  # of a cell; what stands there, one sees
]
WRONG_VALUES = re.compile(r"^ *- [-−\d., ]+: .*(?:\n {2,}\S.*)*", re.M)  # in a because
DURATION = re.compile(r"\b\d+(?: (?:to|or) \d+)? (?:minutes?|seconds?)\b")
SPAN = re.compile(r"`([^`\n]+)`")
MARKUP = re.compile(r"data:[^\"']*|<[^>]*>|\x1b\[[0-9;]*m")


def unbacked(lesson):
    """Yield (cell, number as it is written, the words around it) for each number that no cell of
    its idea backs.
    """
    for cells in ideas(lesson):
        known = backing(cells)
        for cell in cells:
            if not cell.is_code:
                yield from ((cell, *found) for found in said(cell) if not backed(found[0], known))


def said(cell):
    """Return (number, words around it) for all that a text cell says."""
    text = WRONG_VALUES.sub(" ", cell.source) if cell.role == "because" else cell.source
    for pattern, instead in NOT_SAID:
        text = pattern.sub(instead, text)
    text = SPAN.sub(lambda span: f" {span[1]} " if VALUES.fullmatch(span[1]) else " ` ", text)
    text = (DURATION.sub(" ", text) if cell.slide == "notes" else text).replace("−", "-")
    around = [
        (found[0].rstrip("."), text[max(0, found.start() - 30) : found.end() + 30])
        for found in NUMBER.finditer(text)
    ]
    return [(number, " ".join(words.split())) for number, words in around]


def backing(cells):
    """Return the numbers that the cells of an idea compute, show or are given, and versions as
    texts.
    """
    found = set()
    for cell in cells:
        if cell.is_code and cell.role != "guess":
            found |= {*literals(cell.source), *VERSION.findall(cell.source)}
            shown = MARKUP.sub(" ", "\n".join(texts(cell.outputs))).replace("−", "-")
            found |= {
                value(number.rstrip("."))
                for number in NUMBER.findall(re.sub(r"\bv(?=\d)", "v ", shown))
            }
    return found


def texts(outputs):
    """Yield what outputs show as text; pictures and players have a text form."""
    for output in outputs:
        yield output.get("text", "")
        yield output.get("evalue", "")
        for kind, data in output.get("data", {}).items():
            if kind in ("text/plain", "text/markdown", "text/latex", "text/html"):
                yield data


def literals(source):
    """Yield the number literals of code; one after a minus that has nothing to its left is
    negative.
    """
    before = [tokenize.TokenInfo(tokenize.OP, "(", (0, 0), (0, 0), "")] * 2
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NUMBER and not token.string.lower().startswith(
                ("0x", "0b", "0o")
            ):
                alone = (
                    before[-1].string == "-"
                    and before[-2].type == tokenize.OP
                    and before[-2].string not in ")]}"
                )
                yield value(("-" if alone else "") + token.string.replace("_", "").rstrip("j"))
            before = [before[-1], token]
    except (tokenize.TokenError, SyntaxError):
        return


def value(number):
    """Return a number as a float, whatever its form; a version such as 2.13.0 stays a text."""
    plain = number.replace(",", "")
    return plain if plain.count(".") > 1 else float(plain)


def backed(number, known):
    """Tell whether a number, as it is written, is among the known ones, or is one of them rounded."""
    wanted = value(number)
    if wanted in known:
        return True
    decimals = len(number.partition(".")[2]) if "e" not in number.lower() else 0
    return decimals >= 2 and any(
        isinstance(one, float) and round(one, decimals) == wanted for one in known
    )
