"""Finding a row, and what most models share: an identifier ordered by time, and for many the form people see."""

from typing import Any, ClassVar, TypeVar

from django.db import models

from apps.common.errors import NotFound
from apps.pipeline.core.identifiers import Prefix, new_id, show

_Row = TypeVar("_Row", bound=models.Model)


def get_or_refuse(rows: models.QuerySet[_Row, Any], name: str) -> _Row:
    """Return the first row. Raises NotFound, with the name of what there is none of."""
    if (found := rows.first()) is None:
        raise NotFound(f"there is no such {name}")
    return found


class Row(models.Model):
    """A row with an identifier of its own."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.id)


class ShownRow(Row):
    """A row that people and callers know by its prefixed identifier."""

    prefix: ClassVar[Prefix]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        """Return the identifier with its public prefix."""
        return show(self.prefix, self.id)
