"""Revise memories: other words, values, status and dates; retract them; one, or several at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.common.errors import Conflict, NotAllowed, NotFound, Refused, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.codec import read_columns, read_statement, write_columns
from apps.memories.ledger.actor import current_actor
from apps.memories.models import Memory, MemoryOrigin
from apps.memories.querysets import NOT_SHOWN, MemoryQuerySet
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.pipeline.conflict.slots import duplicate_of, in_slot, takes_slot
from apps.pipeline.core.canonical import canonical_hash, canonical_text, salted_hash
from apps.pipeline.core.confidence import with_value
from apps.pipeline.core.enums import LIVE_STATUSES, EntityType, Status, WorkKind
from apps.pipeline.core.identifiers import Prefix, new_id, show
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.operations import AddEntity, EnqueueWork, Operation, ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Slot, StalePlan
from apps.pipeline.core.statement import Mention, ObjectValue, Statement
from apps.pipeline.direct_write.new_memory import MAX_ENTITIES, redacted_changes, resolved_object
from apps.pipeline.direct_write.trust import MemoryFacts, binds_agents, needs_trust
from apps.pipeline.redaction.redact import redact
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.pipeline.review.decisions import approval
from apps.traces.get_or_create import hold_end_user
from apps.traces.policies import active_policy


def with_triple(memory: Memory, changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[AddEntity]]:
    """Add the changes of the triple to those of a sentence; also return the entities that the triple adds.

    `object` is an ObjectValue given by a caller, `value` a text entered by a person; without either, the triple is
    derived from the sentence. Raises Unfit if the sentence does not contain the given value.
    """
    others = {name: value for name, value in changes.items() if name not in ("content", "object", "value")}
    statement = read_statement(memory)
    content = changes.get("content", memory.content)
    given = _given(memory, changes)
    if given is None and content == memory.content:
        return others, []
    if given is not None and given.text and not memory.predicate:
        raise Unfit("a value needs a predicate, which the memory does not have", at="/object")
    if given is not None and given.text and disagrees(statement, content=content, value=given):
        raise Unfit(f"the sentence does not contain the value “{given.text}”", at="/object")
    index = EntityIndex(
        entities=PostgresMemoryReader().entities(end_user_id=memory.end_user_id, limit=MAX_ENTITIES), new_id=new_id
    )
    mention = statement.object.entity
    known = index.find(mention.entity_id) if mention else None
    if mention is not None and known is not None:  # the statement lacks the type of its object
        typed = Mention(mention.text, known.type, entity_id=known.id)
        statement = statement.evolve(object=ObjectValue(entity=typed))
    edited = _edited(statement, content=content, given=given)
    if edited.object.entity is not None and edited.object.entity.entity_id is None:
        edited = edited.evolve(object=resolved_object(edited.object, index))
    names = ("type", "predicate", "object", "content", "polarity", "stateful")
    columns = write_columns({name: getattr(edited, name) for name in names})
    changed = {name: value for name, value in columns.items() if getattr(memory, name) != value}
    if changed:
        changed["canonical_hash"] = canonical_hash(edited)
    return others | changed, [AddEntity(entity=each) for each in index.new_entities]


def _given(memory: Memory, changes: Mapping[str, Any]) -> ObjectValue | None:
    """Return the object that the changes set; None if the value stays the same."""
    if "object" in changes:
        return changes["object"] or ObjectValue()
    value = " ".join(str(changes.get("value", memory.object_text)).split())
    if value == memory.object_text:
        return None
    if "entity" in memory.object and value:
        return ObjectValue(entity=Mention(text=value))
    return ObjectValue(literal=value or None)


def _edited(statement: Statement, *, content: str, given: ObjectValue | None) -> Statement:
    if given is None:
        return reworded(statement, content=content)
    mention, former = given.entity, statement.object.entity
    if mention is not None and mention.type in (None, EntityType.OTHER) and former is not None:
        given = ObjectValue(entity=Mention(mention.text, former.type))
    return statement.evolve(content=content, object=given)


def reworded(statement: Statement, *, content: str) -> Statement:
    """Return a statement with another sentence and the triple of that sentence.

    If only the words of the old object were replaced, the new words are the object. Otherwise the object is empty,
    because a stale value would be worse than none. An object that is an entity is returned as a mention to be resolved.
    """
    if canonical_text(content) == canonical_text(statement.content):
        return statement.evolve(content=content)
    sentence, old, words = statement.content, statement.object_text, ""
    start = sentence.find(old) if old else -1
    while start >= 0 and not words:
        before, after = sentence[:start], sentence[start + len(old) :]
        found = content[len(before) : len(content) - len(after.rstrip(" .!"))].strip(" .!")
        is_same_otherwise = content.startswith(before) and content.rstrip(" .!").endswith(after.rstrip(" .!"))
        if is_same_otherwise and canonical_text(found) and not _contains(found, old):
            words = found
        start = sentence.find(old, start + 1)
    former = statement.object.entity
    if former is not None and words:
        return statement.evolve(content=content, object=ObjectValue(entity=Mention(text=words, type=former.type)))
    return statement.evolve(content=content, object=ObjectValue(literal=words or None))


def disagrees(statement: Statement, *, content: str, value: ObjectValue) -> bool:
    """Return True if a sentence does not contain the value that is given for it.

    A value that the old sentence did not contain either is written in another form and can't be compared.
    """
    was_contained = _contains(statement.content, statement.object_text)
    return was_contained and not all(_contains(content, each) for each in value.items or (value.text,))


def _contains(sentence: str, words: str) -> bool:
    return f" {canonical_text(words)} ".replace("  ", " ") in f" {canonical_text(sentence)} "


def settle_change(
    *, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = (), replaces: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[Operation]]:
    """Return the changes of a memory with a hash of its own, and the operations that close the values it replaces.

    A memory that becomes active while another value was said later becomes superseded instead. `apart_from` are
    memories that the same decision removes, `replaces` those that are closed whatever slot they hold. Call it in a
    transaction: it locks out other direct writes of the end user. Raises Conflict if a live memory says the same
    already, NotFound for a memory that was deleted meanwhile.
    """
    status = changes.get("status", memory.status)
    is_compared = status in LIVE_STATUSES and (memory.status not in LIVE_STATUSES or "canonical_hash" in changes)
    is_placed = status == Status.ACTIVE and not changes.keys().isdisjoint(("status", "predicate"))
    if not (is_compared or is_placed):
        return changes, []
    hold_end_user(memory.end_user_id)
    reader, user_id, agent = PostgresMemoryReader(), memory.end_user_id, memory.private_to
    try:
        changed = reader.one(end_user_id=user_id, memory_id=memory.pk)
    except LookupError as deleted:
        raise NotFound("there is no such memory") from deleted
    changed = replace(changed, **read_columns(changes))
    if is_compared:
        found = reader.duplicates(
            end_user_id=user_id, hashes=[changed.canonical_hash], contents=[changed.content], private_to=agent
        )
        others = [each for each in found if each.id != memory.pk and each.id not in apart_from]
        if duplicate := duplicate_of(changed, others):
            raise Conflict(f"{show(Prefix.MEMORY, duplicate.id)} says the same already")
        is_taken = any(each.canonical_hash == changed.canonical_hash for each in others)
        free = salted_hash(changed.canonical_hash, memory_id=memory.pk) if is_taken else changed.canonical_hash
        changes = {**changes, "canonical_hash": free}
    if not is_placed or not (takes_slot(changed) or replaces):
        return changes, []
    slot = [Slot(subject_id=changed.subject_id, predicate=changed.predicate)] if changed.subject_id else []
    holders = reader.holders(end_user_id=user_id, slots=slot, ids=list(replaces), private_to=agent)
    others = [each for each in holders if each.id not in apart_from]
    settled, closed = in_slot(changed, changes, live=others, replaces=replaces)
    return settled, [*closed]


MOST_TRIES = 3
_Done = TypeVar("_Done")
_CLOSED = frozenset({Status.RETRACTED, Status.MERGED})
APPROVED = "approved"

# The history and the ledger contain the verb.
_VERBS: dict[tuple[Status, Status], str] = {
    (Status.PENDING_REVIEW, Status.ACTIVE): APPROVED,
    (Status.PENDING_REVIEW, Status.REJECTED): "rejected",
    (Status.ACTIVE, Status.ARCHIVED): "archived",
    (Status.ARCHIVED, Status.ACTIVE): "restored",
    (Status.REJECTED, Status.PENDING_REVIEW): "reopened",
    (Status.RETRACTED, Status.PENDING_REVIEW): "reopened",
}


@dataclass(frozen=True, slots=True)
class Revision:
    """New values for a memory; `expected_version` is the version that the caller has seen, None for any.

    Besides columns, `changes` may contain the object of the triple: `object` (an ObjectValue) or `value` (its text).
    """

    project_id: UUID
    memory_id: UUID
    changes: Mapping[str, Any]
    expected_version: int | None = None
    may_review: bool = False  # whether the caller may change the status
    is_trusted: bool = True  # whether the caller's word counts like a person's
    restores: bool = False  # whether a retracted memory may be changed: a person takes it back for review
    note: str = ""  # the reason, for the ledger
    replaces: frozenset[UUID] = frozenset()  # memories that this one replaces once it is active
    as_uncertain: bool = False  # it is approved as something that may be true, and replaces nothing


def revise(*, revision: Revision) -> None:
    """Apply a revision in one transaction, its texts redacted as the policy says; equal values change nothing.

    Raises NotFound, Conflict for another version than expected and for a retracted or merged memory (except where
    it restores a retracted one), NotAllowed for a change of status without the right to review or one that takes
    trust, Unfit for values that contradict each other.
    """
    policy = active_policy(project_id=revision.project_id).redaction
    changes = redacted_changes(revision.changes, policy=policy)
    revision = replace(revision, changes=changes, note=redact(revision.note, policy=policy).text)
    retried(partial(_revise_once, revision))


def retried(act: Callable[[], _Done]) -> _Done:
    """Act again, on what others have written meanwhile, where a plan was stale. Raises Conflict after MOST_TRIES."""
    for _ in range(MOST_TRIES):
        try:
            return act()
        except StalePlan:
            continue
    raise Conflict("the same memories are being changed by others; try again")


def _revise_once(revision: Revision) -> None:
    memory = _find_at(revision.expected_version, project_id=revision.project_id, memory_id=revision.memory_id)
    if memory.status in _CLOSED and not (revision.restores and memory.status == Status.RETRACTED):
        raise Conflict(f"the memory is {memory.status}")
    changes, entities = with_triple(memory, revision.changes)
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if not changes:
        return
    verb = _verb(memory, changes, revision)
    if not revision.is_trusted:
        check_trust(memory, changes)
    begins: datetime = changes.get("valid_from", memory.valid_from)
    ends: datetime | None = changes.get("valid_until", memory.valid_until)
    if ends is not None and ends < begins:
        raise Unfit("must not lie before valid_from", at="/valid_until")
    if ends is None and memory.status == Status.SUPERSEDED:
        raise Unfit("is needed: what is superseded has ended", at="/valid_until")
    live = Memory.objects.for_end_user(memory.end_user_id).live().exclude(pk=memory.pk)
    if live.filter(id__in=revision.replaces).count() != len(revision.replaces):
        raise NotFound("there is no such memory to replace")
    with transaction.atomic():
        operations = [*entities, *_operations(memory, changes, verb=verb, revision=revision)]
        apply_operations(operations, project_id=memory.project_id, end_user_id=memory.end_user_id)


def _operations(memory: Memory, changes: dict[str, Any], *, verb: str, revision: Revision) -> list[Operation]:
    """Return the revision, the closing of the values that it replaces, and the indexing of a new wording.

    Call it in a transaction: it locks out other direct writes of the end user, and reads the live memories then.
    """
    dependent: dict[str, Any] = {}
    if verb == APPROVED:
        policy = active_policy(project_id=memory.project_id).confidence
        dependent = approval(memory, policy=policy, as_uncertain=revision.as_uncertain)
    if "confidence" in changes:
        parts = dependent.get("confidence_parts", memory.confidence_parts)
        dependent["confidence_parts"] = with_value(parts, value=changes["confidence"]).parts()
    if changes.get("status") in (Status.ACTIVE, Status.SUPERSEDED):
        dependent["review_reasons"] = []
    changes = {**dependent, **changes}
    closing: list[Operation] = []
    if not revision.as_uncertain:
        changes, closing = settle_change(memory=memory, changes=changes, replaces=revision.replaces)
    revised = ReviseMemory(
        memory_id=memory.id, expected_version=memory.version, verb=verb, changes=changes, note=revision.note
    )
    is_reworded = not changes.keys().isdisjoint(("content", "predicate", "object_text"))
    indexing = [EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.id)] if is_reworded else []
    return [revised, *closing, *indexing]


def find_memory(*, project_id: UUID, memory_id: UUID) -> Memory:
    """Return a memory of the project. Raises NotFound."""
    memories = Memory.objects.for_project(project_id).defer(*NOT_SHOWN)
    return get_or_refuse(memories.filter(id=memory_id), "memory")


def _find_at(version: int | None, *, project_id: UUID, memory_id: UUID) -> Memory:
    """Return a memory that is at a version, or at any. Raises NotFound and Conflict."""
    memory = find_memory(project_id=project_id, memory_id=memory_id)
    if version not in (None, memory.version):
        raise Conflict(f"the memory is at version {memory.version}")
    return memory


def apply_operations(operations: Sequence[Operation], *, project_id: UUID, end_user_id: UUID) -> None:
    """Apply operations of the current actor for one end user. Raises StalePlan."""
    context = WriteContext(project_id, end_user_id, actor=current_actor())
    apply_plan(plan=WritePlan(tuple(operations)), context=context)


def apply_decision(*, project_id: UUID, end_user_id: UUID, operations: Sequence[Operation]) -> None:
    """Apply operations as above. Raises Conflict if another writer was faster."""
    try:
        apply_operations(operations, project_id=project_id, end_user_id=end_user_id)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale


def _verb(memory: Memory, changes: Mapping[str, Any], revision: Revision) -> str:
    if "status" not in changes:
        return "revised"
    if not revision.may_review:
        raise NotAllowed("changing the status needs the scope admin")
    verb = _VERBS.get((Status(memory.status), changes["status"]))  # only the funnel supersedes
    if verb is None:
        raise Unfit(f"can't follow {memory.status}", at="/status")
    return verb


def check_trust(memory: Memory, changes: Mapping[str, Any]) -> None:
    """Raise NotAllowed for a change that takes the scope trust."""
    origins = MemoryOrigin.objects.standing().filter(end_user_id=memory.end_user_id, memory=memory)
    facts = MemoryFacts(
        confidence=memory.confidence,
        tags=tuple(memory.tags),
        is_vouched_for=bool(memory.confidence_parts.get("review")) or origins.exists(),
    )
    if field := needs_trust(facts, changes, now=timezone.now()):
        raise NotAllowed(f"this change of {field} needs the scope trust; what the user says is sent as a turn")


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The memory that an item has stored or changed, or the error because of which nothing was done for it."""

    memory_id: UUID | None
    error: Exception | None = None


