"""What tells a process whether that which it holds of an end user is still what the database holds."""

from django.db import models


class MemoryRevision(models.Model):
    """The last transaction that changed what a search reads of an end user; triggers write it, see migration 0010."""

    end_user = models.OneToOneField(
        "tenants.EndUser", on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    number = models.BigIntegerField(help_text="of the transaction; none has the number of another")

    class Meta:
        ordering = ("end_user",)

    def __str__(self) -> str:
        return str(self.number)
