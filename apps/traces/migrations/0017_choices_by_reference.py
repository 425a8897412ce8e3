"""Choices by reference to a function, so that a new value of the enum needs no migration."""

from django.db import migrations, models

import apps.traces.models.configuration
import apps.traces.models.tally
import apps.traces.models.trace


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0016_plain_constraint_name"),
    ]

    operations = [
        migrations.AlterField(
            model_name="hourlytally",
            name="measure",
            field=models.CharField(choices=apps.traces.models.tally.measure_choices, max_length=16),
        ),
        migrations.AlterField(
            model_name="modelcall",
            name="answer_kind",
            field=models.CharField(
                blank=True,
                choices=apps.traces.models.trace.answer_kind_choices,
                help_text="empty where the call failed or a judge answered",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="prefilterrule",
            name="reason",
            field=models.CharField(choices=apps.traces.models.configuration.reason_choices, max_length=32),
        ),
    ]
