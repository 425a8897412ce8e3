"""Values that changes of memories replaced, as columns take them."""

from collections.abc import Mapping
from typing import Any, cast

from django.db.models import Field

from apps.memories.models import Memory


def past_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the replaced values of a version with the types of their columns."""
    return {name: past_value(name, value) for name, value in values.items()}


def past_value(column: str, value: Any) -> Any:
    """Return one replaced value with the type of its column."""
    return cast("Field[Any, Any]", Memory._meta.get_field(column)).to_python(value)
