"""Create a project."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.text import slugify

from apps.common.errors import Refused
from apps.projects.services import create_project


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # those of URLs load the API and the console, and take half of the time
    help = "Create a project, the tenant that keys, end users and memories belong to."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--slug", help="short name for commands and addresses; made from the name by default")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            project = create_project(name=name, slug=options["slug"] or slugify(name)[:64])
        except Refused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(project.slug)
