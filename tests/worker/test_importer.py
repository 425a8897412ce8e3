"""Imports of several projects take turns in one process, and no task of django-q2 waits for them."""

from collections.abc import Callable, Generator
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from apps.actions.imports.begin_check import begin_check
from apps.actions.imports.request_import import ImportRequest, request_import
from apps.actions.imports.start_import import start_import
from apps.actions.imports.store_part import store_part
from apps.imports.models import FileImport
from apps.imports.readers import chunks
from apps.intake import run_import as running
from apps.outbox.models import OutboxRow
from apps.tenants.models import EndUser, Project
from apps.traces.models import Turn
from apps.worker.importer import Importer
from apps.worker.shutdown import Deadline, StopFlag
from tests.intake.import_steps import lines

pytestmark = pytest.mark.django_db
Uploaded = Callable[[Project, bytes], FileImport]


@pytest.fixture
def importer() -> Importer:
    """An importer whose turns end after one chunk."""
    return Importer(stop=StopFlag(), slice_seconds=0.0)


@pytest.fixture
def uploaded(monkeypatch: pytest.MonkeyPatch) -> Uploaded:
    """Upload a file whose chunks hold one turn, to be checked."""
    monkeypatch.setattr(chunks, "CHUNK_ENTRIES", 1)

    def make(project: Project, content: bytes) -> FileImport:
        held = request_import(request=ImportRequest(project_id=project.pk, file_name="file.jsonl"))
        store_part(project_id=project.pk, import_id=held.pk, number=1, content=content)
        return begin_check(project_id=project.pk, import_id=held.pk)

    return make


def said(count: int) -> bytes:
    return lines(*(f"I have {number} cats." for number in range(count)))


def states(*imports: FileImport) -> list[str]:
    return [FileImport.objects.get(id=each.pk).state for each in imports]


def work(importer: Importer, *, turns: int) -> None:
    for _ in range(turns):
        importer.open_due()
        importer.take_turns()


def test_a_short_file_does_not_wait_for_a_long_one(
    project: Project, other_project: Project, importer: Importer, uploaded: Uploaded
) -> None:
    long, next_one = uploaded(project, said(30)), uploaded(project, said(1))
    short = uploaded(other_project, said(2))

    work(importer, turns=4)
    assert states(long, short, next_one) == ["checking", "checked", "checking"]
    start_import(project_id=other_project.pk, import_id=short.pk)
    work(importer, turns=4)
    assert states(long, short) == ["checking", "done"]
    assert set(EndUser.objects.values_list("project", flat=True)) == {other_project.pk}
    assert not OrmQ.objects.exists()  # the workers of daily jobs are free

    work(importer, turns=40)
    assert states(long, next_one) == ["checked", "checked"]
    assert importer.is_open == {}


def test_an_import_that_waits_for_the_queue_holds_up_no_other(
    project: Project,
    other_project: Project,
    importer: Importer,
    uploaded: Uploaded,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, other = uploaded(project, said(3)), uploaded(other_project, said(1))
    work(importer, turns=5)
    Project.objects.filter(pk=project.pk).update(queue_limit=2)
    start_import(project_id=project.pk, import_id=held.pk)
    start_import(project_id=other_project.pk, import_id=other.pk)
    monkeypatch.setattr(running, "PAUSE_SECONDS", 1e-9)

    work(importer, turns=10)
    assert states(held, other) == ["running", "done"]
    assert "half full" in FileImport.objects.get(id=held.pk).wait_reason
    OutboxRow.objects.update(state="done")
    work(importer, turns=2)
    OutboxRow.objects.update(state="done")
    work(importer, turns=4)
    OutboxRow.objects.update(state="done")
    work(importer, turns=4)
    assert states(held) == ["done"]
    assert Turn.objects.filter(end_user__project=project).count() == 3


def test_what_is_open_is_given_back_when_the_process_ends(
    project: Project, importer: Importer, uploaded: Uploaded
) -> None:
    held = uploaded(project, said(3))
    work(importer, turns=2)
    assert FileImport.objects.get(id=held.pk).leased_until > timezone.now()

    importer.run(seconds=-1.0)
    assert FileImport.objects.get(id=held.pk).leased_until is None
    work(Importer(stop=Deadline(at=float("inf"))), turns=2)
    assert states(held) == ["checked"]


def test_what_is_open_is_given_back_when_an_error_ends_the_process(
    project: Project, other_project: Project, importer: Importer, uploaded: Uploaded
) -> None:
    held, other = uploaded(project, said(3)), uploaded(other_project, said(3))
    work(importer, turns=1)
    importer.find = list
    steps = importer.is_open[other.pk].steps

    def broken() -> Generator[float | None, None, None]:
        steps.close()
        raise RuntimeError("a defect")
        yield None

    importer.is_open[other.pk].steps = broken()
    with pytest.raises(RuntimeError):
        importer.run(seconds=60.0)
    assert importer.is_open == {}
    assert FileImport.objects.get(id=held.pk).leased_until is None


def test_the_project_whose_last_turn_is_the_longest_ago_is_next(
    project: Project, other_project: Project, importer: Importer, uploaded: Uploaded
) -> None:
    first = uploaded(project, said(1))
    work(importer, turns=3)
    FileImport.objects.filter(id=first.pk).update(created_at=timezone.now() - timedelta(days=1))
    again, other = uploaded(project, said(1)), uploaded(other_project, said(1))

    importer.open_due()
    opened: list[UUID] = list(importer.is_open)
    assert opened == [other.pk, again.pk]
