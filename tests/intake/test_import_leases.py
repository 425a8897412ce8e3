"""The lease of an import is short, and each report of its process renews it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.imports.services import due_imports, leased, release, reporting, upload_import
from apps.outbox.leased import LostLease
from apps.tenants.models import Project
from tests.intake.import_steps import lines

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def held(project: Project) -> FileImport:
    """An import that this process checks."""
    request = FileImport(project_id=project.pk, file_name="file.jsonl")
    made = upload_import(request=request, content=lines("I have a cat."))
    with leased(import_id=made.pk, working=ImportState.CHECKING) as claimed:
        assert claimed is not None
    return claimed


def test_each_report_renews_the_lease(held: FileImport) -> None:
    FileImport.objects.update(leased_until=timezone.now() + timedelta(seconds=1))
    with reporting(held):
        pass
    left = FileImport.objects.get().leased_until - timezone.now()
    assert timedelta(seconds=50) < left <= timedelta(seconds=60)
    assert due_imports() == []
    release(held, state=ImportState.CHECKING)
    assert [each.id for each in due_imports()] == [held.pk]


def test_an_import_that_was_lost_can_not_be_written(held: FileImport) -> None:
    FileImport.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    with leased(import_id=held.pk, working=ImportState.CHECKING) as other:
        assert other is not None
    with pytest.raises(LostLease), reporting(held) as row:
        row.wait_reason = "lost"
    with reporting(other) as row:
        assert row.wait_reason == ""
