"""Choices by reference to a function, so that a new value of the enum needs no migration."""

from django.db import migrations, models

import apps.memories.models.memory


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0019_plain_constraint_names"),
    ]

    operations = [
        migrations.AlterField(
            model_name="memory",
            name="event_precision",
            field=models.CharField(blank=True, choices=apps.memories.models.memory.precision_choices, max_length=8),
        ),
    ]
