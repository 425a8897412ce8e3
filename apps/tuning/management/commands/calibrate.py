"""Calibrate the bands of dedupe."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import Refused
from apps.memories.live_ports import live
from apps.tenants.command_arguments import projects_named
from apps.tenants.scope import tenant_scope
from apps.tuning.calibrate import calibrate


class Command(BaseCommand):
    help = "Find the cosines at which two statements are one, and write them into a new configuration version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", nargs="?", help="the project's slug; all projects without one")
        parser.add_argument(
            "--pairs",
            type=Path,
            required=True,
            metavar="FILE",
            help="JSON lines with one, two, label (paraphrase, near_miss or unrelated) and, optionally, type",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["pairs"].is_file():
            raise CommandError(f"there is no file {options['pairs']}")
        embedder = live().embedder
        for project in projects_named(options["project"]):
            try:
                with tenant_scope(project_id=project.id):
                    found = calibrate(project_id=project.id, file=options["pairs"], embedder=embedder)
            except Refused as error:
                raise CommandError(str(error)) from error
            band = found.band.model_dump()
            figures = {name: value for name, value in asdict(found).items() if name != "band"}
            self.stdout.write(json.dumps({"project": project.slug, "embedder": embedder.name, "band": band, **figures}))
