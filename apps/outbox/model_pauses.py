"""Pauses: a model that does not answer a project is only called for single tries. All times are the database's.

A failed call begins a pause. Once its `until` has passed, one caller may try again; a failed try prolongs the pause,
and a call that is answered ends it. Users that wait are leased again as soon as it ends (apps/outbox/leases.py).
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Min
from django.db.models.functions import Now

from apps.outbox.fetch import fetch
from apps.outbox.models import MODEL_NAME_LENGTH, ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import RUNS, PausedKind, WorkState

MOST_PAUSE = timedelta(minutes=5)
LEAST_RETRY_AFTER, MOST_RETRY_AFTER = 1.0, 24 * 3_600.0  # seconds; what a server may ask for
DELETED_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a model, as seen by one caller; `may_try` is set where this caller may try the model."""

    model: str
    since: datetime
    error: str
    may_try: bool = False

    @property
    def reason(self) -> str:
        """Return why work waits."""
        return f"{self.model} has not answered since {self.since:%Y-%m-%d %H:%M} UTC: {self.error}"


_ADMIT = """
with tried as (
    update outbox_modelpause set until = statement_timestamp() + %(seconds)s * interval '1 second'
    where project_id = %(project)s and model = %(model)s and until <= statement_timestamp()
    returning 1
)
select since, error, exists (select from tried) from outbox_modelpause
where project_id = %(project)s and model = %(model)s
"""


def find_pause(*, project_id: UUID, model: str) -> Pause | None:
    """Return the pause of a model, None if there is none. If a try is due, this caller may try.

    Another caller may try if this one has reported nothing for as long as a lease lasts.
    """
    name = model[:MODEL_NAME_LENGTH]
    rows = fetch(_ADMIT, {"project": project_id, "model": name, "seconds": settings.WORK_LEASE_SECONDS})
    return next((Pause(model=model, since=since, error=error, may_try=tried) for since, error, tried in rows), None)


# Of calls that fail at the same time the first begins the pause. The others don't prolong it, unless a server names a
# longer wait. The time is a parameter, and to_timestamp() adds to it: Citus takes no function there that may depend
# on the time or its zone.
_NOW = "select extract(epoch from statement_timestamp())::float8"
_FAILED = """
insert into outbox_modelpause as pause (project_id, model, kind, since, until, failures, error)
values (%(project)s, %(model)s, %(kind)s, statement_timestamp(),
        statement_timestamp() + coalesce(%(retry_after)s, %(first)s * %(jitter)s) * interval '1 second', 1, %(error)s)
on conflict (project_id, model) do update set
    failures = pause.failures + %(tried)s::int,
    until = case when %(tried)s
        then to_timestamp(%(now)s + coalesce(
            %(retry_after)s, least(%(first)s * power(2, least(pause.failures, 30)), %(most)s) * %(jitter)s))
        else greatest(pause.until, to_timestamp(%(now)s + coalesce(%(retry_after)s, 0))) end,
    kind = excluded.kind,
    error = excluded.error
returning since, error, xmax = 0
"""


def record_failure(
    *,
    project_id: UUID,
    model: str,
    kind: PausedKind,
    error: str,
    retry_after_seconds: float | None = None,
    was_try: bool = False,
) -> tuple[Pause, bool]:
    """Begin the pause of a model, or prolong it after a failed try; return it, and True if it has just begun.

    It lasts as long as the server asks for, or else 5 s (MODEL_PAUSE_SECONDS), 10 s, 20 s … to 5 minutes, each with up
    to 50 % jitter.
    """
    wait = retry_after_seconds
    ((now,),) = fetch(_NOW, ())
    values = {
        "project": project_id,
        "model": model[:MODEL_NAME_LENGTH],
        "kind": kind.value,
        "now": now,
        "retry_after": None if wait is None else min(max(wait, LEAST_RETRY_AFTER), MOST_RETRY_AFTER),
        "first": settings.MODEL_PAUSE_SECONDS,
        "most": MOST_PAUSE.total_seconds(),
        "jitter": random.uniform(1.0, 1.5),  # noqa: S311  (jitter needs no cryptography)
        "tried": was_try,
        "error": error[:1_000],
    }
    ((since, last_error, is_new),) = fetch(_FAILED, values)
    return Pause(model=model, since=since, error=last_error), is_new


def end_pause(*, project_id: UUID, model: str) -> None:
    """End the pause of a model, because it answers again."""
    ModelPause.objects.filter(project_id=project_id, model=model[:MODEL_NAME_LENGTH]).delete()


def end_all_pauses(*, project_id: UUID) -> None:
    """End the pauses of all models of a project, so that each is called as if it had always answered."""
    ModelPause.objects.filter(project_id=project_id).delete()


def try_now(*, project_id: UUID) -> int:
    """Make the next try of each paused model of a project due now; return how many models these are."""
    return int(ModelPause.objects.filter(project_id=project_id).update(until=Now()))


@dataclass(frozen=True, slots=True)
class PausedModel:
    """A model that is paused in some projects, since the first of them."""

    model: str
    since: datetime
    projects: int


def paused_models() -> list[PausedModel]:
    """Return the models that don't answer, by name."""
    rows = ModelPause.objects.values_list("model").annotate(since=Min("since"), projects=Count("id"))
    return [PausedModel(*row) for row in rows.order_by("model")]


def waiting_requests(*, project_id: UUID, model: str) -> int:
    """Count the requests and sessions of users that wait for a paused model."""
    leases = UserLease.objects.filter(project_id=project_id, ready_at__isnull=False, waits_for=model)
    runs = OutboxRow.objects.filter(project_id=project_id, state=WorkState.PENDING, kind__in=RUNS)
    return runs.filter(end_user_id__in=leases.values("end_user_id")).count()


def delete_unused_pauses() -> int:
    """Delete pauses that no work waits for and that had no try for an hour; return how many these were."""
    waiting = UserLease.objects.filter(ready_at__isnull=False)
    untried = ModelPause.objects.filter(until__lt=Now() - DELETED_AFTER)
    unused = [
        pause.pk for pause in untried if not waiting.filter(project=pause.project_id, waits_for=pause.model).exists()
    ]
    return int(untried.filter(pk__in=unused).delete()[0])
