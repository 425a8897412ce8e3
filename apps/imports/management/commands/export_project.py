"""Write all of a project to the standard output or a file."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.imports.transfers.export_project import export_project
from apps.memories.ledger.actor import COMMAND, acting_as
from apps.tenants.command_arguments import project_named


class Command(BaseCommand):
    help = "Export a project as JSON lines; `load_project` loads them in another installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("--output", type=Path, help="file; without it the standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        with acting_as(COMMAND):
            lines = export_project(project_id=project.pk)
        if options["output"] is None:
            for line in lines:
                sys.stdout.buffer.write(line)
            return
        with options["output"].open("wb") as file:
            file.writelines(lines)
