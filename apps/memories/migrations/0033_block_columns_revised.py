"""A change of type, tags or time of an event changes what a context block is made of, so it raises the revision."""

from django.db import migrations

REVISED = """
drop trigger memory_revised on memories_memory;
create constraint trigger memory_revised after insert or delete or update of
    status, subject_id, predicate, object, content, context, evidence, language, session_id, said_at,
    valid_from, valid_until, expires_at, confidence, importance{more}
    on memories_memory deferrable initially deferred for each row execute function memory_revised();
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0032_bound_functions")]

    operations = [
        migrations.RunSQL(REVISED.format(more=", type, tags, event_at"), REVISED.format(more="")),
    ]
