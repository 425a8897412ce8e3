"""The steps of an import in tests: files, and what starts an import and lets a worker take its turn."""

import json
from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

from apps.intake.run_import import run_import
from apps.pipeline.core.identifiers import Prefix, parse

SAID = ["I live in Lisbon.", "ok", "I work as a nurse.", "My dog is called Rex.", "I was born in 1990."]
Upload = Callable[..., dict[str, Any]]


def lines(*said: str, user_id: str = "ana", session_id: str = "monday") -> bytes:
    turns = ({"user_id": user_id, "session_id": session_id, "role": "user", "content": each} for each in said)
    return "\n".join(map(json.dumps, turns)).encode()


def mem0(*memories: str, **fields: Any) -> bytes:
    rows = [{"id": f"m{place}", "memory": each, "user_id": "ana", **fields} for place, each in enumerate(memories)]
    return json.dumps({"results": rows}).encode()


def start(admin: APIClient, made: dict[str, Any]) -> dict[str, Any]:
    """Start an import, let a worker take its turn, and return the import."""
    answer = admin.post(f"/v1/imports/{made['id']}/start")
    assert answer.status_code == 200, answer.json()
    return work(admin, made)


def work(admin: APIClient, made: dict[str, Any]) -> dict[str, Any]:
    run_import(import_id=parse(Prefix.IMPORT, made["id"]))
    return dict(admin.get(f"/v1/imports/{made['id']}").json())
