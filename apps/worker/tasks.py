"""Tasks of django-q2: one action per task, with identifiers as the only arguments.

Queued tasks and schedules refer to these functions by their dotted names, so this module must not move.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.alerts import messages, services
from apps.imports.services import forget_old_files
from apps.intake import sessions
from apps.memories.ledger import chain
from apps.memories.services import lifecycle
from apps.outbox.enqueue import WAKE_SECONDS, queue_task
from apps.privacy import apply_retention as retention
from apps.privacy import users
from apps.queue import prune as pruning
from apps.tenants.scope import no_tenant
from apps.traces import tallies
from apps.tuning import rules
from apps.tuning.evaluation import samples
from apps.tuning.replays import services as replays
from apps.tuning.rollbacks import services as rollbacks
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
def continue_rounds() -> int:
    """Go on with daily jobs that are not finished; return how many rows were changed."""
    return lifecycle.continue_archiving(most=PART) + retention.continue_retention(most=PART)


@no_tenant()
def replay(replay_id: str) -> None:
    """Run a replay that somebody has started."""
    replays.run_replay(replay_id=UUID(replay_id))


def _task(do: Callable[..., int], **options: Any) -> Callable[[], int]:
    """Return the task that does this without a tenant; it returns how much was done."""
    return no_tenant()(partial(do, **options))


count_rule_hits = _task(rules.count_rule_hits)
tally = _task(tallies.tally, most=PART)
evaluate_alerts = _task(services.evaluate_alerts)
deliver_alerts = _task(messages.deliver_messages, most=PART)
prune = _task(pruning.prune, most=PART)
end_idle_sessions = _task(sessions.end_idle_sessions)
continue_erasures = _task(users.continue_erasures, most=PART)
continue_rollbacks = _task(rollbacks.continue_rollbacks, most=PART)
seal_ledger = _task(chain.seal_ledger, most=PART)
apply_retention = _task(retention.apply_retention, most=PART)
archive_memories = _task(lifecycle.archive_memories, most=PART)
close_ended_memories = _task(lifecycle.close_ended_memories, most=PART)
draw_weekly_samples = _task(samples.draw_weekly_samples)
continue_replays = _task(replays.continue_replays)
forget_import_files = _task(forget_old_files)
