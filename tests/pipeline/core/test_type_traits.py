"""Every memory type has a row in the table of traits, and all users of the table support every type."""

import pytest

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import DecayPolicy
from apps.pipeline.core.type_traits import TYPE_TRAITS


@pytest.mark.parametrize("type_", MemoryType)
def test_a_type_that_a_stored_policy_does_not_name_has_its_own_half_life(type_: MemoryType) -> None:
    assert DecayPolicy(half_life_days={}).half_life(type_) == TYPE_TRAITS[type_].half_life_days > 0
    assert DecayPolicy(half_life_days={type_: 3.0}).half_life(type_) == 3.0
