#!/usr/bin/env python
"""Run a command of memplatform."""

import os
import sys

# Commands that are of use without a database.
_WITHOUT_DATABASE = frozenset({"help", "collectstatic", "version", "--version", "--help"})


def main() -> None:
    """Bring up the database and run the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    from django.core.management import execute_from_command_line

    from memplatform.database import ensure_database
    from memplatform.embedded import EmbeddedError

    if len(sys.argv) > 1 and sys.argv[1] not in _WITHOUT_DATABASE:
        try:
            ensure_database()
        except EmbeddedError as error:
            sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
