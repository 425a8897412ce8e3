"""`python -m tests.commands "COMMAND …" …`: run commands of manage.py in one process."""

import gc
import os
import shlex
import sys

import django
from django.core.management import call_command

from memplatform.database import ensure_database


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    ensure_database()
    django.setup()
    gc.freeze()  # as manage.py does
    for line in sys.argv[1:]:
        call_command(*shlex.split(line))


if __name__ == "__main__":
    main()
