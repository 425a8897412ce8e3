"""Which standing of a memory may follow which, when a person or an admin's key says so."""

from apps.pipeline.core.enums import Status

APPROVED = "approved"

# The verb stands in the history and the ledger.
_VERBS: dict[tuple[Status, Status], str] = {
    (Status.PENDING_REVIEW, Status.ACTIVE): APPROVED,
    (Status.PENDING_REVIEW, Status.REJECTED): "rejected",
    (Status.ACTIVE, Status.ARCHIVED): "archived",
    (Status.ARCHIVED, Status.ACTIVE): "restored",
    (Status.REJECTED, Status.PENDING_REVIEW): "reopened",
}


def verb_of(*, before: Status, after: Status) -> str | None:
    """Name the change of standing, or return None where it is not allowed. Superseding is the funnel's business."""
    return _VERBS.get((before, after))
