"""What the retention period removes from a ledger is archived first, and its chain can be verified."""

import gzip
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.memories.ledger import chain
from apps.memories.ledger.chain import remove_sealed, seal_ledger, verify_archive, verify_ledger
from apps.memories.ledger.record import record
from apps.memories.models import LedgerEntry
from apps.tenants.models import Project
from tests.memories.ledger.without_triggers import as_owner_without_triggers

pytestmark = pytest.mark.django_db
PERIOD = timedelta(days=31)


@pytest.fixture(autouse=True)
def several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "REMOVED_AT_ONCE", 2)


@pytest.fixture
def old(project: Project) -> Project:
    """A project with old entries, and a sealed one of today."""
    for number in range(3):
        record(
            project_id=project.id,
            verb="done",
            object_kind="test",
            object_id=project.id,
            details={"n": number, "é": 1.5},
        )
    with as_owner_without_triggers():
        LedgerEntry.objects.filter(project=project).update(created_at=timezone.now() - 2 * PERIOD)
    seal_ledger()
    record(project_id=project.id, verb="today", object_kind="test", object_id=project.id)
    seal_ledger()
    return project


def removed(project: Project) -> int:
    return remove_sealed(project_id=project.id, before=timezone.now() - PERIOD)


def archived_file(archive: Path, project: Project, number: int) -> Path:
    return sorted((archive / str(project.id)).iterdir())[number]


def test_what_is_removed_is_archived_and_verified(old: Project, archive: Path) -> None:
    before = verify_ledger(project_id=old.id)
    count = removed(old)
    assert count == before.entries - 1
    report = verify_archive(project_id=old.id)
    assert report.is_intact
    assert (report.entries, report.head_number) == (count, count)
    assert verify_ledger(project_id=old.id).head_hash == before.head_hash
    said = StringIO()
    call_command("verify_ledger", "test", "--archive", stdout=said)
    assert f"archive of test: {count} entries intact" in said.getvalue()


def test_a_changed_or_missing_file_is_told(old: Project, archive: Path) -> None:
    removed(old)
    second = archived_file(archive, old, 1)
    changed = gzip.decompress(second.read_bytes()).replace(b'"done"', b'"gone"')
    second.write_bytes(gzip.compress(changed))
    report = verify_archive(project_id=old.id)
    assert report.broken_number is not None
    assert report.broken_entry is not None
    second.unlink()
    assert verify_archive(project_id=old.id).broken_number == 3
    with pytest.raises(CommandError):
        call_command("verify_ledger", "test", "--archive", stdout=StringIO())


def test_an_entry_that_was_sealed_before_an_older_one_keeps_both(old: Project) -> None:
    """Entries are numbered when they are sealed, and a long transaction is sealed late."""
    with as_owner_without_triggers():
        LedgerEntry.objects.filter(project=old, number=2).update(created_at=timezone.now())
    assert removed(old) == 1
    assert LedgerEntry.objects.filter(project=old, number=2).exists()


def test_without_a_folder_that_lasts_all_stay(old: Project, settings: Any) -> None:
    settings.LEDGER_ARCHIVE = None
    assert removed(old) == 0
    assert verify_ledger(project_id=old.id).broken_number is None


def test_what_can_not_be_archived_stays(old: Project, archive: Path) -> None:
    archive.write_text("a file in the place of the folder")
    entries = LedgerEntry.objects.filter(project=old).count()
    assert removed(old) == 0
    assert LedgerEntry.objects.filter(project=old).count() == entries
    archive.unlink()
    assert removed(old) == entries - 1


def test_entries_that_were_archived_twice_count_once(
    old: Project, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file was written, but the transaction that removes its entries failed; the next batch was larger."""
    with monkeypatch.context() as patched:
        patched.setattr(chain.LedgerCheckpoint.objects, "get_or_create", _fails)
        with pytest.raises(RuntimeError):
            removed(old)
    monkeypatch.setattr(chain, "REMOVED_AT_ONCE", 3)
    count = removed(old)
    assert verify_archive(project_id=old.id).entries == count


def _fails(**_: Any) -> None:
    raise RuntimeError
