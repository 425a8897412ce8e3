"""What `manage.py distribute` would do, decided from the catalog of a database without Citus."""

import pytest

from memplatform.distribution import (
    NAMED,
    CannotDistribute,
    ForeignKey,
    Place,
    Placement,
    Plan,
    Schema,
    Table,
    Trigger,
    UniqueRule,
    layout,
    plan_distribution,
    read_schema,
)
from memplatform.row_security import TenantTable

# References that a distributed database no longer checks; a new one needs its line, and a reason to be bearable.
UNCHECKED = {
    ("events_projectevent", "end_user_id"),
    ("events_webhookdelivery", "end_user_id"),
    ("events_webhookdelivery", "webhook_id"),
    ("items_storeditem", "end_user_id"),
    ("memories_ledgerentry", "end_user_id"),
    ("tenants_erasure", "end_user_id"),
}


@pytest.fixture
def schema(db: None) -> Schema:
    return read_schema()


def planned(schema: Schema) -> Plan:
    return plan_distribution(schema=schema, places=layout(schema), shards=4)


def test_every_table_of_end_users_is_split_by_them_or_named_with_a_reason(schema: Schema) -> None:
    places = layout(schema)
    of_users = {name for name, table in schema.tables.items() if "end_user_id" in table.columns}

    assert len(of_users) > 25
    for name in of_users - NAMED.keys():
        assert (places[name].placement, places[name].column) == (Placement.SPLIT, "end_user_id")
    assert schema.tables.keys() >= NAMED.keys()


def test_what_is_split_has_its_column_in_every_primary_key_and_is_placed_once(schema: Schema) -> None:
    statements = planned(schema).statements

    for name, place in layout(schema).items():
        if place.placement is Placement.SPLIT:
            table = schema.tables[name]
            widened = f'alter table "{name}" add constraint "{table.uniques[0].name}" primary key ("{place.column}", '
            assert place.column in table.uniques[0].columns or any(each.startswith(widened) for each in statements)
            assert len([each for each in statements if f"create_distributed_table('{name}'" in each]) == 1


def test_references_are_checked_within_one_server_but_for_those_that_are_named_here(schema: Schema) -> None:
    plan = planned(schema)
    unchecked = {(key.table, key.column) for key in schema.foreign_keys if key.name in plan.unchecked}
    added = [each for each in plan.statements if "foreign key" in each]

    assert unchecked == UNCHECKED
    quote = next(
        each for each in added if each.startswith('alter table "memories_memoryorigin"') and '"memory_id"' in each
    )
    assert 'foreign key ("end_user_id", "memory_id") references "memories_memory" ("end_user_id", "id")' in quote
    assert quote.endswith("DEFERRABLE INITIALLY DEFERRED")


def test_tables_are_moved_bare_and_get_references_and_triggers_afterwards(schema: Schema) -> None:
    statements = planned(schema).statements
    moves = [place for place, each in enumerate(statements) if each.startswith("select create_")]

    for place, each in enumerate(statements):
        if each.startswith("drop ") or "drop constraint" in each:
            assert place < moves[0]
        if ("add constraint" in each and "foreign key" in each) or each.startswith("CREATE TRIGGER"):
            assert place > moves[-1]


def test_what_is_in_its_place_is_left_alone(schema: Schema) -> None:
    placed = {name: table._replace(is_placed=True) for name, table in schema.tables.items()}

    assert planned(Schema(placed, schema.foreign_keys)).statements == []


def with_key(name: str, *columns: str) -> Table:
    return Table(name, ["id", *columns], [UniqueRule(f"{name}_pkey", ["id"])], [], [])


NOTES, USERS = with_key("notes", "end_user_id", "author_id"), with_key("tenants_enduser")
PEOPLE, TEAMS = with_key("people", "team_id"), with_key("teams")


def of(*tables: Table, keys: tuple[ForeignKey, ...] = ()) -> Schema:
    return Schema({table.name: table for table in tables}, [*keys])


def test_what_split_tables_refer_to_is_copied_with_all_that_this_refers_to() -> None:
    keys = (
        ForeignKey("author", "notes", "author_id", "people", "id"),
        ForeignKey("team", "people", "team_id", "teams", "id"),
    )
    places = layout(of(NOTES, USERS, PEOPLE, TEAMS, keys=keys))

    assert {name: place.placement for name, place in places.items()} == {
        "notes": Placement.SPLIT,
        "tenants_enduser": Placement.SPLIT,
        "people": Placement.COPIED,
        "teams": Placement.COPIED,
    }


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (NOTES._replace(uniques=[*NOTES.uniques, UniqueRule("title_once", ["title"])]), "title_once of notes lacks"),
        (NOTES._replace(triggers=[Trigger("counted", "notes", ["create trigger counted"])]), "other servers: counted"),
    ],
)
def test_what_has_no_counterpart_is_refused(table: Table, message: str) -> None:
    with pytest.raises(CannotDistribute, match=message):
        planned(of(table, USERS))


def test_a_reference_to_what_stays_is_named_with_its_reason() -> None:
    keys = (ForeignKey("author", "notes", "author_id", "people", "id"),)
    local = Place(Placement.LOCAL, "small")
    places = {**layout(of(NOTES, USERS)), "people": local}
    plan = plan_distribution(schema=of(NOTES, USERS, PEOPLE, keys=keys), places=places, shards=4)

    assert plan.unchecked == {"author": "notes refers to people"}
    assert not any("add constraint" in each and "author" in each for each in plan.statements)


@pytest.mark.parametrize("has_project", [True, False])
def test_policies_of_distributed_tables_have_no_subquery(has_project: bool) -> None:
    for policy in TenantTable("notes", "owner", has_project, takes_subqueries=False).policies():
        assert "select" not in policy.using + policy.check
