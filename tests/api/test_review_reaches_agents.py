"""Review decisions in the console determine what search and context return."""

from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape
from rest_framework.test import APIClient

from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import Status
from tests.api.reviewing import approve, context, direct, found, lives_in
from tests.api.storing import say
from tests.console.members import HOME, seen, undo_in

pytestmark = pytest.mark.django_db


def memory_of(words: str) -> Memory:
    return Memory.objects.get(content__contains=words)


def test_an_approved_doubt_is_known_at_all_stakes(client: APIClient, rita: Client) -> None:
    memory = direct(client, "User works as a nurse.", source_confidence="speculated", confidence=0.38)
    assert memory.status == Status.PENDING_REVIEW
    page = rita.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert "every agent treats it as true" in page
    assert "nurse" not in context(client)
    toast = approve(rita, memory, is_confirmed="1")
    for stakes in ("normal", "high"):
        assert "nurse" in context(client, stakes)
        assert any("nurse" in content for content in found(client, "Where does she work?", stakes))
    approved = Memory.objects.get(pk=memory.pk)
    assert approved.confidence_parts["review"] == 0.6
    assert approved.confidence == 0.75  # below the user's own words
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


def test_an_approval_with_an_admin_key_counts(admin: APIClient) -> None:
    memory = direct(admin, "User plays chess.", confidence=0.3)
    answer = admin.patch(f"/v1/memories/{memory.shown_id}", {"status": "active"})
    assert (answer.json()["confidence"], answer.json()["confidence_parts"]["review"]) == (0.9, 0.6)
    assert found(admin, "chess", "high") == [memory.content]


@pytest.mark.parametrize(
    ("content", "meant"),
    [
        ("User is a pirate captain.", {"speech_act": "roleplay"}),
        ("User is allergic to nuts.", {"source_confidence": "speculated"}),
    ],
)
def test_an_approval_never_outranks_its_evidence(
    client: APIClient, rita: Client, content: str, meant: dict[str, str]
) -> None:
    say(client, "I work as a nurse.", on="2025-01-01")
    sure, doubted = memory_of("nurse"), direct(client, content, **meant)
    approve(rita, doubted, as_uncertain="1")
    assert Memory.objects.get(pk=doubted.pk).confidence <= sure.confidence
    assert Memory.objects.get(pk=sure.pk).status == Status.ACTIVE
    assert content not in context(client, "high")
    said = content.removeprefix("User ").capitalize()
    assert f"{said} (uncertain)" in context(client)
