"""Run a command of memplatform: `python manage.py NAME`, or `memplatform NAME` where the package is installed."""

import gc
import os
import sys
from functools import partial

# Commands that are of use without a database.
_WITHOUT_DATABASE = frozenset({"help", "collectstatic", "version", "--version", "--help", "stop"})

# Commands that start workers: what these do is done by the system.
_WORKERS = frozenset({"qcluster", "drain", "demo"})
_SERVERS = frozenset({"serve", "mcp", "bench"})  # and these answer many at once
_WITH_WORKERS = "--with-workers"  # of `serve`

_OTHER_NAMES = {"worker": "qcluster"}


def main() -> None:
    """Read the settings, bring up the database and run the command line."""
    gc.disable()  # until the modules are imported: nearly all that they make stays
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    if _WITH_WORKERS in sys.argv:  # for a small team, one process of each kind
        os.environ.setdefault("WEB_WORKERS", "1")
        os.environ.setdefault("CLUSTER_WORKERS", "1")
    import django
    from django.core.exceptions import ImproperlyConfigured

    try:
        from memplatform.settings import MISSPELT
    except ImproperlyConfigured as error:
        sys.exit(f"settings: {error}")
    for name, meant in MISSPELT.items():
        sys.stderr.write(f"settings: {name} is no setting; did you mean {meant}?\n")
    django.setup()
    gc.freeze()  # no collection looks at it again, not even the last one, when the process ends
    gc.enable()
    command, *arguments = sys.argv[1:] or ["help"]
    _run(_OTHER_NAMES.get(command, command), arguments)


def _run(command: str, arguments: list[str]) -> None:
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from apps.memories.ledger.actor import COMMAND, SYSTEM, acting_as
    from memplatform.database import ensure_database, limit_statements
    from memplatform.embedded import EmbeddedError
    from memplatform.parent_death import join_cluster

    works = command in _WORKERS or _WITH_WORKERS in arguments
    if not works and command not in _SERVERS:  # one connection, which says at once why it can't be opened
        settings.DATABASES["default"]["OPTIONS"].pop("pool", None)
    limit_statements(seconds=settings.DB_WORK_SECONDS if works else settings.DB_COMMAND_SECONDS)
    if command == "qcluster":
        # Processes of a killed cluster would work on, and wait for tasks forever.
        os.register_at_fork(after_in_child=partial(join_cluster, os.getpid()))
    try:
        if command not in _WITHOUT_DATABASE:
            ensure_database()
        with acting_as(SYSTEM if works else COMMAND):
            execute_from_command_line([sys.argv[0], command, *arguments])
    except EmbeddedError as error:
        sys.exit(str(error))
    except OperationalError as error:
        if "--traceback" in arguments:
            raise
        sys.exit(f"the database failed: {str(error).strip()}")  # refused, away, full: nothing that a traceback explains


if __name__ == "__main__":
    main()
