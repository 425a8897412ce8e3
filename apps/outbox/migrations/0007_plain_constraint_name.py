"""A plain name of a constraint; nothing but the name changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("outbox", "0006_questions_work")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table outbox_outboxrow rename constraint work_owed_once to work_once_per_subject",
                    "alter table outbox_outboxrow rename constraint work_once_per_subject to work_owed_once",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="outboxrow", name="work_owed_once"),
                migrations.AddConstraint(
                    model_name="outboxrow",
                    constraint=models.UniqueConstraint(
                        fields=("end_user", "kind", "subject_id"), name="work_once_per_subject"
                    ),
                ),
            ],
        ),
    ]
