"""Fill a project with a little of everything, as the admin meets it."""

from datetime import timedelta

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.utils import timezone

from apps.intake.accept import Submission, accept
from apps.memories.models import (
    EvaluationItem,
    EvaluationLabel,
    EvaluationSample,
    LedgerCheckpoint,
    Memory,
    MemoryComment,
    MemoryLink,
    Rollback,
    RollbackItem,
)
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.services.revising import retract
from apps.memories.writing.plan_writer import PostgresPlanWriter
from apps.outbox import leases
from apps.pipeline.core.enums import LabelValue, LinkKind, Role, RollbackState, SampleKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.turn import NewTurn
from apps.providers.fake import HashingEmbedder
from apps.tenants.enums import MemberRole
from apps.tenants.models import Erasure, Invitation, Membership, Project
from apps.traces.models import (
    IdempotentRequest,
    ModelCall,
    ModelTestCall,
    Replay,
    ReplayedState,
    ReplayedTrace,
    Trace,
)
from apps.traces.tallies import tally
from apps.worker.process_user import process_user
from tests.console.operation_rows import HOSTILE, add_import, add_operations

SAID = (
    "I live in Lisbon.",
    "My sister Marta lives in Porto.",
    "thanks!",
    "I like green tea.",
    f"My name is Rui {HOSTILE}.",
    "I moved to Braga last month, I live in Braga now.",
)


def do_all(project: Project) -> None:
    """Process all queued work in this connection."""
    ports = Ports(
        now=timezone.now,
        new_id=new_id,
        embedder=HashingEmbedder(),
        memories=PostgresMemoryReader(),
        writer=PostgresPlanWriter(),
    )
    for lease in leases.claim(limit=10, seconds=60):
        process_user(lease=lease, ports=ports)


def fill(project: Project) -> None:
    """Add at least one row to every table."""
    user, session = f"rui {HOSTILE}", f"monday {HOSTILE}"
    for text in SAID:
        turn = NewTurn(role=Role.USER, content=text, speaker=HOSTILE)
        accept(
            submission=Submission(
                project_id=project.pk,
                api_key_id=None,
                user_id=user,
                session_id=session,
                turns=(turn,),
                metadata={"note": HOSTILE},
            )
        )
    do_all(project)
    _add_the_rest(project)


def _add_the_rest(project: Project) -> None:
    """Add what the sample conversation does not contain."""
    first, second = Memory.objects.filter(project=project)[:2]
    retract(project_id=project.pk, memory_id=first.pk)
    # Triggers write these at a commit, which not every test comes to.
    MemoryLink.objects.create(
        end_user=first.end_user, project=project, from_memory=first, to_memory=second, kind=LinkKind.CONTRADICTS
    )
    LedgerCheckpoint.objects.create(project=project, number=1, hash="0" * 64)
    _add_calls(project)
    _add_people(project, first)
    _add_rollback(project, second)
    _add_comment(second)
    add_operations(project)
    _add_replay(project)
    add_import(project)
    _evaluate(second)
    tally(settled_after=timedelta())


def _add_calls(project: Project) -> None:
    """Add a call of a model, and the answer to a request that may be repeated."""
    trace = Trace.objects.filter(project=project).latest("created_at")
    ModelCall.objects.create(
        end_user=trace.end_user, trace=trace, purpose="extract", model=HOSTILE, request_hash="0", prompt_version="1"
    )
    ModelTestCall.objects.create(project=project, model=HOSTILE, error=HOSTILE)
    IdempotentRequest.objects.create(
        project=project, key=HOSTILE, fingerprint="0", answer_status=200, answer={"a": HOSTILE}
    )


def _add_people(project: Project, memory: Memory) -> None:
    """Add a member with a second factor, and an erasure."""
    member = User.objects.create(username="member")
    Membership.objects.create(project=project, user=member, role=MemberRole.REVIEWER)
    Invitation.objects.create(
        project=project, role=MemberRole.VIEWER, invited_by=member, token_hash="0" * 64, expires_at=timezone.now()
    )
    Authenticator.objects.create(user=member, type=Authenticator.Type.TOTP, data={"secret": "A" * 32})
    Erasure.objects.create(
        project=project, end_user=memory.end_user, user_hash="0" * 64, actor="person:1", finished_at=timezone.now()
    )


def _add_comment(memory: Memory) -> None:
    author = f"person:{User.objects.get(username='member').pk}"
    MemoryComment.objects.create(end_user=memory.end_user, memory=memory, author=author, text=HOSTILE)


def _add_rollback(project: Project, left: Memory) -> None:
    """Add a rollback that left a memory alone."""
    rollback = Rollback.objects.create(
        project=project,
        selection={"end_user_id": str(left.end_user_id)},
        note=HOSTILE,
        state=RollbackState.DONE,
        actor="person:1",
        counts={"users": 1, "traces": 1, "memories_retracted": 2},
    )
    left_alone = [{"memory_id": str(left.pk), "reason": "edited", "can_be_forced": True, "trace_id": None}]
    RollbackItem.objects.create(
        end_user=left.end_user, rollback=rollback, state=RollbackState.DONE, left_alone=left_alone, error=HOSTILE
    )


def _add_replay(project: Project) -> None:
    """Add a replay with one trace that differs."""
    trace = Trace.objects.filter(project=project).latest("created_at")
    replay = Replay.objects.create(project=project, error=HOSTILE, choice={"user_id": HOSTILE}, traces_total=1)
    change = {"kind": "added", "operation": "AddMemory", "object_id": str(new_id()), "content": HOSTILE}
    diff = {"operations": [{**change, "before_content": HOSTILE, "fields": []}], "turns": [], "discards": []}
    ReplayedTrace.objects.create(
        replay=replay, end_user=trace.end_user, trace=trace, state=ReplayedState.DIFFERENT, error=HOSTILE, diff=diff
    )


def _evaluate(memory: Memory) -> None:
    """Add a sample with one labelled memory."""
    now, week = timezone.now(), timedelta(days=7)
    sample = EvaluationSample.objects.create(
        project=memory.project,
        kind=SampleKind.MEMORY,
        week=now.date(),
        since=now - week,
        until=now,
        seed=1,
        population=5,
        actor="system",
    )
    item = EvaluationItem.objects.create(
        end_user=memory.end_user, sample=sample, position=0, memory=memory, memory_type=memory.type, model=HOSTILE
    )
    EvaluationLabel.objects.create(
        end_user=memory.end_user, item=item, labeller="person:1000001", value=LabelValue.GOOD, remembered_id=new_id()
    )
