"""Renew the lease of work that runs outside of a drain; a drain renews its own leases."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from django.conf import settings
from django.db import Error, connection

from apps.outbox import leases
from apps.outbox.leases import Lease
from apps.tenants.scope import tenant_scope

log = structlog.get_logger(__name__)


@contextmanager
def renewed_lease(lease: Lease) -> Iterator[Lease]:
    """Renew a lease in a thread while the block runs, every HEARTBEAT_SECONDS; a lost lease is not taken again."""
    ended = threading.Event()
    renewing = threading.Thread(target=_renew, args=(lease, ended), name="lease", daemon=True)
    renewing.start()
    try:
        yield lease
    finally:
        ended.set()
        renewing.join()


def _renew(lease: Lease, ended: threading.Event) -> None:
    while not ended.wait(settings.HEARTBEAT_SECONDS):
        try:
            with tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
                leases.renew(held=[lease], seconds=settings.WORK_LEASE_SECONDS)
        except Error as error:
            log.warning("lease not renewed", end_user=str(lease.end_user_id), error=str(error))
        finally:
            connection.close()
