"""Schedule the task that continues imports that wait or whose process died."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "continue_imports"


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the schedule; one that an operator has changed keeps its interval."""
    func = {"func": f"apps.worker.tasks.{NAME}"}
    every_minute = {"schedule_type": "I", "minutes": 1, "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.update_or_create(name=NAME, defaults=func, create_defaults={**func, **every_minute})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0009_schedules_of_rounds")]

    operations = [migrations.RunPython(add, remove)]
