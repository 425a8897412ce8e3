"""The pages of rollbacks: from a trace to the preview, the result and the undo."""

from typing import Any

import pytest
from django.test import Client

from apps.memories.ledger.actor import acting_as
from apps.memories.models import Memory, Rollback
from apps.memories.services.revising import Revision, revise
from apps.pipeline.core.enums import Scope, Status
from apps.projects.api_keys import create_key
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.tuning.rollbacks.teller import Teller, roll_back

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
    with acting_as(f"key:{project.id}"):
        revise(revision=Revision(project.id, memory.id, {"importance": 0.9}))
    address = f"{PAGES}new/?trace={trace.shown_id}"
    preview = text_of(admin.get(address))
    assert "a person or a caller has changed it since" in preview.lower()
    assert f'value="{memory.shown_id}"' in preview

    admin.post(address, {"force": memory.shown_id})

    memory.refresh_from_db()
    assert memory.status == Status.RETRACTED


def test_from_a_key_to_what_it_wrote(admin: Client, project: Project) -> None:
    key = create_key(project_id=project.pk, name="bot", scopes=[Scope.WRITE]).key
    assert "Nothing to roll back" in text_of(admin.get(f"{PAGES}new/?key={key.pk}"))
    assert f'<option value="{key.pk}">bot (' in text_of(admin.get(PAGES))
    wrong = admin.get(f"{PAGES}new/?key={project.pk}")
    assert (wrong.status_code, "This project has no such key" in wrong.content.decode()) == (422, True)


def test_the_address_without_a_selection_leads_to_the_form(admin: Client, project: Project) -> None:
    assert admin.get(f"{PAGES}new/")["Location"] == PAGES


@pytest.mark.parametrize(
    ("query", "says", "field"),
    [
        ("user=", "fill in at least one field", ""),
        ("trace=x", "This is no trace ID", "trace"),
        ("version=x", "Enter the number of a configuration version", "version"),
        ("version=99", "no version with this number", "version"),
        ("user=nobody", "no user with this ID", "user"),
        ("session=s", "A session needs its user", "user"),
        ("since=2026-02-02&until=2026-01-01", "The end has to be after the beginning", "until"),
        ("user=ana&since=yesterday", "Enter a valid date", "since"),
        ("replay=rpl_" + "0" * 32, "no such replay", ""),
    ],
)
def test_a_selection_that_names_nothing_is_explained_at_its_field(
    admin: Client, project: Project, query: str, says: str, field: str
) -> None:
    answer = admin.get(f"{PAGES}new/?{query}")
    page = answer.content.decode()

    assert answer.status_code == 422
    assert says in page
    assert not field or page.count(f'id_{field}_error"') == 2  # the field refers to its problem
    for name, _, value in (each.partition("=") for each in query.split("&") if not each.startswith("replay")):
        assert not value or f'name="{name}" value="{value}"' in page


def test_an_undo_says_what_it_has_restored_and_what_not(admin: Client, ana: Teller, project: Project) -> None:
    first, second = ana.tells("I live in Lisbon.", day=2), ana.tells("My sister Lena plays chess.", day=3)
    once = roll_back(project, first)
    page = text_of(admin.post(f"{PAGES}{once.pk}/undo/", follow=True))
    assert "The undo has restored 1 of 1 trace." in page

    again = roll_back(project, second, rerun=True)
    ana.is_worked_for()
    page = text_of(admin.post(f"{PAGES}{again.pk}/undo/", follow=True))
    assert "Nothing was restored; 1 memory left alone" in page
    assert "the requests were run again" in page.lower()
    again.refresh_from_db()
    assert (again.counts["undone_traces"], again.counts["undo_left_alone"]) == (0, 1)
