"""The index of a project's memories by time, whatever their status, built without blocking their writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0028_versions_by_actor")]

    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(fields=["project", "created_at", "id"], name="memory_by_creation"),
        ),
    ]
