"""List, export and erase end users, and which tables hold their data."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_q.models import Task

from apps.alerts.models import Alert
from apps.common.rows import get_or_refuse
from apps.events.enums import EventType
from apps.events.models import ProjectEvent, WebhookDelivery
from apps.events.record import record_event
from apps.imports.services import forget_user, lock_imports
from apps.items.models import StoredItem
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    EvaluationItem,
    EvaluationLabel,
    LedgerEntry,
    Memory,
    MemoryComment,
    MemoryLink,
    MemoryOrigin,
    MemoryVector,
    MemoryVersion,
    Rollback,
    RollbackItem,
)
from apps.memories.write_conflicts import stale_on_write_conflict
from apps.outbox.enqueue import queue_task
from apps.outbox.leases import revoke
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core import identifiers
from apps.pipeline.core.enums import LIVE_STATUSES, values_of
from apps.pipeline.core.ports import StalePlan
from apps.tenants.models import EndUser, Erasure
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import (
    IdempotentRequest,
    ModelCall,
    Replay,
    ReplayedTrace,
    Session,
    Span,
    Trace,
    Turn,
)


@dataclass(frozen=True, slots=True)
class UserTable:
    """A table whose rows are erased with their end user.

    `self_reference` is the column by which rows refer to rows of the same table. Columns `not_exported` are derived
    from others, or mean nothing outside of the database.
    """

    model: type[Model]
    name: str  # in receipts and exports
    self_reference: str = ""
    is_exported: bool = True
    not_exported: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        """Return the columns that an export contains."""
        own = (field.attname for field in self.model._meta.concrete_fields if not field.generated)
        return [column for column in own if column not in self.not_exported | {"end_user_id", "project_id"}]


# Rows are deleted in this order: a row before those that it refers to.
USER_TABLES: tuple[UserTable, ...] = (
    UserTable(WebhookDelivery, "webhook_deliveries", is_exported=False),
    UserTable(ProjectEvent, "events", is_exported=False),
    UserTable(OutboxRow, "work", not_exported=frozenset({"run_at", "waiting_since"})),
    UserTable(IdempotentRequest, "idempotent_answers", is_exported=False),
    UserTable(EvaluationLabel, "evaluation_labels"),
    UserTable(EvaluationItem, "evaluation_items"),
    UserTable(MemoryComment, "memory_comments"),
    UserTable(MemoryOrigin, "memory_origins"),
    UserTable(MemoryVersion, "memory_versions"),
    UserTable(MemoryLink, "memory_links"),
    UserTable(
        MemoryVector, "memory_vectors", not_exported=frozenset({"embedding", "question_embeddings", "question_terms"})
    ),
    UserTable(
        Memory,
        "memories",
        self_reference="superseded_by_id",
        not_exported=frozenset({"canonical_hash", "tongue"}),
    ),
    UserTable(EntityAlias, "entity_aliases"),
    UserTable(EntityChange, "entity_changes"),
    UserTable(Entity, "entities", self_reference="merged_into_id"),
    UserTable(ReplayedTrace, "replayed_traces"),
    UserTable(ModelCall, "model_calls"),
    UserTable(Span, "spans"),
    UserTable(Turn, "turns", not_exported=frozenset({"hit_counted"})),
    UserTable(Trace, "traces"),
    UserTable(Session, "sessions"),
    UserTable(RollbackItem, "rollbacks"),
    UserTable(StoredItem, "items", not_exported=frozenset({"words"})),
    UserTable(UserLease, "leases", is_exported=False),
)

# What stays, and why. None of it contains a word of the end user.
KEPT: dict[type[Model], str] = {
    LedgerEntry: "identifiers of what was done by whom; the ledger is append-only",
    Erasure: "the receipt",
}


def list_users(*, project_id: UUID) -> QuerySet[EndUser]:
    """Return the end users that were not erased, annotated with live_memories, session_count and turn_count."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES)).order_by()
    sessions = Session.objects.filter(end_user=OuterRef("pk")).order_by().values("end_user")
    return (
        EndUser.objects.for_project(project_id)
        .present()
        .annotate(
            live_memories=Coalesce(Subquery(live.values("end_user").annotate(rows=Count("pk")).values("rows")), 0),
            session_count=Coalesce(Subquery(sessions.annotate(rows=Count("pk")).values("rows")), 0),
            turn_count=Coalesce(Subquery(sessions.annotate(total=Sum("turn_count")).values("total")), 0),
        )
    )


