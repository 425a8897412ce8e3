"""A text of an erased end user is found nowhere: in no table, dump, cache, log or answer."""

import importlib.util
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from apps.imports.models import FileImport
from apps.intake.run_import import run_import
from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, parse
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants.models import Project
from memplatform.embedded.programs import INSTALLATION, PACKAGE
from tests.conftest import calling_with

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "Xyloquartz"
USER = f"canary-{CANARY}"


@pytest.fixture
def project(transactional_db: None) -> Project:
    return create_project(name="Test", slug="test")


@pytest.fixture
def api(project: Project) -> APIClient:
    return calling_with(create_key(project_id=project.id, name="admin", scopes=[Scope.ADMIN]).text)


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that the application logs, of any level."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def talk(api: APIClient, project: Project) -> None:
    """Let the canary's words go through every door that stores some."""
    body = {"user_id": USER, "session_id": CANARY, "mode": "sync", "metadata": {"note": CANARY}}
    turns = [
        {"role": "user", "content": f"I live in {CANARY}.", "speaker": CANARY},
        {"role": "user", "content": f"My sister is called {CANARY}."},
        {"role": "user", "content": "ok"},
    ]
    repeat = {"Idempotency-Key": "1"}
    assert api.post("/v1/turns", {**body, "turns": turns}, headers=repeat).status_code == 200
    memories = [{"type": "fact", "content": f"{CANARY} is tall.", "subject": CANARY, "evidence": CANARY}]
    stored = api.post("/v1/memories", {"user_id": USER, "memories": memories}, headers={"Idempotency-Key": "2"})
    api.patch(f"/v1/memories/{stored.json()['results'][0]['id']}", {"content": f"{CANARY} is very tall."})
    item = {"namespace": ["notes", CANARY], "key": CANARY, "value": {"note": CANARY}, "user_id": USER}
    assert api.put("/v1/items", item).status_code == 200
    for is_run in (False, True):
        import_file(api, is_run=is_run)


def import_file(api: APIClient, *, is_run: bool) -> None:
    """Upload a file of the user that has invalid entries too; check and import it, or leave it uploaded."""
    said = {"user_id": CANARY, "session_id": CANARY, "role": "user", "content": f"{CANARY} has a cat."}
    wrong = [{**said, "role": CANARY}, {**said, CANARY: 1}, {**said, "session_id": f"{CANARY}\n"}]
    body = {"file_name": f"{USER}.jsonl", "user_id": USER, "users": {CANARY: USER}, "format": "jsonl"}
    made = api.post("/v1/imports", body, headers={"Idempotency-Key": f"import {is_run}"}).json()
    url, content = f"/v1/imports/{made['id']}", "\n".join(map(json.dumps, [said, *wrong])).encode()
    api.put(f"{url}/file", content, content_type="application/octet-stream")
    api.post("/v1/imports", {"file_name": f"{USER}.zip"}, headers={"Idempotency-Key": f"named {is_run}"})
    if is_run:
        run_import(import_id=parse(Prefix.IMPORT, made["id"]))
        api.post(f"{url}/start")
        run_import(import_id=parse(Prefix.IMPORT, made["id"]))
        told = api.get(url).json()
        assert (told["status"], len(told["problems"]), CANARY in str(told["problems"])) == ("done", 3, False)
        former = [*told["problems"], {"at": f"end user {USER}", "reason": "has no id"}]  # as servers before told it
        FileImport.objects.filter(id=parse(Prefix.IMPORT, made["id"])).update(problems=former)


def look(api: APIClient, console: Client) -> str:
    """Return what the API and the console answer about the user."""
    search = {"user_id": USER, "query": "Where do I live?"}
    answers = [api.post("/v1/memories/search", search) for _ in range(3)]  # the second fills the cache
    answers += [api.post("/v1/context", search, headers={"Idempotency-Key": "3"})]
    answers += [api.get(f"/v1/{path}") for path in ("memories", "traces", "entities", "users", "imports")]
    pages = (
        "users",
        "entities",
        "review",
        "traces",
        "contradictions",
        "queue",
        "ask",
        "dashboard",
        "audit",
        "imports",
    )
    answers += [console.get(f"/console/test/{page}/") for page in pages]
    return "".join(answer.content.decode() for answer in answers)


def dump() -> str:
    """Return the whole database as pg_dump writes it."""
    database = connection.settings_dict
    connection.close()
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    program = Path(str(spec.origin)).parent.parent / INSTALLATION / "bin" / "pg_dump"
    command = [str(program), "--dbname", database["NAME"], "--host", database["HOST"]]
    command += ["--port", str(database["PORT"] or 5432), "--username", database["USER"] or "postgres", "--inserts"]
    environment = os.environ | {"PGPASSWORD": database["PASSWORD"] or ""}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def check_caches() -> None:
    functions = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("apps.pipeline.")
        for value in vars(module).values()
        if isinstance(value, _lru_cache_wrapper)
    ]
    assert not [
        each.__qualname__
        for each in functions
        if each.cache_info().currsize and each.cache_parameters()["maxsize"] != 1
    ]


def test_an_erased_text_is_nowhere(api: APIClient, project: Project, logged: io.StringIO, settings: Any) -> None:
    settings.ERASED_CACHE_SECONDS = 1e-9  # after each request
    console = Client()
    console.force_login(User.objects.create_superuser("chief"))
    talk(api, project)
    assert CANARY in look(api, console)
    assert CANARY in dump()
    memories = list(Memory.objects.values_list("id", flat=True))

    answer = api.delete(f"/v1/users/{USER}")
    assert answer.json()["status"] == "done"

    assert CANARY not in answer.content.decode()
    check_caches()
    assert CANARY not in look(api, console)
    assert CANARY not in logged.getvalue()
    assert CANARY not in dump()
    assert all(api.get(f"/v1/memories/mem_{each.hex}/history").status_code == 404 for each in memories)
