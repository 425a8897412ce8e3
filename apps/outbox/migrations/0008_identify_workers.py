"""Another explanation of the identifier of a worker, which its leases no longer carry; nothing else changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0007_plain_constraint_name"),
    ]

    operations = [
        migrations.AlterField(
            model_name="workerheartbeat",
            name="worker",
            field=models.UUIDField(help_text="identifies the worker process", primary_key=True, serialize=False),
        ),
    ]
