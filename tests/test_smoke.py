"""A request becomes a memory and is found by a search: all parts together, with a database."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.live_ports import live
from apps.tenants.models import Project
from tests.worker.worker_helper import Person


@pytest.mark.django_db
def test_what_is_said_is_found(project: Project, client: APIClient, conversation: dict[str, Any]) -> None:
    assert client.post("/v1/turns", conversation).status_code == 202
    Person(project, conversation["user_id"]).is_worked_for(live())
    found = client.post("/v1/memories/search", {"user_id": conversation["user_id"], "query": "Where do I live?"})
    assert "Lisbon" in found.json()["results"][0]["content"]
