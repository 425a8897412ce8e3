"""Sensitive data is in no row, model call, trace or answer."""

from typing import Any

import pytest
from django.apps import apps
from rest_framework.test import APIClient

from apps.intake.accept import Submission, accept
from apps.memories.models import Memory
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.turn import NewTurn
from apps.review.services import SeenVersion, approve
from apps.tenants.models import Project
from apps.traces.models import Turn

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
CARD = "4111 1111 1111 1111"


def rows_with(text: str) -> list[str]:
    """Return the tables of which a row holds a text in any column."""
    return [
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.managed and any(text in str(row) for row in model._default_manager.values_list())
    ]


def memory_body(content: str, **more: Any) -> dict[str, Any]:
    return {"user_id": "ana", "memories": [{"type": "fact", "content": content, **more}]}


def test_a_token_in_a_turn_is_stored_nowhere(client: APIClient) -> None:
    turn = {"role": "user", "content": f"I live in Lisbon. My token is {TOKEN}."}
    body = {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": [turn], "metadata": {"from": TOKEN}}

    answer = client.post("/v1/turns", body).json()

    assert answer["redacted"] == {"secret": 1}
    assert Turn.objects.get().content == "I live in Lisbon. My token is [secret:github_token]."
    assert rows_with(TOKEN) == []
    assert [each.object_text for each in Memory.objects.filter(predicate="lives_in")] == ["Lisbon"]


def test_an_imported_turn_is_redacted(project: Project) -> None:
    turns = (NewTurn(role=Role.USER, content=f"I pay with {CARD}."),)

    accepted = accept(submission=Submission(project.id, None, "ana", "s", turns))

    assert accepted.redacted == {"card": 1}
    assert rows_with(CARD) == []


def test_a_stored_memory_is_redacted_in_all_its_texts(client: APIClient) -> None:
    body = memory_body(
        f"Ana pays with {CARD}.",
        subject="Ana",
        predicate="pays_with",
        object={"literal": CARD},
        evidence=f"my card is {CARD}",
        context=f"about {CARD}",
        metadata={"note": [CARD]},
    )

    answer = client.post("/v1/memories", body)

    assert answer.json()["results"][0]["content"] == "Ana pays with [card]."
    assert rows_with(CARD) == []


def test_a_revised_memory_is_redacted(client: APIClient) -> None:
    stored = client.post("/v1/memories", memory_body("Ana lives in Lisbon.")).json()["results"][0]

    answer = client.patch(f"/v1/memories/{stored['id']}", {"content": f"Ana has the token {TOKEN}."})

    assert answer.json()["content"] == "Ana has the token [secret:github_token]."
    assert rows_with(TOKEN) == []


def test_the_wording_of_a_reviewer_is_redacted(client: APIClient, project: Project) -> None:
    client.post("/v1/memories", memory_body("Ana pays by card.", status=Status.PENDING_REVIEW))
    memory = Memory.objects.get()

    approve(project_id=project.id, seen=[SeenVersion(memory.id, memory.version)], content=f"Ana pays with {CARD}.")

    memory.refresh_from_db()
    assert memory.content == "Ana pays with [card]."


def test_contacts_stay_unless_the_project_masks_them(client: APIClient) -> None:
    answer = client.post("/v1/memories", memory_body("Lena's number is +49 30 901820."))

    assert answer.json()["results"][0]["content"] == "Lena's number is +49 30 901820."


@pytest.mark.parametrize("count", [1, 5])
def test_a_tag_that_redaction_makes_too_long_is_cut(client: APIClient, count: int) -> None:
    tag = "x" * 46 + " password: ab12!x"
    memories = [{"type": "fact", "content": f"Ana has {number} cats.", "tags": [tag]} for number in range(count)]

    assert client.post("/v1/memories", {"user_id": "ana", "memories": memories}).status_code == 201

    cut = "x" * 46 + " password: [secret"
    assert [(each.tags, len(each.tags[0])) for each in Memory.objects.all()] == [([cut], 64)] * count
