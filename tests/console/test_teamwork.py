"""Reviewers in a team: presence, assignments, comments."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.actions.projects.remove_member import remove_member
from apps.actions.review.note_presence import EXPIRES_AFTER
from apps.actions.sessions.delete_turns import delete_session
from apps.actions.users.erase_user import erase_user
from apps.actions.users.export_user import export_user
from apps.memories.models import LedgerEntry, Memory, MemoryComment, MemoryLink, ReviewAssignment, ReviewPresence
from apps.pipeline.core.enums import LinkKind, MemberRole
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Membership, Project
from tests.console.operation_rows import HOSTILE
from tests.console.pending import pending
from tests.console.test_review import member, seen
from tests.console.test_review_queue import rows

pytestmark = pytest.mark.django_db
HOME = "/console/test/"


@pytest.fixture
def rita(project: Project) -> Client:
    return member("rita", project, MemberRole.REVIEWER)


@pytest.fixture
def ben(project: Project) -> Client:
    return member("ben", project, MemberRole.REVIEWER)


@pytest.fixture
def memory(project: Project) -> Memory:
    return pending(project, "Likes tea")


def number_of(name: str) -> int:
    return User.objects.get(username=name).pk


def beat(client: Client, opened: object) -> str:
    return client.post(f"{HOME}presence/", {"open": str(opened)}).content.decode().strip()


# --- presence


def test_others_see_who_looks_at_a_memory(rita: Client, ben: Client, memory: Memory) -> None:
    assert beat(rita, memory.pk) == ""
    assert "rita is looking at it" in beat(ben, memory.pk)
    assert "ben is looking at it" in beat(rita, memory.pk)
    assert beat(rita, new_id()) == ""  # she went on
    assert beat(ben, memory.pk) == ""


def test_presence_expires_without_a_heartbeat(rita: Client, ben: Client, memory: Memory) -> None:
    beat(rita, memory.pk)
    long_ago = timezone.now() - EXPIRES_AFTER - timedelta(seconds=1)
    ReviewPresence.objects.update(seen_at=long_ago)
    assert beat(ben, memory.pk) == ""
    assert ReviewPresence.objects.count() == 1


def test_presence_locks_nothing(rita: Client, ben: Client, memory: Memory) -> None:
    beat(rita, memory.pk)
    assert ben.post(f"{HOME}review/approve/", {"memory": seen(memory)}).status_code == 200


def test_presence_needs_something_that_is_open(rita: Client) -> None:
    assert rita.post(f"{HOME}presence/", {"open": "x"}).status_code == 422


# --- assignments


def test_a_reviewer_finds_what_is_assigned_to_her(rita: Client, ben: Client, project: Project, memory: Memory) -> None:
    other = pending(project, "Likes milk")
    answer = ben.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": number_of("rita")})
    assert "Assigned to rita." in answer.content.decode()
    assert rows(rita, "?mine=1") == [str(memory.pk)]
    assert rows(ben, "?mine=1") == []
    assert rows(ben) == [str(memory.pk), str(other.pk)]
    assert "for rita" in ben.get(f"{HOME}review/").content.decode()
    assert LedgerEntry.objects.get(verb="assigned").details == {"person": number_of("rita")}

    ben.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": number_of("ben")})
    assert ReviewAssignment.objects.get().person_id == number_of("ben")
    ben.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": ""})
    assert not ReviewAssignment.objects.exists()


@pytest.mark.parametrize(("to", "status"), [("eva", 422), ("stranger", 422), ("x", 422)])
def test_only_reviewers_of_the_project_are_assigned_to(
    rita: Client, project: Project, other_project: Project, memory: Memory, to: str, status: int
) -> None:
    member("eva", project, MemberRole.VIEWER)
    member("stranger", other_project, MemberRole.ADMIN)
    person = number_of(to) if to != "x" else to
    assert rita.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": person}).status_code == status
    assert not ReviewAssignment.objects.exists()


def test_a_member_who_leaves_has_nothing_assigned(rita: Client, ben: Client, project: Project, memory: Memory) -> None:
    ben.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": number_of("rita")})
    member("ada", project, MemberRole.ADMIN)
    remove_member(project_id=project.pk, membership_id=Membership.objects.get(user__username="rita").pk)
    assert not ReviewAssignment.objects.exists()


def test_a_pair_is_assigned_and_commented_on_through_its_memories(
    rita: Client, ben: Client, project: Project, memory: Memory
) -> None:
    other = pending(project, "Rui sings bass", user=memory.end_user.external_id, predicate="sings")
    link = MemoryLink.objects.create(
        end_user=memory.end_user, project=project, from_memory=other, to_memory=memory, kind=LinkKind.CONTRADICTS
    )
    ben.post(f"{HOME}review/assign/", {"memory": f"{seen(memory)} {seen(other)}", "to": number_of("rita")})
    page = rita.get(f"{HOME}contradictions/?mine=1").content.decode()
    assert 'mine <span class="number">1</span>' in page
    assert f'id="row-{link.pk}"' in page
    assert "for rita" in page
    assert "No matches" in ben.get(f"{HOME}contradictions/?mine=1").content.decode()
    rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": "Which voice?"})
    answer = ben.post(f"{HOME}memories/{other.pk}/comments/", {"text": "Bass, he says.", "pair": str(link.pk)})
    for text in ("Which voice?", "Bass, he says."):
        assert text in answer.content.decode()
        assert text in rita.get(f"{HOME}contradictions/{link.pk}/").content.decode()
    assert "2 comments<" in rita.get(f"{HOME}contradictions/").content.decode()


# --- comments


def test_comments_are_plain_text_with_author_and_time(rita: Client, ben: Client, memory: Memory) -> None:
    rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": f"Ask him. {HOSTILE}\nMy card: 4111 1111 1111 1111"})
    page = ben.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert "<strong>rita</strong>" in page
    assert "Ask him. &lt;script&gt;" in page
    assert HOSTILE not in page
    assert "4111" not in MemoryComment.objects.get().text  # redacted like every stored text
    assert "1 comment<" in ben.get(f"{HOME}review/").content.decode()
    entry = LedgerEntry.objects.get(verb="commented")
    assert (entry.actor, entry.object_id) == (f"person:{number_of('rita')}", memory.pk)
    assert "Ask" not in str(entry.details)


@pytest.mark.parametrize("text", ["", "  ", "x" * 2_001])
def test_a_comment_needs_words(rita: Client, memory: Memory, text: str) -> None:
    assert rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": text}).status_code == 422
    assert not MemoryComment.objects.exists()


def test_a_memory_of_another_project_takes_no_comment_and_no_assignment(
    admin: Client, other_project: Project, memory: Memory
) -> None:
    answer = admin.post(
        f"/console/other/memories/{memory.pk}/comments/", {"text": "Hm"}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 404
    given = {"memory": seen(memory), "to": number_of("chief")}
    assert admin.post("/console/other/review/assign/", given, headers={"HX-Request": "true"}).status_code == 404
    assert not MemoryComment.objects.exists()
    assert not ReviewAssignment.objects.exists()


def test_comments_and_assignments_go_with_the_end_user(rita: Client, project: Project, memory: Memory) -> None:
    rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": "Ask him."})
    rita.post(f"{HOME}review/assign/", {"memory": seen(memory), "to": number_of("rita")})
    exported = b"".join(export_user(project_id=project.pk, user_id="rui")).decode()
    assert "Ask him." in exported
    assert '"kind":"review_assignments"' in exported
    erase_user(project_id=project.pk, user_id="rui")
    assert not MemoryComment.objects.exists()
    assert not ReviewAssignment.objects.exists()


def test_a_memory_with_comments_is_deleted_with_its_session(full_project: Project) -> None:
    names = {"user_id": f"rui {HOSTILE}", "session_id": f"monday {HOSTILE}"}
    assert MemoryComment.objects.exists()
    delete_session(project_id=full_project.pk, **names)
    assert not Memory.objects.filter(comments__isnull=False).exists()
    assert not MemoryComment.objects.exists()
    assert not ReviewAssignment.objects.exists()
