"""References between rows of one end user are joined by the end user as well."""

import pytest
from django.apps import apps
from django.db.models import ForeignKey, Model, QuerySet

from apps.memories.models import Memory
from apps.tenants.fields import SameUserForeignKey


def is_of_user(model: type[Model]) -> bool:
    return any(field.name == "end_user" and not field.null for field in model._meta.concrete_fields)


def test_every_reference_within_an_end_user_is_one() -> None:
    within = [
        field
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey) and is_of_user(model) and is_of_user(field.related_model)
    ]

    assert within
    assert [str(field) for field in within if not isinstance(field, SameUserForeignKey)] == []


@pytest.mark.parametrize(
    ("rows", "condition"),
    [
        (
            Memory.objects.select_related("subject"),
            'ON ("memories_memory"."subject_id" = "memories_entity"."id"'
            ' AND ("memories_entity"."end_user_id" = ("memories_memory"."end_user_id")))',
        ),
        (
            Memory.objects.filter(origins__withdrawn=True),
            'ON ("memories_memory"."id" = "memories_memoryorigin"."memory_id"'
            ' AND ("memories_memory"."end_user_id" = ("memories_memoryorigin"."end_user_id")))',
        ),
    ],
)
def test_a_join_in_either_direction_names_the_end_user(rows: QuerySet[Memory], condition: str) -> None:
    assert condition in str(rows.query)
