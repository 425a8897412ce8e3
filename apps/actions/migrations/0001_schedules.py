"""What the cluster does by the clock, once a minute."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# By dotted name; a row that a person has changed stays as it is.
TASKS = ("apps.actions.tasks.drain", "apps.actions.tasks.count_rule_hits")


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Schedule = apps.get_model("django_q", "Schedule")
    for task in TASKS:
        values = {"func": task, "schedule_type": "I", "minutes": 1, "repeats": -1}
        Schedule.objects.get_or_create(name=task.rpartition(".")[2], defaults=values)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(func__in=TASKS).delete()


class Migration(migrations.Migration):
    dependencies = [("django_q", "0018_task_success_index")]

    operations = [migrations.RunPython(add, remove)]
