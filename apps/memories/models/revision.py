"""Revisions, by which a process finds out whether its cached memories of an end user are current."""

from django.db import models


class MemoryRevision(models.Model):
    """The revision of an end user's searchable data; the writer raises it right before a commit."""

    end_user = models.OneToOneField(
        "tenants.EndUser", on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    number = models.BigIntegerField(help_text="higher with each transaction, in the order of commits")
    transaction = models.BigIntegerField(
        default=0, db_default=0, help_text="no longer read or written; the next release removes it"
    )
    cleared_at = models.BigIntegerField(
        default=0, db_default=0, help_text="the number at which the end user was erased; earlier caches are void"
    )

    class Meta:
        ordering = ("end_user",)

    def __str__(self) -> str:
        return str(self.number)


class MemoryChange(models.Model):
    """The revision at which a memory or its vectors last changed; the row stays when the memory is deleted."""

    id = models.UUIDField(primary_key=True, editable=False)  # the memory's
    end_user = models.ForeignKey(
        "tenants.EndUser", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    number = models.BigIntegerField(help_text="of the end user's revision")

    class Meta:
        ordering = ("end_user", "-number")
        indexes = [models.Index(fields=("end_user", "number"), name="change_by_number")]

    def __str__(self) -> str:
        return f"{self.id} at {self.number}"
