"""The chain of a ledger names the first entry that was tampered with."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.memories.ledger.actor import acting_as
from apps.memories.ledger.chain import seal_ledger, verify_ledger
from apps.memories.ledger.record import record
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key, restore_key, revoke_key
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def sealed(project: Project) -> Project:
    for number in range(5):
        record(
            project_id=project.id,
            verb="done",
            object_kind="test",
            object_id=project.id,
            details={"n": number, "é": 1.5},
        )
    seal_ledger()
    return project


def tamper(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate; alter table memories_ledgerentry disable trigger user")
        cursor.execute(sql)


def test_entries_are_numbered_without_gaps(sealed: Project, other_project: Project) -> None:
    seal_ledger()
    for project in (sealed, other_project):
        numbers = LedgerEntry.objects.filter(project=project).order_by("number").values_list("number", flat=True)
        assert list(numbers) == list(range(1, len(numbers) + 1))


def test_an_untouched_chain_is_intact(sealed: Project) -> None:
    report = verify_ledger(project_id=sealed.id)
    assert report.is_intact
    assert (report.entries, report.head_number) == (7, 7)
    record(project_id=sealed.id, verb="done", object_kind="test", object_id=sealed.id)
    assert verify_ledger(project_id=sealed.id).unsealed == 1


@pytest.mark.parametrize(
    ("tampering", "broken"),
    [
        ("update memories_ledgerentry set actor = 'key:other' where number = 4", 4),
        ("update memories_ledgerentry set details = '{}' where number = 5", 5),
        ("update memories_ledgerentry set created_at = created_at - interval '1 s' where number = 3", 3),
        ("update memories_ledgerentry set hash = repeat('0', 64) where number = 6", 6),
        ("delete from memories_ledgerentry where number = 3", 3),
        ("delete from memories_ledgerentry where number = 1", 1),
    ],
)
def test_the_first_broken_entry_is_named(sealed: Project, tampering: str, broken: int) -> None:
    tamper(tampering)

    report = verify_ledger(project_id=sealed.id)

    assert report.broken_number == broken
    assert (report.broken_entry is None) == tampering.startswith("delete")
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_ledger", "test", stdout=said)
    assert f"{broken}" in said.getvalue()


def test_the_command_shows_the_head(sealed: Project) -> None:
    said = StringIO()
    call_command("verify_ledger", stdout=said)
    assert "test: 7 entries intact, 0 not sealed yet; head 7 " in said.getvalue()


def test_acts_on_keys_name_their_actor(project: Project) -> None:
    with acting_as("person:7"):
        key = create_key(project_id=project.id, name="agent", scopes=[Scope.READ]).key
    revoke_key(project_id=project.id, key_id=key.id)

    entries = LedgerEntry.objects.filter(object_id=key.id).order_by("id")
    assert [(entry.actor, entry.verb) for entry in entries] == [("person:7", "key_created"), ("system", "key_revoked")]
    assert key.name not in str(entries[0].details)


@pytest.mark.parametrize(
    ("scopes", "grants"),
    [([Scope.READ, Scope.WRITE], 0), ([Scope.WRITE, Scope.TRUST], 2), ([Scope.ADMIN], 2)],
)
def test_trust_that_is_granted_has_an_entry_of_its_own(project: Project, scopes: list[Scope], grants: int) -> None:
    key = create_key(project_id=project.id, name="agent", scopes=scopes).key
    revoke_key(project_id=project.id, key_id=key.id)
    restore_key(project_id=project.id, key_id=key.id)
    entries = LedgerEntry.objects.filter(object_id=key.id, verb="trust_granted")
    assert [entry.details for entry in entries] == [{"scopes": [scope.value for scope in scopes]}] * grants
