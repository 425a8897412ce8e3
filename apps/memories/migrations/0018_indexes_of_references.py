"""Indexes by which the database finds what refers to a deleted row; without them it reads the whole table each time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

_INDEXES = {
    "memory": {
        "memory_by_subject": ("subject", Q(subject__isnull=False)),
        "memory_by_successor": ("superseded_by", Q(superseded_by__isnull=False)),
        "memory_by_trace": ("trace", Q(trace__isnull=False)),
        "memory_by_session": ("session", Q(session__isnull=False)),
    },
    "memoryorigin": {
        "origin_by_memory": ("memory", None),
        "origin_by_trace": ("trace", None),
        "origin_by_session": ("session", None),
        "origin_by_turn": ("turn", None),
    },
    "memoryversion": {
        "version_by_memory": ("memory", None),
        "version_by_trace": ("trace", Q(trace__isnull=False)),
    },
    "memorylink": {
        "link_by_from": ("from_memory", None),
        "link_by_to": ("to_memory", None),
        "link_by_trace": ("trace", Q(trace__isnull=False)),
    },
    "memoryvector": {"vector_by_memory": ("memory", None)},
    "entityalias": {"alias_by_entity": ("entity", None)},
    "ledgerentry": {
        "ledger_of_project": (("project", "-id"), None),
        "ledger_unsealed": (("project", "id"), Q(number__isnull=True)),
    },
}


def _index(name: str, fields: str | tuple[str, ...], condition: Q | None) -> models.Index:
    return models.Index(fields=(fields,) if isinstance(fields, str) else fields, condition=condition, name=name)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0017_ledger_rules")]

    operations = [
        *(
            AddIndexConcurrently(model_name=model, index=_index(name, fields, condition))
            for model, indexes in _INDEXES.items()
            for name, (fields, condition) in indexes.items()
        ),
        migrations.AddConstraint(
            model_name="ledgerentry",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="ledger_number_once"),
        ),
    ]
