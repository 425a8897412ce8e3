"""Schedule the task that draws the weekly samples of evaluation; daily, so that a day without service is made up for."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "draw_weekly_samples"


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the schedule; one that an operator has changed keeps its interval."""
    func = {"func": f"apps.worker.tasks.{NAME}"}
    daily = {"schedule_type": "D", "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.update_or_create(name=NAME, defaults=func, create_defaults={**func, **daily})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0007_alerts")]

    operations = [migrations.RunPython(add, remove)]
