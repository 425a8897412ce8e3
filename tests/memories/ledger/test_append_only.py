"""The database keeps the ledger append-only, whatever a session asks for."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from apps.memories.ledger.chain import remove_sealed, seal_ledger
from apps.memories.ledger.record import record
from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.models import Project
from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from tests.memories.ledger.without_triggers import as_owner_without_triggers

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def entry(project: Project) -> LedgerEntry:
    return LedgerEntry.objects.get(verb="project_created")


@contextmanager
def forbidden() -> Iterator[None]:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        yield


def replay_replication() -> None:
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")


@pytest.mark.parametrize("replays", [False, True])
def test_an_entry_is_not_changed_or_deleted(entry: LedgerEntry, replays: bool) -> None:
    if replays:
        replay_replication()
    rows = LedgerEntry.objects.filter(pk=entry.pk)

    with forbidden():
        rows.update(verb="nothing")
    with forbidden():
        rows.update(details={"a": 1}, number=1, hash="0" * 64)
    with forbidden():
        rows._raw_delete(using="default")

    entry.refresh_from_db()
    assert entry.verb == "project_created"


def test_a_sealed_entry_is_not_sealed_again(entry: LedgerEntry) -> None:
    seal_ledger()
    with forbidden():
        LedgerEntry.objects.filter(pk=entry.pk).update(number=7, hash="0" * 64)


def test_the_tables_are_not_emptied(entry: LedgerEntry) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate; alter table memories_ledgerentry enable trigger all")
        cursor.execute("alter table memories_ledgercheckpoint enable trigger all")
        for table in ("memories_ledgerentry", "memories_ledgercheckpoint"):
            with forbidden():
                cursor.execute(f"truncate {table}")


def test_the_database_gives_the_time_and_no_place_in_the_chain(project: Project) -> None:
    forged = LedgerEntry.objects.create(
        project=project,
        actor="key:x",
        verb="forged",
        object_kind="memory",
        object_id=project.id,
        created_at=LONG_AGO,
        number=1,
        hash="0" * 64,
    )
    forged.refresh_from_db()

    assert (forged.number, forged.hash) == (None, "")
    assert timezone.now() - forged.created_at < timedelta(minutes=1)


@pytest.mark.parametrize("role", [APP_ROLE, SYSTEM_ROLE])
def test_a_role_that_does_not_own_the_table_can_not_switch_the_triggers_off(entry: LedgerEntry, role: str) -> None:
    with connection.cursor() as cursor:
        for attempt in (
            "set local session_replication_role = replica",
            "alter table memories_ledgerentry disable trigger all",
        ):
            with pytest.raises(ProgrammingError), transaction.atomic():
                cursor.execute(f"set local role {role}; {attempt}")


def test_the_application_may_not_delete_entries_and_the_system_only_sealed_ones(entry: LedgerEntry) -> None:
    with connection.cursor() as cursor:
        with pytest.raises(ProgrammingError), transaction.atomic():
            cursor.execute(f"set local role {APP_ROLE}; delete from memories_ledgerentry")
        with forbidden():
            cursor.execute(f"set local role {SYSTEM_ROLE}; delete from memories_ledgerentry")


def test_young_entries_are_not_removed(entry: LedgerEntry) -> None:
    seal_ledger()
    with forbidden():
        remove_sealed(project_id=entry.project_id, before=timezone.now())


def test_old_entries_are_removed_and_the_chain_goes_on(project: Project) -> None:
    seal_ledger()
    sealed = LedgerEntry.objects.filter(project=project).order_by("-number").first()
    record(project_id=project.id, verb="later", object_kind="project", object_id=project.id)
    with as_owner_without_triggers():
        LedgerEntry.objects.filter(number__isnull=False).update(created_at=LONG_AGO)

    removed = remove_sealed(project_id=project.id, before=timezone.now() - timedelta(days=31))
    seal_ledger()

    assert removed == sealed.number
    checkpoint = LedgerCheckpoint.objects.get(project=project)
    assert (checkpoint.number, checkpoint.hash) == (sealed.number, sealed.hash)
    assert LedgerEntry.objects.get(project=project).number == sealed.number + 1
    with forbidden():
        LedgerCheckpoint.objects.update(number=0)
