"""Work of a new kind: to ask the model for questions that memories answer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("outbox", "0005_turns_and_held_leases")]

    operations = [
        migrations.RemoveConstraint("outboxrow", "work_kind_known"),
        migrations.AlterField(
            "outboxrow",
            "kind",
            models.CharField(
                choices=[
                    ("run_pipeline", "run pipeline"),
                    ("index_memory", "index memory"),
                    ("extract_session", "extract session"),
                    ("ask_questions", "ask questions"),
                ],
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            "outboxrow",
            models.CheckConstraint(
                condition=models.Q(("kind__in", ["ask_questions", "extract_session", "index_memory", "run_pipeline"])),
                name="work_kind_known",
            ),
        ),
    ]
