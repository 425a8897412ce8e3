"""Checks by functions let exactly the words of the enums and no negative number into the tables."""

import pytest
from django.db import connection

from apps.pipeline.core.enums import Role, SpanResult, Stage, TraceStatus, WorkKind, WorkState

pytestmark = pytest.mark.django_db
TABLES = {
    "is_valid_trace": (list(TraceStatus),),
    "is_valid_turn": (list(Role), 0),
    "is_valid_span": (list(Stage), list(SpanResult), 0, 0),
    "is_valid_work": (list(WorkKind), list(WorkState), 0, 0),
}


def is_valid(function: str, *values: str | int) -> bool:
    types = {"is_valid_span": ("varchar", "varchar", "smallint", "int"), "is_valid_turn": ("varchar", "int")}
    of_work = ("varchar", "varchar", "smallint", "smallint")
    given = ", ".join(f"%s::{name}" for name in types.get(function, of_work)[: len(values)])
    with connection.cursor() as cursor:
        cursor.execute(f"select {function}({given})", values)
        return bool(cursor.fetchone()[0])


@pytest.mark.parametrize("function", TABLES)
def test_each_word_is_let_in_and_nothing_else(function: str) -> None:
    usual = [words[0].value if isinstance(words, list) else words for words in TABLES[function]]
    assert is_valid(function, *usual)
    for place, words in enumerate(TABLES[function]):
        if isinstance(words, list):
            good, bad = [word.value for word in words], "unheard-of"
        else:
            good, bad = [0, 7], -1
        for value in good:
            assert is_valid(function, *usual[:place], value, *usual[place + 1 :]), value
        assert not is_valid(function, *usual[:place], bad, *usual[place + 1 :])


def test_validated_constraints_call_them() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select pg_get_constraintdef(oid) from pg_constraint where conname like '%%\\_is\\_valid' and convalidated"
        )
        found = {row[0].removeprefix("CHECK (").split("(")[0] for row in cursor.fetchall()}
    assert found == set(TABLES)
