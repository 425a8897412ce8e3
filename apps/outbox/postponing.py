"""Put back work that an outage interrupted, without counting its attempt. All times are the database's."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease, outage_seconds
from apps.outbox.models import MODEL_NAME_LENGTH
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.enums import WorkState

LEAST_WAIT, MOST_WAIT = timedelta(seconds=1), timedelta(minutes=5)  # for a database that fails


@dataclass(frozen=True, slots=True)
class Postponed:
    """The new state of one row: pending again, or dead because it has waited for as long as an outage may last."""

    subject_id: UUID
    state: WorkState
    error: str


_HELD = """
held as (
    select statement_timestamp() as now from outbox_userlease
    where end_user_id = %(end_user)s and token = %(token)s for update
), due as (
    select row.*, now from held, outbox_outboxrow row
    where row.end_user_id = %(end_user)s and row.id = any(%(rows)s) and row.state = 'running'
)
"""
# A row is given up when both the outage and the row's own wait have lasted for MODEL_OUTAGE_DAYS. Of `is_suspect`
# failures each but the first counts as an attempt, so a row is also given up after too many of them.
_FOR_MODEL = f"""
with {_HELD}, outage as (
    select statement_timestamp() - %(outage)s * interval '1 second' as longest,
        (select since from outbox_modelpause where project_id = %(project)s and model = %(model)s) as since
), judged as (
    select id, now, run_at <= longest and since <= longest as is_too_long,
        attempts - case when %(is_suspect)s and waiting_since is not null then 0 else 1 end as counted
    from due, outage
)
update outbox_outboxrow row set
    state = case when is_too_long or counted >= %(most_attempts)s then 'dead' else 'pending' end,
    finished_at = case when is_too_long or counted >= %(most_attempts)s then judged.now end,
    attempts = greatest(counted, 0),
    waiting_since = coalesce(waiting_since, judged.now),
    last_error = %(error)s || case when is_too_long then %(given_up)s else '' end
from judged where row.end_user_id = %(end_user)s and row.id = judged.id
returning row.subject_id, row.state, row.last_error
"""  # noqa: S608  (only constants of this module)
# The wait is as long as the row has waited already, so the time since its first failure doubles.
_FOR_DATABASE = f"""
with {_HELD}, judged as (
    select id, now, waiting_since <= now - %(outage)s * interval '1 second' as is_too_long,
        now + interval '1 second' * %(jitter)s
            * greatest(%(least)s, least(coalesce(extract(epoch from now - waiting_since), 0), %(most)s)) as later
    from due
)
update outbox_outboxrow row set
    state = case when is_too_long then 'dead' else 'pending' end,
    finished_at = case when is_too_long then judged.now end,
    attempts = greatest(attempts - 1, 0),
    waiting_since = coalesce(waiting_since, judged.now),
    run_at = judged.later,
    last_error = %(error)s || case when is_too_long then %(given_up)s else '' end
from judged where row.end_user_id = %(end_user)s and row.id = judged.id
returning row.subject_id, row.state, row.last_error
"""  # noqa: S608  (only constants of this module)
_UNTOUCHED = f"""
with {_HELD}
update outbox_outboxrow row set state = 'pending', attempts = greatest(row.attempts - 1, 0)
from due where row.end_user_id = %(end_user)s and row.id = due.id
returning row.subject_id, row.state, row.last_error
"""  # noqa: S608  (only constants of this module)

_INTERRUPTED = """
with held as (
    select 1 from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
)
update outbox_outboxrow row set state = 'pending', attempts = greatest(row.attempts - 1, 0)
from held where row.end_user_id = %(end_user)s and row.state = 'running'
returning 1
"""


def wait_for_model(
    *, lease: Lease, work: Sequence[NextWork], model: str, error: str, is_suspect: bool
) -> list[Postponed]:
    """Put rows back until a paused model answers again; return their new states, none for a lost lease.

    `is_suspect`: their own call timed out while the model answered others. The first such failure of a row costs
    nothing, each further one an attempt, so that a request that always times out is given up.
    """
    values = {
        "model": model[:MODEL_NAME_LENGTH],
        "is_suspect": is_suspect,
        "most_attempts": settings.WORK_MAX_ATTEMPTS,
        "error": error[:4_000],
    }
    return _put_back(_FOR_MODEL, lease, work, values)


def wait_for_database(*, lease: Lease, work: Sequence[NextWork], error: str) -> list[Postponed]:
    """Put rows back that a failing database has interrupted, for 1 s, 2 s … to 5 minutes with up to 50 % jitter."""
    values = {
        "error": error[:4_000],
        "least": LEAST_WAIT.total_seconds(),
        "most": MOST_WAIT.total_seconds(),
        "jitter": random.uniform(1.0, 1.5),  # noqa: S311  (jitter needs no cryptography)
    }
    return _put_back(_FOR_DATABASE, lease, work, values)


def put_back_untouched(*, lease: Lease, work: Sequence[NextWork]) -> list[Postponed]:
    """Put rows back as they were before they were taken."""
    return _put_back(_UNTOUCHED, lease, work, {})


def put_back_interrupted(*, lease: Lease) -> None:
    """Put back what a leased user's worker was doing when it had to stop, as it was before it was taken."""
    fetch(_INTERRUPTED, {"end_user": lease.end_user_id, "token": lease.token})


def _put_back(sql: str, lease: Lease, work: Sequence[NextWork], values: dict[str, Any]) -> list[Postponed]:
    ours = {
        "end_user": lease.end_user_id,
        "project": lease.project_id,
        "token": lease.token,
        "rows": [each.id for each in work],
        "outage": outage_seconds(),
        "given_up": f"; given up after {settings.MODEL_OUTAGE_DAYS:g} days",
    }
    rows = fetch(sql, {**ours, **values})
    return [Postponed(subject_id=subject, state=WorkState(state), error=error) for subject, state, error in rows]
