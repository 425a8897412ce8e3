"""Store memories directly: without extraction and similarity, but without duplicates and with one value per slot."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Conflict, Unfit
from apps.actions.get_or_create import actor_of, open_end_user, open_session
from apps.actions.memories.revise import MOST_TRIES
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import Status, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.memory_conversion import as_stored
from apps.pipeline.core.operations import AddEntity, AddMemory, EnqueueWork, FlagForReview, Operation
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.direct_write.conflicts import takes_slot
from apps.pipeline.direct_write.dedupe import DirectWriteSession, StoreResult, read_met
from apps.pipeline.direct_write.new_memory import EXTRACTOR, MAX_ENTITIES, NewMemory, add_memory, check_new
from apps.pipeline.direct_write.redaction import redacted_memory
from apps.pipeline.direct_write.trust import on_own_word
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.tenants.models import EndUser
from apps.traces.policies import active_policy

MOST_RETRACTED = 100


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Memories of one end user to store together."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    memories: tuple[NewMemory, ...]
    is_trusted: bool = True  # whether the caller's word counts like a person's
    person_id: int | None = None  # who stores them in the console, instead of a key
    extractor: str = EXTRACTOR  # of the memories of callers who are not trusted to name one
    may_replace: bool = True  # whether they may close or reword what is known; else a person decides


def store(*, request: StoreRequest) -> tuple[UUID, ...]:
    """Store memories in one transaction; return their identifiers in the order of the request.

    A statement that a live memory makes already is not stored again: the identifier is that of the known memory, and
    the more informative wording wins. Of the values of a stateful predicate the latest stays active. If the caller is
    not trusted, rules for agents and values that would replace what a user said or a person approved are stored for
    review. Entities are found by name or created. Sensitive data is replaced as the policy says.

    Raises BadInput and Unfit for values that contradict each other, Conflict if other writers change the same memories
    again and again; nothing is written then.
    """
    for index, new in enumerate(request.memories):
        check_new(new, at=f"/memories/{index}")
    if not request.is_trusted:
        limited = tuple(on_own_word(new, extractor=request.extractor) for new in request.memories)
        request = replace(request, memories=limited)
    policy = active_policy(project_id=request.project_id)
    memories = tuple(redacted_memory(new, policy=policy.redaction) for new in request.memories)
    request = replace(request, memories=memories)
    for _ in range(MOST_TRIES):
        try:
            return _store_once(request, policy)
        except StalePlan:
            continue
    raise Conflict("the memories are being changed by others; try again")


def _store_once(request: StoreRequest, policy: Policy) -> tuple[UUID, ...]:
    with transaction.atomic():
        end_user = open_end_user(project_id=request.project_id, user_id=request.user_id)
        names = dict.fromkeys(new.session_id for new in request.memories)
        sessions = {name: open_session(end_user=end_user, session_id=name) for name in names}  # before memories
        _check_successors(request.memories, end_user)
        reader, now = PostgresMemoryReader(), timezone.now()
        index = EntityIndex(entities=reader.entities(end_user_id=end_user.id, limit=MAX_ENTITIES), new_id=new_id)
        build = partial(add_memory, entity_index=index, policy=policy, now=now, is_trusted=request.is_trusted)
        added = [build(new, memory_id=new_id(), index=position) for position, new in enumerate(request.memories)]
        met = read_met([as_stored(each) for each in added], end_user_id=end_user.id, reader=reader)
        session = DirectWriteSession(
            known=met,
            policy=policy,
            is_trusted=request.is_trusted,
            may_replace=request.may_replace,
            retracted=() if request.is_trusted else _retracted_in_slots(added, end_user, reader),
        )
        stored = [session.settle(each) for each in added]
        _apply(request, end_user, [AddEntity(entity=entity) for entity in index.new_entities])
        for name, session_id in sessions.items():
            wanted = zip(request.memories, stored, strict=True)
            operations = [each for new, one in wanted if new.session_id == name for each in _operations(one)]
            _apply(request, end_user, operations, session_id=session_id)
        _apply(request, end_user, [*session.changes, *_indexing(stored)])  # the lease is locked after all memories
    return tuple(each.memory_id for each in stored)


def _retracted_in_slots(
    added: Sequence[AddMemory], end_user: EndUser, reader: PostgresMemoryReader
) -> tuple[StoredMemory, ...]:
    """Return retracted memories in the slots that new ones take."""
    taking = [each for each in map(as_stored, added) if takes_slot(each)]
    if not taking:
        return ()
    slots = reduce(or_, (Q(subject_id=each.subject_id, predicate=each.predicate) for each in taking))
    rows = Memory.objects.for_end_user(end_user.id).filter(slots, status=Status.RETRACTED).order_by("-id")
    return reader.several(end_user_id=end_user.id, ids=list(rows.values_list("id", flat=True)[:MOST_RETRACTED]))


def _check_successors(memories: Sequence[NewMemory], end_user: EndUser) -> None:
    """Raise Unfit for a `superseded_by` that is not a memory of the same end user."""
    named = {new.superseded_by for new in memories if new.superseded_by is not None}
    known = set(Memory.objects.for_end_user(end_user.id).filter(id__in=named).values_list("id", flat=True))
    for index, new in enumerate(memories):
        if new.superseded_by is not None and new.superseded_by not in known:
            raise Unfit("is no memory of this end user", at=f"/memories/{index}/superseded_by")


def _operations(result: StoreResult) -> Iterator[Operation]:
    if result.adds is None:
        return
    yield result.adds
    if result.asks is not None:
        yield FlagForReview(memory_id=result.memory_id, reason=result.asks)


def _indexing(results: Iterable[StoreResult]) -> Iterator[EnqueueWork]:
    for each in results:
        if each.adds is not None:
            yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=each.memory_id)


def _apply(
    request: StoreRequest, end_user: EndUser, operations: Sequence[Operation], *, session_id: UUID | None = None
) -> None:
    context = WriteContext(
        project_id=request.project_id,
        end_user_id=end_user.id,
        actor=actor_of(request.api_key_id, request.person_id),
        session_id=session_id,
        api_key_id=request.api_key_id,
    )
    apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
