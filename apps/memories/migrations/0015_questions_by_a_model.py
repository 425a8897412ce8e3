"""Which model was asked for the questions of a memory, so that it is asked once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0014_terms_of_quotes")]

    operations = [
        migrations.AddField(
            "memoryvector",
            "questions_by",
            models.CharField(
                blank=True, default="", help_text="the model that was asked for them; blank: templates", max_length=120
            ),
        ),
    ]
