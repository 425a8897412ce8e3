"""Send each request of the API that reads, with each of its filters, and print what failed as JSON.

Run by test_pages_distributed.py in a process of its own, whose DATABASE_URL names a database with a filled project.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import django

# Where an identifier of each kind is read from.
LISTS = {
    "memory": "/v1/memories?user_id=ben",
    "trace": "/v1/traces?user_id=ben",
    "entity": "/v1/entities?user_id=ben",
    "sample": "/v1/evaluation/samples",
    "import": "/v1/imports",
    "replay": "/v1/replays",
    "rollback": "/v1/rollbacks",
    "webhook": "/v1/webhooks",
}
# Addresses with the filters of each, which are sent alone and together; {kind} stands for an identifier.
READS: dict[str, tuple[str, ...]] = {
    "/v1/alerts": ("state=open", "kind=queue_age"),
    "/v1/alert-recipients": (),
    "/v1/entities": ("type=person", "user_id=ben"),
    "/v1/entities/{entity}": (),
    "/v1/evaluation": ("weeks=4",),
    "/v1/evaluation/labels": (),
    "/v1/evaluation/samples": ("kind=memory",),
    "/v1/evaluation/samples/{sample}/items": (),
    "/v1/events": ("type=memory.created", "after=0", "includes_content=true"),
    "/v1/events/log": (),
    "/v1/imports": (),
    "/v1/imports/{import}": (),
    "/v1/keys": (),
    "/v1/keys/current": (),
    "/v1/links": ("kind=contradicts", "status=open", "user_id=ben"),
    "/v1/memories": (
        *("user_id=ben", "status=active", "status=superseded", "tag=t", "topic=t", "type=fact", "session_id=monday"),
        *("from=2020-01-01T00:00:00Z", "to=2099-01-01T00:00:00Z", "as_of=2099-01-01T00:00:00Z", "entity={entity}"),
        *(
            "known_at=2026-01-01T00:00:00Z",
            "user_id=ben&known_at=2026-01-01T00:00:00Z",
            "agent_id=a",
            "app_id=a",
            "run_id=a",
        ),
    ),
    "/v1/memories/{memory}": (),
    "/v1/memories/{memory}/history": (),
    "/v1/project/export": (),
    "/v1/replays": (),
    "/v1/replays/{replay}": (),
    "/v1/replays/{replay}/changes.csv": (),
    "/v1/replays/{replay}/changes.json": (),
    "/v1/replays/{replay}/traces": ("state=different",),
    "/v1/rollbacks": (),
    "/v1/rollbacks/{rollback}": (),
    "/v1/stats": ("since=2026-01-01&until=2026-02-01",),
    "/v1/traces": ("user_id=ben", "session_id=monday", "status=done"),
    "/v1/traces/{trace}": ("wait=1", "until=indexed"),
    "/v1/users": (),
    "/v1/users/ben/export": (),
    "/v1/users/ben/stats": (),
    "/v1/webhooks": (),
    "/v1/webhooks/{webhook}": (),
    "/v1/webhooks/{webhook}/deliveries": ("state=failed", "event_type=memory.created"),
    "/v1/entities/": (),
    "/metrics": (),
    "/readyz": (),
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from tests.distributed.filled_project import SLUG
    from tests.distributed.journey import Agent

    agent = Agent(SLUG)
    firsts = {kind: agent.call("get", address)["results"][0] for kind, address in LISTS.items()}
    known = {kind: first.get("id") or first[f"{kind}_id"] for kind, first in firsts.items()}
    answers = {address.format(**known): "" for address in addresses()}
    for address in answers:
        answers[address] = outcome_of(agent.client, address)
    failed = {address: outcome for address, outcome in answers.items() if outcome}
    print(json.dumps({"opened": len(answers), "failed": failed}))


def addresses() -> Iterator[str]:
    for path, filters in READS.items():
        yield path
        yield from (f"{path}?{each}" for each in filters)


def outcome_of(client: Any, address: str) -> str:
    """Return why a request failed; empty if it was answered."""
    try:
        answer = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    except Exception as raised:  # noqa: BLE001  (told at the end, the others are sent as well)
        return f"{type(raised).__name__}: {raised}"[:600]
    return "" if answer.status_code < 300 else f"{answer.status_code} {body[:200]!r}"


if __name__ == "__main__":
    main()
