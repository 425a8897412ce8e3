"""How far daily jobs are, so that they go on where they were."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0008_identify_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="JobRound",
            fields=[
                ("job", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "position",
                    models.JSONField(default=dict, help_text="up to where it is done, in the job's own terms"),
                ),
                ("changed", models.PositiveBigIntegerField(default=0, help_text="rows so far")),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "held_until",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="until then one process works on it"
                    ),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("job",),
            },
        ),
    ]
