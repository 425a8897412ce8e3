"""The schedules of the cluster exist after a migration, and their functions can be imported."""

import pytest
from django.utils.module_loading import import_string
from django_q.models import Schedule

from apps.worker.schedules import update_schedules

DAILY = {
    "apps.worker.tasks.archive_memories",
    "apps.worker.tasks.apply_retention",
    "apps.worker.tasks.draw_weekly_samples",
}
HOURLY = {"apps.worker.tasks.close_ended_memories"}


@pytest.fixture
def schedules(db: None) -> dict[str, Schedule]:
    """What a migration adds, by the task's name; added again here, since other tests empty the tables."""
    Schedule.objects.create(name="drain", func="apps.worker.tasks.drain")
    update_schedules()
    return {schedule.func: schedule for schedule in Schedule.objects.all()}


def test_every_schedule_repeats_without_end_and_names_a_task(schedules: dict[str, Schedule]) -> None:
    assert set(schedules) >= DAILY | HOURLY
    assert {"apps.worker.tasks.continue_rounds", "apps.worker.tasks.count_rule_hits"} <= set(schedules)
    assert "apps.worker.tasks.drain" not in schedules
    for name, schedule in schedules.items():
        assert callable(import_string(name))
        rhythm = (schedule.schedule_type, schedule.minutes)
        kind = Schedule.DAILY if name in DAILY else Schedule.HOURLY if name in HOURLY else Schedule.MINUTES
        assert rhythm == (kind, 1 if kind == Schedule.MINUTES else None)
        assert schedule.repeats == -1
