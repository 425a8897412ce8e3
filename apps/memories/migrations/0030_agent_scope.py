"""Who told a memory: agent, application and run, and other sources; the columns are filled without reading the rows."""

from django.db import migrations, models


def _name(help_text: str = "") -> models.CharField:
    return models.CharField(blank=True, db_default="", default="", max_length=255, help_text=help_text)


class Migration(migrations.Migration):
    dependencies = [("memories", "0029_creation_index")]

    operations = [
        migrations.AddField(model_name="memory", name="agent_id", field=_name()),
        migrations.AddField(model_name="memory", name="app_id", field=_name()),
        migrations.AddField(model_name="memory", name="run_id", field=_name()),
        migrations.AddField(
            model_name="memory",
            name="further_sources",
            field=models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="[{agent_id, app_id, run_id, metadata}]",
            ),
        ),
        migrations.AddField(model_name="memory", name="private_to", field=_name("the agent that alone is told of it")),
    ]
