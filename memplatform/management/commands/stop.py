"""Stop everything that this installation has started, the embedded database too; the data stays."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memplatform.stop import main


class Command(BaseCommand):
    help = __doc__ or ""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--delete", action="store_true", help="also delete the embedded database")

    def handle(self, *args: Any, **options: Any) -> None:
        sys.exit(main(delete=options["delete"]))
