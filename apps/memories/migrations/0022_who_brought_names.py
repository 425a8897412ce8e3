"""Which traces brought the entities and names that are there already, as far as ledger and plans tell.

Older rows can't tell who renamed an entity, and from whom a description passed to another; nor does a trace whose plan was
deleted with its turns or by retention. What they brought stays when they are rolled back.
"""

from django.db import migrations

ENTITIES = """
update memories_entity entity set added_by = entry.trace_id
from memories_ledgerentry entry
where entry.object_kind = 'entity' and entry.verb = 'added' and entry.trace_id is not null
  and entry.object_id = entity.id and entry.end_user_id = entity.end_user_id
"""
NAMES = """
insert into memories_entitychange
    (id, end_user_id, entity_id, trace_id, kind, alias, folded, former, uses, withdrawn, created_at)
select gen_random_uuid(), alias.end_user_id, alias.entity_id, said.trace_id, 'named', alias.alias, alias.folded, '', 1,
    false, said.created_at
from (
    select distinct trace.end_user_id, trace.id as trace_id, trace.created_at, named.entity, lower(named.name) as name
    from traces_trace trace cross join lateral jsonb_array_elements(trace.plan) step cross join lateral (
        select step->>'entity_id' as entity, step->>'alias' as name
        where step->>'op' in ('AddAlias', 'ReassignAlias')
        union all
        select step->'entity'->>'id', jsonb_array_elements_text(step->'entity'->'aliases')
        where step->>'op' = 'AddEntity'
    ) named
    where trace.plan <> '[]'
) said join memories_entityalias alias on alias.end_user_id = said.end_user_id
    and alias.entity_id = said.entity::uuid and lower(alias.alias) = said.name
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0021_rollbacks"), ("traces", "0019_rolled_back")]

    operations = [
        migrations.RunSQL(ENTITIES, "update memories_entity set added_by = null"),
        migrations.RunSQL(NAMES, "delete from memories_entitychange"),
    ]
