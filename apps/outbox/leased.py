"""Rows on which one process works at a time, under a lease that ends by itself if the process dies.

Every write of the holder checks the token of its lease, so a process that has lost it can't commit. All times are the
database's.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Self
from uuid import UUID

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from apps.outbox.outages import is_outage
from apps.pipeline.core.identifiers import new_id
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope


class LostLease(Exception):
    """Another process holds the lease now, or the work was taken back; this one must not commit anything."""


class LeasedQuerySet(models.QuerySet[Any]):
    """Rows that can be leased."""

    def free(self) -> Self:
        """Filter rows that no process holds."""
        return self.filter(Q(leased_until=None) | Q(leased_until__lt=Now()))

    def leased(self) -> Self:
        """Filter rows that a process holds."""
        return self.filter(leased_until__gte=Now())

    def lease(self, *, seconds: float, **changes: Any) -> tuple[UUID, list[Any]]:
        """Lease the free ones of these rows under a new token; return it, and the keys of the rows.

        A row that another process has locked is left out. A token is never used twice, not even by the same process: it
        must not commit what it has computed under a lease that was taken from it.
        """
        token = new_id()
        with transaction.atomic():
            free = self.free().select_for_update(skip_locked=True, of=("self",), no_key=True)
            found = list(free.order_by("pk").values_list("pk", flat=True))
            if found:
                rows = self.model._base_manager.filter(pk__in=found)
                rows.update(lease_token=token, leased_until=Now() + timedelta(seconds=seconds), **changes)
        return token, found

    def renew(self, *, tokens: Iterable[UUID], seconds: float) -> None:
        """Extend the leases with these tokens, locked in one order; those that were lost stay unchanged."""
        with transaction.atomic():
            held = self.filter(lease_token__in=list(tokens)).select_for_update(no_key=True).order_by("pk")
            self.filter(pk__in=list(held.values_list("pk", flat=True))).update(
                leased_until=Now() + timedelta(seconds=seconds)
            )

    def release(self, *, token: UUID, **changes: Any) -> bool:
        """Release the lease with this token and change its row; return False if it was lost."""
        return bool(self.filter(lease_token=token).update(lease_token=None, leased_until=None, **changes))


class LeasedModel(models.Model):
    """A row on which one process works at a time."""

    leased_until = models.DateTimeField(null=True, blank=True, editable=False)
    lease_token = models.UUIDField(null=True, blank=True, editable=False, help_text="identifies the holder")

    class Meta:
        abstract = True


@contextmanager
def leased_row(
    rows: LeasedQuerySet, *, seconds: float, fail: Callable[[Any, Exception], None], **changes: Any
) -> Iterator[Any]:
    """Lease a row of a project for the block, which releases it, and enter the scope of its project.

    The block gets None if there is no such row, or another process holds it. What the block raises is given to `fail`,
    since the work has to end with a state. A lost lease ends the block, and after an outage another process goes on
    when the lease has ended.
    """
    with system_scope(SystemWork.SCHEDULE):
        project_id = rows.values_list("project_id", flat=True).first()
    if project_id is None:
        yield None
        return
    with tenant_scope(project_id=project_id), suppress(LostLease):
        token, _ = rows.lease(seconds=seconds, **changes)
        held = rows.model._base_manager.filter(lease_token=token).first()
        try:
            yield held
        except LostLease:
            raise
        except Exception as error:  # whatever it is, the work ends with a state
            if held is None or is_outage(error):
                raise
            fail(held, error)


@contextmanager
def reported_row(leased: LeasedModel, *, seconds: float) -> Iterator[Any]:
    """Lock a leased row while the block runs, in one transaction; then store its changes and renew the lease.

    Raises LostLease if the work was cancelled or another process has its lease.
    """
    with transaction.atomic():
        rows = type(leased)._base_manager.filter(pk=leased.pk, lease_token=leased.lease_token)
        held = rows.select_for_update().first()
        if held is None:
            raise LostLease
        yield held
        held.leased_until = Now() + timedelta(seconds=seconds)
        held.save()


def release_row(leased: LeasedModel, **changes: Any) -> None:
    """Release a leased row and change it. Raises LostLease."""
    rows = type(leased)._base_manager.filter(pk=leased.pk, lease_token=leased.lease_token)
    if not rows.update(lease_token=None, leased_until=None, **changes):
        raise LostLease
