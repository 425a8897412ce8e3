"""Draw samples for evaluation, print their figures, or export their labels as JSON lines."""

import json
from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import Refused
from apps.tenants.command_arguments import project_named
from apps.tenants.scope import tenant_scope
from apps.tuning.evaluation.figures import MOST_WEEKS, WEEKS, read_figures
from apps.tuning.evaluation.samples import draw_samples, export_labels


class Command(BaseCommand):
    """Evaluate what a project stores; labels are given in the console or through the API."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add what to do and the project."""
        parser.add_argument("what", choices=("draw", "figures", "export"))
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("--seed", type=int, help="of the draw; the same one draws the same rows")
        parser.add_argument("--weeks", type=int, default=WEEKS, help="of the figures, the running one included")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it in the scope of the project."""
        project = project_named(options["project"])
        if not 1 <= options["weeks"] <= MOST_WEEKS:
            raise CommandError(f"--weeks: from 1 to {MOST_WEEKS}")
        with tenant_scope(project_id=project.pk):
            if options["what"] == "draw":
                try:
                    samples = draw_samples(project_id=project.pk, seed=options["seed"])
                except Refused as refused:
                    raise CommandError(str(refused)) from refused
                for each in samples:
                    drawn = f"{each.items.count()} of {each.population} ({each.kind}), seed {each.seed}"
                    self.stdout.write(f"{each.shown_id}: {drawn}")
            elif options["what"] == "figures":
                overview = read_figures(project_id=project.pk, weeks=options["weeks"])
                self.stdout.write(json.dumps(msgspec.to_builtins(overview, str_keys=True), indent=2))
            else:
                for line in export_labels(project_id=project.pk):
                    self.stdout.write(line, ending="")
