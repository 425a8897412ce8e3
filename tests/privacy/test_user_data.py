"""The list of an end user's tables names every table with an end user."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model

from apps.privacy.users import KEPT, USER_TABLES

OWNED = [
    model for model in apps.get_models() if any(field.column == "end_user_id" for field in model._meta.concrete_fields)
]
ERASED = [table.model for table in USER_TABLES]


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_a_table_with_an_end_user_is_erased_or_kept_on_purpose(model: type[Model]) -> None:
    assert (model in ERASED) != (model in KEPT)


def test_nothing_else_is_listed() -> None:
    assert {*ERASED, *KEPT} == set(OWNED)


def test_a_row_is_deleted_before_those_that_it_refers_to() -> None:
    for place, table in enumerate(USER_TABLES):
        referred = {field.related_model for field in table.model._meta.concrete_fields if field.is_relation}
        assert not referred & set(ERASED[:place]), table.name


def test_references_to_rows_of_the_same_table_are_known() -> None:
    for table in USER_TABLES:
        own = [field.column for field in table.model._meta.concrete_fields if field.related_model is table.model]
        assert own == ([table.self_reference] if table.self_reference else []), table.name


def test_every_reference_to_an_erased_row_has_an_index(db: None) -> None:
    """Without one, the database reads the whole referring table for each deleted row."""
    query = """
    select fk.conrelid::regclass || '.' || a.attname from pg_constraint fk
    join pg_attribute a on a.attrelid = fk.conrelid and a.attnum = fk.conkey[1]
    where fk.contype = 'f' and fk.confrelid::regclass::text = any(%s) and not exists (
        select from pg_index i where i.indrelid = fk.conrelid and i.indkey[0] = fk.conkey[1]
          and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = '(' || a.attname || ' IS NOT NULL)')
    )
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [[table.model._meta.db_table for table in USER_TABLES]])
        assert cursor.fetchall() == []
