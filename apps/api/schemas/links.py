"""Schemas of /v1/links."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from apps.api.schemas.common import DayStart, Identifier, Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.api.schemas.memory_responses import MemoryResponse, memory_response
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_moment
from apps.pipeline.review.decisions import Validity

Version = Annotated[int, Meta(ge=1)]


class LinksQuery(QueryParameters):
    """Filters for a list of links. `user_id` is optional for keys with scope admin.

    `status` `open` (the default) selects links that still have to be settled: both memories are live.
    """

    user_id: Identifier | None = None
    status: LinkStatus = LinkStatus.OPEN
    kind: tuple[LinkKind, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class ValidityBody(RequestBody):
    """From when until when a memory is true; null leaves the start as it is, and the end open."""

    valid_from: Moment | None = None
    valid_until: Moment | None = None


class SettlementBody(RequestBody):
    """How to settle a link between `from`, the memory that was stored later, and `to`.

    `kept_from` and `kept_to` keep one of the two and reject the other; `changed` closes the older one where the newer
    one begins, or on `changed_on`; `both` keeps both, with the validities given; `merged` merges the newer one into the
    older one. With a version, the memory must still be at that version.
    """

    resolution: LinkResolution
    changed_on: DayStart | None = None
    from_version: Version | None = None
    to_version: Version | None = None
    from_validity: ValidityBody | None = None
    to_validity: ValidityBody | None = None


class LinkDetailResponse(ResponseBody):
    """Two memories that contradict each other or may be duplicates; `resolution` is null while the link is open."""

    id: str
    user_id: str
    kind: LinkKind
    status: LinkStatus
    resolution: str | None
    from_memory: MemoryResponse
    to_memory: MemoryResponse
    created_at: Moment
    settled_at: Moment | None


class LinkList(ResponseBody):
    """Links, newest first."""

    next: str | None
    previous: str | None
    results: list[LinkDetailResponse]


def link_response(link: MemoryLink, *, memories: dict[UUID, Memory]) -> LinkDetailResponse:
    """Convert a link; `memories` holds its two memories, read with Memory.objects.to_show."""
    return LinkDetailResponse(
        id=show(Prefix.LINK, link.id),
        user_id=memories[link.from_memory_id].end_user.external_id,
        kind=LinkKind(link.kind),
        status=LinkStatus(link.status),
        resolution=link.resolution or None,
        from_memory=memory_response(memories[link.from_memory_id]),
        to_memory=memory_response(memories[link.to_memory_id]),
        created_at=link.created_at,
        settled_at=link.settled_at,
    )


def validities_of(body: SettlementBody, *, link: MemoryLink) -> dict[UUID, Validity]:
    """Return the given validities by memory. Raises BadInput with the pointer of an invalid time."""
    given = {
        link.from_memory_id: ("from_validity", body.from_validity),
        link.to_memory_id: ("to_validity", body.to_validity),
    }
    return {
        memory_id: Validity(
            begins=checked_moment(validity.valid_from, at=f"/{name}/valid_from"),
            ends=checked_moment(validity.valid_until, at=f"/{name}/valid_until"),
        )
        for memory_id, (name, validity) in given.items()
        if validity is not None
    }
