"""Imports of several projects take turns."""

from collections.abc import Callable
from typing import Any

import pytest
from django_q.models import OrmQ

from apps.imports.models import FileImport
from apps.imports.readers import files
from apps.imports.services import (
    due_imports,
    start_import,
    upload_import,
)
from apps.outbox import enqueue
from apps.outbox.models import OutboxRow
from apps.tenants.models import EndUser, Project
from apps.traces.models import Turn
from apps.worker import work as work_module
from apps.worker.shutdown import StopFlag, StopSignal
from apps.worker.work import import_file
from tests.intake.import_steps import lines

pytestmark = pytest.mark.django_db
Uploaded = Callable[[Project, bytes], FileImport]


@pytest.fixture
def uploaded(monkeypatch: pytest.MonkeyPatch) -> Uploaded:
    """Upload a file whose chunks hold one turn, to be checked."""
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 1)
    monkeypatch.setattr(work_module, "SLICE_CHUNKS", 1)

    def make(project: Project, content: bytes) -> FileImport:
        return upload_import(request=FileImport(project_id=project.pk, file_name="file.jsonl"), content=content)

    return make


def said(count: int) -> bytes:
    return lines(*(f"I have {number} cats." for number in range(count)))


def states(*imports: FileImport) -> list[str]:
    return [FileImport.objects.get(id=each.pk).state for each in imports]


def work(*, turns: int, stop: StopSignal | None = None) -> None:
    """Give so many imports a turn of one chunk, those that have waited longest first."""
    for _ in range(turns):
        for due in due_imports()[:1]:
            import_file(due, stop or StopFlag())


def test_a_short_file_does_not_wait_for_a_long_one(
    project: Project, other_project: Project, uploaded: Uploaded
) -> None:
    long, short = uploaded(project, said(20)), uploaded(other_project, said(2))
    work(turns=2)
    assert states(long, short) == ["checked", "checked"]
    start_import(project_id=project.pk, import_id=long.pk)
    start_import(project_id=other_project.pk, import_id=short.pk)

    work(turns=8)
    assert states(long, short) == ["waiting", "done"]
    assert EndUser.objects.filter(project=other_project).exists()

    work(turns=40)
    assert states(long) == ["done"]


def test_an_import_that_waits_for_the_queue_holds_up_no_other(
    project: Project,
    other_project: Project,
    uploaded: Uploaded,
) -> None:
    held, other = uploaded(project, said(3)), uploaded(other_project, said(1))
    work(turns=15)
    Project.objects.filter(pk=project.pk).update(queue_limit=2)
    start_import(project_id=project.pk, import_id=held.pk)
    start_import(project_id=other_project.pk, import_id=other.pk)

    work(turns=20)
    assert states(held, other) == ["waiting", "done"]
    assert "half full" in FileImport.objects.get(id=held.pk).wait_reason
    for _ in range(3):
        OutboxRow.objects.update(state="done")
        FileImport.objects.update(resume_at=None)  # the time is over after which it looks again
        work(turns=6)
    assert states(held) == ["done"]
    assert Turn.objects.filter(end_user__project=project).count() == 3


def test_a_stop_gives_the_import_back(project: Project, uploaded: Uploaded) -> None:
    held, stop = uploaded(project, said(3)), StopFlag()
    stop.set()
    work(turns=1, stop=stop)
    assert FileImport.objects.get(id=held.pk).leased_until is None
    assert states(held) == ["checking"]
    work(turns=1)
    assert states(held) == ["checked"]


def test_an_upload_and_a_start_wake_the_workers(
    project: Project,
    uploaded: Uploaded,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def is_woken_by(act: Callable[[], object]) -> bool:
        OrmQ.objects.all().delete()
        monkeypatch.setattr(enqueue, "_next_wake", 0.0)
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return OrmQ.objects.count() == 1

    made: list[FileImport] = []
    assert is_woken_by(lambda: made.append(uploaded(project, said(1))))
    work(turns=1)
    assert is_woken_by(lambda: start_import(project_id=project.pk, import_id=made[0].pk))
