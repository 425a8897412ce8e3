"""Every memory type has a row in the table of traits, and all users of the table support every type."""

import pytest

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import DecayPolicy
from apps.pipeline.core.type_traits import SLOT_TYPES, TYPE_TRAITS
from apps.pipeline.indexing.index import questions_for


def test_a_row_for_each_type_and_no_other() -> None:
    assert set(TYPE_TRAITS) == set(MemoryType)
    assert set(DecayPolicy().half_life_days) == set(MemoryType)


@pytest.mark.parametrize("type_", MemoryType)
def test_a_type_that_a_stored_policy_does_not_name_has_its_own_half_life(type_: MemoryType) -> None:
    assert DecayPolicy(half_life_days={}).half_life(type_) == TYPE_TRAITS[type_].half_life_days > 0
    assert DecayPolicy(half_life_days={type_: 3.0}).half_life(type_) == 3.0


@pytest.mark.parametrize("type_", MemoryType)
def test_a_memory_of_each_type_answers_a_question_of_its_own(type_: MemoryType) -> None:
    asked = questions_for(type=type_, subject="Ana", predicate="", object_text="the sea", content="Ana loves the sea.")
    others = {
        question
        for other in MemoryType
        if other is not type_
        for question in questions_for(
            type=other, subject="Ana", predicate="", object_text="the sea", content="Ana loves the sea."
        )
    }
    assert set(asked) - others


def test_what_may_happen_again_is_never_the_one_value_of_a_slot() -> None:
    assert {type_ for type_, traits in TYPE_TRAITS.items() if traits.repeatable}.isdisjoint(SLOT_TYPES)
