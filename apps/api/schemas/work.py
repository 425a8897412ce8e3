"""Schemas of /v1/work."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from apps.api.schemas.common import Identifier, RequestBody, ResponseBody
from apps.pipeline.core.enums import TraceStatus


class FailedStatus(StrEnum):
    """How work failed: given up after its attempts, or with a response of the model that could not be used."""

    DEAD = TraceStatus.DEAD.value
    EXTRACTION_FAILED = TraceStatus.EXTRACTION_FAILED.value


class RetryWorkBody(RequestBody):
    """Which failed work to run again, by default all of it; `error` is a part of its error."""

    status: Annotated[tuple[FailedStatus, ...], Meta(min_length=1)] = tuple(FailedStatus)
    error: Annotated[str, Meta(max_length=4_000)] = ""
    user_id: Identifier | None = None


class RetryWorkResponse(ResponseBody):
    """How many pieces of work will run again."""

    retried: int
