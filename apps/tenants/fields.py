"""Fields of models whose rows belong to end users, or to projects."""

from typing import Any

from django.db.models import ForeignKey
from django.db.models.lookups import Exact
from django.db.models.sql.where import WhereNode


class SameUserForeignKey(ForeignKey[Any, Any]):
    """A reference between two rows of the same end user; both models have a field `end_user`.

    Joins over it compare the end users as well: a distributed database joins rows within a shard only, and finds the
    shard by the end user. In migrations it is an ordinary foreign key, since nothing about its column differs.
    """

    shared = "end_user"

    def get_extra_restriction(self, alias: str | None, related_alias: str | None) -> WhereNode | None:
        """Return the condition that a join has in addition; `alias` is that of the table referred to.

        Without aliases, in subqueries of `exclude()`, there is nothing to compare.
        """
        if alias is None or related_alias is None:
            return None
        theirs, ours = (self._shared_by(model) for model in (self.related_model, self.model))
        return WhereNode([Exact(theirs.get_col(alias), ours.get_col(related_alias))])  # type: ignore[list-item]  # in the stubs

    def _shared_by(self, model: Any) -> Any:
        return model._meta.get_field(self.shared)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """Return what migrations keep of the field."""
        name, _, positional, named = super().deconstruct()
        return name, "django.db.models.ForeignKey", positional, named


class SameProjectForeignKey(SameUserForeignKey):
    """A reference between two rows of the same project, for tables that are split by project."""

    shared = "project"
