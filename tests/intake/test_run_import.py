"""An import as a job: checked without writing, imported once whatever happens, at the pace that quotas allow."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.imports.models import FileImport, ImportFile
from apps.imports.readers import files
from apps.imports.services import due_imports
from apps.intake import quotas
from apps.intake import run_import as running
from apps.intake.run_import import run_import
from apps.memories.models import LedgerEntry, Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix, parse
from apps.privacy.users import erase_user
from apps.projects.services import archive_project, restore_project
from apps.tenants.models import ApiKey, Project
from apps.traces.models import Trace, Turn
from apps.worker.tasks import forget_import_files
from tests.conftest import MakeClient
from tests.intake.import_steps import SAID, Upload, lines, mem0, start, work

pytestmark = pytest.mark.django_db


def test_a_check_counts_what_a_file_would_bring_and_writes_nothing(admin: APIClient, upload: Upload) -> None:
    checked = upload(lines(*SAID) + b"\n{nonsense\n" + lines("Hello there!", user_id="bo"))

    counts = checked["counts"]
    assert (checked["status"], checked["format"]) == ("checked", "jsonl")
    assert (counts["turns"], counts["conversations"], counts["users"], counts["problems"]) == (6, 2, 2, 1)
    assert (counts["known"], counts["dropped"], counts["dropped_by_reason"]) == (
        0,
        2,
        {"acknowledgement": 1, "greeting": 1},
    )
    assert checked["problems"][0]["at"] == "line 6"
    assert not Turn.objects.exists()


def test_an_import_ends_with_turns_that_the_pipeline_works_on(admin: APIClient, upload: Upload) -> None:
    done = start(admin, upload(lines(*SAID)))

    assert (done["status"], done["done"], done["has_file"]) == ("done", {"turns": 5, "requests": 1}, False)
    assert list(Turn.objects.order_by("position").values_list("content", flat=True)) == SAID
    assert Trace.objects.get().metadata == {"import": done["id"]}
    assert OutboxRow.objects.filter(kind="run_pipeline").count() == 1
    assert not ImportFile.objects.exists()
    verbs = LedgerEntry.objects.filter(object_kind="import").order_by("id").values_list("verb", flat=True)
    assert list(verbs) == ["import_requested", "import_started", "import_finished", "import_file_deleted"]


def test_the_same_file_brings_nothing_again(admin: APIClient, upload: Upload) -> None:
    start(admin, upload(lines(*SAID)))
    again = upload(lines(*SAID))

    assert again["counts"]["known"] == 5
    assert start(admin, again)["done"] == {"known": 5}
    assert Turn.objects.count() == 5


def test_an_import_that_is_killed_goes_on_without_doubling(
    admin: APIClient, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2)
    made = upload(lines(*SAID))
    accept, calls = running.accept, []

    def killed(**options: Any) -> Any:
        calls.append(accept(**options))
        if len(calls) == 2:
            raise KeyboardInterrupt  # after the turns were written, before the commit
        return calls[-1]

    monkeypatch.setattr(running, "accept", killed)
    admin.post(f"/v1/imports/{made['id']}/start")
    with pytest.raises(KeyboardInterrupt):
        work(admin, made)
    assert (Turn.objects.count(), FileImport.objects.get().state) == (2, "running")
    assert work(admin, made)["status"] == "running"  # the lease of the killed process has not ended
    FileImport.objects.update(leased_until=timezone.now())

    assert len(due_imports()) == 1
    done = work(admin, made)
    assert (done["status"], done["done"]["turns"], done["chunks_done"]) == ("done", 5, 3)
    assert list(Turn.objects.order_by("position").values_list("content", flat=True)) == SAID


def test_an_import_waits_where_the_queue_is_half_full(
    project: Project, admin: APIClient, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2)
    Project.objects.update(queue_limit=8)
    waiting = start(admin, upload(lines(*SAID)))

    assert (waiting["status"], waiting["chunks_done"]) == ("waiting", 2)
    assert "half full" in waiting["wait_reason"]
    quotas.check_queue_limit(project_id=project.pk)  # callers still find room
    OutboxRow.objects.update(state="done")
    FileImport.objects.update(resume_at=timezone.now())
    assert work(admin, waiting)["status"] == "done"


def test_an_import_whose_key_was_revoked_goes_on_in_the_name_of_another(
    project: Project, admin: APIClient, upload: Upload, client_of: MakeClient
) -> None:
    made = upload(lines(*SAID))
    admin.post(f"/v1/imports/{made['id']}/start")
    other = client_of(project, Scope.ADMIN)
    ApiKey.objects.filter(id=FileImport.objects.get().api_key_id).update(revoked_at=timezone.now())

    assert work(other, made)["status"] == "failed"
    assert not Turn.objects.exists()
    assert start(other, made)["status"] == "done"


def test_an_import_is_cancelled_and_resumed(admin: APIClient, upload: Upload) -> None:
    made = upload(lines(*SAID))
    assert admin.post(f"/v1/imports/{made['id']}/cancel").json()["status"] == "cancelled"
    assert work(admin, made)["status"] == "cancelled"
    assert not Turn.objects.exists()
    assert start(admin, made)["status"] == "done"
    assert admin.post(f"/v1/imports/{made['id']}/cancel").status_code == 409
    assert admin.post(f"/v1/imports/{made['id']}/start").status_code == 409


def test_memories_of_another_product_are_stored_as_hearsay_and_once(admin: APIClient, upload: Upload) -> None:
    done = start(admin, upload(mem0("Likes green tea", "Plays chess", metadata={"a": 1})))

    assert done["done"] == {"stored": 2}
    memory = Memory.objects.get(content="Likes green tea")
    assert (memory.status, memory.extractor, memory.source_confidence) == (Status.ACTIVE, "import", "inferred")
    assert memory.confidence < 0.7
    assert memory.metadata == {"a": 1, "imported": {"from": "mem0", "id": "m0", "import": done["id"]}}
    again = upload(mem0("Likes green tea", "Plays chess"))
    assert again["counts"]["known"] == 2
    assert start(admin, again)["done"] == {"known": 2}
    assert Memory.objects.count() == 2


def test_an_imported_memory_never_replaces_what_is_known(admin: APIClient, trusted: APIClient, upload: Upload) -> None:
    lisbon = {"type": "fact", "content": "Ana lives in Lisbon.", "subject": "User", "predicate": "lives_in"}
    lisbon |= {"object": {"literal": "Lisbon"}, "said_at": "2020-01-01T00:00:00Z"}
    trusted.post("/v1/memories", {"user_id": "ana", "memories": [lisbon]})
    porto = {**lisbon, "id": "mem_1", "content": "Ana lives in Porto.", "object": "Porto", "status": "active"}
    porto |= {"user_id": "ana", "said_at": "2026-01-01T00:00:00Z", "confidence": 1.0, "tags": ["constraint"]}

    assert start(admin, upload(json.dumps(porto).encode(), format="memories"))["done"] == {"stored": 1}
    assert dict(Memory.objects.values_list("content", "status")) == {
        "Ana lives in Lisbon.": "active",
        "Ana lives in Porto.": "pending_review",
    }


@pytest.mark.parametrize("started", [False, True])
def test_the_file_that_holds_an_erased_user_is_deleted(
    project: Project, admin: APIClient, upload: Upload, started: bool
) -> None:
    start(admin, upload(lines(*SAID)))
    holding = upload(lines("I moved to Porto."), users={"x": "ana"})
    other = upload(lines("I moved to Porto.", user_id="bo"))
    if started:
        admin.post(f"/v1/imports/{holding['id']}/start")

    erase_user(project_id=project.pk, user_id="ana")

    left = admin.get(f"/v1/imports/{holding['id']}").json()
    assert (left["status"], left["has_file"]) == ("cancelled", False)
    assert "erased" in left["error"]
    assert FileImport.objects.get(id=parse(Prefix.IMPORT, holding["id"])).users_by_name == {}
    assert admin.get(f"/v1/imports/{other['id']}").json()["has_file"]
    assert work(admin, holding)["status"] == "cancelled"
    assert admin.post(f"/v1/imports/{holding['id']}/start").status_code == 409


def test_a_file_that_nobody_finishes_is_deleted(admin: APIClient, upload: Upload, settings: Any) -> None:
    made = upload(lines(*SAID))
    forget_import_files()
    assert ImportFile.objects.exists()
    FileImport.objects.update(created_at=timezone.now() - timedelta(days=settings.IMPORT_KEPT_DAYS + 1))
    forget_import_files()
    assert not ImportFile.objects.exists()
    assert admin.get(f"/v1/imports/{made['id']}").json()["status"] == "cancelled"


def test_a_file_is_bounded_whole_and_of_a_known_format(admin: APIClient, settings: Any) -> None:
    made = admin.post("/v1/imports", {"file_name": "f"}).json()
    url, kind = f"/v1/imports/{made['id']}", "application/octet-stream"
    assert admin.post(f"{url}/start").status_code == 409  # no file
    assert admin.put(f"{url}/file", b"", content_type=kind).status_code == 422
    assert admin.put(f"{url}/file", b"{", content_type="application/json").status_code == 415
    most, settings.IMPORT_MAX_MB = settings.IMPORT_MAX_MB, 0
    assert admin.put(f"{url}/file", b"x", content_type=kind).status_code == 413
    settings.IMPORT_MAX_MB = most
    large = b'{"mood": "good"}' + b" " * 5_000_000
    sent = admin.put(f"{url}/file", large, content_type=kind).json()
    assert (sent["status"], sent["size"]) == ("checking", len(large))
    assert admin.put(f"{url}/file", b"x", content_type=kind).status_code == 409
    run_import(import_id=parse(Prefix.IMPORT, made["id"]))
    failed = admin.get(url).json()
    assert (failed["status"], failed["error"]) == ("failed", "the format of the file is not recognised: name it")
    assert admin.post(f"{url}/start").status_code == 409
    assert admin.put(f"{url}/file", lines(*SAID), content_type=kind).json()["status"] == "checking"
    run_import(import_id=parse(Prefix.IMPORT, made["id"]))
    assert admin.get(url).json()["status"] == "checked"
    assert admin.put(f"{url}/file", b"x", content_type=kind).status_code == 409
    assert admin.delete(f"{url}/file").json()["has_file"] is False


def test_an_import_into_an_archived_project_fails_and_goes_on_once_it_is_restored(
    project: Project, admin: APIClient, upload: Upload
) -> None:
    made = upload(mem0("Likes green tea"))
    admin.post(f"/v1/imports/{made['id']}/start")
    archive_project(project_id=project.pk)

    assert "archived" in work(admin, made)["error"]
    assert not Memory.objects.exists()
    restore_project(project_id=project.pk)
    assert start(admin, made)["done"] == {"stored": 1}


def test_a_worker_that_gives_others_their_turn_goes_on_later(
    admin: APIClient, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2)
    made = upload(lines(*SAID))
    admin.post(f"/v1/imports/{made['id']}/start")
    import_id = parse(Prefix.IMPORT, made["id"])
    run_import(import_id=import_id, chunks=0)
    assert FileImport.objects.get().state == "waiting"

    run_import(import_id=import_id)
    assert Turn.objects.count() == 5
