"""Denials that their own sentence makes needless: "I no longer live in Rennes, I live in Nantes now"."""

from apps.pipeline.core.draft import Draft, Drop, Ruling
from apps.pipeline.core.enums import Polarity, Reason, Stage
from apps.pipeline.core.memory_conversion import as_memory

_OVER = " no longer "


def without_replaced_denials(draft: Draft) -> Draft:
    """Drop what only says that a value is over where the same quote tells the new one, which then closes the old."""
    rulings = {ruling.memory_id: ruling for ruling in draft.rulings}
    drops: list[Drop] = []
    for denial in draft.rulings:
        successor = _successor(draft, denial)
        if successor is None:
            continue
        heir = rulings[successor.memory_id]
        closed = {memory.id: memory for memory in (*heir.supersedes, *denial.supersedes)}
        rulings[heir.memory_id] = heir.evolve(
            supersedes=tuple(closed.values()), rule="supersedes" if closed else heir.rule
        )
        del rulings[denial.memory_id]
        why = {"why": "the same quote tells what took its place"}
        drops.append(Drop(Stage.CONFLICT, Reason.DUPLICATE, candidate=denial.candidate, detail=why))
    return draft.evolve(rulings=tuple(rulings.values())).drop(*drops) if drops else draft


def _successor(draft: Draft, denial: Ruling) -> Ruling | None:
    """Return the new memory of the same quote and slot that takes the place of what is denied."""
    said = denial.candidate
    if said.polarity is not Polarity.NEGATIVE or _OVER not in said.content or denial.merge_into is not None:
        return None
    subject = as_memory(draft=draft, ruling=denial).subject_id
    for other in draft.rulings:
        told = other.candidate
        is_new = other.merge_into is None and not other.needs_review and other.superseded_by is None
        is_affirmed = told.polarity is Polarity.POSITIVE and told.predicate == said.predicate
        is_said_with_it = (told.evidence, told.source_turn_ids) == (said.evidence, said.source_turn_ids)
        if is_new and is_affirmed and is_said_with_it and as_memory(draft=draft, ruling=other).subject_id == subject:
            return other
    return None
