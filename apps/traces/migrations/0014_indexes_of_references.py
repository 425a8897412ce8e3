"""Indexes by which the database finds what refers to a deleted row; without them it reads the whole table each time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

_INDEXES = (
    ("trace", models.Index(fields=("session",), name="trace_by_session")),
    ("turn", models.Index(fields=("session",), name="turn_by_session")),
    ("turn", models.Index(fields=("trace",), name="turn_by_trace")),
    ("span", models.Index(fields=("trace",), name="span_by_trace")),
    ("modelcall", models.Index(fields=("trace",), name="model_call_by_trace")),
    (
        "idempotentrequest",
        models.Index(fields=("end_user_id",), condition=Q(end_user_id__isnull=False), name="idempotency_of_user"),
    ),
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("traces", "0013_erasure_of_answers")]

    operations = [AddIndexConcurrently(model_name=model, index=index) for model, index in _INDEXES]
