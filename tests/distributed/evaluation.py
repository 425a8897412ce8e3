"""Draw, list, label and read samples of evaluation in a distributed database, and print what came of it as JSON.

Run by test_evaluation_distributed.py in a process of its own, whose DATABASE_URL names the database.
"""

import json
import os
from typing import Any

import django


def main() -> dict[str, Any]:
    from apps.actions.evaluation.draw_weekly_samples import draw_weekly_samples
    from apps.actions.projects.create_project import create_project
    from apps.pipeline.core.identifiers import new_id
    from apps.worker.work import work as drain
    from tests.distributed.journey import Agent

    slug = f"evaluated-{new_id()}"
    create_project(name="Evaluated", slug=slug)
    agent = Agent(slug)
    for user, content in (
        ("ana", "I live in Lisbon."),
        ("ben", "I work as a nurse."),
        ("eve", "That is a long story."),
    ):
        agent.say(user, content)
    drain()
    drawn = agent.call("post", "/v1/evaluation/samples", {})["results"]
    items = [each for sample in drawn for each in _items(agent, sample["id"])]
    for each in items:
        value = "good" if each["kind"] == "memory" else "nothing"
        agent.call("post", f"/v1/evaluation/items/{each['id']}/labels", {"value": value})
    again = agent.client.post("/v1/evaluation/samples", {}, format="json")
    total = agent.call("get", "/v1/evaluation")["total"]
    labels = agent.client.get("/v1/evaluation/labels")
    return {
        "drawn": {each["kind"]: [each["population"], each["drawn"], each["labelled"]] for each in drawn},
        "listed": {
            each["kind"]: [each["drawn"], each["labelled"]]
            for each in agent.call("get", "/v1/evaluation/samples")["results"]
        },
        "contents": sorted(each["content"] for each in items),
        "drawn again": again.status_code,
        "precision and recall": [total["precision"]["value"], total["recall"]["value"]],
        "exported": len(b"".join(labels.streaming_content).splitlines()),
        "drawn of last week": draw_weekly_samples(),
        "pages": _pages(agent, slug),
    }


def _items(agent: Any, sample_id: str) -> list[dict[str, Any]]:
    return list(agent.call("get", f"/v1/evaluation/samples/{sample_id}/items")["results"])


def _pages(agent: Any, slug: str) -> list[int]:
    """Return the status of the console's pages of evaluation for an administrator."""
    from django.contrib.auth.models import User
    from django.test import Client

    from apps.pipeline.core.enums import MemberRole
    from apps.tenants.models import Membership
    from apps.tenants.scope import tenant_scope

    person = User.objects.create_user(f"rita-{slug}")
    with tenant_scope(project_id=agent.project_id):
        Membership.objects.create(user=person, project_id=agent.project_id, role=MemberRole.ADMIN)
    client = Client()
    client.force_login(person)
    return [client.get(f"/console/{slug}/{page}/").status_code for page in ("evaluation", "evaluation/label")]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    print(json.dumps(main()))
