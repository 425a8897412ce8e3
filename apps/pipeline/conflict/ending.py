"""Which known memories a model closes: those that are over without a new one, and notes that it has read."""

from dataclasses import replace
from uuid import UUID

from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import BINDING_TAGS, Polarity, Reason, Role, Status
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.pipeline.core.statement import PLAIN, Candidate, StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.deduplication.proposals import MOST_REPLACED
from apps.pipeline.lexicon.tables import FRAME
from apps.pipeline.lexicon.word_stems import stems
from apps.pipeline.provenance.own_words import words_of

_MOST_CONTENT = 1_000  # characters
_COMMON = stems(" ".join(FRAME))


def with_ended(draft: Draft, ports: Ports) -> Draft:
    """Return a draft with the memories that end by what the user said; they keep their words and their history.

    Models mix up ids, so an id alone closes nothing: the user's own words must name something of the memory. What must
    never be lost by a mistake, health and rules for agents, has to be named by its value; otherwise it stays as it is,
    beside a statement of its end that waits for a person.
    """
    asked = {each.memory_id: each.on for each in draft.asked_to_end}
    # An answer to several requests belongs to the last one, and may end what the user has said before it.
    turns = [each for each in draft.request.session_turns if each.role is Role.USER]
    if not asked or len(asked) > MOST_REPLACED or not turns:
        return draft
    own = stems(" ".join(segment for turn in turns for segment in words_of(turn).segments()))
    last = max(turns, key=lambda each: each.said_at)
    held = ports.memories.holders(
        end_user_id=draft.request.origin.end_user_id, slots=(), ids=tuple(asked), private_to=draft.private_to
    )
    ended, doubtful = [], []
    for each in (each for each in held if each.said_at <= last.said_at):
        is_critical = each.predicate in HEALTH_PREDICATES or not BINDING_TAGS.isdisjoint(each.tags)
        value = stems(each.object_text)
        names_value = bool(value) and value <= own
        if names_value if is_critical else not own.isdisjoint(stems(each.content) - _COMMON):
            ended.append(each)
        elif is_critical:
            doubtful.append(each)
    ends = {each.id: max(asked[each.id] or last.said_at, each.valid_from or each.said_at) for each in ended}
    taken = [each.candidate.index for each in draft.rulings]
    first = 1 + max((*taken, *(each.candidate.index for each in draft.drops if each.candidate)), default=-1)
    doubts = [
        _end_to_review(each, turn=last, index=first + place, memory_id=ports.new_id())
        for place, each in enumerate(doubtful)
    ]
    return draft.evolve(
        ended=tuple(replace(each, valid_until=ends[each.id]) for each in ended),
        rulings=(*draft.rulings, *doubts),
        details={**draft.details, "ended": len(ended), "ends_to_review": len(doubts)},
    )


def _end_to_review(memory: StoredMemory, *, turn: SourceTurn, index: int, memory_id: UUID) -> Ruling:
    """Return the statement that a memory is over, which contradicts it and waits for review."""
    fields = memory.statement_fields() | {
        "content": f"This is over: {memory.content}"[:_MOST_CONTENT],
        "evidence": turn.content[:_MOST_CONTENT],
        "polarity": Polarity.NEGATIVE,
        "stateful": False,
        "tags": (),
    }
    candidate = Candidate(**fields, index=index, source_turn_ids=(turn.id,))
    return Ruling(
        candidate=candidate,
        memory_id=memory_id,
        review_reasons=(Reason.PROPOSAL_REFUSED,),
        contradicts=(memory,),
        flags=(Reason.CONTRADICTION,),
        rule="end_to_review",
        hash_salted=True,
    )


def with_replaced_notes(draft: Draft, ports: Ports) -> Draft:
    """Return a draft whose rulings close the notes of their messages, each note once.

    A note stays as long as agents see none of the statements that a model has read from its message.
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
        known = ruling.merge_into
        waits = ruling.needs_review if known is None else known.status is Status.PENDING_REVIEW and not ruling.promotes
        is_by_model = not ruling.candidate.extractor.startswith(PLAIN)
        closed = [left.pop(note) for note in sorted(quoting & left.keys())] if is_by_model and not waits else []
        rulings.append(ruling.evolve(supersedes=(*ruling.supersedes, *closed)))
    details = {**draft.details, "replaced_notes": len(held) - len(left)}
    return draft.evolve(rulings=tuple(rulings), details=details)