LEAST_CHARACTERS = 3  # of a user_id that is looked for in texts: a shorter one is found in words that mean others


def clear_notes(*, project_id: UUID, end_user_id: UUID, user_id: str) -> None:
    """Empty the notes of rollbacks that concern the user, and all notes that hold the user_id.

    Must run while the rollbacks still refer to the user. A note that tells of the user in other words is not found.
    """
    rollbacks = Rollback.objects.filter(project_id=project_id).exclude(note="")
    concerned = list(RollbackItem.objects.filter(end_user_id=end_user_id).values_list("rollback_id", flat=True))
    rollbacks.filter(id__in=concerned).update(note="")
    if len(user_id) >= LEAST_CHARACTERS:
        rollbacks.filter(note__icontains=user_id).update(note="")
        Alert.objects.for_project(project_id).filter(note__icontains=user_id).update(note="")


END = "end"  # the kind of the last line


def export_user(*, project_id: UUID, user_id: str) -> Iterator[bytes]:
    """Yield one line per row, first the end user's own, then one of the kind `end`. Raises NotFound before the first.

    `kind` names the table; a column of this name is `row_kind`. Vectors and other values that are computed from these
    are left out. What is written while the export runs may be missing; a file without the last line is not complete.
    """
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=derived), transaction.atomic():
        user = get_or_refuse(EndUser.objects.for_project(project_id).present().filter(id=derived), "end user")
        record("exported", "end_user", user.id, project_id=project_id, end_user_id=user.id)
    return _lines(user)


def _lines(user: EndUser) -> Iterator[bytes]:
    yield _line("end_user", {"id": user.id, "user_id": user.external_id, "created_at": user.created_at})
    for table in USER_TABLES:
        if table.is_exported:
            rows = table.model._default_manager.filter(end_user_id=user.id).order_by("pk").values(*table.columns)
            for row in streamed_rows(rows, project_id=user.project_id, end_user_id=user.id):
                yield _line(table.name, row)
    yield _line(END, {})


def _line(kind: str, values: dict[str, Any]) -> bytes:
    named = {"row_kind" if name == "kind" else name: value for name, value in values.items()}
    return msgspec.json.encode({"kind": kind, **named}) + b"\n"


WAIT = timedelta(seconds=2)  # how long a caller waits before the rest is left to a worker


def erase_user(*, project_id: UUID, user_id: str, wait: timedelta = WAIT) -> Erasure:
    """Start to erase an end user and return the receipt; it is finished if that took no longer than `wait`.

    From the first commit on, nothing can be written about the user until the erasure is finished. A worker goes on
    where this process stops or is killed. Asking again while it runs returns the same receipt. Raises NotFound.
    """
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=derived):
        with transaction.atomic():
            lock_imports(project_id=project_id)
            # This lock conflicts with the one of every writer, see apps/tenants/end_users.py.
            users = EndUser.objects.select_for_update().filter(project_id=project_id, erased_at__isnull=True)
            user = get_or_refuse(users.filter(id=derived), "end user")
            if user.erasing_since is not None:
                erasure = Erasure.objects.get(end_user=user, finished_at__isnull=True)
            else:
                clear_notes(project_id=project_id, end_user_id=user.id, user_id=user_id)
                forget_user(project_id=project_id, end_user_id=user.id, user_id=user_id)
                user.external_id, user.erasing_since = "", timezone.now()
                user.save(update_fields=["external_id", "erasing_since"])
                erasure = Erasure.objects.create(
                    project_id=project_id,
                    end_user=user,
                    user_hash=user_hash(project_id=project_id, user_id=user_id),
                    actor=current_actor(),
                )
                record(
                    "erasure_started",
                    "end_user",
                    user.id,
                    project_id=project_id,
                    end_user_id=user.id,
                    details={"erasure": str(erasure.id)},
                )
        if not run_erasure(erasure_id=erasure.id, most=wait):
            transaction.on_commit(lambda: queue_task("continue_erasures", group="erase"))
        erasure.refresh_from_db()
    return erasure


def user_hash(*, project_id: UUID, user_id: str) -> str:
    """Return the keyed hash of a user_id (HMAC-SHA256 with SECRET_KEY), which identifies a receipt."""
    return salted_hmac(f"erasure:{project_id}", user_id, algorithm="sha256").hexdigest()


BATCH_ROWS = 1_000  # per transaction, so that none holds its locks for long


