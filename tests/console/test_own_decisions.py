"""My decisions: what a reviewer decided, with undo or the reason against it."""

import re

import pytest
from django.test import Client

from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status
from apps.review.views.review import SHOWN_FOR
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import htmx_member, seen, status_of, undo_in
from tests.console.pending import pending, queue_of

pytestmark = pytest.mark.django_db
PAGE, REVIEW = "/console/test/decisions/", "/console/test/review/"


def entries(client: Client) -> list[str]:
    return client.get(PAGE).content.decode().split('<li class="row" data-row>')[1:]


def test_own_decisions_are_listed_latest_first(rita: Client, project: Project) -> None:
    one, other, third = queue_of(project, 3)
    rita.post(f"{REVIEW}approve/", {"memory": seen(one)})
    rita.post(f"{REVIEW}reject/", {"memory": seen(other), "reason": "private"})
    htmx_member("ben", project, MemberRole.REVIEWER).post(f"{REVIEW}approve/", {"memory": seen(third)})
    assert [re.findall(r"hx-disable>(\w+)</strong>", each) for each in entries(rita)] == [["rejected"], ["approved"]]


def test_it_says_how_one_approved_and_why_one_rejected(rita: Client, project: Project) -> None:
    guess, typo, lie = queue_of(project, 3)
    rita.post(f"{REVIEW}approve/", {"memory": seen(guess), "as_uncertain": "1"})
    rita.post(f"{REVIEW}approve/", {"memory": seen(typo), "content": "Rui counts goats"})
    rita.post(f"{REVIEW}reject/", {"memory": seen(lie), "reason": "not_lasting"})
    said = {guess: "kept as uncertain", typo: "edited and approved", lie: "rejected"}
    for memory, entry in zip((lie, typo, guess), entries(rita), strict=True):
        assert f"hx-disable>{said[memory]}</strong>" in entry
        assert ("reason: not lasting" in entry) == (memory == lie)
    ask = rita.get("/console/test/ask/", {"user": "rui"}).content.decode()
    for memory, words in said.items():
        page = rita.get(f"/console/test/memories/{memory.pk}/").content.decode()
        assert f"<strong>{words}</strong> by rita" in page
        assert ("reason: not lasting" in page) == (memory == lie)
        assert f"{words} by rita" in ask
    assert "reason: not lasting" in ask


def test_each_rejection_has_its_own_reason(rita: Client, project: Project) -> None:
    memory = pending(project, "Likes tea")
    rejected = rita.post(f"{REVIEW}reject/", {"memory": seen(memory), "reason": "private"})
    rita.post("/console/test/undo/", undo_in(rejected.content.decode()))
    memory.refresh_from_db()
    rita.post(f"{REVIEW}reject/", {"memory": seen(memory), "reason": "unclear"})
    page = rita.get(f"/console/test/memories/{memory.pk}/").content.decode()
    assert re.findall(r"reason: (\w+)", page) == ["unclear", "private"]


def test_a_decision_is_undone_and_listed_as_undone(rita: Client, project: Project) -> None:
    memory = pending(project, "Likes tea")
    rita.post(f"{REVIEW}approve/", {"memory": seen(memory)})
    rita.post("/console/test/undo/", undo_in(entries(rita)[0]))
    assert status_of(memory) == Status.PENDING_REVIEW
    (entry,) = entries(rita)
    assert "undone</span>" in entry
    assert "Undo</button>" not in entry


def test_what_somebody_else_changed_says_who(rita: Client, project: Project) -> None:
    memory = pending(project, "Likes tea")
    rita.post(f"{REVIEW}reject/", {"memory": seen(memory), "reason": "private"})
    was = Memory.objects.get(pk=memory.pk)
    MemoryVersion.objects.create(
        end_user=was.end_user,
        memory=was,
        version=was.version,
        values={"status": was.status},
        operation="reopened",
        actor="key:1",
        known_from=was.updated_at,
    )
    Memory.objects.filter(pk=was.pk).update(version=was.version + 1, status=Status.PENDING_REVIEW)
    (entry,) = entries(rita)
    assert "can’t be undone: key reopened it" in entry
    assert "Undo</button>" not in entry


def test_a_settled_pair_is_one_decision(rita: Client, project: Project) -> None:
    one, other = queue_of(project, 2)
    link = MemoryLink.objects.create(
        end_user=one.end_user, project=project, from_memory=other, to_memory=one, kind=LinkKind.CONTRADICTS
    )
    given = {"memory": [seen(other), seen(one)], "resolution": "kept_to"}
    rita.post(f"/console/test/contradictions/{link.pk}/settle/", given)
    (entry,) = entries(rita)
    assert f"kept “{one.content}”, rejected the other" in entry
    rita.post("/console/test/undo/", undo_in(entry))
    assert {status_of(one), status_of(other)} == {Status.PENDING_REVIEW}
    assert MemoryLink.objects.get().status == LinkStatus.OPEN


def test_old_decisions_are_left_out(rita: Client, project: Project) -> None:
    rita.post(f"{REVIEW}approve/", {"memory": seen(pending(project, "Likes tea"))})
    made = MemoryVersion.objects.get()
    MemoryVersion.objects.update(known_until=made.known_until - SHOWN_FOR)
    assert "No decisions yet" in rita.get(PAGE).content.decode()
