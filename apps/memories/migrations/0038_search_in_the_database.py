"""Search compares memories in the database, without caches: revisions go, and the words of memories get an index.

`term_numbers` returns the hashes of `terms` as numbers, which an index of many memories needs.
"""

from django.db import migrations

CREATE = """
create function term_numbers(terms bytea) returns int[] language sql immutable parallel safe return (
    select coalesce(array_agg(distinct ('x' || encode(substring(terms from place * 4 + 1 for 4), 'hex'))::bit(32)::int),
                    '{}')
    from generate_series(0, length(terms) / 4 - 1) place
);
create index memory_by_terms on memories_memory using gin (term_numbers(terms));
"""
DROP = "drop index memory_by_terms; drop function term_numbers(bytea);"


class Migration(migrations.Migration):
    dependencies = [("memories", "0037_live_notes")]
    accepted = {
        "remove": "an older version that runs meanwhile fails to search until it is replaced",
        "index": "the index is built from an expression, while writers wait some seconds per million memories",
    }

    operations = [
        migrations.DeleteModel(name="MemoryChange"),
        migrations.DeleteModel(name="MemoryRevision"),
        migrations.RunSQL("drop sequence memories_revision", "create sequence memories_revision"),
        migrations.RunSQL(CREATE, DROP),
    ]
