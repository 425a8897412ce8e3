"""Comments of reviewers."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.intake.sessions import delete_session
from apps.memories.models import LedgerEntry, Memory, MemoryComment, MemoryLink
from apps.pipeline.core.enums import LinkKind
from apps.privacy.users import erase_user, export_user
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import htmx_member
from tests.console.operation_rows import HOSTILE
from tests.console.pending import pending

pytestmark = pytest.mark.django_db
HOME = "/console/test/"


@pytest.fixture
def ben(project: Project) -> Client:
    return htmx_member("ben", project, MemberRole.REVIEWER)


@pytest.fixture
def memory(project: Project) -> Memory:
    return pending(project, "Likes tea")


def number_of(name: str) -> int:
    return User.objects.get(username=name).pk


def test_a_pair_is_commented_on_through_its_memories(
    rita: Client, ben: Client, project: Project, memory: Memory
) -> None:
    other = pending(project, "Rui sings bass", user=memory.end_user.external_id, predicate="sings")
    link = MemoryLink.objects.create(
        end_user=memory.end_user, project=project, from_memory=other, to_memory=memory, kind=LinkKind.CONTRADICTS
    )
    rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": "Which voice?"})
    answer = ben.post(f"{HOME}memories/{other.pk}/comments/", {"text": "Bass, he says.", "pair": str(link.pk)})
    for text in ("Which voice?", "Bass, he says."):
        assert text in answer.content.decode()
        assert text in rita.get(f"{HOME}contradictions/{link.pk}/").content.decode()
    assert "2 comments<" in rita.get(f"{HOME}contradictions/").content.decode()


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


def test_a_memory_of_another_project_takes_no_comment(admin: Client, other_project: Project, memory: Memory) -> None:
    answer = admin.post(
        f"/console/other/memories/{memory.pk}/comments/", {"text": "Hm"}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 404
    assert not MemoryComment.objects.exists()


def test_comments_go_with_the_end_user(rita: Client, project: Project, memory: Memory) -> None:
    rita.post(f"{HOME}memories/{memory.pk}/comments/", {"text": "Ask him."})
    exported = b"".join(export_user(project_id=project.pk, user_id="rui")).decode()
    assert "Ask him." in exported
    erase_user(project_id=project.pk, user_id="rui")
    assert not MemoryComment.objects.exists()


def test_a_memory_with_comments_is_deleted_with_its_session(full_project: Project) -> None:
    names = {"user_id": f"rui {HOSTILE}", "session_id": f"monday {HOSTILE}"}
    assert MemoryComment.objects.exists()
    delete_session(project_id=full_project.pk, **names)
    assert not Memory.objects.filter(comments__isnull=False).exists()
    assert not MemoryComment.objects.exists()
