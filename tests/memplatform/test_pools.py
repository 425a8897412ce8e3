"""A forked process opens its own connections and does not touch those of its parent."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# A process of its own: pytest's has threads and a test database.
FORKS = """
import os
import django
from memplatform.database import ensure_database
ensure_database()
django.setup()
from django.db import connection

def backend():
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        return cursor.fetchone()[0]

parents = backend()
child = os.fork()
if child == 0:
    own = {backend() for _ in range(5) if connection.close() is None}
    os._exit(1 if parents in own else 0)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(ended, backend() == parents)
connection.close()
connection.close_pool()
"""


def test_a_child_has_connections_of_its_own_and_the_parents_still_serves() -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "memplatform.settings", "DB_POOL_SIZE": "4"}
    done = subprocess.run(
        [sys.executable, "-c", FORKS], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.stdout.split() == ["0", "True"], done.stderr
