"""Schedule the deletion of files that nobody imports; imports themselves have a process of their own now."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME, FORMER = "forget_import_files", "continue_imports"


def _replace(apps: Apps, *, name: str, former: str) -> None:
    """Create one schedule in place of another; one that an operator has changed keeps its interval."""
    func = {"func": f"apps.worker.tasks.{name}"}
    every_minute = {"schedule_type": "I", "minutes": 1, "repeats": -1}
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.filter(name=former).delete()
    schedules.update_or_create(name=name, defaults=func, create_defaults={**func, **every_minute})


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _replace(apps, name=NAME, former=FORMER)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _replace(apps, name=FORMER, former=NAME)


class Migration(migrations.Migration):
    dependencies = [("worker", "0010_continue_imports")]

    operations = [migrations.RunPython(add, remove)]
