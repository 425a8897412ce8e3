"""The check by a function holds for all rows; those by lists of words and of numbers go."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("outbox", "0010_row_check")]

    operations = [
        ValidateConstraint("outboxrow", "work_is_valid"),
        migrations.RemoveConstraint("outboxrow", "work_state_known"),
        migrations.RemoveConstraint("outboxrow", "work_kind_known"),
        migrations.AlterField("outboxrow", "attempts", models.SmallIntegerField(default=0)),
        migrations.AlterField(
            "outboxrow",
            "turn_count",
            models.SmallIntegerField(db_default=1, default=1, help_text="new turns of a pipeline run"),
        ),
    ]
