"""Past work is removed, once a minute."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TASK = "apps.actions.tasks.prune"  # by dotted name; a row that a person has changed stays as it is


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    values = {"func": TASK, "schedule_type": "I", "minutes": 1, "repeats": -1}
    apps.get_model("django_q", "Schedule").objects.get_or_create(name="prune", defaults=values)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("actions", "0002_tally")]

    operations = [migrations.RunPython(add, remove)]
