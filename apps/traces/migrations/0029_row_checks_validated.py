"""The checks by functions hold for all rows; those by lists of words and of numbers go."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traces", "0028_row_checks")]

    operations = [
        ValidateConstraint("trace", "trace_is_valid"),
        ValidateConstraint("turn", "turn_is_valid"),
        ValidateConstraint("span", "span_is_valid"),
        migrations.RemoveConstraint("trace", "trace_status"),
        migrations.RemoveConstraint("turn", "turn_role_known"),
        migrations.RemoveConstraint("span", "span_stage_known"),
        migrations.RemoveConstraint("span", "span_result_known"),
        migrations.AlterField("turn", "position", models.IntegerField(help_text="position within the session, from 0")),
        migrations.AlterField("span", "position", models.SmallIntegerField()),
        migrations.AlterField("span", "latency_us", models.IntegerField()),
    ]
