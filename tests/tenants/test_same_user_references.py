"""Joins between rows of end users compare the end users."""

from apps.memories.models import Memory


def test_a_join_compares_the_end_users() -> None:
    sql = str(Memory.objects.filter(trace__status="done").only("id").query)
    assert '"traces_trace"."end_user_id" = ("memories_memory"."end_user_id")' in sql


def test_an_exclusion_over_two_joins_names_no_column_without_its_table() -> None:
    sql = str(Memory.objects.exclude(origins__turn__role="user").only("id").query)
    assert ' "end_user_id"' not in sql
