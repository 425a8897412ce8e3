"""Let the column of the secrets of second factors hold ciphertext."""

from django.db import migrations

import apps.tenants.encrypted_text


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0007_second_factor"),
    ]

    operations = [
        migrations.AlterField(
            model_name="secondfactor",
            name="secret",
            field=apps.tenants.encrypted_text.EncryptedTextField(
                editable=False, help_text="shared with the app, in base 32"
            ),
        ),
    ]
