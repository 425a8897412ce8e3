#!/usr/bin/env python
"""Run a command of memplatform."""

import gc
import os
import sys
from functools import partial

# Commands that are of use without a database.
_WITHOUT_DATABASE = frozenset({"help", "collectstatic", "version", "--version", "--help"})

# Commands that start workers: what these do is done by the system.
_WORKERS = frozenset({"qcluster", "drain", "demo"})


def main() -> None:
    """Bring up the database and run the command line."""
    gc.disable()  # until the modules are imported: nearly all that they make stays
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    from memplatform.check_settings import main as check_settings

    if failed := check_settings():
        sys.exit(failed)
    import django
    from django.conf import settings
    from django.core.management import execute_from_command_line

    from apps.actions.ledger.actor import COMMAND, SYSTEM, acting_as
    from memplatform.database import ensure_database, limit_statements
    from memplatform.embedded import EmbeddedError
    from memplatform.parent_death import join_cluster

    django.setup()
    gc.freeze()  # no collection looks at it again, not even the last one, when the process ends
    gc.enable()
    if len(sys.argv) > 1 and sys.argv[1] not in _WITHOUT_DATABASE:
        try:
            ensure_database()
        except EmbeddedError as error:
            sys.exit(str(error))
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    limit_statements(seconds=settings.DB_WORK_SECONDS if command in _WORKERS else settings.DB_COMMAND_SECONDS)
    if command == "qcluster":
        # Processes of a killed cluster would work on, and wait for tasks forever.
        os.register_at_fork(after_in_child=partial(join_cluster, os.getpid()))
    with acting_as(SYSTEM if command in _WORKERS else COMMAND):
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
