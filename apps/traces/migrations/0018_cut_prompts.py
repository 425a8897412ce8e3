"""Record with each call whether the server has cut its prompt."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0017_choices_by_reference"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelcall",
            name="prompt_cut",
            field=models.BooleanField(
                db_default=False, default=False, help_text="the server has read less than it was sent"
            ),
        ),
    ]
