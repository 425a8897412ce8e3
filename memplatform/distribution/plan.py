"""The statements that distribute a database, each with its reason. Pure: the schema comes in, nothing is executed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memplatform.distribution.layout import END_USER, USERS, Place, Placement
from memplatform.distribution.schema import ForeignKey, Schema, Table, Trigger, UniqueRule

# Unique constraints without the column that their table is split by, which may take it up: it follows from the others.
WIDENED: Mapping[str, str] = {"event_told_once": "a webhook belongs to one project"}
# Triggers that may run on the servers of a split table, and why: a trigger that writes to other tables may not, since
# the statements in it would not be part of the transaction over several servers.
TRIGGERS: dict[str, str] = {
    "memory_tongue_kept": "it computes columns of its row",
    "ledger_written": "it computes columns of its row",
    "ledger_append_only": "it compares its row with the one before",
    "ledger_not_deleted": "it reads checkpoints of the same project, which are beside the ledger",
    "ledger_not_emptied": "it refuses",
    "ledger_checkpoint_append_only": "it refuses",
    "ledger_checkpoint_not_emptied": "it refuses",
}
# Triggers that are left out, as they compare rows with those of other tables.
LEFT_OUT: dict[str, str] = {
    "traces_not_referred_to": "what refers to a deleted trace is not looked for",
    "turns_not_referred_to": "what refers to a deleted turn is not looked for",
}


class CannotDistribute(Exception):
    """Something in the schema has no counterpart in a distributed database."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement, and why it is run."""

    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, in order, and what the database no longer checks, each with the reason."""

    steps: tuple[Step, ...]
    unchecked: Mapping[str, str]


def plan_distribution(*, schema: Schema, places: Mapping[str, Place], shards: int) -> Plan:
    """Plan what is left to do: tables that Citus has in their place already are not touched.

    `shards` is the number of parts of a split table. Raises CannotDistribute where a unique constraint lacks the column
    that its table is split by, and for a trigger of which is not known that it may run there.
    """
    moving = {name for name, place in places.items() if place.placement is not Placement.LOCAL}
    moved = [table for name, table in sorted(schema.tables.items()) if not table.kind and name in moving]
    names = {table.name for table in moved}
    keys = [key for key in schema.foreign_keys if key.table in names or key.target in names]
    triggers = [trigger for table in moved for trigger in table.triggers]
    unchecked = {key.name: why for key in keys if (why := _why_unchecked(key, places))}
    left_out = {each.name: LEFT_OUT[each.name] for each in triggers if each.name in LEFT_OUT}
    # A table that stays and refers to a copied one becomes known to Citus, which can't read its policies either.
    known = sorted(names | {key.table for key in keys})
    steps = (
        *(_drop_key(key) for key in keys),
        *(step for name in known for step in _drop_policies(schema.tables[name])),
        *(_drop_trigger(trigger) for trigger in triggers),
        *(step for table in moved for step in _widen(table, places[table.name])),
        *_place(moved, places, shards),
        *(_free(table) for table in moved if places[table.name].placement is Placement.SPLIT),
        *(_add_key(key, places) for key in keys if key.name not in unchecked),
        *(step for each in triggers if each.name not in left_out for step in _add_trigger(each)),
    )
    return Plan(steps, unchecked | left_out)


def _drop_key(key: ForeignKey) -> Step:
    return Step(f'alter table "{key.table}" drop constraint "{key.name}"', "references are added again at the end")


def _drop_policies(table: Table) -> Iterator[Step]:
    for policy in table.policies:
        yield Step(f'drop policy "{policy}" on "{table.name}"', "policies are created in another form afterwards")
    if table.policies:
        statement = f'alter table "{table.name}" disable row level security, no force row level security'
        yield Step(statement, "so that all rows are moved")


def _drop_trigger(trigger: Trigger) -> Step:
    if trigger.name not in TRIGGERS | LEFT_OUT:
        raise CannotDistribute(f"the trigger {trigger.name} of {trigger.table} may write to other servers")
    return Step(f'drop trigger "{trigger.name}" on "{trigger.table}"', "triggers are created again at the end")


def _widen(table: Table, place: Place) -> Iterator[Step]:
    """Take the column that a table is split by up into its primary key and the uniques that may have it."""
    if place.placement is not Placement.SPLIT:
        return
    key = table.primary_key
    if place.column not in key.columns:
        yield from _replace(table, key, place.column, "primary key", "a key is unique on its server")
    for rule in table.uniques:
        if place.column in rule.columns:
            continue
        if rule.name not in WIDENED or not rule.constraint:
            raise CannotDistribute(f"{rule.name} of {table.name} lacks {place.column}, by which the table is split")
        yield from _replace(table, rule, place.column, "unique", WIDENED[rule.name])


def _replace(table: Table, rule: UniqueRule, column: str, kind: str, reason: str) -> Iterator[Step]:
    columns = ", ".join(f'"{each}"' for each in (column, *rule.columns))
    yield Step(f'alter table "{table.name}" drop constraint "{rule.constraint}"', reason)
    yield Step(f'alter table "{table.name}" add constraint "{rule.constraint}" {kind} ({columns})', reason)


def _place(tables: list[Table], places: Mapping[str, Place], shards: int) -> Iterator[Step]:
    """Copy and split tables; one that others are put beside comes before them."""
    for table in tables:
        if places[table.name].placement is Placement.COPIED:
            yield Step(f"select create_reference_table('{table.name}')", places[table.name].reason)
    split = [(table.name, places[table.name]) for table in tables if places[table.name].placement is Placement.SPLIT]
    for name, place in sorted(split, key=lambda each: bool(each[1].beside)):
        beside = f"'{place.beside}'" if place.beside else "'none'"
        parts = "" if place.beside else f", shard_count => {shards}"
        call = f"create_distributed_table('{name}', '{place.column}', colocate_with => {beside}{parts})"
        yield Step(f"select {call}", place.reason)


def _free(table: Table) -> Step:
    return Step(f"select truncate_local_data_after_distributing_table('{table.name}')", "its rows are in the parts now")


def _why_unchecked(key: ForeignKey, places: Mapping[str, Place]) -> str:
    """Return why a reference can't be checked by the database any longer; empty if it can."""
    source, target = places[key.table], places[key.target]
    if target.placement is Placement.COPIED:
        return ""
    if target.placement is Placement.LOCAL:
        return f"{key.table} is not on the coordinator alone, and {key.target} is"
    if source.placement is not Placement.SPLIT:
        return f"{key.target} is split, and {key.table} is not"
    if (source.column, target.column) in ((END_USER, END_USER), (END_USER, "id")):
        return ""
    return f"{key.table} is split by {source.column}, and {key.target} by the end user"


def _add_key(key: ForeignKey, places: Mapping[str, Place]) -> Step:
    columns, targets = [key.column], [key.target_column]
    if places[key.target].placement is Placement.SPLIT and key.target != USERS:
        columns, targets = [END_USER, *columns], [END_USER, *targets]
    reference = f'foreign key ({_list(columns)}) references "{key.target}" ({_list(targets)}){key.rules}'
    return Step(f'alter table "{key.table}" add constraint "{key.name}" {reference}', "a reference within one server")


def _list(columns: list[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


def _add_trigger(trigger: Trigger) -> Iterator[Step]:
    yield Step(trigger.definition, TRIGGERS[trigger.name])
    if trigger.is_always:
        yield Step(f'alter table "{trigger.table}" enable always trigger "{trigger.name}"', "as before")
