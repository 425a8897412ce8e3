"""Schedule the tasks that continue erasures, seal the ledger and apply retention periods."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

EVERY_MINUTE = {"schedule_type": "I", "minutes": 1}
DAILY = {"schedule_type": "D"}
SCHEDULES = {"continue_erasures": EVERY_MINUTE, "seal_ledger": EVERY_MINUTE, "apply_retention": DAILY}
TASKS = "apps.worker.tasks"


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create missing schedules; one that an operator has changed keeps its interval."""
    schedules = apps.get_model("django_q", "Schedule").objects
    for name, interval in SCHEDULES.items():
        func = {"func": f"{TASKS}.{name}"}
        schedules.update_or_create(name=name, defaults=func, create_defaults={**func, **interval, "repeats": -1})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name__in=SCHEDULES).delete()


class Migration(migrations.Migration):
    dependencies = [("worker", "0002_close_ended_memories")]

    operations = [migrations.RunPython(add, remove)]
