"""What reviewers settle between two memories is what agents are told."""

import pytest
from django.test import Client
from django.utils.html import escape
from rest_framework.test import APIClient

from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status
from tests.api.reviewing import approve, context, direct, found, lives_in
from tests.console.members import HOME, seen, undo_in

pytestmark = pytest.mark.django_db


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


def test_a_pair_opened_in_a_new_tab_is_a_whole_page(rita: Client, doubted: tuple[Memory, Memory]) -> None:
    pair = MemoryLink.objects.get()
    page = rita.get(f"{HOME}contradictions/{pair.pk}/", headers={"HX-Request": ""}).content.decode()
    assert "<!doctype html>" in page
    assert "Keep A" in page
    assert (
        "<!doctype html>"
        not in rita.get(f"{HOME}contradictions/{pair.pk}/", headers={"HX-Target": "detail"}).content.decode()
    )


def test_opposites_at_the_same_time_stay_disputed(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory]
) -> None:
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get()
    settle(rita, pair, "both")
    told = context(client)
    assert "coffee" in told
    assert "disputed" in told
    assert MemoryLink.objects.to_settle().count() == 0


def test_what_is_about_different_things_is_no_contradiction(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory]
) -> None:
    new, old = doubted
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get()
    assert "Both, about different things" in rita.get(f"{HOME}contradictions/").content.decode()
    settle(rita, pair, "unrelated")
    assert "disputed" not in context(client)
    assert {each.status for each in Memory.objects.filter(pk__in=[new.pk, old.pk])} == {Status.ACTIVE}


def test_opposites_at_different_times_are_plain_facts(
    client: APIClient, rita: Client, doubted: tuple[Memory, Memory]
) -> None:
    new, old = doubted
    pair = MemoryLink.objects.select_related("from_memory", "to_memory").get()
    settle(rita, pair, "both")
    Memory.objects.filter(pk=old.pk).update(valid_from="2024-01-01T00:00:00Z", valid_until=new.valid_from)
    assert "disputed" not in context(client)