def outcome_of(memory_id: UUID, act: Callable[[], None]) -> BulkOutcome:
    """Do something with a memory; what refuses it is kept with the memory."""
    try:
        act()
    except (Refused, BadInput) as error:
        return BulkOutcome(memory_id, error)
    return BulkOutcome(memory_id)


def retract(*, project_id: UUID, memory_id: UUID, expected_version: int | None = None, is_trusted: bool = True) -> None:
    """Retract a memory; repeating it changes nothing.

    Raises NotFound, Conflict, NotAllowed for a rule for agents and a caller that is not trusted.
    """

    def retract_once() -> None:
        memory = _find_at(expected_version, project_id=project_id, memory_id=memory_id)
        if memory.status == Status.RETRACTED:
            return
        if binds_agents(memory.tags) and not is_trusted:
            raise NotAllowed("retracting a rule for agents needs the scope trust")
        apply_operations([_retraction(memory)], project_id=project_id, end_user_id=memory.end_user_id)

    retried(retract_once)


def _retraction(memory: Memory) -> ReviseMemory:
    return ReviseMemory(memory.id, memory.version, verb="retracted", changes={"status": Status.RETRACTED})


# Memories of a transaction, which takes some tenths of a second: other writers of the end user wait so long.
BATCH = 250


def retract_several(*, project_id: UUID, memories: MemoryQuerySet, is_trusted: bool) -> list[BulkOutcome]:
    """Retract memories, newest first; return what became of each, in the order of their identifiers.

    Those that are stored in the meantime are left alone. Those that the caller may not retract, and all of an end user
    in a batch if another writer has changed one of them meanwhile, are tried one by one.
    """
    outcomes: list[BulkOutcome] = []
    retract_one = partial(retract, project_id=project_id, is_trusted=is_trusted)
    rows = memories.select_related(None).order_by("-id").only("id", "end_user_id", "version", "tags")
    batch = list(rows[:BATCH])
    while batch:
        for end_user_id, group in groupby(sorted(batch, key=attrgetter("end_user_id")), attrgetter("end_user_id")):
            of_user = list(group)
            left = [each for each in of_user if not is_trusted and binds_agents(each.tags)]
            allowed = [_retraction(each) for each in of_user if each not in left]
            try:
                apply_operations(allowed, project_id=project_id, end_user_id=end_user_id)
                outcomes += [BulkOutcome(each.memory_id) for each in allowed]
            except StalePlan:
                left = of_user
            outcomes += [outcome_of(each.pk, partial(retract_one, memory_id=each.pk)) for each in left]
        batch = list(rows.filter(id__lt=batch[-1].pk)[:BATCH])
    return sorted(outcomes, key=lambda each: str(each.memory_id))
