"""What is shown at the end of a loop that was watched: a card with the mistakes and the figures."""

from __future__ import annotations

from autograd_graphs.answer_card import Card, listed, strip_marks
from autograd_graphs.data import counted
from autograd_graphs.looking.tensors import read
from autograd_graphs.monitoring.account import Account
from autograd_graphs.monitoring.loop_mistakes import NOTES, Notes
from autograd_graphs.text import fold, in_bytes

WORD = "Watched"
GROWS = 2  # times the nodes of the first look, from which on both are told


def card_of(notes: Notes) -> Card:
    mistakes = notes.mistakes
    look = "right"
    if mistakes or notes.error or notes.fault or not notes.backwards:
        look = "partly"
    if any(mistake.kind not in NOTES for mistake in mistakes):
        look = "wrong"
    items = [f"  - {mistake.where}\t{mistake.sentence}" for mistake in mistakes]
    lines = [*endings(notes), *items, *figures(notes)]
    head = f"{WORD}: {title(notes)}"
    text = [fold(strip_marks(line.replace("\t", ". "))) for line in (head, *lines)]
    return Card(look, WORD, title(notes), "\n".join(lines), "\n".join(text))


def title(notes: Notes) -> str:
    """Say how many rounds there were and how many things to look at."""
    if not notes.backwards:
        return "No backward() ran, so there's nothing to tell."
    things = "I found no mistake."
    if notes.error:
        things = "I found no mistake before it ended."
    if notes.mistakes:
        things = f"{counted(len(notes.mistakes), 'thing')} to look at."
    if notes.round == 1:
        ran = counted(notes.backwards, "backward()", "backward() calls")
        return f"{ran} and no step that I could see: {things}"
    return f"{counted(notes.round - 1, 'round')}: {things}"


def endings(notes: Notes) -> list[str]:
    """Say what ended the loop, or the notes, before their time."""
    lines = []
    if notes.error:
        lines.append(f"The loop ended with {notes.error}. This is what I saw until then.")
    if notes.fault:
        lines.append(
            f"I stopped taking notes ({notes.fault}). That's my own fault, and your loop went "
            "on without me. Please report it."
        )
    return lines


def figures(notes: Notes) -> list[str]:
    """Return the figures of the last round, one line for each optimizer, and of graphs."""
    paths = notes.paths()
    lines = [moved(account, paths) for account in notes.moving if account.rounds]
    if notes.alive:
        lines.append(graphs(notes))
    frozen = sum(not read(tensor, "requires_grad") for tensor in notes.by_hand.now_moved())
    if frozen:
        lines.append(f"{counted(frozen, 'parameter')} of the model: requires_grad=False.")
    return lines


def moved(account: Account, paths: dict[int, str]) -> str:
    """Say whether gradients were emptied, which parameters were written to, and by what."""
    last = account.seen[-1]
    said = f"Round {last.number}"
    if account.name:
        said += f" of {account.name}"
    emptied = "had been" if last.was_emptied else "had not been"
    said += f": gradients {emptied} emptied before backward()."
    whole = counted(last.parameters, "parameter")
    if account.optimizer is None:
        return f"{said} Your own code wrote to {len(last.elsewhere)} of {whole}."
    where = f" in {last.line}" if last.line else ""
    said += f" step(){where} found gradients for {last.with_gradient} of {whole} and "
    if last.with_gradient and not last.by_step:
        said += "raised no version counter, so I can't tell what it wrote to."
        return said + " Fused optimizers raise none."
    said += f"wrote to {len(last.by_step)}"
    still = set(map(id, account.parameters)) - last.by_step
    left_alone = [path for key, path in paths.items() if key in still]
    if left_alone and last.by_step:
        said += f", not to {listed(left_alone)}"
    if last.elsewhere:
        said += f". Since the step before, other lines wrote to {len(last.elsewhere)}"
    return said + "."


def graphs(notes: Notes) -> str:
    """Say how large the graphs were that were alive, at the first look and at the last."""
    (_, first, _), (number, last, size) = notes.alive[0], notes.alive[-1]
    said = f"At backward() no. {number}, graphs had {counted(last, 'node')}"
    said += f" and held {in_bytes(size)} for backward, besides parameters."
    if last >= GROWS * first:
        said += f" At the first one they had {first}."
    return said
