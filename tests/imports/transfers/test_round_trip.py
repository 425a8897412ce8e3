"""A project that is loaded in another installation answers as the original, and exports the same again."""

import json
import re
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command

from apps.imports.transfers.export_project import OF_END_USER, OF_PROJECT
from apps.memories.models import LedgerEntry, Memory, MemoryVector
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, WorkKind
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.conftest import MakeClient
from tests.imports.transfers.carrying import SAID, answers, content_of, drain, load, rows_of, taken_back, vectors_of
from tests.imports.transfers.conftest import Original

pytestmark = pytest.mark.django_db
_PERSON = re.compile(r"\bperson:(?=\d)")
# Tables of a project that an export leaves behind, and why.
LEFT_BEHIND: dict[str, str] = {
    "OutboxRow": "work is enqueued again for traces that wait",
    "UserLease": "belongs to the work",
    "IdempotentRequest": "answers are kept for a day, for callers of this server",
    "ReplayedTrace": "a replay is requested again",
    "Replay": "a replay is requested again",
    "ModelTestCall": "concerns the models of this server",
    "ModelPause": "concerns the models of this server",
    "HourlyTally": "computed from traces",
    "HourlyLatency": "computed from traces",
    "Alert": "concerns this server",
    "AlertDelivery": "concerns this server",
    "AlertRecipients": "addresses and secrets",
    "EventLog": "concerns this server",
    "ProjectEvent": "concerns this server; deleted after some days",
    "Webhook": "addresses and secrets",
    "WebhookDelivery": "concerns this server",
    "LedgerEntry": "the ledger is sealed, and has an export of its own",
    "LedgerCheckpoint": "the ledger is sealed, and has an export of its own",
    "Erasure": "receipts belong to this server",
    "FileImport": "belongs to this server",
    "ImportFile": "belongs to this server",
    "ApiKey": "a secret",
    "Membership": "names an account",
    "Invitation": "a secret",
    "EndUser": "its line begins the rows of each end user",
}


def comparable(content: bytes) -> list[str]:
    """Return the lines of an export without when it was written, and with who acted as they are called elsewhere."""
    head, *rows = rows_of(content)
    told = sorted(json.dumps(each) for each in ({**head, "exported_at": ""}, *rows))
    return [_PERSON.sub("person:elsewhere-", each) for each in told]


def test_a_loaded_project_answers_and_exports_as_the_original(original: Original, client_of: MakeClient) -> None:
    project = load(original.content)

    assert comparable(content_of(project)) == comparable(original.content)
    assert b'"person:elsewhere-' in content_of(project)
    assert list(answers(client_of(project, Scope.READ))) == original.answers
    assert any(original.answers)
    assert vectors_of(project) == original.vectors
    assert not OutboxRow.objects.exists()  # nothing has to be computed again


def test_a_loaded_project_goes_on_as_the_original(content: bytes, client_of: MakeClient) -> None:
    """Known statements are recognised, and newer ones supersede."""
    project = load(content)
    counts = Memory.objects.filter(status="active").count()
    writer = client_of(project, Scope.WRITE, Scope.READ)

    turns = [{"role": "user", "content": SAID[1]}, {"role": "user", "content": "I moved to Hamburg."}]
    body = {"user_id": "ana", "session_id": "new", "turns": turns}
    assert writer.post("/v1/turns", body).status_code == 202
    drain()

    live = Memory.objects.filter(end_user__external_id="ana", status="active")
    assert live.filter(content__contains="Hamburg").exists()
    assert not live.filter(content__contains="Munich").exists()
    assert live.filter(content__contains="Rome").count() == 1
    assert Memory.objects.filter(status="active").count() == counts


def test_what_waited_waits_again(request: pytest.FixtureRequest) -> None:
    """A queued trace, a session that is to be read again, and a memory without its vector."""
    with taken_back():
        filled, trusted = request.getfixturevalue("filled"), request.getfixturevalue("trusted")
        latest = Trace.objects.filter(project=filled).latest("created_at")
        again = Trace.objects.create(
            end_user_id=latest.end_user_id,
            project=filled,
            session_id=latest.session_id,
            configuration_id=latest.configuration_id,
            reads_again=True,
        )
        turn = {"role": "user", "content": "I play the cello."}
        trusted.post("/v1/turns", {"user_id": "cy", "session_id": "s", "turns": [turn]})
        not_indexed = MemoryVector.objects.filter(memory__status="active").latest("memory_id").memory_id
        MemoryVector.objects.filter(memory_id=not_indexed).delete()
        content = content_of(filled)

    load(content)

    assert OutboxRow.objects.get(kind=WorkKind.READ_AGAIN).subject_id == again.pk
    assert OutboxRow.objects.get(kind=WorkKind.INDEX_MEMORY).subject_id == not_indexed
    OutboxRow.objects.filter(kind=WorkKind.READ_AGAIN).delete()
    drain()
    assert Memory.objects.filter(content__contains="cello").count() == 1
    assert MemoryVector.objects.filter(memory_id=not_indexed).exists()


def test_a_project_is_exported_by_rest_and_command(filled: Project, client_of: MakeClient, tmp_path: Path) -> None:
    file = tmp_path / "project.jsonl"
    answer: Any = client_of(filled, Scope.ADMIN).get("/v1/project/export")
    call_command("export_project", filled.slug, "--output", str(file))

    assert comparable(b"".join(answer.streaming_content)) == comparable(file.read_bytes())
    acts = LedgerEntry.objects.filter(project=filled, verb="project_exported").values_list("actor", flat=True)
    assert {actor.partition(":")[0] for actor in acts} == {"key", "command"}


def test_a_project_is_loaded_by_a_command(content: bytes, tmp_path: Path) -> None:
    file, out = tmp_path / "project.jsonl", StringIO()
    file.write_bytes(content)
    call_command("load_project", str(file), "--slug=moved", "--name=Moved here", stdout=out)

    project = Project.objects.get(slug="moved")
    exported = rows_of(content)[0]["project"]
    assert (project.name, str(project.pk)) == ("Moved here", exported["id"])
    assert out.getvalue().splitlines()[0] == "moved"
    assert "end_user: 2" in out.getvalue().splitlines()
    entry = LedgerEntry.objects.get(project=project, verb="project_loaded")
    assert (entry.actor, entry.details["end_user"]) == ("command", 2)


def test_every_table_of_a_project_is_exported_or_left_behind_on_purpose() -> None:
    names = {"project", "end_user"}
    tenant = {
        model.__name__
        for model in apps.get_models()
        if names & {field.name for field in model._meta.concrete_fields} and model._meta.app_label != "auth"
    }
    exported = {table.model.__name__ for table in chain(OF_PROJECT, OF_END_USER)}

    assert tenant <= exported | LEFT_BEHIND.keys()
    assert not exported & LEFT_BEHIND.keys()
