"""Which change of a memory's status a person or an admin's key may make."""

from apps.pipeline.core.enums import Status

APPROVED = "approved"

# The history and the ledger contain the verb.
_VERBS: dict[tuple[Status, Status], str] = {
    (Status.PENDING_REVIEW, Status.ACTIVE): APPROVED,
    (Status.PENDING_REVIEW, Status.REJECTED): "rejected",
    (Status.ACTIVE, Status.ARCHIVED): "archived",
    (Status.ARCHIVED, Status.ACTIVE): "restored",
    (Status.REJECTED, Status.PENDING_REVIEW): "reopened",
    (Status.RETRACTED, Status.PENDING_REVIEW): "reopened",
}


def verb_of(*, before: Status, after: Status) -> str | None:
    """Return the verb of a change of status, or None if it is not allowed. Only the funnel supersedes."""
    return _VERBS.get((before, after))
