"""manage.py ingest imports a file through the intake of the API: whole requests, once, or not at all."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.imports.readers import files
from apps.imports.services import leased
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.tenants.models import Project
from apps.traces.models import Trace, Turn
from memplatform.management.commands import ingest

pytestmark = pytest.mark.django_db


def lines(*turns: dict[str, Any]) -> str:
    lines = ({"user_id": "ana", "session_id": "monday", "role": "user", **turn} for turn in turns)
    return "\n".join(map(json.dumps, lines))


THREE = lines({"content": "I live in Lisbon."}, {"content": "ok"}, {"content": "I work as a nurse."})


def run(project: Project, file: Path, content: str | bytes, *options: str) -> str:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    out = StringIO()
    call_command("ingest", str(file), "--format=jsonl", f"--project={project.slug}", *options, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def test_a_file_becomes_traces_with_queued_work(project: Project, file: Path) -> None:
    assert run(project, file, THREE) == "3 turns in 1 requests, 0 known already\n"
    assert list(Turn.objects.order_by("position").values_list("external_id", flat=True)) == [
        "line-1",
        "line-2",
        "line-3",
    ]
    assert Trace.objects.get().project == project
    assert OutboxRow.objects.count() == 1


def test_a_run_takes_up_where_another_stopped(project: Project, file: Path) -> None:
    run(project, file, THREE)
    more = THREE + "\n" + lines({"content": "I have a dog named Rex."})
    assert run(project, file, more) == "1 turns in 1 requests, 3 known already\n"
    assert list(Turn.objects.order_by("position").values_list("position", flat=True)) == [0, 1, 2, 3]


def test_requests_hold_one_session_and_so_many_turns(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2)
    mixed = THREE + "\n" + lines({"content": "I moved.", "session_id": "tuesday"}, {"content": "Back again."})
    assert run(project, file, mixed) == "5 turns in 4 requests, 0 known already\n"
    assert sorted(trace.turns.count() for trace in Trace.objects.all()) == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("{nonsense\n" + lines({"role": "pirate", "content": "Aye"}), ["line 4: ", "line 5: "]),
        (lines({"content": "One", "turn_id": "line-1"}), ["line 4: has the turn_id"]),
    ],
)
def test_what_is_bad_is_told_with_its_line_and_the_rest_is_imported(
    project: Project, file: Path, content: str, messages: list[str]
) -> None:
    told = run(project, file, f"{THREE}\n{content}").splitlines()
    assert told.pop() == "3 turns in 1 requests, 0 known already"
    assert [line.startswith(f"{file}: {start}") for line, start in zip(told, messages, strict=True)]
    assert Turn.objects.count() == 3


def test_a_dry_run_counts_and_writes_nothing(project: Project, file: Path) -> None:
    told = run(project, file, THREE, "--dry-run").splitlines()
    assert {"turns: 3", "conversations: 1", "users: 1", "dropped: 1"} <= set(told)
    assert not Turn.objects.exists()
    assert FileImport.objects.get().state == "checked"


def test_a_turn_without_an_end_user_is_bad_unless_the_command_names_one(project: Project, file: Path) -> None:
    anonymous = json.dumps({"session_id": "s", "role": "user", "content": "I live in Lisbon."})
    assert "user_id is named neither by the file nor by the import" in run(project, file, anonymous)
    assert not Trace.objects.exists()
    run(project, file, anonymous, "--user=bo")
    assert Trace.objects.get().end_user.external_id == "bo"


def test_a_check_that_a_worker_has_begun_is_waited_for(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, claimed = ingest.upload_import, []

    def begun(**options: Any) -> FileImport:
        held = queue(**options)
        with leased(import_id=held.pk) as by_a_worker:
            claimed.append(by_a_worker)
        return held

    def slept(_: float) -> None:
        FileImport.objects.filter(state=ImportState.CHECKING).update(leased_until=timezone.now())  # the worker died

    monkeypatch.setattr(ingest, "upload_import", begun)
    monkeypatch.setattr(ingest.time, "sleep", slept)

    assert run(project, file, THREE) == "3 turns in 1 requests, 0 known already\n"
    assert len(claimed) == 1
    assert claimed[0] is not None


@pytest.mark.parametrize("options", [("--project=nobody",), ("--format=jsonl",)])
def test_an_unknown_project_or_a_missing_file_is_reported(
    project: Project, tmp_path: Path, options: tuple[str]
) -> None:
    with pytest.raises(CommandError, match=r"no project|No such file"):
        call_command("ingest", str(tmp_path / "absent"), f"--project={project.slug}", "--format=jsonl", *options)


def test_wait_ends_when_the_work_is_done(project: Project, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads of a drain would not see this test's transaction: the work is done here, in their place.
    monkeypatch.setattr("memplatform.management.commands.ingest.work", _drain_here)
    run(project, file, THREE, "--wait")
    assert set(OutboxRow.objects.values_list("state", flat=True)) == {"done"}
    assert Memory.objects.filter(end_user__external_id="ana").exists()


def _drain_here(**_: Any) -> int:
    from apps.memories.live_ports import live
    from apps.outbox import leases
    from apps.worker.process_user import process_user

    (lease,) = leases.claim(limit=1, seconds=60)
    return process_user(lease=lease, ports=live())
