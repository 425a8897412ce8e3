"""Choices by reference to a function, so that a new value of the enum needs no migration."""

import django.contrib.postgres.fields
from django.db import migrations, models

import apps.tenants.models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0005_erasures"),
    ]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(choices=apps.tenants.models.scope_choices, max_length=8),
                default=list,
                size=None,
            ),
        ),
    ]
