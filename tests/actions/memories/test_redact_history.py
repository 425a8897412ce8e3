"""History is redacted by a command: a dry run counts, --apply writes, and repeating it changes nothing."""

import pytest
from django.apps import apps
from rest_framework.test import APIClient

from apps.actions.memories.redact_history import redact_history
from apps.memories.models import Memory
from apps.pipeline.core.enums import Handling
from apps.pipeline.core.policy import Policy, RedactionPolicy
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, Turn
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
        memory = {"type": "fact", "content": f"Ana pays with {card}.", "evidence": card}
        client.post("/v1/memories", {"user_id": "ana", "memories": [memory]})
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
    assert counted["memories_memory"] >= 2
    assert CARD in Turn.objects.get().content


def test_nothing_is_left_afterwards(stored: Project) -> None:
    redact_history(project_id=stored.id, is_dry_run=False)

    assert tables_with(CARD) == tables_with(OTHER_CARD) == []
    assert Memory.objects.filter(content="Ana pays with [card].").count() == 2
    assert sum(redact_history(project_id=stored.id, is_dry_run=False).values()) == 0
