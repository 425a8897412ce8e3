"""Distribution of the database over several servers with Citus: where each table goes, by which key, in which order.

A table with `end_user_id` is split by it, so that all rows of an end user are on one server, and a statement about one
end user touches one. The exceptions are named here, each with its reason. docs/scale.md is for operators.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import connection

USERS = "tenants_enduser"
END_USER = "end_user_id"
PROJECT = "project_id"


class Placement(StrEnum):
    """Where the rows of a table are."""

    SPLIT = "split"  # by the hash of a column: a distributed table
    COPIED = "copied"  # on every server: a reference table
    LOCAL = "local"  # on the coordinator alone


class Place(NamedTuple):
    """Where a table goes, and why. `column` and `beside` are of split tables: rows with equal values are together."""

    placement: Placement
    reason: str
    column: str = ""
    beside: str = ""


_LEDGER, _EVENTS = "memories_ledgerentry", "events_projectevent"
NAMED: Mapping[str, Place] = {
    USERS: Place(Placement.SPLIT, "end users, to whom all their rows refer", "id"),
    _LEDGER: Place(Placement.SPLIT, "the chain of a project is in one place", PROJECT),
    "memories_ledgercheckpoint": Place(Placement.SPLIT, "beside the ledger, removed up to them", PROJECT, _LEDGER),
    "items_storeditem": Place(Placement.SPLIT, "a key is unique in its project; not every item has a user", PROJECT),
    _EVENTS: Place(Placement.SPLIT, "events are numbered by project; not every one has a user", PROJECT),
    "events_webhookdelivery": Place(Placement.SPLIT, "beside the events", PROJECT, _EVENTS),
    "traces_idempotentrequest": Place(Placement.SPLIT, "a key is unique in its project; not all have a user", "key"),
    "tenants_erasure": Place(Placement.LOCAL, "a receipt per erasure, locked while the erasure runs"),
    "events_webhook": Place(Placement.LOCAL, "written with each delivery; a copied table is written on every server"),
    "tenants_apikey": Place(Placement.COPIED, "read in the statements that accept turns"),
}
# Unique constraints without the column that their table is split by, which may take it up: it follows from the others.
WIDENED = {"event_told_once"}  # a webhook belongs to one project
# Triggers that may run on the servers of a split table. One that writes to other tables may not, since the statements
# in it would not be part of the transaction over several servers.
TRIGGERS = {
    "memory_tongue_kept",  # it computes columns of its row
    "ledger_written",  # it computes columns of its row
    "ledger_append_only",  # it compares its row with the one before
    "ledger_not_deleted",  # it reads checkpoints of the same project, which are beside the ledger
    *("ledger_not_emptied", "ledger_checkpoint_append_only", "ledger_checkpoint_not_emptied"),  # they refuse
}


class UniqueRule(NamedTuple):
    """A primary key, or a unique constraint or index."""

    name: str
    columns: list[str]


class ForeignKey(NamedTuple):
    """A reference of one column; `rules` is what follows the columns in its definition, such as DEFERRABLE."""

    name: str
    table: str
    column: str
    target: str
    target_column: str
    rules: str = ""


class Trigger(NamedTuple):
    """A trigger, and the statements that create it."""

    name: str
    table: str
    statements: list[str]


class Table(NamedTuple):
    """A table; the first of `uniques` is its primary key. `is_placed`: Citus has split or copied it already."""

    name: str
    columns: list[str]
    uniques: list[UniqueRule]
    triggers: list[Trigger]
    policies: list[str]
    is_placed: bool = False


class Schema(NamedTuple):
    """The tables of a database by name, and the references between them."""

    tables: dict[str, Table]
    foreign_keys: list[ForeignKey]


class CannotDistribute(Exception):
    """Something in the schema has no counterpart in a distributed database."""


class Plan(NamedTuple):
    """The statements in order, and what the database no longer checks, with the reason."""

    statements: list[str]
    unchecked: Mapping[str, str]


def layout(schema: Schema) -> dict[str, Place]:
    """Decide where each table goes.

    A table that a split or copied table refers to is copied, so that the reference can be checked on every server.
    """
    places = {name: place for name, place in NAMED.items() if name in schema.tables}
    for name, table in schema.tables.items():
        if END_USER in table.columns:
            places.setdefault(name, Place(Placement.SPLIT, "rows of an end user", END_USER, USERS))
    while more := {
        key.target: Place(Placement.COPIED, f"{key.table} refers to it")
        for key in schema.foreign_keys
        if key.target not in places and key.table in places and places[key.table].placement is not Placement.LOCAL
    }:
        places |= more
    local = Place(Placement.LOCAL, "nothing that is split refers to it")
    return dict.fromkeys(schema.tables, local) | places


def plan_distribution(*, schema: Schema, places: Mapping[str, Place], shards: int) -> Plan:
    """Plan what is left to do: tables that Citus has in their place already are not touched.

    Tables are moved without references, policies and triggers. `shards` is the number of parts of a split table. Raises
    CannotDistribute for a unique constraint without the column that its table is split by, and for an unknown trigger.
    """
    going = [name for name, place in sorted(places.items()) if place.placement is not Placement.LOCAL]
    moved = [schema.tables[name] for name in going if not schema.tables[name].is_placed]
    names = {table.name for table in moved}
    keys = [key for key in schema.foreign_keys if key.table in names or key.target in names]
    checked = [key for key in keys if _is_checked(key, places)]
    # A table that stays and refers to a copied one becomes known to Citus, which can't read its policies either.
    known = sorted(names | {key.table for key in keys})
    triggers = [trigger for table in moved for trigger in table.triggers]
    if unknown := {trigger.name for trigger in triggers} - TRIGGERS:
        raise CannotDistribute(f"triggers that may write to other servers: {', '.join(sorted(unknown))}")
    statements = [
        *(f'alter table "{key.table}" drop constraint "{key.name}"' for key in keys),
        *(f'drop policy "{policy}" on "{name}"' for name in known for policy in schema.tables[name].policies),
        *(f'alter table "{name}" disable row level security, no force row level security' for name in known),
        *(f'drop trigger "{trigger.name}" on "{trigger.table}"' for trigger in triggers),
        *_move(moved, places, shards),
        *(_add_key(key, places) for key in checked),
        *(each for trigger in triggers for each in trigger.statements),
    ]
    unchecked = {key.name: f"{key.table} refers to {key.target}" for key in keys if key not in checked}
    return Plan(statements, unchecked)


def _move(tables: list[Table], places: Mapping[str, Place], shards: int) -> Iterator[str]:
    """Copy and split tables; those that are put beside others come last."""
    split = [table for table in tables if places[table.name].placement is Placement.SPLIT]
    for table in split:
        yield from _widen(table, places[table.name].column)
    for table in tables:
        if table not in split:
            yield f"select create_reference_table('{table.name}')"
    for table in sorted(split, key=lambda each: bool(places[each.name].beside)):
        place = places[table.name]
        beside = f"'{place.beside}'" if place.beside else f"'none', shard_count => {shards}"
        yield f"select create_distributed_table('{table.name}', '{place.column}', colocate_with => {beside})"
    for table in split:
        yield f"select truncate_local_data_after_distributing_table('{table.name}')"


def _widen(table: Table, column: str) -> Iterator[str]:
    """Add the column that a table is split by to its primary key and the uniques that may have it."""
    for rule in table.uniques:
        if column in rule.columns:
            continue
        is_primary = rule == table.uniques[0]
        if not is_primary and rule.name not in WIDENED:
            raise CannotDistribute(f"{rule.name} of {table.name} lacks {column}, by which the table is split")
        kind = f"{'primary key' if is_primary else 'unique'} ({_list([column, *rule.columns])})"
        yield f'alter table "{table.name}" drop constraint "{rule.name}"'
        yield f'alter table "{table.name}" add constraint "{rule.name}" {kind}'


def _is_checked(key: ForeignKey, places: Mapping[str, Place]) -> bool:
    """Return True if rows and what they refer to are on one server, where the database can check the reference."""
    source, target = places[key.table], places[key.target]
    is_by_user = source.column == END_USER and (target.column == END_USER or key.target == USERS)
    return target.placement is Placement.COPIED or is_by_user


def _add_key(key: ForeignKey, places: Mapping[str, Place]) -> str:
    columns, targets = [key.column], [key.target_column]
    if places[key.target].placement is Placement.SPLIT and key.target != USERS:
        columns, targets = [END_USER, *columns], [END_USER, *targets]
    reference = f'foreign key ({_list(columns)}) references "{key.target}" ({_list(targets)}){key.rules}'
    return f'alter table "{key.table}" add constraint "{key.name}" {reference}'


def _list(columns: list[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


# Of each table: columns, what is unique in it (the primary key first), triggers and policies.
_TABLES = """
select relname,
    array(select attname::text from pg_attribute where attrelid = class.oid and attnum > 0 and not attisdropped),
    array(select json_build_array(index.relname,
              array(select attname from unnest(indkey) with ordinality as key(number, place)
                    join pg_attribute on attrelid = indrelid and attnum = key.number order by place))
          from pg_index join pg_class index on index.oid = indexrelid
          where indrelid = class.oid and indisunique order by indisprimary desc, index.relname),
    array(select json_build_array(tgname, relname, array_remove(array[pg_get_triggerdef(pg_trigger.oid), case
              when tgenabled = 'A' then format('alter table %I enable always trigger %I', relname, tgname) end], null))
          from pg_trigger where tgrelid = class.oid and not tgisinternal order by tgname),
    array(select polname::text from pg_policy where polrelid = class.oid order by polname)
