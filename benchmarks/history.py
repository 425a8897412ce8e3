"""Record measurements together with the machine, the versions and the configuration."""

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.db import connection

HISTORY = Path(__file__).with_name("history.jsonl")
ROOT = Path(__file__).resolve().parent.parent
ENV_EXAMPLE = ROOT / ".env.example"
# Variables that change what is measured; none of them is secret.
MEASURED_SETTINGS = (
    "CLUSTER_WORKERS",
    "DB_POOL_SIZE",
    "DB_PREPARE",
    "WEB_THREADS",
    "WEB_WORKERS",
)
LIBRARIES = ("django", "djangorestframework", "django-q2", "psycopg", "pgvector", "wordllama", "google-re2")


def record(*, name: str, result: dict[str, object], seconds: float) -> dict[str, object]:
    """Append a result to the history and return its line."""
    line = {
        "benchmark": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "commit": _commit(),
        "machine": _machine(),
        "versions": _versions(),
        "configuration": {
            "embedder": settings.EMBEDDER,
            "workers": settings.CLUSTER_WORKERS,
            "threads": settings.WORK_THREADS,
            **other_settings(environment=os.environ, defaults=ENV_EXAMPLE.read_text(encoding="utf-8")),
        },
        "result": result,
    }
    with HISTORY.open("a", encoding="utf-8") as history:
        history.write(json.dumps(line, ensure_ascii=False) + "\n")
    return line


def other_settings(*, environment: Mapping[str, str], defaults: str) -> dict[str, object]:
    """Return under `settings` what is set to another value than its default, nothing if all have theirs.

    `defaults` is the text of .env.example, whose lines are `# NAME=default`.
    """
    usual = dict(re.findall(r"(?m)^# ([A-Z_]+)=(.*)$", defaults))
    given = {name: environment[name] for name in MEASURED_SETTINGS if name in environment}
    other = {name: value for name, value in given.items() if value.lower() != usual.get(name)}
    return {"settings": other} if other else {}


def _machine() -> dict[str, object]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cores": os.cpu_count(), "memory_gib": round(memory / 2**30, 1), "arch": platform.machine()}


def _versions() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector')"
        )
        postgresql, pgvector = cursor.fetchone()
    found = {name: version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), "postgresql": postgresql, "pgvector_extension": pgvector, **found}


def _commit() -> str:
    asked = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()
