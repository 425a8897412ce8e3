"""The page that audits a store: nothing is stored until the import of what is kept is wanted."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.imports.models import FileImport, ImportFile
from apps.intake.run_import import run_import
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db
PAGE = "/console/test/imports/audit/"
STORE = b"Likes tea\nHEARTBEAT_OK\nUser's PIN is 8264\n<b>x</b> is allergic to nuts\n"


def file(content: bytes = STORE) -> dict[str, SimpleUploadedFile]:
    return {"file": SimpleUploadedFile("store.txt", content)}


def test_a_store_is_audited_without_storing_anything(admin: Client, project: Project) -> None:
    assert "Audit a store" in admin.get(PAGE).content.decode()
    page = admin.post(PAGE, file(), headers={"HX-Request": "true"}).content.decode()
    assert "2 of 4 entries are worth keeping" in page
    assert "Reports that a check or job ran." in page
    assert "8264" not in page
    assert not FileImport.objects.exists()


def test_what_is_kept_is_downloaded_or_imported(admin: Client, project: Project) -> None:
    answer = admin.post(f"{PAGE}kept/", file())
    assert [each["memory"] for each in json.loads(answer.content)["results"]] == [
        "Likes tea",
        "<b>x</b> is allergic to nuts",
    ]
    assert not FileImport.objects.exists()

    answer = admin.post(f"{PAGE}kept/", file() | {"import": "1"})
    made = FileImport.objects.get()
    assert answer["Location"] == f"/console/test/imports/{made.pk}/"
    assert made.format == "mem0"
    assert ImportFile.objects.filter(file_import=made).exists()


def test_it_asks_whose_entries_are_that_name_no_user(admin: Client, project: Project) -> None:
    page = admin.post(PAGE, file(), headers={"HX-Request": "true"}).content.decode()
    assert "These entries name no user: enter above whose they are" in page
    for content, user in ((STORE, "kim"), (b'[{"memory": "Likes tea", "user_id": "ana"}]', "")):
        page = admin.post(PAGE, file(content) | {"user": user}, headers={"HX-Request": "true"}).content.decode()
        assert "are worth keeping" in page
        assert "no user" not in page

    admin.post(f"{PAGE}kept/", file() | {"import": "1", "user": "kim"})
    made = FileImport.objects.get()
    run_import(import_id=made.pk)
    made.refresh_from_db()
    assert (made.user_id, made.counts["problems"], made.counts["memories"]) == ("kim", 0, 2)


def test_an_import_without_a_user_says_what_is_missing(admin: Client, project: Project) -> None:
    admin.post(f"{PAGE}kept/", file() | {"import": "1"})
    made = FileImport.objects.get()
    run_import(import_id=made.pk)
    page = admin.get(f"/console/test/imports/{made.pk}/").content.decode()
    assert "it does not name the user whose the entries are" in page
    assert "right format" not in page


def test_a_missing_or_empty_file_is_told(admin: Client, project: Project) -> None:
    assert admin.post(PAGE, {}).status_code == 422
    assert admin.post(f"{PAGE}kept/", {}).status_code == 422
    page = admin.post(PAGE, file(b"\n \n"), headers={"HX-Request": "true"}).content.decode()
    assert "No entry was found" in page or "empty" in page
