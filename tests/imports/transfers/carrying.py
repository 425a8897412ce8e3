"""The export of a project, which is loaded after the project was taken back."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from django.db import transaction
from rest_framework.test import APIClient

from apps.imports.transfers.export_project import export_project
from apps.imports.transfers.load_project import load_project
from apps.memories.live_ports import live
from apps.memories.models import MemoryVector
from apps.outbox import leases
from apps.tenants.models import Project
from apps.worker.process_user import process_user

SAID = [
    "I live in Berlin and I work as a nurse.",
    "My sister Lena lives in Rome.",
    "ok",
    "I moved to Munich in May 2024.",
    "My order is 0192f3a4-1111-7222-8333-444455556666, I like tea.",
]


def rows_of(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def file_of(rows: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in rows)


def load(content: bytes) -> Project:
    return load_project(BytesIO(content))[0]


def drain() -> None:
    """Do all work here: threads would not see the transaction of the test."""
    while claimed := leases.claim(limit=10, seconds=60):
        for lease in claimed:
            process_user(lease=lease, ports=live())


def content_of(project: Project) -> bytes:
    return b"".join(export_project(project_id=project.pk))


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back what the block has written: one database stands for two installations."""
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def vectors_of(project: Project) -> list[Any]:
    rows = MemoryVector.objects.filter(memory__project=project).select_related("memory")
    return sorted((row.memory.content, row.questions, row.embedding) for row in rows)


def answers(client: APIClient) -> Iterator[Any]:
    """Yield what an agent is told about each end user."""
    for user in ("ana", "bo"):
        for query in ("Where does she live?", "dog of the sister", "tea", "job"):
            found = client.post("/v1/memories/search", {"user_id": user, "query": query, "explain": True}).json()
            yield [(each["content"], round(each["score"], 6)) for each in found["results"]]
            yield client.post("/v1/context", {"user_id": user, "query": query, "token_budget": 300}).json()["context"]
        then = {"user_id": user, "query": "Where does she live?", "as_of": "2024-06-02T00:00:00Z"}
        yield [each["content"] for each in client.post("/v1/memories/search", then).json()["results"]]
        listed = client.get("/v1/memories", {"user_id": user, "statuses": ["active", "superseded"]}).json()["results"]
        for memory in sorted(listed, key=lambda each: str(each["content"])):
            history = client.get(f"/v1/memories/{memory['id']}/history").json()
            yield json.dumps(history).replace('"id": "elsewhere-', '"id": "')
