"""In which agent, application and run a request was told; defaults in the database keep the statement of intake short."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traces", "0024_model_test_calls")]

    operations = [
        migrations.AddField(
            model_name="trace",
            name="agent_scope",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                help_text="{agent_id, app_id, run_id}",
            ),
        ),
        migrations.AlterField(
            model_name="trace",
            name="plan",
            field=models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="the operations that were applied",
            ),
        ),
        migrations.AlterField(model_name="trace", name="error", field=models.TextField(blank=True, db_default="")),
        migrations.AlterField(
            model_name="session",
            name="summarised_until",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
