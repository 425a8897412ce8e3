"""What most models have in common: an identifier that is ordered by time, and for many the form that people see."""

from typing import ClassVar

from django.db import models

from apps.pipeline.core.identifiers import Prefix, new_id, show


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
