"""History is redacted by a command: a dry run counts, --apply writes, and repeating it changes nothing."""

import pytest
from django.apps import apps
from rest_framework.test import APIClient

from apps.items.models import StoredItem
from apps.memories.models import Entity, EntityAlias, Memory, MemoryComment
from apps.pipeline.core.enums import Handling
from apps.pipeline.core.policy import Policy, RedactionPolicy
from apps.privacy.redact_history import redact_history
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, IdempotentRequest, Turn
from apps.traces.policies import policy_of

CARD, OTHER_CARD = "4111 1111 1111 1111", "5425 2334 3010 9903"


@pytest.fixture
def stored(client: APIClient, project: Project) -> Project:
    """Store a turn and two memories with a card number under a policy that keeps it, then mask cards."""
    kept = Policy(redaction=RedactionPolicy(card=Handling.KEEP))
    _use(project, kept)
    turn = {"role": "user", "content": f"I live in Lisbon and pay with {CARD}."}
    client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": [turn]})
    for card in (CARD, OTHER_CARD):
        thing = {"entity": {"name": f"card {card}", "type": "product"}}
        memory = {"type": "fact", "content": f"Ana pays with {card}.", "evidence": card, "tags": [f"of {card}"]}
        of_thing = {"type": "fact", "content": f"Ana owns {card}.", "predicate": "owns", "object": thing}
        body = {"user_id": "ana", "memories": [memory, of_thing]}
        stored = client.post("/v1/memories", body, headers={"Idempotency-Key": f"key of {card[:4]}"})
        assert stored.status_code == 201, stored.content
    entity = Entity.objects.filter(name__contains=CARD).get()
    for card in (CARD, OTHER_CARD):  # become the same name
        EntityAlias.objects.create(end_user=entity.end_user, entity=entity, alias=f"my {card}", folded=f"my {card}")
    MemoryComment.objects.create(end_user=entity.end_user, memory=Memory.objects.earliest("id"), text=f"not {CARD}?")
    StoredItem.objects.create(project=project, namespace=["cards"], key="1", value={"number": CARD}, words=CARD)
    _use(project, Policy())
    return project


def _use(project: Project, policy: Policy) -> None:
    active = ConfigurationVersion.objects.filter(project=project, is_active=True)
    active.update(policy=policy.model_dump(mode="json"))
    policy_of.cache_clear()


def tables_with(text: str) -> list[str]:
    return [
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.managed and any(text in str(row) for row in model._default_manager.values_list())
    ]


def test_a_dry_run_only_counts(stored: Project) -> None:
    counted = redact_history(project_id=stored.id, is_dry_run=True)

    assert counted["traces_turn"] == 1
    assert counted["memories_memory"] >= 4
    assert (counted["memories_entity"], counted["memories_entityalias"]) == (2, 4)
    assert counted["traces_idempotentrequest"] == 2
    assert (counted["memories_memorycomment"], counted["items_storeditem"]) == (1, 1)
    assert CARD in Turn.objects.get().content


def test_nothing_is_left_afterwards(stored: Project) -> None:
    redact_history(project_id=stored.id, is_dry_run=False)

    assert tables_with(CARD) == tables_with(OTHER_CARD) == []
    assert Memory.objects.filter(content="Ana pays with [card].").count() == 2
    assert Entity.objects.filter(name="card [card]").count() == 2
    assert EntityAlias.objects.filter(alias="my [card]", folded="my card").count() == 1
    assert all("[card]" in str(each) for each in IdempotentRequest.objects.values_list("answer", flat=True))
    assert StoredItem.objects.get().value == {"number": "[card]"}
    assert sum(redact_history(project_id=stored.id, is_dry_run=False).values()) == 0


def test_items_stay_where_the_policy_keeps_them(stored: Project) -> None:
    _use(stored, Policy(redaction=RedactionPolicy(items=False)))

    redact_history(project_id=stored.id, is_dry_run=False)

    assert tables_with(CARD) == ["items_storeditem"]
