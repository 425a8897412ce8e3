"""Replay ended traces under a configuration version, and print how they differ."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import Refused
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.tenants.command_arguments import answer_to, moment_named, project_named
from apps.tenants.scope import tenant_scope
from apps.traces.models import Replay, ReplayState
from apps.tuning.replays.services import TraceChoice, export_replay, request_replay, run_replay


class Command(BaseCommand):
    """Replay ended traces of a project in this process; nothing is written to memories."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the project, the choice of traces, the version and the format of the result."""
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("--version-number", type=int, help="configuration version; without it each trace's own")
        parser.add_argument("--user", default="", help="user_id of the end user")
        parser.add_argument("--session", default="", help="session_id of the session")
        parser.add_argument("--since", help="time from which traces are taken (ISO 8601 with offset)")
        parser.add_argument("--until", help="time until which traces are taken")
        parser.add_argument("--trace", action="append", default=[], help="identifier of a trace; may be repeated")
        parser.add_argument("--sample", type=int, default=0, help="take so many traces at random")
        parser.add_argument("--isolated", action="store_true", help="start each trace from its own past state")
        parser.add_argument("--live-calls", action="store_true", help="ask the model where no answer is recorded")
        parser.add_argument("--yes", action="store_true", help="don't ask before calls that cost money")
        parser.add_argument("--format", choices=("summary", "json", "csv"), default="summary")

    def handle(self, *args: Any, **options: Any) -> None:
        """Estimate, ask for confirmation where model calls may be made, run and print."""
        project = project_named(options["project"])
        with tenant_scope(project_id=project.pk):
            try:
                choice = TraceChoice(
                    user_id=options["user"],
                    session_id=options["session"],
                    since=moment_named(options, "since"),
                    until=moment_named(options, "until"),
                    trace_ids=tuple(parse(Prefix.TRACE, each) for each in options["trace"]),
                    sample=options["sample"],
                )
                replay = request_replay(
                    project_id=project.pk,
                    choice=choice,
                    version=options["version_number"],
                    is_isolated=options["isolated"],
                    allows_live_calls=options["live_calls"],
                )
            except (Refused, BadIdentifier) as refused:
                raise CommandError(str(refused)) from refused
            if options["live_calls"] and not options["yes"]:
                calls, cost = replay.estimate["new_calls_at_most"], replay.estimate["new_cost_usd_at_most"]
                if answer_to(f"At most {calls} model calls for {cost} USD. Go on? [y/N] ") != "y":
                    raise CommandError("not started: answer y, or call it with --yes")
            Replay.objects.filter(id=replay.pk).update(state=ReplayState.WAITING, started_at=replay.created_at)
            run_replay(replay_id=replay.pk)
            replay.refresh_from_db()
            if options["format"] == "summary":
                summary = {"id": replay.shown_id, "state": replay.state, "traces": replay.traces_total, **replay.totals}
                self.stdout.write(json.dumps(summary, indent=2))
                return
            for piece in export_replay(replay, options["format"]):
                self.stdout.write(piece, ending="")
