"""A process that is killed while it checks or runs an import: another one goes on, and nothing is lost or doubled."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.imports.models import FileImport
from apps.imports.readers import files
from apps.imports.services import (
    due_imports,
    start_import,
    upload_import,
)
from apps.intake import run_import as running
from apps.projects.services import create_project
from apps.tenants.models import Project
from apps.traces.models import Turn
from apps.worker.shutdown import StopFlag
from apps.worker.work import import_file
from tests.chaos.failpoints import in_a_fork
from tests.intake.import_steps import lines

pytestmark = pytest.mark.django_db(transaction=True)

SAID = [f"I have {number} cats." for number in range(9)]


@pytest.fixture
def project(transactional_db: None) -> Project:
    return create_project(name="Test", slug="test")


@pytest.fixture
def held(project: Project, monkeypatch: pytest.MonkeyPatch) -> FileImport:
    """An import of several chunks that waits for its check."""
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2)
    request = FileImport(project_id=project.pk, file_name="file.jsonl")
    return upload_import(request=request, content=lines(*SAID))


def work() -> None:
    """Import what is due, until nothing is."""
    while due := due_imports():
        import_file(due[0], StopFlag())


def killing(do: Callable[..., Any], *, call: int) -> Callable[..., Any]:
    """Return a function that is killed with its process after its call of this number."""
    calls = []

    def done(*given: Any, **named: Any) -> Any:
        result = do(*given, **named)
        calls.append(result)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return done


def assert_killed_and_due(held: FileImport, *, state: str) -> None:
    """Kill a process that imports; once its lease has ended, the import is due again."""
    connection.close()  # no connection is shared with the fork
    assert in_a_fork(work) == -signal.SIGKILL
    assert FileImport.objects.get(id=held.pk).state == state
    assert due_imports() == []
    FileImport.objects.update(leased_until=timezone.now())
    assert [each.id for each in due_imports()] == [held.pk]


def test_a_killed_check_and_killed_runs_go_on(held: FileImport, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(running, "known_in", killing(running.known_in, call=3))
        assert_killed_and_due(held, state="checking")
    work()
    held.refresh_from_db()
    assert (held.state, held.counts["turns"], held.chunks) == ("checked", 9, 5)

    start_import(project_id=held.project_id, import_id=held.pk)
    # Within the transaction of a chunk, before and after its progress is noted.
    for module, name, call, position in ((running, "accept", 2, 1), (FileImport, "save", 3, 3)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, killing(getattr(module, name), call=call))
            assert_killed_and_due(held, state="running")
        held.refresh_from_db()
        assert held.position == position
    work()
    held.refresh_from_db()
    assert (held.state, held.done["turns"], held.position) == ("done", 9, 5)
    assert list(Turn.objects.order_by("position").values_list("content", flat=True)) == SAID
