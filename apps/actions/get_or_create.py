"""Make the rows that a direct write hangs on: the end user and the session."""

from uuid import UUID

from apps.pipeline.core import identifiers
from apps.tenants.models import EndUser
from apps.traces.models import Session


def open_end_user(*, project_id: UUID, user_id: str) -> EndUser:
    """Return the end user, made when new, and hold the row so that direct writes of one user go one by one."""
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    EndUser.objects.bulk_create(
        [EndUser(id=derived, project_id=project_id, external_id=user_id)], ignore_conflicts=True
    )
    return EndUser.objects.select_for_update(no_key=True).get(id=derived)  # others may refer to it meanwhile


def hold_end_user(end_user_id: UUID) -> None:
    """Keep other direct writes of one end user out until the transaction ends."""
    EndUser.objects.select_for_update(no_key=True).get(id=end_user_id)


def open_session(*, end_user: EndUser, session_id: str) -> UUID | None:
    """Return the identifier of the session, made when new; None for no session."""
    if not session_id:
        return None
    derived = identifiers.session_id(end_user_id=end_user.id, session_id=session_id)
    Session.objects.bulk_create(
        [Session(id=derived, end_user=end_user, project_id=end_user.project_id, external_id=session_id)],
        ignore_conflicts=True,
    )
    return derived


def actor_of(api_key_id: UUID | None, person_id: int | None = None) -> str:
    """Name who acts, as the history and the ledger keep it: a person, a key, or the product itself."""
    if person_id is not None:
        return f"person:{person_id}"
    return f"key:{api_key_id}" if api_key_id else "system"
