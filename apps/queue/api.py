"""View of POST /v1/work/retry."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.schemas import Identifier, RequestBody, ResponseBody
from apps.pipeline.core.enums import Scope, TraceStatus
from apps.pipeline.core.input_validation import check_storable, checked_name
from apps.queue.services import retry_failed


class FailedStatus(StrEnum):
    """How work failed: given up after its attempts, or with a response of the model that could not be used."""

    DEAD = TraceStatus.DEAD.value
    EXTRACTION_FAILED = TraceStatus.EXTRACTION_FAILED.value


class RetryWorkBody(RequestBody):
    """Which failed work to run again, by default all of it; `error` is a part of its error."""

    statuses: Annotated[tuple[FailedStatus, ...], Meta(min_length=1)] = tuple(FailedStatus)
    error: Annotated[str, Meta(max_length=4_000)] = ""
    user_id: Identifier | None = None


class RetryWorkResponse(ResponseBody):
    """How many pieces of work will run again."""

    retried: int


class RetryWorkView(ApiView):
    """Retrying failed work."""

    scopes = {"POST": Scope.ADMIN}

    @operation(
        "retry_work", summary="Run failed work again", example={"statuses": ["dead"], "error": "connection refused"}
    )
    def post(self, request: Request, body: RetryWorkBody) -> RetryWorkResponse:
        """Run dead work and failed extractions again; their attempts are reset.

        Work of one end user runs in the order in which it was accepted. A model that does not answer is tried at once.
        Repeating the request is harmless, so it takes no `Idempotency-Key`.
        """
        check_storable(body.error, at="/error")
        retried = retry_failed(
            project_id=self.caller.project_id,
            statuses=[TraceStatus(status.value) for status in body.statuses],
            error=body.error,
            user_id=checked_name(body.user_id, at="/user_id") if body.user_id else "",
        )
        return RetryWorkResponse(retried=retried)
