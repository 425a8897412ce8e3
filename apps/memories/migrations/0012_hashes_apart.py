"""Of live memories that share a hash, all but the first get one of their own: nothing is lost, and each can be found.

A writer and the funnel that said the same at the same moment could leave two such; dedupe finds equal sentences anyway.
"""

from django.db import migrations

APART = """
update memories_memory set canonical_hash = md5(canonical_hash || id::text)
where status in ('active', 'pending_review') and exists (
    select from memories_memory as older
    where older.end_user_id = memories_memory.end_user_id and older.canonical_hash = memories_memory.canonical_hash
    and older.status in ('active', 'pending_review') and older.id < memories_memory.id
)
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0011_changes")]

    operations = [migrations.RunSQL(APART, migrations.RunSQL.noop)]
