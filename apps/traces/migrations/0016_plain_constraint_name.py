"""A plain name of a constraint; nothing but the name changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traces", "0015_tally_redacted")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table traces_idempotentrequest rename constraint idempotency_answer_whole to idempotency_answer_complete",
                    "alter table traces_idempotentrequest rename constraint idempotency_answer_complete to idempotency_answer_whole",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="idempotentrequest", name="idempotency_answer_whole"),
                migrations.AddConstraint(
                    model_name="idempotentrequest",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("answer_status__isnull", True), ("answer__isnull", False), _connector="OR"),
                        name="idempotency_answer_complete",
                    ),
                ),
            ],
        ),
    ]
