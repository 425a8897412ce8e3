"""Tasks of django-q2: one action per task, with identifiers as the only arguments.

Queued tasks and schedules refer to these functions by their dotted names, so this module must not move.
"""

import time
from datetime import timedelta
from uuid import UUID

from django.conf import settings

from apps.alerts import messages as alert_messages
from apps.alerts import services as alerts
from apps.imports import services as forgetting
from apps.intake import sessions
from apps.memories.ledger import chain as ledger
from apps.memories.services import lifecycle as archiving
from apps.memories.services import lifecycle as closing
from apps.outbox.enqueue import WAKE_SECONDS, queue_task
from apps.privacy import apply_retention as retaining
from apps.privacy import users
from apps.queue import prune as pruning
from apps.tenants.scope import no_tenant
from apps.traces import tallies
from apps.tuning import rules
from apps.tuning.evaluation import samples as sampling
from apps.tuning.replays import services as continuing
from apps.tuning.replays import services as replaying
from apps.tuning.rollbacks import running as rolling_back
from apps.worker.shutdown import STOPPING
from apps.worker.work import other_workers
from apps.worker.work import work as working

PART = timedelta(seconds=60)  # of a task that continues where it was when it runs again
WORK_SECONDS = 20.0  # of one task `work`: a cluster that is asked to stop waits for it
AHEAD_SECONDS = 60.0  # until the schedule starts the next one
IDLE_SECONDS = 2 * WAKE_SECONDS  # then nothing was committed whose process has not woken the workers


@no_tenant()
def work() -> bool:
    """Do the due work of end users, imports and webhooks, and queue the next such task if more may be due.

    Return False where enough processes of this host do so already: the others are left to scheduled tasks.
    """
    if other_workers() >= settings.CLUSTER_WORKERS:
        return False
    end = time.monotonic() + WORK_SECONDS
    working(seconds=WORK_SECONDS, idle_seconds=IDLE_SECONDS, ahead_seconds=AHEAD_SECONDS)
    if time.monotonic() >= end and not STOPPING.is_set():
        queue_task("work", group="work")
    return True


@no_tenant()
def count_rule_hits() -> int:
    """Count new hits of the pre-filter rules; return how many turns were counted."""
    return rules.count_rule_hits()


@no_tenant()
def tally() -> int:
    """Compute the hourly totals for the dashboard; return how many hours were computed."""
    return tallies.tally(most=PART)


@no_tenant()
def evaluate_alerts() -> int:
    """Open, keep and resolve alerts; return how many projects were evaluated."""
    return alerts.evaluate_alerts()


@no_tenant()
def deliver_alerts() -> int:
    """Send the messages about alerts that are due; return how many were delivered."""
    return alert_messages.deliver_messages(most=PART)


@no_tenant()
def prune() -> int:
    """Delete old outbox rows and stored answers of idempotent requests; return how many rows were deleted."""
    return pruning.prune(most=PART)


@no_tenant()
def end_idle_sessions() -> int:
    """End idle sessions; return how many were ended."""
    return sessions.end_idle_sessions()


@no_tenant()
def continue_erasures() -> int:
    """Continue unfinished erasures of end users; return how many are finished now."""
    return users.continue_erasures(most=PART)


@no_tenant()
def continue_rollbacks() -> int:
    """Go on with rollbacks, and their undo, that are not finished; return how many are finished now."""
    return rolling_back.continue_rollbacks(most=PART)


@no_tenant()
def seal_ledger() -> int:
    """Seal new entries of the ledger; return how many were sealed."""
    return ledger.seal_ledger(most=PART)


@no_tenant()
def apply_retention() -> int:
    """Delete what is older than the projects keep it; return how many rows were deleted."""
    return retaining.apply_retention(most=PART)


@no_tenant()
def archive_memories() -> int:
    """Archive expired and decayed memories; return how many were archived."""
    return archiving.archive_memories(most=PART)


@no_tenant()
def continue_rounds() -> int:
    """Go on with daily jobs that are not finished; return how many rows were changed."""
    return archiving.continue_archiving(most=PART) + retaining.continue_retention(most=PART)


@no_tenant()
def close_ended_memories() -> int:
    """Close memories whose validity has ended; return how many were closed."""
    return closing.close_ended_memories(most=PART)


@no_tenant()
def draw_weekly_samples() -> int:
    """Draw the samples of the last week for evaluation; return for how many projects."""
    return sampling.draw_weekly_samples()


@no_tenant()
def preview_rule(preview_id: str) -> None:
    """Compute the preview of a pre-filter rule that an admin asked for."""
    rules.run_preview(preview_id=UUID(preview_id))


@no_tenant()
def replay(replay_id: str) -> None:
    """Run a replay that somebody has started."""
    replaying.run_replay(replay_id=UUID(replay_id))


@no_tenant()
def continue_replays() -> int:
    """Queue replays whose process died; return how many."""
    return continuing.continue_replays()


@no_tenant()
def forget_import_files() -> int:
    """Delete the files of imports that nobody has finished; return how many."""
    return forgetting.forget_old_files()