def run_erasure(*, erasure_id: UUID, most: timedelta) -> bool:
    """Delete rows batch by batch; return True once nothing is left and the receipt is finished.

    Each batch commits together with its counts, so an interrupted erasure can continue. Two processes that run
    the same erasure take turns. A batch that was the victim of a deadlock is repeated.
    """
    deadline = time.monotonic() + most.total_seconds()
    revoke(end_user_id=Erasure.objects.values_list("end_user_id", flat=True).get(id=erasure_id))
    tables: Sequence[UserTable] = USER_TABLES
    while Erasure.objects.filter(id=erasure_id, finished_at__isnull=True).exists():
        if time.monotonic() >= deadline:
            return False
        # The tables of a batch are in another order than the locks of a writer that began before the erasure did.
        with suppress(StalePlan), stale_on_write_conflict():
            tables = run_batch(erasure_id, tables)
    return True


def continue_erasures(*, most: timedelta) -> int:
    """Go on with unfinished erasures, oldest first; return how many are finished now."""
    deadline = time.monotonic() + most.total_seconds()
    finished = 0
    with system_scope(SystemWork.SCHEDULE):
        unfinished = list(Erasure.objects.filter(finished_at__isnull=True).order_by("id"))
    for erasure in unfinished:
        with tenant_scope(project_id=erasure.project_id, end_user_id=erasure.end_user_id):
            finished += run_erasure(erasure_id=erasure.id, most=timedelta(seconds=deadline - time.monotonic()))
    return finished


def run_batch(erasure_id: UUID, tables: Sequence[UserTable]) -> Sequence[UserTable]:
    """Delete one batch of rows from these tables in one transaction; return those that may hold more.

    Without tables, finish the erasure: that reads all of them again, and returns them if there was still a row.
    """
    with transaction.atomic():
        erasure = Erasure.objects.select_for_update().get(id=erasure_id)
        if erasure.finished_at is not None:
            return ()
        left = _delete_some(erasure, tables) if tables else _finish(erasure)
        erasure.save(update_fields=["counts", "finished_at"])
    return left


def _delete_some(erasure: Erasure, tables: Sequence[UserTable]) -> Sequence[UserTable]:
    """Delete up to BATCH_ROWS rows, and count them in the receipt; return the tables that may hold more.

    A table that is empty is not read again by each batch: its index still leads to all deleted rows.
    """
    left = BATCH_ROWS
    for place, table in enumerate(tables):
        rows = table.model._base_manager.filter(end_user_id=erasure.end_user_id)
        if table.self_reference:
            referring = rows.filter(**{f"{table.self_reference}__isnull": False}).values("pk")[:left]
            left -= rows.filter(pk__in=referring).update(**{table.self_reference: None})
        if left > 0:
            # Without Django's cascade, which reads what may refer to the rows: all of that is deleted before.
            deleted = rows.filter(pk__in=rows.values("pk")[:left])._raw_delete(DEFAULT_DB_ALIAS)
            if deleted:
                erasure.counts[table.name] = erasure.counts.get(table.name, 0) + deleted
            left -= deleted
        if left <= 0:
            return tables[place:]
    return ()


def _finish(erasure: Erasure) -> Sequence[UserTable]:
    """Let the user return as a new one, unless transactions older than the erasure have written rows since."""
    user = EndUser.objects.select_for_update().get(id=erasure.end_user_id)
    before = dict(erasure.counts)
    _delete_some(erasure, USER_TABLES)
    if erasure.counts != before:
        return USER_TABLES
    # What tables of the project and of the queue may quote. What was chosen for a replay names its user and session.
    project_id, user_id = erasure.project_id, str(user.id)
    Replay.objects.filter(project_id=project_id, choice__end_user=user_id).update(choice={})
    ModelPause.objects.filter(project_id=project_id).update(error="")
    Task.objects.filter(success=False).delete()  # tracebacks, which name no user that they could be found by
    erasure.finished_at = user.erased_at = timezone.now()
    user.erasing_since = None
    user.save(update_fields=["erasing_since", "erased_at"])
    record(
        "erased",
        "end_user",
        user.id,
        project_id=erasure.project_id,
        end_user_id=user.id,
        actor=erasure.actor,
        details={"erasure": str(erasure.id), "user_hash": erasure.user_hash, "rows": erasure.counts},
    )
    # Without `end_user_id`: it is nothing of the user's, and stays when the user returns and is erased again.
    named = {"end_user": user.shown_id, "erasure": erasure.shown_id}
    record_event(project_id=erasure.project_id, type=EventType.USER_ERASED, details=named)
    return ()
