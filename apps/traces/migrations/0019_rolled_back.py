"""The status of traces whose effects a rollback has taken back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0007_second_factor"),
        ("traces", "0018_cut_prompts"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="trace",
            name="trace_status",
        ),
        migrations.AddField(
            model_name="trace",
            name="rollback_id",
            field=models.UUIDField(blank=True, help_text="the rollback that took back what it wrote", null=True),
        ),
        migrations.AlterField(
            model_name="trace",
            name="status",
            field=models.CharField(
                choices=[
                    ("queued", "queued"),
                    ("done", "done"),
                    ("rejected", "rejected"),
                    ("extraction_failed", "extraction failed"),
                    ("dead", "dead"),
                    ("rolled_back", "rolled back"),
                ],
                default="queued",
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            model_name="trace",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["dead", "done", "extraction_failed", "queued", "rejected", "rolled_back"])
                ),
                name="trace_status",
            ),
        ),
    ]
