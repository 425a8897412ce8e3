"""The index by which row-level security looks up an end user of a project, built without blocking writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tenants", "0009_encrypt_secrets")]

    operations = [
        AddIndexConcurrently(
            model_name="enduser",
            index=models.Index(fields=("id", "project"), name="end_user_by_id_and_project"),
        ),
    ]
