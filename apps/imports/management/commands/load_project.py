"""Load a project that was exported in another installation."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import ProviderError, Refused
from apps.imports.transfers.load_project import load_project
from apps.memories.ledger.actor import COMMAND, acting_as


class Command(BaseCommand):
    help = "Create the project of a file of `export_project`, with all its identifiers: whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--slug", default="", help="without it that of the file")
        parser.add_argument("--name", default="", help="without it that of the file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with options["file"].open("rb") as file, acting_as(COMMAND):
                project, loaded = load_project(file, slug=options["slug"], name=options["name"])
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror or error}") from error
        except Refused as refused:
            raise CommandError(f"{options['file']}: {refused}") from refused
        except ProviderError as error:
            raise CommandError(f"the project is loaded without all vectors; run reembed: {error}") from error
        self.stdout.write("\n".join([project.slug, *(f"{kind}: {count}" for kind, count in loaded.items())]))
