"""Private memories of two agents may say the same; the new index is built beside the old one, without blocking writers.

Backwards, private memories get hashes of their own, so that the index without the agent can be built.
"""

from django.db import migrations, models

_LIVE = "where status in ('active', 'pending_review')"
_DROP_REST = "drop index concurrently if exists memory_live_once_new"
_SWAP = [
    "drop index concurrently if exists memory_live_once",
    "alter index memory_live_once_new rename to memory_live_once",
]
_FORWARDS = [
    _DROP_REST,  # of a run that was interrupted
    f"""create unique index concurrently memory_live_once_new
        on memories_memory (end_user_id, private_to, canonical_hash) {_LIVE}""",
    *_SWAP,
]
_BACKWARDS = [
    _DROP_REST,
    "update memories_memory set canonical_hash = md5(private_to || canonical_hash) where private_to <> ''",
    f"create unique index concurrently memory_live_once_new on memories_memory (end_user_id, canonical_hash) {_LIVE}",
    *_SWAP,
]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("memories", "0030_agent_scope")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(_FORWARDS, _BACKWARDS)],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_live_once"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("status__in", ["active", "pending_review"])),
                        fields=("end_user", "private_to", "canonical_hash"),
                        name="memory_live_once",
                    ),
                ),
            ],
        ),
    ]
