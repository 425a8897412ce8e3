"""Decide whether a trace has come as far as a caller waits for. Nothing is sent here."""

from memplatform_client import models
from memplatform_client.calls import Milestone
from memplatform_client.errors import WaitTimeout


def has_come_to(trace: models.TraceResponse, milestone: Milestone) -> bool:
    """Return whether waiting is over; a trace whose index has failed comes no further."""
    if trace["status"] == "queued":
        return False
    return milestone == "ended" or trace["index"] != "pending"


def ended(trace: models.TraceResponse, *, after: float) -> models.TraceResponse:
    """Return a trace that has ended. Raises WaitTimeout for another; `after` is in seconds."""
    if trace["status"] == "queued":
        raise WaitTimeout(f"trace {trace['id']} has not ended after {after:g} seconds")
    return trace
