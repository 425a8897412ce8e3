"""Schedule the task that continues rollbacks and their undo after a process was killed."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME, TASK = "continue_rollbacks", "apps.worker.tasks.continue_rollbacks"


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the schedule; one that an operator has changed keeps its interval."""
    given = {"func": TASK, "schedule_type": "I", "minutes": 1, "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.update_or_create(name=NAME, defaults={"func": TASK}, create_defaults=given)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0004_ask_waiting_questions")]

    operations = [migrations.RunPython(add, remove)]
