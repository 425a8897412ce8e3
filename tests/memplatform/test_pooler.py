"""Tenants take turns on the server connections of a pooler in transaction mode."""

import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from rest_framework.test import APIClient

from apps.memories.services.lifecycle import archive_memories
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants.models import ApiKey, Project
from apps.tenants.scope import no_tenant, tenant_scope
from memplatform.database_settings import connection_options
from memplatform.embedded.programs import owner_of
from tests.instance import PATIENCE, free_port
from tests.memplatform.scope_settings import SETTINGS, seen

REQUESTS, THREADS, SERVERS = 10_000, 4, 2


@contextmanager
def pgbouncer() -> Iterator[int]:
    """Run a pooler in transaction mode with fewer server connections than clients; yield its port."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("needs pgbouncer (Debian's package of this name)")
    server, port = connection.settings_dict, free_port()
    password = server["PASSWORD"] or "none"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "pgbouncer.ini")
        config.write_text(f"""
[databases]
{server["NAME"]} = host='{server["HOST"]}' port={server["PORT"] or 5432} user={server["USER"]} password='{password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {SERVERS}
ignore_startup_parameters = extra_float_digits,options
""")
        Path(folder).chmod(0o755)
        account = owner_of(data_dir=settings.EMBEDDED_DIR)  # it refuses to run as root, as the server does
        command = [program, str(config)]
        process = subprocess.Popen(command, **account.as_user())
        try:
            _await_port(port)
            yield port
        finally:
            process.terminate()
            process.wait()


def _await_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)  # nothing announces that it listens
    raise AssertionError("the pooler did not start")


@contextmanager
def connected_through(port: int) -> Iterator[None]:
    """Let connections go through the pooler, with the settings of DB_PREPARE=false."""
    connection.close()
    usual, own = connections.settings["default"], connection.settings_dict
    options = connection_options(given={}, is_prepared=False, pool_size=0)
    address = {"HOST": "127.0.0.1", "PORT": port, "OPTIONS": options, "DISABLE_SERVER_SIDE_CURSORS": True}
    connections.settings["default"] = connection.settings_dict = usual | address
    try:
        yield
    finally:
        connection.close()
        connections.settings["default"], connection.settings_dict = usual, own


def test_a_pooler_mixes_up_no_tenants(transactional_db: None) -> None:
    """Tenants take turns on fewer server connections than there are threads, in and outside of transactions.

    Every fifth time a statement without any scope follows, which would see what another one has left.
    """
    projects = [create_project(name=name, slug=name) for name in ("one", "two", "three")]
    for project in projects:
        create_key(project_id=project.pk, name=project.slug, scopes=[Scope.READ])
    outcomes: Counter[str] = Counter()
    usual_role, _, _ = seen()

    def ask(seed: int) -> None:
        random = Random(seed)
        for _ in range(REQUESTS // THREADS):
            outcomes[_outcome(random.choice([*projects, None]), in_transaction=random.random() < 0.5)] += 1
            if random.random() < 0.2:
                role, *tenant = connection.connection.execute(SETTINGS).fetchone()
                outcomes["clean" if role == usual_role and not any(tenant) else "left over"] += 1
        connection.close()

    with pgbouncer() as port, connected_through(port):
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert outcomes.pop("clean") > REQUESTS / 10
    assert outcomes == {"own": REQUESTS}


def test_turns_and_searches_go_through_a_pooler(transactional_db: None, client: APIClient) -> None:
    """Statements rely on parameters that the server binds: with those of the client, every search fails."""
    turns = [{"role": "user", "content": "I live in Lisbon.", "turn_id": "t1"}]
    with pgbouncer() as port, connected_through(port):
        body = {"user_id": "ana", "session_id": "monday", "turns": turns, "mode": "sync"}
        assert client.post("/v1/turns", body).json()["stored"] == 1
        query = {"user_id": "ana", "query": "Where does Ana live?"}
        assert "Lisbon" in client.post("/v1/memories/search", query).json()["results"][0]["content"]
        archive_memories()


def _outcome(project: Project | None, *, in_transaction: bool) -> str:
    """Read all keys in the scope of a project, or of none; return whose they were."""
    keys = ApiKey.objects.values_list("project_id", flat=True)
    with tenant_scope(project_id=project.pk) if project else no_tenant():
        if in_transaction:
            with transaction.atomic():
                found: list[UUID] = list(keys)
                found += list(keys)
        else:
            found = list(keys)
    expected = {project.pk} if project else set()
    return "own" if set(found) == expected else "leaked"
