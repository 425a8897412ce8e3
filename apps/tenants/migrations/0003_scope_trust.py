import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0002_drop_erased_at"),
    ]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("read", "read"), ("write", "write"), ("trust", "trust"), ("admin", "admin")],
                    max_length=8,
                ),
                default=list,
                size=None,
            ),
        ),
    ]
