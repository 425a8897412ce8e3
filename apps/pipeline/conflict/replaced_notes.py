"""Which notes are replaced by the statements that a model has read from the same message."""

from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Status
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.statement import PLAIN_EXTRACTORS


def with_replaced_notes(draft: Draft, ports: Ports) -> Draft:
    """Return a draft whose rulings close the notes of their messages, each note once.

    A note stays as long as agents see none of the statements that were read from its message.
    """
    held = ports.memories.holders(
        end_user_id=draft.request.origin.end_user_id,
        slots=(),
        ids=[note for _, note in draft.notes],
        private_to=draft.private_to,
    )
    left = {note.id: note for note in held}
    rulings: list[Ruling] = []
    for ruling in draft.rulings:
        quoting = {note for turn, note in draft.notes if turn in ruling.candidate.source_turn_ids}
        closed = [left.pop(note) for note in sorted(quoting & left.keys())] if _replaces_notes(ruling) else []
        rulings.append(ruling.evolve(supersedes=(*ruling.supersedes, *closed)))
    details = {**draft.details, "replaced_notes": len(held) - len(left)}
    return draft.evolve(rulings=tuple(rulings), details=details)


def _replaces_notes(ruling: Ruling) -> bool:
    """Return True for a statement of a model that waits for no review."""
    known = ruling.merge_into
    is_hidden = ruling.needs_review if known is None else known.status is Status.PENDING_REVIEW and not ruling.promotes
    return not is_hidden and not ruling.candidate.extractor.startswith(PLAIN_EXTRACTORS)
