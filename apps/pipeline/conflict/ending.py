"""Which known memories a model closes: those that are over without a new one, and notes that it has read."""

from collections.abc import Set
from dataclasses import replace

from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import BINDING_TAGS, Role, Status
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.pipeline.core.statement import PLAIN_EXTRACTORS, StoredMemory
from apps.pipeline.deduplication.proposals import MOST_REPLACED
from apps.pipeline.lexicon.tables import FRAME
from apps.pipeline.lexicon.word_stems import stems
from apps.pipeline.provenance.own_words import words_of

_COMMON = stems(" ".join(FRAME))


def with_ended(draft: Draft, ports: Ports) -> Draft:
    """Return a draft with the memories that end by what the user said; they keep their words and their history.

    Models mix up ids, so an id alone closes nothing: the user's own words must name something of the memory. What must
    never be lost by a mistake, health and rules for agents, has to be named by its value.
    """
    asked = draft.asked_to_end
    turns = [each for each in draft.request.turns if each.role is Role.USER]
    if not asked or len(asked) > MOST_REPLACED or not turns:
        return draft
    own = " ".join(segment for turn in turns for segment in words_of(turn).segments())
    said_at = max(turn.said_at for turn in turns)
    held = ports.memories.holders(
        end_user_id=draft.request.origin.end_user_id, slots=(), ids=asked, private_to=draft.private_to
    )
    ended = tuple(
        replace(each, valid_until=max(said_at, each.valid_from or said_at))
        for each in held
        if each.id in asked and each.said_at <= said_at and _is_named(each, own=stems(own))
    )
    return draft.evolve(ended=ended, details={**draft.details, "ended": len(ended)})


def _is_named(memory: StoredMemory, *, own: Set[str]) -> bool:
    value = stems(memory.object_text)
    if memory.predicate in HEALTH_PREDICATES or not BINDING_TAGS.isdisjoint(memory.tags):
        return bool(value) and value <= own
    return not own.isdisjoint(stems(memory.content) - _COMMON)


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
