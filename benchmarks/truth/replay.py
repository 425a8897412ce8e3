"""Replay a conversation into the product: intake, worker and look-backs as they run, with the time of the talk."""

from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from apps.intake.accept import Submission, accept
from apps.intake.sessions import end_session
from apps.memories.live_ports import ConnectionReleasingModel
from apps.memories.models import Memory, MemoryLink
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import PostgresPlanWriter
from apps.outbox import leases
from apps.outbox.enqueue import stop_waiting
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Batching, LinkKind, LinkStatus, Role, Status, WorkState
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.turn import NewTurn
from apps.projects.services import configure
from apps.providers import registry
from apps.tenants.models import Project
from apps.worker.process_user import process_user
from apps.worker.run_now import renewed_lease
from benchmarks.truth.gold import Exchange, GoldConversation


@dataclass(slots=True)
class ConversationClock:
    """The time of the turn that is being processed."""

    moment: datetime

    def now(self) -> datetime:
        """Return it."""
        return self.moment


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A memory as the judge sees it."""

    id: UUID
    content: str
    status: str
    valid_until: datetime | None
    expires_at: datetime | None
    is_disputed: bool = False  # an open contradiction: whoever is told, is told that nobody knows

    def is_current(self, at: datetime) -> bool:
        """Return True if agents are told that it is true."""
        ends = [each for each in (self.valid_until, self.expires_at) if each is not None]
        return self.status == Status.ACTIVE and all(end > at for end in ends)


@dataclass(slots=True)
class Replayed:
    """What is known after each session, by the names of its turns, and in the end."""

    end_user_id: UUID
    project_id: UUID
    steps: list[tuple[tuple[str, ...], tuple[HeldMemory, ...]]] = field(default_factory=list)
    memories: tuple[HeldMemory, ...] = ()
    given_up: int = 0  # work that failed for good


def replay(
    conversation: GoldConversation, *, project: Project, model: Model | None, posted: Batching | None = None
) -> Replayed:
    """Post the exchanges of each session, do the work that they leave, and end the session.

    By default the turns of a session share model calls, as they do when an agent posts a whole session. With `posted`
    each exchange is posted by itself, a minute after the one before, under that policy of when the model is asked.
    """
    if posted is not None:
        configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy(batching=posted)))
    user = end_user_id(project_id=project.id, user_id=conversation.user_id)
    clock = ConversationClock(conversation.turns[0].said_at)
    ports = _ports(clock, model)
    replayed = Replayed(end_user_id=user, project_id=project.id)
    for session, group in groupby(conversation.exchanges, key=lambda exchange: exchange.session):
        exchanges = list(group)
        for exchange in exchanges:
            clock.moment = exchange.turns[-1].said_at
            accept(submission=_submission(exchange, conversation, project))
            if posted is not None:
                _work(user, ports)
        ended = session_id(end_user_id=user, session_id=session)
        stop_waiting(end_user_id=user, session_id=ended)
        _work(user, ports)
        turns = tuple(turn.id for exchange in exchanges for turn in exchange.turns)
        replayed.steps.append((turns, held_memories(user)))
        end_session(project_id=project.id, end_user_id=user, session_id=ended)
        _work(user, ports)
    # Nobody asks before what waits for a while is done, such as the questions of the last memories.
    OutboxRow.objects.filter(end_user_id=user, state=WorkState.PENDING).update(run_at=Now())
    _work(user, ports)
    replayed.memories = held_memories(user)
    replayed.given_up = OutboxRow.objects.filter(end_user_id=user, state=WorkState.DEAD).count()
    return replayed


def held_memories(end_user: UUID) -> tuple[HeldMemory, ...]:
    """Return all memories of an end user, oldest first."""
    links = MemoryLink.objects.filter(end_user_id=end_user, kind=LinkKind.CONTRADICTS, status=LinkStatus.OPEN)
    disputed = {side for pair in links.values_list("from_memory_id", "to_memory_id") for side in pair}
    rows = Memory.objects.filter(end_user_id=end_user).order_by("id")
    return tuple(
        HeldMemory(
            id=row.id,
            content=row.content,
            status=row.status,
            valid_until=row.valid_until,
            expires_at=row.expires_at,
            is_disputed=row.id in disputed,
        )
        for row in rows.only("id", "content", "status", "valid_until", "expires_at")
    )


def _ports(clock: ConversationClock, model: Model | None) -> Ports:
    return Ports(
        now=clock.now,
        new_id=new_id,
        embedder=registry.embedder(),
        memories=PostgresMemoryReader(),
        writer=PostgresPlanWriter(),
        model=ConnectionReleasingModel(model) if model else None,
        has_usual_model=model is not None,
    )


def _submission(exchange: Exchange, conversation: GoldConversation, project: Project) -> Submission:
    return Submission(
        project_id=project.id,
        api_key_id=None,
        user_id=conversation.user_id,
        session_id=exchange.session,
        turns=tuple(
            NewTurn(
                role=Role(turn.role),
                content=turn.text,
                speaker=turn.speaker,
                occurred_at=turn.said_at,
                external_id=turn.id,
                utc_offset=_minutes_east(turn.said_at),
            )
            for turn in exchange.turns
        ),
        metadata={"agent": exchange.agent} if exchange.agent else {},
    )


def _minutes_east(moment: datetime) -> int:
    offset = moment.utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0


def _work(user: UUID, ports: Ports) -> None:
    """Do what the user is owed and is due, the indexing of new memories too."""
    while claimed := leases.claim(limit=1, seconds=settings.WORK_LEASE_SECONDS, only=user):
        with renewed_lease(claimed[0]):
            process_user(lease=claimed[0], ports=ports)
