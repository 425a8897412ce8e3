"""Mark turns whose traces were rolled back, so that the intake needs no look at their traces."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0022_replays"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="withdrawn",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="its trace was rolled back: it counts as never said",
            ),
        ),
    ]
