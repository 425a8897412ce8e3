"""No two live memories of an end user stand under one hash; the index that finds them by it says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_hashes_apart")]

    operations = [
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                fields=("end_user", "canonical_hash"),
                condition=models.Q(status__in=["active", "pending_review"]),
                name="memory_live_once",
            ),
        ),
        migrations.RemoveIndex(model_name="memory", name="memory_live_by_hash"),
    ]
