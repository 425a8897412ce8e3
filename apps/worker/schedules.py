"""The recurring tasks of django-q2; `migrate` brings their rows up to date."""

from typing import Any

from django_q.models import Schedule

TASKS = "apps.worker.tasks"
EVERY_MINUTE: dict[str, Any] = {"schedule_type": Schedule.MINUTES, "minutes": 1}
HOURLY: dict[str, Any] = {"schedule_type": Schedule.HOURLY}
DAILY: dict[str, Any] = {"schedule_type": Schedule.DAILY}
SCHEDULES = {
    "work": EVERY_MINUTE,
    "count_rule_hits": EVERY_MINUTE,
    "tally": EVERY_MINUTE,
    "prune": EVERY_MINUTE,
    "end_idle_sessions": EVERY_MINUTE,
    "continue_erasures": EVERY_MINUTE,
    "continue_rollbacks": EVERY_MINUTE,
    "continue_replays": EVERY_MINUTE,
    "continue_rounds": EVERY_MINUTE,
    "seal_ledger": EVERY_MINUTE,
    "evaluate_alerts": EVERY_MINUTE,
    "deliver_alerts": EVERY_MINUTE,
    "forget_import_files": EVERY_MINUTE,
    "close_ended_memories": HOURLY,
    "apply_retention": DAILY,
    "archive_memories": DAILY,
    "draw_weekly_samples": DAILY,
}


def update_schedules(**_: Any) -> None:
    """Create missing schedules and delete those of former tasks; an interval that an operator has changed stays."""
    for name, interval in SCHEDULES.items():
        func = {"func": f"{TASKS}.{name}"}
        Schedule.objects.update_or_create(name=name, defaults=func, create_defaults={**func, **interval, "repeats": -1})
    Schedule.objects.filter(func__startswith=f"{TASKS}.").exclude(name__in=SCHEDULES).delete()
