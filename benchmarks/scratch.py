"""A temporary database for a benchmark, on the same server as the configured one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from memplatform.database import ensure_database


@contextmanager
def scratch_database() -> Iterator[None]:
    """Use an empty, migrated database while the block runs, and drop it afterwards."""
    ensure_database()
    connection.close()
    name = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = f"bench_{name}_{os.getpid()}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
