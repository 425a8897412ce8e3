"""What operators do: each step returns what its test expects, and builds on those before."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from apps.actions.projects.configure import configure
from apps.actions.projects.create_project import create_project
from apps.actions.rules.check_rule import check_rule
from apps.actions.rules.request_preview import request_preview
from apps.events.models import Webhook
from apps.memories.models import MemoryVector
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Handling, Reason, WorkState
from apps.pipeline.core.policy import Policy, RedactionPolicy, RetentionPolicy, Rule
from apps.tenants.scope import tenant_scope
from apps.traces.models import Trace
from apps.worker import tasks
from apps.worker.work import work as drain
from tests.distributed.journey import Agent

SLUG = "operated"
CARD = "4111 1111 1111 1111"
TASKS = (
    *("count_rule_hits", "tally", "evaluate_alerts", "deliver_alerts", "prune", "end_idle_sessions"),
    *("continue_erasures", "continue_rollbacks", "seal_ledger", "archive_memories", "continue_rounds"),
    *("close_ended_memories", "draw_weekly_samples", "continue_replays"),
    "forget_import_files",
)


def steps() -> Iterator[Callable[[], object]]:
    """Yield the steps in their order."""
    operator = Operator()
    yield operator.redaction
    yield operator.reembedding
    yield operator.transfer
    yield operator.import_of_a_file
    yield operator.rollback
    yield operator.replay
    yield operator.rules
    yield operator.retrying
    yield operator.retention
    yield operator.export
    yield operator.erasure
    yield operator.alerts
    yield operator.scheduled_tasks
    yield operator.ledger


class Operator:
    """Someone who runs commands for a project with two end users."""

    def __init__(self) -> None:
        create_project(name="operated", slug=SLUG)
        self.agent = Agent(SLUG)
        self._use(Policy(redaction=RedactionPolicy(card=Handling.KEEP)))
        self.agent.say("ana", f"I live in Lisbon and pay with {CARD}.")
        self.agent.say("ben", "My sister Marta lives in Faro.")
        thing = {"entity": {"name": f"card {CARD}", "type": "product"}}
        stored = {"type": "fact", "content": f"Ana owns {CARD}.", "predicate": "owns", "object": thing}
        body = {"user_id": "ana", "memories": [stored]}
        self.agent.call("post", "/v1/memories", body, **{"Idempotency-Key": "of a card"})
        self.agent.call("put", "/v1/items", {"namespace": ["cards"], "key": "1", "value": {"number": CARD}})
        drain()

    def _use(self, policy: Policy) -> None:
        with tenant_scope(project_id=self.agent.project_id):
            configure(project_id=self.agent.project_id, policy=policy)

    def _exported(self) -> str:
        return command("export_project", SLUG, file="export.jsonl")

    def redaction(self) -> object:
        """Redact what was stored; return where the card number was before and how often it is there afterwards."""
        self._use(Policy())
        before = CARD in self._exported()
        counted = command("redact_history", SLUG)
        command("redact_history", SLUG, "--apply")
        drain()
        return [before, "traces_turn: 1 rows to redact" in counted, self._exported().count(CARD)]

    def reembedding(self) -> object:
        """Change the embedder; return the embedders of all vectors and whether memories are found."""
        settings.EMBEDDER = "hashing"
        command("reembed", "--forget-others")
        with tenant_scope(project_id=self.agent.project_id):
            named = set(MemoryVector.objects.values_list("embedder", flat=True))
        return [sorted(named), any("Lisbon" in each for each in self.agent.found("ana", "Lisbon"))]

    def transfer(self) -> object:
        """Load an export of the project into another one; return whether that tells the same."""
        create_project(name="taken over", slug="taken-over")
        with TemporaryDirectory() as folder:
            file = Path(folder) / "project.jsonl"
            file.write_text(self._exported(), encoding="utf-8")
            command("ingest", str(file), "--project", "taken-over", "--wait")
        other = Agent("taken-over")
        users = ("ana", "ben")
        return [sorted(other.found(user, "Lisbon")) == sorted(self.agent.found(user, "Lisbon")) for user in users]

    def import_of_a_file(self) -> object:
        """Import a file of turns; return what is found of it."""
        lines = '{"user_id": "kim", "session_id": "s", "role": "user", "content": "I live in Rome."}\n'
        with TemporaryDirectory() as folder:
            file = Path(folder) / "turns.jsonl"
            file.write_text(lines, encoding="utf-8")
            command("ingest", str(file), "--project", SLUG, "--wait")
        return self.agent.found("kim", "Where do they live?")

    def rollback(self) -> object:
        """Roll back what a trace wrote, and undo it; return what is found in between and afterwards."""
        trace_id = self.agent.say("lou", "I live in Oslo.")["trace_id"]
        drain()
        preview = command("rollback", SLUG, "--trace", trace_id)
        done = command("rollback", SLUG, "--trace", trace_id, "--yes")
        between = self.agent.found("lou", "Oslo")
        command("rollback", SLUG, "--undo", done.split()[-3])
        return ["1 traces of 1 users" in preview, between, self.agent.found("lou", "Oslo")]

    def replay(self) -> object:
        """Replay a user's traces; return whether it ended."""
        return '"state": "done"' in command("replay", SLUG, "--user", "ben")

    def rules(self) -> object:
        """Try a rule on what was said; return what its preview and its check count."""
        rule = Rule(name="faro", reason=Reason.PATTERN, pattern="faro", order=1)
        with tenant_scope(project_id=self.agent.project_id):
            preview = request_preview(project_id=self.agent.project_id, rule=rule, days=7)
            checked = check_rule(project_id=self.agent.project_id, rule=rule)
        return [preview.state, preview.newly_dropped, len(checked.dropped)]

    def retrying(self) -> object:
        """Let the work of two users be dead, and retry all of it; return whether there was any, and what is found."""
        for user in ("max", "ned"):
            self.agent.say(user, "I live in Turin.")
        with tenant_scope(project_id=self.agent.project_id):
            queued = OutboxRow.objects.filter(project_id=self.agent.project_id, state=WorkState.PENDING)
            dead = queued.update(state=WorkState.DEAD, last_error="a defect")
        command("retry_work", "--project", SLUG, "--error", "a defect")
        drain()
        return [dead > 1, self.agent.found("max", "Turin"), self.agent.found("ned", "Turin")]

    def retention(self) -> object:
        """Apply periods to all that was said; return whether texts are gone and memories are there."""
        self._use(Policy(retention=RetentionPolicy(turn_days=30, trace_days=30, model_call_days=30)))
        with tenant_scope(project_id=self.agent.project_id):
            Trace.objects.filter(project_id=self.agent.project_id).update(
                created_at=timezone.now() - timedelta(days=40)
            )
        changed = tasks.apply_retention()
        text = command("export_user", SLUG, "ben")
        return [
            changed > 0,
            '"content":"My sister Marta lives in Faro."' in text,
            bool(self.agent.found("ben", "Marta")),
        ]

    def export(self) -> object:
        """Export an end user by both ways; return the kinds of rows and whether the last line is there."""
        lines = command("export_user", SLUG, "ana").splitlines()
        over_http = self.agent.client.get("/v1/users/ana/export")
        return [len(lines) > 10, '"kind":"end"' in lines[-1], b'"kind":"end"' in b"".join(over_http.streaming_content)]

    def erasure(self) -> object:
        """Erase an end user; return what is found of this one and of others."""
        command("erase_user", SLUG, "ana", "--yes")
        return [self.agent.found("ana", "Lisbon"), bool(self.agent.found("ben", "Marta"))]

    def alerts(self) -> object:
        """Let a webhook fail for an hour, and evaluate; return the kinds of open alerts."""
        project_id, since = self.agent.project_id, timezone.now() - timedelta(hours=1)
        with tenant_scope(project_id=project_id):
            Webhook.objects.create(
                project_id=project_id, name="away", url="https://example.com", event_types=[], failing_since=since
            )
        tasks.evaluate_alerts()
        return sorted({each["kind"] for each in self.agent.call("get", "/v1/alerts?state=open")["results"]})

    def scheduled_tasks(self) -> object:
        """Run the tasks of the schedule; return how many."""
        return len([getattr(tasks, name)() for name in TASKS])

    def ledger(self) -> object:
        """Seal and verify the ledger, and export it; return whether it is intact and complete."""
        verified = command("verify_ledger", SLUG)
        acts = command("export_ledger", SLUG)
        return ["intact" in verified, '"erased"' in acts]


def command(name: str, *arguments: str, file: str = "") -> str:
    """Run a command and return what it prints, or writes into a file."""
    if file:
        with TemporaryDirectory() as folder:
            written = Path(folder) / file
            call_command(name, *arguments, "--output", str(written))
            return written.read_text(encoding="utf-8")
    told = StringIO()
    call_command(name, *arguments, stdout=told, stderr=StringIO())
    return told.getvalue()
