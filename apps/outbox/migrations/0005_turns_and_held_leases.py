from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # an index is created without blocking writes

    dependencies = [
        ("outbox", "0004_model_pauses"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboxrow",
            name="turn_count",
            field=models.PositiveSmallIntegerField(db_default=1, default=1, help_text="new turns of a pipeline run"),
        ),
        AddIndexConcurrently(
            model_name="userlease",
            index=models.Index(condition=Q(token__isnull=False), fields=["project", "leased_until"], name="lease_held"),
        ),
    ]
