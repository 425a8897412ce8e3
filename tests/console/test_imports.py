"""The page of an import offers what can be done with it."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.imports.models import FileImport, ImportState
from apps.intake.run_import import run_import
from apps.tenants.models import Project
from apps.traces.models import Turn

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


def test_a_file_is_uploaded_with_the_form_and_checked_next(admin: Client, project: Project) -> None:
    given = {"file": SimpleUploadedFile("chat.txt", b"User: hi" + b" " * 5_000_000), "user": "kim", "users": "Ana = bo"}
    answer = admin.post("/console/test/imports/new/", given)

    made = FileImport.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/console/test/imports/{made.pk}/")
    assert (made.file_name, made.state, made.size) == ("chat.txt", "checking", 5_000_008)
    assert (made.user_id, made.users_by_name) == ("kim", {"Ana": "bo"})


def test_a_checked_file_is_imported_and_reported(admin: Client, project: Project) -> None:
    file = SimpleUploadedFile("chat.txt", b"User: I moved to Trieste.\nUser: thanks\n")
    admin.post("/console/test/imports/new/", {"file": file, "user": "kim"})
    made = FileImport.objects.get()
    page = f"/console/test/imports/{made.pk}/"
    run_import(import_id=made.pk)
    assert "1 thanks" in admin.get(page).content.decode()

    assert "waiting for a worker" in admin.post(f"{page}start/", follow=True).content.decode()
    run_import(import_id=made.pk)
    assert "data-import-report" in admin.get(page).content.decode()
    assert set(Turn.objects.values_list("content", flat=True)) == {"I moved to Trieste.", "thanks"}


def test_a_file_that_is_missing_or_too_large_leaves_no_import(admin: Client, project: Project, settings: Any) -> None:
    settings.IMPORT_MAX_MB = 0
    for given in ({}, {"file": SimpleUploadedFile("chat.txt", b"User: hi")}):
        answer = admin.post("/console/test/imports/new/", given)
        assert answer.status_code == 422
        assert not FileImport.objects.exists()
    assert "The file exceeds 0 MB." in answer.content.decode()
