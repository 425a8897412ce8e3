"""What the calls of a project's models have come to lately."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The calls of a model since some time: how many, how many of them failed, and the last of either."""

    model: str  # as its client or a policy calls it; empty: the configured one
    calls: int
    failed: int
    last_answer: datetime | None
    last_failure: datetime | None
    last_error: str
    median_us: int | None  # of the calls that were answered


# Calls by time from a BRIN index; those of other projects are passed over.
_RECORDS = """
with calls as (
    select model, error, call.created_at, latency_us from traces_modelcall call
    join tenants_enduser owner on owner.id = call.end_user_id
    where owner.project_id = %(project)s and call.created_at >= %(since)s
    union all
    select model, error, created_at, latency_us from traces_modeltestcall
    where project_id = %(project)s and created_at >= %(since)s
)
select model, count(*), count(*) filter (where error <> ''),
    max(created_at) filter (where error = ''), max(created_at) filter (where error <> ''),
    coalesce((array_agg(left(error, 1000) order by created_at desc) filter (where error <> ''))[1], ''),
    percentile_disc(0.5) within group (order by latency_us) filter (where error = '')
from calls group by model order by model
"""


def model_records(*, project_id: UUID, since: datetime) -> list[ModelRecord]:
    """Return the records of the models that were called, by name, with one query."""
    with connection.cursor() as cursor:
        cursor.execute(_RECORDS, {"project": project_id, "since": since})
        return [ModelRecord(*row) for row in cursor.fetchall()]
