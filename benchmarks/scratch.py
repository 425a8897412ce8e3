"""A database for one benchmark: made, migrated, and dropped again, beside the one with people's memories in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from memplatform.database import ensure_database


@contextmanager
def scratch_database() -> Iterator[None]:
    """Send everything within the block to an empty database of the same server."""
    ensure_database()
    connection.close()
    name = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = f"bench_{name}_{os.getpid()}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
