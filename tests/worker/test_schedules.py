"""What the cluster does by the clock is there after a migration, and its names lead somewhere."""

import pytest
from django.utils.module_loading import import_string
from django_q.models import Schedule

DAILY = {"apps.worker.tasks.archive_memories"}


@pytest.mark.django_db
def test_every_schedule_runs_for_ever_and_names_a_task() -> None:
    schedules = {schedule.func: schedule for schedule in Schedule.objects.all()}
    assert set(schedules) >= DAILY
    assert {"apps.worker.tasks.drain", "apps.worker.tasks.count_rule_hits"} <= set(schedules)
    for name, schedule in schedules.items():
        assert callable(import_string(name))
        rhythm = (schedule.schedule_type, schedule.minutes)
        assert rhythm == ((Schedule.DAILY, None) if name in DAILY else (Schedule.MINUTES, 1))
        assert schedule.repeats == -1
