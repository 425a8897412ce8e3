"""Traces that read the turns of earlier ones again, and their index, built without blocking writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("traces", "0031_no_constraints_on_traces")]

    operations = [
        migrations.AddField(
            "trace",
            "reads_again",
            models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="it reads turns of earlier traces again, by a model",
            ),
        ),
        AddIndexConcurrently(
            "trace",
            models.Index(
                fields=["project", "created_at"], condition=Q(reads_again=True), name="trace_that_reads_again"
            ),
        ),
    ]
