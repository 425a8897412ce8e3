"""Review decisions in the console determine what search and context return."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import escape
from rest_framework.test import APIClient

from apps.memories.models import Entity, Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus, MemberRole, Scope, Status
from apps.tenants.models import Membership, Project
from tests.conftest import MakeClient
from tests.console.test_review import undo_in

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
Say = Callable[..., None]


@pytest.fixture
def say(client: APIClient) -> Say:
    def tell(*contents: str, on: str) -> None:
        turns = [{"role": "user", "content": content, "occurred_at": f"{on}T10:00:00Z"} for content in contents]
        body = {"user_id": "ana", "session_id": on, "mode": "sync", "turns": turns}
        answer = client.post("/v1/turns", body)
        assert answer.status_code == 200, answer.content

    return tell


@pytest.fixture
def rita(project: Project) -> Client:
    """A reviewer in her browser."""
    user = User.objects.create_user("rita")
    Membership.objects.create(user=user, project=project, role=MemberRole.REVIEWER)
    browser = Client(headers={"HX-Request": "true"})
    browser.force_login(user)
    return browser


def context(client: APIClient, stakes: str = "normal") -> str:
    answer = client.post("/v1/context", {"user_id": "ana", "query": "", "stakes": stakes, "token_budget": 800})
    assert answer.status_code == 200, answer.content
    return str(answer.json())


def found(client: APIClient, query: str, stakes: str = "normal") -> list[str]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": query, "stakes": stakes})
    assert answer.status_code == 200, answer.content
    return [hit["content"] for hit in answer.json()["results"]]


def memory_of(words: str) -> Memory:
    return Memory.objects.get(content__contains=words)


def seen(memory: Memory) -> str:
    return f"{memory.pk}:{memory.version}"


def approve(rita: Client, memory: Memory, **more: Any) -> str:
    answer = rita.post(f"{HOME}review/approve/", {"memory": seen(memory), **more})
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def direct(client: APIClient, content: str, **more: Any) -> Memory:
    body = {"type": "fact", "subject": "User", "content": content, **more}
    answer = client.post("/v1/memories", {"user_id": "ana", "memories": [body]})
    assert answer.status_code == 201, answer.content
    return Memory.objects.get(content=content)


def lives_in(client: APIClient, place: str, *, on: str, **more: Any) -> Memory:
    value = {"entity": {"name": place, "type": "place"}}
    at = f"{on}T10:00:00Z"
    return direct(client, f"User lives in {place}.", predicate="lives_in", object=value, said_at=at, **more)


def test_an_approved_doubt_is_known_at_all_stakes(client: APIClient, say: Say, rita: Client) -> None:
    say("Perhaps I work as a nurse.", on="2025-01-01")
    memory = memory_of("nurse")
    assert memory.status == Status.PENDING_REVIEW
    page = rita.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert "shown to agents at all stakes" in page
    assert "nurse" not in context(client)
    toast = approve(rita, memory)
    for stakes in ("normal", "high"):
        assert "nurse" in context(client, stakes)
        assert any("nurse" in content for content in found(client, "Where does she work?", stakes))
    approved = Memory.objects.get(pk=memory.pk)
    assert approved.confidence_parts["review"] == 0.6
    assert approved.confidence == pytest.approx(memory.confidence + 0.6)
    page = rita.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert "approved by rita" in page
    assert "+0.60" in page
    rita.post(f"{HOME}undo/", undo_in(toast))
    back = Memory.objects.get(pk=memory.pk)
    assert (back.confidence, back.confidence_parts) == (memory.confidence, memory.confidence_parts)
    assert "nurse" not in context(client)


def test_an_edit_changes_the_value_that_agents_are_given(client: APIClient, rita: Client) -> None:
    memory = lives_in(client, "Lyon", on="2025-01-01", status="pending_review")
    toast = approve(rita, memory, content="User lives in Marseille.", value="Lyon")
    block = context(client)
    assert "Marseille" in block
    assert "Lyon" not in block
    edited = Memory.objects.get(pk=memory.pk)
    assert (edited.object_text, edited.predicate) == ("Marseille", "lives_in")
    assert edited.object == {"entity": Entity.objects.get(name="Marseille", type="place").shown_id}
    assert edited.canonical_hash != memory.canonical_hash
    rita.post(f"{HOME}undo/", undo_in(toast))
    back = Memory.objects.get(pk=memory.pk)
    assert (back.object_text, back.object, back.canonical_hash) == ("Lyon", memory.object, memory.canonical_hash)


def test_a_value_that_the_sentence_does_not_contain_is_refused(client: APIClient, rita: Client) -> None:
    memory = lives_in(client, "Lyon", on="2025-01-01", status="pending_review")
    given = {"memory": seen(memory), "content": "User lives in Marseille.", "value": "Nice"}
    answer = rita.post(f"{HOME}review/approve/", given)
    assert answer.status_code == 409
    assert "does not contain the value “Nice”" in answer.content.decode()
    assert Memory.objects.get(pk=memory.pk).version == memory.version


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"content": "User lives in Marseille."}, "Marseille"),
        ({"content": "Where they live is a secret."}, ""),
        ({"content": "User lives in Nice now.", "object": {"entity": "Nice"}}, "Nice"),
        ({"object": None}, ""),
    ],
)
def test_a_revision_over_the_api_keeps_no_stale_value(client: APIClient, change: dict[str, Any], value: str) -> None:
    memory = lives_in(client, "Lyon", on="2025-01-01")
    answer = client.patch(f"/v1/memories/{memory.shown_id}", change)
    assert answer.status_code == 200, answer.content
    assert (answer.json()["object_text"], answer.json()["predicate"]) == (value, "lives_in")
    if "content" in change:
        assert "Lyon" not in context(client)


def test_the_api_refuses_a_value_that_the_sentence_does_not_contain(client: APIClient) -> None:
    memory = lives_in(client, "Lyon", on="2025-01-01")
    change = {"content": "User lives in Marseille.", "object": {"literal": "Lyon"}}
    answer = client.patch(f"/v1/memories/{memory.shown_id}", change)
    assert answer.status_code == 422
    assert "Lyon" in answer.content.decode()


def test_the_same_object_over_the_api_changes_nothing(client: APIClient) -> None:
    memory = lives_in(client, "Lyon", on="2025-01-01")
    answer = client.patch(f"/v1/memories/{memory.shown_id}", {"object": {"entity": "Lyon"}})
    assert (answer.status_code, answer.json()["version"]) == (200, memory.version)


def test_an_approval_says_what_it_replaces(client: APIClient, rita: Client) -> None:
    old = lives_in(client, "Accra", on="2025-01-01", confidence=0.6)
    new = lives_in(client, "Lyon", on="2025-02-01", status="pending_review")
    page = rita.get(f"{HOME}memories/{new.pk}/").content.decode()
    assert escape(f"replaces “{old.content}” (active, 0.60), which ends on 2025-02-01") in page
    approve(rita, new)
    assert "Lyon" in context(client, "high")
    assert "Accra" not in context(client)
    assert f"{Memory.objects.get(pk=old.pk).valid_until:%Y-%m-%d}" == "2025-02-01"


@pytest.fixture
def doubted(client: APIClient) -> tuple[Memory, Memory]:
    """A pending memory that contradicts an active one, which does not hold the same slot."""
    old = direct(client, "User likes coffee.", predicate="likes", object={"literal": "coffee"})
    new = direct(
        client, "User gave up coffee.", predicate="gave_up", object={"literal": "coffee"}, status="pending_review"
    )
    link(new, old, LinkKind.CONTRADICTS)
    return new, old


def link(one: Memory, other: Memory, kind: LinkKind) -> MemoryLink:
    return MemoryLink.objects.create(
        end_user=one.end_user, project=one.project, from_memory=one, to_memory=other, kind=kind
    )


def test_both_stay_active_only_where_the_page_says_so(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory]
) -> None:
    new, old = doubted
    page = rita.get(f"{HOME}memories/{new.pk}/").content.decode()
    assert escape(f"stays beside “{old.content}” (active, {old.confidence:.2f}), which it contradicts") in page
    approve(rita, new)
    assert MemoryLink.objects.to_settle().count() == 1


def test_what_it_contradicts_is_closed_where_the_reviewer_says_so(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory]
) -> None:
    new, old = doubted
    assert "Approve and replace" in rita.get(f"{HOME}memories/{new.pk}/").content.decode()
    toast = approve(rita, new, replaces=seen(old))
    closed = Memory.objects.get(pk=old.pk)
    assert (closed.status, closed.superseded_by_id, closed.valid_until) == (
        Status.SUPERSEDED, new.pk, max(new.valid_from, old.valid_from)
    )  # fmt: skip
    assert "likes" not in context(client)
    assert MemoryLink.objects.to_settle().count() == 0
    rita.post(f"{HOME}undo/", undo_in(toast))
    assert (Memory.objects.get(pk=old.pk).status, MemoryLink.objects.to_settle().count()) == (Status.ACTIVE, 1)


def test_what_is_replaced_has_to_be_as_it_was_seen(rita: Client, doubted: tuple[Memory, Memory]) -> None:
    new, old = doubted
    Memory.objects.filter(pk=old.pk).update(version=7)
    answer = rita.post(f"{HOME}review/approve/", {"memory": seen(new), "replaces": seen(old)})
    assert answer.status_code == 409
    assert Memory.objects.get(pk=new.pk).status == Status.PENDING_REVIEW


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_two_approvals_of_one_slot_are_undone_in_any_order(
    client: APIClient, rita: Client, order: tuple[int, int]
) -> None:
    first = lives_in(client, "Accra", on="2025-01-01")
    pending = [
        lives_in(client, place, on=on, status="pending_review")
        for place, on in (("Lyon", "2025-02-01"), ("Rome", "2025-03-01"))
    ]
    toasts = [approve(rita, memory) for memory in pending]
    assert "Rome" in context(client)
    for index in order:
        assert rita.post(f"{HOME}undo/", undo_in(toasts[index])).status_code == 200
    assert [Memory.objects.get(pk=each.pk).status for each in pending] == [Status.PENDING_REVIEW] * 2
    again = Memory.objects.get(pk=first.pk)
    assert (again.status, again.valid_until, again.superseded_by_id) == (Status.ACTIVE, None, None)
    assert "Accra" in context(client)
    assert rita.post(f"{HOME}undo/", undo_in(toasts[0])).status_code == 409


def settle(rita: Client, pair: MemoryLink, resolution: str, **more: str) -> str:
    both = [seen(memory) for memory in (pair.from_memory, pair.to_memory)]
    answer = rita.post(f"{HOME}contradictions/{pair.pk}/settle/", {"memory": both, "resolution": resolution, **more})
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_possible_duplicates_are_settled(client: APIClient, rita: Client) -> None:
    one = direct(client, "User plays the cello.", predicate="plays", object={"literal": "cello"})
    other = direct(client, "User practises cello.", predicate="practises", object={"literal": "cello"})
    pair = link(one, other, LinkKind.POSSIBLE_DUPLICATE)
    page = rita.get(f"{HOME}contradictions/", {"kind": "possible_duplicate"}).content.decode()
    assert "Both hold" in page
    toast = settle(rita, pair, "merged")
    assert found(client, "cello") == [other.content]
    rita.post(f"{HOME}undo/", undo_in(toast))
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get(pk=pair.pk)
    settle(rita, pair, "both")
    assert sorted(found(client, "cello")) == sorted([one.content, other.content])
    assert MemoryLink.objects.get(pk=pair.pk).status == LinkStatus.SETTLED
    assert MemoryLink.objects.to_settle().count() == 0


def test_a_contradiction_can_be_a_change(client: APIClient, rita: Client, doubted: tuple[Memory, Memory]) -> None:
    new, old = doubted
    Memory.objects.filter(pk=old.pk).update(valid_from="2025-01-01T00:00:00Z", said_at="2025-01-01T00:00:00Z")
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get()
    toast = settle(rita, pair, "changed", **{"changed-on": "2025-06-01"})
    ended, begun = Memory.objects.get(pk=old.pk), Memory.objects.get(pk=new.pk)
    assert (ended.status, f"{ended.valid_until:%Y-%m-%d}") == (Status.SUPERSEDED, "2025-06-01")
    assert (begun.status, f"{begun.valid_from:%Y-%m-%d}") == (Status.ACTIVE, "2025-06-01")
    assert "likes" not in context(client)
    assert found(client, "coffee", "high") == [new.content]
    rita.post(f"{HOME}undo/", undo_in(toast))
    assert Memory.objects.get(pk=old.pk).status == Status.ACTIVE
    assert Memory.objects.get(pk=new.pk).status == Status.PENDING_REVIEW
    assert MemoryLink.objects.to_settle().count() == 1


@pytest.mark.parametrize("resolution", ["kept_from", "both"])
def test_what_a_reviewer_keeps_is_known_at_high_stakes(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory], resolution: str
) -> None:
    new, _ = doubted
    Memory.objects.filter(pk=new.pk).update(confidence=0.35, confidence_parts={"source": 0.18, "extractor": 0.17})
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get()
    settle(rita, pair, resolution)
    assert new.content in found(client, "coffee", "high")


def test_an_approval_with_an_admin_key_counts(client_of: MakeClient, project: Project) -> None:
    admin = client_of(project, Scope.ADMIN)
    memory = direct(admin, "User plays chess.", confidence=0.3)
    answer = admin.patch(f"/v1/memories/{memory.shown_id}", {"status": "active"})
    assert (answer.json()["confidence"], answer.json()["confidence_parts"]["review"]) == (0.9, 0.6)
    assert found(admin, "chess", "high") == [memory.content]


def test_a_negative_statement_never_looks_positive(client: APIClient, rita: Client) -> None:
    memory = direct(
        client, "User does not like coffee.", predicate="likes", object={"literal": "coffee"}, polarity="negative"
    )
    details = rita.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert '<span class="chip chip-bad">not</span> likes' in details
    facts = rita.get(f"{HOME}users/{memory.end_user_id}/", {"tab": "facts"}).content.decode()
    assert "User does not like coffee." in facts
    assert "span-active" not in facts
    assert "span-negative" in facts


def test_a_pair_opened_in_a_new_tab_is_a_whole_page(rita: Client, doubted: tuple[Memory, Memory]) -> None:
    pair = MemoryLink.objects.get()
    page = rita.get(f"{HOME}contradictions/{pair.pk}/", headers={"HX-Request": ""}).content.decode()
    assert "<!doctype html>" in page
    assert "Keep A" in page
    assert (
        "<!doctype html>"
        not in rita.get(f"{HOME}contradictions/{pair.pk}/", headers={"HX-Target": "detail"}).content.decode()
    )


def test_the_page_of_a_memory_reloads_after_a_decision(rita: Client, doubted: tuple[Memory, Memory]) -> None:
    new, _ = doubted
    page = rita.get(f"{HOME}memories/{new.pk}/", headers={"HX-Request": ""}).content.decode()
    assert "decided from:body" in page
    answer = rita.post(f"{HOME}review/approve/", {"memory": seen(new)})
    assert answer["HX-Trigger"] == "decided"
    after = rita.get(f"{HOME}memories/{new.pk}/", headers={"HX-Request": ""}).content.decode()
    assert 'data-key="a"' not in after
