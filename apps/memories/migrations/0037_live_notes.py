"""The index of the live notes of a project, built without blocking their writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0036_revision_transaction_default")]

    operations = [
        AddIndexConcurrently(
            "memory",
            models.Index(
                fields=["project", "created_at"],
                condition=Q(status__in=["active", "pending_review"], extractor="plain:note"),
                name="memory_live_note",
            ),
        ),
    ]
