"""The schedules of the cluster exist after a migration, and their functions can be imported."""

import pkgutil
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations import RunPython
from django.utils.module_loading import import_string
from django_q.models import Schedule

from apps.worker import migrations

DAILY = {
    "apps.worker.tasks.archive_memories",
    "apps.worker.tasks.apply_retention",
    "apps.worker.tasks.draw_weekly_samples",
}
HOURLY = {"apps.worker.tasks.close_ended_memories"}


@pytest.fixture
def schedules(db: None) -> dict[str, Schedule]:
    """What the migrations add, by the task's name; they are asked again, since other tests empty the tables."""
    for _, name, _ in pkgutil.iter_modules(migrations.__path__):
        for operation in import_module(f"{migrations.__name__}.{name}").Migration.operations:
            if isinstance(operation, RunPython):
                operation.code(apps, connection.schema_editor())
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
