"""The lease of an import is short, and renewed for as long as its process lives."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from apps.actions.imports.begin_check import begin_check
from apps.actions.imports.due_imports import due_imports
from apps.actions.imports.lease import claim, release, renew, renewing
from apps.actions.imports.request_import import ImportRequest, request_import
from apps.actions.imports.store_part import store_part
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.tenants.models import Project
from tests.intake.import_steps import lines

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0


@pytest.fixture
def held(project: Project) -> FileImport:
    """An import that this process checks."""
    made = request_import(request=ImportRequest(project_id=project.pk, file_name="file.jsonl"))
    store_part(project_id=project.pk, import_id=made.pk, number=1, content=lines("I have a cat."))
    begin_check(project_id=project.pk, import_id=made.pk)
    claimed = claim(import_id=made.pk, since=ImportState.CHECKING, working=ImportState.CHECKING)
    assert claimed is not None
    return claimed


def leased_until() -> datetime:
    until = FileImport.objects.get().leased_until
    assert until is not None
    return until


def waited_for(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def test_a_step_may_take_longer_than_the_lease(held: FileImport, settings: Any) -> None:
    settings.HEARTBEAT_SECONDS = 0.02
    first = leased_until()
    assert first - timezone.now() <= timedelta(seconds=settings.WORK_LEASE_SECONDS)
    with renewing(held):
        assert waited_for(lambda: leased_until() > first)
        with transaction.atomic():  # as while a chunk is written
            list(FileImport.objects.select_for_update())
        second = leased_until()
        assert waited_for(lambda: leased_until() > second)
        assert due_imports() == []
    release(held, state=ImportState.CHECKING)
    assert [each.id for each in due_imports()] == [held.pk]


def test_an_import_that_was_lost_is_not_taken_back(held: FileImport, settings: Any) -> None:
    settings.HEARTBEAT_SECONDS = 0.02
    past = timezone.now() - timedelta(seconds=1)
    FileImport.objects.update(leased_until=past)
    other = claim(import_id=held.pk, since=ImportState.CHECKING, working=ImportState.CHECKING)
    assert other is not None
    FileImport.objects.update(leased_until=past)
    with renewing(held), renewing(other):
        assert waited_for(lambda: leased_until() > past)
    FileImport.objects.update(leased_until=past)
    renew(held)
    assert leased_until() == past
    renew(other)
    assert leased_until() > past
