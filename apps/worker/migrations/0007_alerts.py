"""Schedule the tasks that evaluate alerts and send the messages about them."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAMES = ("evaluate_alerts", "deliver_alerts")


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the schedules; those that an operator has changed keep their interval."""
    every_minute = {"schedule_type": "I", "minutes": 1, "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    for name in NAMES:
        func = {"func": f"apps.worker.tasks.{name}"}
        schedules.update_or_create(name=name, defaults=func, create_defaults={**func, **every_minute})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name__in=NAMES).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0006_continue_replays")]

    operations = [migrations.RunPython(add, remove)]
