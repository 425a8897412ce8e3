"""Get or create the rows that a direct write needs: the end user and the session."""

from uuid import UUID

from apps.common.errors import Conflict
from apps.pipeline.core import identifiers
from apps.tenants.models import EndUser
from apps.traces.models import Session


def open_end_user(*, project_id: UUID, user_id: str) -> EndUser:
    """Return the end user, created if new, and lock the row, which serialises direct writes of one user.

    An end user that was erased starts again with nothing. Raises Conflict while the user is being erased.
    """
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    if not EndUser.objects.filter(id=derived).exists():
        EndUser.objects.bulk_create(
            [EndUser(id=derived, project_id=project_id, external_id=user_id)], ignore_conflicts=True
        )
    user = hold_end_user(derived)
    if user.erased_at is not None:
        user.external_id, user.erased_at = user_id, None
        user.save(update_fields=["external_id", "erased_at"])
    return user


def hold_end_user(end_user_id: UUID) -> EndUser:
    """Block other direct writes and an erasure of one end user until the transaction ends.

    Raises Conflict while the user is being erased.
    """
    user = EndUser.objects.select_for_update(no_key=True).get(id=end_user_id)  # other rows may still refer to it
    if user.erasing_since is not None:
        raise Conflict("the end user is being erased")
    return user


def open_session(*, end_user: EndUser, session_id: str) -> UUID | None:
    """Return the identifier of the session, created if new; None for no session."""
    if not session_id:
        return None
    derived = identifiers.session_id(end_user_id=end_user.id, session_id=session_id)
    Session.objects.bulk_create(
        [Session(id=derived, end_user=end_user, project_id=end_user.project_id, external_id=session_id)],
        ignore_conflicts=True,
    )
    return derived


def actor_of(api_key_id: UUID | None, person_id: int | None = None) -> str:
    """Return the actor as history and ledger name it: a person, a key, or the system."""
    if person_id is not None:
        return f"person:{person_id}"
    return f"key:{api_key_id}" if api_key_id else "system"
