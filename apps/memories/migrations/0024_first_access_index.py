"""The index of memories that were told to agents, built without blocking their writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0023_evaluation")]

    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("first_accessed__isnull", False)),
                fields=["project", "first_accessed"],
                name="memory_by_first_access",
            ),
        ),
    ]
