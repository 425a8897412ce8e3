"""Whom the answer to a repeated request is about, so that it can be erased with the user."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traces", "0012_reasons_of_origin")]

    operations = [
        migrations.AddField(
            model_name="idempotentrequest",
            name="end_user_id",
            field=models.UUIDField(help_text="whom the request names; the answer is erased with the user", null=True),
        ),
    ]
