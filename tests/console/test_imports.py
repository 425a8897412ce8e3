"""The page of an import offers what can be done with it."""

import pytest
from django.test import Client

from apps.imports.models import FileImport, ImportState
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("chunks", "is_offered"), [(0, False), (1, True)])
def test_a_file_of_which_nothing_can_be_imported_is_not_started(
    admin: Client, project: Project, chunks: int, is_offered: bool
) -> None:
    counts = {"users": 0, "known": 0, "problems": 1, "chunks": chunks}
    problems = [{"at": "line 1", "reason": "names no speaker"}]
    read = FileImport.objects.create(
        project=project, state=ImportState.CHECKED, format="chat", counts=counts, problems=problems, size=9
    )
    page = admin.get(f"/console/test/imports/{read.pk}/").content.decode()
    assert ("/start/" in page) is is_offered
    assert ("Nothing in this file can be imported as chat." in page) is not is_offered
    assert "names no speaker" in page
