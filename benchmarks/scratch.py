"""A temporary database for a benchmark, on the same server as the configured one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from django.db import connection

from memplatform.database import ensure_database
from memplatform.management.commands.migrate import as_owner


@contextmanager
def scratch_database() -> Iterator[None]:
    """Use an empty, migrated database while the block runs, as its owner, and drop it afterwards.

    Actions enter the scope of their project, so what they do is subject to row-level security as usual.
    """
    ensure_database()
    with as_owner():
        name = connection.settings_dict["NAME"]
        connection.settings_dict["TEST"]["NAME"] = f"bench_{name}_{os.getpid()}"
        with redirect_stdout(StringIO()):  # whatever the verbosity, it says that the table of the cache exists
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield
        finally:
            with connection.cursor() as cursor:  # threads of a pool keep their connections
                cursor.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where datname = current_database() and pid <> pg_backend_pid()"
                )
            connection.creation.destroy_test_db(name, verbosity=0)
    connection.close_pool()  # type: ignore[attr-defined]  # it would lend the connections that were ended
