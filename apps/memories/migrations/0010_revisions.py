"""A number an end user that changes with all that a search reads, so that a process can tell whether it holds the truth.

It is written when a transaction commits (the triggers are deferred), as the last of its locks and for a moment only:
two writers of one end user would else wait for each other in the middle of their work. As each waits for the other's
commit there, no number is ever that of two states. Counting accesses changes nothing that a search reads.
"""

import django.db.models.deletion
from django.db import migrations, models

CREATE = """
create function memory_revised() returns trigger language plpgsql as $$
begin
    insert into memories_memoryrevision as known (end_user_id, number)
    values (coalesce(new.end_user_id, old.end_user_id), pg_current_xact_id()::text::bigint)
    on conflict (end_user_id) do update set number = excluded.number where known.number <> excluded.number;
    return null;
end $$;
create constraint trigger memory_revised after insert or delete or update of
    status, subject_id, predicate, object, content, context, language, session_id, said_at,
    valid_from, valid_until, expires_at, confidence, importance
    on memories_memory deferrable initially deferred for each row execute function memory_revised();
create constraint trigger vector_revised after insert or delete or update on memories_memoryvector
    deferrable initially deferred for each row execute function memory_revised();
"""
DROP = """
drop trigger vector_revised on memories_memoryvector;
drop trigger memory_revised on memories_memory;
drop function memory_revised();
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0009_language_unsaid"), ("tenants", "0001_projects_keys_end_users")]

    operations = [
        migrations.CreateModel(
            name="MemoryRevision",
            fields=[
                (
                    "end_user",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="tenants.enduser",
                    ),
                ),
                ("number", models.BigIntegerField(help_text="of the transaction; none has the number of another")),
            ],
            options={"ordering": ("end_user",)},
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
