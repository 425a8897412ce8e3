"""Run failed work again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.pipeline.core.enums import TraceStatus
from apps.queue.services import FAILED, retry_failed
from apps.tenants.command_arguments import projects_named
from apps.tenants.scope import tenant_scope


class Command(BaseCommand):
    help = "Retry dead work and failed extractions, of one project or of all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="the project's slug; all projects by default")
        parser.add_argument("--error", default="", help="only work whose error contains this text")
        parser.add_argument("--user", default="", help="only work of this end user (user_id)")
        parser.add_argument(
            "--status",
            action="append",
            choices=sorted(status.value for status in FAILED),
            help="may be given twice; both by default",
        )
        parser.add_argument("--all", action="store_true", help="needed where neither --error nor --user is given")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["error"] or options["user"] or options["all"]):
            raise CommandError("select the work: --error TEXT, --user USER_ID, or --all")
        statuses = [TraceStatus(status) for status in options["status"] or FAILED]
        retried = 0
        for project in projects_named(options["project"]):
            with tenant_scope(project_id=project.id):
                retried += retry_failed(
                    project_id=project.id, statuses=statuses, error=options["error"], user_id=options["user"]
                )
        self.stdout.write(f"{retried} will run again")
