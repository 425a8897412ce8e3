"""Schedule the questions of memories that have waited for a day, once an hour."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "ask_waiting_questions"
FUNC = {"func": f"apps.worker.tasks.{NAME}"}
HOURLY = {"schedule_type": "H"}


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the schedule where it is missing; one that an operator has changed keeps its interval."""
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.update_or_create(name=NAME, defaults=FUNC, create_defaults={**FUNC, **HOURLY, "repeats": -1})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0003_erasure_and_ledger_schedules")]

    operations = [migrations.RunPython(add, remove)]
