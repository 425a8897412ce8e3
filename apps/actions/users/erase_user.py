"""Erase an end user: everything that the user said or that was derived from it, in every table."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from apps.actions.errors import NotFound
from apps.actions.imports.forget_user import forget_user, lock_imports
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.users.clear_notes import clear_notes
from apps.actions.users.run_erasure import run_erasure
from apps.outbox.queue_task import queue_task
from apps.pipeline.core import identifiers
from apps.tenants.models import EndUser, Erasure
from apps.tenants.scope import tenant_scope

WAIT = timedelta(seconds=2)  # how long a caller waits before the rest is left to a worker


def erase_user(*, project_id: UUID, user_id: str, wait: timedelta = WAIT) -> Erasure:
    """Start to erase an end user and return the receipt; it is finished if that took no longer than `wait`.

    From the first commit on, nothing can be written about the user until the erasure is finished. A worker goes on
    where this process stops or is killed. Asking again while it runs returns the same receipt. Raises NotFound.
    """
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=derived):
        erasure = _start(project_id, user_id, derived)
        if not run_erasure(erasure_id=erasure.id, most=wait):
            transaction.on_commit(lambda: queue_task("continue_erasures", group="erase"))
        erasure.refresh_from_db()
    return erasure


def user_hash(*, project_id: UUID, user_id: str) -> str:
    """Return the keyed hash of a user_id (HMAC-SHA256 with SECRET_KEY), which identifies a receipt."""
    return salted_hmac(f"erasure:{project_id}", user_id, algorithm="sha256").hexdigest()


def _start(project_id: UUID, user_id: str, derived: UUID) -> Erasure:
    with transaction.atomic():
        lock_imports(project_id=project_id)
        # This lock conflicts with the one of every writer, see apps/tenants/end_users.py.
        users = EndUser.objects.select_for_update().filter(project_id=project_id, erased_at__isnull=True)
        user = users.filter(id=derived).first()
        if user is None:
            raise NotFound("there is no such end user")
        if user.erasing_since is not None:
            return Erasure.objects.get(end_user=user, finished_at__isnull=True)
        clear_notes(project_id=project_id, end_user_id=user.id, user_id=user_id)
        forget_user(project_id=project_id, end_user_id=user.id, user_id=user_id)
        user.external_id, user.erasing_since = "", timezone.now()
        user.save(update_fields=["external_id", "erasing_since"])
        erasure = Erasure.objects.create(
            project_id=project_id,
            end_user=user,
            user_hash=user_hash(project_id=project_id, user_id=user_id),
            actor=current_actor(),
        )
        record(
            project_id=project_id,
            end_user_id=user.id,
            verb="erasure_started",
            object_kind="end_user",
            object_id=user.id,
            details={"erasure": str(erasure.id)},
        )
    return erasure
