"""What is left of an import that is cancelled, fails or loses its file on the way, and what stays private."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.imports.models import FileImport, ImportFile
from apps.imports.services import due_imports, leased, reporting
from apps.intake import run_import as running
from apps.intake.run_import import run_import
from apps.memories.models import Memory
from apps.memories.services.export_memories import ExportFormat, export_memories
from apps.outbox.leased import LostLease
from apps.pipeline.core.identifiers import Prefix, parse
from apps.privacy.users import erase_user
from apps.projects.services import change_policy
from apps.tenants.models import Project
from tests.intake.import_steps import SAID, Upload, lines, start

pytestmark = pytest.mark.django_db


def test_a_deleted_file_is_not_sent_again(admin: APIClient) -> None:
    url = f"/v1/imports/{admin.post('/v1/imports', {'file_name': 'f'}).json()['id']}"
    kind = "application/octet-stream"
    assert admin.put(f"{url}/file", b"x", content_type=kind).status_code == 200
    assert admin.post(f"{url}/cancel").status_code == 200
    with CaptureQueriesContext(connection) as queries:
        assert admin.delete(f"{url}/file").json()["has_file"] is False
    told = [each["sql"] for each in queries]
    changed = next(place for place, sql in enumerate(told) if '"has_file" = false' in sql)
    deleted = next(place for place, sql in enumerate(told) if sql.startswith('DELETE FROM "imports_importfile"'))
    assert changed < deleted  # under the lock that storing a file takes

    refused = admin.put(f"{url}/file", b"x", content_type=kind)
    assert (refused.status_code, "was deleted" in refused.json()["detail"]) == (409, True)
    assert not ImportFile.objects.exists()


def checking(admin: APIClient, content: bytes, *, breaks: bool = False) -> FileImport:
    """Return an import whose check has reported some counts, and has not come to its end."""
    made = admin.post("/v1/imports", {"file_name": "file.json"}).json()
    url = f"/v1/imports/{made['id']}"
    admin.put(f"{url}/file", content, content_type="application/octet-stream")
    with leased(import_id=parse(Prefix.IMPORT, made["id"])) as held:
        assert held is not None
        with reporting(held) as row:
            row.counts = {"chunks": 1, "turns": 1}
        if breaks:
            raise ValueError("unreadable")
    return held


@pytest.mark.parametrize("ends", ["cancelled", "failed"])
def test_a_check_that_does_not_end_leaves_a_file_that_nobody_has_read(
    ends: str, admin: APIClient, project: Project, upload: Upload
) -> None:
    start(admin, upload(lines("Hello, I live in Lisbon.")))
    held = checking(admin, lines(*SAID), breaks=ends == "failed")
    url = f"/v1/imports/{held.shown_id}"
    if ends == "cancelled":
        assert admin.post(f"{url}/cancel").status_code == 200
    assert admin.get(url).json()["status"] == ends

    assert admin.post(f"{url}/start").status_code == 409
    erase_user(project_id=project.pk, user_id="ana")
    assert not ImportFile.objects.exists()
    assert FileImport.objects.get(id=held.pk).has_file is False


@pytest.mark.parametrize("started", [False, True])
def test_an_import_that_is_cancelled_and_then_breaks_stays_cancelled(
    started: bool, admin: APIClient, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = upload(lines(*SAID)) if started else admin.post("/v1/imports", {"file_name": "file.json"}).json()
    url = f"/v1/imports/{made['id']}"

    def broken(held: FileImport) -> Iterator[Any]:
        assert admin.post(f"/v1/imports/{held.shown_id}/cancel").status_code == 200
        raise ValueError("a broken reader")

    monkeypatch.setattr(running, "chunks_of", broken)
    if started:
        assert start(admin, made)["status"] == "cancelled"
    else:
        sent = admin.put(f"{url}/file", lines(*SAID), content_type="application/octet-stream")
        assert sent.status_code == 200
        run_import(import_id=parse(Prefix.IMPORT, made["id"]))
    assert (admin.get(url).json()["status"], admin.get(url).json()["error"] or "") == ("cancelled", "")


def test_a_check_that_begins_again_is_lost_to_the_former_worker(admin: APIClient) -> None:
    held = checking(admin, lines(*SAID))
    url = f"/v1/imports/{held.shown_id}"
    admin.post(f"{url}/cancel")
    again = admin.put(f"{url}/file", lines(*SAID), content_type="application/octet-stream")
    assert again.json()["status"] == "checking"

    with pytest.raises(LostLease), reporting(held):
        pass
    run_import(import_id=held.pk)
    assert admin.get(url).json()["status"] == "checked"


def test_each_report_renews_the_lease(admin: APIClient) -> None:
    held = checking(admin, lines(*SAID))
    FileImport.objects.update(leased_until=timezone.now() + timedelta(seconds=1))
    with reporting(held):
        pass
    left = FileImport.objects.get().leased_until - timezone.now()
    assert timedelta(seconds=50) < left <= timedelta(seconds=60)
    assert due_imports() == []


def test_memories_that_are_private_to_an_agent_stay_so(
    project: Project, admin: APIClient, trusted: APIClient, upload: Upload
) -> None:
    change_policy(project_id=project.pk, base=1, changes={("sharing", "memory_sharing"): "by_agent"})
    secret = {"type": "fact", "content": "Ana has a boat.", "agent_id": "coach", "app_id": "shop", "run_id": "r1"}
    shared = {"type": "fact", "content": "Ana plays chess."}
    assert trusted.post("/v1/memories", {"user_id": "ana", "memories": [secret, shared]}).status_code == 201
    memories = Memory.objects.select_related("end_user", "subject").order_by("id")
    told = "".join(export_memories(project_id=project.pk, memories=memories, file_format=ExportFormat.JSONL))
    change_policy(project_id=project.pk, base=2, changes={("sharing", "memory_sharing"): "shared"})

    made = upload(told.replace('"user_id":"ana"', '"user_id":"bo"').encode(), format="memories")
    assert start(admin, made)["done"] == {"stored": 2}
    boat = Memory.objects.get(end_user__external_id="bo", content="Ana has a boat.")
    assert (boat.private_to, boat.agent_id, boat.app_id, boat.run_id) == ("coach", "coach", "shop", "r1")
    search = {"user_id": "bo", "query": "boat chess"}
    for agent, expected in (({}, {"Ana plays chess."}), ({"agent_id": "coach"}, {"Ana has a boat."})):
        found = trusted.post("/v1/memories/search", {**search, **agent}).json()
        assert expected <= {each["content"] for each in found["results"]}, found
        assert agent or "Ana has a boat." not in {each["content"] for each in found["results"]}
