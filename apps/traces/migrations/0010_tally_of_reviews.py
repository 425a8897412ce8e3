from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0009_trace_extraction_failed"),
    ]

    operations = [
        migrations.AlterField(
            model_name="hourlytally",
            name="measure",
            field=models.CharField(
                choices=[
                    ("turns", "turns"),
                    ("new_turns", "new turns"),
                    ("drops", "drops"),
                    ("rulings", "rulings"),
                    ("reviews", "reviews"),
                    ("superseded", "superseded"),
                    ("traces", "traces"),
                    ("calls", "calls"),
                    ("calls_cached", "calls cached"),
                    ("calls_failed", "calls failed"),
                    ("answers", "answers"),
                    ("invalid_objects", "invalid objects"),
                    ("tokens", "tokens"),
                    ("cost", "cost"),
                ],
                max_length=16,
            ),
        ),
    ]
