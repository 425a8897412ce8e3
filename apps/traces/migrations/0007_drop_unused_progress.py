from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0006_offset_of_turns"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="trace",
            name="trace_status",
        ),
        migrations.RemoveField(
            model_name="session",
            name="extracted_until",
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
                ],
                default="queued",
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            model_name="trace",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["dead", "done", "extraction_failed", "queued", "rejected"])),
                name="trace_status",
            ),
        ),
    ]
