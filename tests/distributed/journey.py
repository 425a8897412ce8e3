"""Do with a database what agents and operators do, and print what came of it as JSON.

Run by test_distribute.py in a process of its own, whose DATABASE_URL names the database. `said` stores what is told to
be there before the database is distributed, `all` does the rest.
"""

import json
import os
import sys
from typing import Any

import django


class Agent:
    """A caller with an API key of a project."""

    def __init__(self, name: str) -> None:
        from rest_framework.test import APIClient

        from apps.actions.keys.create_key import create_key
        from apps.pipeline.core.enums import Scope
        from apps.tenants.models import Project
        from apps.tenants.scope import tenant_scope
        from apps.tenants.system_scope import SystemWork, system_scope

        with system_scope(SystemWork.MAINTENANCE):
            project = Project.objects.get(slug=name)
        with tenant_scope(project_id=project.id):
            key = create_key(project_id=project.id, name="agent", scopes=[Scope.ADMIN])
        self.project_id = project.id
        self.client = APIClient(headers={"authorization": f"Bearer {key.text}"})

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        response = getattr(self.client, method)(path, body, format="json", headers=headers)
        assert response.status_code < 300, f"{method} {path}: {response.status_code} {response.content!r}"
        return response.json() if response.content else None

    def say(self, user: str, content: str, **headers: str) -> Any:
        turns = [{"role": "user", "content": content}]
        return self.call("post", "/v1/turns", {"user_id": user, "session_id": "monday", "turns": turns}, **headers)

    def found(self, user: str, query: str) -> list[str]:
        results = self.call("post", "/v1/memories/search", {"user_id": user, "query": query})["results"]
        return [each["content"] for each in results]


def say_before() -> dict[str, Any]:
    from apps.actions.projects.create_project import create_project
    from apps.worker.work import work as drain

    for name in ("first", "second"):
        create_project(name=name, slug=name)
        Agent(name).say("ana", "I live in Lisbon.")
    return {"drained": drain()}


def do_all() -> dict[str, Any]:
    from django.core.management import call_command

    from apps.actions.queue.prune import prune
    from apps.memories.models import Memory, MemoryVersion
    from apps.tenants.scope import no_tenant, tenant_scope
    from apps.worker.work import work as drain

    agent, other = Agent("first"), Agent("second")
    told: dict[str, Any] = {"before": agent.found("ana", "Where does she live?")}
    once = [agent.say("ben", "My sister is called Marta.", **{"Idempotency-Key": "k"})["trace_id"] for _ in range(2)]
    told["executed once"] = len(set(once))
    agent.say("ben", "I work as a nurse.")
    drain()
    told["ben"] = sorted(agent.found("ben", "What does he do, and who is Marta?"))
    told["block"] = agent.call("post", "/v1/context", {"user_id": "ben", "query": "Marta", "token_budget": 300})[
        "context"
    ]
    (nurse,) = [
        each["id"] for each in agent.call("get", "/v1/memories?user_id=ben")["results"] if "nurse" in each["content"]
    ]
    agent.call("patch", f"/v1/memories/{nurse}", {"content": "User works as a carpenter."})
    told["revised"] = [each for each in agent.found("ben", "work") if "carpenter" in each]
    with tenant_scope(project_id=other.project_id):
        told["seen by the other project"] = [Memory.objects.count(), MemoryVersion.objects.count()]
    with no_tenant():
        told["seen by nobody"] = [Memory.objects.count(), MemoryVersion.objects.count()]
    agent.call("delete", "/v1/users/ben")
    told["erased"] = agent.found("ben", "work")
    told["others"] = agent.found("ana", "Where does she live?")
    prune()
    call_command("verify_ledger", "first")
    return told


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    print(json.dumps(say_before() if sys.argv[1] == "said" else do_all()))
