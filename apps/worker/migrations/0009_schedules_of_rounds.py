"""Schedule the task that goes on with daily jobs; drains are processes of their own now, no scheduled tasks."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ADDED, REMOVED = "continue_rounds", "drain"


def replace(apps: Apps, *, old: str, new: str) -> None:
    """Replace one schedule by another; one that an operator has changed keeps its interval."""
    func = {"func": f"apps.worker.tasks.{new}"}
    every_minute = {"schedule_type": "I", "minutes": 1, "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.filter(name=old).delete()
    schedules.update_or_create(name=new, defaults=func, create_defaults={**func, **every_minute})


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    replace(apps, old=REMOVED, new=ADDED)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    replace(apps, old=ADDED, new=REMOVED)


class Migration(migrations.Migration):
    dependencies = [("worker", "0008_draw_weekly_samples")]

    operations = [migrations.RunPython(add, remove)]
