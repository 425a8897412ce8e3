"""The pages of rollbacks: from a trace to the preview, the result and the undo."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.actions.memories.revise import Revision, revise
from apps.memories.models import Memory, Rollback
from apps.pipeline.core.enums import Status
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.actions.rollbacks.teller import Teller

PAGES = "/console/test/rollbacks/"


@pytest.fixture
def ana(project: Project) -> Teller:
    return Teller(project)


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def test_from_a_trace_to_the_undo(admin: Client, ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    trace = Trace.objects.get(id=ana.tells("I moved to Porto.", day=3))
    assert "Roll back this trace" in text_of(admin.get(f"/console/test/traces/{trace.pk}/"))

    address = f"{PAGES}new/?trace={trace.shown_id}"
    preview = text_of(admin.get(address))
    assert "becomes retracted" in preview
    assert "becomes active" in preview
    assert ana.memories() == ["User lives in Porto."]

    answer = admin.post(address, {"note": "a test account"}, follow=True)
    assert "a test account" in text_of(answer)
    assert ana.memories() == ["User lives in Lisbon."]
    rollback = Rollback.objects.get()
    shown = text_of(admin.get(f"/console/test/traces/{trace.pk}/"))
    assert "Rolled back" in shown
    assert str(rollback.pk) in shown
    assert "a test account" in text_of(admin.get(PAGES))

    undone = admin.post(f"{PAGES}{rollback.pk}/undo/", follow=True)
    assert "undone" in text_of(undone)
    assert ana.memories() == ["User lives in Porto."]


def test_an_edited_memory_is_forced_by_its_box(admin: Client, ana: Teller, project: Project) -> None:
    trace = Trace.objects.get(id=ana.tells("I live in Lisbon.", day=2))
    memory = Memory.objects.get()
    revise(revision=Revision(project.id, memory.id, {"importance": 0.9}, api_key_id=project.id))
    address = f"{PAGES}new/?trace={trace.shown_id}"
    preview = text_of(admin.get(address))
    assert "a person or a caller has changed it since" in preview.lower()
    assert f'value="{memory.shown_id}"' in preview

    admin.post(address, {"force": memory.shown_id})

    memory.refresh_from_db()
    assert memory.status == Status.RETRACTED


@pytest.mark.parametrize("query", ["", "trace=x", "version=x", "version=99", "user=nobody", "session=s", "key=key_x"])
def test_a_selection_that_names_nothing_is_explained(admin: Client, project: Project, query: str) -> None:
    answer = admin.get(f"{PAGES}new/?{query}")

    assert answer.status_code == 422
    assert b"Nothing can be rolled back" in answer.content


def run(*words: str) -> str:
    out = StringIO()
    call_command("rollback", "test", *words, stdout=out)
    return out.getvalue()


def test_the_command_shows_does_and_undoes(ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)

    assert "nothing is changed without --yes" in run("--user", "ana")
    assert ana.memories() == ["User lives in Lisbon."]
    assert "is done" in run("--user", "ana", "--yes", "--note", "a test account")
    assert ana.memories() == []
    assert "is undone" in run("--undo", Rollback.objects.get().shown_id)
    assert ana.memories() == ["User lives in Lisbon."]
    for wrong in (["--user", "nobody"], ["--trace", "x"], ["--since", "May"], []):
        with pytest.raises(CommandError):
            run(*wrong)
