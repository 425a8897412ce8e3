"""Read from the database what tables, constraints and triggers there are, and what Citus knows about them."""

from typing import Any

from django.db import connection

from memplatform.distribution.schema import ForeignKey, Schema, Table, Trigger, UniqueRule

_TABLES = """
select relname, array_agg(attname::text)
from pg_class class join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
where relkind = 'r' and relnamespace = current_schema()::regnamespace
group by relname
"""
_UNIQUES = """
select class.relname, index.relname, indisprimary, coalesce(conname, ''),
    array(select attname::text from unnest(indkey) with ordinality as key(number, place)
          join pg_attribute on attrelid = indrelid and attnum = key.number order by place)
from pg_index join pg_class class on class.oid = indrelid join pg_class index on index.oid = indexrelid
left join pg_constraint on conindid = indexrelid and contype in ('p', 'u')
where indisunique and class.relnamespace = current_schema()::regnamespace
order by index.relname
"""
_FOREIGN_KEYS = """
select conname, source.relname, source_column.attname, target.relname, target_column.attname,
    pg_get_constraintdef(pg_constraint.oid)
from pg_constraint
join pg_class source on source.oid = conrelid join pg_class target on target.oid = confrelid
join pg_attribute source_column on source_column.attrelid = conrelid and source_column.attnum = conkey[1]
join pg_attribute target_column on target_column.attrelid = confrelid and target_column.attnum = confkey[1]
where contype = 'f' and connamespace = current_schema()::regnamespace and cardinality(conkey) = 1
order by conname
"""
_TRIGGERS = """
select class.relname, tgname, pg_get_triggerdef(pg_trigger.oid), tgenabled = 'A'
from pg_trigger join pg_class class on class.oid = tgrelid
where not tgisinternal and class.relnamespace = current_schema()::regnamespace
order by tgname
"""
_POLICIES = "select tablename, policyname from pg_policies where schemaname = current_schema() order by policyname"
_KINDS = """
select relname, case when partmethod = 'h' then 'distributed' when repmodel = 't' then 'reference' else 'local' end
from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
where relnamespace = current_schema()::regnamespace
"""
_HAS_CITUS = "select exists (select from pg_extension where extname = 'citus')"


def has_citus() -> bool:
    """Return True if the extension is installed in the database."""
    return bool(_rows(_HAS_CITUS)[0][0])


def is_distributed() -> bool:
    """Return True if at least one table is split over several servers."""
    return has_citus() and "distributed" in dict(_rows(_KINDS)).values()


def read_schema() -> Schema:
    """Read the tables of the current schema."""
    # A local table that a reference to a copied one has made known to Citus is a local table still.
    kinds = {name: kind for name, kind in _rows(_KINDS) if kind != "local"} if has_citus() else {}
    uniques, policies, triggers = _rows(_UNIQUES), _rows(_POLICIES), _rows(_TRIGGERS)
    tables = {}
    for name, columns in _rows(_TABLES):
        own = [UniqueRule(index, tuple(of), constraint) for table, index, _, constraint, of in uniques if table == name]
        primary = {index for table, index, is_primary, *_ in uniques if table == name and is_primary}
        tables[name] = Table(
            name=name,
            columns=frozenset(columns),
            primary_key=next(each for each in own if each.name in primary),
            uniques=tuple(each for each in own if each.name not in primary),
            triggers=tuple(
                Trigger(trigger, name, definition, always)
                for table, trigger, definition, always in triggers
                if table == name
            ),
            policies=tuple(policy for table, policy in policies if table == name),
            kind=kinds.get(name, ""),
        )
    keys = (
        ForeignKey(name, table, column, target, target_column, rules=definition.rpartition(")")[2])
        for name, table, column, target, target_column, definition in _rows(_FOREIGN_KEYS)
    )
    return Schema(tables, tuple(keys))


def _rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
