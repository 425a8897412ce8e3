"""The index of changes by the person who made them, built without blocking their writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0027_teamwork_of_reviewers")]

    operations = [
        AddIndexConcurrently(
            model_name="memoryversion",
            index=models.Index(
                condition=models.Q(("trace__isnull", True)), fields=["actor", "-known_until"], name="version_by_actor"
            ),
        ),
    ]
