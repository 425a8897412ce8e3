"""The index of pending memories by their wording, built without blocking their writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0025_wording")]

    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("status", "pending_review")),
                fields=["project", "wording"],
                name="memory_pending_by_wording",
            ),
        ),
    ]
