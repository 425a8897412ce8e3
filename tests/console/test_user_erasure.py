"""Exporting and erasing an end user in the console, and the audit page that shows it."""

import json

import pytest
from django.test import Client
from django.utils.html import escape

from apps.memories.models import LedgerEntry
from apps.tenants.models import EndUser, Erasure, Project
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(full_project: Project) -> EndUser:
    return EndUser.objects.get(project=full_project)


def test_an_end_user_is_erased_once_the_identifier_is_typed(admin: Client, user: EndUser) -> None:
    address = f"/console/test/users/{user.pk}/erase/"
    page = admin.get(address).content.decode()
    assert "can’t be undone" in page
    assert f"{escape(user.external_id)}</span></span><input" in page.partition("To erase the user, type")[2]

    before = Erasure.objects.count()
    refused = admin.post(address, {"confirmation": "someone"})
    assert (refused.status_code, Erasure.objects.count()) == (422, before)

    assert admin.post(address, {"confirmation": user.external_id}).status_code == 302
    erasure = Erasure.objects.latest("requested_at")
    assert erasure.finished_at is not None
    assert erasure.actor.startswith("person:")
    assert "No users yet" in admin.get("/console/test/users/").content.decode()
    assert admin.get(f"/console/test/users/{user.pk}/").status_code == 404


def test_an_export_is_downloaded(admin: Client, user: EndUser) -> None:
    answer = admin.get(f"/console/test/users/{user.pk}/export/")

    assert "attachment" in answer["Content-Disposition"]
    first, *others = (json.loads(line) for line in b"".join(answer.streaming_content).splitlines())
    assert first["user_id"] == user.external_id
    assert len(others) > 10


FILTERED = [
    ("", "project created", "No matching"),
    ("actor=trace:", "added", "project created"),
    ("verb=retracted", "retracted", "project created"),
    ("since=2999-01-01", "No matching entry", "added"),
    ("until=2000-01-01&user=x", "No matching entry", "added"),
    ("since=nonsense&actor=%00", "project created", "No matching"),
]


def test_the_audit_page_filters(admin: Client, user: EndUser, subtests: pytest.Subtests) -> None:
    for query, shown, hidden in FILTERED:
        with subtests.test(query=query, shown=shown, hidden=hidden):
            page = admin.get(f"/console/test/audit/?{query}").content.decode()
            table = page.partition("<h1>Audit</h1>")[2]
            assert shown in table
            assert hidden not in table
            assert HOSTILE not in page


def test_the_audit_page_finds_an_end_user(admin: Client, user: EndUser) -> None:
    answer = admin.get("/console/test/audit/", {"user": user.external_id, "verb": "added"})
    rows = LedgerEntry.objects.filter(end_user=user, verb="added").count()
    assert answer.content.decode().count("<tr data-row>") == rows > 0


def test_the_ledger_is_downloaded_with_the_filters(admin: Client, user: EndUser) -> None:
    answer = admin.get("/console/test/audit/export/?verb=retracted")
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert [line["verb"] for line in lines] == ["retracted"]
    assert LedgerEntry.objects.filter(verb="ledger_exported").exists()
