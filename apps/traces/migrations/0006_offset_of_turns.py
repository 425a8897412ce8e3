from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0005_what_answers_were"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="utc_offset",
            field=models.SmallIntegerField(
                db_default=0,
                default=0,
                help_text="offset of occurred_at from UTC, in minutes east",
            ),
        ),
    ]