from pg_class class where relkind = 'r' and relnamespace = current_schema()::regnamespace
"""
_FOREIGN_KEYS = """
select conname, source.relname, source_column.attname, target.relname, target_column.attname,
    split_part(pg_get_constraintdef(pg_constraint.oid), ')', 3)
from pg_constraint
join pg_class source on source.oid = conrelid join pg_class target on target.oid = confrelid
join pg_attribute source_column on source_column.attrelid = conrelid and source_column.attnum = conkey[1]
join pg_attribute target_column on target_column.attrelid = confrelid and target_column.attnum = confkey[1]
where contype = 'f' and connamespace = current_schema()::regnamespace and cardinality(conkey) = 1
order by conname
"""
# Split tables, and copied ones. A local table that refers to a copied one is known to Citus as well.
_PLACED = """
select relname, partmethod = 'h' from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
where relnamespace = current_schema()::regnamespace and (partmethod = 'h' or repmodel = 't')
"""


def read_schema() -> Schema:
    """Read the tables of the current schema."""
    placed = placed_tables()
    tables = {}
    for name, columns, uniques, triggers, policies in _rows(_TABLES):
        rules, own = [UniqueRule(*each) for each in uniques], [Trigger(*each) for each in triggers]
        tables[name] = Table(name, columns, rules, own, policies, name in placed)
    return Schema(tables, [ForeignKey(*row) for row in _rows(_FOREIGN_KEYS)])


def has_citus() -> bool:
    """Return True if the extension is installed in the database."""
    return bool(_rows("select from pg_extension where extname = 'citus'"))


def placed_tables() -> dict[str, bool]:
    """Return the tables that Citus has split or copied, and whether they are split."""
    return dict(_rows(_PLACED)) if has_citus() else {}


def _rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
