"""Verify the hash chain of the ledger."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.memories.ledger.chain import seal_ledger, verify_archive, verify_ledger
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.command_arguments import projects_named


class Command(BaseCommand):
    help = "Verify the ledger of one project or of all; name the first entry that was changed, removed or inserted."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", nargs="?", help="the project's slug; all projects by default")
        parser.add_argument("--archive", action="store_true", help="verify what retention has archived, too")

    def handle(self, *args: Any, **options: Any) -> None:
        projects = projects_named(options["project"])
        seal_ledger()
        reports = {project.slug: verify_ledger(project_id=project.id) for project in projects}
        if options["archive"]:
            reports |= {f"archive of {project.slug}": verify_archive(project_id=project.id) for project in projects}
        for name, report in reports.items():
            if report.is_intact:
                state = f"{report.entries} entries intact, {report.unsealed} not sealed yet"
            elif report.broken_entry is None:
                state = f"BROKEN: entry {report.broken_number} is missing"
            else:
                entry = show(Prefix.LEDGER_ENTRY, report.broken_entry)
                state = f"BROKEN at entry {report.broken_number} ({entry})"
            self.stdout.write(f"{name}: {state}; head {report.head_number} {report.head_hash}")
        if not all(report.is_intact for report in reports.values()):
            raise CommandError("the ledger was tampered with")
