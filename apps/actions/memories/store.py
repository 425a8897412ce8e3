"""Store memories directly: no extraction and no likeness, but nothing is known twice and a slot has one value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, Unfit
from apps.actions.get_or_create import actor_of, open_end_user, open_session
from apps.actions.memories.revise import MOST_TRIES
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.memory_conversion import as_stored
from apps.pipeline.core.operations import AddEntity, AddMemory, EnqueueWork, FlagForReview, Operation
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.direct_write.dedupe import DirectWriteSession, StoreResult, read_met
from apps.pipeline.direct_write.new_memory import MAX_ENTITIES, NewMemory, add_memory, check_new
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.tenants.models import EndUser
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Memories of one end user to store together."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    memories: tuple[NewMemory, ...]


def store(*, request: StoreRequest) -> tuple[UUID, ...]:
    """Store memories in one transaction; return, in the order of the request, the identifiers of those that say them.

    What a live memory says already isn't stored again: the wording that tells more wins. Of the values of a stateful
    predicate the one said last is left. Subjects and objects that are entities are found by name or made. Raises
    BadInput and Unfit for values that contradict each other, Conflict when others change the same memories again and
    again, having written nothing.
    """
    for index, new in enumerate(request.memories):
        check_new(new, at=f"/memories/{index}")
    policy = active_policy(project_id=request.project_id)
    for _ in range(MOST_TRIES):
        try:
            return _store_once(request, policy)
        except StalePlan:
            continue
    raise Conflict("the memories are being changed by others; try again")


def _store_once(request: StoreRequest, policy: Policy) -> tuple[UUID, ...]:
    with transaction.atomic():
        end_user = open_end_user(project_id=request.project_id, user_id=request.user_id)
        _check_heirs(request.memories, end_user)
        directory = _directory(end_user)
        added = _planned(request.memories, directory, policy)
        new = [as_stored(each) for each in added]
        met = read_met(new, end_user_id=end_user.id, reader=PostgresMemoryReader())
        session = DirectWriteSession(known=met, policy=policy)
        stored = [session.settle(each) for each in added]
        entities = tuple(AddEntity(entity=entity) for entity in directory.new_entities)
        _apply(request, end_user, entities, session_id="")
        for session_id in dict.fromkeys(new.session_id for new in request.memories):
            wanted = zip(request.memories, stored, strict=True)
            operations = [each for new, one in wanted if new.session_id == session_id for each in _operations(one)]
            _apply(request, end_user, operations, session_id=session_id)
        _apply(request, end_user, session.changes, session_id="")
        transaction.on_commit(wake_workers)
    return tuple(each.memory_id for each in stored)


def _check_heirs(memories: Sequence[NewMemory], end_user: EndUser) -> None:
    """Refuse a successor that is not a memory of the same end user."""
    named = {new.superseded_by for new in memories if new.superseded_by is not None}
    known = set(Memory.objects.for_end_user(end_user.id).filter(id__in=named).values_list("id", flat=True))
    for index, new in enumerate(memories):
        if new.superseded_by is not None and new.superseded_by not in known:
            raise Unfit("is no memory of this end user", at=f"/memories/{index}/superseded_by")


def _directory(end_user: EndUser) -> EntityIndex:
    known = PostgresMemoryReader().entities(end_user_id=end_user.id, limit=MAX_ENTITIES)
    return EntityIndex(entities=known, new_id=new_id)


def _planned(memories: Sequence[NewMemory], directory: EntityIndex, policy: Policy) -> list[AddMemory]:
    now = timezone.now()
    return [
        add_memory(new, memory_id=new_id(), index=index, directory=directory, policy=policy, now=now)
        for index, new in enumerate(memories)
    ]


def _operations(storing: StoreResult) -> Iterator[Operation]:
    if storing.adds is None:
        return
    yield storing.adds
    yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=storing.memory_id)
    if storing.asks is not None:
        yield FlagForReview(memory_id=storing.memory_id, reason=storing.asks)


def _apply(request: StoreRequest, end_user: EndUser, operations: Sequence[Operation], *, session_id: str) -> None:
    context = WriteContext(
        project_id=request.project_id,
        end_user_id=end_user.id,
        actor=actor_of(request.api_key_id),
        session_id=open_session(end_user=end_user, session_id=session_id),
        api_key_id=request.api_key_id,
    )
    apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
