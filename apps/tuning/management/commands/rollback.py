"""Roll back what traces wrote, or undo that."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import Refused
from apps.memories.models import Rollback
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.tenants.command_arguments import moment_named, project_named
from apps.tenants.scope import tenant_scope
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.services import preview_rollback, request_rollback, undo_rollback

FOREVER = timedelta(days=365)


class Command(BaseCommand):
    help = "Show what a rollback of traces would do; do it with --yes, or undo a rollback with --undo."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("--trace", action="append", default=[], help="trc_…; may be repeated")
        # `version` is an option of every command.
        parser.add_argument("--configuration", type=int, help="number of a configuration version")
        parser.add_argument("--key", help="key_…")
        parser.add_argument("--user", default="", help="user_id of an end user")
        parser.add_argument("--session", default="", help="session_id of this user")
        parser.add_argument("--replay", help="rpl_…: the traces of this replay")
        parser.add_argument("--since", help="accepted at this time (ISO 8601) or later")
        parser.add_argument("--until", help="accepted before this time (ISO 8601)")
        parser.add_argument("--force", action="append", default=[], help="mem_… that was edited since; may be repeated")
        parser.add_argument("--rerun", action="store_true", help="run the traces again under the active configuration")
        parser.add_argument("--note", default="", help="why")
        parser.add_argument("--yes", action="store_true", help="do it, instead of showing what it would do")
        parser.add_argument("--undo", help="rbk_…: restore what this rollback took back")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        try:
            with tenant_scope(project_id=project.id):
                if options["undo"]:
                    rollback_id = parse(Prefix.ROLLBACK, options["undo"])
                    self._show(undo_rollback(project_id=project.id, rollback_id=rollback_id, wait=FOREVER))
                    return
                selection = named_selection(
                    project_id=project.id,
                    trace_ids=[parse(Prefix.TRACE, each) for each in options["trace"]],
                    version=options["configuration"],
                    api_key_id=parse(Prefix.API_KEY, options["key"]) if options["key"] else None,
                    user_id=options["user"],
                    session_id=options["session"],
                    replay_id=parse(Prefix.REPLAY, options["replay"]) if options["replay"] else None,
                    since=moment_named(options, "since"),
                    until=moment_named(options, "until"),
                )
                forced = [str(parse(Prefix.MEMORY, each)) for each in options["force"]]
                given = {"selection": selection, "forced": forced, "note": options["note"], "rerun": options["rerun"]}
                asked = Rollback(project=project, **given)
                if options["yes"]:
                    self._show(request_rollback(asked, wait=FOREVER))
                    return
                preview = preview_rollback(asked)
        except (Refused, BadIdentifier) as refused:
            raise CommandError(str(refused)) from refused
        for each in preview.memories:
            self.stdout.write(f"{each.memory.shown_id} {each.becomes}: {each.memory.content}")
        for kept, row in preview.kept:
            self.stdout.write(f"{row.shown_id} left alone: {kept.reason}")
        self.stdout.write(f"{preview.traces:,} traces of {preview.users:,} users; nothing is changed without --yes")

    def _show(self, rollback: Rollback) -> None:
        for name, number in rollback.counts.items():
            self.stdout.write(f"{number:>9,} {name.replace('_', ' ')}")
        self.stdout.write(f"{rollback.shown_id} is {rollback.state}")
